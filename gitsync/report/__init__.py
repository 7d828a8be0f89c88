"""Reports as text, HTML, JSON and more.

It reads results, and decides nothing.
"""

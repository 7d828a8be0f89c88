"""Completion of command lines: the scripts of the shells, and what they are answered.

A script calls `gitsync __complete` with the words that are typed, and gets one candidate a line. Nothing that a command
runs with is imported, no request is sent, and nothing is written.
"""

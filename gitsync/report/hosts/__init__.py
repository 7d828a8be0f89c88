"""Writes on pull requests where they are hosted, with the host's own program: comments, and pull requests of `accept`.
One module a host.
"""

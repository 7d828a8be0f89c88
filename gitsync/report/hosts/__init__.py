"""Writes where repositories are hosted, with the host's own program: comments on pull requests, statuses and
deployments of commits, and pull requests of `accept`. One module a host.
"""

"""Formats of the outside world: ARM ids, JSON pointers, and untrusted JSON."""

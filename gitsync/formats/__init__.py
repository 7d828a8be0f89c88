"""Formats of the outside world: ARM ids, JSON pointers, and JSON that others wrote."""

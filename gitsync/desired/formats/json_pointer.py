"""Paths in JSON, and JSON pointers (RFC 6901): how differences name a leaf of an ARM body."""

from __future__ import annotations

from typing import Final

JsonPath = tuple[str | int, ...]

ANY: Final = "*"
"""In a pattern of paths: every index of a list, and every key of a map."""


def generalize(path: JsonPath) -> tuple[str, ...]:
    """Return a path with `*` in place of indexes: that of any entry."""
    return tuple(ANY if isinstance(step, int) else step for step in path)


def format_pointer(path: JsonPath) -> str:
    """Write a path of keys and indexes as a pointer: ("tags", "a/b") → "/tags/a~1b"."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def parse_pointer(pointer: str) -> JsonPath:
    """Read a pointer as a path; digits alone are an index."""
    steps = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    # `isdigit` is true for digits of other scripts too, and `int` would read them as an index.
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in steps)

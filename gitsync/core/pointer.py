"""JSON pointers (RFC 6901): how differences name a leaf of an ARM body."""

from __future__ import annotations

from typing import Any

Path = tuple[str | int, ...]


def pointer(path: Path) -> str:
    """Write a path of keys and indexes as a pointer: ("tags", "a/b") → "/tags/a~1b"."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def value_at(body: Any, path: Path) -> Any:
    """Return what stands at a path; None where a step is missing."""
    for step in path:
        try:
            body = body[step]
        except (KeyError, IndexError, TypeError):
            return None
    return body

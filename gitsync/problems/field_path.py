"""Formats paths of fields inside a manifest, as people read them: `spec.a.b[0]`.

Separate, so that checks build paths of segments and only this module formats them. The reader of files uses the same
format for its lines.
"""

from __future__ import annotations

from typing import Any

FieldPath = tuple[str | int, ...]
"""Segments from the top of the manifest: names of fields, keys of maps, positions in lists."""


LONGEST = 1000
"""Characters of a path that is shown: each problem has one, and the keys of a file may be as long as the file."""


def format_field(path: FieldPath) -> str:
    """Write `("spec", "a", 0)` as `spec.a[0]`. A key stands as it is, whatever it is made of; a
    long path is truncated.
    """
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        else:
            text += f".{segment}" if text else segment
        if len(text) > LONGEST:
            return f"{text[:LONGEST]}…"
    return text


def find_member(value: Any, *path: str | int) -> Any:
    """Find the value of a field; None if it is not there."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        else:
            is_there = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
            value = value[step] if is_there else None
    return value

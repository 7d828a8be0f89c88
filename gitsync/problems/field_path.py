"""Paths of fields inside a manifest, as people read them: `spec.a.b[0]`.

Separate, so that checks build paths of segments and only this module formats them. The reader of files uses the same
format for its lines.
"""

from __future__ import annotations

FieldPath = tuple[str | int, ...]
"""Segments from the top of the manifest: names of fields, keys of maps, positions in lists."""


def format_field(path: FieldPath) -> str:
    """`("spec", "a", 0)` as `spec.a[0]`. A key stands as it is, whatever it is made of."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        else:
            text += f".{segment}" if text else segment
    return text

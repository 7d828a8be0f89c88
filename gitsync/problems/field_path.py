"""Paths of fields inside a manifest, as people read them: `spec.a.b[0]`.

Apart, so that every check builds paths of segments and only one place knows how they are spelt; the reader of files
spells the same, for the lines.
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

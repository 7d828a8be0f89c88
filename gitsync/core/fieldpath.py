"""Paths of fields inside a manifest, as people read them: `spec.a.b[0]`.

Apart, so that every check builds paths of segments and only one place knows how they are spelt.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
"""Segments from the top of the manifest: names of fields, keys of maps, positions in lists."""

_PLAIN = re.compile(r"[\w$-]+")


def spell(path: Path) -> str:
    """`("spec", "a", 0)` as `spec.a[0]`; a key with other than word characters and `-` stands in brackets."""
    text = ""
    for segment in path:
        if isinstance(segment, int) or not _PLAIN.fullmatch(segment):
            text += f"[{segment}]"
        else:
            text += f".{segment}" if text else segment
    return text

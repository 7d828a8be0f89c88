"""Members that Azure changes by itself, without a write of anybody: they are not outside changes."""

from __future__ import annotations

from typing import Final

from gitsync.desired.formats.json_pointer import JsonPath

_MOVES: Final[frozenset[tuple[str, JsonPath]]] = frozenset()


def is_moved_by_azure(arm_type: str, path: JsonPath) -> bool:
    """Return whether Azure changes the value at a path of a type (in any case) by itself."""
    return (arm_type.casefold(), path) in _MOVES

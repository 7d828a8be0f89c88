"""JSON changed without being changed in place: merge patches (RFC 7386) and single values by pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE = object()
"""As a value to set: take the member away."""


def merge(value: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null takes a member away, all else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for name, wanted in patch.items():
        if wanted is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), wanted)
    return merged


def merge_over(value: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both objects, member by member; where both have a plain value, the one above shows."""
    merged = dict(value)
    for name, other in above.items():
        below = merged.get(name)
        merged[name] = merge_over(below, other) if isinstance(below, Mapping) and isinstance(other, Mapping) else other
    return merged


def set_value(value: Any, pointer: str, wanted: Any) -> Any:
    """The value with what the pointer names set, or taken away where it is set to GONE.

    Objects on the way are made where they are missing; "-" appends to a list. KeyError where a list has no such index.
    """
    words = [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:]]
    return _change(value, words, wanted)


def _change(value: Any, words: list[str], wanted: Any) -> Any:
    if not words:
        return wanted
    word, rest = words[0], words[1:]
    if isinstance(value, list):
        return _change_list(value, word, rest, wanted)
    members = dict(value) if isinstance(value, Mapping) else {}
    if not rest and wanted is GONE:
        members.pop(word, None)
        return members
    members[word] = _change(members.get(word), rest, wanted)
    return members


def _change_list(items: list[Any], word: str, rest: list[str], wanted: Any) -> list[Any]:
    if word == "-":
        return [*items, _change(None, rest, wanted)]
    if not word.isdigit() or int(word) >= len(items):
        raise KeyError(word)
    index = int(word)
    if not rest and wanted is GONE:
        return [*items[:index], *items[index + 1 :]]
    return [*items[:index], _change(items[index], rest, wanted), *items[index + 1 :]]


def find_value(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of member names; None if the path ends early."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value

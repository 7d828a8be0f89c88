"""JSON changed without being changed in place: merge patches (RFC 7386) and single values by pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE = object()
"""As a value to set: remove the member."""


def merge(value: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes a member, all else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for name, member in patch.items():
        if member is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), member)
    return merged


def merge_over(value: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """Both objects, member by member; if both have a plain value, the overlay wins."""
    merged = dict(value)
    for name, other in overlay.items():
        base = merged.get(name)
        merged[name] = merge_over(base, other) if isinstance(base, Mapping) and isinstance(other, Mapping) else other
    return merged


def set_value(value: Any, pointer: str, new_value: Any) -> Any:
    """The value with the member at the pointer set, or removed if the new value is GONE.

    Missing objects on the way are created; "-" appends to a list. KeyError if a list has no such index.
    """
    words = [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:]]
    return _change(value, words, new_value)


def _change(value: Any, words: list[str], new_value: Any) -> Any:
    if not words:
        return new_value
    word, rest = words[0], words[1:]
    if isinstance(value, list):
        return _change_list(value, word, rest, new_value)
    members = dict(value) if isinstance(value, Mapping) else {}
    if not rest and new_value is GONE:
        members.pop(word, None)
        return members
    members[word] = _change(members.get(word), rest, new_value)
    return members


def _change_list(items: list[Any], word: str, rest: list[str], new_value: Any) -> list[Any]:
    if word == "-":
        return [*items, _change(None, rest, new_value)]
    if not word.isdigit() or int(word) >= len(items):
        raise KeyError(word)
    index = int(word)
    if not rest and new_value is GONE:
        return [*items[:index], *items[index + 1 :]]
    return [*items[:index], _change(items[index], rest, new_value), *items[index + 1 :]]


def find_value(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of member names; None if the path ends early."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value

"""Ignored paths of a body: removed before a comparison, and replaced by Azure's values before a write.

Separate from `validation.ignore_annotation`, which reads them from manifests. A path is a tuple of steps, and covers
everything below it. A step names a member, or is `*` for every member or entry, or `[name=web]` for the entry of a list
that has that value in that field (`[subnet.id=…]`: a dot leads inside). Among tags, it may be a pattern of names, such
as `hidden-*`. An index is not a step: an entry that moves would take the path of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.formats.json_pointer import ANY
from gitsync.desired.formats.list_pairing import (
    TAGS,
    find_key,
    find_key_field,
    find_member,
    index_by_key,
    is_same_key,
)
from gitsync.desired.formats.name_patterns import ANY_TEXT, matches_name

Steps = tuple[str, ...]
Paths = tuple[Steps, ...]

_ENTRY: Final = re.compile(r"\[([^=\[\]]+)=(.+)\]", re.DOTALL)
_COVERED: Final = ()


def parse_entry_step(step: str) -> tuple[str, str] | None:
    """Field and value of a step that selects entries: `[name=web]` → ("name", "web"); None for any other step."""
    match = _ENTRY.fullmatch(step)
    return (match[1], match[2]) if match else None


def remove_paths(body: Any, paths: Paths, name: str = "") -> Any:
    """Return a body without everything that the paths cover. Members that become empty stay. `name` is the member that
    has the body.
    """
    if not paths:
        return body
    if isinstance(body, Mapping):
        paths_by_key = {key: _select_below(paths, key, name) for key in body}
        return {
            key: remove_paths(value, paths_by_key[key], key)
            for key, value in body.items()
            if _COVERED not in paths_by_key[key]
        }
    if isinstance(body, list):
        entries = [(entry, _select_for_entry(paths, entry)) for entry in body]
        return [remove_paths(entry, inner) for entry, inner in entries if _COVERED not in inner]
    return body


def keep_live_paths(body: Any, live: Any, paths: Paths, name: str = "") -> Any:
    """Return a body that does not change the paths: there it has the values of `live`, or nothing if `live` has none.

    Entries of lists are paired by their key, else by their index. `name` is the member that has the body.
    """
    if not paths:
        return body
    if _COVERED in paths:
        return live
    if isinstance(live, Mapping) and (body is None or isinstance(body, Mapping)):
        return _keep_members(body, live, paths, name)
    if isinstance(live, list) and isinstance(body, list):
        return _keep_entries(body, live, paths)
    return remove_paths(body, paths, name)


def _keep_members(
    body: Mapping[str, Any] | None, live: Mapping[str, Any], paths: Paths, name: str
) -> dict[str, Any] | None:
    desired = body or {}
    kept_members = {}
    for key in (*desired, *(key for key in live if find_member(desired, key, name) is None and key not in desired)):
        member_paths = _select_below(paths, key, name)
        value = (
            keep_live_paths(desired.get(key), find_member(live, key, name), member_paths, key)
            if member_paths
            else desired.get(key)
        )
        # An ignored member that Azure lacks is not sent. A null that git sets elsewhere is.
        if value is not None or (key in desired and not member_paths):
            kept_members[key] = value
    return kept_members if kept_members or body is not None else None


def _keep_entries(body: list[Any], live: list[Any], paths: Paths) -> list[Any]:
    """Take entries that the paths cover from Azure. The others are paired, and keep their ignored members."""
    # An ignored entry is Azure's, even if git has one of its own with that key.
    own_entries = [entry for entry in body if not _is_covered(paths, entry)]
    counterparts = _list_counterparts(own_entries, [entry for entry in live if not _is_covered(paths, entry)])
    kept_entries = [
        keep_live_paths(entry, counterpart, _select_for_entry(paths, entry))
        for entry, counterpart in zip(own_entries, counterparts, strict=True)
    ]
    return [*kept_entries, *(entry for entry in live if _is_covered(paths, entry))]


def _is_covered(paths: Paths, entry: Any) -> bool:
    return _COVERED in _select_for_entry(paths, entry)


def _list_counterparts(body: list[Any], live: list[Any]) -> list[Any]:
    """For every entry of a body, the one in Azure; None if there is none."""
    field = find_key_field(body, live)
    if field is None:
        return [live[index] if index < len(live) else None for index in range(len(body))]
    live_by_key = index_by_key(live, field)
    return [live_by_key.get(find_key(entry, field) or "", (0, None))[1] for entry in body]


def _select_below(paths: Paths, key: str, inside: str) -> Paths:
    """The rest of the paths that go through a member of the mapping `inside`."""
    return tuple(path[1:] for path in paths if path and _leads_to(path[0], key, inside))


def _leads_to(step: str, key: str, inside: str) -> bool:
    if step == ANY or is_same_key(step, key, inside):
        return True
    return inside == TAGS and ANY_TEXT in step and matches_name(step, key)


def _select_for_entry(paths: Paths, entry: Any) -> Paths:
    return tuple(path[1:] for path in paths if path and (path[0] == ANY or _selects(path[0], entry)))


def _selects(step: str, entry: Any) -> bool:
    """Return whether a step selects an entry, by the key that pairs entries."""
    field_and_value = parse_entry_step(step)
    if field_and_value is None:
        return False
    field, value = field_and_value
    # Both sides go through the same spelling: ids without case, regions without blanks.
    return find_key(entry, field) == find_key(_make_entry(field, value), field)


def _make_entry(field: str, value: str) -> dict[str, Any]:
    """Make an entry with this field only; a dot leads inside."""
    step, _, inside = field.partition(".")
    return {step: _make_entry(inside, value) if inside else value}

"""The PATCH that restores what a record has of changes outside of git's fields, and changes nothing else.

A nested merge patch (RFC 7386): a value that is gone returns, a new one becomes null, a new list empty. Lists and tags
are replaced as a whole, so they are the live ones, with the recorded entries and values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.weakening_fields import explain_weakening
from gitsync.desired.formats.json_pointer import JsonPath, parse_pointer
from gitsync.desired.formats.list_pairing import TAGS, find_member
from gitsync.model.edit import REMOVED
from gitsync.model.outside import OutsideChange
from gitsync.planning.outside.recorded_outside import OutsideView, has_secret

ONLY_DIGEST: Final = "the record has only a digest of its former value"
HAS_SECRETS: Final = "its list has secrets, which Azure does not return"


class _Part(NamedTuple):
    """A change, by its path below what is replaced as a whole."""

    path: JsonPath
    before: Any
    is_gone: bool  # only the record has it, so that an index is the former one


def find_unit(pointer: str) -> JsonPath:
    """Return the path of what a PATCH replaces as a whole for a change: the outermost list, the tags, or the value."""
    path = parse_pointer(pointer)
    if path[0] == TAGS:
        return path[:1]
    # RFC 7386 has no way to change one entry of a list.
    return next((path[:at] for at, step in enumerate(path) if isinstance(step, int)), path)


def group_by_obstacle(
    changes: Iterable[OutsideChange], live: Mapping[str, Any], view: OutsideView
) -> dict[str, list[OutsideChange]]:
    """Group changes by why a PATCH cannot restore them, after "since"; those that it can are in the group ""."""
    shown, groups = view.select_writable(live), dict[str, list[OutsideChange]]()
    obstacles: dict[JsonPath, str] = {}
    for change in changes:
        unit = find_unit(change.path)
        if unit not in obstacles:
            value = _find(shown, unit)
            # A list is sent in full. Without its secrets, or with a mask in their place, the PATCH would change them.
            obstacles[unit] = HAS_SECRETS if isinstance(value, list) and has_secret(value, view.hints, unit) else ""
        groups.setdefault(obstacles[unit] if change.is_restorable else ONLY_DIGEST, []).append(change)
    return groups


def explain_restored_weakening(arm_type: str, change: OutsideChange) -> str:
    """Return a sentence on how the estate gets weaker if a change is undone; "" if it does not."""
    now, before = (REMOVED if side is None else side for side in (change.now, change.before))
    return explain_weakening(arm_type, change.path, now, before, is_gone=False)


def build_restoring_patch(live: Mapping[str, Any], changes: Iterable[OutsideChange]) -> dict[str, Any]:
    """Return the body of the PATCH that restores the values before these changes. `live` is what can be sent of the
    live body, as ARM's type spells it.
    """
    units: dict[JsonPath, list[_Part]] = {}
    for change in changes:
        unit = find_unit(change.path)
        part = _Part(parse_pointer(change.path)[len(unit) :], change.before, is_gone=change.now is None)
        units.setdefault(unit, []).append(part)
    patch: dict[str, Any] = {}
    for unit, parts in units.items():
        value = _find(live, unit)
        restored = _restore(value, parts, unit[-1])
        _put(patch, unit, [] if restored is None and isinstance(value, list) else restored)
    return patch


def _find(value: Any, path: JsonPath) -> Any:
    inside: str | int = ""
    for step in path:
        value = find_member(value, str(step), inside) if isinstance(value, Mapping) else None
        inside = step
    return value


def _put(patch: dict[str, Any], path: JsonPath, value: Any) -> None:
    for step in path[:-1]:
        patch = patch.setdefault(str(step), {})
    patch[str(path[-1])] = value


def _restore(value: Any, parts: Iterable[_Part], inside: str | int) -> Any:
    """Return a value as it was before the changes below it; None for nothing."""
    below: dict[str | int, list[_Part]] = {}
    gone = []
    for part in parts:
        if not part.path:
            return part.before
        if part.is_gone and len(part.path) == 1 and isinstance(part.path[0], int):
            gone.append(part)
        else:
            below.setdefault(part.path[0], []).append(part._replace(path=part.path[1:]))
    if gone or any(isinstance(step, int) for step in below):
        return _restore_entries(value if isinstance(value, list) else [], below, gone)
    return _restore_members(value if isinstance(value, Mapping) else {}, below, inside)


def _restore_entries(
    entries: Sequence[Any], below: Mapping[str | int, Sequence[_Part]], gone: Sequence[_Part]
) -> list[Any]:
    # Indexes are those of the live list, so entries change before any of them goes or comes.
    changed = (_restore(entry, below[at], at) if at in below else entry for at, entry in enumerate(entries))
    restored = [entry for entry in changed if entry is not None]
    # The entries get their former positions only if those before them are there already.
    for part in sorted(gone, key=lambda part: int(part.path[0])):
        restored.insert(int(part.path[0]), part.before)
    return restored


def _restore_members(
    members: Mapping[str, Any], below: Mapping[str | int, Sequence[_Part]], inside: str | int
) -> dict[str, Any]:
    restored = dict(members)
    for step, parts in below.items():
        name = str(step)
        # Azure has one tag for names that differ in case only, so the live name may not be the recorded one.
        known = next((key for key in members if inside == TAGS and key.casefold() == name.casefold()), name)
        value = _restore(restored.pop(known, None), parts, step)
        if value is not None:
            restored[name] = value
    return restored

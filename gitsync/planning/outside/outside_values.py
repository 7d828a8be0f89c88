"""Select what Azure shows of a resource beside the fields that git sets, and compare it with the record.

A body is walked together with the bodies that git has set: the desired one, and the one that was last sent, since what
git gives up is git's until a write. A member that any of them has is covered. What is left can be written by ARM's
types, and does not belong to a resource of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from gitsync.desired.catalog.body_paths import select_writable
from gitsync.desired.catalog.body_types import BodyType
from gitsync.desired.formats.json_members import find_in_any_case
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.leaf_changes import LeafChange, compute_changes
from gitsync.desired.formats.list_pairing import (
    ATOMIC_MAPPINGS,
    OPEN_LISTS,
    TAGS,
    find_key_field,
    find_member,
    index_by_key,
    is_ordered,
    is_plain,
    keep_key,
)
from gitsync.desired.request.secret_digest import is_seal, unescape
from gitsync.planning.diff.projection import select_desired

_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
"""Values that mean the same as an absent one: Azure shows the one or the other."""


def is_empty(value: Any, inside: str | int) -> bool:
    """Return whether a member of `inside` means the same as an absent one. An empty tag is a tag."""
    return value in _EMPTY and not (inside == TAGS and value == "")


def select_outside(
    live: Mapping[str, Any], covers: Sequence[Mapping[str, Any]], body_type: BodyType, name: str
) -> dict[str, Any]:
    """Return the part of a live body that can be written and that none of the `covers`, bodies of requests, sets.

    Members are spelled as ARM's type has them. An entry of a list that git sets keeps its key. `name` is that of the
    resource, which chooses the variant of some types.
    """
    writable = select_writable(live, body_type, name=name, with_required=False)
    return _subtract(writable, [select_desired(cover) for cover in covers]) or {}


def list_outside_changes(
    before: Mapping[str, Any], now: Mapping[str, Any], covers: Sequence[Mapping[str, Any]]
) -> Iterator[LeafChange]:
    """Yield each leaf that differs between the recorded part of a body and the one that Azure shows now, as its path,
    the value before, and the value now; None if a side has none.

    What the `covers` set is left out: a comparison with git reports it.
    """
    yield from _list_changes(before, now, [select_desired(cover) for cover in covers], ())


def carry_values(
    before: Mapping[str, Any], now: Mapping[str, Any], old_cover: Mapping[str, Any], new_cover: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the recorded values after git sets other members, without a write, so that what changed before is found
    again: those of `before`, without what the new cover sets, and with the values that Azure shows now for what only
    the old one set. `now` is what a new record would have.
    """
    return _carry(before, now, select_desired(old_cover), select_desired(new_cover)) or {}


def find_covers(covers: Sequence[Any], key: str, inside: str | int) -> list[Any]:
    """Return what each of these values has as a member of the mapping `inside`; nothing for one that lacks it."""
    return [value for cover in covers if (value := _find(cover, key, inside)) is not None]


def _find(body: Any, key: str, inside: str | int) -> Any:
    """Find a member of a body that people or Azure wrote, whose case may be another."""
    if not isinstance(body, Mapping):
        return None
    found = find_member(body, key, inside)
    return find_in_any_case(body, key) if found is None else found


def _subtract(value: Any, covers: Sequence[Any], inside: str | int = "") -> Any:
    """Return what is left of a value; None for nothing."""
    if isinstance(value, Mapping):
        # Git sets such a mapping in full, so nothing in it is beside git.
        if inside in ATOMIC_MAPPINGS and covers:
            return None
        # Git sets something else here, which the comparison with git reports.
        if not all(isinstance(cover, Mapping) for cover in covers):
            return None
        left = {}
        for key, child in value.items():
            # Entries of open lists are resources of their own, with records of their own.
            below = () if key in OPEN_LISTS else find_covers(covers, key, inside)
            rest = None if key in OPEN_LISTS else _subtract(child, below, key)
            if not is_empty(rest, inside):
                left[key] = rest
            # An identity that somebody attached is a key with an empty value: the key alone shows it.
            elif _is_id(key) and not below:
                left[key] = {}
        return left or None
    if isinstance(value, list):
        return _subtract_entries(value, covers) if covers else [_subtract(entry, ()) or {} for entry in value]
    return None if covers else value


def _subtract_entries(entries: list[Any], covers: Sequence[Any]) -> list[Any] | None:
    """Return the rest of each entry that git sets, with its key. Other entries, which are differences from git, have
    their key only: so indexes stay those of the live list.
    """
    if not all(isinstance(cover, list) and cover for cover in covers) or is_plain(entries, *covers):
        return None
    field = find_key_field(entries, *covers)
    if field is None:
        return _subtract_unnamed(entries, covers)
    indexes = [index_by_key(cover, field) for cover in covers]
    rests = {
        key: _subtract(entry, [index[key][1] for index in indexes])
        for key, (_, entry) in index_by_key(entries, field).items()
        if all(key in index for index in indexes)
    }
    return [
        {**(rests.get(key) or {}), **keep_key(entry, field)} for key, (_, entry) in index_by_key(entries, field).items()
    ]


def _subtract_unnamed(entries: list[Any], covers: Sequence[list[Any]]) -> list[Any] | None:
    """Return the rest of the entries of a list that nothing names: by their index, if git has as many."""
    if any(len(cover) != len(entries) for cover in covers):
        return None
    return [_subtract(entry, at) or {} for entry, *at in zip(entries, *covers, strict=True)]


def _list_changes(before: Any, now: Any, covers: Sequence[Any], path: JsonPath) -> Iterator[LeafChange]:
    if not covers:
        yield from _compare(before, now, path)
        return
    # A digest and values cannot be compared, so nothing is known of the rest of the list.
    if is_seal(before) is not is_seal(now):  # of a long list that git sets in part only now
        return
    inside, sides = path[-1] if path else "", (_or_empty(before), _or_empty(now))
    if all(isinstance(side, Mapping) for side in (*sides, *covers)) and inside not in ATOMIC_MAPPINGS:
        for key, recorded, shown in _pair_members(*sides, inside):
            yield from _list_changes(recorded, shown, find_covers(covers, unescape(key), inside), (*path, key))
    elif all(isinstance(side, list) for side in (before or [], now, *covers)):
        yield from _list_entry_changes(before or [], now, covers, path)


def _pair_members(
    before: Mapping[str, Any], now: Mapping[str, Any], inside: str | int
) -> Iterator[tuple[str, Any, Any]]:
    """Yield each member of either mapping, as its name and both values."""
    # Azure's spelling comes first: the record may have the member in another case.
    for key in (*now, *(key for key in before if _find(now, key, inside) is None)):
        yield key, _find(before, key, inside), _find(now, key, inside)


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


def _compare(before: Any, now: Any, path: JsonPath) -> Iterator[LeafChange]:
    """Yield each leaf that differs where git sets nothing. Null, absent and empty are the same; ids as keys count."""
    inside, key = ("", "", *path)[-2:]
    if is_empty(before, inside) and is_empty(now, inside):
        if _is_id(key) and (before is None) is not (now is None):
            yield path, before, now
    elif (is_seal(before) and now in _EMPTY) or (is_seal(now) and before in _EMPTY):  # a digest may be empty
        # The value behind a digest may be an empty one, so that both sides mean the same.
        yield path, before or None, now or None
    elif isinstance(_or_empty(before), Mapping) and isinstance(_or_empty(now), Mapping):
        for key, recorded, shown in _pair_members(_or_empty(before), _or_empty(now), path[-1] if path else ""):
            yield from _compare(recorded, shown, (*path, key))
    elif isinstance(before, list) and isinstance(now, list):
        yield from _compare_lists(before, now, path)
    else:
        yield from ((path, recorded, shown) for _, shown, recorded in compute_changes(now, before, path))


def _compare_lists(before: list[Any], now: list[Any], path: JsonPath) -> Iterator[LeafChange]:
    """Compare entries by their key, or else by their position, unless the same entries have another order."""
    field = None if is_plain(before, now) or is_ordered(path) else find_key_field(now, before)
    if field is not None:
        shown, recorded = index_by_key(now, field), index_by_key(before, field)
        for key, (index, entry) in shown.items():
            old = recorded.get(key, (0, None))[1]
            yield from [((*path, index), None, entry)] if old is None else _compare(old, entry, (*path, index))
        gone = (entry for key, (_, entry) in recorded.items() if key not in shown)
        yield from (((*path, len(now) + index), entry, None) for index, entry in enumerate(gone))
    elif is_plain(before, now) or is_ordered(path) or len(before) != len(now):
        yield from ((at, recorded, shown) for at, shown, recorded in compute_changes(now, before, path))
    # Azure returns such lists in any order.
    elif sorted(map(_write, before)) != sorted(map(_write, now)):
        for index, (old, entry) in enumerate(zip(before, now, strict=True)):
            yield from _compare(old, entry, (*path, index))


def _write(entry: Any) -> str:
    return json.dumps(entry, sort_keys=True)


def _is_id(key: str | int) -> bool:
    """Return whether a key is an ARM id, which is a value itself (identity.userAssignedIdentities)."""
    return isinstance(key, str) and key.startswith("/")


def _list_entry_changes(
    before: list[Any], now: list[Any], covers: Sequence[list[Any]], path: JsonPath
) -> Iterator[LeafChange]:
    """Yield what changed in entries of a list that git sets. One that came or went is a difference from git."""
    field = find_key_field(now, before, *covers)
    if field is None:
        # Without keys only positions pair entries, so each side must have as many; a record of no values is empty.
        if len({len(now), *map(len, covers)}) == 1 and len(before) in {0, len(now)}:
            for index, (recorded, shown, *at) in enumerate(zip_longest(before, now, *covers)):
                yield from _list_changes(recorded, shown, at, (*path, index))
        return
    recorded_by_key, indexes = index_by_key(before, field), [index_by_key(cover, field) for cover in covers]
    for key, (index, shown) in index_by_key(now, field).items():
        recorded = recorded_by_key.get(key, (0, {}))[1]
        if all(key in each for each in indexes):
            yield from _list_changes(recorded, shown, [each[key][1] for each in indexes], (*path, index))


def _carry(before: Any, now: Any, old: Any, new: Any, inside: str | int = "") -> Any:
    """Return what to record of a value that one of the covers has at least in part; None for nothing."""
    if all(isinstance(side, list) for side in (now, old or [], new or [])) and not is_seal(before):
        return _carry_entries(before or [], now, old or [], new or [])
    sides = recorded_side, shown_side, old_side, new_side = [_or_empty(side) for side in (before, now, old, new)]
    if not all(isinstance(side, Mapping) for side in sides) or inside in ATOMIC_MAPPINGS or is_seal(before):
        # What git set as a whole has no value beside git on record, so Azure's present one is the first.
        return now
    carried = {}
    for key, recorded, shown in _pair_members(recorded_side, shown_side, inside):
        was, is_ = (_find(side, unescape(key), inside) for side in (old_side, new_side))
        value = recorded if was is None and is_ is None else _carry(recorded, shown, was, is_, key)
        if not is_empty(value, inside) or (value is not None and _is_id(key)):
            carried[key] = value
    return carried


def _carry_entries(before: list[Any], now: list[Any], old: list[Any], new: list[Any]) -> list[Any]:
    """Carry the values of the entries that are recorded with all that git did not set; of others take Azure's."""
    field = None if is_plain(before, now, old, new) else find_key_field(before, now, old, new)
    if field is None:
        return _carry_unnamed(before, now, old, new)
    recorded, was, is_ = (index_by_key(side, field) for side in (before, old, new))
    carried = []
    for key, (_, entry) in index_by_key(now, field).items():
        is_recorded = key in recorded and (key in was or not old)
        below = (side[key][1] if key in side else {} for side in (was, is_))
        carried.append(_carry(recorded[key][1], entry, *below) if is_recorded else entry)
    return carried


def _carry_unnamed(before: list[Any], now: list[Any], *covers: list[Any]) -> list[Any]:
    """Carry the values of entries that nothing names by their index, where a comparison pairs them so."""
    if is_plain(before, now, *covers) or any(len(side) not in {0, len(now)} for side in (before, *covers)):
        return now
    sides = [side or [{}] * len(now) for side in (before, *covers)]
    return [_carry(recorded, entry, *below) or {} for entry, recorded, *below in zip(now, *sides, strict=True)]

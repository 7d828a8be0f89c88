"""What Azure changed of the values that git sets, leaf by leaf. Indexes in lists are git's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.list_pairing import (
    OPEN_LISTS,
    find_key_field,
    find_member,
    index_by_key,
    is_ordered,
    is_plain,
)
from gitsync.planning.diff.first_sight import is_equal
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.projection import project
from gitsync.planning.diff.rules.own_entries import is_own_entry

UNKNOWN: Final = object()
"""Stands for a value of the last write that is not known."""


class DriftMove(NamedTuple):
    """What Azure changed: a leaf, or an entry of a list, whose index is git's. One side is None if it has none."""

    path: JsonPath
    desired: Any
    live: Any


def compare_parts(path: JsonPath, desired: Any, live: Any, before: Any, hints: Hints) -> Iterator[DriftMove]:
    """Yield what Azure changed of what git sets. `before` is what Azure had after the last write, `UNKNOWN` if that is
    not known.
    """
    if isinstance(desired, Mapping) and isinstance(live, Mapping):
        inside = path[-1] if path else ""
        for key, value in desired.items():
            was = find_member(before, key, inside) if isinstance(before, Mapping) else UNKNOWN
            yield from compare_parts((*path, key), value, find_member(live, key, inside), was, hints)
    elif isinstance(desired, list) and isinstance(live, list) and not is_ordered(path):
        yield from _list_moves_in_list(path, desired, live, before, hints)
    # What differed like this after the last write is Azure's own spelling, and no change.
    elif not is_equal(path, desired, live, hints) and (before is UNKNOWN or project(desired, live) != before):
        yield DriftMove(path, desired, live)


def _list_moves_in_list(
    path: JsonPath, desired: Sequence[Any], live: Sequence[Any], before: Any, hints: Hints
) -> Iterator[DriftMove]:
    was = before if isinstance(before, list) else None
    field = None if is_plain(desired, live) else find_key_field(desired, live, *([was] if was else []))
    if field is None:
        yield from _list_moves_without_keys(path, desired, live, was, hints)
        return
    ours, theirs = index_by_key(desired, field), index_by_key(live, field)
    former = None if was is None else index_by_key(was, field)
    for key, (index, entry) in ours.items():
        if key in theirs:
            entry_before = UNKNOWN if former is None else former.get(key, (0, UNKNOWN))[1]
            yield from compare_parts((*path, index), entry, theirs[key][1], entry_before, hints)
        # An entry that the last write did not have is new in git, and was not removed in Azure.
        elif former is None or key in former:
            yield DriftMove((*path, index), entry, None)
    new = [entry for key, (_, entry) in theirs.items() if key not in ours and (former is None or key not in former)]
    # What Azure or others add to an open list is not drift of what git sets.
    yield from _add(path, desired, [] if path[-1] in OPEN_LISTS else new, hints)


def _list_moves_without_keys(
    path: JsonPath, desired: Sequence[Any], live: Sequence[Any], was: Sequence[Any] | None, hints: Hints
) -> Iterator[DriftMove]:
    """Pair objects by their index if there are as many; else equal ones. The rest is paired in its order."""
    if len(desired) == len(live) and not is_plain(desired, live):
        gone, new = list(range(len(desired))), list(live)
    else:
        gone, new = _find_rest(path, desired, live, hints)
    # With the values of the last write it is known which side has changed each entry.
    if was is not None and is_plain(desired, live):
        gone = [at for at in gone if any(is_equal((*path, at), desired[at], old, hints) for old in was)]
        new = [entry for entry in new if entry not in was]
    for index, entry in zip(gone, new, strict=False):
        yield from compare_parts((*path, index), desired[index], entry, UNKNOWN, hints)
    yield from (DriftMove((*path, index), desired[index], None) for index in gone[len(new) :])
    yield from _add(path, desired, new[len(gone) :], hints)


def _find_rest(
    path: JsonPath, desired: Sequence[Any], live: Sequence[Any], hints: Hints
) -> tuple[list[int], list[Any]]:
    """Find the indexes of what only git has, and the entries that only Azure has."""
    gone, new = [], list(live)
    for index, entry in enumerate(desired):
        equal = next(
            (at for at, candidate in enumerate(new) if is_equal((*path, index), entry, candidate, hints)), None
        )
        if equal is None:
            gone.append(index)
        else:
            del new[equal]
    return gone, new


def _add(path: JsonPath, desired: Sequence[Any], new: Sequence[Any], hints: Hints) -> Iterator[DriftMove]:
    """Yield entries that only Azure has, except those that it adds by itself."""
    further = [entry for entry in new if not is_own_entry(path, entry, hints)]
    yield from (DriftMove((*path, len(desired) + index), None, entry) for index, entry in enumerate(further))

"""Splits the difference of two lists into those of their elements: one of 40 servers that changed is one line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from gitsync.desired.formats.json_pointer import format_pointer, parse_pointer
from gitsync.desired.formats.leaf_changes import compute_changes
from gitsync.desired.formats.list_pairing import is_ordered, is_plain
from gitsync.model.outside import OutsideChange
from gitsync.model.verdict import Difference

_MOST = 2000  # elements that are compared with each other


def split_outside(change: OutsideChange) -> list[Difference]:
    """Split a change of a list outside of git into one for each element: `desired` is the side now, `live` that before.
    An index in a path is that now, or that before for an element which is gone.
    """
    return split_lists(Difference(change.path, change.now, change.before, ""))


def split_lists(difference: Difference) -> list[Difference]:
    """Split a difference of two lists into one for each element that differs; any other stays as it is.

    The index in a path is that in git, or in Azure for an element that only Azure has.
    """
    desired, live = difference.desired, difference.live
    if not (isinstance(desired, list) and isinstance(live, list)) or len(desired) + len(live) > _MOST:
        return [difference]
    path = parse_pointer(difference.path)
    # Azure returns plain values in any order, so a move within the list is not a change.
    is_set = is_plain(desired, live) and not is_ordered(path)
    parts = []
    for index, ours, theirs in (_pair_members if is_set else _pair_in_order)(desired, live):
        both = isinstance(ours, dict) and isinstance(theirs, dict)
        changes = compute_changes(ours, theirs, (*path, index)) if both else [((*path, index), ours, theirs)]
        parts += [
            replace(difference, path=format_pointer(element_path), desired=left, live=right)
            for element_path, left, right in changes
        ]
    return parts or [difference]  # the same elements in another order


def _pair_members(desired: Sequence[Any], live: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Pair what only one side has, in the order of each; the order of the lists does not count."""
    ours, theirs = _list_further(desired, live), _list_further(live, desired)
    yield from _pair(ours, theirs)


def _list_further(first: Sequence[Any], other: Sequence[Any]) -> list[tuple[int, Any]]:
    """List the elements that a list has and the other has not, or not so often, with their indexes."""
    left = Counter(map(_write, other))
    further = []
    for index, element in enumerate(first):
        if left[_write(element)]:
            left[_write(element)] -= 1
        else:
            further.append((index, element))
    return further


def _pair_in_order(desired: Sequence[Any], live: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
    # Without `autojunk`, entries that recur in a list of 200 and more still pair.
    matcher = SequenceMatcher(None, list(map(_write, desired)), list(map(_write, live)), autojunk=False)
    ours, theirs = list(enumerate(desired)), list(enumerate(live))
    for word, begin, end, other_begin, other_end in matcher.get_opcodes():
        if word != "equal":
            yield from _pair(ours[begin:end], theirs[other_begin:other_end])


def _pair(ours: Sequence[tuple[int, Any]], theirs: Sequence[tuple[int, Any]]) -> Iterator[tuple[int, Any, Any]]:
    both = min(len(ours), len(theirs))
    yield from ((index, element, other) for (index, element), (_, other) in zip(ours, theirs, strict=False))
    yield from ((index, element, None) for index, element in ours[both:])
    yield from ((index, None, element) for index, element in theirs[both:])


def _write(element: Any) -> str:
    return json.dumps(element, sort_keys=True, default=str)

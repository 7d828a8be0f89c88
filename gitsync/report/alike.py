"""Decides what a report shows as one: many of the same kind, with their number and the first names. Problems and
resources fold by the same rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

_Item = TypeVar("_Item")

MOST_ALIKE: Final = 10
"""Items that are alike and shown one by one; more than these fold."""

MOST_NAMED: Final = 3
"""Names of those that fold; the others are counted."""


def split_alike(items: Iterable[_Item], make_likeness: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Split items into lists that are shown as one each, in the order of their first items: more than `MOST_ALIKE` of
    one likeness together, and all others alone. What has the likeness None is like nothing.
    """
    pairs = [(make_likeness(item), item) for item in items]
    times = Counter(likeness for likeness, _ in pairs)
    shown: list[list[_Item]] = []
    folds: dict[Hashable, list[_Item]] = {}
    for likeness, item in pairs:
        if likeness is None or times[likeness] <= MOST_ALIKE:
            shown.append([item])
            continue
        if likeness not in folds:
            shown.append(folds.setdefault(likeness, []))
        folds[likeness].append(item)
    return shown

"""The sides of a difference, or of a change outside of git, as a result keeps them: a run holds those of all resources
until its end, and a live value may have megabytes. No report shows more of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from operator import eq, is_not
from typing import Any, Final

from gitsync.desired.formats.long_text import AROUND, cut_end, leave_out_equal_start
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.secret import truncate
from gitsync.model.verdict import Difference

LONGEST_TEXT: Final = 1 << 15
"""Characters."""

MOST_ENTRIES: Final = 2000
"""Of a list or an object. No report compares longer lists entry by entry."""

Mask = Callable[[str], str]


def shorten_difference(difference: Difference, mask: Mask) -> Difference:
    """Return a difference whose texts and lists have a bounded length; the same one if they have it, as most. What both
    sides begin with in common goes first, so that two sides that differ never look equal. `mask` hides secrets in a
    text that loses its beginning: later, the rest of a secret would not be found.
    """
    desired = _shorten(difference.desired, difference.live, mask)
    live = _shorten(difference.live, difference.desired, mask)
    if desired is difference.desired and live is difference.live:
        return difference
    return replace(difference, desired=desired, live=live)


def shorten_outside(changes: tuple[OutsideChange, ...], mask: Mask) -> tuple[OutsideChange, ...]:
    """Return changes outside of git whose values have a bounded length."""
    return tuple(
        replace(change, before=_shorten(change.before, change.now, mask), now=_shorten(change.now, change.before, mask))
        for change in changes
    )


def shorten_resets(values: tuple[ResetValue, ...], mask: Mask) -> tuple[ResetValue, ...]:
    """Return values that a write may reset, each of a bounded length."""
    return tuple(replace(value, live=_shorten(value.live, None, mask)) for value in values)


def _shorten(value: Any, other: Any, mask: Mask) -> Any:
    match value:
        case str() if len(value) > LONGEST_TEXT:
            return _shorten_text(value, other, mask)
        case dict():
            others = other if isinstance(other, dict) else {}
            names = islice(_list_names(value, others), MOST_ENTRIES)
            members = {truncate(name, LONGEST_TEXT): _shorten(value[name], others.get(name), mask) for name in names}
            is_short = members.keys() == value.keys() and not _differ(members.values(), value.values())
            return value if is_short else members
        case list():
            return _shorten_list(value, other if isinstance(other, list) else [], mask)
        case _:
            return value


def _shorten_text(text: str, other: Any, mask: Mask) -> str:
    if not isinstance(other, str) or text[: LONGEST_TEXT - AROUND] != other[: LONGEST_TEXT - AROUND]:
        return cut_end(text, LONGEST_TEXT)
    rest, _ = leave_out_equal_start(mask(text), mask(other), LONGEST_TEXT)
    return cut_end(rest, LONGEST_TEXT)


def _list_names(value: Mapping[str, Any], others: Mapping[str, Any]) -> Iterable[str]:
    """List the names of the members; of many, those first whose values differ."""
    return value if len(value) <= MOST_ENTRIES else sorted(value, key=lambda name: value[name] == others.get(name))


def _shorten_list(values: list[Any], others: list[Any], mask: Mask) -> list[Any]:
    equal = 0
    if len(values) > MOST_ENTRIES and values[:MOST_ENTRIES] == others[:MOST_ENTRIES]:
        equal = sum(1 for _ in takewhile(bool, map(eq, values, others)))
    start = [f"… {equal:,} equal entries"] if equal else []
    pairs = islice(enumerate(values), equal, equal + MOST_ENTRIES)
    entries = [_shorten(entry, others[at] if at < len(others) else None, mask) for at, entry in pairs]
    if more := len(values) - equal - len(entries):
        return [*start, *entries, f"… and {more:,} more"]
    return [*start, *entries] if start or _differ(entries, values) else values


def _differ(shortened: Iterable[Any], values: Iterable[Any]) -> bool:
    return any(map(is_not, shortened, values))

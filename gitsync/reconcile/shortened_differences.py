"""The sides of a difference as a result keeps them: a run holds those of all resources until its end, and a value in
Azure may have megabytes. No report shows more of one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from operator import is_not
from typing import Any, Final

from gitsync.model.verdict import Difference
from gitsync.redaction import truncate

LONGEST_TEXT: Final = 1 << 15
"""Characters."""

MOST_ENTRIES: Final = 2000
"""Of a list or an object. No report compares longer lists entry by entry."""


def shorten_difference(difference: Difference) -> Difference:
    """Return a difference whose texts and lists have a bounded length; the same one if they have it, as most."""
    desired, live = _shorten(difference.desired), _shorten(difference.live)
    if desired is difference.desired and live is difference.live:
        return difference
    return replace(difference, desired=desired, live=live)


def _shorten(value: Any) -> Any:
    match value:
        case str():
            return truncate(value, LONGEST_TEXT)
        case dict():
            members = {truncate(name, LONGEST_TEXT): _shorten(value[name]) for name in islice(value, MOST_ENTRIES)}
            is_short = members.keys() == value.keys() and not _differ(members.values(), value.values())
            return value if is_short else members
        case list():
            entries = [_shorten(entry) for entry in value[:MOST_ENTRIES]]
            more = len(value) - len(entries)
            if more:
                return [*entries, f"… and {more:,} more"]
            return entries if _differ(entries, value) else value
        case _:
            return value


def _differ(shortened: Iterable[Any], values: Iterable[Any]) -> bool:
    return any(map(is_not, shortened, values))

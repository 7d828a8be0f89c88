"""When to stop writing what something else sets back after every write, and what to remember to know it.

Apart from the comparison, which sees one run: this sees the writes of several. A row is what a record keeps of them:
how many answered a move in Azure, with nothing changed in git, and which fields moved each time. Runs that find nothing
to do leave no trace to count, so a row is told by time instead: it ends where the last of its writes is longer ago than
`LONGEST_GAP`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition
from gitsync.model.record import WriteStreak
from gitsync.model.verdict import Comparison, Difference, Verdict
from gitsync.status.conditions import make_warning

FLAPPING: Final = "Flapping"
"""Reason of a resource that is no longer written, since something sets it back each time."""

LONGEST_GAP: Final = timedelta(days=2)
"""A nightly run finds its last write a day old; somebody who comes back after a week is not what sets a field back."""

WHOLE: Final = ""
"""The JSON pointer of the resource itself (RFC 6901): what moved where it was deleted."""

_LONGEST_VALUE: Final = 60
_MOST_FIELDS: Final = 5


def find_hold(row: WriteStreak | None, comparison: Comparison, limit: int, now: datetime) -> WriteStreak | None:
    """The row to remember where the resource is not to be written; None where it may be.

    `limit` is the number of writes in a row that are made before, 0 for no end of them. Once held, a resource stays so
    as long as git and what differs in Azure are as they were.
    """
    common = _common(row, comparison)
    if row is None or not limit or not common:
        return None
    seen = _seen(comparison)
    if row.held:
        return row if row.held == seen else None
    if row.count < limit or not _is_recent(row, now):
        return None
    return WriteStreak(count=row.count, paths=common, at=row.at, held=seen)


def extend_streak(row: WriteStreak | None, comparison: Comparison, now: datetime) -> WriteStreak | None:
    """The row after a write that answered this comparison: one longer, a new one, or none where git had moved."""
    paths = _moved(comparison)
    if not paths:
        return None
    common = _common(row, comparison)
    if row is None or row.held or not common or not _is_recent(row, now):
        return WriteStreak(count=1, paths=paths, at=format_rfc3339(now))
    return WriteStreak(count=row.count + 1, paths=common, at=format_rfc3339(now))


def build_flapping_condition(row: WriteStreak, comparison: Comparison) -> Condition:
    """What is told of a resource that is held: which fields, who says what, and how to mend it."""
    told = [_told(difference) for difference in comparison.differences if difference.path in row.paths]
    more = [f"and {len(told) - _MOST_FIELDS} more"] if len(told) > _MOST_FIELDS else []
    fields = "; ".join([*told[:_MOST_FIELDS], *more]) or "something deletes it"
    text = (
        f"It was written {row.count} times in a row with no change in git, and each time something set it back: "
        f"{fields}. It is not written again until git or Azure changes. Find out what sets it; then leave the field to "
        "it with the annotation gitsync/ignore, or take its value into the manifest."
    )
    return make_warning(FLAPPING, text)


def _moved(comparison: Comparison) -> tuple[str, ...]:
    """The fields that Azure moved; none where git moved too, since that is a change to be made."""
    if comparison.verdict is Verdict.MISSING:
        return (WHOLE,)
    if comparison.verdict is not Verdict.DRIFTED:
        return ()
    return tuple(sorted(difference.path for difference in comparison.differences))


def _common(row: WriteStreak | None, comparison: Comparison) -> tuple[str, ...]:
    """The fields that moved in every turn of the row and in this one."""
    return tuple(path for path in _moved(comparison) if row is not None and path in row.paths)


def _is_recent(row: WriteStreak, now: datetime) -> bool:
    return now - datetime.fromisoformat(row.at) <= LONGEST_GAP


def _seen(comparison: Comparison) -> str:
    """A short name for how Azure differs: what it says, and where."""
    said: Iterable[Any] = [(difference.path, difference.live) for difference in comparison.differences]
    text = json.dumps([comparison.verdict, sorted(said, key=str)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _told(difference: Difference) -> str:
    return f"{difference.path} (git {_short(difference.desired)}, Azure {_short(difference.live)})"


def _short(value: Any) -> str:
    if value is None:
        return "has nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return f"says {text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '…'}"

"""When to stop writing a resource that something else resets after every write, and what to record for that.

Separate from the comparison, which sees one run: this sees the writes of several. A record keeps them as a row: how
many writes reverted a change in Azure, with no change in git, and which fields changed each time. Runs that find
nothing to do leave nothing to count, so time ends a row: when its last write is older than `LONGEST_GAP`.
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
"""Reason of a resource that is no longer written, since something resets it each time."""

LONGEST_GAP: Final = timedelta(days=2)
"""The last write of a nightly run is a day old; a person who returns after a week is not what resets a field."""

WHOLE: Final = ""
"""The JSON pointer of the resource itself (RFC 6901): what changed if it was deleted."""

_LONGEST_VALUE: Final = 60
_MOST_FIELDS: Final = 5


def find_hold(row: WriteStreak | None, comparison: Comparison, limit: int, now: datetime) -> WriteStreak | None:
    """The row to record if the resource must not be written; None if it may be written.

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
    """The row after a write for this comparison: one longer, a new one, or none if git changed."""
    paths = _moved(comparison)
    if not paths:
        return None
    common = _common(row, comparison)
    if row is None or row.held or not common or not _is_recent(row, now):
        return WriteStreak(count=1, paths=paths, at=format_rfc3339(now))
    return WriteStreak(count=row.count + 1, paths=common, at=format_rfc3339(now))


def build_flapping_condition(row: WriteStreak, comparison: Comparison) -> Condition:
    """The message for a paused resource: which fields, both values, and how to fix it."""
    told = [_told(difference) for difference in comparison.differences if difference.path in row.paths]
    more = [f"and {len(told) - _MOST_FIELDS} more"] if len(told) > _MOST_FIELDS else []
    fields = "; ".join([*told[:_MOST_FIELDS], *more]) or "something deletes it"
    text = (
        f"It was written {row.count} times in a row with no change in git, and each time something reset it: "
        f"{fields}. It is paused until git or Azure changes. Find what keeps resetting the field, then ignore it with "
        "the annotation gitsync/ignore, or set its value in git."
    )
    return make_warning(FLAPPING, text)


def _moved(comparison: Comparison) -> tuple[str, ...]:
    """The fields that changed in Azure; none if git changed too, since that is a change to apply."""
    if comparison.verdict is Verdict.MISSING:
        return (WHOLE,)
    if comparison.verdict is not Verdict.DRIFTED:
        return ()
    return tuple(sorted(difference.path for difference in comparison.differences))


def _common(row: WriteStreak | None, comparison: Comparison) -> tuple[str, ...]:
    """The fields that changed before every write of the row and before this one."""
    return tuple(path for path in _moved(comparison) if row is not None and path in row.paths)


def _is_recent(row: WriteStreak, now: datetime) -> bool:
    return now - datetime.fromisoformat(row.at) <= LONGEST_GAP


def _seen(comparison: Comparison) -> str:
    """A short name for how Azure differs: its values, and their paths."""
    said: Iterable[Any] = [(difference.path, difference.live) for difference in comparison.differences]
    text = json.dumps([comparison.verdict, sorted(said, key=str)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _told(difference: Difference) -> str:
    return f"{difference.path} (git {_short(difference.desired)}, Azure {_short(difference.live)})"


def _short(value: Any) -> str:
    if value is None:
        return "has nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return f"has {text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '…'}"

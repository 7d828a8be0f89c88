"""Count what a record carries from run to run: the changes of a spec, and the writes that something else reset.

The generation counts the changes of a spec as Kubernetes does, and a digest shows the next change
(docs/reference/reconciliation.md#ready-condition).

A streak decides when to stop writing a resource that flaps. Separate from the comparison, which sees one run: this sees
the writes of several: how many reverted a change in Azure, with no change in git, and which fields changed each time. A
streak also ends when its last write is older than `LONGEST_GAP`.

A duration is that of the last create or update, so coarse that it stays the same while Azure is as fast as before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition, WaitReason
from gitsync.model.record import Record, WriteStreak
from gitsync.model.verdict import Comparison, Verdict
from gitsync.planning.status.conditions import make_warning

FLAPPING: Final = WaitReason.FLAPPING.value
"""The reason if a resource is no longer written, since something resets it each time."""

LONGEST_GAP: Final = timedelta(days=2)
"""Longer than the day between nightly runs; shorter than the week after which a person may change a field again."""

ALL_UNITS: Final = ""
"""The JSON pointer of the resource itself (RFC 6901): what changed if it was deleted."""

_LONGEST_VALUE: Final = 60
_MOST_FIELDS: Final = 5
_ENCODER = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    check_circular=False,  # a spec is a tree: an alias in YAML is of a value that has ended
    default=str,
)


class SpecGeneration(NamedTuple):
    """A spec, by how often it was changed and its digest."""

    generation: int
    digest: str


def decide_generation(record: Record | None, spec: Mapping[str, Any]) -> SpecGeneration:
    """Return the generation of a spec after what is on record; the first is 1."""
    digest = digest_spec(spec)
    # A record without a digest, as of a create that is only expected, shows no change of the spec.
    changed = record is not None and bool(record.spec.digest) and record.spec.digest != digest
    return SpecGeneration((record.spec.generation if record else 1) + changed, digest)


def digest_spec(spec: Mapping[str, Any]) -> str:
    """Return a digest of a spec that does not depend on the order of its keys."""
    # It only shows a change, so 64 bits are enough.
    return hashlib.sha256(_ENCODER.encode(spec).encode()).hexdigest()[:16]


def find_pause(streak: WriteStreak | None, comparison: Comparison, limit: int, now: datetime) -> WriteStreak | None:
    """Return the streak to record if the resource must not be written; None if it may be written.

    `limit` is the number of writes in a row that are allowed (0: no limit). A paused resource stays paused until
    git, or the difference in Azure, changes.
    """
    common_paths = _list_common_paths(streak, comparison)
    if streak is None or not limit or not common_paths:
        return None
    digest = _digest_differences(comparison)
    if streak.paused:
        # Another difference in Azure is new information: somebody may have stopped the reset.
        return streak if streak.paused == digest else None
    if streak.count < limit or not _is_recent(streak, now):
        return None
    return WriteStreak(count=streak.count, paths=common_paths, at=streak.at, paused=digest)


def extend_streak(streak: WriteStreak | None, comparison: Comparison, now: datetime) -> WriteStreak | None:
    """Return the streak after a write for this comparison: one longer, a new one, or None if git changed."""
    paths = _list_drifted_paths(comparison)
    if not paths:
        return None
    common_paths = _list_common_paths(streak, comparison)
    if streak is None or streak.paused or not common_paths or not _is_recent(streak, now):
        return WriteStreak(count=1, paths=paths, at=format_rfc3339(now))
    return WriteStreak(count=streak.count + 1, paths=common_paths, at=format_rfc3339(now))


_FIND_OUT = (
    "Find what keeps resetting the field, then ignore it with the annotation gitsync/ignore, or set its value in git."
)


def build_flapping_condition(streak: WriteStreak, comparison: Comparison) -> Condition:
    """Return the condition of a paused resource: which fields, and both values. Its advice is the fix."""
    descriptions = [
        f"{difference.path} (git {_describe_value(difference.desired)}, Azure {_describe_value(difference.live)})"
        for difference in comparison.differences
        if difference.path in streak.paths
    ]
    more = [f"and {len(descriptions) - _MOST_FIELDS} more"] if len(descriptions) > _MOST_FIELDS else []
    fields = "; ".join([*descriptions[:_MOST_FIELDS], *more]) or "something deletes it"
    text = (
        f"It was written {streak.count} times in a row with no change in git, and each time something reset it: "
        f"{fields}. It is paused until git or Azure changes."
    )
    return make_warning(FLAPPING, text, _FIND_OUT)


def _list_drifted_paths(comparison: Comparison) -> tuple[str, ...]:
    """List the fields that changed in Azure; none if git changed too, since that is a change to apply."""
    if comparison.verdict is Verdict.MISSING:
        return (ALL_UNITS,)
    if comparison.verdict is not Verdict.DRIFTED:
        return ()
    return tuple(sorted(difference.path for difference in comparison.differences))


def _list_common_paths(streak: WriteStreak | None, comparison: Comparison) -> tuple[str, ...]:
    """List the fields that changed before every write of the streak and before this one."""
    return tuple(path for path in _list_drifted_paths(comparison) if streak is not None and path in streak.paths)


def _is_recent(streak: WriteStreak, now: datetime) -> bool:
    return now - datetime.fromisoformat(streak.at) <= LONGEST_GAP


def _digest_differences(comparison: Comparison) -> str:
    """Return a digest of how Azure differs: its values, and their paths."""
    values: Iterable[Any] = [(difference.path, difference.live) for difference in comparison.differences]
    # Values of several types have no order among them.
    text = json.dumps([comparison.verdict, sorted(values, key=str)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _describe_value(value: Any) -> str:
    if value is None:
        return "has nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return f"has {text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '…'}"


def renew_duration(recorded: int | None, measured: float | None) -> int | None:
    """Return the duration to record, in seconds; `measured` is None if no such write ended in this run. A duration that
    differs by less than half from the recorded one is not new.
    """
    if measured is None:
        return recorded
    seconds = round_duration(measured)
    is_near = recorded is not None and abs(seconds - recorded) < recorded / 2
    return recorded if is_near else seconds


def round_duration(seconds: float) -> int:
    """Round to whole seconds, at least one, and to two significant digits."""
    seconds_above_zero = max(1, round(seconds))
    return round(seconds_above_zero, min(0, 2 - len(str(seconds_above_zero))))

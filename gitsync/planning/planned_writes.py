"""The writes of a run from its results, for the schedule: what waits for what, and how long Azure works on each.

The results may be those of a plan or of a sync: both have the writes and their order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from gitsync.desired.catalog.packed_tables import read_typical_durations
from gitsync.desired.formats.arm_path import name_lock
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import Key
from gitsync.model.limits import Bucket
from gitsync.model.record import Durations, Record
from gitsync.model.result import Result
from gitsync.model.schedule import Estimate, PlannedWrite, Schedule, TypicalDuration
from gitsync.model.verdict import Action
from gitsync.planning.forecast import NOTHING_FIRST, make_schedule

DEFAULT_SECONDS = 10.0
"""How long Azure works on a write without a known duration: the median of recorded creates that take time. Those of
updates and deletes are the same (docs/decisions/durations.md).
"""

_LEAST_SHARE = 0.1
"""How much of the published time a create takes at least. A shorter recorded time is not Azure's: an older version also
recorded the pace of an emulator.
"""

_APPLIED = frozenset({Action.CREATE, Action.UPDATE, Action.REPLACE})


def foresee(
    results: Collection[Result],
    share: float,
    records: Mapping[Key, Record] | None = None,
    first: Mapping[Bucket, int] = NOTHING_FIRST,
    *,
    is_local: bool = False,
) -> Schedule:
    """Foresee the course of the sync that a plan found necessary. `share` is how much of ARM's limits it may use.
    `records` are those before the run; the results of a plan have them. `first` counts what the sync sends before its
    first write: its checks. With `is_local`, an emulator did the writes on record: their time is not Azure's.
    """
    if all(result.action is Action.NONE for result in results):
        return Schedule()  # as most
    if records is None:
        records = {result.key: result.record for result in results if result.record}
    if is_local:
        records = {
            key: replace(record, writes=replace(record.writes, durations=Durations()))
            for key, record in records.items()
        }
    try:
        return make_schedule(make_writes(results, records, read_typical_durations()), share, first)
    except CycleError:  # of records: the sync itself refuses it
        return Schedule()


def make_writes(
    results: Iterable[Result], records: Mapping[Key, Record], typical: Mapping[str, TypicalDuration]
) -> tuple[PlannedWrite, ...]:
    """Make the writes of a run, sorted. `records` are those before the run, and `typical` are the durations by ARM type
    in lower case. A replaced resource has two writes, and so has what its delete takes along.
    """
    by_key = {result.key: result for result in results}
    replaced = {key for result in by_key.values() for key in _list_replaced(result)} & by_key.keys()
    applied = {
        key: Action.REPLACE if key in replaced else result.action
        for key, result in by_key.items()
        if key in replaced or result.action in _APPLIED
    }
    # What goes with another resource has no request of its own.
    deleted = {
        key for key, result in by_key.items() if result.action is Action.DELETE and result.change.deleted_with is None
    }
    locations = {}
    for key, result in by_key.items():  # as the write lock finds them: as known, else as on record
        record = records.get(key)
        locations[key] = result.arm_id or (record.arm_id if record else NO_ID)

    def make_write(key: Key, action: Action, after: Iterable[Key]) -> PlannedWrite:
        arm_id = locations[key]
        durations = records[key].writes.durations if key in records else Durations()
        arm_type = arm_id.arm_type.casefold() if arm_id else ""
        seconds, estimate = _estimate(action, durations, typical.get(arm_type))
        lock = name_lock(arm_id) if arm_id else ""
        return PlannedWrite(
            key=key,
            action=action,
            seconds=seconds,
            estimate=estimate,
            after=tuple(sorted(after)),
            lock=lock,
            reads=1 + count_polls(seconds),
        )

    before = _collect_applied_before(by_key, applied)
    dependents = _collect_dependents(deleted | replaced, by_key, locations)
    return (
        *(make_write(key, action, before[key]) for key, action in sorted(applied.items())),
        *(make_write(key, Action.DELETE, dependents[key]) for key in sorted(dependents)),
    )


def count_polls(seconds: float) -> int:
    """Count the polls of an operation, of which the first comes after a second and each other after twice the wait."""
    return math.ceil(math.log2(1 + seconds))


def _list_replaced(result: Result) -> Iterator[Key]:
    """List what is deleted and created again with a resource, itself first; nothing if it is not replaced."""
    if result.action is Action.REPLACE:
        yield result.key
        yield from result.change.replacement.below if result.change.replacement else ()


def _collect_applied_before(results: Mapping[Key, Result], applied: Mapping[Key, Action]) -> dict[Key, frozenset[Key]]:
    """Find the writes that each resource waits for: those of its dependencies, and through one that is not written
    those before it.
    """
    # A manifest that names itself as its owner is invalid, but would be a cycle here.
    edges = {
        key: [
            other
            for other in {*result.manifest.depends_on, result.manifest.owner}
            if other and other in results and other != key
        ]
        for key, result in results.items()
        if result.action is not Action.DELETE
    }
    before: dict[Key, frozenset[Key]] = {}
    for key in TopologicalSorter(edges).static_order():
        direct = edges.get(key, ())
        # A resource that is not written takes no time, so what it waits for counts instead.
        passed = (before[other] for other in direct if other not in applied)
        before[key] = frozenset(other for other in direct if other in applied).union(*passed)
    return before


def _collect_dependents(
    deleted: Iterable[Key], results: Mapping[Key, Result], locations: Mapping[Key, ArmId]
) -> dict[Key, set[Key]]:
    """Find the deletes that each delete waits for: of what depends on the resource, and of what is below it."""
    dependents: dict[Key, set[Key]] = {key: set() for key in deleted}
    by_id = {locations[key].key: key for key in sorted(dependents)}
    for key in dependents:
        above = (by_id[path] for path in locations[key].lineage if path in by_id)
        for other in {*results[key].manifest.depends_on, *above} - {key}:
            if other in dependents:
                dependents[other].add(key)
    return dependents


def _estimate(action: Action, last: Durations, typical: TypicalDuration | None) -> tuple[float, Estimate]:
    """Estimate how long Azure works on a write: as long as the last time, else as it does for the type."""
    typical = typical or TypicalDuration()
    # A record goes with its resource, so none has the time of a delete.
    recorded, by_type, published = {
        Action.UPDATE: (last.update, typical.update, None),
        Action.DELETE: (None, typical.delete, None),
    }.get(action, (last.create, typical.create, typical.published))
    if recorded is not None and recorded >= (published or 0) * _LEAST_SHARE:
        return float(recorded), Estimate.RECORD
    if by_type is not None:
        return by_type, Estimate.TYPE
    return (published, Estimate.PUBLISHED) if published is not None else (DEFAULT_SECONDS, Estimate.DEFAULT)

"""THE LOCKS of a run: which stay, which are lifted, and which come back.

A lock that was removed from git is deleted before anything else. If a delete below it then fails, the lock is created
again with the body that it had, and stays on record: the next run tries both again. Before the first delete, the
records show that a lock is being lifted, with its body: if a run is killed in between, the next one finds the lock
absent, and has what to restore on record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.run.write_status import write_expected
from gitsync.errors import ProviderError, StateError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import format_rfc3339
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Prune
from gitsync.model.record import PendingOperation, Record, State
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.delete_guards import Evidence, Moment, decide_deletes
from gitsync.planning.managed_locks import (
    CAN_NOT_DELETE,
    NO_LOCKS,
    LockView,
    ManagedLock,
    Turns,
    is_to_delete,
    list_open_deletes,
    list_open_writes,
    list_recorded_locks,
    make_recorded_lock,
)
from gitsync.planning.status.conditions import DELETING, make_error, make_warning

RESTORED: Final = "LockRestored"
NOT_RESTORED: Final = "LockNotRestored"

_SENT = ("level", "notes", "owners")
"""The properties of a lock that a PUT has."""


def view_standing(run: RunContext, state: State, turns: Turns, first: Mapping[Key, Result]) -> LockView:
    """View the locks that stay, once the first turn has ended. What it could not lift stays too."""
    # Records alone decide, with or without checks: a lock that git keeps holds for the plan and for the sync alike.
    standing = [*list_recorded_locks(state.records, without=turns.first)]
    for key, node in turns.first.items():
        if node.record is None:
            continue
        lock, is_lowered = make_recorded_lock(key, node.record), _is_lowered(node, first[key], run)
        if isinstance(node, Apply):
            standing.append(replace(lock, level=CAN_NOT_DELETE) if is_lowered else lock)
        elif not is_lowered:
            standing.append(lock)
    return LockView(standing=tuple(sorted(standing))) if standing else NO_LOCKS


def forget_lifted(state: State, first: Mapping[Key, Result]) -> State:
    """Return the state without the locks that are gone: no replacement of what they held for takes them along."""
    gone = {key for key, result in first.items() if result.action is Action.DELETE}
    records = {key: record for key, record in state.records.items() if key not in gone}
    return replace(state, records=records) if gone else state


def _is_lowered(node: Apply | Prune, result: Result, run: RunContext) -> bool:
    if isinstance(node, Apply):
        return result.is_fine
    return result.action is Action.DELETE and (result.is_gone or not run.rules.writes)


def view_open(turns: Turns, standing: LockView, results: Mapping[Key, Result]) -> LockView:
    """View in addition what the run has not brought to its end, for the locks that are still to be created."""
    return replace(
        standing,
        open_writes=dict(list_open_writes(turns.usual.applies, results)),
        open_deletes=list_open_deletes(turns.usual.prunes, results),
    )


async def reserve_lifts(run: RunContext, state: State, turns: Turns) -> Turns:
    """Record that locks are being lifted, with the bodies that they have now, if anything below them will be deleted.
    Nothing is lifted if that fails.
    """
    lifted = {key: node for key, node in turns.first.items() if isinstance(node, Prune) and is_to_delete(node)}
    deletes = [prune.record.arm_id for prune in turns.usual.prunes.values() if is_to_delete(prune)]
    needed = {
        key: prune
        for key, prune in lifted.items()
        if any(map(make_recorded_lock(key, prune.record).forbids_delete, deletes))
    }
    if not (needed and run.rules.writes and run.rules.prune):
        return turns
    found = {key: await _reserve(run, prune.record) for key, prune in needed.items()}
    records = {key: record for key, record in found.items() if record is not None}
    try:
        taken = write_expected(run.connections, state, records, run.rules.agent, f"Lift {len(records)}")
        why = f"Another run has just recorded {min(taken)}, so this run skips it." if taken else ""
    except StateError as error:
        why = f"The status cannot be written, so nothing is deleted. {error.message}"
    if not why:
        needed = {key: replace(prune, record=records.get(key, prune.record)) for key, prune in needed.items()}
    decided = decide_deletes(needed, Evidence(unrecorded=dict.fromkeys(needed, why)), Moment.LIFT)
    return replace(turns, first={**turns.first, **decided})


async def _reserve(run: RunContext, record: Record) -> Record | None:
    """Return the record of a lock that is being lifted. None if somebody has deleted the lock: there is nothing to
    restore.
    """
    try:
        reader = run.identities[record.key].azure().reader(run.begin_session())
        live = await reader.get(record.arm_id, record.arm_api_version)
    except ProviderError:
        # The body of a lock that cannot be read is the one on record.
        body: Mapping[str, Any] | None = record.spec.applied or record.spec.baseline
    else:
        if live is None:  # unless an earlier run has lifted it
            return record if record.writes.operation is not None else None
        body = _read_body(live.body)
    operation = PendingOperation("delete", format_rfc3339(run.clock.now()))
    spec = replace(record.spec, applied=body)
    return replace(record, spec=spec, writes=replace(record.writes, operation=operation))


def _read_body(live: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = live.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    return {"properties": {name: known[name] for name in _SENT if known.get(name)}}


async def restore_lifted(
    run: RunContext, turns: Turns, first: Mapping[Key, Result], results: Mapping[Key, Result]
) -> dict[Key, Result]:
    """Create again the locks that were lifted for a delete that failed. Returns their new results."""
    if not (turns.first and run.rules.writes):
        return {}
    failed, under_way = list_open_deletes(turns.usual.prunes, results), _list_under_way(results)
    restored = {}
    for key, result in sorted(first.items()):
        node = turns.first[key]
        if not (isinstance(node, Prune) and result.is_gone and node.record.writes.operation is not None):
            continue  # it was not lifted by a run
        lock = make_recorded_lock(key, node.record)
        if cause := _find_cause(lock, failed):
            restored[key] = await _restore(run, node.record, result, cause)
        elif cause := _find_cause(lock, under_way):
            restored[key] = _keep_record(node.record, result, cause)
    return restored


def _list_under_way(results: Mapping[Key, Result]) -> dict[Key, ArmId]:
    """List the deletes that Azure has accepted, and that the run did not see end."""
    return {
        key: result.arm_id
        for key, result in results.items()
        if result.action is Action.DELETE and result.arm_id and not result.is_gone
    }


def _keep_record(record: Record, result: Result, cause: Key) -> Result:
    """Keep a lifted lock on record while a delete below it may still fail: the next run follows that to its end."""
    text = f"The lock is deleted, and stays on record until the delete of {cause} has ended."
    condition = replace(DELETING, message=text, generation=record.spec.generation, time=result.condition.time)
    return replace(result, condition=condition, is_fine=False, record=replace(record, condition=condition))


def _find_cause(lock: ManagedLock, failed: Mapping[Key, ArmId]) -> Key | None:
    return next((key for key, arm_id in sorted(failed.items()) if lock.forbids_delete(arm_id)), None)


async def _restore(run: RunContext, record: Record, result: Result, cause: Key) -> Result:
    # Also after a stop, a few seconds are left: what the lock protects must not stay without it.
    session = run.sessions.begin_last(run.rules.deadline, run.clock.monotonic())
    begun = f"It was deleted for the delete of {cause}, which failed"
    try:
        async with session.in_time(run.clock):
            writer = run.identities[record.key].azure().writer(session)
            await writer.wait(await writer.put(record.arm_id, record.arm_api_version, record.spec.applied or {}))
    except (ProviderError, TimeoutError) as error:
        why = error.message if isinstance(error, ProviderError) else "The time is up."
        text = f"{begun}, and could not be created again: {why}"
        condition, is_there, operation = make_error(NOT_RESTORED, text), False, record.writes.operation
    else:
        condition, is_there, operation = make_warning(RESTORED, f"{begun}, so it was created again."), True, None
        run.cache.note_applied(record.arm_id, existed=False)
    condition = replace(condition, generation=record.spec.generation, time=format_rfc3339(run.clock.now()))
    last = replace(session.last_write, revision=run.rules.revision) if session.last_write else record.writes.last
    return replace(
        result,
        verdict=Verdict.BLOCKED,
        action=Action.NONE,
        condition=condition,
        is_fine=False,
        ending=replace(
            result.ending,
            exists=is_there,
            is_retryable=True,
            blocked_by=cause,
            requests=result.ending.requests + session.requests,
            sent=(*result.ending.sent, *session.sent),
            written=Written.ACCEPTED,
        ),
        record=replace(record, condition=condition, writes=replace(record.writes, operation=operation, last=last)),
    )

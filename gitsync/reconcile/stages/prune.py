"""The stages of a resource that was removed from git: forget, hold or delete it (docs/reference/design.md#prune,
docs/reference/reconciliation.md#delete).
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.arm.http.pages import list_ids
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.model.plan import Intent
from gitsync.model.record import Record
from gitsync.model.result import Stage
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.group_deletes import find_strangers, is_group, unseen
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.reconcile.stages.delete import DELETED, delete_resource, record_deleted
from gitsync.request.owners import is_alias
from gitsync.status.conditions import DELETING, DELETION_NOT_SUPPORTED, make_other_agent, make_warning

DETACHED = Condition(status=ConditionStatus.TRUE, reason="Detached", message="It stays in Azure.")
KEPT = Condition(
    status=ConditionStatus.TRUE, reason="NotPruned", message="Run `gitsync sync --prune` to delete it from Azure."
)
REMEMBERED = replace(KEPT, message="It stays in Azure. Run `gitsync sync --prune` to forget it.")

RESOURCES_API_VERSION = "2021-04-01"
"""Of the list of what a resource group holds."""


def get_record(turn: ReconcileAttempt) -> Record:
    if turn.node.record is None:
        raise AssertionError("only what is recorded is pruned")
    return turn.node.record


def find_recorded_kind(turn: ReconcileAttempt) -> Kind | None:
    """The kind that the record's manifest was of; None where the catalog no longer has it."""
    return turn.run.catalog.kind(GVK.parse(get_record(turn).manifest_api_version, turn.node.key.kind))


def _left(turn: ReconcileAttempt, condition: Condition) -> Condition:
    """The condition, with how the resource was removed from git before its message."""
    return replace(condition, message=f"{turn.node.reason} {condition.message}")


async def check_prune(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Stop if the resource must stay: policy first, then everything that holds the delete."""
    rules, record = turn.run.rules, get_record(turn)
    detaches = turn.node.intent is Intent.DETACH
    turn = replace(turn, comparison=Comparison(verdict=Verdict.DETACH if detaches else Verdict.DELETE))
    if turn.node.held:
        verdict = Verdict.DETACH if detaches else Verdict.BLOCKED
        return turn.stopped(make_warning("PruneHeld", turn.node.held), verdict, is_fine=True)
    if record.agent and record.agent != rules.agent:
        return turn.stopped(make_other_agent(rules.agent, record.agent), Verdict.SKIP, may_mend=False, is_fine=True)
    if not rules.prune:
        return turn.stopped(_left(turn, REMEMBERED if detaches else KEPT))
    if detaches:
        return replace(turn, action=Action.DETACH, done=Action.DETACH).stopped(_left(turn, DETACHED))
    elsewhere = turn.out_of_reach(record.arm_id)
    if elsewhere and not is_alias(record.owner):
        return turn.stopped(elsewhere, Verdict.BLOCKED)
    besides = turn.run.registry.deletes_besides((turn.node.key.group, turn.node.key.kind))
    return replace(turn, action=Action.DELETE, note=besides)


async def wait_for_dependents(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Dependents go first; the content of a deleted group goes with it."""
    if not turn.run.rules.writes:
        return turn
    left = [result for result in turn.before.values() if result.record is not None]
    if left:
        return turn.stopped(
            make_warning("PruneHeld", f"{left[0].key} still exists and must be deleted first."), Verdict.BLOCKED
        )
    if turn.node.within is not None:
        return replace(turn, done=Action.DELETE, exists=False).stopped(DELETED)
    return turn


async def observe_prune(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Read it once more: gone already is done, and what is moving is waited for."""
    record, kind = get_record(turn), find_recorded_kind(turn)
    turn = replace(turn, near=turn.run.memory.writes_near(record.arm_id))
    if not turn.run.rules.writes:
        return await _looked_at(turn) if turn.run.rules.is_reviewed else turn
    if kind is not None and not kind.can_get:
        exists = await turn.reader.exists(record.arm_id, record.arm_api_version)
        return replace(turn, exists=exists) if exists else record_deleted(turn)
    live = await turn.reader.get(record.arm_id, record.arm_api_version)
    if live is not None and live.is_moving:
        live = await turn.reader.settle(record.arm_id, record.arm_api_version, live)
    if live is None:
        return record_deleted(turn)
    if live.is_moving:
        return replace(turn, live=live, exists=True, unfinished=turn.is_resumed).stopped(DELETING)
    return replace(turn, live=live, exists=True)


async def _looked_at(turn: ReconcileAttempt) -> ReconcileAttempt:
    """A plan that is reviewed says what would be deleted."""
    record, kind = get_record(turn), find_recorded_kind(turn)
    if kind is not None and not kind.can_get:
        return replace(turn, exists=await turn.reader.exists(record.arm_id, record.arm_api_version))
    live = await turn.reader.get(record.arm_id, record.arm_api_version)
    return replace(turn, live=live, exists=live is not None)


async def delete(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Delete it as its kind wants it, and wait for the end; refusals are warnings, so that the next run tries again."""
    record, kind = get_record(turn), find_recorded_kind(turn)
    if kind is not None and not kind.can_delete:
        return turn.stopped(DELETION_NOT_SUPPORTED)
    if is_group(turn.node.key):
        turn = await _check_content(turn)
    if turn.stop:
        return turn
    async with turn.run.arm.lane(record.arm_id):
        turn = turn.at(Stage.ACT).writing()
        return await delete_resource(turn, record)


async def _check_content(turn: ReconcileAttempt) -> ReconcileAttempt:
    """A group takes along all that it holds, so one list decides right before it goes.

    What this run deleted may still show in it. What goes along must show in it, or be gone: a list that leaves out
    what is there may leave out what is not ours.
    """
    path = f"{get_record(turn).arm_id}/resources"
    listed = list_ids(await turn.reader.list(path, RESOURCES_API_VERSION), path)
    deleted_before = [result.arm_id for result in turn.before.values() if result.record is None and result.arm_id]
    others = find_strangers(listed, [*(record.arm_id for record in turn.node.carries), *deleted_before])
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        text = f"The group contains resources that gitsync does not manage: {others[0]}{more}."
        return turn.stopped(make_warning("PruneHeld", text), Verdict.BLOCKED, is_fine=True)
    for record in unseen(turn.node.carries, listed):
        if await _exists(turn, record):
            text = f"The resource list of the group lacks {record.arm_id}, which exists, so the list is not used."
            return turn.stopped(make_warning("PruneHeld", text), Verdict.BLOCKED, waits=True)
    return turn


async def _exists(turn: ReconcileAttempt, record: Record) -> bool:
    kind = turn.run.catalog.kind(GVK.parse(record.manifest_api_version, record.key.kind))
    if kind is not None and not kind.can_get:
        return await turn.reader.exists(record.arm_id, record.arm_api_version)
    return await turn.reader.get(record.arm_id, record.arm_api_version) is not None

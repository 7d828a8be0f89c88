"""The stages of a resource that was removed from git, before its delete: forget, hold or read
(docs/reference/design.md#prune, docs/reference/reconciliation.md#delete).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitsync.agent.reconcile.attempt import PruneAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing, read_live
from gitsync.agent.reconcile.stages.delete import DELETED, record_deleted
from gitsync.agent.reconcile.stages.owner_check import has_resource
from gitsync.desired.request.arm_id_builder import is_alias
from gitsync.errors import ProviderError
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import Key
from gitsync.model.plan import Prune
from gitsync.model.record import Claim
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.delete_guards import Evidence, Moment, explain_kept
from gitsync.planning.delete_scope import GroupContent, list_unlisted
from gitsync.planning.status.conditions import (
    DELETING,
    has_refused_delete,
    make_held,
    make_kept,
    make_other_agent,
    make_undeletable,
    make_unknown_state,
)
from gitsync.providers.arm.http.response_bodies import list_ids

DETACHED = Condition(status=ConditionStatus.TRUE, reason="Detached")
KEPT = Condition(
    status=ConditionStatus.TRUE, reason="NotPruned", message="Run `gitsync sync --prune` to delete it from Azure."
)
GONE = replace(DELETED, message="Neither git nor Azure has it.")
REMEMBERED = replace(KEPT, message="Run `gitsync sync --prune` to forget it.")

_STAYS: Final = "It stays in Azure."
_RESTS: Final[Mapping[Claim, str]] = {
    Claim.NONE: "gitsync neither created nor adopted it. If Azure has it, it stays there.",
    Claim.EXPECTED: "gitsync did not see it created. If Azure has it, it stays there.",
}
"""Reported for a resource that gitsync does not own: no record shows that Azure has it. An expected create may never
have been sent, or a run was killed before it recorded the response.
"""

RESOURCES_API_VERSION = "2021-04-01"
"""The api-version of the list of a resource group's content."""


def _add_reason(attempt: PruneAttempt, condition: Condition) -> Condition:
    """Put the way in which the resource was removed from git before the message."""
    return replace(condition, message=f"{attempt.prune.reason} {condition.message}")


def _add_rest(prune: Prune, condition: Condition) -> Condition:
    """Put before the message what remains in Azure of a resource that gitsync does not delete."""
    rest = _STAYS if prune.moved_to else _RESTS.get(prune.record.claim, _STAYS)
    return replace(condition, message=f"{rest} {condition.message}".rstrip())


async def check_prune(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Stop if the resource must stay: because of its policy, or since a guard keeps it."""
    prune, record = attempt.prune, attempt.record
    attempt = attempt.with_decision(
        replace(attempt.decision, comparison=Comparison(verdict=Verdict.DETACH if prune.detaches else Verdict.DELETE))
    )
    if prune.hold:
        attempt = attempt.with_decision(
            replace(attempt.decision, withheld=Verdict.DETACH if prune.detaches else Verdict.DELETE)
        )
        return attempt.stopped(make_held(prune.hold), Verdict.HELD, StopKind.FINE)
    if prune.kept_because:
        verdict = Verdict.DETACH if prune.detaches else Verdict.BLOCKED
        return attempt.stopped(make_kept(prune.kept_because), verdict, StopKind.FINE_NOW)
    if record.agent and record.agent != run.rules.agent:
        return attempt.stopped(make_other_agent(run.rules.agent, record.agent), Verdict.SKIP, StopKind.FINE)
    if not run.rules.prune:
        # Without --prune nothing is deleted, but a resource that someone else deleted needs no record any more.
        if not prune.detaches and await _is_gone(attempt, run):
            return attempt.absent().stopped(GONE, Verdict.IN_SYNC, StopKind.FINE_NOW)
        return attempt.stopped(_add_reason(attempt, _add_rest(prune, REMEMBERED) if prune.detaches else KEPT))
    if prune.detaches:
        attempt = attempt.with_decision(replace(attempt.decision, action=Action.DETACH))
        attempt = attempt.with_write(replace(attempt.write, done=Action.DETACH))
        return attempt.stopped(_add_reason(attempt, _add_rest(prune, DETACHED)))
    refusal = attempt.explain_out_of_reach(record.arm_id)
    # The children of an alias are in the subscription that it created, not in that of the credential.
    if refusal and not is_alias(record.manifest.owner):
        return attempt.stopped(refusal, Verdict.BLOCKED)
    note = run.registry.deletes_besides(attempt.rule_key)
    return attempt.with_decision(replace(attempt.decision, action=Action.DELETE, note=note))


async def _is_gone(attempt: PruneAttempt, run: Observing) -> bool:
    """Return whether the resource is gone from Azure."""
    if attempt.explain_out_of_reach(attempt.record.arm_id):
        return False
    try:
        return not await has_resource(attempt, attempt.record, attempt.known_kind, run)
    # An unclear response does not show that it is gone.
    except ProviderError:
        return False


async def wait_for_dependents(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Stop until the dependents are deleted. The content of a deleted group is deleted with it."""
    # What a plan deletes is not there for those after it.
    is_done = not run.rules.writes
    remaining = [
        result
        for result in attempt.before.values()
        if (result.action is not Action.DELETE or not (is_done or result.is_gone))
        and not _only_follows(result, attempt.key)
    ]
    if remaining:
        # The delete of the group is under way, and includes this resource.
        if attempt.prune.within is not None and remaining[0].action is Action.DELETE:
            return attempt.deleting(DELETING)
        why = _explain(attempt, Evidence(remaining=tuple(result.key for result in remaining)))
        is_fine = attempt.prune.within is not None and all(result.is_fine for result in remaining)
        kind = StopKind.FINE_NOW if is_fine else StopKind.NEXT_RUN
        return attempt.stopped(make_kept(why), Verdict.BLOCKED, kind, blocked_by=remaining[0].key)
    # The delete of the group has ended, and Azure deleted its content with it.
    if run.rules.writes and attempt.prune.within is not None:
        return attempt.with_write(replace(attempt.write, done=Action.DELETE)).absent().stopped(DELETED)
    return attempt


def _only_follows(result: Result, key: Key) -> bool:
    """Return whether a resource that stays, for a reason of its own, only comes after another one by the order of units
    and waves: it would hold the delete for as long as it stays.
    """
    record = result.record
    return result.is_fine and record is not None and key in record.manifest.ordered_after


async def observe_prune(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Read the resource again, and wait for its operation. One that no longer exists is done, and one that Azure cannot
    delete is kept.
    """
    record, kind, writes = attempt.record, attempt.known_kind, run.rules.writes
    has_no_delete = (kind is not None and not kind.can_delete) or has_refused_delete(record.condition)
    is_kept = has_no_delete and attempt.prune.within is None
    # A plan reads for a review, or if what it shows depends on it.
    if not (writes or run.rules.approval.is_reviewed or is_kept):
        return attempt
    attempt = attempt.with_observed(replace(attempt.observed, writes_before=run.cache.count_writes_near(record.arm_id)))
    if kind is not None and not kind.can_get:
        attempt = attempt.with_observed(
            replace(attempt.observed, exists=await run.reader(attempt).exists(record.arm_id, record.arm_api_version))
        )
    else:
        reader = await run.live_reader(attempt)
        live = await read_live(reader, record.arm_id, record.arm_api_version)
        if writes and live is not None and live.is_moving:
            live = await reader.settle(record.arm_id, record.arm_api_version, live)
        attempt = attempt.with_live(live)
    if writes and not attempt.observed.exists:
        return record_deleted(attempt)
    if _explain(attempt, Evidence(is_undeletable=is_kept and bool(attempt.observed.exists))):
        return attempt.stopped(make_undeletable(attempt.key), Verdict.BLOCKED, StopKind.FINE_NOW)
    live = attempt.observed.live
    if not writes or live is None or not live.is_moving:
        return attempt
    moving = make_unknown_state(live.provisioning_state or "") if live.has_unknown_state else DELETING
    return attempt.with_write(replace(attempt.write, unfinished=attempt.is_resumed)).stopped(moving)


async def check_group_content(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Stop the delete of a group that contains anything that gitsync does not manage."""
    if not attempt.record.arm_id.is_group:
        return attempt
    path, carried = f"{attempt.record.arm_id}/resources", attempt.prune.carries
    # The list is read once more, right before the delete.
    listed_ids = list_ids(await run.reader(attempt).list(path, RESOURCES_API_VERSION), path)
    deleted_ids = [result.arm_id for result in attempt.before.values() if result.arm_id]
    # The list may still show what this run deleted, and what was below that.
    content = GroupContent(listed_ids, [record.arm_id for record in carried], deleted_ids)
    if why := _explain(attempt, Evidence(contents={attempt.key: content})):
        return attempt.stopped(make_kept(why), Verdict.BLOCKED, StopKind.FINE_NOW)
    # A list that lacks a resource which exists may lack those of others too.
    for record in list_unlisted(carried, listed_ids):
        kind = run.catalog.kind_of_record(record)
        if await has_resource(attempt, record, kind, run):
            why = _explain(attempt, Evidence(unlisted=record.arm_id))
            return attempt.stopped(make_kept(why), Verdict.BLOCKED, StopKind.WAITS)
    return attempt


def _explain(attempt: PruneAttempt, evidence: Evidence) -> str:
    return explain_kept(attempt.prune, evidence, Moment.DELETE)

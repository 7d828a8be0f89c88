"""Last stages of an apply: send what differs, poll the operation, and check the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.arm.actor import Actor
from gitsync.arm.lro.reply import AcceptedWrite
from gitsync.diff.ignore import keep_live_paths, remove_paths
from gitsync.diff.merge_patch import merge_patch
from gitsync.diff.three_way import Remembered, make_baseline
from gitsync.errors import ArmError
from gitsync.extensions.api import ActionCall
from gitsync.formats.arm_path import find_provider, find_subscription
from gitsync.model.result import Stage
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.actions import may_recover
from gitsync.planning.secret_digest import keep_digests as with_old_digests
from gitsync.planning.secret_digest import seal_body
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.reconcile.stages.body_extensions import make_sent_body, run_required_actions
from gitsync.reconcile.stages.observe import wait_until_settled
from gitsync.status.conditions import RECONCILING, make_refused, make_unreadable, make_warning
from gitsync.status.error_classes import classify

ROLE_ASSIGNMENT = ("authorization.azure.com", "RoleAssignment")
UPDATE_METHOD = "gitsync/update-method"


async def act(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Send what differs and wait for its end. A lane keeps other writes to the same parent out until then."""
    if turn.action is Action.NONE:
        return _agreed(_owned_up(turn))
    request = turn.request
    if request is None:
        raise AssertionError("nothing is sent before it is compared")
    turn = turn if turn.tried else replace(turn, tried=True, existed=bool(turn.exists))
    async with turn.run.arm.lane(request.arm_id):
        turn = await run_required_actions(turn.writing())
        if turn.stop:
            return turn
        try:
            restores = turn.run.registry.restores(turn.subject())
            reply = await _send(turn, request)
            turn = _written(turn, request, turn.action)
            turn = _restored(turn) if restores else turn
            finished = await turn.at(Stage.POLL).writer.wait(reply)
        except ArmError as failure:
            return await _refused(turn, request, failure)
    if not finished:
        return replace(turn, unfinished=True).stopped(turn.still_moving())
    return turn.stopped(RECONCILING, waits=True) if restores else turn


async def _send(turn: ReconcileAttempt, request: Request) -> AcceptedWrite:
    body = keep_live_paths(request.body, turn.live.body, turn.ignored) if turn.live else request.body
    if turn.live is not None and turn.prepared.resource.annotations.get(UPDATE_METHOD) == "patch":
        before = turn.remembered.applied if turn.remembered else {}
        patch = merge_patch(body, turn.live.body, before)
        return await turn.writer.patch(request.arm_id, request.api_version, patch, if_match=turn.if_match)
    body = make_sent_body(turn, body)
    return await turn.writer.put(request.arm_id, request.api_version, body, if_match=turn.if_match)


def _restored(turn: ReconcileAttempt) -> ReconcileAttempt:
    """A deleted resource was recovered without the body: the differences are sent afterwards."""
    return replace(turn, sent=None, existed=True, remembered=Remembered(applied={}, baseline=None))


def _owned_up(turn: ReconcileAttempt) -> ReconcileAttempt:
    """A write whose response was lost turns out to have succeeded."""
    if turn.sent is None or turn.done is not Action.NONE:
        return turn
    return _written(turn, turn.sent, Action.UPDATE if turn.existed else Action.CREATE)


def _written(turn: ReconcileAttempt, request: Request, action: Action) -> ReconcileAttempt:
    memory, key = turn.run.memory, turn.node.key
    memory.wrote(request.arm_id)
    memory.sent(request.arm_id)
    if not turn.existed:
        memory.created(request.arm_id)
    memory.granted = memory.granted or (key.group, key.kind) == ROLE_ASSIGNMENT
    applied = seal_body(remove_paths(request.body, turn.ignored), key, turn.run.digests)
    done = Action.CREATE if turn.done is Action.CREATE else action
    return replace(turn, sent=request, done=done, remembered=Remembered(applied=applied, baseline=None))


async def _refused(turn: ReconcileAttempt, request: Request, failure: ArmError) -> ReconcileAttempt:
    """Azure refused, or did not respond: register the provider, retry, or give up."""
    rules, memory, key = turn.run.rules, turn.run.memory, turn.node.key
    if turn.is_outrun(failure):
        return turn.overtaken(make_refused(failure, classify(failure)))
    memory.wrote(request.arm_id)
    if failure.outcome_unknown:
        memory.sent(request.arm_id)
    if failure.code == "MissingSubscriptionRegistration" and rules.registers:
        try:
            if await _register(turn, failure):
                return turn.stopped(RECONCILING, waits=True)
        except ArmError as no_right:
            failure = no_right
    classification = turn.run.registry.classify(failure, (key.group, key.kind))
    needed = [result.arm_id for result in turn.before.values() if result.arm_id]
    may_pass = may_recover(failure, missed_is_ours=memory.created_any(needed), granted=memory.granted)
    sent = request if failure.outcome_unknown else None
    return replace(turn, sent=sent).stopped(
        make_refused(failure, classification),
        waits=may_pass and not classification.is_fatal,
        may_mend=not classification.is_fatal,
    )


async def _register(turn: ReconcileAttempt, failure: ArmError) -> bool:
    named = next((detail.get("target") for detail in failure.details if detail.get("target")), None)
    namespace = str(named or find_provider(turn.arm_id))
    subscription = find_subscription(turn.arm_id) or turn.account.subscription
    return await turn.writer.register(namespace, subscription)


async def poll(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Read the result of the write: the baseline of later runs.

    If it cannot be read, the operation counts as unfinished, and the next run continues it.
    """
    if turn.action is Action.NONE:
        return turn
    if not turn.kind.can_get:
        return _agreed(replace(turn, exists=True))
    try:
        live = await turn.reader.get(turn.arm_id, turn.api_version)
    except ArmError as failure:
        return replace(turn, unfinished=True).stopped(make_unreadable(failure))
    if live is None:
        text = f"Write of {turn.arm_id} accepted; the resource cannot be read yet."
        return turn.stopped(make_warning("AzureResourceNotFound", text), waits=True)
    turn = await wait_until_settled(replace(turn, live=live, exists=True))
    if turn.stop:
        return turn
    if turn.live is not None and turn.live.has_failed:
        text = f"The provisioningState of the resource in Azure is {turn.live.provisioning_state}."
        return turn.stopped(make_warning("Failed", text))
    return _agreed(turn)


def _agreed(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Keep the live values of the fields that git sets as baseline, unless the resource is only watched."""
    if turn.live is None or turn.request is None:
        applied = _applied(turn) if turn.request and turn.exists and turn.policy.allows_modify else None
        return replace(turn, remembered=Remembered(applied=applied, baseline=None)) if applied else turn
    turn.run.memory.saw(turn.arm_id, turn.live)
    comparison = turn.comparison
    reported = comparison is not None and comparison.verdict is Verdict.ADOPT and not turn.run.rules.adopts
    if reported or not turn.policy.allows_modify:
        return turn
    baseline = make_baseline(turn.asked, remove_paths(turn.live.body, turn.ignored))
    return replace(turn, remembered=Remembered(applied=_applied(turn), baseline=baseline))


def _applied(turn: ReconcileAttempt) -> Mapping[str, Any]:
    """The body as it goes on record: what was not sent now keeps the digests of when it was."""
    return with_old_digests(turn.sealed, turn.remembered.applied if turn.remembered else None)


async def post_check(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Run the checks of the extensions; retry if one returns "not yet"."""
    comparison = turn.comparison
    if comparison and comparison.verdict is Verdict.ADOPT and comparison.differences and not turn.run.rules.adopts:
        text = f"It exists and {len(comparison.differences)} of its values differ from git; --adopt is report."
        return turn.stopped(make_warning("NotAdopted", text))
    answer = await turn.run.registry.post_check(turn.subject(), turn.reader)
    if answer.agrees:
        return turn
    turn = await _called(turn, answer.then) if answer.then else turn
    return turn if turn.stop else turn.stopped(make_warning("PostReconciliationFailure", answer.reason), waits=True)


async def _called(turn: ReconcileAttempt, call: ActionCall) -> ReconcileAttempt:
    """Call the action that may make a check pass, once for a node; with policy skip nothing is called."""
    if call in turn.called or not turn.policy.allows_modify:
        return turn
    try:
        async with turn.run.arm.lane(turn.arm_id):
            await Actor(turn.writer).call(call.path, call.api_version, call.body)
    except ArmError as failure:
        return turn.stopped(make_unreadable(failure))
    turn.run.memory.wrote(turn.arm_id)
    return replace(turn, called=(*turn.called, call))

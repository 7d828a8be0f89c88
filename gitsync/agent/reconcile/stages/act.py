"""Act on a resource: send the difference, follow the operation to its end, and check the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.etag import begin_write
from gitsync.agent.reconcile.run_views import Acting
from gitsync.agent.reconcile.stages.body_extensions import build_body, run_required_actions
from gitsync.agent.reconcile.stages.outside_use import may_note_kept, note_kept, send_restores
from gitsync.agent.reconcile.stages.parent_put import leave_children, show_first_refusal
from gitsync.agent.reconcile.stages.refusal import handle_refusal
from gitsync.agent.reconcile.stages.value_removal import may_note_refusal, note_refusal, send_demands
from gitsync.agent.reconcile.write import SentRequest
from gitsync.desired.formats.ignored_paths import keep_live_paths, remove_paths
from gitsync.desired.request.secret_digest import seal_body
from gitsync.errors import ProviderError
from gitsync.extensions.api import ActionCall
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.actions import find_remembered
from gitsync.planning.diff.projection import build_merge_patch
from gitsync.planning.diff.three_way import Remembered
from gitsync.planning.removed_values import retain_removed
from gitsync.planning.status.conditions import POST_CHECK, RECONCILING, make_unreadable, make_warning
from gitsync.providers.arm.extension_client import ExtensionClient
from gitsync.providers.arm.lro.poll import AcceptedWrite


async def act(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Send the difference. The caller holds the write lock until `poll` has ended."""
    if attempt.decision.action is Action.NONE:
        return _acknowledge(attempt, run)
    request = attempt.filled_request
    attempt = await run_required_actions(begin_write(attempt, run.cache), run)
    if attempt.stop:
        return attempt
    arm_id, version, if_match = request.arm_id, request.api_version, attempt.write.precondition.if_match
    try:
        if attempt.write.removal.demands:
            reply: AcceptedWrite | None = await send_demands(attempt, run)
        elif attempt.decision.outside_action.is_patch:
            reply = await send_restores(attempt, run)
        elif attempt.is_patched:
            reply = await run.writer(attempt).patch(arm_id, version, _build_patch(attempt), if_match=if_match)
        else:
            body = build_body(attempt, run.registry)
            reply = await (await run.live_writer(attempt)).put(arm_id, version, body, if_match=if_match)
    except ProviderError as failure:
        return _note_in_vain(attempt, failure, run) or await _stop_refused(attempt, failure, run)
    return _note_accepted(attempt, request, attempt.decision.action, run, reply)


def _note_in_vain(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt | None:
    """Return the attempt, stopped by a refusal after which an earlier write still holds; None for any other."""
    if may_note_refusal(attempt, failure):
        return note_refusal(attempt, failure, run)
    return note_kept(attempt, failure, run) if may_note_kept(attempt, failure) else None


async def _stop_refused(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt:
    if without := leave_children(attempt, failure, run):
        return without
    return show_first_refusal(await handle_refusal(attempt, failure, run))


def _build_patch(attempt: ApplyAttempt) -> Mapping[str, Any]:
    """Return what a PATCH changes."""
    live = attempt.observed.live.body if attempt.observed.live else {}
    before = attempt.remembered.applied if attempt.remembered else {}
    # Extensions do not see a PATCH: they take complete bodies only.
    return build_merge_patch(keep_live_paths(attempt.filled_request.body, live, attempt.ignored), live, before)


def _acknowledge(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Return an attempt that has nothing to send."""
    # No response was lost: nothing was sent, or the write is known to be accepted.
    if attempt.write.sent is None or attempt.write.done is not Action.NONE:
        return attempt
    # The response to the write was lost, and what was read shows that it succeeded.
    action = Action.UPDATE if attempt.write.existed else Action.CREATE
    return _note_accepted(attempt, attempt.write.sent.request, action, run)


def _note_accepted(
    attempt: ApplyAttempt, request: Request, action: Action, run: Acting, reply: AcceptedWrite | None = None
) -> ApplyAttempt:
    run.cache.note_applied(request.arm_id, existed=attempt.write.existed)
    run.cache.note_brought(attempt.observed.brought)
    applied = seal_body(remove_paths(request.body, attempt.ignored), attempt.key, run.digests)
    before = find_remembered(attempt.record, attempt.api_version, attempt.ignored) if attempt.write.existed else None
    applied = retain_removed(applied, before.applied) if before else applied  # until a read shows that it is gone
    # A create that is followed by an update in the same run is reported as created.
    done = Action.CREATE if attempt.write.done is Action.CREATE else action
    sent, given_id = SentRequest(request, reply), run.find_given_id(attempt)
    # What a revert has not restored yet must be found again, even if no read follows.
    outside = before.outside if before and attempt.decision.outside_action.restores else None
    return replace(
        attempt,
        write=replace(attempt.write, sent=sent, done=done, has_failed=False, given_id=given_id),
        remembered=Remembered(applied=applied, baseline=None, outside=outside),
    )


async def poll(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Wait for the operation that `act` started. The next run continues one that outlasts the deadline."""
    sent = attempt.write.sent
    if sent is None or sent.reply is None:
        return attempt
    # Taken out of the attempt: the next try must not follow the same operation again.
    attempt = attempt.with_write(replace(attempt.write, sent=SentRequest(sent.request)))
    restores = run.registry.restores(attempt.as_subject())
    if restores:
        # A deleted resource is recovered without the body: the differences are sent afterwards.
        attempt = attempt.with_write(replace(attempt.write, sent=None, existed=True))
        attempt = replace(attempt, remembered=Remembered(applied={}, baseline=None))
    try:
        finished = await (await run.live_writer(attempt)).wait(sent.reply)
    except ProviderError as failure:
        return await _stop_refused(attempt, failure, run)
    if not finished:
        return attempt.unfinished().stopped(attempt.describe_unsettled())
    return attempt.stopped(RECONCILING, kind=StopKind.WAITS) if restores else _note_duration(attempt, run)


def _note_duration(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Note how long Azure worked on the write, without the time that it waited for its lock or a limit."""
    if not run.rules.records_durations:
        return attempt
    seconds = run.clock.monotonic() - attempt.session.written_at
    durations = {**attempt.write.durations, attempt.decision.action: seconds}
    return attempt.with_write(replace(attempt.write, durations=durations))


async def post_check(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Stop a resource that is not adopted, or that a check does not accept."""
    comparison = attempt.decision.comparison
    if comparison and comparison.verdict is Verdict.ADOPT and comparison.differences and not run.rules.adopts:
        text = f"It exists and {len(comparison.differences)} of its values differ from git; --adopt is report."
        return attempt.stopped(make_warning("NotAdopted", text))
    if attempt.apply.hold:  # nothing waits for it, and no action may be called to make the check pass
        return attempt
    answer = await run.registry.post_check(attempt.as_subject(), run.reader(attempt))
    if answer.agrees:
        return attempt
    if answer.then:
        attempt = await _call(attempt, answer.then, run)
    if attempt.stop:
        return attempt
    return attempt.stopped(make_warning(POST_CHECK, answer.reason), kind=StopKind.WAITS)


async def _call(attempt: ApplyAttempt, call: ActionCall, run: Acting) -> ApplyAttempt:
    """Call the action that may make a check pass, once for a node; nothing for a resource that is only read."""
    if call in attempt.write.called or not attempt.prepared.is_written:
        return attempt
    try:
        # An action changes the resource, so it takes its turn with the writes near it.
        async with run.locks.acquire(attempt.arm_id, attempt.session):
            await ExtensionClient(run.writer(attempt)).call(call.path, call.api_version, call.body)
    except ProviderError as failure:
        return attempt.stopped(make_unreadable(failure))
    # What was read before may lack what the action has changed.
    run.cache.note_write(attempt.arm_id)
    return attempt.with_write(replace(attempt.write, called=(*attempt.write.called, call)))

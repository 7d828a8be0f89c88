"""Act on a resource: send the difference, follow the operation to its end, and check the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.arm.client import ExtensionClient
from gitsync.arm.write_locks import WriteLocks
from gitsync.diff.ignore import keep_live_paths, remove_paths
from gitsync.diff.merge_patch import merge_patch
from gitsync.diff.three_way import Remembered
from gitsync.errors import ArmError
from gitsync.extensions.api import ActionCall
from gitsync.extensions.registry import Registry
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.secret_digest import Digests, seal_body
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.etag import begin_write
from gitsync.reconcile.run_cache import RunCache
from gitsync.reconcile.stages.body_extensions import run_required_actions
from gitsync.reconcile.stages.refusal import HandleRefusal
from gitsync.status.conditions import RECONCILING, make_unreadable, make_warning

UPDATE_METHOD = "gitsync/update-method"


async def act(
    attempt: ApplyAttempt, *, registry: Registry, cache: RunCache, digests: Digests, refused: HandleRefusal
) -> ApplyAttempt:
    """Send the difference. The caller holds the write lock until `poll` has ended."""
    if attempt.action is Action.NONE:
        return _acknowledge(attempt, cache, digests)
    request = attempt.filled_request
    attempt = attempt if attempt.tried else replace(attempt, tried=True, existed=bool(attempt.exists))
    attempt = await run_required_actions(begin_write(attempt, cache), registry, cache)
    if attempt.stop:
        return attempt
    send = attempt.writer.patch if _is_patched(attempt) else attempt.writer.put
    body = _make_body(attempt, registry)
    try:
        reply = await send(request.arm_id, request.api_version, body, if_match=attempt.if_match)
    except ArmError as failure:
        return await refused(attempt, failure)
    return _note_accepted(replace(attempt, reply=reply), request, attempt.action, cache, digests)


def _is_patched(attempt: ApplyAttempt) -> bool:
    return attempt.live is not None and attempt.prepared.resource.annotations.get(UPDATE_METHOD) == "patch"


def _make_body(attempt: ApplyAttempt, registry: Registry) -> Mapping[str, Any]:
    body = attempt.filled_request.body
    if attempt.live is not None:
        body = keep_live_paths(body, attempt.live.body, attempt.ignored)
    if attempt.live is not None and _is_patched(attempt):
        before = attempt.remembered.applied if attempt.remembered else {}
        return merge_patch(body, attempt.live.body, before)
    return registry.modified(body, attempt.as_subject())


def _acknowledge(attempt: ApplyAttempt, cache: RunCache, digests: Digests) -> ApplyAttempt:
    """Return an attempt that has nothing to send. If the response to a write was lost, that write succeeded."""
    if attempt.sent is None or attempt.done is not Action.NONE:
        return attempt
    action = Action.UPDATE if attempt.existed else Action.CREATE
    return _note_accepted(attempt, attempt.sent, action, cache, digests)


def _note_accepted(
    attempt: ApplyAttempt, request: Request, action: Action, cache: RunCache, digests: Digests
) -> ApplyAttempt:
    cache.note_applied(attempt.key, request.arm_id, existed=attempt.existed)
    applied = seal_body(remove_paths(request.body, attempt.ignored), attempt.key, digests)
    done = Action.CREATE if attempt.done is Action.CREATE else action
    return replace(attempt, sent=request, done=done, remembered=Remembered(applied=applied, baseline=None))


# Follow the operation of a write to its end, under the write lock of the resource.


async def poll(attempt: ApplyAttempt, *, registry: Registry, refused: HandleRefusal) -> ApplyAttempt:
    """Wait for the operation that `act` started. The next run continues one that outlasts the deadline."""
    if attempt.reply is None:
        return attempt
    reply, attempt = attempt.reply, replace(attempt, reply=None)
    restores = registry.restores(attempt.as_subject())
    attempt = _note_restored(attempt) if restores else attempt
    try:
        finished = await attempt.writer.wait(reply)
    except ArmError as failure:
        return await refused(attempt, failure)
    if not finished:
        return replace(attempt, unfinished=True).stopped(attempt.describe_unsettled())
    return attempt.stopped(RECONCILING, waits=True) if restores else attempt


def _note_restored(attempt: ApplyAttempt) -> ApplyAttempt:
    """A deleted resource was recovered without the body: the differences are sent afterwards."""
    return replace(attempt, sent=None, existed=True, remembered=Remembered(applied={}, baseline=None))


# Run the checks of extensions after a write; retry if one returns "not yet".


async def post_check(
    attempt: ApplyAttempt, *, registry: Registry, cache: RunCache, locks: WriteLocks, adopts: bool
) -> ApplyAttempt:
    """Stop a resource that is not adopted (`adopts` is False), or that a check does not accept."""
    comparison = attempt.comparison
    if comparison and comparison.verdict is Verdict.ADOPT and comparison.differences and not adopts:
        text = f"It exists and {len(comparison.differences)} of its values differ from git; --adopt is report."
        return attempt.stopped(make_warning("NotAdopted", text))
    answer = await registry.post_check(attempt.as_subject(), attempt.reader)
    if answer.agrees:
        return attempt
    if answer.then:
        attempt = await _call(attempt, answer.then, cache, locks)
    if attempt.stop:
        return attempt
    return attempt.stopped(make_warning("PostReconciliationFailure", answer.reason), waits=True)


async def _call(attempt: ApplyAttempt, call: ActionCall, cache: RunCache, locks: WriteLocks) -> ApplyAttempt:
    """Call the action that may make a check pass, once for a node; nothing for a resource that is only read."""
    if call in attempt.called or not attempt.prepared.is_written:
        return attempt
    try:
        async with locks.hold(attempt.arm_id):
            await ExtensionClient(attempt.writer).call(call.path, call.api_version, call.body)
    except ArmError as failure:
        return attempt.stopped(make_unreadable(failure))
    cache.note_write(attempt.arm_id)
    return replace(attempt, called=(*attempt.called, call))

"""Run the checks of extensions after a write; retry if one returns "not yet"."""

from __future__ import annotations

from dataclasses import replace

from gitsync.arm.actor import Actor
from gitsync.arm.write_locks import WriteLocks
from gitsync.errors import ArmError
from gitsync.extensions.api import ActionCall
from gitsync.extensions.registry import Registry
from gitsync.model.verdict import Verdict
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.run_cache import RunCache
from gitsync.status.conditions import make_unreadable, make_warning


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
            await Actor(attempt.writer).call(call.path, call.api_version, call.body)
    except ArmError as failure:
        return attempt.stopped(make_unreadable(failure))
    cache.note_write(attempt.arm_id)
    return replace(attempt, called=(*attempt.called, call))

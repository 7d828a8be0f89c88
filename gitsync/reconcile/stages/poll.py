"""Follow the operation of a write to its end, under the write lock of the resource."""

from __future__ import annotations

from dataclasses import replace

from gitsync.diff.three_way import Remembered
from gitsync.errors import ArmError
from gitsync.extensions.registry import Registry
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.stages.refusal import HandleRefusal
from gitsync.status.conditions import RECONCILING


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

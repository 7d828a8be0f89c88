"""The stage between comparing and acting that pauses a resource that something resets after every write."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.clock import Clock
from gitsync.model.verdict import Action
from gitsync.planning.flapping import build_flapping_condition, find_hold
from gitsync.reconcile.attempt import ApplyAttempt


async def pause_flapping(attempt: ApplyAttempt, *, limit: int, clock: Clock) -> ApplyAttempt:
    """Stop before another write that would not last. Operations that this run started are continued.

    `limit` is the number of writes in a row that something undid (0: no limit).
    """
    record, comparison = attempt.record, attempt.comparison
    if record is None or comparison is None or attempt.action is Action.NONE or attempt.tried:
        return attempt
    streak = find_hold(record.row, comparison, limit, clock.now())
    if streak is None:
        return attempt
    attempt = replace(attempt, action=Action.NONE, streak=streak)
    return attempt.stopped(build_flapping_condition(streak, comparison), comparison.verdict, is_retryable=False)

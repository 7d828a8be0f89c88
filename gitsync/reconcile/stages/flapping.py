"""The stage between comparing and acting that pauses a resource that something resets after every write."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.verdict import Action
from gitsync.planning.flapping import build_flapping_condition, find_hold
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.protocols import Observing


async def pause_flapping(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop before another write that would not last. Operations that this run started are continued."""
    record, comparison = attempt.record, attempt.decision.comparison
    if record is None or comparison is None or attempt.decision.action is Action.NONE or attempt.write.tried:
        return attempt
    streak = find_hold(record.row, comparison, run.rules.flap_limit, run.clock.now())
    if streak is None:
        return attempt
    attempt = replace(attempt, decision=attempt.decision._replace(action=Action.NONE, streak=streak))
    return attempt.stopped(build_flapping_condition(streak, comparison), comparison.verdict, is_retryable=False)

"""The stage between comparing and acting that leaves alone what something sets back after every write."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.verdict import Action
from gitsync.planning.flapping import build_flapping_condition, find_hold
from gitsync.reconcile.attempt import ReconcileAttempt


async def leave_flapping(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Stop before one more write that would not last. What this run has begun itself is gone on with."""
    record, comparison = turn.node.record, turn.comparison
    if record is None or comparison is None or turn.action is Action.NONE or turn.tried:
        return turn
    row = find_hold(record.row, comparison, turn.run.rules.flap_limit, turn.run.clock.now())
    if row is None:
        return turn
    turn = replace(turn, action=Action.NONE, row=row)
    return turn.stopped(build_flapping_condition(row, comparison), comparison.verdict, may_mend=False)

"""The stage between comparing and acting that pauses a resource that something resets after every write."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.verdict import Action
from gitsync.planning.flapping import build_flapping_condition, find_hold
from gitsync.reconcile.attempt import ReconcileAttempt


async def leave_flapping(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Stop before another write that would not last. Operations that this run started are continued."""
    record, comparison = turn.node.record, turn.comparison
    if record is None or comparison is None or turn.action is Action.NONE or turn.tried:
        return turn
    row = find_hold(record.row, comparison, turn.run.rules.flap_limit, turn.run.clock.now())
    if row is None:
        return turn
    turn = replace(turn, action=Action.NONE, row=row)
    return turn.stopped(build_flapping_condition(row, comparison), comparison.verdict, may_mend=False)

"""The stage between comparing and acting that leaves alone what something sets back after every write."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.verdict import Action
from gitsync.planning.flapping import condition_of, held
from gitsync.reconcile.attempt import Turn


async def leave_flapping(turn: Turn) -> Turn:
    """Stop before one more write that would not last. What this run has begun itself is gone on with."""
    record, comparison = turn.node.record, turn.comparison
    if record is None or comparison is None or turn.action is Action.NONE or turn.tried:
        return turn
    row = held(record.row, comparison, turn.run.rules.flap_limit, turn.run.clock.now())
    if row is None:
        return turn
    turn = replace(turn, action=Action.NONE, row=row)
    return turn.stopped(condition_of(row, comparison), comparison.verdict, may_mend=False)

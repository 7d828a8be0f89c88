"""The stage after the comparison that stops a write which Azure would refuse."""

from __future__ import annotations

from dataclasses import replace

from gitsync.model.condition import Condition
from gitsync.model.verdict import Action
from gitsync.planning.replacement import REFUSED, build_replacement_condition, find_replacement
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.protocols import Observing


async def check_replacement(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop an update that needs a delete first. In a plan the resource is fine: nothing that depends on it waits."""
    comparison, record = attempt.decision.comparison, attempt.record
    if comparison is None or attempt.decision.action is not Action.UPDATE:
        return attempt
    refusal = record.condition if record else None
    replacement = find_replacement(attempt.kind.arm_type, comparison.differences, refusal)
    if replacement is None:
        return attempt
    attempt = replace(attempt, decision=attempt.decision._replace(action=Action.NONE, replacement=replacement))
    # Azure's own refusal stays on record: it is what the next run knows the field by.
    condition: Condition = (
        refusal if refusal and refusal.reason == REFUSED else build_replacement_condition(replacement)
    )
    return attempt.stopped(condition, comparison.verdict, is_retryable=False, is_fine=not run.rules.writes)

"""The stages that check a change before it is sent (docs/checks.md).

A plan notes what would be sent, and all of it is checked after the last comparison. A sync has checked what it creates
and deletes before its first write; what it finds out later is checked here, and what Azure would refuse is not sent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeVar

from gitsync.agent.checks.check_table import BEFORE_UPDATES
from gitsync.agent.checks.planned_bodies import hide_values, plan_delete
from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt
from gitsync.agent.reconcile.run_views import Observing
from gitsync.agent.reconcile.stages.body_extensions import build_body
from gitsync.desired.request.exports import exports_secrets
from gitsync.model.check import REFUSED, CheckFinding, CheckName, CheckVerdict, PlannedChange
from gitsync.model.condition import Condition
from gitsync.model.verdict import Action
from gitsync.planning.status.conditions import make_warning

A = TypeVar("A", ApplyAttempt, PruneAttempt)


async def check_apply(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Note what will be written, and stop what Azure would refuse."""
    action = attempt.decision.action
    if action is Action.NONE or attempt.write.tried:
        return attempt
    # Azure has accepted the resource before, and can still refuse the update itself.
    is_new = not run.rules.writes or action in {Action.CREATE, Action.REPLACE}
    return await _stop_refused(_note_change(attempt, run), run, frozenset(CheckName) if is_new else BEFORE_UPDATES)


async def check_delete(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Note a delete, and stop one that Azure would refuse."""
    # The deletes of a replacement were checked before it began.
    if attempt.decision.action is not Action.DELETE or attempt.is_resumed or attempt.prune.replaces:
        return attempt
    change = plan_delete(attempt.record)
    return await _stop_refused(attempt.with_decision(replace(attempt.decision, change=change)), run)


def _note_change(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Note what will be written, without secrets."""
    # The body is built for the checks alone.
    if not run.has_checks:
        return attempt
    live, action = attempt.observed.live, attempt.decision.action
    body: dict[str, Any] = hide_values(build_body(attempt, run.registry))
    change = PlannedChange(
        key=attempt.key,
        action=Action.UPDATE if action is Action.UPDATE else Action.CREATE,
        arm_id=attempt.arm_id,
        arm_type=attempt.kind.arm_type,
        api_version=attempt.api_version,
        body=body,
        live_body=live.body if live else None,
        doubt=attempt.id_doubt,
        replaces=action is Action.REPLACE,
        exports_secrets=exports_secrets(attempt.prepared.resource),
        purges=bool(run.registry.first_calls(attempt.as_subject())),
    )
    return attempt.with_decision(replace(attempt.decision, change=change))


async def _stop_refused(attempt: A, run: Observing, names: Collection[CheckName] = frozenset(CheckName)) -> A:
    """Stop what a check of a sync refuses."""
    change = attempt.decision.change
    # A plan checks all of its changes together, after the last comparison.
    if not run.rules.writes or change is None:
        return attempt
    findings = (await run.check([change], names)).get(attempt.key, ())
    attempt = attempt.with_decision(replace(attempt.decision, checks=findings))
    refused = [finding for finding in findings if finding.verdict is CheckVerdict.REFUSED]
    return attempt.stopped(build_refusal(refused[0])) if refused else attempt


def build_refusal(finding: CheckFinding) -> Condition:
    """Return the condition of a resource that is left out, since Azure would refuse it."""
    advice = " ".join(filter(None, (finding.advice, finding.contact)))
    return make_warning(REFUSED, f"The check {finding.check} reports: {finding.statement}", advice)

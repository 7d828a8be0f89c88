"""The stages that stop a change of what belongs to gitsync's own identity, unless --only names the resource."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt, Attempt, PruneAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing, read_live
from gitsync.model.condition import Condition
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.own_identity import ADVICE, OWN, OwnIds, explain_own, may_be_own
from gitsync.planning.status.conditions import make_warning


async def check_own_write(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop a write to gitsync's own identity, or to what it may do."""
    if attempt.decision.action is Action.NONE or not may_be_own(attempt.key[:2]):
        return attempt
    live, record = attempt.observed.live, attempt.record
    bodies = (attempt.desired, live.body if live else None, record.spec.applied if record else None)
    refusal = await _refuse(attempt, iter(bodies), run)
    if refusal is None:
        return attempt
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE, replacement=None))
    # A plan has nothing that could fail, and shows the change with its reason.
    return attempt.stopped(refusal, Verdict.BLOCKED, StopKind.NEXT_RUN if run.rules.writes else StopKind.FINE)


async def check_own_delete(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Stop a delete of the same."""
    if attempt.decision.action is not Action.DELETE or not may_be_own(attempt.key[:2]):
        return attempt
    record, live = attempt.record, attempt.observed.live
    if live is None and await run.find_principal(attempt):
        # A plan has not read it, and the record lacks what Entra ID generates.
        live = await read_live(await run.live_reader(attempt), record.arm_id, record.arm_api_version)
    refusal = await _refuse(attempt, iter((record.spec.applied, live.body if live else None)), run)
    return attempt.stopped(refusal, Verdict.BLOCKED, StopKind.FINE_NOW) if refusal else attempt


async def _refuse(attempt: Attempt, bodies: Iterator[Any], run: Observing) -> Condition | None:
    """Make the condition of a resource that is not changed; None if it may be."""
    if run.rules.approval.names(attempt.key):
        return None
    principal = await run.find_principal(attempt)
    if principal is None:
        return None
    # The token of a tool such as the Azure CLI has the client id of that tool, which is not gitsync's own application.
    own = OwnIds(principal.client if not principal.tool else "", principal.object, principal.managed)
    why = explain_own(attempt.key[:2], attempt.arm_id, bodies, own)
    name = f"{attempt.key.kind}/{attempt.key.name}"
    return make_warning(OWN, why, ADVICE.format(name=name)) if why else None

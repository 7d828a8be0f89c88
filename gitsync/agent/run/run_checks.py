"""The checks of a run: of a plan after its last comparison, and of a sync before its first write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from gitsync.agent.checks.check_table import BEFORE_UPDATES, BEFORE_WRITES
from gitsync.agent.checks.planned_bodies import hide_values, plan_delete
from gitsync.agent.reconcile.context import RunContext
from gitsync.desired.request.exports import exports_secrets
from gitsync.desired.request.fill import fill_references
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckName, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.limits import Bucket
from gitsync.model.plan import Apply, Plan
from gitsync.model.report import RequestCounts
from gitsync.model.result import Result
from gitsync.model.template import Text
from gitsync.model.verdict import Action


async def check_results(run: RunContext, results: Mapping[Key, Result]) -> dict[Key, Result]:
    """Add the findings of the checks to the results of a plan. A plan without changes sends nothing."""
    changes = [planned for result in results.values() if (planned := result.change.planned)]
    if not changes:
        return dict(results)
    findings = await run.check(changes)
    return {
        key: replace(result, change=replace(result.change, checks=findings.get(key, ())))
        for key, result in results.items()
    }


def count_unrepeated(run: RunContext, results: Iterable[Result]) -> RequestCounts:
    """Count the requests for checks of a plan that its sync does not repeat."""
    return run.checks.count_requests(without=_list_repeated(results))


def count_repeated(run: RunContext, results: Iterable[Result]) -> Mapping[Bucket, int]:
    """Count the requests for checks that the sync of a plan sends before its first write, by the limit that they share
    with what follows.
    """
    return run.checks.count_by_bucket(_list_repeated(results))


def _list_repeated(results: Iterable[Result]) -> Collection[CheckName]:
    changes = [planned for result in results if (planned := result.change.planned)]
    if any(change.creates or change.deletes for change in changes):
        return BEFORE_WRITES
    return BEFORE_UPDATES if changes else ()


async def check_before_writes(run: RunContext, plan: Plan) -> None:
    """Check what a sync is certain to create or delete. The stages of each resource use the responses.

    A resource that is found to be missing only when it is read is checked then.
    """
    if not run.has_checks:
        return
    arm_ids = {key: apply.prepared.arm_id for key, apply in plan.applies.items() if apply.prepared.arm_id}
    creates = [_draft_create(apply, arm_ids) for apply in plan.applies.values() if _is_new(apply)]
    prunes = plan.prunes.values() if run.rules.prune else ()
    deletes = [plan_delete(prune.record) for prune in prunes if not (prune.detaches or prune.kept_because)]
    await run.check([*creates, *deletes])


def _is_new(apply: Apply) -> bool:
    prepared, record = apply.prepared, apply.record
    # What waits for a hold or belongs to another worker is not created by this run.
    may_write = (
        prepared.is_valid and prepared.is_written and not (prepared.is_watched or apply.skipped_because or apply.hold)
    )
    return may_write and prepared.arm_id is not None and (record is None or not record.claim.is_ours)


def _draft_create(apply: Apply, arm_ids: Mapping[Key, ArmId]) -> PlannedChange:
    """Make the change of a manifest from its template: values that are known during a run only stay unknown."""
    prepared, template = apply.prepared, apply.prepared.template
    if template is None or isinstance(template.arm_id, Text):
        raise AssertionError("a new resource with a known id has a template with it")
    return PlannedChange(
        key=apply.key,
        action=Action.CREATE,
        arm_id=template.arm_id,
        arm_type=template.arm_id.arm_type,
        api_version=template.api_version,
        body=hide_values(fill_references(template.body, arm_ids)),
        exports_secrets=exports_secrets(prepared.resource),
    )

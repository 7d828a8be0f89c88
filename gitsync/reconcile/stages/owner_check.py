"""First stages: may gitsync touch the resource, is it still the same one, and do its dependencies exist?"""

from __future__ import annotations

from dataclasses import replace

from gitsync.formats.arm_path import is_same_id
from gitsync.model.condition import Condition
from gitsync.model.gvk import GVK
from gitsync.model.live import Live
from gitsync.model.problem import Problem
from gitsync.model.record import Claim, Record
from gitsync.model.result import Result
from gitsync.model.verdict import Verdict
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.request.owners import is_alias
from gitsync.status.conditions import make_error, make_other_agent, make_waiting_for_owner, make_warning


async def check_policy(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Stop what is invalid, another agent's, in another subscription, or no longer the resource that it was."""
    prepared, record, rules = turn.prepared, turn.node.record, turn.run.rules
    if not prepared.is_valid:
        return turn.stopped(_invalid(turn), Verdict.INVALID, may_mend=False)
    if record and record.agent and record.agent != rules.agent:
        other = make_other_agent(rules.agent, record.agent)
        return replace(turn, exists=True).stopped(other, Verdict.SKIP, may_mend=False, is_fine=True)
    if prepared.arm_id is None:  # known once a config map is: see `observe`
        return turn
    if elsewhere := _out_of_reach(turn, prepared.arm_id):
        return turn.stopped(elsewhere, Verdict.BLOCKED, may_mend=False)
    if record and record.claim is not Claim.NONE and not is_same_id(record.arm_id, prepared.arm_id):
        return await _check_identity(turn)
    return turn


def _out_of_reach(turn: ReconcileAttempt, arm_id: str) -> Condition | None:
    """Why the credential does not match the id, or that of the existing resource
    (docs/reference/reconciliation.md#subscription-check).

    The children of an alias are in the subscription that it created.
    """
    owner, record = turn.prepared.owner, turn.node.record
    if is_alias(owner.key if owner else None):
        return turn.out_of_reach("")
    stored = record.arm_id if record and record.claim.is_ours else arm_id
    return turn.out_of_reach(arm_id) or turn.out_of_reach(stored)


def _invalid(turn: ReconcileAttempt) -> Condition:
    errors: list[Problem] = sorted((p for p in turn.prepared.problems if p.is_error), key=lambda p: p.order)
    missing = next((p for p in errors if p.code in _MISSING), None)
    owner = turn.prepared.owner
    if missing and missing.code == "OwnerNotFound" and owner and owner.key:
        return make_waiting_for_owner(owner.key)
    if missing:
        return make_warning(_MISSING[missing.code], missing.message)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return make_error(
        "Failed", f"The manifest is invalid: {errors[0].message}{more}" if errors else "It cannot be built."
    )


_MISSING = {
    "OwnerNotFound": "WaitingForOwner",
    "ReferenceNotFound": "ReferenceNotFound",
    "CredentialNotUsable": "Failed",
}
"""Problems of manifests that ASO would only meet at run time, by the reason that it gives then."""


async def _check_identity(turn: ReconcileAttempt) -> ReconcileAttempt:
    """A name and an owner are frozen once Azure has the resource (docs/reference/reconciliation.md#immutable-names)."""
    record, prepared = turn.node.record, turn.prepared
    if record is None:
        raise AssertionError("asked about a resource that is recorded")
    if not await _is_there(turn, record):
        unclaimed = replace(record, claim=Claim.EXPECTED, applied=None, baseline=None, operation=None)
        return replace(turn, node=replace(turn.node, record=unclaimed), remembered=None)
    owner = prepared.owner.key if prepared.owner else None
    field = "spec.azureName" if owner == record.owner else "spec.owner.name" if owner else "spec.owner.armId"
    text = f"updating '{field}' is not allowed for '{prepared.resource.gvk} : {prepared.key.name}"
    return turn.stopped(make_error("Failed", text), Verdict.BLOCKED, may_mend=False)


async def _is_there(turn: ReconcileAttempt, record: Record) -> bool:
    if not turn.kind.can_get:
        return await turn.reader.exists(record.arm_id, record.arm_api_version)
    return await turn.reader.get(record.arm_id, record.arm_api_version) is not None


async def check_owner(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Stop what waits for another resource.

    A resource that is recorded as ours needs only that the others exist; one that was never ours needs them Ready.
    """
    ours = turn.node.record is not None and turn.node.record.claim.is_ours
    for result in (turn.before[key] for key in turn.prepared.depends_on if key in turn.before):
        if not result.is_fine and not (ours and result.exists):
            return turn.stopped(_waits_for(turn, result), Verdict.BLOCKED, may_mend=result.may_mend)
    if not turn.run.registry.checks_owner(turn.node.key.group, turn.node.key.kind):
        return turn
    return await _ask_about_owner(turn)


def _waits_for(turn: ReconcileAttempt, result: Result) -> Condition:
    owner = turn.prepared.owner
    if owner and owner.key == result.key:
        return make_waiting_for_owner(result.key)
    text = f"{result.key} is not ready ({result.condition.reason}), and this resource references it."
    return make_warning("ReferenceNotFound", text)


async def _ask_about_owner(turn: ReconcileAttempt) -> ReconcileAttempt:
    address = _owner_address(turn)
    if address is None:
        return turn
    arm_id, api_version = address

    async def read() -> Live | None:
        return await turn.reader.get(arm_id, api_version)

    turn = replace(turn, owner=await turn.run.memory.fresh(arm_id, read))
    if turn.owner is None and turn.run.rules.writes:
        text = f"The owner {arm_id} does not exist in Azure, so it cannot be checked."
        return turn.stopped(make_warning("Failed", text), Verdict.BLOCKED, waits=True)
    answer = await turn.run.registry.owner_check(turn.subject(), turn.reader)
    return turn if answer.agrees else block_attempt(turn, answer.reason)


def _owner_address(turn: ReconcileAttempt) -> tuple[str, str] | None:
    """ARM id and api-version to read the owner with; None where there is none.

    An owner given by id is read at the newest api-version of its kind (docs/reference/kinds.md#owner-reads).
    """
    owner, catalog, rule = turn.prepared.owner, turn.run.catalog, turn.kind.owner
    if owner is None or rule is None:
        return None
    if owner.arm_id:
        kind = catalog.kind(GVK(rule[0], catalog.versions(*rule)[-1], rule[1]))
        return (owner.arm_id, kind.api_version) if kind else None
    result = turn.before.get(owner.key) if owner.key else None
    kind = catalog.kind(GVK.parse(result.manifest_api_version, rule[1])) if result else None
    return (result.arm_id, kind.api_version) if result and result.arm_id and kind else None


def block_attempt(turn: ReconcileAttempt, reason: str) -> ReconcileAttempt:
    """The answer of a check that says "not now"."""
    return turn.stopped(make_warning("ReconciliationBlocked", reason), Verdict.BLOCKED, waits=True)

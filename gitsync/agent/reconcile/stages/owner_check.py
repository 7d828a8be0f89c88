"""First stages: may gitsync change the resource, is it still the same one, and do its dependencies exist?"""

from __future__ import annotations

from dataclasses import replace

from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing, read_live
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.request.allow_list import NOT_ALLOWED
from gitsync.desired.request.arm_id_builder import is_alias
from gitsync.desired.request.fill import describe_missing_reference
from gitsync.desired.request.owner_subscriptions import advise_on_owner
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON
from gitsync.desired.validation.references import list_named_references
from gitsync.errors import ProviderError
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.condition import Condition
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.model.problem import Problem
from gitsync.model.record import Claim, Record
from gitsync.model.resource import WAITING
from gitsync.model.result import Result
from gitsync.model.template import UNREADABLE, WAITING_FOR_UNIT, WAITING_FOR_VALUE, ComputedValue
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.replacement import make_move
from gitsync.planning.status.conditions import (
    check_provider,
    make_error,
    make_other_agent,
    make_waiting_for_owner,
    make_warning,
)


async def check_policy(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop a resource that is invalid, another agent's, in another subscription, or has another id than on record."""
    prepared, record = attempt.prepared, attempt.record
    if attempt.apply.skipped_because:
        return attempt.stopped(attempt.apply.skipped_because, Verdict.BLOCKED, StopKind.FINAL)
    if prepared.is_waiting:
        missing = next(problem for problem in prepared.problems if problem.code in WAITING)
        waits = _explain_missing(attempt, missing)
        # `missingOwner: wait` is about owners, not about manifests that cannot be read.
        kind = StopKind.FINAL if missing.code in UNREADABLE else StopKind.TOLERATED
        return attempt.stopped(waits, Verdict.BLOCKED, kind)
    if not prepared.is_valid:
        is_refused = any(problem.code == NOT_ALLOWED for problem in prepared.problems)
        verdict = Verdict.BLOCKED if is_refused else Verdict.INVALID
        return attempt.stopped(_explain_invalid(attempt), verdict, StopKind.FINAL)
    if record and record.agent and record.agent != run.rules.agent:
        other = make_other_agent(run.rules.agent, record.agent)
        return attempt.existing().stopped(other, Verdict.SKIP, StopKind.FINE)
    if prepared.arm_id is None:  # `observe` finds it, with a value of a config map
        return attempt
    if refusal := _explain_out_of_reach(attempt, prepared.arm_id):
        kind = StopKind.TOLERATED if prepared.is_left_to_capz else StopKind.FINAL
        return attempt.stopped(refusal, Verdict.BLOCKED, kind)
    if record and record.claim is not Claim.NONE and not record.arm_id.is_same(prepared.arm_id):
        return await _check_identity(attempt, record, run)
    return attempt


async def check_support(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:  # noqa: ARG001 - as every stage
    """Stop a resource that gitsync can neither read nor write."""
    refusal = check_provider(attempt.provider)
    if refusal is None:
        return attempt
    if attempt.policy.allows_modify:
        return attempt.stopped(refusal, Verdict.BLOCKED, StopKind.FINAL)
    return attempt.stopped(refusal, Verdict.SKIP, StopKind.FINE)


def _explain_out_of_reach(attempt: ApplyAttempt, arm_id: ArmId) -> Condition | None:
    """Why the credential does not match the id, or that of the existing resource
    (docs/reference/reconciliation.md#subscription-check).

    The children of an alias are in the subscription that it created.
    """
    owner, record = attempt.prepared.relations.owner, attempt.record
    # The id names the subscription that the alias creates, which no credential states.
    if is_alias(owner.key if owner else None):
        return attempt.explain_out_of_reach(NO_ID)
    written_id = record.arm_id if record and record.claim.is_ours else None
    if refusal := attempt.explain_out_of_reach(arm_id):
        # The owner is not the mistake if the credential cannot be used, or if the resource was written there before.
        if refusal is attempt.refusal or (written_id and written_id.is_same(arm_id)):
            return refusal
        return replace(refusal, advice=_advise_on_owner(attempt, arm_id))
    return attempt.explain_out_of_reach(written_id) if written_id and written_id != arm_id else None


def _advise_on_owner(attempt: ApplyAttempt, arm_id: ArmId) -> str:
    """Return how to reach a resource that was never written there: its owner shows in which subscription it is."""
    owner = attempt.prepared.relations.owner
    field = "spec.owner.armId" if owner is None or owner.key is None else f"The owner {format_short_key(owner.key)}"
    return f"{field} is in another subscription. {advise_on_owner(arm_id.subscription or '')}"


def _explain_invalid(attempt: ApplyAttempt) -> Condition:
    errors: list[Problem] = sorted((p for p in attempt.prepared.problems if p.is_error), key=lambda p: p.order)
    for problem in errors:
        if problem.code in _MISSING:
            return _explain_missing(attempt, problem)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return make_error(
        "Failed", f"The manifest is invalid: {errors[0].message}{more}" if errors else "It cannot be built."
    )


def _explain_missing(attempt: ApplyAttempt, problem: Problem) -> Condition:
    """The condition of what ASO finds only at run time: its words, with the problem as the advice."""
    advice, owner = f"{problem.message} {problem.hint}".strip(), attempt.prepared.relations.owner
    match _MISSING.get(problem.code, "Failed"):
        case "WaitingForOwner" if owner and owner.key:
            return replace(make_waiting_for_owner(owner.key), advice=advice)
        case "ReferenceNotFound":
            return make_warning("ReferenceNotFound", _describe_missing_target(attempt, problem), advice)
        case reason:
            return make_warning(reason, problem.message, problem.hint)


def _describe_missing_target(attempt: ApplyAttempt, problem: Problem) -> str:
    resource = attempt.prepared.resource
    targets = list_named_references(attempt.kind, resource.spec, resource.key.namespace)
    key = next((key for path, key in targets if format_field(path) == problem.field), None)
    if key is None:
        return problem.message
    if problem.code == "ReferenceNotFound":
        return describe_missing_reference(key)
    reference = f"{key.name}, Group/Kind: {key.group}/{key.kind}"
    return (
        f"failed resolving ARM IDs for references: ref {reference} doesn't have an assigned ARM ID"  # quoted from ASO
    )


_MISSING = {
    "OwnerNotFound": "WaitingForOwner",
    "OwnerUnresolved": "WaitingForOwner",
    "ReferenceNotFound": "ReferenceNotFound",
    "ReferenceUnresolved": "ReferenceNotFound",
    "CredentialNotUsable": "Failed",
    NOT_ALLOWED: NOT_ALLOWED,
    WAITING_FOR_UNIT: WAITING_FOR_UNIT,
    WAITING_FOR_VALUE: WAITING_FOR_VALUE,
}
"""Problems of manifests that ASO finds only at run time, with ASO's reason for each; and what an operator refuses."""


async def _check_identity(attempt: ApplyAttempt, record: Record, run: Observing) -> ApplyAttempt:
    """A name and an owner are frozen once Azure has the resource (docs/reference/reconciliation.md#immutable-names)."""
    prepared = attempt.prepared
    if not await has_resource(attempt, record, attempt.kind, run):
        unclaimed = replace(
            record,
            claim=Claim.EXPECTED,
            # The resource at the old id is gone, so its name is free to change: nothing is left of it to compare with.
            spec=replace(record.spec, applied=None, baseline=None, outside=None),
            writes=replace(record.writes, operation=None),
        )
        return replace(attempt, apply=replace(attempt.apply, record=unclaimed), remembered=None)
    field = _find_changed_field(attempt, record)
    text = f"updating '{field}' is not allowed for '{prepared.resource.gvk} : {prepared.key.name}'"
    move = make_move(record.arm_id, prepared.arm_id or NO_ID)
    moved = attempt.existing().with_decision(replace(attempt.decision, replacement=move))
    return moved.stopped(make_error("Failed", text), Verdict.BLOCKED, StopKind.FINAL)


def _find_changed_field(attempt: ApplyAttempt, record: Record) -> str:
    """Find the field that gives a resource another id than the one on record."""
    prepared = attempt.prepared
    if attempt.kind.is_any_type and attempt.kind.arm_type.casefold() != record.arm_id.arm_type.casefold():
        return "spec.type"
    owner = prepared.relations.owner.key if prepared.relations.owner else None
    if owner == record.manifest.owner:
        return "spec.azureName"
    return "spec.owner.name" if owner else "spec.owner.armId"


async def has_resource(attempt: ApplyAttempt | PruneAttempt, record: Record, kind: Kind | None, run: Observing) -> bool:
    """Return whether Azure still has the resource of a record, which may be another than that of the attempt. Raises
    ProviderError if it cannot be read.
    """
    if kind is not None and not kind.can_get:
        return await run.reader(attempt).exists(record.arm_id, record.arm_api_version)
    reader = await run.live_reader(attempt, record)
    return await read_live(reader, record.arm_id, record.arm_api_version) is not None


async def check_owner(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop a resource that waits for another one."""
    # If gitsync owns the resource already, its dependencies must only exist; otherwise they must be Ready.
    is_ours = attempt.record is not None and attempt.record.claim.is_ours
    for result in (attempt.before[key] for key in attempt.prepared.relations.depends_on if key in attempt.before):
        # The other manifest writes this very resource, so it must have done that, not only exist.
        if result.key == attempt.prepared.relations.written_by:
            if not result.is_fine and attempt.policy.allows_modify:
                return _wait_for_writer(attempt, result)
        elif waits := _find_wait(attempt, result, is_ours=is_ours):
            return _stop_for(attempt, waits, result)
    is_checked = run.registry.checks_owner(*attempt.rule_key)
    address = _find_owner(attempt, run.catalog) if is_checked else None
    if address is None:
        return attempt
    arm_id, api_version = address

    async def read() -> Live | None:
        return await run.reader(attempt).get(arm_id, api_version)

    owner = await run.cache.read_once(arm_id, read)
    # A plan does not find the owner that the run is to create.
    if owner is None and (run.rules.writes or is_owner_elsewhere(attempt)):
        text = f"The owner {arm_id} does not exist in Azure, so this resource cannot be checked."
        return stop_without_owner(attempt, make_warning("Failed", text))
    attempt = attempt.with_observed(replace(attempt.observed, owner=owner))
    answer = await run.registry.owner_check(attempt.as_subject(), run.reader(attempt))
    return attempt if answer.agrees else block_attempt(attempt, answer.reason)


def _wait_for_writer(attempt: ApplyAttempt, writer: Result) -> ApplyAttempt:
    """Stop a resource that another manifest writes, and could not; what depends on it may go on if it exists."""
    condition = writer.condition
    text = f"{writer.key} writes this resource, but is not ready ({condition.reason}): {condition.message}"
    return _stop_for(
        attempt.with_observed(replace(attempt.observed, exists=writer.ending.exists)),
        make_warning(condition.reason, text),
        writer,
    )


def _stop_for(attempt: ApplyAttempt, condition: Condition, result: Result) -> ApplyAttempt:
    """Stop a resource that waits for another one; if the run tolerates that, it tolerates this too."""
    if result.ending.is_tolerated:
        kind = StopKind.TOLERATED_NOW if result.ending.is_retryable else StopKind.TOLERATED
    else:
        kind = StopKind.NEXT_RUN if result.ending.is_retryable else StopKind.FINAL
    return attempt.stopped(condition, Verdict.BLOCKED, kind, blocked_by=result.key)


def _find_wait(attempt: ApplyAttempt, result: Result, *, is_ours: bool) -> Condition | None:
    """Return why a resource waits for another one; None if it does not."""
    if result.is_fine and result.change.replacement is None and result.verdict is not Verdict.BLOCKED:
        return None  # as most
    if waits := _explain_lost_value(attempt, result):
        return waits
    return None if result.is_fine or (is_ours and result.ending.exists) else _explain_wait(attempt, result)


def _explain_lost_value(attempt: ApplyAttempt, result: Result) -> Condition | None:
    """Return why a resource cannot have a value of another one, which failed: what Azure shows of that may not be what
    git has.
    """
    replacement = result.change.replacement
    # A plan finds a resource fine that a sync could only replace.
    is_kept = replacement is not None and not replacement.is_due
    if result.is_fine and not is_kept and result.verdict is not Verdict.BLOCKED:
        return None
    if not attempt.prepared.is_written or (value := _find_value_of(attempt, result.key)) is None:
        return None
    # An id does not change with the resource.
    return _explain_unready_value(value, result) if result.key in value.reads else None


def _find_value_of(attempt: ApplyAttempt, key: Key) -> ComputedValue | None:
    """Find a value that an expression computes from a resource, preferably one that needs more than its id and name."""
    found = [value for value in attempt.computed if key in value.sources.values()]
    return min(found, key=lambda value: key not in value.reads, default=None)


def _explain_unready_value(value: ComputedValue, result: Result) -> Condition:
    text = f"{value.field} needs {format_short_key(result.key)}, which is not ready ({result.condition.reason})."
    return make_warning(WAITING_FOR_VALUE, text)


def _explain_wait(attempt: ApplyAttempt, result: Result) -> Condition:
    owner = attempt.prepared.relations.owner
    if owner and owner.key == result.key:
        return make_waiting_for_owner(result.key)
    if result.key in attempt.prepared.relations.named_first:
        text = f"{DEPENDS_ON} names {result.key}, which is not ready ({result.condition.reason})."
        return make_warning("WaitingForDependency", text)
    if value := _find_value_of(attempt, result.key):
        return _explain_unready_value(value, result)
    text = f"This resource references {result.key}, which is not ready ({result.condition.reason})."
    return make_warning("ReferenceNotFound", text)


def is_owner_elsewhere(attempt: ApplyAttempt) -> bool:
    """Return whether the owner is not one of this run's: if it is missing in Azure, waiting in this run does not help.

    Such an owner is named by its id, which no manifest of the run has, and which is not part of a resource that the run
    creates: a new group has no content. The run waits for an owner that a record of another agent or repository has.
    """
    owner = attempt.prepared.relations.owner
    if owner is None or owner.key or not owner.arm_id:
        return False
    before = {result.arm_id.key: result for result in attempt.before.values() if result.arm_id}
    above = [before[path] for path in owner.arm_id.lineage if path in before]
    is_new = any(result.action is Action.CREATE and not (result.arm_id or NO_ID).is_group for result in above)
    return not is_new and owner.arm_id.key not in before


async def lacks_owner(attempt: ApplyAttempt, run: Observing) -> bool:
    """Return whether the owner is elsewhere, and does not exist in Azure."""
    address = _find_owner(attempt, run.catalog) if is_owner_elsewhere(attempt) else None
    if address is None:
        return False
    try:
        return await run.reader(attempt).get(*address) is None
    # An owner that cannot be read may exist.
    except ProviderError:
        return False


def stop_without_owner(attempt: ApplyAttempt, condition: Condition) -> ApplyAttempt:
    """Stop an attempt whose owner is missing in Azure."""
    unit, kind = attempt.prepared.resource.unit, StopKind.WAITS
    # Only a later run may find an owner that is elsewhere, and a unit may wait for it without failing.
    if is_owner_elsewhere(attempt):
        is_tolerated = unit is not None and unit.options.waits_for_owners
        kind = StopKind.TOLERATED_NOW if is_tolerated else StopKind.NEXT_RUN
    return attempt.stopped(condition, Verdict.BLOCKED, kind)


def _find_owner(attempt: ApplyAttempt, catalog: Catalog) -> tuple[ArmId, str] | None:
    """Return ARM id and api-version to read the owner with; None if there is no owner to read."""
    owner = attempt.prepared.relations.owner
    if owner is not None and owner.arm_id:
        # An owner given by id is read at the newest api-version of its kind (docs/reference/kinds.md#state-checks).
        version = _find_newest_version(attempt.kind.owner, owner.arm_id, catalog)
        return (owner.arm_id, version) if version else None
    result = attempt.before.get(owner.key) if owner and owner.key else None
    if result is None or not result.arm_id or "<" in result.arm_id:
        return None
    kind = catalog.kind(GVK.parse(result.manifest.api_version, result.key.kind))
    # The manifest of an AzureResource has its version in the spec, which the result lacks.
    has_version = kind is not None and not kind.is_any_type
    version = kind.api_version if kind and has_version else _find_newest_version(None, result.arm_id, catalog)
    return (result.arm_id, version) if version else None


def _find_newest_version(group_kind: tuple[str, str] | None, arm_id: ArmId, catalog: Catalog) -> str | None:
    """Return the newest api-version of a ASO kind, or that of the type of an id; None if neither is known."""
    rule = group_kind or catalog.group_kind_of(arm_id.arm_type)
    if rule and (kind := catalog.newest(*rule)):
        return kind.api_version
    arm_type = open_arm_types().find_type(arm_id.arm_type)
    return arm_type.newest_stable or arm_type.newest_preview if arm_type else None


def block_attempt(attempt: ApplyAttempt, reason: str) -> ApplyAttempt:
    """Stop an attempt that a check does not allow now."""
    return attempt.stopped(make_warning("ReconciliationBlocked", reason), Verdict.BLOCKED, StopKind.WAITS)

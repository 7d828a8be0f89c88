"""The requests to ARM that a change of the manifests causes, computed from two revisions without any request.

The old revision stands in for Azure and for the records: all its resources are assumed to exist and to be owned by
gitsync. The same plan as in a run decides about deletes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from gitsync.desired.catalog.type_words import format_short_key, join_with_and
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.manifests.units import make_declaration
from gitsync.desired.request.allow_list import NOT_ALLOWED
from gitsync.desired.request.arm_id_builder import ConfigMaps
from gitsync.desired.request.fill import fill
from gitsync.desired.request.offline_allow_list import OfflineAllowList
from gitsync.desired.request.offline_identities import IdentityOf
from gitsync.desired.request.placeholders import Placeholders, Secrets
from gitsync.desired.validation.annotations import UPDATE_METHOD
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node, Plan, Prune
from gitsync.model.provider import Provider
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record, RecordedManifest, RecordedSpec
from gitsync.model.resource import WAITING, Prepared, Resource
from gitsync.model.result import AttemptEnding, ComparisonNotes, ManifestOrigin, Result, ResultChange
from gitsync.model.template import UNREADABLE, Request
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.planning.diff.masked_differences import Bodies
from gitsync.planning.diff.three_way import remove_secrets
from gitsync.planning.identity_changes import find_identity_change, was_written
from gitsync.planning.managed_locks import LOCKED, LockView, foresee_standing
from gitsync.planning.record_counts import digest_spec
from gitsync.planning.replacement import (
    add_takes,
    build_replacement_condition,
    describe_rename,
    find_replacement,
    make_move,
)
from gitsync.planning.status.conditions import check_subscription, make_error, make_kept, make_undeletable, make_warning

_ID_RULE = "the ARM id, which cannot change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The manifests of one revision, prepared."""

    name: str  # for messages
    prepared: tuple[Prepared, ...]
    config_maps: ConfigMaps  # those that the manifests declare themselves
    secrets: Secrets  # those that the manifests declare themselves
    identity_of: IdentityOf  # gives the identity that would write a resource, as far as the manifests name it
    allowed: OfflineAllowList | None = None  # None without an allow-list

    def requests(self) -> Mapping[Key, Request]:
        """Build the request of each resource that has one."""
        values = Placeholders({prepared.key: prepared for prepared in self.prepared}, self.config_maps, self.secrets)
        requests: dict[Key, Request] = {}
        for prepared in self.prepared:
            # A key may occur twice, which validation reports: the first manifest counts.
            if prepared.template is None or prepared.key in requests:
                continue
            try:
                requests[prepared.key] = fill(prepared.template, prepared.key.namespace, values)
            except MissingValueError:  # a problem of its manifest reports it
                continue
        return requests


def make_records(old: Revised) -> Mapping[Key, Record]:
    """Make the records that `make_plan` needs, as if a run had applied the old revision."""
    requests = old.requests()
    return {
        resource.key: _make_record(resource, requests[resource.key])
        for resource in old.prepared
        if resource.key in requests
    }


def _make_record(prepared: Prepared, request: Request) -> Record:
    return Record(
        key=prepared.key,
        arm_id=request.arm_id,
        arm_api_version=request.api_version,
        claim=Claim.CREATED if prepared.is_written else Claim.NONE,
        manifest=RecordedManifest(
            api_version=prepared.resource.gvk.api_version,
            policy=prepared.policy,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on if prepared.is_valid else (),
            hold=prepared.hold,
            **make_declaration(prepared.resource),
        ),
        spec=RecordedSpec(digest=digest_spec(prepared.resource.spec), applied=request.body),
    )


def compare_revisions(plan: Plan, old: Revised, new: Revised, *, prune: bool) -> tuple[Result, ...]:
    """Return what a sync would do in Azure if the old revision were applied, sorted by key.

    `plan` is made of the new revision's resources and `make_records(old)`. With `prune`, a sync would delete.
    """
    records = make_records(old)
    rehearsal = _Rehearsal(old, new, {r.arm_id.key: r for r in records.values()})
    keys = TopologicalSorter({key: apply.depends_on for key, apply in plan.applies.items()}).static_order()
    results: dict[Key, Result] = {}
    locks = foresee_standing(plan, records, prune=prune)
    for key in keys:
        apply = plan.applies[key]
        waits_for = [results[other] for other in apply.depends_on if not results[other].is_fine]
        results[key] = _withhold(apply, _block_locked(rehearsal.apply(apply, waits_for), locks))
    former = {prepared.key: prepared for prepared in old.prepared}
    for key, removed in plan.prunes.items():
        deleted = _rehearse_prune(removed, former[key], prune=prune)
        # A resource that is detached or kept sends nothing, so its identity does not matter.
        is_delete = deleted.action is Action.DELETE
        results[key] = _refuse_identity(deleted, former[key].resource, new) if is_delete else deleted
    results = add_takes(results, records, plan.applies)
    results = _note_identities(results, plan, old, new)
    results = _note_values(results, plan)
    return tuple(results[key] for key in sorted(results))


def _note_identities(results: Mapping[Key, Result], plan: Plan, old: Revised, new: Revised) -> dict[Key, Result]:
    """Add which resources of both revisions another identity would write, or delete."""
    noted = dict(results)
    resources = {prepared.key: prepared.resource for prepared in new.prepared}
    for former in (prepared.resource for prepared in old.prepared):
        node: Node | None = plan.applies.get(former.key) or plan.prunes.get(former.key)
        if node is None or former.key not in results or not was_written(node):
            continue
        # What was removed from git is deleted with the credential that it had.
        now = new.identity_of(resources.get(former.key, former))
        if change := find_identity_change(old.identity_of(former), now):
            result = results[former.key]
            noted[former.key] = replace(result, change=replace(result.change, identity=change))
    return noted


def _note_values(results: Mapping[Key, Result], plan: Plan) -> dict[Key, Result]:
    """Add which fields would be computed again, because a resource is new whose status they use. An update may leave a
    value as it is, which only Azure shows.
    """
    noted = dict(results)
    for key, apply in plan.applies.items():
        for value in apply.prepared.relations.computed:
            new = [source for source in sorted(value.reads) if source in results and _becomes_new(results[source])]
            # What is invalid or blocked is not sent, whatever its values are.
            if not new or noted[key].verdict in {Verdict.INVALID, Verdict.BLOCKED}:
                continue
            names = join_with_and(list(map(format_short_key, new)))
            note = f"{value.field} would be computed again: it uses the status of {names}."
            message = " ".join(filter(None, (noted[key].condition.message, note)))
            result = replace(noted[key], condition=replace(noted[key].condition, message=message))
            noted[key] = replace(result, verdict=Verdict.PENDING) if result.verdict is Verdict.IN_SYNC else result
    return noted


def _becomes_new(result: Result) -> bool:
    return result.action in {Action.CREATE, Action.REPLACE} or result.needs_replacement


def _block_locked(result: Result, locks: LockView) -> Result:
    why = locks.explain_write(result.arm_id) if result.arm_id and result.action is not Action.NONE else ""
    if not why:
        return result
    return replace(
        result,
        verdict=Verdict.BLOCKED,
        action=Action.NONE,
        condition=make_warning(LOCKED, why),
        change=replace(result.change, body=None),
    )


def _refuse_identity(result: Result, resource: Resource, new: Revised) -> Result:
    """Return a delete, blocked if its identity is not allowed."""
    refusal = new.allowed.find_refusal(resource) if new.allowed else None
    if refusal is None:
        return result
    condition = make_warning(refusal.code, refusal.message, refusal.hint)
    return _stop_result(replace(result, action=Action.NONE), Verdict.BLOCKED, condition)


def _withhold(apply: Apply, result: Result) -> Result:
    """Show a hold that is added, changed or removed, and no request for a resource that a sync would leave as it is."""
    before, hold = apply.record.manifest.hold if apply.record else None, apply.hold
    result = replace(result, manifest=replace(result.manifest, hold=hold))
    notes = [result.condition.message]
    if before != hold and apply.prepared.is_valid:
        change = "is removed" if hold is None else "is added" if before is None else "changes"
        days = " to ".join(f"`{until}`" for until in (before, hold) if until)
        notes.append(
            f"Its hold {change}: {days}." if hold is None or before is None else f"Its hold changes from {days}."
        )
        # A hold is not part of a request, but its change must show in the report.
        if result.verdict is Verdict.IN_SYNC:
            result = replace(result, verdict=Verdict.PENDING)
    if hold and result.action is not Action.NONE:
        result = replace(
            result,
            verdict=Verdict.HELD,
            action=Action.NONE,
            comparison=replace(result.comparison, withheld=result.verdict),
            change=replace(result.change, body=None),
        )
        notes = [hold.sentence, *notes[1:]]
    return replace(result, condition=replace(result.condition, message=" ".join(filter(None, notes))))


def _stop_invalid(blank: Result, prepared: Prepared) -> Result:
    # The manifest is right apart from its identity, so it is blocked, not invalid.
    if refused := next((p for p in prepared.problems if p.code == NOT_ALLOWED), None):
        return _stop_result(blank, Verdict.BLOCKED, make_warning(NOT_ALLOWED, refused.message, refused.hint))
    first = next((p for p in sorted(prepared.problems, key=lambda p: p.order) if p.is_error), None)
    why = f"The manifest is invalid: {first.message}" if first else "No request can be built from this manifest."
    return _stop_result(blank, Verdict.INVALID, make_error("Failed", why))


class _Rehearsal:
    """The comparison of single resources, with what they share."""

    def __init__(self, old: Revised, new: Revised, by_id: Mapping[str, Record]) -> None:
        self._old = old
        self._former = {prepared.key: prepared.resource for prepared in old.prepared}
        self._new = new
        self._requests = new.requests()
        self._by_id = by_id

    def apply(self, apply: Apply, waits_for: Collection[Result]) -> Result:
        """Compare one resource of the new revision; the first condition that holds decides."""
        prepared, before = apply.prepared, apply.record
        request = self._requests.get(apply.key)
        blank = replace(_make_blank(prepared), change=ResultChange(renamed=apply.renamed))
        if prepared.is_waiting:
            missing = next(problem for problem in prepared.problems if problem.code in WAITING)
            is_unread = missing.code in UNREADABLE  # no other repository can create what is waited for
            reason, advice = (missing.code, missing.hint) if is_unread else ("WaitingForOwner", "")
            waits = make_warning(reason, missing.message, advice)
            stopped = _stop_result(blank, Verdict.BLOCKED, waits)
            return replace(stopped, ending=AttemptEnding(is_tolerated=not is_unread))
        if not prepared.is_valid or request is None:
            return _stop_invalid(blank, prepared)
        blank = replace(blank, arm_id=request.arm_id)
        before = self._move_to_known(prepared.resource, before, request)
        if refused := self._refuse_other_id(blank, prepared.resource, before, request):
            return refused
        # Only a create needs what it depends on: a resource that exists is compared in any case.
        if before is None and waits_for:
            other = next(iter(waits_for))
            waits = make_warning("WaitingForOwner", f"It depends on {other.key}, which fails.")
            stopped = _stop_result(blank, Verdict.BLOCKED, waits)
            return replace(stopped, ending=AttemptEnding(blocked_by=other.key, is_tolerated=other.ending.is_tolerated))
        if not prepared.policy.allows_modify:
            return _add_message(blank, Verdict.SKIP, _note_policy(before, prepared.policy))
        if prepared.relations.written_by:
            return _add_message(
                blank,
                Verdict.IN_SYNC,
                f"{prepared.relations.written_by} writes it.",
                _note_policy(before, blank.manifest.policy),
            )
        is_known = before is not None and before.arm_id.is_same(request.arm_id)
        # Another manifest of the old revision may have had the same resource, as before a rename.
        twin = before if is_known else self._by_id.get(request.arm_id.key)
        if twin is None:
            return self._compare_new(blank, request, prepared, is_new=before is not None)
        return _compare_bodies(blank, twin, request, prepared)

    def _refuse_other_id(
        self, blank: Result, resource: Resource, before: Record | None, request: Request
    ) -> Result | None:
        """Refuse to give a resource that gitsync manages another subscription, name or owner; None for any other
        resource.
        """
        if before is None or not before.claim.is_ours:
            return None
        was, now = self._list_subscriptions(resource)
        has_moved = was and now and was.casefold() != now.casefold()
        if has_moved and (mismatch := check_subscription(before.arm_id, now)):
            return _stop_result(replace(blank, arm_id=before.arm_id), Verdict.BLOCKED, mismatch)
        return None if before.arm_id.is_same(request.arm_id) else _refuse_move(blank, before, request)

    def _move_to_known(self, resource: Resource, before: Record | None, request: Request) -> Record | None:
        """Return the record with the id of the request if only its subscription differs, which one revision does not
        name.
        """
        if before is None or before.arm_id.is_same(request.arm_id):
            return before
        was, now = self._list_subscriptions(resource)
        # A revision that names no subscription has a placeholder in its ids, which is not a move.
        is_same_path = _cut_subscription(before.arm_id) == _cut_subscription(request.arm_id)
        return replace(before, arm_id=request.arm_id) if is_same_path and not (was and now) else before

    def _list_subscriptions(self, resource: Resource) -> tuple[str, str]:
        """List the subscription of a resource before and now, each "" if it is not known."""
        former = self._former.get(resource.key, resource)
        return self._old.identity_of(former).subscription, self._new.identity_of(resource).subscription

    def _compare_new(self, blank: Result, request: Request, prepared: Prepared, *, is_new: bool) -> Result:
        """Compare a resource without a request in the old revision: it is new, or its old manifest was invalid.

        With `is_new`, the manifest was valid, and stood for a resource that another one wrote.
        """
        request_line = _format_write(prepared, request)
        if blank.key in self._former and not is_new:
            note = f"Its manifest is invalid in {self._old.name}, so its changes are unknown."
            return replace(_add_message(blank, Verdict.PENDING, request_line, note), action=Action.UPDATE)
        created = _add_message(blank, Verdict.CREATE, describe_rename(blank.change.renamed), request_line)
        change = replace(created.change, body=remove_secrets(request.body))
        return replace(created, action=Action.CREATE, change=change)


def _cut_subscription(arm_id: ArmId) -> str:
    """Cut the subscription off an id; the rest is in lower case."""
    return arm_id.key.removeprefix(f"/subscriptions/{(arm_id.subscription or '').casefold()}")


def _compare_bodies(blank: Result, before: Record, request: Request, prepared: Prepared) -> Result:
    ignored = prepared.ignored
    differences = Bodies().differences(
        remove_paths(request.body, ignored), remove_paths(before.spec.applied or {}, ignored)
    )
    is_new_version = before.arm_api_version != request.api_version
    notes = [
        f"It was {before.key}." if before.key != blank.key else "",
        f"Its api-version changes from {before.arm_api_version} to {request.api_version}." if is_new_version else "",
        _note_policy(before, blank.manifest.policy),
    ]
    if replacement := find_replacement(request.arm_id.arm_type, differences):
        result = _add_message(blank, Verdict.PENDING, build_replacement_condition(replacement).message, *notes)
        change = replace(result.change, replacement=replacement)
        return replace(result, differences=differences, change=change, ending=AttemptEnding(exists=True))
    if differences:
        result = _add_message(blank, Verdict.PENDING, _format_write(prepared, request), *notes)
        return replace(result, action=Action.UPDATE, differences=differences)
    return _add_message(blank, Verdict.PENDING if is_new_version else Verdict.IN_SYNC, *notes)


def _make_blank(prepared: Prepared) -> Result:
    return Result(
        key=prepared.key,
        arm_id=prepared.arm_id,
        manifest=ManifestOrigin(
            api_version=prepared.resource.gvk.api_version,
            source=prepared.resource.source,
            policy=prepared.policy,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on,
        ),
        verdict=Verdict.IN_SYNC,
        condition=Condition(status=ConditionStatus.UNKNOWN, reason="Planned"),
        is_fine=True,
    )


def _add_message(blank: Result, verdict: Verdict, *sentences: str) -> Result:
    message = " ".join(sentence for sentence in sentences if sentence)
    return replace(blank, verdict=verdict, condition=replace(blank.condition, message=message))


def _stop_result(blank: Result, verdict: Verdict, condition: Condition) -> Result:
    return replace(blank, verdict=verdict, condition=condition, is_fine=False)


def _refuse_move(blank: Result, before: Record, request: Request) -> Result:
    """Refuse another name or owner: they are frozen once Azure has the resource
    (docs/reference/reconciliation.md#immutable-names).
    """
    field = "spec.owner" if before.manifest.owner != blank.manifest.owner else "spec.azureName"
    text = (
        f"{field} would change its ARM id, which is refused once the resource exists. "
        "To create another resource, change metadata.name of the manifest."
    )
    difference = Difference("/id", request.arm_id, before.arm_id, _ID_RULE)
    stopped = _stop_result(blank, Verdict.BLOCKED, make_error("Failed", text))
    change = replace(stopped.change, replacement=make_move(before.arm_id, request.arm_id))
    return replace(stopped, differences=(difference,), change=change)


def _format_write(prepared: Prepared, request: Request) -> str:
    method = "PATCH" if prepared.resource.annotations.get(UPDATE_METHOD) == "patch" else "PUT"
    return _format_request(method, prepared, request.arm_id, request.api_version)


def _format_request(method: str, prepared: Prepared, arm_id: ArmId, api_version: str) -> str:
    # Other providers have requests of their own, and several of them: the id is only the key of the resource.
    return f"{method} {arm_id}?api-version={api_version}." if prepared.provider is Provider.ARM else ""


def _note_policy(before: Record | None, policy: Policy) -> str:
    if before is None or before.manifest.policy is policy:
        return ""
    return f"Its reconcile policy changes from {before.manifest.policy.value} to {policy.value}."


def _rehearse_prune(removed: Prune, former: Prepared, *, prune: bool) -> Result:
    """Return the result of a resource that the new revision no longer declares."""
    record = removed.record
    result = Result(
        key=removed.key,
        arm_id=record.arm_id,
        manifest=ManifestOrigin(
            api_version=record.manifest.api_version,
            source=None,
            policy=record.manifest.policy,
            owner=record.manifest.owner,
            depends_on=record.manifest.depends_on,
            hold=removed.hold,
            last_commit=removed.last_commit,
            last_source=removed.last_source,
        ),
        verdict=Verdict.DETACH,
        condition=Condition(status=ConditionStatus.UNKNOWN, reason="Planned"),
        is_fine=True,
        change=ResultChange(renamed=removed.renamed),
    )
    # A hold comes first: it also stops what would only be forgotten, and names the day of its end.
    if removed.hold:
        notes = ComparisonNotes(withheld=Verdict.DETACH if removed.detaches else Verdict.DELETE)
        return replace(_add_message(result, Verdict.HELD, removed.reason, removed.hold.sentence), comparison=notes)
    if removed.detaches:
        detached = _add_message(result, Verdict.DETACH, removed.reason, "It stays in Azure.")
        return replace(detached, action=Action.DETACH if prune else Action.NONE)
    if removed.kept_because:
        return replace(result, verdict=Verdict.BLOCKED, condition=make_kept(removed.kept_because))
    # Within another resource it goes with that one, whether its kind has a DELETE or not.
    if removed.within is None and not removed.can_delete:
        return replace(result, verdict=Verdict.BLOCKED, condition=make_undeletable(removed.key))
    if not prune:
        return _add_message(result, Verdict.DELETE, removed.reason, "Only a sync with --prune deletes it.")
    if removed.within:
        deleted = _add_message(result, Verdict.DELETE, removed.reason, f"It is deleted with {removed.within}.")
        return replace(deleted, action=Action.DELETE)
    request = _format_request("DELETE", former, record.arm_id, record.arm_api_version)
    return replace(_add_message(result, Verdict.DELETE, removed.reason, request), action=Action.DELETE)

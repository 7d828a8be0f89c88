"""Prepares manifests for ARM: versions, names, owners, ids, bodies, edges, policies and problems. All offline.

The first of the two steps of conversion. It takes all manifests through `draft` and through validation. Itself, it
decides the policy only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain, islice
from typing import Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.spec_visitor import visit_body, visit_spec
from gitsync.desired.catalog.version_annotation import API_VERSION, BODY
from gitsync.desired.formats.ignored_paths import Paths
from gitsync.desired.manifests.policy_annotations import decide_policy
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.request.arm_id_builder import ArmIds, Standing, is_named_at_random
from gitsync.desired.request.body import collect_sign_in_paths
from gitsync.desired.request.credential_choice import Credential, CredentialOf
from gitsync.desired.request.dependencies import Dependencies
from gitsync.desired.request.draft import (
    Draft,
    begin_draft,
    find_draft_subscription,
    finish_draft,
)
from gitsync.desired.request.exports import SharedExports, check_declared, may_export
from gitsync.desired.request.patched_body import check_patched_body
from gitsync.desired.request.rules_of_source import apply_rules
from gitsync.desired.request.told_by_others import collect_told
from gitsync.desired.request.value_estate import ValueEstate
from gitsync.desired.validation.annotations import IGNORE
from gitsync.desired.validation.body_annotation import BODY_PATH, read_body
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON, NamedDependencies
from gitsync.desired.validation.field_rules import FindPaths
from gitsync.desired.validation.hold_annotation import HOLD, check_hold, read_hold
from gitsync.desired.validation.ignore_annotation import check_ignore, read_ignored_paths
from gitsync.desired.validation.relations import Member
from gitsync.desired.validation.set_annotation import has_computed_ids, list_set_entries
from gitsync.desired.validation.validate import (
    MAX_PROBLEMS,
    UnknownFields,
    choose_level,
    validate_resource,
    validate_set,
)
from gitsync.model.gvk import GVK, Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem
from gitsync.model.provider import Provider
from gitsync.model.reconcile_policy import Policy, PolicyDecision
from gitsync.model.resource import WAITING, Prepared, Relations, Resource
from gitsync.model.template import UNREADABLE, ComputedValue
from gitsync.model.unit import UnitOptions

_USUAL: Final = UnitOptions()
_NO_SOURCES: Final[Mapping[Key, tuple[Key, ...]]] = {}


def prepare(
    manifests: Manifests,
    *,
    catalog: Catalog,
    subscription: str | CredentialOf,
    default_policy: Policy = Policy.MANAGE,
    unknown_fields: UnknownFields = "error",
    today: date | None = None,
) -> tuple[Prepared, ...]:
    """Prepare every resource of the manifests for ARM, sorted by key and then by version.

    A duplicate key occurs twice. `subscription` is one subscription for all resources, or a function that returns the
    credential of each, with its subscription; a resource without a credential has no ARM id. `today` decides which
    ignored fields have expired, and whether a `gitsync/hold` lasts; without it, none has expired. Faults of the rules
    of gitsync.yaml are not reported here, but by `rules_of_source.check_rules`.
    """
    # Versions come first: rules, values and ids below look the kind up by them.
    manifests = migrate_versions(manifests, catalog, unknown_fields)
    estate = apply_rules(manifests, catalog, today)
    computed = _add_computed(estate.resources, manifests, catalog)
    manifests = replace(manifests, resources=computed.resources)
    drafts = _make_drafts(manifests, catalog, subscription, computed)
    arm_ids = {draft.resource.key: draft.known_id for draft in drafts if draft.known_id}
    dependencies = Dependencies(manifests.resources, arm_ids, manifests.objects.declared)
    shared = SharedExports(manifests.resources)
    # Validation reports an unknown policy; an invalid resource is not reconciled.
    usual = PolicyDecision(default_policy)
    decisions = [decide_policy(draft.resource, manifests.namespaces, default_policy) or usual for draft in drafts]
    named = NamedDependencies(manifests)
    checked = list(_check_alone(drafts, decisions, (dependencies, named), catalog, unknown_fields))
    set_problems = validate_set(
        [member for member, _ in checked],
        catalog=catalog,
        namespaces=manifests.namespaces,
        known=manifests.known,
        unusable=manifests.unusable,
    )
    told = collect_told(drafts)
    prepared = []
    for draft, decision, (member, alone), of_set in zip(drafts, decisions, checked, set_problems, strict=True):
        resource = draft.resource
        others = (*_check_annotations(draft, today, unknown_fields), *_check_exports(resource, manifests, shared))
        ruled = estate.faults.get(resource.key.namespace, ())
        problems = (*resource.problems, *alone, *of_set, *others, *ruled, *_check_draft(draft))
        relations = _relate(member, told.get(resource.key, ()), computed.values.get(resource.key, ()))
        made = _make_prepared(draft, decision, relations, problems, _list_ignored(draft, today, estate.find_ignored))
        prepared.append(replace(made, hold=read_hold(resource, today)) if HOLD in resource.annotations else made)
    return tuple(prepared)


def _relate(member: Member, told: tuple[tuple[str, str], ...], computed: tuple[ComputedValue, ...]) -> Relations:
    return Relations(
        owner=member.owner,
        depends_on=member.depends_on,
        named_first=member.named_first,
        told=told,
        computed=computed,
    )


def _add_computed(resources: tuple[Resource, ...], manifests: Manifests, catalog: Catalog) -> ValueEstate:
    """Return the resources with the values that expressions compute."""
    entries = {index: found for index, resource in enumerate(resources) if (found := list_set_entries(resource))}
    if not entries:
        return ValueEstate(resources)
    from gitsync.desired.request.computed_values import Elsewhere, add_computed  # noqa: PLC0415 - an engine that most repositories do not need

    hidden = frozenset(key for key, known in manifests.known.items() if known.is_hidden)
    return add_computed(resources, entries, Elsewhere(manifests.known_ids, hidden, manifests.unusable.unbuilt), catalog)


def _check_alone(
    drafts: Iterable[Draft],
    decisions: Iterable[PolicyDecision],
    needed: tuple[Dependencies, NamedDependencies],
    catalog: Catalog,
    unknown_fields: UnknownFields,
) -> Iterator[tuple[Member, tuple[Problem, ...]]]:
    """Yield what checks across manifests see of each one, and its own problems. The fields that both look at are not
    kept: those of a large estate take as much memory as its requests.
    """
    dependencies, named_dependencies = needed
    for draft, decision in zip(drafts, decisions, strict=True):
        resource, kind = draft.resource, draft.kind
        visits = visit_spec(kind, resource.spec) if kind else []
        if resource.annotations.get(BODY):
            visits += visit_body(read_body(resource), BODY_PATH)
        own = validate_resource(resource, kind, catalog=catalog, unknown_fields=unknown_fields, visits=visits)
        needs = draft.needs
        if DEPENDS_ON in resource.annotations:
            named, findings = named_dependencies.of(resource)
            needs = replace(needs, named=named)
            own = (*own, *(locate_finding(finding, resource) for finding in findings[:MAX_PROBLEMS]))
        yield draft.as_member(decision.policy, visits, dependencies.of(needs), needs.named), own


def _list_ignored(draft: Draft, today: date | None, find_ignored: FindPaths) -> Paths:
    """List the paths of the body that are not compared: those that the manifest or a rule ignores, and how to sign
    in.
    """
    ignored = read_ignored_paths(draft.resource, draft.kind, today) if IGNORE in draft.resource.annotations else ()
    if draft.kind is None:
        return ignored
    others = (*find_ignored(draft.resource, draft.kind), *collect_sign_in_paths(draft.kind))
    return tuple(sorted({*ignored, *others})) if others else ignored


def _check_annotations(draft: Draft, today: date | None, unknown_fields: UnknownFields) -> Iterable[Problem]:
    """Check the annotations that depend on the day, and those that change the request."""
    resource = draft.resource
    if HOLD in resource.annotations:
        yield from (locate_finding(finding, resource) for finding in check_hold(resource, today))
    if draft.kind is not None and IGNORE in resource.annotations:
        yield from (locate_finding(finding, resource) for finding in check_ignore(resource, draft.kind, today))
    if draft.kind is not None and not {API_VERSION, BODY}.isdisjoint(resource.annotations):
        body, unknown = draft.converted.body if draft.converted else None, choose_level(unknown_fields)
        yield from islice(check_patched_body(resource, draft.kind, body, unknown), MAX_PROBLEMS)


def _check_exports(resource: Resource, manifests: Manifests, shared: SharedExports) -> Iterable[Problem]:
    if not may_export(resource):
        return ()
    findings = chain(check_declared(resource, manifests.objects.declared), shared.check(resource))
    return (locate_finding(finding, resource) for finding in islice(findings, MAX_PROBLEMS))


def _make_drafts(
    manifests: Manifests,
    catalog: Catalog,
    subscription: str | CredentialOf,
    computed: ValueEstate,
) -> list[Draft]:
    def credential_of(resource: Resource) -> Credential | Finding:
        return Credential(subscription=subscription) if isinstance(subscription, str) else subscription(resource)

    begin = partial(
        begin_draft,
        catalog=catalog,
        config_maps=manifests.objects.config_maps,
        known_ids=manifests.known_ids,
        bodies=computed.bodies,
    )

    def make_ids(standings: Mapping[Key, Standing]) -> ArmIds:
        return ArmIds(standings, partial(find_draft_subscription, credential_of))

    resources, sources = manifests.resources, _NO_SOURCES
    if computed.values and has_computed_ids(resources):
        from gitsync.desired.request.computed_ids import settle_ids  # noqa: PLC0415 - as above

        resources, sources = settle_ids(resources, lambda resource: begin(resource).standing, make_ids)
    starts = [begin(resource) for resource in resources]
    ids = make_ids({start.resource.key: start.standing for start in starts if start.standing})
    return [finish_draft(start, credential_of, ids, sources.get(start.resource.key, ())) for start in starts]


def _make_prepared(
    draft: Draft, decision: PolicyDecision, relations: Relations, problems: Iterable[Problem], ignored: Paths
) -> Prepared:
    all_problems = set(problems)
    if draft.resource.wrapper and not decision.policy.allows_modify:
        all_problems = {_leave_to_capz(problem) for problem in all_problems}
    # Without a request and without a problem the resource would be skipped in silence.
    explains = any((problem.is_error and problem.invalidates) or problem.code in WAITING for problem in all_problems)
    # What is not known leaves no complete request.
    template = None if any(problem.code in UNREADABLE for problem in all_problems) else draft.template
    if template is None and not explains:
        all_problems.add(locate_finding(_NO_REQUEST, draft.resource))
    return Prepared(
        resource=draft.resource,
        policy=decision.policy,
        policy_reason=decision.reason,
        arm_id=draft.known_id,
        api_version=draft.kind.api_version if draft.kind else None,
        template=template,
        relations=relations,
        problems=tuple(sorted(all_problems, key=lambda problem: problem.order)),
        ignored=ignored,
        credential=draft.credential.name if draft.credential else "",
        id_doubt=draft.id_doubt,
        provider=draft.kind.provider if draft.kind else Provider.ARM,
    )


def _leave_to_capz(problem: Problem) -> Problem:
    """Return a problem of a manifest that CAPZ manages: what CAPZ or its cluster may provide is only a warning."""
    if problem.code not in WAITING:
        return problem
    return replace(problem, level=Level.WARNING, hint="Ignore this if CAPZ sets it, or its cluster has it.")


_NO_REQUEST: Final = Finding(
    code="NoRequest",
    path=("spec",),
    message="No request can be built from this manifest.",
    hint="Check its owners and references: one of them has no ARM id.",
)
"""The last resort: validation found no problem, and there is still no request."""


def _check_draft(draft: Draft) -> Iterator[Problem]:
    """Problems of the name and of the credential."""
    if draft.kind is not None and is_named_at_random(draft.resource, draft.kind):
        message = "A random name would change in every run, and leave a resource behind each time."
        hint = "Set spec.azureName to a UUID of your own, or namingConvention to stable."
        path = ("spec", "operatorSpec", "namingConvention")
        yield locate_finding(Finding(code="RandomName", path=path, message=message, hint=hint), draft.resource)
    for finding in draft.findings:
        yield locate_finding(finding, draft.resource)


def migrate_versions(manifests: Manifests, catalog: Catalog, unknown_fields: UnknownFields = "error") -> Manifests:
    """Read each resource of a version that ASO has removed as the nearest later one that has all of its fields, except
    those that are dropped because no version has them, with a warning.

    Only in units with the option, and of what CAPZ manages; a resource without such a version stays as it is.
    """
    migrated = (_migrate(resource, catalog, unknown_fields) for resource in manifests.resources)
    return replace(manifests, resources=tuple(migrated))


def _migrate(resource: Resource, catalog: Catalog, unknown_fields: UnknownFields) -> Resource:
    options = resource.unit.options if resource.unit else _USUAL
    # What CAPZ manages is not written, whatever its version.
    may_migrate = options.migrates_versions or (resource.wrapper is not None and not options.manages_capz)
    if not may_migrate or catalog.find_served_version(resource.gvk):
        return resource
    later = find_later_version(resource.gvk, resource.spec, catalog)
    if later is None or later.lacks or (later.unknown and unknown_fields == "error"):
        return resource
    problem = locate_finding(_make_warning(resource.gvk, later.gvk), resource)
    problems = tuple(sorted((*resource.problems, problem), key=lambda problem: problem.order))
    return replace(resource, gvk=later.gvk, problems=problems)


def _make_warning(removed: GVK, later: GVK) -> Finding:
    return Finding(
        code="VersionMigrated",
        path=("apiVersion",),
        message=f"{removed.kind} of {removed.group} has no version {removed.version}: it is read as {later.version}.",
        hint=f"Change it to {later.version}.",
        level=Level.WARNING,
    )

"""Every problem of the manifests that can be found offline, in one pass (docs/reference/design.md#validation).

The two entry points of validation. `validate_resource` checks one manifest against its kind, `validate_set` the
relations between manifests. Neither stops at the first problem, and neither raises for a bad manifest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.served_versions import check_served_version
from gitsync.desired.catalog.spec_visitor import Visit, visit_header, visit_spec
from gitsync.desired.catalog.unknown_kind import explain_unknown_kind
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.manifests.kubernetes_names import check_object_names
from gitsync.desired.manifests.written_values import suggest_quotes
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.validation.annotations import check_annotations, check_inherited_policy
from gitsync.desired.validation.any_type_rules import (
    check_action,
    check_any_name,
    check_any_owners,
    check_body_words,
    check_type,
)
from gitsync.desired.validation.body_annotation import check_version_and_body
from gitsync.desired.validation.constraints import check_constraints
from gitsync.desired.validation.directory_links import check_links
from gitsync.desired.validation.directory_rules import check_names_together
from gitsync.desired.validation.export_destinations import check_destinations
from gitsync.desired.validation.lock_order import check_lock_order
from gitsync.desired.validation.missing_targets import NOTHING_KNOWN, check_presence
from gitsync.desired.validation.name_rules import check_kind_rules, check_names, check_object_name, find_azure_name
from gitsync.desired.validation.own_kind_rules import (
    check_assignments_together,
    check_credentials_together,
    check_own_kind,
)
from gitsync.desired.validation.provider_rules import check_provided
from gitsync.desired.validation.references import OWNERS, REFERENCES, check_reference
from gitsync.desired.validation.relations import (
    Member,
    check_address_prefixes,
    check_cycles,
    check_duplicates,
    check_overlaps,
)
from gitsync.desired.validation.spec_schema import (
    check_missing_spec,
    check_pairs,
    check_placeholder,
    check_shape,
    check_tag_names,
)
from gitsync.desired.validation.value_rules import check_body_region, check_known_values
from gitsync.model.facts import Kind
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.manifests import NOTHING_UNUSABLE, KnownId, UnusableDeclarations
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource

MAX_PROBLEMS = 1000
"""Of one manifest: a file may have a million unknown fields, and each problem takes more memory than its field."""

UnknownFields = Literal["error", "warn"]

_TARGETS = REFERENCES | OWNERS


def validate_resource(
    resource: Resource,
    kind: Kind | None,
    *,
    catalog: Catalog,
    unknown_fields: UnknownFields = "error",
    visits: Sequence[Visit] | None = None,
) -> tuple[Problem, ...]:
    """Find every problem of one manifest alone, in the order of its file: shape, constraints, owner and reference
    forms, names, exports, annotations.

    If `kind` is None (not in the catalog), that is the problem. `visits` are those of the spec, if they were made
    already.
    """
    findings: Iterable[Finding]
    level = choose_level(unknown_fields)
    if kind is None and resource.key[:2] == AZURE_RESOURCE:
        kind = catalog.kind(resource.gvk)  # without its type, everything else is checked
        visits = None
    if kind is None:
        findings = (
            explain_unknown_kind(resource.gvk, resource.spec, catalog, level),
            *_list_placeholders(resource, catalog),
            *_check_others(resource, kind, level),
            *check_object_name(resource),
            *check_annotations(resource),
        )
    else:
        seen = visit_spec(kind, resource.spec) if visits is None else visits
        findings = _check_resource(resource, kind, catalog, level, seen)
    return _locate_findings(resource, findings)


def choose_level(unknown_fields: UnknownFields) -> Level:
    """Choose the level of what the facts do not have."""
    return Level.WARNING if unknown_fields == "warn" else Level.ERROR


def check_spec(
    visits: Iterable[Visit], kind: Kind, catalog: Catalog, unknown: Level = Level.ERROR
) -> Iterator[Finding]:
    """Check the values of a spec: shape, constraints, forms of references. `unknown` is the level of an unknown
    field.
    """
    for visit in visits:
        is_mapping = visit.facts is not None
        if is_mapping or not visit.fits:
            yield from check_shape(visit, unknown, kind)
        # `check_names` checks azureName: its rules hold for a default too.
        if visit.rules and visit.fits and visit.path != ("spec", "azureName"):
            yield from check_constraints(visit)
        if visit.shape == "map" and visit.fits and visit.path[-1] == TAGS:
            yield from check_tag_names(visit, kind)
        if is_mapping and visit.fits:
            yield from check_pairs(visit)
            yield from check_object_names(visit)
            yield from check_known_values(visit, kind)
            if visit.name in _TARGETS:
                yield from check_reference(visit, kind, catalog, unknown)


def validate_set(
    members: Sequence[Member],
    *,
    catalog: Catalog,
    namespaces: Mapping[str, Mapping[str, str]],
    known: Mapping[Key, KnownId] = NOTHING_KNOWN,
    unusable: UnusableDeclarations = NOTHING_UNUSABLE,
) -> tuple[tuple[Problem, ...], ...]:
    """Find every problem between manifests: duplicates, missing owners and references, cycles, one ARM id twice,
    subnets outside of their network or across each other.

    Returns one tuple for each member, in the order of `members`: a key may occur twice. `namespaces` has the
    annotations of Namespace manifests: an unknown reconcile policy there is a problem of every resource that has it.
    `known` are the ids of resources that other sources declare.
    """
    # By object: two manifests may have the same key, and each has its own problems.
    by_member: dict[int, list[Finding]] = defaultdict(list)
    findings = (
        *check_duplicates(members),
        *check_presence(members, catalog, known, unusable),
        *check_cycles(members),
        *check_lock_order(members),
        *check_address_prefixes(members),
        *check_overlaps(members),
        *check_any_owners(members, catalog),
        *check_credentials_together(members),
        *check_assignments_together(members),
        *check_names_together(members),
    )
    for member, finding in findings:
        by_member[id(member)].append(finding)
    # The Namespace is one document, and its policy that of many resources: the problem is reported at each.
    for member in members if namespaces else ():
        annotations = namespaces.get(member.key.namespace, {})
        by_member[id(member)].extend(check_inherited_policy(member.resource, annotations))
    return tuple(
        _locate_findings(member.resource, by_member[id(member)]) if id(member) in by_member else ()
        for member in members
    )


def _check_resource(
    resource: Resource, kind: Kind, catalog: Catalog, unknown: Level, visits: Sequence[Visit]
) -> Iterator[Finding]:
    yield from check_served_version(resource.gvk, resource.spec, catalog)
    if kind.is_any_type:
        yield from _check_any_type(resource, kind, unknown)
    yield from _check_others(resource, kind, unknown)
    is_present = bool(resource.spec) or (resource.lines is not None and ("spec",) in resource.lines)
    # A spec of which the reader has reported a problem is not checked.
    if is_present and all(problem.field != "spec" for problem in resource.problems):
        yield from check_spec(visits, kind, catalog, unknown)
        if "operatorSpec" in resource.spec:  # no other field has destinations
            yield from check_destinations(visits)
    else:
        yield from check_missing_spec(resource, kind)
    yield from check_names(resource, kind)
    yield from check_kind_rules(resource, kind)
    yield from check_provided(resource, kind)
    yield from check_own_kind(resource, kind)
    yield from check_annotations(resource)
    if resource.annotations:
        yield from check_version_and_body(resource, kind)
        yield from check_links(resource, kind)


def _check_any_type(resource: Resource, kind: Kind, unknown: Level) -> Iterator[Finding]:
    """Check what the manifest of any type has in addition: the type, and a body that no visit shows."""
    body = resource.spec.get("body", {})
    of_type = [*check_type(resource, unknown)]
    yield from of_type
    yield from check_any_name(resource, kind)
    yield from check_action(resource, kind, unknown)
    yield from check_body_words(body)
    yield from check_body_region(resource, kind)
    # Without a valid type there are no facts about the body.
    if isinstance(body, dict) and all(finding.level is not Level.ERROR for finding in of_type):
        from gitsync.desired.validation.arm_body import check_body  # noqa: PLC0415 - few runs have such bodies

        name = find_azure_name(resource, kind)
        yield from check_body(body, kind.arm_type, kind.api_version, name=name[1] if name else "", unknown=unknown)


def _check_others(resource: Resource, kind: Kind | None, unknown: Level) -> Iterator[Finding]:
    """Check the fields beside the spec, which an API server reads for every kind alike."""
    for visit in visit_header(resource.others):
        yield from check_shape(visit, unknown, kind)
        if visit.fits:
            yield from check_constraints(visit)


def _list_placeholders(resource: Resource, catalog: Catalog) -> Iterator[Finding]:
    """List the placeholders of a version that the catalog does not have, by the fields of the nearest later one."""
    later = find_later_version(resource.gvk, resource.spec, catalog)
    kind = catalog.kind(later.gvk) if later else None
    for visit in visit_spec(kind, resource.spec) if kind else ():
        yield from check_placeholder(visit)


def _quote_file(finding: Finding, resource: Resource) -> Finding:
    """Return how the file writes a value that YAML took for a number or a boolean."""
    if finding.retyped is None:
        return finding
    # A patch sets the value, so the lines of this file do not have its spelling.
    is_patched = any(finding.path[:end] in resource.patched for end in range(1, len(finding.path) + 1))
    lines = None if is_patched else resource.lines
    return replace(finding, hint=suggest_quotes(finding.retyped, lines, finding.path))


def _locate_findings(resource: Resource, findings: Iterable[Finding]) -> tuple[Problem, ...]:
    problems = [
        locate_finding(_quote_file(finding, resource), resource) for finding in islice(findings, MAX_PROBLEMS + 1)
    ]
    if not problems:
        return ()
    if len(problems) > MAX_PROBLEMS:
        problems[-1] = Problem(
            code="TooManyProblems",
            message=f"The manifest has more than {MAX_PROBLEMS} problems; the others are not shown.",
            hint="Fix those that are shown.",
            path=resource.source.path,
            line=resource.source.line,
        )
    return tuple(sorted(problems, key=lambda problem: problem.order))

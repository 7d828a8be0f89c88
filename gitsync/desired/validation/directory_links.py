"""The annotations `gitsync/members` and `gitsync/owners`: the Entra ID objects that are in a group, or that own an
object (docs/how-to/groups.md#members). Their text is a YAML mapping with one list, `complete` or `added`.

An entry is the object id of anything, or the name of a manifest, whose object id a run finds out
(`request.computed_values`). The body has both by their names in git, so that a plan shows these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.directory_relations import (
    MEMBERS,
    RELATIONS,
    DirectoryRelation,
    find_body_relation,
)
from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.annotation_text import locate_in_annotation, read_annotation
from gitsync.model.facts import Kind
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource

COMPLETE, ADDED = "complete", "added"
_MODES: Final = (COMPLETE, ADDED)

OBJECT_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONGEST_SHOWN: Final = 120
_FORM: Final = "Write a mapping such as {complete: [UserAssignedIdentity/app]}, or added: to keep those that git lacks."


class DirectoryLinks(NamedTuple):
    """One of the annotations, as it was read."""

    relation: DirectoryRelation
    mode: str = ""  # `complete` or `added`; "" if the annotation cannot be used
    entries: tuple[str, ...] = ()  # as written, in order
    fault: str = ""  # what is wrong, as a sentence; "" if nothing is
    at: FieldPath = ()  # where, inside of the annotation

    @property
    def path(self) -> FieldPath:
        """The field of the annotation."""
        return ("metadata", "annotations", self.relation.annotation)


def has_links(resource: Resource) -> bool:
    """Return whether a manifest has one of the annotations."""
    return not resource.annotations.keys().isdisjoint(RELATIONS)


def list_links(resource: Resource) -> Iterator[DirectoryLinks]:
    """List the annotations of a manifest, as far as its kind may have them."""
    for annotation, relation in RELATIONS.items():
        text = resource.annotations.get(annotation)
        if text and resource.key[:2] in relation.kinds:
            yield _read(relation, text)


def read_links(resource: Resource, values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Read the members of the body that the annotations give: object ids by the names of the entries. `values` are
    those of the manifests, by annotation and entry. Empty without annotations, or if they cannot be used.
    """
    return {
        links.relation.body_name(is_complete=links.mode == COMPLETE): {
            entry: entry.lower() if OBJECT_ID.fullmatch(entry) else values[links.relation.annotation][entry]
            for entry in links.entries
            if OBJECT_ID.fullmatch(entry) or entry in values.get(links.relation.annotation, {})
        }
        for links in list_links(resource)
        if links.mode
    }


def find_link_field(path: JsonPath, resource: Resource) -> FieldPath | None:
    """Find the field of an annotation that gives what a body has at a path; None if none does."""
    relation = find_body_relation(str(path[0])) if path else None
    if relation is None or not resource.annotations.get(relation.annotation):
        return None
    return ("metadata", "annotations", relation.annotation, *path[1:])


def locate_link(annotation: str, entry: str, resource: Resource) -> SourceLocation:
    """Find the line of an entry; that of the annotation if it is not a block."""
    text = resource.annotations.get(annotation, "")
    links = _read(RELATIONS[annotation], text)
    at: FieldPath = (links.mode, links.entries.index(entry)) if entry in links.entries else ()
    return locate_in_annotation(annotation, at, resource)


def check_links(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the form of the annotations, and that they can have an effect."""
    for annotation, relation in RELATIONS.items():
        if not resource.annotations.get(annotation):
            continue
        path: FieldPath = ("metadata", "annotations", annotation)
        if kind.rule_key not in relation.kinds:
            kinds = join_with_or(sorted(name for _, name in relation.kinds))
            message = f"{annotation} is not allowed on {kind.gvk.kind}: it is an annotation of {kinds}."
            yield Finding(code="DirectoryLinks", path=path, message=message, hint="Remove it.")
            continue
        links = _read(relation, resource.annotations[annotation])
        found = [_make_finding(links, links.fault, _FORM, links.at)] if links.fault else []
        found += list(_check_entries(links, resource.spec)) if links.mode else []
        for finding in found:
            yield replace(finding, source=locate_in_annotation(annotation, finding.path[len(path) :], resource))


def _check_entries(links: DirectoryLinks, spec: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that the object takes what is named (https://learn.microsoft.com/graph/api/group-post-members)."""
    is_members = links.relation.annotation == MEMBERS
    membership = spec.get("membershipType") if is_members else None
    # Microsoft Graph refuses changes of these members, so each run would fail.
    if isinstance(membership, str) and membership.startswith("enabled"):
        message = f"{links.relation.annotation} is not allowed on a dynamic group, whose rule decides its members."
        yield _make_finding(links, message, "Remove it, or set spec.membershipType to assigned.")
        return
    for index, entry in enumerate(links.entries):
        if OBJECT_ID.fullmatch(entry):
            continue
        refused = ""
        if not is_members and _names_group(entry):
            refused = "an owner: users and service principals own objects"
        elif membership == "assignedm365":
            refused = "a member: a Microsoft 365 group has users only"
        elif is_members and spec.get("isAssignableToRole") is True and _names_group(entry):
            refused = "a member: a group with isAssignableToRole cannot contain groups"
        if refused:
            message = f"{quote_scalar(entry, _LONGEST_SHOWN)} cannot be {refused}."
            yield _make_finding(links, message, "Remove the entry.", (links.mode, index))


def _names_group(entry: str) -> bool:
    # The last step is the name of the manifest; the kind is before it, with or without its group.
    return "SecurityGroup" in {step.partition(".")[0] for step in entry.split("/")[:-1]}


def _read(relation: DirectoryRelation, text: str) -> DirectoryLinks:
    read = read_annotation(relation.annotation, text)
    if read.fault:
        fault = f"{relation.annotation}: {read.fault} It is in line {read.line} of the annotation."
        return DirectoryLinks(relation, fault=fault)
    value = read.documents[0].value if len(read.documents) == 1 else None
    if not isinstance(value, dict) or len(value) != 1 or not isinstance(value.get(next(iter(value))), list):
        fault = f"{relation.annotation} is not a mapping with one list, {join_with_or(_MODES)}."
        return DirectoryLinks(relation, fault=fault)
    ((mode, entries),) = value.items()
    if mode not in _MODES:
        fault = f"{relation.annotation} must have {join_with_or(_MODES)}, but has {quote_scalar(mode, _LONGEST_SHOWN)}."
        return DirectoryLinks(relation, fault=fault)
    names = set[str]()
    for index, entry in enumerate(entries):
        if fault := _find_fault(entry, names):
            return DirectoryLinks(relation, fault=f"{relation.annotation} {fault}.", at=(mode, index))
        names.add(entry.casefold())
    return DirectoryLinks(relation, mode, tuple(entries))


def _find_fault(entry: Any, before: set[str]) -> str:
    """Find what is wrong with the form of an entry; "" if nothing is."""
    shown = quote_scalar(entry, _LONGEST_SHOWN)
    if not isinstance(entry, str) or not (OBJECT_ID.fullmatch(entry) or "/" in entry):
        return f"has {shown}, which is neither the name of a manifest nor an object id"
    # Object ids have no case.
    return f"has {shown} twice" if entry.casefold() in before else ""


def _make_finding(links: DirectoryLinks, message: str, hint: str, at: FieldPath = ()) -> Finding:
    return Finding(code="DirectoryLinks", path=(*links.path, *at), message=message, hint=hint)

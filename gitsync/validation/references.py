"""The forms of owners and references, and what they name (docs/reference/reconciliation.md#owner-forms, #references,
#well-known-names).

Whether what is named is there is another question (`presence`): this one needs a single manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gitsync.catalog.catalog import NOT_ARM, Catalog
from gitsync.catalog.spec_visitor import Visit, visit_spec
from gitsync.catalog.type_words import join_with_and, join_with_or, quote_scalar
from gitsync.catalog.unknown_kind import suggest_group
from gitsync.model.facts import Kind, Scope
from gitsync.model.gvk import Key
from gitsync.model.problem import Level
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.problems.finding import Finding
from gitsync.problems.suggest import suggest

REFERENCES: Final = frozenset({"reference", "wellKnownReference"})
OWNERS: Final = frozenset({"knownOwner", "arbitraryOwner"})
_PROVIDERS: Final = "/providers/"
_NAMED: Final = ("group", "kind", "name")

_ARM_ID = re.compile(
    r"((/subscriptions/[^/]+(/resourcegroups/[^/]+)?)?/providers/[^/]+(/[^/]+/[^/]+)+"
    r"|/subscriptions/[^/]+(/resourcegroups/[^/]+)?)",
    re.IGNORECASE,
)
_NEVER_IN_IDS = re.compile(r"[<>%&\\?#\x00-\x1f\x7f]|/\.{1,2}(/|\Z)")
"""What no resource may be called, and what would make a request go elsewhere."""


def is_arm_id(text: str) -> bool:
    """Whether a text has the form that ASO admits for `armId` (docs/reference/reconciliation.md#owner-forms) and can
    be part of a URL unchanged.
    """
    return _ARM_ID.fullmatch(text) is not None and _NEVER_IN_IDS.search(text) is None


def parse_arm_type(arm_id: str) -> str:
    """The ARM type of an id, in its own case: `Microsoft.Kusto/clusters/databases`; of an extension's id its own."""
    provider_at = arm_id.casefold().rfind(_PROVIDERS)
    if provider_at >= 0:
        provider, *rest = arm_id[provider_at + len(_PROVIDERS) :].split("/")
        return "/".join([provider, *rest[::2]])
    return "Microsoft.Resources/" + ("resourceGroups" if "/resourcegroups/" in arm_id.casefold() else "subscriptions")


def find_named_references(kind: Kind, spec: Any, namespace: str) -> Iterator[tuple[FieldPath, Key]]:
    """Every reference of a spec to another manifest, with its place, in the order of the manifest; owners are none."""
    for visit in visit_spec(kind, spec):
        if visit.name in REFERENCES and visit.fits:
            key = _key(visit, namespace)
            if key is not None:
                yield visit.path, key


def check_reference(visit: Visit, kind: Kind, catalog: Catalog) -> Iterator[Finding]:
    """Findings of one owner or reference that is a mapping of strings."""
    said = {name: value for name, value in visit.present.items() if isinstance(value, str) and value}
    if "wellKnownName" in said:
        return
    yield from _form(visit, said)
    if visit.name == "knownOwner":
        yield from _spare_words(visit, kind)
    if "armId" in said:
        yield from _arm_id(visit, said["armId"], kind)
    elif "kind" in said and "group" in said:
        yield from _target(visit, said["group"], said["kind"], catalog)


def _key(visit: Visit, namespace: str) -> Key | None:
    said = [visit.value.get(name) for name in _NAMED]
    if visit.value.get("armId") or visit.value.get("wellKnownName") or not all(isinstance(s, str) and s for s in said):
        return None
    group, kind, name = said
    return Key(group, kind, namespace, name)


def _form(visit: Visit, said: dict[str, str]) -> Iterator[Finding]:
    """One of two forms, and all of it."""
    wanted = [name for name in _NAMED if name in visit.fields]
    here = [name for name in wanted if name in said]
    field, fields = format_field(visit.path), join_with_and(wanted)
    if "armId" in said and here:
        yield _malformed(
            visit,
            "the 'ARMID' field is mutually exclusive with 'Group', 'Kind', 'Namespace', and 'Name' for "
            f"ResourceReference: {field} has armId and {join_with_and(here)}.",
            f"Keep either armId or {fields}.",
        )
    elif "armId" not in said and not here:
        well_known = "wellKnownName, " if "wellKnownName" in visit.fields else ""
        yield _malformed(
            visit,
            "at least one of ['ARMID'] or ['Group', 'Kind', 'Namespace', 'Name'] must be set for ResourceReference: "
            f"{field} has none.",
            f"Set {fields} of a manifest in this namespace, {well_known}or armId.",
        )
    elif "armId" not in said and len(here) < len(wanted):
        missing = join_with_and([name for name in wanted if name not in said])
        yield _malformed(
            visit,
            "when referencing a Kubernetes resource, 'Group', 'Kind', 'Namespace', and 'Name' must all be specified "
            f"for ResourceReference: {field} lacks {missing}.",
            f"Add {missing}.",
        )
    if "armId" not in said and is_arm_id(said.get("name", "")):
        path = (*visit.path, "name")
        message = (
            f"couldn't resolve reference {said['name']}. 'name' looks like it might be an ARM ID; "
            f"did you mean 'armID: {said['name']}'?"
        )
        yield Finding(code="NameIsArmId", path=path, message=message, hint="Set armId and remove the other members.")


def _malformed(visit: Visit, message: str, hint: str) -> Finding:
    is_owner = visit.name in OWNERS
    return Finding(code="OwnerForm" if is_owner else "ReferenceForm", path=visit.path, message=message, hint=hint)


def _spare_words(visit: Visit, kind: Kind) -> Iterator[Finding]:
    """Group and kind of an owner that is known without them: right, they have no effect; wrong, they tell a mistake."""
    for field, wanted in zip(("group", "kind"), kind.owner or (), strict=False):
        said = visit.value.get(field)
        path = (*visit.path, field)
        if said == wanted:
            message = (
                f"{format_field(path)} has no effect: a {kind.gvk.kind} is always owned by a {_owner_words(kind)}."
            )
            yield Finding(code="NoEffect", path=path, message=message, hint=f"Remove {field}.", level=Level.WARNING)
        elif said is not None:
            message = (
                f"{format_field(path)} must be {wanted}: a {kind.gvk.kind} is always owned by a {_owner_words(kind)}."
            )
            yield Finding(code="OwnerKind", path=path, message=message, hint=f"Remove {field}, or name another owner.")


def _arm_id(visit: Visit, arm_id: str, kind: Kind) -> Iterator[Finding]:
    path = (*visit.path, "armId")
    if not is_arm_id(arm_id):
        yield Finding(
            code="ArmIdForm",
            path=path,
            message=f"{format_field(path)} is not an ARM id: {quote_scalar(arm_id)}.",
            hint="Write /subscriptions/…/resourceGroups/…, and /providers/… with pairs of type and name where it is a "
            "resource.",
        )
    elif visit.name == "knownOwner" and kind.scope is Scope.RESOURCE_GROUP:
        said = _wrong_owner_type(parse_arm_type(arm_id), kind.arm_type)
        if said:
            hint = f"Set the id of the {_owner_words(kind)} that owns this {kind.gvk.kind}."
            yield Finding(code="OwnerType", path=path, message=said, hint=hint)


def _wrong_owner_type(is_: str, own: str) -> str:
    """What is wrong with the type of an owner's ARM id; "" where nothing is
    (docs/reference/reconciliation.md#owner-type).
    """
    parent = own.rpartition("/")[0]
    if "/" not in parent:
        wanted = "Microsoft.Resources/resourceGroups"
        said = f'expected owner ARM ID to be for a resource group, but was "{is_}"'
    else:
        wanted = parent
        said = f'expected owner ARM ID to be of type "{parent}", but was "{is_}"'
        provider, provider_is = own.partition("/")[0], is_.partition("/")[0]
        if provider.casefold() != provider_is.casefold():
            said = f'expected owner ARM ID to be from provider "{provider}", but was "{provider_is}"'
    return "" if is_.casefold() == wanted.casefold() else f"{said}."


def _owner_words(kind: Kind) -> str:
    return kind.owner[1] if kind.owner else "resource"


def _target(visit: Visit, group: str, kind: str, catalog: Catalog) -> Iterator[Finding]:
    if catalog.is_arm_kind(group, kind):
        return
    known = catalog.kinds(group)
    field = "kind" if known else "group"
    path = (*visit.path, field)
    if (group, kind) in NOT_ARM:
        hint = "It is not a resource of Azure Resource Manager and has no ARM id."
    elif known:
        close = suggest(kind, known)
        hint = f"Did you mean {close}?" if close else f"Known kinds of {group}: {join_with_or(known)}."
    else:
        hint = suggest_group(group, kind, catalog)
    named = f"group {quote_scalar(group)}, kind {quote_scalar(kind)}"
    message = f"{format_field(visit.path)}: {named} is not an ARM kind that ASO serves."
    yield Finding(code="ReferenceKind", path=path, message=message, hint=hint)

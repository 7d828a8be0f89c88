"""The forms of owners and references, and their targets (docs/reference/reconciliation.md#owner-forms, #references).

Separate from `missing_targets`, which needs all manifests: this needs one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.name_alphabets import BLANKS, find_alphabet
from gitsync.desired.catalog.packed_tables import suggest_role
from gitsync.desired.catalog.spec_visitor import Visit, visit_spec
from gitsync.desired.catalog.type_words import add_article, join_with_and, join_with_or, quote_scalar
from gitsync.desired.catalog.unknown_kind import suggest_group
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.name_rules import LONGEST_SHOWN
from gitsync.model.arm_id import GROUP_TYPE, ArmId
from gitsync.model.facts import Kind, Scope
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.problem import Level

REFERENCES: Final = frozenset({"reference", "wellKnownReference", "azureReference"})
OWNERS: Final = frozenset({"knownOwner", "arbitraryOwner", "azureOwner"})
_OF_AZURE_RESOURCE: Final = frozenset({"azureOwner", "azureReference"})
"""The forms that an AzureResource has: their group may be left out for another one."""

_KEY_FIELDS: Final = ("group", "kind", "name")

ARM_ID: Final = (
    r"((/subscriptions/[^/]+(/resourcegroups/[^/]+)?)?/providers/[^/]+(/[^/]+/[^/]+)+"
    r"|/subscriptions/[^/]+(/resourcegroups/[^/]+)?)"
)
"""The form of an ARM id, in lower case; its words may be in any."""

NEVER_IN_IDS: Final = rf"[<>%&\\?#\x00-\x1f\x7f]|/\.{{1,2}}(/|\Z)|/[{BLANKS}]|[{BLANKS}](/|\Z)"
"""Characters that no resource name has, steps that would change the target of a request, and blanks at either end of a
step.
"""

_ARM_ID = re.compile(ARM_ID, re.IGNORECASE)
_NEVER_IN_IDS = re.compile(NEVER_IN_IDS)
_BLANK_END = re.compile(rf"(?:\A|/)[{BLANKS}]|[{BLANKS}](?:/|\Z)")


def is_arm_id(text: str) -> bool:
    """Return whether a text has the form that ASO admits for `armId`, and can be part of a URL unchanged
    (docs/reference/reconciliation.md#owner-forms).
    """
    return text.startswith("/") and _ARM_ID.fullmatch(text) is not None and _NEVER_IN_IDS.search(text) is None


def list_named_references(kind: Kind, spec: Any, namespace: str) -> Iterator[tuple[FieldPath, Key]]:
    """List every reference of a spec to another manifest, with its path, in the order of the manifest, without
    owners.
    """
    return select_named_references(visit_spec(kind, spec), namespace)


def select_named_references(visits: Iterable[Visit], namespace: str) -> Iterator[tuple[FieldPath, Key]]:
    """Find every reference to another manifest in a spec that was visited already."""
    for visit in visits:
        if visit.name in REFERENCES and visit.fits:
            key = _read_key(visit, namespace)
            if key is not None:
                yield visit.path, key


def add_group(reference: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the owner or a reference of an AzureResource with its group, which may be left out for another one."""
    is_short = reference.get("kind") == AZURE_RESOURCE[1] and not reference.get("group")
    return {**reference, "group": AZURE_RESOURCE[0]} if is_short else reference


def check_reference(visit: Visit, kind: Kind, catalog: Catalog, unknown: Level = Level.ERROR) -> Iterator[Finding]:
    """Check one owner or reference that is a mapping of strings. `unknown` is the level of an unknown field."""
    fields = visit.fields
    texts = {name: value for name, value in visit.value.items() if value and name in fields and isinstance(value, str)}
    if visit.name in _OF_AZURE_RESOURCE:
        texts = {**add_group(texts)}
    # An empty name counts as absent, but the pattern of armId in the schema takes no empty text.
    if texts and visit.value.get("armId") == "":
        path = (*visit.path, "armId")
        message = f"{format_field(path)} is an empty text, which is not an ARM id."
        yield Finding(code="ArmIdForm", path=path, message=message, hint="Remove it.")
    if "wellKnownName" in texts:  # it wins over all other members, as in ASO
        yield from _check_role_name(visit, texts["wellKnownName"])
        yield from _check_only_member(visit, texts)
        return
    # A member that is not a text is a problem of its own, and not missing.
    if all(value is None or isinstance(value, str) for name, value in visit.value.items() if name in fields):
        yield from _check_form(visit, texts)
    if visit.name == "knownOwner":
        yield from _check_spare_fields(visit, kind, unknown)
    if "armId" in texts:
        yield from _check_arm_id(visit, ArmId(texts["armId"]), kind)
    elif "kind" in texts and "group" in texts:
        yield from _check_target(visit, texts["group"], texts["kind"], catalog)


def _check_role_name(visit: Visit, name: str) -> Iterator[Finding]:
    """Warn of a name that is nearly that of a built-in role. It is not an error, since Azure may have newer roles."""
    if near := suggest_role(name):
        yield Finding(
            code="UnknownRole",
            path=(*visit.path, "wellKnownName"),
            message=f"{quote_scalar(name)} is not a known built-in role.",
            hint=f"Did you mean {near}?",
            level=Level.WARNING,
        )


def _check_only_member(visit: Visit, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Check that a reference by a well-known name has no other members."""
    beside = [name for name in texts if name != "wellKnownName"]
    if beside:
        message = (
            f"{format_field(visit.path)} has wellKnownName, so {join_with_and(beside)} has no effect: "
            "the well-known name wins."
        )
        yield _make_malformed(visit, message, f"Keep either wellKnownName or {join_with_and(beside)}.")


def _read_key(visit: Visit, namespace: str) -> Key | None:
    value: Any = add_group(visit.value) if visit.name in _OF_AZURE_RESOURCE else visit.value
    key_texts = [value.get(name) for name in _KEY_FIELDS]
    # An id or a well-known name wins, and names no manifest.
    if (
        visit.value.get("armId")
        or visit.value.get("wellKnownName")
        or not all(isinstance(s, str) and s for s in key_texts)
    ):
        return None
    group, kind, name = key_texts
    return Key(group, kind, namespace, name)


def _check_form(visit: Visit, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Check that one of the two forms is complete."""
    has_id, missing = "armId" in texts, [name for name in _KEY_FIELDS if name in visit.fields and name not in texts]
    if has_id or missing:
        yield from _check_members(visit, texts, missing)
    if not has_id and is_arm_id(texts.get("name", "")):
        path = (*visit.path, "name")
        message = (
            f"couldn't resolve reference {texts['name']}. 'name' looks like it might be an ARM ID; "
            f"did you mean 'armID: {texts['name']}'?"
        )
        yield Finding(code="NameIsArmId", path=path, message=message, hint="Set armId and remove the other members.")


def _check_members(visit: Visit, texts: Mapping[str, str], missing: Sequence[str]) -> Iterator[Finding]:
    """Check that there is either an ARM id or all members of the other form; `missing` are those that it lacks."""
    required = [name for name in _KEY_FIELDS if name in visit.fields]
    present = [name for name in required if name in texts]
    field, fields = format_field(visit.path), join_with_and(required)
    if "armId" in texts and present:
        yield _make_malformed(
            visit,
            "the 'ARMID' field is mutually exclusive with 'Group', 'Kind', 'Namespace', and 'Name' for "
            f"ResourceReference: {field} has armId and {join_with_and(present)}.",
            f"Keep either armId or {fields}.",
        )
    elif "armId" not in texts and not present:
        well_known = "wellKnownName, " if "wellKnownName" in visit.fields else ""
        yield _make_malformed(
            visit,
            "at least one of ['ARMID'] or ['Group', 'Kind', 'Namespace', 'Name'] must be set for ResourceReference: "
            f"{field} has none.",
            f"Set {fields} of a manifest in this namespace, {well_known}or armId.",
        )
    elif "armId" not in texts:
        lacks = join_with_and(missing)
        yield _make_malformed(
            visit,
            "when referencing a Kubernetes resource, 'Group', 'Kind', 'Namespace', and 'Name' must all be specified "
            f"for ResourceReference: {field} lacks {lacks}.",
            f"Add {lacks}.",
        )


def _make_malformed(visit: Visit, message: str, hint: str) -> Finding:
    is_owner = visit.name in OWNERS
    return Finding(code="OwnerForm" if is_owner else "ReferenceForm", path=visit.path, message=message, hint=hint)


def _check_spare_fields(visit: Visit, kind: Kind, unknown: Level) -> Iterator[Finding]:
    """Check the group and kind of an owner whose kind is fixed: an owner of this form does not have them."""
    for field, expected in zip(("group", "kind"), kind.owner or (), strict=False):
        if field not in visit.value:
            continue
        text = visit.value[field]
        path = (*visit.path, field)
        if text is None or text == expected:
            message = (
                f"{format_field(path)} has no effect, and an API server drops it: "
                f"{add_article(kind.gvk.kind)} is always owned by {add_article(_describe_owner(kind))}."
            )
            yield Finding(code="NoEffect", path=path, message=message, hint=f"Remove {field}.", level=unknown)
        else:
            message = (
                f"{format_field(path)} must be {expected}: "
                f"{add_article(kind.gvk.kind)} is always owned by {add_article(_describe_owner(kind))}."
            )
            yield Finding(code="OwnerKind", path=path, message=message, hint=f"Remove {field}, or name another owner.")


def _check_arm_id(visit: Visit, arm_id: ArmId, kind: Kind) -> Iterator[Finding]:
    path = (*visit.path, "armId")
    if visit.name == "azureOwner" and not arm_id.key:
        return  # "/", the tenant
    if not is_arm_id(arm_id):
        yield Finding(
            code="ArmIdForm",
            path=path,
            message=f"{format_field(path)} is not an ARM id{_explain_ends(arm_id)}: "
            f"{quote_scalar(arm_id, LONGEST_SHOWN)}.",
            hint="Write /subscriptions/…/resourceGroups/…, and /providers/… with pairs of type and name where it is a "
            "resource.",
        )
    elif fault := find_fault_of_names(arm_id):
        yield Finding(
            code="ArmIdForm",
            path=path,
            message=f"{format_field(path)} is not the id of a resource: {fault}.",
            hint="Correct the name in the id.",
        )
    elif visit.name == "knownOwner":
        yield from check_owner_type(arm_id.arm_type, kind, path)


def _explain_ends(arm_id: str) -> str:
    """Return what is wrong with the ends of an id or of its steps, to follow "is not an ARM id"; "" if nothing."""
    if _BLANK_END.search(arm_id):
        return ", since a part of it starts or ends with a blank"
    return ", since it ends with a slash" if arm_id.endswith("/") else ""


def find_fault_of_names(arm_id: ArmId) -> str:
    """Find what is wrong with the name of the group or of the resource in an ARM id, by the rules of its type; "" if
    nothing is.
    """
    names = {GROUP_TYPE: arm_id.resource_group or "", arm_id.arm_type: arm_id.name}
    for arm_type, name in names.items():
        alphabet = find_alphabet(arm_type) if name else None
        for fault in alphabet.list_faults(name.lower()) if alphabet else ():  # ids have no case
            return f"the name of a {arm_type} {fault}, but is {quote_scalar(name, LONGEST_SHOWN)}"
    return ""


def check_owner_type(actual: str, kind: Kind, path: FieldPath) -> Iterator[Finding]:
    """Check the ARM type of an owner whose id is at a path."""
    # Only in a resource group does the type of a resource say of what type its owner is.
    fault = _explain_owner_type(actual, kind.arm_type) if kind.scope is Scope.RESOURCE_GROUP else ""
    if fault:
        hint = f"Set the id of the {_describe_owner(kind)} that owns this {kind.gvk.kind}."
        yield Finding(code="OwnerType", path=path, message=fault, hint=hint)


def _explain_owner_type(actual: str, kind_type: str) -> str:
    """Return why the type of an owner's ARM id is wrong; "" if it is right
    (docs/reference/reconciliation.md#owner-type).
    """
    parent = kind_type.rpartition("/")[0]
    if "/" not in parent:
        expected = GROUP_TYPE
        fault = f'expected owner ARM ID to be for a resource group, but was "{actual}"'
    else:
        expected = parent
        fault = f'expected owner ARM ID to be of type "{parent}", but was "{actual}"'
        provider, actual_provider = kind_type.partition("/")[0], actual.partition("/")[0]
        if provider.casefold() != actual_provider.casefold():
            fault = f'expected owner ARM ID to be from provider "{provider}", but was "{actual_provider}"'
    return "" if actual.casefold() == expected.casefold() else f"{fault}."


def _describe_owner(kind: Kind) -> str:
    return kind.owner[1] if kind.owner else "resource"


def _check_target(visit: Visit, group: str, kind: str, catalog: Catalog) -> Iterator[Finding]:
    if catalog.is_arm_kind(group, kind):
        return
    kinds = catalog.kinds(group)
    field = "kind" if kinds else "group"
    path = (*visit.path, field)
    if catalog.has_kind(group, kind):
        hint = "It is not a resource of Azure Resource Manager and has no ARM id: name another resource."
    elif kinds:
        close = suggest(kind, kinds)
        hint = f"Did you mean {close}?" if close else f"Known kinds of {group}: {join_with_or(kinds)}."
    else:
        hint = suggest_group(group, kind, catalog)
    target = f"group {quote_scalar(group)}, kind {quote_scalar(kind)}"
    message = f"{format_field(visit.path)}: {target} is not an ARM kind that ASO serves."
    yield Finding(code="ReferenceKind", path=path, message=message, hint=hint)

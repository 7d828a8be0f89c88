"""The rules for names of resources, in the manifest and in Azure (docs/reference/reconciliation.md#azure-names,
docs/reference/arm.md#names-of-resources).

The rules for Azure's name hold for a name that defaults to metadata.name as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from gitsync.desired.catalog.any_type import list_fixed_names
from gitsync.desired.catalog.name_alphabets import BLANKS, Alphabet, find_alphabet
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.constraints import ValueLimits, keeps_limits, list_violations, select_limits
from gitsync.model.arm_id import GROUP_TYPE
from gitsync.model.facts import Kind, Scope
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_UUID_NAMED: Final = frozenset(
    {
        ("authorization.azure.com", "RoleAssignment"),
        ("authorization.azure.com", "RoleDefinition"),
        ("documentdb.azure.com", "SqlRoleAssignment"),
    }
)

LONGEST_NAME: Final = 260
_LONGEST_GROUP, _LONGEST_LABEL, _LONGEST_OBJECT = 90, 63, 253
_GROUP_TYPE: Final = GROUP_TYPE.casefold()
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NEVER_IN_NAMES: Final = r"<>%&\\?/#\x00-\x1f\x7f"
"""ARM's contract forbids `:` as well, but real names have it: keys of App Configuration."""

LONGEST_SHOWN: Final = 300
"""Characters of a name or an id that a message quotes: more than nearly all have, so that the faulty part shows."""

_VARIABLE = re.compile(r"\$[A-Za-z_{]")
_NEVER = re.compile(f"[{NEVER_IN_NAMES}]")
_BLANK_END = re.compile(rf"\A[{BLANKS}]|[{BLANKS}]\Z")


def is_uuid_named(kind: Kind) -> bool:
    """Return whether the name is derived if the manifest has none (docs/reference/reconciliation.md#uuid-names)."""
    return kind.rule_key in _UUID_NAMED


def find_azure_name(resource: Resource, kind: Kind) -> tuple[FieldPath, str] | None:
    """Find the field of a manifest with its Azure name, and that name; None if it is fixed, derived, or in a config
    map.
    """
    if kind.fixed_azure_name is not None:
        return None
    azure_name: Any = resource.spec.get("azureName")
    if azure_name:
        return (("spec", "azureName"), azure_name) if isinstance(azure_name, str) else None
    if resource.spec.get("azureNameFromConfig") or is_uuid_named(kind):  # the name comes from a run, or from the owner
        return None
    return ("metadata", "name"), choose_default_name(resource, kind)


def choose_default_name(resource: Resource, kind: Kind) -> str:
    """Choose the name in Azure of a manifest without one: its own name, or the only one that its type has."""
    names = list_fixed_names(kind.arm_type, kind.api_version) if kind.is_any_type else ()
    return names[0] if len(names) == 1 else resource.key.name


def is_one_segment(name: str) -> bool:
    """Return whether a name is one segment of an ARM id: a name with a slash would change the id, and one with a blank
    at an end names nothing.
    """
    return not (_NEVER.search(name) or _BLANK_END.search(name)) and name not in {".", ".."}


def check_names(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the manifest's own name and namespace, and the name in Azure."""
    yield from check_object_name(resource)
    if resource.spec.get("azureName") and resource.spec.get("azureNameFromConfig"):
        yield Finding(
            code="BothOfPair",
            path=("spec", "azureNameFromConfig"),
            message="spec.azureNameFromConfig has no effect if spec.azureName is set.",
            hint="Remove one of the two.",
            level=Level.WARNING,
        )
    # Other providers have rules of their own for names.
    path_and_name = find_azure_name(resource, kind) if kind.is_arm else None
    if path_and_name is None:
        return
    path, name = path_and_name
    for fault in list_name_faults(name, kind):
        message = f"{format_field(path)} is the name in Azure and {fault}."
        hint = "" if path[0] == "spec" else "Set spec.azureName to a valid Azure name, or rename the manifest."
        if _VARIABLE.search(name):  # the name would be right once the variable is replaced
            hint = "If it has a variable, set `variables: envsubst` for the unit in gitsync.yaml."
        yield Finding(code="AzureName", path=path, message=message, hint=hint)


def check_object_name(resource: Resource) -> Iterator[Finding]:
    """Check metadata.name and metadata.namespace as an API server does."""
    name, namespace = resource.key.name, resource.key.namespace
    if not _OBJECT.fullmatch(name) or len(name) > _LONGEST_OBJECT:
        yield Finding(
            code="ObjectName",
            path=("metadata", "name"),
            message=f"metadata.name must consist of lower-case letters, digits, `-` and `.`, {_LONGEST_OBJECT} "
            f"characters at most, but is {quote_scalar(name)}.",
            hint="Rename the manifest, and keep the Azure name in spec.azureName.",
        )
    if not _LABEL.fullmatch(namespace) or len(namespace) > _LONGEST_LABEL:
        yield Finding(
            code="ObjectName",
            path=("metadata", "namespace"),
            message=f"metadata.namespace must consist of lower-case letters, digits and `-`, {_LONGEST_LABEL} "
            f"characters at most, but is {quote_scalar(namespace)}.",
            hint="Choose another namespace.",
        )


def list_name_faults(name: str, kind: Kind) -> Iterator[str]:
    """Explain how a name in Azure breaks the rules of its kind, each as the end of a sentence."""
    # Reported alone, since a blank breaks most of the other rules too.
    if _BLANK_END.search(name):
        yield f"must not start or end with a blank, but is {quote_scalar(name, LONGEST_SHOWN)}"
        return
    if kind.is_any_type:  # the last step is the name of the resource itself
        *above, name = name.split("/")
        yield from (fault for step in above for fault in _list_general_faults(step, kind))
        if not all((*above, name)):
            yield f"must not have an empty step, but is {quote_scalar(name, LONGEST_SHOWN)}"
    faults = [*_list_general_faults(name, kind)]
    # What breaks a general rule breaks most alphabets too: one fault is enough.
    if not faults and (alphabet := _find_alphabet(kind)):
        faults = [f"{fault}, but is {quote_scalar(name, LONGEST_SHOWN)}" for fault in alphabet.list_faults(name)]
    yield from faults


def _list_general_faults(name: str, kind: Kind) -> Iterator[str]:
    """List what breaks the facts of the kind, and the rules for all names."""
    if not keeps_limits(name, _find_limits(kind)):  # a quick look: nearly all names are valid
        yield from (fault for _, fault in list_violations(name, kind.azure_name))
    if len(name) > LONGEST_NAME:
        yield f"must have at most {LONGEST_NAME} characters, but has {len(name)}"
    if _NEVER.search(name):
        yield rf"must not have any of < > % & \ ? / # or control characters, but is {quote_scalar(name, LONGEST_SHOWN)}"
    if name in {".", ".."}:
        yield "must not consist of dots only"
    if kind.scope is Scope.LOCATION and (not kind.is_any_type or kind.arm_type.casefold() == _GROUP_TYPE):
        if len(name) > _LONGEST_GROUP:
            yield f"must have at most {_LONGEST_GROUP} characters for a resource group, but has {len(name)}"
        if name.endswith("."):
            yield "must not end with a dot for a resource group"


@cache
def _find_limits(kind: Kind) -> ValueLimits:
    return select_limits(kind.azure_name, "")


@cache
def _find_alphabet(kind: Kind) -> Alphabet | None:
    return find_alphabet(kind.arm_type)


# Rules for the names of single kinds, beyond their constraints (docs/reference/reconciliation.md#validation-rules).


_MANAGED_DOMAIN = "AzureManagedDomain"


def check_kind_rules(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the rules of this kind; most kinds have none."""
    rule = _RULES.get(kind.rule_key)
    if rule is not None:
        yield from rule(resource, kind)


def _check_domain(resource: Resource, kind: Kind) -> Iterator[Finding]:
    if resource.spec.get("domainManagement") == "AzureManaged":
        yield from _check_azure_name(resource, kind, _MANAGED_DOMAIN, "a domain whose domainManagement is AzureManaged")


def _check_sender(resource: Resource, kind: Kind) -> Iterator[Finding]:
    username = resource.spec.get("username")
    if isinstance(username, str):
        yield from _check_azure_name(resource, kind, username, "a sender with this spec.username")


def _check_azure_name(resource: Resource, kind: Kind, required_name: str, description: str) -> Iterator[Finding]:
    path_and_name = find_azure_name(resource, kind)
    if path_and_name is None or path_and_name[1].casefold() == required_name.casefold():
        return
    path, name = path_and_name
    yield Finding(
        code="AzureName",
        path=path,
        message=f"The name in Azure of {description} must be {quote_scalar(required_name)}, "
        f"but is {quote_scalar(name)}.",
        hint=f"Set spec.azureName to {required_name}.",
    )


_RULES: Final[Mapping[tuple[str, str], Callable[[Resource, Kind], Iterator[Finding]]]] = {
    ("communication.azure.com", "Domain"): _check_domain,
    ("communication.azure.com", "SenderUsername"): _check_sender,
}

"""The rules for an `AzureResource`: its type and api-version, what gitsync does not write, words in its body, its
owner.

What its body may have, the facts of the type decide (`arm_body`); this checks what the manifest adds to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.any_type import (
    NameSteps,
    TypeAndVersion,
    allows_scope,
    decide_scope_flag,
    list_fixed_names,
    split_name,
)
from gitsync.desired.catalog.arm_types import ArmType, open_arm_types
from gitsync.desired.catalog.body_words import find_word
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.refused_types import SCRIPTS, find_refusal
from gitsync.desired.catalog.type_words import format_short_key, join_with_or, quote_scalar
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.annotations import ALLOW, RUN_SCRIPT
from gitsync.desired.validation.name_rules import find_azure_name
from gitsync.desired.validation.references import is_arm_id
from gitsync.desired.validation.relations import Member
from gitsync.model.arm_id import GROUP_TYPE, ArmId
from gitsync.model.facts import Kind, ScopeFlag
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_TYPE: Final = ("spec", "type")
_OWNER: Final = ("spec", "owner")
_BODY: Final = ("spec", "body")
_FORM: Final = "Write the type and an api-version, such as Microsoft.Logic/workflows@2019-05-01."


def check_type(resource: Resource, unknown: Level) -> Iterator[Finding]:
    """Check the type and its version. `unknown` is the level of a type that the facts do not have."""
    text = resource.spec.get("type")
    if not isinstance(text, str):
        return  # the schema reports it
    wanted = TypeAndVersion.parse(text)
    if wanted is None:
        yield _explain_form(text)
        return
    yield from _check_refused(resource, wanted.arm_type)
    arm_type = open_arm_types().find_type(wanted.arm_type)
    if arm_type is None:
        yield _make_unknown_type(wanted.arm_type, unknown)
    else:
        yield from _check_version(arm_type, wanted.api_version)


def _explain_form(text: str) -> Finding:
    name, separator, _ = text.strip().partition("@")
    arm_type = open_arm_types().find_type(name)
    message = f"spec.type is {quote_scalar(text)}, which has no api-version."
    if separator or "/" not in name:
        message = f"spec.type is {quote_scalar(text)}, which is not an ARM type with an api-version."
    hint = _name_newest(arm_type) if arm_type else _FORM
    return Finding(code="TypeForm", path=_TYPE, message=message, hint=hint or _FORM)


def _name_newest(arm_type: ArmType) -> str:
    """Name the newest versions of a type as an order; "" if none can be written."""
    stable, preview = arm_type.newest_stable, arm_type.newest_preview
    if stable is None:
        return f"Write {arm_type.name}@{preview}, the newest preview; it has no stable version." if preview else ""
    newer = f" The newest preview is {preview}." if preview and preview > stable else ""
    return f"Write {arm_type.name}@{stable}, the newest stable version.{newer}"


def _make_unknown_type(name: str, level: Level) -> Finding:
    close = open_arm_types().suggest_types(name)
    drop = "If Azure has it since, use --unknown-fields warn." if level is Level.ERROR else ""
    return Finding(
        code="UnknownType",
        path=_TYPE,
        message=f"{name} is not a known ARM type.",
        hint=" ".join(filter(None, (f"Did you mean {join_with_or(close)}?" if close else "Fix the type.", drop))),
        level=level,
    )


def _check_version(arm_type: ArmType, api_version: str) -> Iterator[Finding]:
    version = arm_type.find_version(api_version)
    if version is not None and not version.writable:
        newest = _name_newest(arm_type)
        reason = "can only be read" if not newest else f"can only be read at {api_version}"
        yield Finding(
            code="TypeNotWritable",
            path=_TYPE,
            message=f"Resources of {arm_type.name} {reason}: Azure has no request that writes one.",
            hint=newest or "Remove the manifest.",
        )
    # The facts may be older than Azure, which refuses a version that does not exist.
    elif version is None:
        close = suggest(api_version, arm_type.versions)
        hint = f"If it is misspelt: did you mean {close}?" if close else _name_newest(arm_type)
        yield Finding(
            code="TypeNotKnown",
            path=_TYPE,
            message=f"The body is not checked: gitsync has no facts about {arm_type.name} at {api_version}.",
            hint=hint or "Check the version.",
            level=Level.WARNING,
        )


def _check_refused(resource: Resource, arm_type: str) -> Iterator[Finding]:
    if refusal := find_refusal(arm_type):
        message = f"gitsync does not write {arm_type}: {refusal.reason}."
        yield Finding(code="TypeRefused", path=_TYPE, message=message, hint=refusal.hint)
    elif arm_type.casefold() == SCRIPTS and resource.annotations.get(RUN_SCRIPT) != ALLOW:
        yield Finding(
            code="TypeRefused",
            path=_TYPE,
            message=f"A write of {arm_type} runs a script in Azure, with the rights of its identity.",
            hint=f"If that is intended, set the annotation {RUN_SCRIPT}: {ALLOW}.",
        )


def check_body_words(body: Any, path: FieldPath = _BODY) -> Iterator[Finding]:
    """Report a word in place of the body itself, where it stands for no value."""
    if word := find_word(body):
        yield Finding(
            code="WrongType",
            path=(*path, word),
            message=f"{format_field(path)} must be the body, but {word} stands for one value in it.",
            hint=f"Write the members of the body, or ${word} to send a member of this name.",
        )


def check_action(resource: Resource, kind: Kind, unknown: Level) -> Iterator[Finding]:
    """Check the action whose answer expressions have as `secret`. `unknown` is the level of one without facts."""
    action = find_member(resource.spec, "operatorSpec", "secretAction")
    if not isinstance(action, str):
        return
    path = ("spec", "operatorSpec", "secretAction")
    # The action is called in each run, a silent one too.
    if not _READS.fullmatch(action):
        yield Finding(
            code="SecretAction",
            path=path,
            message=f"{format_field(path)} is {quote_scalar(action)}, which may change the resource.",
            hint="Name an action whose name starts with list or get, such as listKeys.",
        )
        return
    arm_type = open_arm_types().find_type(kind.arm_type)
    version = arm_type.find_version(kind.api_version) if arm_type else None
    # A version without facts may have any action.
    if version is None or action.casefold() in {name.casefold() for name in version.actions}:
        return
    close = suggest(action, version.actions)
    yield Finding(
        code="SecretAction",
        path=path,
        message=f"{kind.arm_type} has no action {action} at {kind.api_version}.",
        hint=f"Did you mean {close}?" if close else "If Azure has it, use --unknown-fields warn.",
        level=unknown,
    )


def check_any_owners(members: Sequence[Member], catalog: Catalog) -> Iterator[tuple[Member, Finding]]:
    """Check the owner of every AzureResource: that it has one if it needs one, and of which type that is."""
    kinds: dict[Any, Kind | None] = {}
    for member in members:
        if member.kind is None or not member.kind.is_any_type:
            continue
        # Made once, and only in a source that has such a manifest.
        kinds = kinds or {other.key: other.kind for other in members}
        if (finding := _check_owner(member, member.kind, kinds, catalog)) is not None:
            yield member, finding


def _check_owner(member: Member, kind: Kind, kinds: Mapping[Any, Kind | None], catalog: Catalog) -> Finding | None:
    found = find_azure_name(member.resource, kind)
    # A name that is derived, or comes from a config map, has one step.
    steps = split_name(kind.arm_type, found[1] if found else "derived")
    if steps is None:
        return _make_long_name(found, kind) if found else None
    owner = member.owner
    if owner is None:
        is_absent = not member.resource.spec.get("owner")
        is_missing = is_absent and kind.needs_owner
        return _make_wrong(kind, steps, "spec.owner is required", catalog) if is_missing else None
    if owner.arm_id is not None:
        is_wrong = owner.arm_id.key != "" and not is_arm_id(owner.arm_id.rstrip("/"))
        fault = "" if is_wrong else _explain_id(kind, steps, owner.arm_id)
        return _make_wrong(kind, steps, fault, catalog, code="OwnerType") if fault else None
    if owner.key is None:
        return None
    of_owner = kinds.get(owner.key)
    owner_type = of_owner.arm_type if of_owner else catalog.arm_type(owner.key.group, owner.key.kind)
    # An owner with an unknown kind has a problem of its own.
    if not owner_type or _fits_type(kind, steps, owner_type):
        return None
    fault = f"spec.owner is {format_short_key(owner.key)}, a {owner_type}"
    return _make_wrong(kind, steps, fault, catalog, code="OwnerType")


def _explain_id(kind: Kind, steps: NameSteps, arm_id: ArmId) -> str:
    """Return what an owner's id is instead of the right one; "" if it is right."""
    root = ArmId(arm_id.rstrip("/"))
    if steps.owner_type:
        is_right = bool(root.key) and root.arm_type.casefold() == steps.owner_type.casefold()
    else:
        is_right = allows_scope(kind, decide_scope_flag(root))
    what = root.arm_type if "/providers/" in root.key else _SCOPES[decide_scope_flag(root)][0]
    return "" if is_right else f"spec.owner.armId is that of {what}"


def _fits_type(kind: Kind, steps: NameSteps, owner_type: str) -> bool:
    if steps.owner_type:
        return owner_type.casefold() == steps.owner_type.casefold()
    return allows_scope(kind, _SCOPE_TYPES.get(owner_type.casefold(), ScopeFlag.EXTENSION))


def _make_wrong(kind: Kind, steps: NameSteps, fault: str, catalog: Catalog, *, code: str = "MissingField") -> Finding:
    expected, hint = describe_any_owner(kind, steps, catalog)
    message = f"{fault}: {kind.arm_type} belongs to {expected}."
    return Finding(code=code, path=_OWNER, message=message, hint=hint)


def describe_any_owner(kind: Kind, steps: NameSteps, catalog: Catalog) -> tuple[str, str]:
    """Describe the right owner of a resource, with the order to name it."""
    if steps.owner_type:
        group_kind = catalog.group_kind_of(steps.owner_type)
        own = f"{group_kind[1]} of {group_kind[0]} or an AzureResource of this type" if group_kind else "AzureResource"
        return f"a {steps.owner_type}", f"Name it by group, kind and name ({own}), or by armId."
    flags = [flag for flag in _SCOPES if flag in kind.writable]
    if not flags or ScopeFlag.EXTENSION in flags:
        return "any resource or scope", "Name a manifest by group, kind and name, or set armId to the id of the scope."
    return (
        join_with_or([_SCOPES[flag][0] for flag in flags]),
        f"Set owner to {join_with_or([_SCOPES[flag][1] for flag in flags])}.",
    )


def check_any_name(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the name of a resource whose type has names of its own."""
    found, names = find_azure_name(resource, kind), list_fixed_names(kind.arm_type, kind.api_version)
    if not found or not names or found[1].rpartition("/")[2].casefold() in {name.casefold() for name in names}:
        return
    path, name = found
    close = suggest(name, names)
    yield Finding(
        code="AzureName",
        path=path,
        message=f"{format_field(path)} is the name in Azure, which is {join_with_or(names)} for a {kind.arm_type}, "
        f"but is {quote_scalar(name)}.",
        hint=f"Did you mean {close}?" if close else f"Set spec.azureName to {join_with_or(names)}.",
    )


def _make_long_name(found: tuple[FieldPath, str], kind: Kind) -> Finding:
    path, name = found
    count = kind.arm_type.count("/")
    return Finding(
        code="AzureName",
        path=path,
        message=f"{format_field(path)} is {quote_scalar(name)}, with {name.count('/') + 1} steps, and {kind.arm_type} "
        f"has {count}.",
        hint="Name the resource itself, and its parent with spec.owner.",
    )


_READS: Final = re.compile(r"(?:list|get)[A-Za-z0-9]*", re.IGNORECASE)
"""Actions that only return something: others would be called in each run."""

_SCOPES: Final[Mapping[ScopeFlag, tuple[str, str]]] = {
    ScopeFlag.RESOURCE_GROUP: (
        "a resource group",
        "{group: resources.azure.com, kind: ResourceGroup, name: …} or {armId: /subscriptions/…/resourceGroups/…}",
    ),
    ScopeFlag.SUBSCRIPTION: ("a subscription", "{armId: /subscriptions/…}"),
    ScopeFlag.MANAGEMENT_GROUP: (
        "a management group",
        "{armId: /providers/Microsoft.Management/managementGroups/…}",
    ),
    ScopeFlag.TENANT: ("the tenant", "{armId: /}"),
    ScopeFlag.EXTENSION: ("a resource", "its id"),
}
"""In words, and as `spec.owner`."""

_SCOPE_TYPES: Final[Mapping[str, ScopeFlag]] = {
    GROUP_TYPE.casefold(): ScopeFlag.RESOURCE_GROUP,
    "microsoft.management/managementgroups": ScopeFlag.MANAGEMENT_GROUP,
    "microsoft.subscription/aliases": ScopeFlag.SUBSCRIPTION,
    "microsoft.resources/subscriptions": ScopeFlag.SUBSCRIPTION,
}
"""What a resource of a type is as a scope; all others are resources."""

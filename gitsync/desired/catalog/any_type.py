"""The kind `AzureResource`, whose manifests name an ARM type and its api-version: one `Kind` for each of them.

Its fields are the same for every type. What a type adds follows from ARM's facts about it: its scopes, and so which
owner it needs. What ASO's kind of the same type has (operations, lists) holds for it too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.model.arm_id import GROUP_TYPE, ArmId
from gitsync.model.facts import NO_SCOPE, Field, Kind, Scope, ScopeFlag, TypeFacts
from gitsync.model.gvk import AZURE_RESOURCE, GVK
from gitsync.model.record import Record

VERSION: Final = "v1"
_GVK: Final = GVK(AZURE_RESOURCE[0], VERSION, AZURE_RESOURCE[1])

_TEXT: Final[Field] = {"type": "string", "meta": True}
_EXPRESSIONS: Final[Field] = {"type": {"list": "destinationExpression"}}

TYPES: Final[Mapping[str, TypeFacts]] = {
    "AzureResource_Spec": {
        "fields": {
            "azureName": _TEXT,
            "body": {"type": "armBody", "meta": True},
            "operatorSpec": {"type": {"ref": "AzureResourceOperatorSpec"}},
            "owner": {"type": "azureOwner", "meta": True},
            "type": {"type": "string", "meta": True, "required": True},
        }
    },
    "AzureResourceOperatorSpec": {
        "fields": {
            "configMapExpressions": _EXPRESSIONS,
            "secretAction": {"type": "string"},
            "secretExpressions": _EXPRESSIONS,
        }
    },
    "AzureResource_STATUS": {"fields": {"conditions": {"meta": True, "type": {"list": "condition"}}}},
}

BASE: Final = Kind(
    gvk=_GVK,
    arm_type="",
    api_version="",
    scope=Scope.EXTENSION,
    operations=frozenset({"Delete", "Get", "Head", "Put"}),
    owner=None,
    any_owner=True,
    fixed_azure_name=None,
    azure_name={},
    spec="AzureResource_Spec",
    status="AzureResource_STATUS",
    config_maps={},
    types=TYPES,
    legacy=False,
)
"""The kind without a type: what all of them have."""

_TYPE_AND_VERSION: Final = re.compile(
    r"(?P<type>[A-Za-z][\w-]*(?:\.[\w-]+)+(?:/[A-Za-z][\w.-]*)+)@(?P<version>\d{4}-\d{2}-\d{2}(?:-[A-Za-z][\w.-]*)?)"
)


class TypeAndVersion(NamedTuple):
    """An ARM type at one of its api-versions, as a manifest or a record has them."""

    arm_type: str
    api_version: str

    @classmethod
    def parse(cls, text: Any) -> TypeAndVersion | None:
        """Parse `Microsoft.Logic/workflows@2019-05-01`; None if it has another form."""
        return _parse_type(text) if isinstance(text, str) else None

    @classmethod
    def of_record(cls, record: Record) -> TypeAndVersion:
        return cls(record.arm_id.arm_type, record.arm_api_version)


@lru_cache(maxsize=1024)  # a source has many resources of few types
def _parse_type(text: str) -> TypeAndVersion | None:
    match = _TYPE_AND_VERSION.fullmatch(text)
    return TypeAndVersion(match["type"], match["version"]) if match else None


def make_kind(wanted: TypeAndVersion, counterpart: Kind | None) -> Kind:
    """Make the kind of a type at a version. `counterpart` is ASO's kind of the type, at any version."""
    arm_type, writable = _find_facts(wanted)
    return replace(
        BASE,
        arm_type=arm_type,
        api_version=wanted.api_version,
        scope=_choose_scope(arm_type, writable),
        # ARM's facts do not state which operations a type has, and ASO's do.
        operations=counterpart.operations if counterpart else _list_operations(wanted),
        lists=counterpart.lists if counterpart else BASE.lists,
        writable=writable,
        counterpart=(counterpart.gvk.group, counterpart.gvk.kind) if counterpart else None,
    )


def _list_operations(wanted: TypeAndVersion) -> frozenset[str]:
    """List the operations of a type without an ASO kind. What has a name of its own, such as `default`, exists as
    long as its parent: Azure refuses to delete it, or resets it.
    """
    return BASE.operations - {"Delete"} if list_fixed_names(*wanted) else BASE.operations


def _find_facts(wanted: TypeAndVersion) -> tuple[str, ScopeFlag]:
    """Find the name of a type as Azure spells it, and its scopes: those of the newest version that can be written, if
    the facts do not have this one. A type that they do not have may be anywhere.
    """
    arm_type = open_arm_types().find_type(wanted.arm_type)
    if arm_type is None:
        return wanted.arm_type, NO_SCOPE
    newest = arm_type.newest_stable or arm_type.newest_preview
    version = arm_type.find_version(wanted.api_version) or (arm_type.find_version(newest) if newest else None)
    return arm_type.name, version.writable if version else NO_SCOPE


def _choose_scope(arm_type: str, writable: ScopeFlag) -> Scope:
    """Choose the scope by which ids are made and lists are found. A child extends the id of its parent."""
    if arm_type.casefold() == GROUP_TYPE.casefold() or (
        writable == ScopeFlag.SUBSCRIPTION and arm_type.count("/") == 1
    ):
        return Scope.LOCATION
    if arm_type.count("/") > 1 or writable == ScopeFlag.RESOURCE_GROUP:
        return Scope.RESOURCE_GROUP
    return Scope.TENANT if writable == ScopeFlag.TENANT else Scope.EXTENSION


def list_sent_members(kind: Kind, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the members of a spec by the names that ASO has, with those of `properties` beside the others."""
    if not kind.is_any_type:
        return spec
    body = spec.get("body")
    members = body if isinstance(body, Mapping) else {}
    properties = members.get("properties")
    return {**properties, **members} if isinstance(properties, Mapping) else members


@cache
def list_fixed_names(arm_type: str, api_version: str) -> tuple[str, ...]:
    """The only names that resources of a type can have, such as `default`; none if names are free, or not known."""
    body = open_arm_types().find_body(arm_type, api_version)
    if body is None:
        return ()
    # The source has these types as variants that the name decides, so the variants are all names that exist.
    if body.by == "name":
        return tuple(body.variant_names)
    name = body.find_member("name")
    return tuple(name.type.choices) if name and name.type.shape == "choice" else ()


class NameSteps(NamedTuple):
    """How a name continues the id of an owner."""

    owner_type: str  # the ARM type of the owner, "" if that is a scope or, for an extension, any resource
    path: str  # what follows the owner's id


def split_name(arm_type: str, name: str) -> NameSteps | None:
    """Split the type by the steps of a name: the last steps of both belong together. None if the name has more."""
    provider, *types = arm_type.split("/")
    names = name.split("/")
    if len(names) > len(types):
        return None
    parents, own = types[: -len(names)], types[-len(names) :]
    steps = "".join(f"/{step}/{text}" for step, text in zip(own, names, strict=True))
    if arm_type.casefold() == GROUP_TYPE.casefold():
        return NameSteps("", steps)
    return (
        NameSteps("/".join((provider, *parents)), steps) if parents else NameSteps("", f"/providers/{provider}{steps}")
    )


def decide_scope_flag(scope: ArmId) -> ScopeFlag:
    """Find what an id is as a scope; the tenant is "/" or ""."""
    key = scope.key
    if not key:
        return ScopeFlag.TENANT
    # A longer id is that of a resource below the group, which is a scope for extensions only.
    if key.startswith("/providers/microsoft.management/managementgroups/") and key.count("/") == _GROUP_STEPS:
        return ScopeFlag.MANAGEMENT_GROUP
    if "/providers/" in key:
        return ScopeFlag.EXTENSION
    return ScopeFlag.RESOURCE_GROUP if scope.resource_group else ScopeFlag.SUBSCRIPTION


@cache  # operations of flags take as long as many other checks of a resource together
def allows_scope(kind: Kind, scope: ScopeFlag) -> bool:
    """Return whether a resource of a type may be in a scope: an extension may be anywhere, and so what is not known."""
    return not kind.writable or bool(kind.writable & (ScopeFlag.EXTENSION | scope))


_GROUP_STEPS: Final = 4  # slashes in the id of a management group

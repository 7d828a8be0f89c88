"""The shapes of the catalog's facts about a kind (docs/reference/catalog.md#fields).

Facts stay the plain mappings that they are packed as: a kind has hundreds of fields, and most are never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import Any, Final, TypedDict

from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE, GVK
from gitsync.model.provider import Provider

FieldType = str | Mapping[str, Any]
"""A name ("string", "reference", …) or one of {"ref": T}, {"list": F}, {"map": F}, {"enum": […]}, {"base": …}."""


class Field(TypedDict, total=False):
    """One member of a type, as the facts state it (docs/reference/catalog.md#fields). Absent members have no effect.

    Flat, as it is packed: there are hundreds of thousands, and a part would be one more object for each.
    """

    type: FieldType
    arm: str  # path in the ARM body, by segments; without it the value is never sent
    mode: str  # what is sent for a reference, a secret, a ConfigMap or an identity map, if that is not the value itself
    meta: bool  # the owner and the like, which are not part of the body
    required: bool  # a manifest without it is invalid
    whenEmpty: str  # what ASO sends for nothing: "null", "empty" for an empty collection, or "kept"
    default: Any  # stands for an absent value
    signsIn: bool  # needed to sign in to the server: sent, but neither compared nor recorded
    optionalConfigMapPair: str  # two members with the same text here give one value: by itself, or from a ConfigMap
    pattern: str  # of RE2; it may match anywhere in the text
    minimum: float
    maximum: float
    minLength: int  # in characters, as `maxLength`
    maxLength: int
    minItems: int  # of a list, as `maxItems`
    maxItems: int
    multipleOf: float


class TypeFacts(TypedDict, total=False):
    """A type: its members by their name in the manifest; for a union, which member each discriminator value selects."""

    fields: Mapping[str, Field]  # its members, by their name in the manifest
    oneOf: bool  # a union: one member has a value
    discriminator: str  # the member of the body that names which
    values: Mapping[str, str]  # the member that each value of the discriminator selects


class Scope(StrEnum):
    RESOURCE_GROUP = "ResourceGroup"
    LOCATION = "Location"
    EXTENSION = "Extension"
    TENANT = "Tenant"


class ScopeFlag(IntFlag):
    """The scopes at which a type can be written, as the types of ARM state them. A sum."""

    TENANT = 1
    MANAGEMENT_GROUP = 2
    SUBSCRIPTION = 4
    RESOURCE_GROUP = 8
    EXTENSION = 16


NO_SCOPE: Final = ScopeFlag(0)


class ListLevel(StrEnum):
    """Where the resources of a type can be listed. `SCOPE` is the resource or container that an extension extends."""

    PARENT = "parent"
    SCOPE = "scope"
    GROUP = "group"
    SUBSCRIPTION = "subscription"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One kind at one version: its ARM type and its fields.

    The catalog makes one object of each, so a kind equals only itself, and can be the key of a cache. Flat, as the
    packed facts are.
    """

    gvk: GVK  # as the manifest spells the version
    arm_type: str  # "Microsoft.Kusto/clusters/databases"
    api_version: str  # ARM's
    scope: Scope
    operations: frozenset[str]  # of Get, Head, Put, Delete
    owner: tuple[str, str] | None  # (group, kind) that an owner must have; None for any or none
    any_owner: bool  # an extension kind: the manifest names group and kind
    fixed_azure_name: str | None  # the only name that the resource can have, such as `default`; None for a free name
    azure_name: Mapping[str, Any]  # minLength, maxLength, pattern of a free name
    spec: str  # names of types
    status: str
    config_maps: Mapping[str, str]  # field of operatorSpec.configMaps → path in status
    types: Mapping[str, TypeFacts]
    legacy: bool  # spelled v1api…: ASO derives the UUIDs of some names differently there
    lists: frozenset[ListLevel] = frozenset()  # where public SDKs list the type; empty if unknown
    provider: Provider = Provider.ARM
    writable: ScopeFlag = NO_SCOPE  # of an AzureResource: where its type can be written; 0 if that is not known
    counterpart: tuple[str, str] | None = None  # of an AzureResource: ASO's (group, kind) of its type, None without one

    @property
    def is_any_type(self) -> bool:
        """Return whether the manifest names the type, and has the body as ARM does."""
        return self.gvk.group == AZURE_GROUP and self.gvk.kind == AZURE_RESOURCE[1]

    @property
    def rule_key(self) -> tuple[str, str]:
        """The (group, kind) under which the rules of the type are registered, whichever kind declares a resource."""
        return self.counterpart or (self.gvk.group, self.gvk.kind)

    @property
    def is_arm(self) -> bool:
        return self.provider is Provider.ARM

    @property
    def owner_is_named(self) -> bool:
        """Return whether an owner must be named: its ARM id would not identify its manifest."""
        owner = self.types[self.spec]["fields"].get("owner")
        return owner is not None and owner["type"] == "namedOwner"

    @property
    def has_owner(self) -> bool:
        return self.any_owner or self.owner is not None

    @property
    def needs_owner(self) -> bool:
        """Return whether a manifest must have an owner: an AzureResource need not where its type leaves no choice."""
        leaves_no_choice = self.is_any_type and self.scope in {Scope.TENANT, Scope.LOCATION}
        return self.has_owner and not leaves_no_choice

    @property
    def can_delete(self) -> bool:
        return "Delete" in self.operations

    @property
    def can_get(self) -> bool:
        return "Get" in self.operations

"""What the catalog has of a kind: the shapes of the facts (docs/reference/catalog.md#fields).

Facts stay the plain mappings that they are packed as: a kind has hundreds of fields, and most are never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypedDict

from gitsync.model.gvk import GVK
from gitsync.model.provider import Provider

FieldType = str | Mapping[str, Any]
"""A name ("string", "reference", …) or one of {"ref": T}, {"list": F}, {"map": F}, {"enum": […]}, {"base": …}."""


class Field(TypedDict, total=False):
    """One field of a type, as the facts state it."""

    type: FieldType
    arm: str
    mode: str
    meta: bool
    required: bool
    whenEmpty: str
    default: Any
    signsIn: bool
    optionalConfigMapPair: str
    pattern: str
    minimum: float
    maximum: float
    minLength: int
    maxLength: int
    minItems: int
    maxItems: int
    multipleOf: float


class TypeFacts(TypedDict, total=False):
    """A type: its fields by their name in the manifest; for a union, which field each discriminator value selects."""

    fields: Mapping[str, Field]
    oneOf: bool
    discriminator: str
    values: Mapping[str, str]


class Scope(StrEnum):
    RESOURCE_GROUP = "ResourceGroup"
    LOCATION = "Location"
    EXTENSION = "Extension"
    TENANT = "Tenant"


class ListLevel(StrEnum):
    """Where a list of a type may be queried for. `SCOPE` is the resource or container that an extension extends."""

    PARENT = "parent"
    SCOPE = "scope"
    GROUP = "group"
    SUBSCRIPTION = "subscription"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One kind at one version: its location in ARM and its fields.

    The catalog makes one of each, so a kind equals itself alone, and what follows from it may be looked up by it.
    """

    gvk: GVK  # as the manifest spells the version
    arm_type: str  # "Microsoft.Kusto/clusters/databases"
    api_version: str  # ARM's
    scope: Scope
    operations: frozenset[str]  # of Get, Head, Put, Delete
    owner: tuple[str, str] | None  # (group, kind) that an owner must be; None for any or none
    any_owner: bool  # an extension kind: the manifest names group and kind
    fixed_azure_name: str | None
    azure_name: Mapping[str, Any]  # minLength, maxLength, pattern of a free name
    spec: str  # names of types
    status: str
    config_maps: Mapping[str, str]  # field of operatorSpec.configMaps → path in status
    types: Mapping[str, TypeFacts]
    legacy: bool  # spelled v1api…, which names some UUIDs otherwise
    lists: frozenset[ListLevel] = frozenset()  # where public SDKs list the type; empty if unknown
    provider: Provider = Provider.ARM

    @property
    def is_arm(self) -> bool:
        return self.provider is Provider.ARM

    @property
    def owner_is_named(self) -> bool:
        """Return whether an owner can only be named: its ARM id would say nothing of its manifest."""
        owner = self.types[self.spec]["fields"].get("owner")
        return owner is not None and owner["type"] == "namedOwner"

    @property
    def has_owner(self) -> bool:
        return self.any_owner or self.owner is not None

    @property
    def can_delete(self) -> bool:
        return "Delete" in self.operations

    @property
    def can_get(self) -> bool:
        return "Get" in self.operations

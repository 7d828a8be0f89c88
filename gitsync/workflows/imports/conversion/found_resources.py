"""What an import found in Azure, what it leaves out, and the manifests that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.secret import Secret

GROUPS: Final = "Microsoft.Resources/resourceGroups"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundResource:
    """A resource as Azure shows it."""

    kind: Kind
    arm_id: ArmId
    owner_id: ArmId
    """The ARM id of what owns it: its parent, its resource group, or the scope of an extension; "" for a resource
    group.
    """

    body: Mapping[str, Any] = field(repr=False)  # of a GET
    created: str = ""  # the time of its creation (RFC 3339) if a list has it; "" otherwise

    @property
    def name(self) -> str:
        """Its name in Azure."""
        return self.arm_id.name


@dataclass(frozen=True, slots=True, order=True)
class Omission:
    """What has no manifest, and why."""

    reason: str
    subject: str  # a resource, or a type for all resources of it


@dataclass(frozen=True, slots=True, order=True)
class ForeignResource:
    """A resource of a type that gitsync cannot manage, as a list shows it: its entry may be all that is known."""

    arm_id: ArmId
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What was found, sorted by ARM id."""

    resources: tuple[FoundResource, ...]
    foreign: tuple[ForeignResource, ...] = ()  # the resources of types that gitsync does not manage
    left_out: tuple[Omission, ...] = ()  # those that are not imported, each with its reason
    unread: tuple[str, ...] = ()  # the collections that were not read, or refused
    problems: tuple[Problem, ...] = ()  # about ids and groups that were given and cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSecret:
    """A value that looks like a secret, in a manifest in plain text."""

    field: str
    way: str  # describes how to put a Secret in its place
    value: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedManifest:
    """A manifest and what it was made of."""

    key: Key
    document: Mapping[str, Any]
    resource: FoundResource
    secrets: tuple[tuple[str, str], ...] = ()
    """The values that are still to be provided: name and key of a Secret, "" for all its keys."""

    unfit: tuple[str, ...] = ()  # paths in the body with values that the kind does not allow
    plain_secrets: tuple[PlainSecret, ...] = ()  # values that look like secrets, in plain text
    origins: tuple[str, ...] = ()  # where it was declared before, each a comment above the manifest

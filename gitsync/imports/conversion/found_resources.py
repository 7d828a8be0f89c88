"""What an import found in Azure, what it leaves out, and the manifests that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.secret import Secret

GROUPS: Final = "Microsoft.Resources/resourceGroups"

UNKNOWN: Final = "type without a kind"
"""Why a type is left out that the catalog does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundResource:
    """A resource as Azure shows it. `owner_id` is the ARM id of what owns it: its parent, its resource group, or the
    scope of an extension; "" for a resource group. `created` is the time of its creation (RFC 3339) if a list said so;
    "" otherwise.
    """

    kind: Kind
    arm_id: str
    owner_id: str
    body: Mapping[str, Any] = field(repr=False)
    created: str = ""

    @property
    def name(self) -> str:
        """Its name in Azure."""
        return self.arm_id.rpartition("/")[2]


@dataclass(frozen=True, slots=True, order=True)
class Omission:
    """A resource, or all resources of a type (`subject`), without a manifest, and the reason."""

    reason: str
    subject: str


@dataclass(frozen=True, slots=True, order=True)
class ForeignResource:
    """A resource of a type without a kind, as a list shows it: its entry may be all that is known of it."""

    arm_id: str
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What was found, sorted by ARM id. `foreign` are the resources without a kind. `unread` lists the collections that
    were not read, or refused. `problems` are about ids and groups that were given and cannot be read.
    """

    resources: tuple[FoundResource, ...]
    foreign: tuple[ForeignResource, ...] = ()
    left_out: tuple[Omission, ...] = ()
    unread: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSecret:
    """A value that looks like a secret, in a field that holds it in plain text. `way` describes how to put a Secret in
    its place.
    """

    field: str
    way: str
    value: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedManifest:
    """A manifest and what it was made of. `secrets` are the values that are still to be provided: name and key of a
    Secret, "" for all its keys. `unfit` are paths in the body with values that the kind does not allow.
    """

    key: Key
    document: Mapping[str, Any]
    resource: FoundResource
    secrets: tuple[tuple[str, str], ...] = ()
    unfit: tuple[str, ...] = ()
    plain_secrets: tuple[PlainSecret, ...] = ()

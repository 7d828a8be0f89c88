"""The values that a resource exports to a Secret or a ConfigMap, and the address of such an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.model.gvk import Key
from gitsync.model.secret import Secret

OWNER = "gitsync/owner"
"""Annotation of an exported object: the key of the resource that exports it. Without a
cluster, it takes the place of the owner reference that ASO would set.
"""

REPOSITORY = "gitsync/repository"
"""Annotation of an object in a cluster: the repository of the agent that exports it, if that agent has no name."""

NAMELESS = "gitsync"
"""The agent without a name."""

_OF = " of "


class ObjectKind(StrEnum):
    """The two kinds of objects that hold values by key."""

    SECRET = "Secret"  # noqa: S105 - the name of a kind
    CONFIG_MAP = "ConfigMap"


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A Secret or a ConfigMap by its name. `secrets.store_rules` checks names and keys by the rules of Kubernetes."""

    object_kind: ObjectKind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.object_kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """Who exports an object: a resource, and the agent that keeps it, since two repositories may have one key each.

    Recorded with the object, and printed without the agent if that has the default name. `repository` is host and path
    of the repository if the agent has no name, "" if it has one or the repository is not known; it is not part of the
    identity, as a repository may move.
    """

    key: Key
    agent: str = NAMELESS
    repository: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Parse the text of `str`. Raises ValueError if it is another text."""
        key, _, agent = text.partition(_OF)
        return cls(Key.parse(key), agent or NAMELESS)

    def __str__(self) -> str:
        return str(self.key) if self.agent == NAMELESS else f"{self.key}{_OF}{self.agent}"


def is_owned_by(owner: str, key: Key) -> bool:
    """Return whether the text of an owner names a resource, whatever its agent. People own an object with the text ""."""
    try:
        return Owner.parse(owner).key == key
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, order=True)
class Leftover:
    """An export that could not be removed with its resource. `sink` is its word in the settings."""

    owner: Owner
    address: Address
    sink: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One object as a resource wants it: it replaces what stood there, data, annotations and labels alike.

    `data` of a ConfigMap is plain too, but is kept as `Secret` values, so that one code writes both. `owner` is the
    resource that exports it: an object that exists and is not its own is not written
    (docs/reference/reconciliation.md#export-ownership).
    """

    address: Address
    owner: Owner
    data: Mapping[str, Secret]
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

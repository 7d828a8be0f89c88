"""The values that a resource exports to a Secret or a ConfigMap, and the address of such an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.model.gvk import Key
from gitsync.model.secret import Secret

OWNER = "gitsync/owner"
"""Annotation of an exported object: the key of the resource that exports it. It replaces ASO's owner reference."""

REPOSITORY = "gitsync/repository"
"""Annotation of an object in a cluster: the repository of the agent that exports it, if that agent has no name."""

NAMELESS = "gitsync"
"""The name that stands for an agent without one."""

_OF = " of "


class ObjectKind(StrEnum):
    """The two kinds of objects that hold values by key."""

    SECRET = "Secret"  # noqa: S105 - the name of a kind
    CONFIG_MAP = "ConfigMap"


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A Secret or a ConfigMap by its name. `secrets.store_rules` checks names and keys by Kubernetes' rules."""

    object_kind: ObjectKind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.object_kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """The owner of an exported object: a resource and its agent, since two repositories may have the same key.

    Recorded with the object, and printed without the agent if it has the default name.
    """

    key: Key
    agent: str = NAMELESS
    repository: str = field(default="", compare=False)
    """Host and path of the repository, which may move; "" if the agent has a name, or if it is not known."""

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Parse the text of `str`. Raises ValueError if it is another text."""
        key, _, agent = text.partition(_OF)
        return cls(Key.parse(key), agent or NAMELESS)

    def __str__(self) -> str:
        return str(self.key) if self.agent == NAMELESS else f"{self.key}{_OF}{self.agent}"


def is_owned_by(owner: str, key: Key) -> bool:
    """Return whether the text of an owner names a resource, with any agent. The text "" means that a person owns it."""
    try:
        return Owner.parse(owner).key == key
    except ValueError:
        # A person may have written anything into the annotation.
        return False


@dataclass(frozen=True, slots=True, order=True)
class Leftover:
    """An export that could not be removed with its resource."""

    owner: Owner
    address: Address
    sink: str  # its word in the settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The desired state of one exported object. It replaces the existing data, annotations and labels."""

    address: Address  # the object that is written
    owner: Owner
    """The resource that exports it: an existing object with another owner is not written
    (docs/reference/reconciliation.md#export-ownership).
    """

    data: Mapping[str, Secret]
    """Not secret in a ConfigMap, but kept as `Secret` values too, so that the same code writes both."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

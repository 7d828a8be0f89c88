"""The shards of a source's resources, one for each worker of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.model.gvk import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMember:
    """A resource to assign to a shard: from a manifest, a record, or both.

    `arm_id` is "" if it is not known. `owner` is its owner if that is a member too. `credential` is the Secret that it
    is reconciled with, as `namespace/name`; "" for the global one. `references` are the resources that it waits for in
    addition to its owner.
    """

    key: Key
    arm_id: str = ""
    owner: Key | None = None
    credential: str = ""
    references: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """The subject of the ARM limits that a resource counts against: subscription and credential; "" if unknown."""

    subscription: str
    credential: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The part of one worker. `number` counts from 1. `sizes` has the number of its resources by account. `waits_for`
    has the references to resources of other shards, as pairs (resource, target), sorted.
    """

    number: int
    keys: frozenset[Key] = frozenset()
    sizes: dict[Account, int] = field(default_factory=dict)
    waits_for: tuple[tuple[Key, Key], ...] = ()

    @property
    def size(self) -> int:
        return len(self.keys)

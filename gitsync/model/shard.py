"""The shards of a source's resources, one for each worker of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMember:
    """A resource to assign to a shard: from a manifest, a record, or both."""

    key: Key
    arm_id: ArmId = NO_ID  # "" if it is not known
    owner: Key | None = None  # its owner, if that is a member too
    credential: str = ""  # the Secret that it is reconciled with, as `namespace/name`; "" for the global one
    references: tuple[Key, ...] = ()  # the resources that it waits for in addition to its owner
    holds_for: ArmId = NO_ID  # the scope of a lock that the run creates, changes or deletes; "" for all others
    values_of: tuple[Key, ...] = ()  # those of which expressions need more than id and name


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """The subject of the ARM limits that a resource counts against: subscription and credential; "" if unknown."""

    subscription: str
    credential: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The part of one worker."""

    number: int  # from 1
    keys: frozenset[Key] = frozenset()
    sizes: dict[Account, int] = field(default_factory=dict)  # the number of its resources by account
    waits_for: tuple[tuple[Key, Key], ...] = ()
    """The references to resources of other shards, as pairs (resource, target), sorted."""

    @property
    def size(self) -> int:
        return len(self.keys)


class ShardCost(NamedTuple):
    """How many requests are expected, and for how many seconds limits hold them back."""

    reads: int
    writes: int
    seconds: float

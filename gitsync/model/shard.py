"""How the resources of a source are cut into shards, one for each worker of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.model.gvk import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMember:
    """A resource as the cut sees it: of a manifest, of a record, or of both.

    `arm_id` is "" if it is not known. `owner` is its owner if that is a member too. `credential` is the Secret that it
    is reconciled with, as `namespace/name`; "" for the global one. `references` are what it waits for
    in addition to its owner.
    """

    key: Key
    arm_id: str = ""
    owner: Key | None = None
    credential: str = ""
    references: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """Whose limits of ARM a resource counts against: a subscription, and the credential that requests; "" if unknown."""

    subscription: str
    credential: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The part of one worker. `number` counts from 1. `sizes` has the number of its resources by account; `waits_for`
    are the references of its resources to those of other shards, each as a pair, sorted.
    """

    number: int
    keys: frozenset[Key] = frozenset()
    sizes: dict[Account, int] = field(default_factory=dict)
    waits_for: tuple[tuple[Key, Key], ...] = ()

    @property
    def size(self) -> int:
        return len(self.keys)

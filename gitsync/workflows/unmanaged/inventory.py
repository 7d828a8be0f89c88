"""What git has: the resources that manifests and records stand for, and the groups that they are in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.desired.catalog.children import is_named_in
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.record import Record
from gitsync.model.resource import Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What git has."""

    bodies: Mapping[IdKey, Mapping[str, Any]]
    """Those that manifests declare, by the key of the ARM id; one that only a record has is empty."""

    groups: Mapping[str, tuple[str, ...]]  # the names of resource groups, sorted, by subscription
    without_id: tuple[str, ...] = ()
    """The keys of manifests whose ARM id is not known, sorted: what they stand for may look as if git did not have it.
    """

    def has(self, arm_id: ArmId) -> bool:
        """Return whether a manifest or a record stands for a resource, or the manifest of its parent names it."""
        if arm_id.key in self.bodies:
            return True
        declared = self.bodies.get(arm_id.parent.key)
        return bool(declared) and is_named_in(arm_id.arm_type, arm_id.name, declared or {})


def make_inventory(prepared: Iterable[Prepared], records: Iterable[Record]) -> Inventory:
    """Join manifests and records. A record that is not trusted counts for nothing, as in a prune."""
    bodies: dict[IdKey, Mapping[str, Any]] = {}
    groups: dict[str, dict[str, str]] = {}  # spelled names by names in lower case, by subscription
    without_id = []
    known = {record.key: record.arm_id for record in records if record.arm_id and not record.trust.is_refused}
    ids = [*known.values()]
    # Records come first, so that the body of a manifest replaces the empty one.
    bodies |= {arm_id.key: {} for arm_id in ids}
    for resource in prepared:
        arm_id = resource.arm_id or known.get(resource.key)  # a record has an id that is known only during a run
        if arm_id is None:
            without_id.append(str(resource.key))
            continue
        ids.append(arm_id)
        bodies[arm_id.key] = resource.template.body if resource.template else {}
    for arm_id in ids:
        subscription, group = arm_id.subscription, arm_id.resource_group
        if subscription and group:
            groups.setdefault(subscription.casefold(), {})[group.casefold()] = group
    return Inventory(
        bodies=bodies,
        groups={scope: tuple(names[name] for name in sorted(names)) for scope, names in sorted(groups.items())},
        without_id=tuple(sorted(without_id)),
    )

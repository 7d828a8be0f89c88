"""The dependencies of a manifest: other manifests that must be applied before (docs/reference/design.md#order).

Separate from the graph, which does not know manifests. Every dependency is a manifest of the same set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gitsync.formats.arm_path import iterate_ancestors
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import Hole, ReferenceHole
from gitsync.request.export_owners import iterate_own_addresses
from gitsync.request.exports import may_export
from gitsync.request.holes import find_value


class Needs(NamedTuple):
    """What one manifest depends on: its owner, the placeholders of its request, and the ARM ids in it."""

    key: Key
    owner: OwnerRef | None
    holes: tuple[Hole, ...] = ()
    arm_ids: tuple[str, ...] = ()


class Dependencies:
    """The dependencies in one set of manifests."""

    def __init__(
        self,
        resources: Sequence[Resource],
        arm_ids: Mapping[Key, str],
        declared: Mapping[Address, DeclaredObject] | None = None,
    ) -> None:
        """`arm_ids` are those that are known offline. Nothing waits for an export to an object that is `declared` in
        git, as it is refused.
        """
        self._producers = _find_producers(resources, declared or {})
        self._keys = frozenset(resource.key for resource in resources)
        self._arm_ids = arm_ids

    @cached_property
    def _keys_by_id(self) -> Mapping[str, Key]:
        """By ARM id: the first manifest that has it. Few sources name an ARM id at all."""
        return {arm_id.casefold(): key for key, arm_id in sorted(self._arm_ids.items(), reverse=True)}

    def of(self, needs: Needs) -> tuple[Key, ...]:
        """The manifests that must be applied before one, sorted; never itself."""
        owner, keys = needs.owner, set[Key]()
        if owner and owner.key:
            keys.add(owner.key)
        for arm_id in (*needs.arm_ids, owner.arm_id) if owner and owner.arm_id else needs.arm_ids:
            keys.update(self._find_nearest(arm_id))
        for hole in needs.holes:
            keys.update(self._find_sources(hole, needs.key.namespace))
        return tuple(sorted((keys & self._keys) - {needs.key}))

    def _find_nearest(self, arm_id: str) -> Iterator[Key]:
        """The manifest with an ARM id or, failing that, the nearest one above, which waits for those above it."""
        nearest = next((path for path in iterate_ancestors(arm_id) if path in self._keys_by_id), None)
        if nearest is not None:
            yield self._keys_by_id[nearest]

    def _find_sources(self, hole: Hole, namespace: str) -> Iterator[Key]:
        if isinstance(hole, ReferenceHole):
            yield hole.key
        elif value := find_value(hole, namespace):
            yield from self._find_exporters(*value)

    def _find_exporters(self, address: Address, entry: str | None) -> Iterator[Key]:
        for key, exported in self._producers.get(address, ()):
            if entry is None or exported in {None, entry}:
                yield key


def _find_producers(
    resources: Iterable[Resource], declared: Mapping[Address, DeclaredObject]
) -> Mapping[Address, list[tuple[Key, str | None]]]:
    """Map each Secret or ConfigMap to the resources that export to it, with the key; None for all of its keys."""
    producers: dict[Address, list[tuple[Key, str | None]]] = defaultdict(list)
    for resource in filter(may_export, resources):
        for address, key in sorted(set(iterate_own_addresses(resource, declared)), key=str):
            producers[address].append((resource.key, key))
    return producers

"""Finds the manifests that must be applied before another one (docs/reference/design.md#order): its owner, what its
request refers to, what its annotation `gitsync/depends-on` names, and what Flux's `spec.dependsOn` and the sync waves
of Argo CD put first.

Separate from the graph, which does not know manifests. Every dependency is a manifest of the same set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from gitsync.desired.manifests.policy_annotations import read_wave
from gitsync.desired.request.exports import iterate_own_addresses, may_export
from gitsync.desired.request.fill import find_value
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject
from gitsync.model.resource import OwnerRef, Prepared, Resource
from gitsync.model.template import ComputedValue, ResourceRef, ValueRef
from gitsync.model.unit import Unit

_Group = frozenset[Key]


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Needs:
    """What one manifest depends on."""

    key: Key
    owner: OwnerRef | None  # None for kinds without one
    refs: tuple[ValueRef, ...] = ()  # the placeholders of its request
    arm_ids: tuple[ArmId, ...] = ()  # those in the request
    sources: tuple[Key, ...] = ()  # the resources from which expressions compute its id
    named: tuple[Key, ...] = ()  # by its annotation `gitsync/depends-on`


class Dependencies:
    """The dependencies in one set of manifests."""

    def __init__(
        self,
        resources: Sequence[Resource],
        arm_ids: Mapping[Key, ArmId],
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
        return {arm_id.key: key for key, arm_id in sorted(self._arm_ids.items(), reverse=True)}

    def of(self, needs: Needs) -> tuple[Key, ...]:
        """The manifests that must be applied before one, sorted; never itself."""
        owner, keys = needs.owner, {*needs.sources, *needs.named}
        if owner and owner.key:
            keys.add(owner.key)
        for arm_id in (*needs.arm_ids, owner.arm_id) if owner and owner.arm_id else needs.arm_ids:
            keys.update(self._list_nearest(arm_id))
        for ref in needs.refs:
            keys.update(self._list_sources(ref, needs.key.namespace))
        # What no manifest declares is not waited for: nothing in this run would make it.
        return tuple(sorted((keys & self._keys) - {needs.key}))

    def _list_nearest(self, arm_id: ArmId) -> Iterator[Key]:
        """The manifest with an ARM id or, failing that, the nearest one above, which waits for those above it."""
        nearest = next((path for path in arm_id.lineage if path in self._keys_by_id), None)
        if nearest is not None:
            yield self._keys_by_id[nearest]

    def _list_sources(self, ref: ValueRef, namespace: str) -> Iterator[Key]:
        if isinstance(ref, ResourceRef):
            yield ref.key
        elif isinstance(ref, ComputedValue):
            yield from ref.sources.values()
        elif value := find_value(ref, namespace):
            yield from self._list_exporters(*value)

    def _list_exporters(self, address: Address, entry: str | None) -> Iterator[Key]:
        for key, exported in self._producers.get(address, ()):
            if entry is None or exported in {None, entry}:
                yield key


def _find_producers(
    resources: Iterable[Resource], declared: Mapping[Address, DeclaredObject]
) -> Mapping[Address, list[tuple[Key, str | None]]]:
    """Map each Secret or ConfigMap to the resources that export to it, with the key; None for all of its keys."""
    producers: dict[Address, list[tuple[Key, str | None]]] = defaultdict(list)
    for resource in filter(may_export, resources):
        # A key may be None, which has no order beside texts.
        for address, key in sorted(set(iterate_own_addresses(resource, declared)), key=str):
            producers[address].append((resource.key, key))
    return producers


def order_units(prepared: Sequence[Prepared]) -> tuple[Prepared, ...]:
    """Return the resources, with the dependencies that the order of their units and waves adds.

    Flux and Argo CD wait until what comes first is ready. So a resource that does not depend on another one of its
    group depends on those of the group before that no other one there needs; a resource that fails then blocks the
    groups after its own. A dependency that would close a circle is left out: owners and references go first.
    """
    pairs = [*_list_units(prepared), *_list_waves(prepared)]
    if not pairs:
        return tuple(prepared)
    order = _Order(prepared)
    for before, after in pairs:
        order.put(before, after)
    return tuple(
        _put_after(added, resource) if (added := order.added.get(resource.key)) else resource for resource in prepared
    )


def _put_after(added: set[Key], prepared: Prepared) -> Prepared:
    relations = replace(
        prepared.relations,
        depends_on=tuple(sorted({*prepared.relations.depends_on, *added})),
        ordered_after=tuple(sorted(added.difference(prepared.relations.depends_on))),
    )
    return replace(prepared, relations=relations)


class _Order:
    """The dependencies of resources. Mutable: those of groups are added to it."""

    def __init__(self, prepared: Iterable[Prepared]) -> None:
        self.added: dict[Key, set[Key]] = {}
        self._needed_by: dict[Key, set[Key]] = defaultdict(set)
        self._depends_on = {resource.key: resource.relations.depends_on for resource in prepared}
        for key, others in self._depends_on.items():
            for other in others:
                self._needed_by[other].add(key)

    def put(self, before: _Group, after: _Group) -> None:
        """Put one group before another, as far as none of it waits for the other."""
        # The ends of the one group and the beginnings of the other are enough: all else waits for them already.
        last = before - {other for key in before for other in self._depends_on[key]}
        first = [key for key in sorted(after) if not any(other in after for other in self._depends_on[key])]
        for key in first:
            # Of those that wait for it already, a dependency would close a circle.
            if new := last - self._list_waiting(key):
                self.added.setdefault(key, set()).update(new)
                for other in new:
                    self._needed_by[other].add(key)

    def _list_waiting(self, key: Key) -> set[Key]:
        """A resource, and all that depend on it, over any number of others."""
        pending, found = [key], {key}
        while pending:
            for other in self._needed_by[pending.pop()] - found:
                found.add(other)
                pending.append(other)
        return found


def _list_units(prepared: Iterable[Prepared]) -> Iterator[tuple[_Group, _Group]]:
    """The resources of each unit that comes before another one, with those of that."""
    members: dict[str, set[Key]] = defaultdict(set)
    units: dict[str, Unit] = {}
    for entry in prepared:
        if (unit := entry.resource.unit) is not None:
            units[unit.name] = unit
            members[unit.name].add(entry.key)
    for name, unit in sorted(units.items()):
        yield from (
            (frozenset(members[before]), frozenset(members[name]))
            for before in unit.settings.depends_on
            if before in members
        )


def _list_waves(prepared: Iterable[Prepared]) -> Iterator[tuple[_Group, _Group]]:
    """The resources of each wave with those of the next: inside of an Application, and of those that it declares."""
    waves: dict[str, dict[int, set[Key]]] = defaultdict(lambda: defaultdict(set))
    for resource in prepared:
        for scope, wave in _collect_waves(resource):
            waves[scope][wave].add(resource.key)
    for _, groups in sorted(waves.items()):
        yield from pairwise(frozenset(groups[wave]) for wave in sorted(groups))


def _collect_waves(prepared: Prepared) -> tuple[tuple[str, int], ...]:
    """The units that a resource is in, outermost first, each with the wave of it there."""
    unit = prepared.resource.unit
    if unit is None:
        return ()
    own = ((unit.name, read_wave(prepared.resource.annotations)),) if unit.traits.has_waves else ()
    return (*unit.settings.waves, *own)

"""The order of units and of waves: what Flux's `spec.dependsOn` and the sync waves of Argo CD put first.

Both wait until what comes first is ready. So a resource that does not depend on another one of its group depends on
those of the group before that no other one there needs; a resource that fails then blocks the groups after its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from gitsync.manifests.annotations import read_wave
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit, UnitKind

_Group = frozenset[Key]


def order_units(prepared: Sequence[Prepared]) -> tuple[Prepared, ...]:
    """Return the resources, with the dependencies that the order of their units and waves adds.

    A dependency that would close a circle is left out: owners and references go first.
    """
    pairs = [*_list_units(prepared), *_list_waves(prepared)]
    if not pairs:
        return tuple(prepared)
    order = _Order(prepared)
    for before, after in pairs:
        order.put(before, after)
    return tuple(
        replace(one, depends_on=tuple(sorted({*one.depends_on, *order.added[one.key]})))
        if one.key in order.added
        else one
        for one in prepared
    )


class _Order:
    """The dependencies of resources. Mutable: those of groups are added to it."""

    def __init__(self, prepared: Iterable[Prepared]) -> None:
        self.added: dict[Key, set[Key]] = {}
        self._needed_by: dict[Key, set[Key]] = defaultdict(set)
        self._depends_on = {one.key: one.depends_on for one in prepared}
        for key, others in self._depends_on.items():
            for other in others:
                self._needed_by[other].add(key)

    def put(self, before: _Group, after: _Group) -> None:
        """Put one group before another, as far as none of it waits for the other."""
        last = before - {other for key in before for other in self._depends_on[key]}
        first = [key for key in sorted(after) if not any(other in after for other in self._depends_on[key])]
        for key in first:
            if new := last - self._find_waiting(key):
                self.added.setdefault(key, set()).update(new)
                for other in new:
                    self._needed_by[other].add(key)

    def _find_waiting(self, key: Key) -> set[Key]:
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
    for one in prepared:
        if (unit := one.resource.unit) is not None:
            units[unit.name] = unit
            members[unit.name].add(one.key)
    for name, unit in sorted(units.items()):
        yield from (
            (frozenset(members[before]), frozenset(members[name])) for before in unit.depends_on if before in members
        )


def _list_waves(prepared: Iterable[Prepared]) -> Iterator[tuple[_Group, _Group]]:
    """The resources of each wave with those of the next: inside of an Application, and of those that it declares."""
    waves: dict[str, dict[int, set[Key]]] = defaultdict(lambda: defaultdict(set))
    for one in prepared:
        for scope, wave in _find_waves(one):
            waves[scope][wave].add(one.key)
    for _, groups in sorted(waves.items()):
        yield from pairwise(frozenset(groups[wave]) for wave in sorted(groups))


def _find_waves(one: Prepared) -> tuple[tuple[str, int], ...]:
    """The units that a resource is in, outermost first, each with the wave of it there."""
    unit = one.resource.unit
    if unit is None:
        return ()
    own = ((unit.name, read_wave(one.resource.annotations)),) if unit.kind is UnitKind.APPLICATION else ()
    return (*unit.waves, *own)

"""The order of units: what a Flux Kustomization builds comes after what `spec.dependsOn` names.

Flux waits until a dependency is Ready. So a resource that does not depend on another one of its unit depends on those
of the units before it that no other one there needs; a resource that fails then blocks the units after its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared


def order_units(prepared: Sequence[Prepared]) -> tuple[Prepared, ...]:
    """Return the resources, with the dependencies that the order of their units adds.

    A dependency that would close a circle is left out: owners and references go first.
    """
    units = _find_units(prepared)
    if not units:
        return tuple(prepared)
    members, added = _group_by_unit(prepared), dict[Key, frozenset[Key]]()
    depends_on = {one.key: one.depends_on for one in prepared}
    for name, unit in sorted(units.items()):
        for before in unit:
            if before in members and not _reaches(members[before], members[name], depends_on):
                last = _find_last(members[before], depends_on)
                for key in _find_first(members[name], depends_on):
                    added[key] = added.get(key, frozenset()) | last
                    depends_on[key] = (*depends_on[key], *last)
    return tuple(
        replace(one, depends_on=tuple(sorted({*one.depends_on, *added[one.key]}))) if one.key in added else one
        for one in prepared
    )


def _find_units(prepared: Iterable[Prepared]) -> dict[str, tuple[str, ...]]:
    """The names of the units that come before each, for those that have some."""
    units = (one.resource.unit for one in prepared)
    return {unit.name: unit.depends_on for unit in units if unit is not None and unit.depends_on}


def _group_by_unit(prepared: Iterable[Prepared]) -> dict[str, frozenset[Key]]:
    groups: dict[str, set[Key]] = {}
    for one in prepared:
        if one.resource.unit is not None:
            groups.setdefault(one.resource.unit.name, set()).add(one.key)
    return {name: frozenset(keys) for name, keys in groups.items()}


def _find_first(members: Collection[Key], depends_on: Mapping[Key, tuple[Key, ...]]) -> list[Key]:
    """Those that depend on no other of them."""
    return [key for key in sorted(members) if not any(other in members for other in depends_on[key])]


def _find_last(members: Collection[Key], depends_on: Mapping[Key, tuple[Key, ...]]) -> frozenset[Key]:
    """Those that no other of them depends on."""
    return frozenset(members) - {other for key in members for other in depends_on[key]}


def _reaches(start: Iterable[Key], goal: Collection[Key], depends_on: Mapping[Key, tuple[Key, ...]]) -> bool:
    """Tell whether one of `start` depends on one of `goal`, over any number of others."""
    pending, seen = list(start), set[Key]()
    while pending:
        key = pending.pop()
        if key in goal:
            return True
        if key not in seen:
            seen.add(key)
            pending.extend(depends_on.get(key, ()))
    return False

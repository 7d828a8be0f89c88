"""Manifests that several units have, word for word: kustomizations may have one base in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitsync.manifests.units import find_unit_name
from gitsync.model.gvk import Key
from gitsync.model.resource import Resource
from gitsync.model.unit import Unit


def remove_repeats(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """The resources without those that a unit before has too, by the names of units. Sorted by key, version, source."""
    resources = tuple(resources)
    if len({one.key for one in resources}) == len(resources):
        return tuple(sorted(resources, key=lambda one: one.key))  # as most
    first: dict[Key, Resource] = {}
    kept = []
    for one in sorted(resources, key=lambda one: (one.key, find_unit_name(one), one.source)):
        other = first.setdefault(one.key, one)
        if other is one or not is_repeat(one, other):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: (one.key, one.gvk.version, one.source)))


def is_repeat(one: Resource, other: Resource) -> bool:
    """Tell whether two units have the same manifest."""
    return is_built(one) and is_built(other) and one.unit != other.unit and is_same(one, other)


def is_same(one: Resource, other: Resource) -> bool:
    """Tell whether two manifests say the same, wherever they are."""
    return one.spec == other.spec and replace(one, source=other.source, unit=other.unit) == other


def is_built(resource: Resource) -> bool:
    """Tell whether a resource is of a unit that is built."""
    return is_built_unit(resource.unit)


def is_built_unit(unit: Unit | None) -> bool:
    return unit is not None and unit.renders

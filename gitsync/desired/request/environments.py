"""Units that stand for the same resources in Azure, with different bodies: overlays of one base, as dev and prod.

A source does not define which of them to apply, so neither is applied. Units that share only a few resources do not
count as environments: those resources are problems of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.manifests.units import ROOT, find_unit_name, is_built, is_same, list_parts
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared, Resource
from gitsync.model.unit import Unit

MOST_NAMED = 5
"""Units that one message names."""

_Rivals = Mapping[str, Mapping[str, Prepared]]
"""By the name of a unit, those that stand for the same resources: their names, each with a resource that differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environments:
    """Units that stand for the same resources as others."""

    refused: frozenset[str] = frozenset()  # the names of units that are not applied
    problems: tuple[Problem, ...] = ()  # one for each of these
    groups: tuple[frozenset[str], ...] = ()  # all such units, in groups without a conflict


def collect_environments(prepared: Sequence[Prepared], resources: Iterable[Resource]) -> Environments:
    """Find the units that stand for the same resources. One that gitsync.yaml names goes before the others. `resources`
    are those that were read, also those that units repeat word for word.
    """
    built = [entry for entry in prepared if is_built(entry.resource)]
    rivals = _collect_rivals(built, filter(is_built, resources))
    units = {find_unit_name(prepared.resource): prepared.resource.unit for prepared in built if prepared.resource.unit}
    chosen = {
        name for name in rivals if units[name].is_named and not any(units[other].is_named for other in rivals[name])
    }
    refused = rivals.keys() - chosen
    return Environments(
        refused=frozenset(refused),
        problems=tuple(_make_problem(units[name], rivals[name], chosen) for name in sorted(refused)),
        groups=tuple(_group(sorted(rivals), rivals)),
    )


def _collect_rivals(built: Sequence[Prepared], resources: Iterable[Resource]) -> _Rivals:
    by_key = {resource.key: resource for resource in built}
    names: dict[str, dict[str, Key]] = defaultdict(dict)
    for resource in resources:
        identities = _list_identities(by_key[resource.key]) if resource.key in by_key else ()
        names[find_unit_name(resource)].update(dict.fromkeys(identities, resource.key))
    rivals: dict[str, dict[str, Prepared]] = defaultdict(dict)
    for prepared, other in _iterate_different(built):
        name, other_name = find_unit_name(prepared.resource), find_unit_name(other.resource)
        if other_name not in rivals[name] and _are_environments(names[name], names[other_name]):
            rivals[name][other_name] = prepared
            rivals[other_name][name] = other
    return {name: others for name, others in rivals.items() if others}


def _list_identities(resource: Prepared) -> tuple[str, ...]:
    return (
        str(resource.key),
        # Any number of units may read one resource in Azure; only those that write it are rivals.
        *([resource.arm_id.key] if resource.arm_id and resource.policy.allows_modify else []),
    )


def _iterate_different(built: Iterable[Prepared]) -> Iterator[tuple[Prepared, Prepared]]:
    """Pairs of resources of two units with one identity and different content: each with the first of its content."""
    by_identity: dict[str, list[Prepared]] = defaultdict(list)
    for resource in built:
        for identity in _list_identities(resource):
            by_identity[identity].append(resource)
    for same in by_identity.values():
        firsts: list[Prepared] = []
        for resource in same if len(same) > 1 else ():
            different = [first for first in firsts if not _has_same_content(resource, first)]
            yield from ((resource, first) for first in different)
            if len(different) == len(firsts):
                firsts.append(resource)


def _has_same_content(prepared: Prepared, other: Prepared) -> bool:
    if find_unit_name(prepared.resource) == find_unit_name(other.resource):
        return True  # a problem of one unit alone
    if prepared.key == other.key:
        return is_same(prepared.resource, other.resource)
    return (
        prepared.template is not None and other.template is not None and prepared.template.body == other.template.body
    )


def _are_environments(first: Mapping[str, Key], other: Mapping[str, Key]) -> bool:
    """Return whether more than half of the resources of the smaller unit are in the other too."""
    shared = {key for identity, key in first.items() if identity in other}
    smaller = min(len(set(unit.values())) for unit in (first, other))
    return len(shared) * 2 > smaller


def _group(names: Iterable[str], rivals: _Rivals) -> list[frozenset[str]]:
    """Put each unit into the first group that has none of its rivals."""
    groups: list[set[str]] = []
    for name in names:
        group = next((group for group in groups if not group & rivals[name].keys()), None)
        if group is None:
            groups.append(group := set())
        group.add(name)
    return [frozenset(group) for group in groups]


def _make_problem(unit: Unit, rivals: Mapping[str, Prepared], chosen: set[str]) -> Problem:
    example, parts = next(iter(rivals.values())), list_parts(unit.contents)
    what = example.arm_id or format_short_key(example.key)
    winner = next((name for name in sorted(rivals) if name in chosen), None)
    if winner is not None:
        message = f"{unit.name} is skipped: it declares the same resources as {winner}, which gitsync.yaml names."
        code, level, hint = "UnitLeftOut", Level.WARNING, f"Set --path {unit.name} to apply it instead."
    else:
        message = (
            f"{unit.name} and {_enumerate(sorted(rivals))} declare the same resources in Azure with different "
            f"bodies (for example {what}), so none of them is applied."
        )
        code, level = "UnitsConflict", Level.ERROR
        path = unit.settings.cluster_folder or ROOT if unit.is_declared else unit.name
        naming = "" if unit.is_declared else "name the unit under `units` in gitsync.yaml, "
        hint = f"Set --path {path}, {naming}or give them different names."
    return Problem(
        code=code,
        message=message,
        hint=hint,
        level=level,
        path=unit.file,
        line=unit.line or 1,
        unit=unit.name,
        parts=parts,
    )


def _enumerate(names: Sequence[str]) -> str:
    shown = list(names[:MOST_NAMED])
    others = [f"{len(names) - MOST_NAMED} others"] if len(names) > MOST_NAMED else []
    *first, last = [*shown, *others]
    return f"{', '.join(first)} and {last}" if first else last

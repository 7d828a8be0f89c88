"""The unit that a manifest belongs to: the folder of its file, or of the kustomization that it was built from.

Records keep the unit of each resource, so it must mean the same in later runs. Several units may have the same
manifest, word for word.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TypedDict

from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.resource import Resource
from gitsync.model.unit import Unit, UnitKind

SUFFIXES = (".yaml", ".yml", ".json")
"""Of files that may have manifests."""

ROOT = "."
"""The unit of files at the root of SOURCE."""

KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Kustomization.yaml"})
"""Names of kustomization files, which are also the paths of their results."""


UNBUILT = frozenset(
    {"ApplicationFailed", "ChartFailed", "GeneratorNotFollowed", "HelmChart", "KustomizationFailed"}
    | {"OtherSource", "UnitsConflict", "UnitLeftOut"}
)
"""Codes of problems of units that have no manifests in this run."""


def find_unit(path: str) -> str:
    """Return the unit of a file, by its path from the root of SOURCE."""
    return path.rpartition("/")[0] or ROOT


def find_parts(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of files, sorted: former units, if the files are those of a unit."""
    return tuple(sorted(set(map(find_unit, paths))))


def find_unit_name(resource: Resource) -> str:
    """Return the name of the unit of a resource, as records keep it."""
    return resource.unit.name if resource.unit else find_unit(resource.source.path)


class Declaration(TypedDict):
    """Where a resource is declared, as records keep it: its unit, its file, and the kind of the object that declares
    the unit, "" if none does.
    """

    unit: str
    path: str
    declared_by: str


def find_declaration(resource: Resource) -> Declaration:
    """Return where a resource is declared."""
    declared_by = resource.unit.declared_by if resource.unit else ""
    return Declaration(unit=find_unit_name(resource), path=resource.source.path, declared_by=declared_by)


def find_own_path(path: str, unit: Unit | None) -> str:
    """Return the path in the source of a file by its path in the result of a unit: files that a unit has as they are
    begin with its name there.
    """
    own = path.removeprefix(f"{unit.name}/") if unit and unit.selection else path
    return own if unit and own in unit.contents else path


def find_place(resource: Resource) -> tuple[str, ...]:
    """Return the paths that a resource is made of: its file and, if its unit is built, the folder of that."""
    unit = resource.unit
    path = find_own_path(resource.source.path, unit)
    return (path,) if unit is None or unit.kind is UnitKind.FOLDER else (unit.path or ROOT, path)


def is_inside(unit: str, folder: str) -> bool:
    """Return whether a unit is a folder, or is below it. "" is the root too."""
    return folder in {"", ROOT} or unit == folder or unit.startswith(folder + "/")


def may_hide(problem: Problem, unit: str, read: Collection[str] = ()) -> bool:
    """Return whether a problem of a source may hide a manifest of a unit. `read` are the names of units that were built.

    A note hides what an error does. An error without a path may hide any. One of a kustomization or a folder concerns
    everything below it. An entry that is not read hides what was in its place: a file or a folder. A unit that is not
    built hides its own manifests, and those of former units that it may be built on now; its problem may be a warning.
    """
    if problem.unit:
        # A unit that is not built has no manifests in this run, so none of its resources counts as removed.
        hides_all = problem.holds_deletes or problem.code in UNBUILT
        is_part = unit in problem.parts or is_inside(unit, problem.unit)
        return hides_all and (unit == problem.unit or (is_part and unit not in read))
    if not (problem.holds_deletes or problem.code == "PassedOver"):
        return False
    folder = find_unit(problem.path)
    if not problem.path or is_inside(unit, problem.path):
        return True
    if posixpath.basename(problem.path) in KUSTOMIZATIONS:  # it may build anything below it
        return is_inside(unit, folder)
    return unit == folder and (problem.holds_deletes or problem.path.endswith(SUFFIXES))


def remove_repeats(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Leave out the resources that a unit before has too, by the names of units: kustomizations may
    have one base in common. The others are sorted by key, version, source.
    """
    resources = tuple(resources)
    if len({resource.key for resource in resources}) == len(resources):
        return tuple(sorted(resources, key=lambda resource: resource.key))  # most sources: no key is there twice
    first: dict[Key, Resource] = {}
    kept = []
    for resource in sorted(resources, key=lambda resource: (resource.key, find_unit_name(resource), resource.source)):
        # Two manifests that differ both stay: validation reports them.
        other = first.setdefault(resource.key, resource)
        if other is resource or not is_repeat(resource, other):
            kept.append(resource)
    return tuple(sorted(kept, key=lambda resource: (resource.key, resource.gvk.version, resource.source)))


def is_repeat(resource: Resource, other: Resource) -> bool:
    """Return whether two units have the same manifest."""
    return is_built(resource) and is_built(other) and resource.unit != other.unit and is_same(resource, other)


def is_same(resource: Resource, other: Resource) -> bool:
    """Return whether two manifests say the same, wherever they are."""
    return resource.spec == other.spec and replace(resource, source=other.source, unit=other.unit) == other


def is_built(resource: Resource) -> bool:
    """Return whether a resource is of a unit that is built."""
    return is_built_unit(resource.unit)


def is_built_unit(unit: Unit | None) -> bool:
    return unit is not None and unit.renders

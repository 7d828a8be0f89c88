"""The unit of a manifest: the folder of its file, or of the kustomization that it was built from.

Records keep the unit of each resource, so it must mean the same in later runs. Several units may have the same
manifest.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TypedDict

from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.resource import Resource
from gitsync.model.unit import Unit

SUFFIXES = (".yaml", ".yml", ".json")
"""The suffixes of files that may have manifests."""

ROOT = "."
"""The unit of files at the root of SOURCE."""

KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Kustomization.yaml"})
"""Names of kustomization files, which are also the paths of their results."""

UNKNOWN = frozenset(
    {"ApplicationFailed", "ChartFailed", "GeneratorNotFollowed", "KustomizationFailed", "UnitsConflict"}
)
"""Codes of problems of units whose manifests are not known."""

UNBUILT = UNKNOWN | {"HelmChart", "OtherSource", "UnitLeftOut"}
"""Codes of problems of units without manifests in this run. A chart that nothing releases can be searched, and
manifests in another repository count as removed from this one.
"""


def find_unit(path: str) -> str:
    """Return the unit of a file, by its path from the root of SOURCE."""
    return path.rpartition("/")[0] or ROOT


def list_parts(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of files, sorted. For the files of a unit, these may be its former units."""
    return tuple(sorted(set(map(find_unit, paths))))


def find_unit_name(resource: Resource) -> str:
    """Return the name of the unit of a resource, as records keep it."""
    return resource.unit.name if resource.unit else find_unit(resource.source.path)


class Declaration(TypedDict):
    """Where a resource is declared, as records keep it: its unit, its file, and the kind of the object that declares
    the unit, "" for none.
    """

    unit: str
    path: str
    declared_by: str


def make_declaration(resource: Resource) -> Declaration:
    """Return where a resource is declared."""
    declared_by = resource.unit.declared_by if resource.unit else ""
    return Declaration(unit=find_unit_name(resource), path=resource.source.path, declared_by=declared_by)


def find_own_path(path: str, unit: Unit | None) -> str:
    """Return the path of a file in the source by its path in the result of a unit, where files that are not built have
    the name of the unit as a prefix.
    """
    own = path.removeprefix(f"{unit.name}/") if unit and unit.settings.selection else path
    return own if unit and own in unit.contents else path


def list_manifest_paths(resource: Resource) -> tuple[str, ...]:
    """Return the paths that a resource is built from: its file and, if its unit is built, the folder of the unit."""
    unit = resource.unit
    path = find_own_path(resource.source.path, unit)
    return (path,) if unit is None or not unit.traits.is_built else (unit.path or ROOT, path)


def is_inside(unit: str, folder: str) -> bool:
    """Return whether a unit is a folder, or is below it. "" is the root too."""
    return folder in {"", ROOT} or unit == folder or unit.startswith(folder + "/")


def may_hide(problem: Problem, unit: str, read: Collection[str] = ()) -> bool:
    """Return whether a problem of a source may hide a manifest of a unit. `read` are the names of units that were
    built.

    A note hides as much as an error. An error without a path may hide any manifest; one of a kustomization or a folder,
    everything below it. An unread entry hides the file or folder at its path. A unit that is not built hides its own
    manifests, and those of former units that may be part of it now; its problem may be a warning.
    """
    if problem.unit:
        # A unit that is not built has no manifests in this run, so none of its resources counts as removed.
        hides_all = problem.may_hide_manifest or problem.code in UNBUILT
        is_part = unit in problem.parts or is_inside(unit, problem.unit)
        return hides_all and (unit == problem.unit or (is_part and unit not in read))
    if not (problem.may_hide_manifest or problem.code == "PassedOver"):
        return False
    folder = find_unit(problem.path)
    if not problem.path or is_inside(unit, problem.path):
        return True
    if posixpath.basename(problem.path) in KUSTOMIZATIONS:  # it may build anything below it
        return is_inside(unit, folder)
    return unit == folder and (problem.may_hide_manifest or problem.path.endswith(SUFFIXES))


def remove_repeats(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Leave out resources that a previous unit has too, by the names of units: kustomizations may share a base. The
    others are sorted by key, version and source.
    """
    resources = tuple(resources)
    if len({resource.key for resource in resources}) == len(resources):
        return tuple(sorted(resources, key=lambda resource: resource.key))  # most sources have no key twice
    first: dict[Key, Resource] = {}
    kept = []
    for resource in sorted(resources, key=lambda resource: (resource.key, find_unit_name(resource), resource.source)):
        # Manifests that differ are both kept, and validation reports them.
        other = first.setdefault(resource.key, resource)
        if other is resource or not is_repeat(resource, other):
            kept.append(resource)
    return tuple(sorted(kept, key=lambda resource: (resource.key, resource.gvk.version, resource.source)))


def is_repeat(resource: Resource, other: Resource) -> bool:
    """Return whether two units have the same manifest."""
    return is_built(resource) and is_built(other) and resource.unit != other.unit and is_same(resource, other)


def is_same(resource: Resource, other: Resource) -> bool:
    """Return whether two manifests have the same content, wherever they are."""
    # Specs first: most manifests differ there, and a copy is made only for the rest.
    return resource.spec == other.spec and replace(resource, source=other.source, unit=other.unit) == other


def is_built(resource: Resource) -> bool:
    """Return whether a resource belongs to a unit that is built."""
    return is_built_unit(resource.unit)


def is_built_unit(unit: Unit | None) -> bool:
    return unit is not None and unit.renders

"""All units of a source. A folder that an object of a controller builds is no unit of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitsync.manifests.units import ROOT
from gitsync.model.problem import Problem
from gitsync.model.unit import Unit, UnitKind
from gitsync.units.build import BuiltUnits, build_units
from gitsync.units.builds import Builds
from gitsync.units.closure import KustomizationReader
from gitsync.units.declarations import Declarations, join_declarations
from gitsync.units.discovery import FoundUnits
from gitsync.units.flux_variables import FluxVariables
from gitsync.units.following import follow
from gitsync.units.object_reader import find_declarations
from gitsync.units.tree import list_folders


@dataclass(frozen=True, slots=True)
class FollowContext:
    """What following needs next to the files: `find_repository` returns the name of this repository, and `variables`
    are those of the operator.
    """

    find_repository: Callable[[], str] = str
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class AllUnits:
    """Everything that was built, and `declared`, the units among it that objects of controllers declare. Files in their
    folders are not read in any other way.
    """

    files: Mapping[str, bytes] = field(repr=False)  # a Secret may be among them
    units: Mapping[str, Unit]
    problems: tuple[Problem, ...]
    used: frozenset[str]
    declared: tuple[Unit, ...] = ()

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that objects of controllers build."""
        return frozenset(unit.path for unit in self.declared)

    def covers(self, path: str) -> bool:
        """Tell whether a file is in the folder of an object that is followed."""
        return any(folder in self.folders for folder in list_folders(path))


@dataclass(slots=True)
class _DeclaredBuilds:
    """Builds the units that objects declare. Mutable: it keeps the results."""

    reader: KustomizationReader
    builds: Builds
    variables: FluxVariables
    done: list[BuiltUnits] = field(default_factory=list)
    results: dict[str, BuiltUnits] = field(default_factory=dict)

    def build(self, units: Sequence[Unit]) -> None:
        """Build units together, and keep the ConfigMaps that they declare."""
        built = build_units(units, self.reader, self.builds)
        self.done.append(built)
        self.variables.declare(built.files, built.units)
        for path, unit in built.units.items():
            self.results[unit.name] = BuiltUnits(files={path: built.files[path]}, units={path: unit})

    def read(self, unit: Unit) -> Declarations:
        """The objects in what was built of a unit."""
        built = self.results.get(unit.name, BuiltUnits())
        return find_declarations(built.files, built.units, self.variables)


def build_all(
    found: FoundUnits,
    plain: Mapping[str, bytes],
    reader: KustomizationReader,
    builds: Builds,
    context: FollowContext,
) -> AllUnits:
    """Build the units that were `found`, and those that they and the `plain` files declare.

    SourceError if no tool is installed that a unit needs.
    """
    built = build_units(found.built, reader, builds)
    declared = _DeclaredBuilds(reader, builds, FluxVariables(context.variables))
    declared.variables.declare(plain, {})
    declared.variables.declare(built.files, built.units)
    start = join_declarations(
        find_declarations(files, units, declared.variables)
        for files, units in ((plain, {}), (built.files, built.units))
    )
    followed = follow(start, declared.build, declared.read, context.find_repository)
    folders = frozenset(unit.path for unit in followed.units)
    parts = (*_leave_out_covered(found.built, built, folders, reader, builds), *declared.done)
    return AllUnits(
        files={path: text for one in parts for path, text in one.files.items()},
        units={path: _add_options(unit, found) for one in parts for path, unit in one.units.items()},
        problems=(*(problem for one in parts for problem in one.problems), *followed.problems),
        used=frozenset().union(*(one.used for one in parts)),
        declared=followed.units,
    )


def _add_options(unit: Unit, found: FoundUnits) -> Unit:
    """A unit of Flux with what gitsync.yaml says of its folder, as far as Flux has no word for it."""
    if unit.kind is not UnitKind.FLUX:
        return unit
    own = found.find_options(unit.path)
    options = replace(
        unit.options,
        waits_for_owners=own.waits_for_owners,
        migrates_versions=own.migrates_versions,
        manages_capz=own.manages_capz,
    )
    return replace(unit, options=options)


def _is_covered(unit: str, folders: Collection[str]) -> bool:
    """Tell whether a kustomization is in a folder that an object of a controller builds."""
    folder = "" if unit == ROOT else unit
    return any(one in folders for one in (folder, *list_folders(folder)))


def _leave_out_covered(
    roots: Sequence[Unit], built: BuiltUnits, folders: Collection[str], reader: KustomizationReader, builds: Builds
) -> list[BuiltUnits]:
    """What was built of the units at `roots` that are in none of these folders."""
    if not folders:
        return [built]
    others = [unit for unit in roots if not _is_covered(unit.name, folders)]
    return [build_units(others, reader, builds)]  # in no time, since the results are kept

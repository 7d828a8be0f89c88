"""The units of a source with those of Flux among them: a folder that a Kustomization builds is no unit of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gitsync.manifests.units import is_inside
from gitsync.model.problem import Problem
from gitsync.model.unit import Unit
from gitsync.units.build import BuiltUnits, build_units
from gitsync.units.builds import Builds
from gitsync.units.closure import KustomizationReader
from gitsync.units.flux import follow_flux
from gitsync.units.flux_objects import FluxObjects, find_flux_objects, join_flux_objects


@dataclass(frozen=True, slots=True, kw_only=True)
class AllUnits:
    """Everything that was built, and `flux`, the units of Kustomizations among it. `covered` are their folders, whose
    files are not read in any other way.
    """

    files: Mapping[str, bytes] = field(repr=False)  # a Secret may be among them
    units: Mapping[str, Unit]
    problems: tuple[Problem, ...]
    used: frozenset[str]
    flux: tuple[Unit, ...] = ()

    def covers(self, path: str) -> bool:
        """Tell whether a file is in the folder of a Kustomization that is followed."""
        return any(is_inside(path, unit.path) for unit in self.flux)


def build_all(
    roots: tuple[Unit, ...],
    plain: Mapping[str, bytes],
    reader: KustomizationReader,
    builds: Builds,
    find_repository: Callable[[], str],
) -> AllUnits:
    """Build the units at `roots`, and those of the Kustomizations of Flux in them and in the `plain` files.

    `find_repository` returns the name of this repository. SourceError if no tool is installed that a unit needs.
    """
    built = {unit.name: build_units([unit], reader, builds) for unit in _build_together(roots, reader, builds)}
    flux: list[BuiltUnits] = []

    def build(unit: Unit) -> FluxObjects:
        flux.append(build_units([unit], reader, builds))
        return find_flux_objects(flux[-1].files, flux[-1].units)

    start = join_flux_objects(
        [find_flux_objects(plain), *(find_flux_objects(one.files, one.units) for one in built.values())]
    )
    followed = follow_flux(start, build, find_repository)
    folders = [unit.path for unit in followed.units]
    own = [one for name, one in built.items() if not any(is_inside(name, folder) for folder in folders)]
    parts = (*own, *flux)
    return AllUnits(
        files={path: text for one in parts for path, text in one.files.items()},
        units={path: unit for one in parts for path, unit in one.units.items()},
        problems=(*(problem for one in parts for problem in one.problems), *followed.problems),
        used=frozenset().union(*(one.used for one in parts)),
        flux=followed.units,
    )


def _build_together(roots: tuple[Unit, ...], reader: KustomizationReader, builds: Builds) -> Iterable[Unit]:
    """Build several units at a time; the results are kept, so that each is then built in no time."""
    build_units(roots, reader, builds)
    return roots

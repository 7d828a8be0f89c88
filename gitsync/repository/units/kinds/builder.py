"""What the module of each kind of unit provides. A kind that has no use for a member inherits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import BuildJob, UnbuildableError
from gitsync.repository.units.kustomization_reader import KustomizationReader


def _owns_nothing(path: str) -> bool:
    del path
    return False


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The units of a kind among some files."""

    roots: Sequence[str] = ()  # the file of each unit, in the folder of the unit
    owns: Callable[[str], bool] = _owns_nothing  # returns whether a file is read with one of them, and in no other way


@dataclass(frozen=True, slots=True)
class MadeJobs:
    """The jobs that build some units, and the errors of those that have none, by the names of the units."""

    jobs: Mapping[str, BuildJob] = field(default_factory=dict)
    errors: Mapping[str, UnbuildableError] = field(default_factory=dict)


class UnitBuilder(Protocol):
    """How the units of a kind are found and built."""

    suffixes: tuple[str, ...] = ()
    """Endings of its files that may have manifests, next to those that gitsync reads (SUFFIXES) and templates of helm:
    a unit that is not built is an error if one of them mentions ASO.
    """

    def find(self, paths: Sequence[str], reader: KustomizationReader, is_named: Callable[[str], bool]) -> FoundFiles:
        """Find the units among files that no kustomization has. `is_named` returns whether gitsync.yaml names a folder.
        Objects of controllers declare their units, so those are not found here.
        """
        del paths, reader, is_named
        return FoundFiles()

    def find_missing(self, folder: str, reader: KustomizationReader) -> str:
        """Return what a folder lacks that gitsync.yaml names as a unit of this kind, "" for nothing."""
        del folder, reader
        return ""

    def refuse(self, unit: Unit) -> UnbuildableError | None:
        """Return why a unit must not be built, None if it may."""
        del unit
        return None

    def is_part(self, unit: Unit, reader: KustomizationReader) -> bool:
        """Return whether a unit is built only as a part of others."""
        del unit, reader
        return False

    def make_jobs(self, units: Mapping[str, Unit], reader: KustomizationReader) -> MadeJobs:
        """Make the jobs of units by their names. All are given at once, so that their files are read together."""
        del units, reader
        return MadeJobs()

    def list_inputs(self, unit: Unit, reader: KustomizationReader) -> Iterable[str]:
        """List the files of the source that building a unit needs. Raises UnbuildableError or SourceError if one of
        them cannot be read.
        """
        del unit, reader
        return ()

    def list_reachable(self, unit: Unit, reader: KustomizationReader) -> frozenset[str]:
        """List the files that a unit may be built of, also of one that cannot be built."""
        del unit, reader
        return frozenset()


@cache
def find_builder(kind: UnitKind) -> UnitBuilder:
    """Return the builder of a kind, from its module."""
    # By its name, so that no second list of kinds has to agree with the rows.
    return cast("UnitBuilder", import_module(f"gitsync.repository.units.kinds.{kind.word}").BUILDER)

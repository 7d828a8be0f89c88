"""Kustomizations that no object of a controller builds. Discovery chooses them, since they claim other files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.kinds.builder import MadeJobs, UnitBuilder
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize_jobs import list_build_inputs, make_kustomize_jobs


class Kustomizations(UnitBuilder):
    """Units that kustomize builds from the file that declares them."""

    def find_missing(self, folder: str, reader: KustomizationReader) -> str:
        return "kustomization" if reader.find_in(folder) is None else ""

    def is_part(self, unit: Unit, reader: KustomizationReader) -> bool:
        """Return whether it is a component."""
        try:
            return reader.read(unit.file).is_component
        # It is then built like others, and so its fault is reported.
        except UnbuildableError:
            return False

    def make_jobs(self, units: Mapping[str, Unit], reader: KustomizationReader) -> MadeJobs:
        return make_kustomize_jobs(units, _choose_start, reader)

    def list_inputs(self, unit: Unit, reader: KustomizationReader) -> Iterable[str]:
        return list_build_inputs(unit.file, reader, reader)

    def list_reachable(self, unit: Unit, reader: KustomizationReader) -> frozenset[str]:
        return reader.list_reachable(unit.file)


def _choose_start(unit: Unit, reader: KustomizationReader) -> tuple[str, KustomizationReader]:
    return unit.file, reader


BUILDER: Final = Kustomizations()

"""Flux Kustomizations: the kustomization of a folder, with the changes of the object laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gitsync.model.unit import Unit
from gitsync.repository.units.flux_build import lay_out
from gitsync.repository.units.kinds.builder import MadeJobs, UnitBuilder
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize_jobs import list_build_inputs, make_kustomize_jobs


class FluxKustomizations(UnitBuilder):
    """Units that kustomize builds from the folder that an object of a controller names."""

    def make_jobs(self, units: Mapping[str, Unit], reader: KustomizationReader) -> MadeJobs:
        return make_kustomize_jobs(units, lay_out, reader)

    def list_inputs(self, unit: Unit, reader: KustomizationReader) -> Iterable[str]:
        return list_build_inputs(*lay_out(unit, reader), reader)

    def list_reachable(self, unit: Unit, reader: KustomizationReader) -> frozenset[str]:
        start = reader.find_in(unit.path)
        return reader.list_reachable(start) if start else frozenset()


BUILDER: Final = FluxKustomizations()

"""Argo CD Applications: each is a chart, a kustomization, or a folder of manifests, as its source is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import ApplicationError, UnbuildableError
from gitsync.repository.units.kinds.builder import MadeJobs, UnitBuilder
from gitsync.repository.units.kinds.flux import BUILDER as KUSTOMIZATIONS
from gitsync.repository.units.kinds.helm_release import BUILDER as CHARTS
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.unit_files import list_directory


class Applications(UnitBuilder):
    """Units that are built as those of Flux are: their changes have the names that Flux gives them. A unit with a
    selection has no job, since its files are read as they are (units/unit_files).
    """

    def refuse(self, unit: Unit) -> UnbuildableError | None:
        if not unit.settings.refusal:
            return None
        message = f"{unit.title} was not built. {unit.settings.refusal}"
        hint = f"Commit what it builds to, or exclude {unit.file} with .gitsyncignore."
        return ApplicationError(message, hint=hint, path=unit.file, line=unit.line)

    def make_jobs(self, units: Mapping[str, Unit], reader: KustomizationReader) -> MadeJobs:
        charts = {name: unit for name, unit in units.items() if unit.is_chart}
        built = KUSTOMIZATIONS.make_jobs({name: unit for name, unit in units.items() if name not in charts}, reader)
        rendered = CHARTS.make_jobs(charts, reader)
        return MadeJobs({**built.jobs, **rendered.jobs}, {**built.errors, **rendered.errors})

    def list_inputs(self, unit: Unit, reader: KustomizationReader) -> Iterable[str]:
        if unit.settings.selection is not None:
            return list_directory(unit, reader)
        return _choose(unit).list_inputs(unit, reader)

    def list_reachable(self, unit: Unit, reader: KustomizationReader) -> frozenset[str]:
        return _choose(unit).list_reachable(unit, reader)


def _choose(unit: Unit) -> UnitBuilder:
    return CHARTS if unit.is_chart else KUSTOMIZATIONS


BUILDER: Final = Applications()

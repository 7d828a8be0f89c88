"""Charts that a HelmRelease releases, with the values of the object."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Final

from gitsync.model.unit import Unit
from gitsync.repository.units.charts import CHART, list_chart_files
from gitsync.repository.units.helm import list_chart_inputs, make_chart_jobs
from gitsync.repository.units.kinds.builder import MadeJobs, UnitBuilder
from gitsync.repository.units.kustomization_reader import KustomizationReader


class HelmReleases(UnitBuilder):
    """Units that helm renders from the chart in their folder."""

    def make_jobs(self, units: Mapping[str, Unit], reader: KustomizationReader) -> MadeJobs:
        return MadeJobs(*make_chart_jobs(units, reader))

    def list_inputs(self, unit: Unit, reader: KustomizationReader) -> Iterable[str]:
        return list_chart_inputs(unit, reader)

    def list_reachable(self, unit: Unit, reader: KustomizationReader) -> frozenset[str]:
        return list_chart_files(posixpath.join(unit.path, CHART), reader)


BUILDER: Final = HelmReleases()

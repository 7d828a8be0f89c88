"""Charts in the source. One is a unit if it may have ASO manifests and no other chart depends on it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.errors import SourceError
from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import ChartError, UnbuildableError, UnreleasedChartError
from gitsync.repository.units.charts import (
    CHART,
    is_in_chart,
    list_chart_files,
    list_charts,
    list_local,
    list_packed,
    read_chart,
)
from gitsync.repository.units.kinds.builder import FoundFiles
from gitsync.repository.units.kinds.helm_release import HelmReleases
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import find_folder


class Charts(HelmReleases):
    """Units that helm renders with the values that gitsync.yaml names."""

    def find(self, paths: Sequence[str], reader: KustomizationReader, is_named: Callable[[str], bool]) -> FoundFiles:
        """Find the Chart.yaml of each chart to render. They own their folders, and those of all that they are rendered
        with.
        """
        charts = [path for path in list_charts(paths) if not _is_object(path, reader)]
        files = {chart: list_chart_files(chart, reader) for chart in charts}
        with suppress(SourceError):  # too much for one source: each is then a problem of its own
            reader.tree.read(sorted({path for found in files.values() for path in found}))
        inner = {local for chart in charts for local in list_local(chart, reader)}
        roots = tuple(
            chart
            for chart in charts
            if is_named(find_folder(chart))
            or (chart not in inner and not _is_library(chart, reader) and _may_have_aso(files[chart], reader))
        )
        used = {find_folder(path) for chart in roots for path in files[chart] if posixpath.basename(path) == CHART}
        return FoundFiles(roots, partial(is_in_chart, charts=frozenset(used)))

    def find_missing(self, folder: str, reader: KustomizationReader) -> str:
        return "" if posixpath.join(folder, CHART) in reader.tree.paths else "chart"

    def refuse(self, unit: Unit) -> UnbuildableError | None:
        """Refuse a chart without values: with its defaults, it could declare anything."""
        if unit.is_named:
            return None
        message = f"{unit.name} is a Helm chart with ASO kinds that nothing releases, so it is not rendered."
        hint = (
            f"Write `units: [{{path: {unit.name}, values: FILE}}]` in gitsync.yaml to release it. If Flux or Argo CD "
            f"take it from a registry, write `published: true` in place of the values. To leave it out, add it to "
            f".gitsyncignore."
        )
        return UnreleasedChartError(message, hint=hint, path=unit.file)


def _is_object(path: str, reader: KustomizationReader) -> bool:
    """Return whether a file has the name of a chart and the content of an object: it is a manifest like others."""
    try:
        (document,) = read_documents(path, reader.tree.read([path])[path]).documents
    except (SourceError, ValueError):  # unreadable, or not one document
        return False
    return is_object(document.value) and "name" not in document.value


def _is_library(chart: str, reader: KustomizationReader) -> bool:
    try:
        return read_chart(chart, reader).is_library
    # In doubt it is a chart of its own, so that its fault is reported.
    except (ChartError, SourceError):
        return False


def _may_have_aso(paths: Iterable[str], reader: KustomizationReader) -> bool:
    """Return whether a chart may have ASO manifests, also from a packed one."""
    try:
        contents = reader.tree.read(sorted(paths))
        return mentions_aso(contents.values()) or mentions_aso(list_packed(contents))
    # What cannot be read may have them: as a unit, it is reported.
    except (ChartError, SourceError):
        return True


BUILDER: Final = Charts()

"""Charts that gitsync.yaml calls published: objects take them from a Helm repository or a registry, by their names.

They are rendered from this repository, so that their values need not be copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitsync.manifests.yaml_documents import Document
from gitsync.model.problem import Level, Problem
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.units.charts import Chart, read_chart
from gitsync.units.closure import KustomizationReader
from gitsync.units.object_fields import find_field
from gitsync.units.unbuildable import ChartError

_VERSION: Final = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+_][0-9A-Za-z.+_-]+)?")


def read_published(paths: Iterable[str], reader: KustomizationReader) -> tuple[Mapping[str, Chart], list[Problem]]:
    """Return the charts at the paths of some Chart.yaml by name, and a problem for each that cannot be read, or has the
    name of another one.
    """
    charts: dict[str, list[Chart]] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            chart = read_chart(path, reader)
        except ChartError as error:
            problems.append(error.problem)
            continue
        charts.setdefault(chart.name, []).append(chart)
    for name, (one, *others) in charts.items():
        for other in others:
            message = f"{one.path} and {other.path} are both the published chart {name}."
            hint = "Set `published: false` for one of them in gitsync.yaml."
            problems.append(ChartError(message, hint=hint, path=other.path).problem)
    return {name: found[0] for name, found in charts.items() if len(found) == 1}, problems


def compare_versions(document: Document, where: FieldPath, subject: str, chart: Chart | None) -> Iterator[Problem]:
    """A warning if an object asks for another version of a published chart than this repository has. A range is no
    version. `subject` is what messages call the object.
    """
    asked = find_field(document, where)
    is_version = isinstance(asked, str) and _VERSION.fullmatch(asked) is not None
    if chart and is_version and _normalize(asked) != _normalize(chart.version):
        yield Problem(
            code="ChartVersion",
            level=Level.WARNING,
            message=f"{subject} asks for version {asked} of the chart {chart.name}. {chart.folder} has version "
            f"{chart.version}, which is rendered.",
            hint="Set one to the other, or read the revision that was published, with --ref.",
            path=document.path,
            line=document.line(*where),
            field=format_field(where),
        )


def _normalize(version: str) -> str:
    """A version without what tags write otherwise."""
    return version.removeprefix("v").replace("_", "+")

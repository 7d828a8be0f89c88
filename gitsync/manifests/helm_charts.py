"""Helm charts among the files of a source: their templates are no manifests until Helm has rendered them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Problem, SourceLocation

CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"

_ASO: Final = re.compile(rb"apiVersion:.*azure\.com/")


@dataclass(frozen=True, slots=True)
class ChartTemplates:
    """The templates of charts: what they are reported as, and a problem for each chart that has some of ASO kinds."""

    unread: tuple[UnreadDocument, ...]
    problems: tuple[Problem, ...]


def find_templates(paths: Collection[str]) -> Mapping[str, str]:
    """Map each template of a chart to the path of its Chart.yaml."""
    charts = {path.removesuffix(CHART): path for path in paths if path.rpartition("/")[2] == CHART}
    templates = {}
    for path in paths:
        folder, found, _ = path.rpartition("templates/")
        while found and folder not in charts:
            folder, found, _ = folder.rpartition("templates/")
        if found:
            templates[path] = charts[folder]
    return templates


def report_templates(templates: Mapping[str, str], files: Mapping[str, bytes]) -> ChartTemplates:
    """Report the templates of charts: one problem for each chart that mentions groups like those of ASO."""
    counts: dict[str, int] = {}
    for path, chart in sorted(templates.items()):
        counts[chart] = counts.get(chart, 0) + bool(_ASO.search(files[path]))
    unread = (UnreadDocument(source=SourceLocation(path, 1), form=TEMPLATE) for path in sorted(templates))
    problems = (_make_problem(chart, count) for chart, count in sorted(counts.items()) if count)
    return ChartTemplates(tuple(unread), tuple(problems))


def _make_problem(chart: str, count: int) -> Problem:
    folder = chart.removesuffix(CHART).rstrip("/") or "."
    noun = "template" if count == 1 else "templates"
    return Problem(
        code="HelmChart",
        message=f"{folder} is a Helm chart with {count} {noun} of ASO kinds, which gitsync does not render.",
        hint=f"Run `helm template {folder}`, and commit the result. To leave the chart out, add it to .gitsyncignore.",
        path=chart,
        line=1,
    )

"""Helm charts among the files of a source: their templates are no manifests until Helm has rendered them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gitsync.manifests.mentions import mentions_aso
from gitsync.manifests.unread_documents import UnreadContent
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Problem, SourceLocation

CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"


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


def report_templates(templates: Mapping[str, str], files: Mapping[str, bytes]) -> UnreadContent:
    """Report the templates of charts: one problem for each chart that mentions groups like those of ASO."""
    counts: dict[str, int] = {}
    for path, chart in sorted(templates.items()):
        counts[chart] = counts.get(chart, 0) + mentions_aso([files[path]])
    unread = (UnreadDocument(source=SourceLocation(path, 1), form=TEMPLATE) for path in sorted(templates))
    problems = (_make_problem(chart, count) for chart, count in sorted(counts.items()) if count)
    return UnreadContent(tuple(problems), tuple(unread))


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

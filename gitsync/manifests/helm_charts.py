"""Helm charts among the files of a source: their templates are no manifests until Helm has rendered them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from gitsync.manifests.metadata import is_object
from gitsync.manifests.recognition import is_ours
from gitsync.manifests.unread_documents import UnreadContent
from gitsync.manifests.yaml_documents import Document
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit
from gitsync.problems.field_path import format_field

CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"
HOOK: Final = "Helm hook"

_HOOK_ANNOTATION: Final = "helm.sh/hook"

_ASO: Final = re.compile(rb"apiVersion:.*azure\.com/")


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
        counts[chart] = counts.get(chart, 0) + bool(_ASO.search(files[path]))
    unread = (UnreadDocument(source=SourceLocation(path, 1), form=TEMPLATE) for path in sorted(templates))
    problems = (_make_problem(chart, count) for chart, count in sorted(counts.items()) if count)
    return UnreadContent(tuple(problems), tuple(unread))


def is_hook(document: Document, unit: Unit | None) -> bool:
    """Tell whether a document is a hook or a test of a chart: helm does not install it with the other objects."""
    if unit is None or unit.release is None:
        return False
    value = document.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and _HOOK_ANNOTATION in annotations


def pass_over_chart_hook(document: Document) -> UnreadContent:
    """Pass a hook of a chart over; with a warning if it is a resource."""
    value, source = document.value, SourceLocation(document.path, document.line())
    unread = (UnreadDocument(source=source, form=HOOK),)
    if not (is_object(value) and is_ours(value["apiVersion"])):
        return UnreadContent((), unread)
    where = ("metadata", "annotations", _HOOK_ANNOTATION)
    problem = Problem(
        code="HelmHook",
        level=Level.WARNING,
        message=f"{value['kind']} {value['metadata'].get('name', '')} is a hook of its chart, so it is not applied.",
        hint=f"Remove the annotation {_HOOK_ANNOTATION} to have it applied.",
        path=document.path,
        line=document.line(*where),
        field=format_field(where),
    )
    return UnreadContent((problem,), unread)


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

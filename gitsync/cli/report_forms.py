"""The forms of a report: the value of --output, the file that --report writes, and the function that renders it.

Commands read their choices of --output here for the help, so what renders is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from gitsync.model.report import Report


class Render(Protocol):
    """Renders a report as a text with a newline at its end; with names of people only if `names`."""

    def __call__(self, report: Report, /, *, names: bool) -> str: ...


class ReportForm(NamedTuple):
    """A form of a report: the name of its file in the folder of --report, and what renders it."""

    file: str
    render: Render


def _render_json(report: Report, *, names: bool) -> str:
    from gitsync.report import json

    return json.render(report, names=names)


def _render_markdown(report: Report, *, names: bool) -> str:
    from gitsync.report import markdown

    del names  # it becomes a comment, which has them with `--who names` only
    return markdown.render(report)


def _render_html(report: Report, *, names: bool) -> str:
    from gitsync.report.html.page import render

    return render(report, names=names)


def _render_junit(report: Report, *, names: bool) -> str:
    from gitsync.report import junit

    del names  # it never has any
    return junit.render(report)


def _render_sarif(report: Report, *, names: bool) -> str:
    from gitsync.report import sarif

    del names  # it never has any
    return sarif.render(report)


REPORT_FORMS: Mapping[str, ReportForm] = {
    "json": ReportForm("report.json", _render_json),
    "markdown": ReportForm("report.md", _render_markdown),
    "html": ReportForm("report.html", _render_html),
    "junit": ReportForm("report.junit.xml", _render_junit),
    "sarif": ReportForm("report.sarif", _render_sarif),
}
"""The forms by the value of --output. Text is none of them: it needs the terminal, and has no file."""


def list_outputs(forms: Mapping[str, ReportForm]) -> tuple[str, ...]:
    """List the choices of --output for a command that has these forms, the default first."""
    return ("text", *forms)


REPORT_OUTPUTS = list_outputs(REPORT_FORMS)

"""Renders an audit as one HTML file, in the style of the page of a report. It loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from gitsync.desired.formats.people import hide_people
from gitsync.report.author_texts import clean
from gitsync.report.html.looks import Tone
from gitsync.report.html.markup import read_own, render_template
from gitsync.report.html.page import ICON, make_policy
from gitsync.report.wording import format_plural
from gitsync.workflows.audit.audit import Origin
from gitsync.workflows.audit.audit_report import (
    AuditReport,
    format_headline,
    format_moment,
    format_operation_author,
    format_resource,
    format_verb,
    list_marks,
    list_notes,
    split_operations,
)

_TONES: Final[Mapping[Origin, Tone]] = {
    Origin.OTHER: Tone.DRIFT,
    Origin.UNKNOWN: Tone.WAIT,
    Origin.OURS: Tone.CHANGE,
    Origin.RUN: Tone.FINE,
}


def render(report: AuditReport, *, names: bool) -> str:
    """Render the page, with names of people if `names`. Equal reports are equal bytes."""
    style = read_own("page.css") + read_own("audit.css")
    page = render_template(
        "audit.html",
        policy=make_policy(style, Markup()),
        icon=ICON,
        style=style,
        title=f"{format_plural(report.audit.count(Origin.OTHER), 'operation')} by others",
        headline=format_headline(report),
        notes=list_notes(report) if names else list(map(hide_people, list_notes(report))),
        sections=[
            {
                "name": origin.value,
                "title": title,
                "tone": _TONES[origin],
                "rows": [
                    {
                        "time": format_moment(operation),
                        "verb": format_verb(operation),
                        "resource": clean(format_resource(operation)),
                        "arm_id": clean(operation.arm_id, 400),
                        "author": format_operation_author(operation, names=names),
                        "correlation": clean(operation.change.correlation_id),
                        "marks": list_marks(operation),
                    }
                    for operation in operations
                ],
            }
            for origin, title, operations in split_operations(report)
        ],
    )
    return f"{page}\n"

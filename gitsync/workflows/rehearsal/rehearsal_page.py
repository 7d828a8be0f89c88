"""Renders a rehearsal as one HTML file, in the style of the report page. It loads no other file and has no scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from gitsync.model.rehearsal import Rehearsal
from gitsync.report.escape import shorten
from gitsync.report.html.looks import Tone
from gitsync.report.html.markup import read_own, render_template
from gitsync.report.html.page import ICON, make_policy
from gitsync.report.run_facts import format_about, list_target
from gitsync.report.wording import format_plural, shorten_revision
from gitsync.workflows.rehearsal.rehearsal_findings import (
    FindingGroup,
    format_headline,
    list_gaps,
    list_wrong,
    name_resources,
)
from gitsync.workflows.rehearsal.rehearsal_report import format_interrupts, list_conditions
from gitsync.workflows.rehearsal.timeline import ACTION_LOOKS, lay_out
from gitsync.workflows.rehearsal.writes import ESTIMATES, format_estimates, list_requests, list_rows

_MOST_FINDINGS: Final = 200  # of a group
_MOST_ROWS: Final = 1000
_MOST_NAMES: Final = 50
_LONGEST: Final = 2000  # characters of a text


class Figure(NamedTuple):
    """A number at the top of the page."""

    name: str  # the section that it leads to, as links use it
    figure: str  # the number as text
    title: str
    tone: Tone
    below: str = ""  # a smaller line


def render(rehearsal: Rehearsal) -> str:
    """Render the page. Equal rehearsals are equal bytes."""
    style = read_own("page.css") + read_own("rehearsal.css")
    first, schedule = rehearsal.first, rehearsal.schedule
    rows = list_rows(rehearsal, name_resources(rehearsal))
    wrong, gaps = list_wrong(rehearsal), list_gaps(rehearsal)
    actions = {bar.action for bar in schedule.bars}
    page = render_template(
        "rehearsal.html",
        policy=make_policy(style, Markup()),
        icon=ICON,
        style=style,
        headline=format_headline(rehearsal),
        from_nothing=rehearsal.from_nothing,
        revision=shorten_revision(first.revision) if first else "",
        resources=len(first.results) if first else 0,
        tiles=_list_tiles(rehearsal, [*wrong, *gaps]),
        target=list_target(first.target) if first else [],
        interrupts=format_interrupts(rehearsal),
        wrong=list(map(_shorten, wrong)),
        gaps=list(map(_shorten, gaps)),
        most=_MOST_FINDINGS,
        to_do="What to do: ",
        timeline=lay_out(schedule, rows),
        looks=[(action.value, look) for action, look in ACTION_LOOKS.items() if action in actions],
        waves=schedule.waves,
        estimates=format_estimates(schedule),
        rows=rows,
        most_rows=_MOST_ROWS,
        origins=ESTIMATES,
        requests=list(list_requests(first.requests)) if first else [],
        conditions=[
            (title, [shorten(line, _LONGEST) for line in lines])
            for title, lines in list_conditions(rehearsal, _MOST_NAMES)
        ],
    )
    return f"{page}\n"


def _list_tiles(rehearsal: Rehearsal, groups: Sequence[FindingGroup]) -> list[Figure]:
    """List the findings by number, then how large the sync is."""
    schedule, times = rehearsal.schedule, Counter(bar.action for bar in rehearsal.schedule.bars)
    found = [
        Figure(group.name, f"{len(group.findings):,}", group.title, Tone.STOP if group.is_wrong else Tone.DRIFT)
        for group in groups
    ]
    if not schedule.bars:
        return found
    critical = sum(bar.is_critical for bar in schedule.bars)
    actions = ", ".join(f"{times[action]:,} {action.value}" for action in ACTION_LOOKS if times[action])
    path = f"{format_plural(schedule.waves, 'wave')}; {format_plural(critical, 'write')} on the critical path"
    time = format_about(schedule).removeprefix("about ")
    return [
        *found,
        Figure("writes", f"{len(rehearsal.writes):,}", "Writes", Tone.CHANGE, actions),
        Figure("time-line", time, "Time", Tone.REST, path),
    ]


def _shorten(group: FindingGroup) -> FindingGroup:
    """Shorten the texts of a group: names from outside may have any length."""
    findings = [
        finding._replace(
            title=shorten(finding.title, _LONGEST),
            message=shorten(finding.message, _LONGEST),
            details=tuple(shorten(line, _LONGEST) for line in finding.details),
        )
        for finding in group.findings
    ]
    return group._replace(findings=findings)

"""A rehearsal as text, Markdown and JSON: whether the sync would work, what stops it, the writes in order, the requests
next to ARM's limits, and what was not rehearsed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gitsync.desired.formats.name_list import name_first
from gitsync.model.gvk import Key
from gitsync.model.limits import ARM_LIMITS
from gitsync.model.rehearsal import Gap, Interrupt, Rehearsal, RehearsedWrite
from gitsync.model.report import Report
from gitsync.model.schedule import Bar
from gitsync.report.escape import format_code, format_prose, shorten
from gitsync.report.json import build_document as build_report
from gitsync.report.json import build_source
from gitsync.report.markdown import MARKER, select_fitting
from gitsync.report.terminal import Paint, format_table, indent
from gitsync.report.wording import format_plural, shorten_revision
from gitsync.settings.logging import escape_controls
from gitsync.workflows.rehearsal.rehearsal_findings import (
    FindingGroup,
    RehearsalFinding,
    format_headline,
    list_gaps,
    list_left_out,
    list_wrong,
    name_resources,
)
from gitsync.workflows.rehearsal.writes import (
    WriteRow,
    draw_bar,
    format_estimates,
    format_size,
    list_requests,
    list_rows,
)

CRITICAL: Final = "*"
"""Marks a write that decides how long the sync takes."""

CRITICAL_MEANS: Final = "On the critical path: if it takes less time, so does the sync."

_FEW_NAMES: Final = 5  # of what was not rehearsed, and of stubs, without -v
_LONGEST: Final = 400  # characters of a text in Markdown
_MOST_DETAILS: Final = 10  # lines below a finding in Markdown
# Characters of the parts in Markdown; together they leave room below the 65,536 of a comment.
_FINDINGS_ROOM, _WRITES_ROOM, _NOTES_ROOM = 24_000, 20_000, 6_000


def list_conditions(rehearsal: Rehearsal, most_names: int) -> list[tuple[str, list[str]]]:
    """List the limits of a rehearsal, by title: stubs, and what was not rehearsed."""
    names = name_resources(rehearsal)
    stubs = [f"{stub.arm_id}, for {name_first([names[key] for key in stub.wanted_by], 2)}" for stub in rehearsal.stubs]
    more = len(stubs) - most_names
    shown = [*stubs[:most_names], *([f"… and {more} more"] if more > 0 else [])]
    parts = (
        (f"Created empty, since no record has them ({len(stubs)})", shown),
        ("Not rehearsed", list_left_out(rehearsal, most_names)),
    )
    return [(title, lines) for title, lines in parts if lines]


def format_interrupts(rehearsal: Rehearsal) -> str:
    """Format how many interrupts ended as the uninterrupted run did; "" without interrupts."""
    fine = sum(interrupt.is_fine for interrupt in rehearsal.interrupts)
    if not rehearsal.interrupts:
        return ""
    ends = "ends" if fine == 1 else "end"
    return f"{fine} of {format_plural(len(rehearsal.interrupts), 'interrupt')} {ends} as the uninterrupted run does."


def format_lines(
    rehearsal: Rehearsal, *, width: int | None = None, colour: bool = False, verbose: bool = False
) -> Iterator[str]:
    """Format a rehearsal as lines of text; a `verbose` one has all names, and each request that wrote."""
    paint, first = Paint(on=colour), rehearsal.first
    headline = [paint.bold(line) for line in indent(format_headline(rehearsal), width, by=0)]
    most = 1_000_000 if verbose else _FEW_NAMES
    parts = [
        [*headline, *_format_about(first)],
        *(_format_group(group, paint, width) for group in list_wrong(rehearsal)),
        _format_writes(rehearsal, paint, width),
        _format_log(rehearsal.writes, width) if verbose else [],
        indent(format_interrupts(rehearsal), width, by=0) if rehearsal.interrupts else [],
        _format_requests(first, paint, width),
        *(_format_group(group, paint, width) for group in list_gaps(rehearsal)),
        *(
            [
                paint.bold(title),
                *(line for text in lines for line in indent(escape_controls(text), width, by=2)),
            ]
            for title, lines in list_conditions(rehearsal, most)
        ),
    ]
    shown = [part for part in parts if part]
    for number, part in enumerate(shown):
        yield from ([""] if number else [])
        yield from part
    if sum(map(len, shown)) >= _SCREEN:  # the end of a long report is what a terminal shows
        yield from ("", *headline)


_SCREEN: Final = 25


def _format_about(report: Report | None) -> list[str]:
    if report is None:
        return []
    resources = format_plural(len(report.results), "resource")
    return [f"rehearsal of {escape_controls(shorten_revision(report.revision))}: {resources}"]


def _format_group(group: FindingGroup, paint: Paint, width: int | None) -> list[str]:
    lines = [paint.bold(f"{group.title} ({len(group.findings)})")]
    for finding in group.findings:
        location = f"   {escape_controls(finding.location)}" if finding.location else ""
        title = f"{escape_controls(finding.title)}{location}"
        lines += [paint.mark_bad(line) if group.is_wrong else line for line in indent(title, width, by=2)]
        for text in filter(None, (finding.message, *finding.details)):
            lines += indent(escape_controls(" ".join(text.split())), width, by=4)
    return lines


def _format_writes(rehearsal: Rehearsal, paint: Paint, width: int | None) -> list[str]:
    rows = list_rows(rehearsal, name_resources(rehearsal))
    if not rows:
        return []
    total = rehearsal.schedule.seconds
    cells = [
        [row.wave, row.start, row.takes, row.action, f"{row.name}{f' {CRITICAL}' if row.is_critical else ''}",
         draw_bar(row.bar, total)]
        for row in rows
    ]  # fmt: skip
    head = ["WAVE", "START", "TAKES", "ACTION", "RESOURCE", "TIME LINE"]
    estimates = format_estimates(rehearsal.schedule)
    is_critical = any(row.is_critical for row in rows)
    waits = ", ░ waiting" if any(row.bar and row.bar.sent > row.bar.ready for row in rows) else ""
    legend = f"█ Azure works{waits}.{f' {CRITICAL} {CRITICAL_MEANS}' if is_critical else ''}"
    return [
        paint.bold(format_size(rehearsal)),
        *(f"  {line}" for line in format_table(head, cells, width=width and width - 2)),
        *(line for text in (legend, estimates) if estimates for line in indent(text, width, by=2)),
    ]


def _format_log(writes: Sequence[RehearsedWrite], width: int | None) -> list[str]:
    rows = [
        [str(write.number), escape_controls(write.method), str(write.status), escape_controls(write.arm_id)]
        for write in writes
    ]
    return format_table(["NUMBER", "METHOD", "STATUS", "ID"], rows, width=width) if rows else []


def _format_requests(report: Report | None, paint: Paint, width: int | None) -> list[str]:
    rows = list(list_requests(report.requests)) if report else []
    if not rows:
        return []
    table = format_table(["KIND", "SENT", "LIMIT"], rows, width=width and width - 2)
    return [paint.bold("Requests"), *(f"  {line}" for line in table)]


def format_markdown(rehearsal: Rehearsal) -> str:
    """Format a rehearsal as Markdown, for a job summary or a comment. What stops the sync comes first; everything else
    is folded. Sentences are prose, in which foreign text is code.
    """
    first, rows = rehearsal.first, list_rows(rehearsal, name_resources(rehearsal))
    about = f"gitsync rehearse of {format_code(shorten_revision(first.revision))}." if first else ""
    room = _FINDINGS_ROOM
    parts = [f"{MARKER}\n### {format_headline(rehearsal)}", about]
    for group in list_wrong(rehearsal):
        items = select_fitting([_format_item(finding) for finding in group.findings], room, "finding")
        room -= sum(map(len, items))
        parts += [f"#### {group.title} ({len(group.findings)})", "\n".join(items)]
    parts += [format_interrupts(rehearsal)]
    if rows:
        parts.append(_fold(format_size(rehearsal), _format_table(rehearsal, rows)))
    if requests := list(list_requests(first.requests)) if first else []:
        parts.append(
            _fold("Requests", "\n".join(["| Kind | Sent | Limit |", "|---|---|---|", *map(_format_row, requests)]))
        )
    for group in list_gaps(rehearsal):
        items = select_fitting([_format_item(finding) for finding in group.findings], _NOTES_ROOM, "finding")
        parts.append(_fold(f"{group.title} ({len(group.findings)})", "\n".join(items)))
    for title, lines in list_conditions(rehearsal, _FEW_NAMES):
        items = [f"- {format_prose(shorten(line, _LONGEST))}" for line in lines]
        parts.append(_fold(title, "\n".join(select_fitting(items, _NOTES_ROOM, "line"))))
    return "\n\n".join(filter(None, parts)) + "\n"


def _fold(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _format_item(finding: RehearsalFinding) -> str:
    location = f" {format_code(shorten(finding.location, _LONGEST))}" if finding.location else ""
    message = f"<br>{format_prose(shorten(finding.message, _LONGEST))}" if finding.message else ""
    lines = [shorten(line, _LONGEST) for line in finding.details[:_MOST_DETAILS]]
    details = "".join(f"<br>{format_prose(line)}" for line in lines)
    return f"- **{format_prose(shorten(finding.title, _LONGEST))}**{location}{message}{details}"


def _format_table(rehearsal: Rehearsal, rows: Sequence[WriteRow]) -> str:
    lines = []
    for row in rows:
        name, critical = format_code(shorten(row.name, _LONGEST)), "yes" if row.is_critical else ""
        lines.append(_format_row((row.wave, row.start, row.takes, row.action, name, critical)))
    fitting = select_fitting(lines, _WRITES_ROOM, "write")
    more = [] if fitting[-1].startswith("|") else ["", fitting.pop()]
    head = ["| Wave | Start | Takes | Action | Resource | Critical |", "|---:|---:|---:|---|---|---|"]
    estimates = format_estimates(rehearsal.schedule)
    return "\n".join([*head, *fitting, *more, *(["", estimates] if estimates else [])])


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def render_json(rehearsal: Rehearsal) -> str:
    """Render a rehearsal as JSON, indented, with a newline at its end."""
    return json.dumps(build_document(rehearsal), indent=2) + "\n"


def build_document(rehearsal: Rehearsal) -> dict[str, Any]:
    """Build the JSON document of a rehearsal from plain values."""
    return {
        "fromNothing": rehearsal.from_nothing,
        "headline": format_headline(rehearsal),
        "exitCode": rehearsal.exit_code,
        "refusal": rehearsal.refusal or None,
        "silent": rehearsal.is_silent if rehearsal.second else None,
        "seconds": round(rehearsal.schedule.seconds, 3),
        "waves": rehearsal.schedule.waves,
        "first": rehearsal.first and build_report(rehearsal.first),
        "second": rehearsal.second and build_report(rehearsal.second),
        "writes": [_build_write(write) for write in rehearsal.writes],
        "laterWrites": [_build_write(write) for write in rehearsal.later_writes],
        "schedule": [_build_bar(bar) for bar in rehearsal.schedule.bars],
        "limits": {
            kind.value: {"atOnce": limit.burst, "perSecond": limit.per_second} for kind, limit in ARM_LIMITS.items()
        },
        "interrupts": [_build_interrupt(interrupt) for interrupt in rehearsal.interrupts],
        "gaps": [_build_gap(gap) for gap in rehearsal.gaps],
        "stubs": [{"armId": stub.arm_id, "wantedBy": list(map(str, stub.wanted_by))} for stub in rehearsal.stubs],
        "notRehearsed": [
            {
                "what": omitted.blank.value,
                "count": omitted.count,
                "names": list(omitted.names),
                "message": omitted.sentence,
            }
            for omitted in rehearsal.not_rehearsed
        ],
    }


def _name(key: Key | None) -> str | None:
    return str(key) if key else None


def _build_write(write: RehearsedWrite) -> dict[str, Any]:
    return {
        "number": write.number,
        "resource": _name(write.key),
        "armId": write.arm_id,
        "action": write.action.value,
        "method": write.method,
        "status": write.status,
    }


def _build_bar(bar: Bar) -> dict[str, Any]:
    return {
        "resource": _name(bar.key),
        "action": bar.action.value,
        "wave": bar.wave,
        "ready": round(bar.ready, 3),
        "sent": round(bar.sent, 3),
        "end": round(bar.end, 3),
        "estimate": bar.estimate.value,
        "critical": bar.is_critical,
    }


def _build_interrupt(interrupt: Interrupt) -> dict[str, Any]:
    return {
        "number": interrupt.number,
        "armId": interrupt.arm_id,
        "fine": interrupt.is_fine,
        "differences": list(interrupt.differences),
        "createdTwice": list(interrupt.sent_twice),
    }


def _build_gap(gap: Gap) -> dict[str, Any]:
    return {
        "kind": gap.kind.value,
        "resource": _name(gap.key),
        "stops": gap.stops,
        "message": gap.message,
        "hint": gap.hint,
        "field": gap.field,
        "source": build_source(gap.source),
    }

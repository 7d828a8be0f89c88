"""Renders a report as Markdown, for a comment on a pull request or a job summary: short, with folded details.

Hosts reject comments above 65,536 characters. The end of each section is omitted if it does not fit, and counted.
Foreign text is always formatted as code (see `escape`).
"""

from __future__ import annotations

from collections.abc import Sequence

from gitsync.diff.three_way import REMOVED
from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Difference
from gitsync.report.escape import format_advice, format_block, format_code, format_value, shorten
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.ordering import describe_causes, shorten_names, sort_by_urgency
from gitsync.report.run_facts import format_costs, format_coverage, list_target
from gitsync.report.wording import (
    REPLACE_NEEDED,
    describe_replacement,
    format_baseline_note,
    format_found,
    format_headline,
    format_last_commit,
    format_plural,
    format_renderers,
    is_quiet,
    shorten_problems,
    shorten_revision,
)

LIMIT = 60_000
MARKER = "<!-- gitsync -->"
"""The first line, by which a workflow finds its comment and replaces it."""

_PROBLEMS_ROOM, _TABLE_ROOM = 12_000, 24_000  # characters; the details get what is left
_MOST_DIFFERENCES = 50  # of one resource
_SHORT_MESSAGE, _LONG_MESSAGE = 200, 4000  # characters, in the table and in the details
_RESERVE = 500  # characters for the sentences about omitted parts
_COLUMNS = ("Resource", "Namespace", "Outcome", "Verdict", "Action", "Ready", "Reason", "Message")
_OF_A_SYNC = frozenset({"Outcome", "Ready", "Reason"})  # a plan changes nothing, the condition neither


def render(report: Report) -> str:
    """Render the report as Markdown, under `LIMIT` characters however large the run was."""
    start = [_format_head(report), *_format_problems(report.problems), *_format_table(report), *list_next_steps(report)]
    foot = _format_foot(report)
    room = LIMIT - _RESERVE - sum(len(part) + 2 for part in (*start, *foot))
    names = shorten_names(r.key for r in report.results)
    details = [_format_detail(r, names[r.key]) for r in sort_by_urgency(report.results) if _has_details(r)]
    return "\n\n".join([*start, *_select_fitting(details, room, "resource with details"), *foot]) + "\n"


def _has_details(result: Result) -> bool:
    """Tell whether a resource has details. A planned create has its id. The row of what waits for
    another resource says all of it.
    """
    is_explained = result.is_fine or result.blocked_by
    has_content = result.differences or result.attempts or result.last_commit
    return bool(has_content) or result.body is not None or not is_explained


def _select_fitting(texts: Sequence[str], room: int, noun: str) -> list[str]:
    """Select the first texts that fit into the room together, and add a sentence that counts the others."""
    fitting_count = 0
    for text in texts:
        room -= len(text) + 2
        if room < 0:
            break
        fitting_count += 1
    return [*texts[:fitting_count], *_format_left_out(len(texts) - fitting_count, noun)]


def _format_left_out(count: int, noun: str) -> list[str]:
    if not count:
        return []
    head, _, tail = noun.partition(" ")
    return [f"… and {format_plural(count, f'more {head}')}{tail and ' ' + tail}, left out to keep this short."]


def _format_head(report: Report) -> str:
    """Format the headline, which is what a mail or a folded comment shows, and what the run was of."""
    headline = format_headline(report)
    paragraphs = [f"{MARKER}\n### {headline[:1].upper()}{headline[1:]}"]
    if report.command != "validate" or report.revision:
        short = shorten_revision(report.revision)
        revision = short if report.revision is None else format_code(short)
        found = f": {format_found(report)}" if report.command != "validate" else ""
        note = format_baseline_note(report)
        paragraphs.append(f"gitsync {report.command} of {revision}{found}.{note and ' ' + note}")
    if report.coverage.files or report.coverage.ignored:
        paragraphs.append(f"Read {format_coverage(report.coverage)}.")
    if report.interrupted:
        paragraphs.append("**Interrupted**: the next run continues with the resources that were not reached.")
    return "\n\n".join(paragraphs)


def _format_foot(report: Report) -> list[str]:
    """Format what the run read and wrote to, and what it cost."""
    target = "\n".join(f"- {name}: {format_code(value)}" for name, value in list_target(report.target))
    costs = format_costs(report) if report.command != "validate" else []
    return [part for part in (target, " ".join(costs)) if part]


def _format_problems(problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return []
    lines = [format_problem(one) for one in shorten_problems(problems)]
    return [f"#### Problems ({len(problems)})", "\n".join(_select_fitting(lines, _PROBLEMS_ROOM, "problem"))]


def format_problem(problem: Problem) -> str:
    """Format one problem as an item of a list."""
    place = format_code(problem.place)
    parts = (
        place,
        f"**{problem.level.value}**",
        format_code(problem.field),
        format_code(format_renderers(problem.rendered_by)),
        format_code(problem.message),
        format_code(problem.hint),
    )
    return "- " + " ".join(part for part in parts if part)


def _format_table(report: Report) -> list[str]:
    """Format a table of all resources that are not simply in sync."""
    names = shorten_names(r.key for r in report.results)
    listed_results = [r for r in sort_by_urgency(report.results) if not is_quiet(r)]
    if not listed_results:
        return []
    columns = [column for column in _COLUMNS if report.command == "sync" or column not in _OF_A_SYNC]
    causes = describe_causes(report.results)
    rows = [_format_row(r, names[r.key], causes.get(r.key, ""), columns) for r in listed_results]
    *fitting_rows, last = _select_fitting(rows, _TABLE_ROOM, "resource")
    head = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    # The last line may be the sentence about rows that are left out, which is no row.
    if last.startswith("|"):
        return ["\n".join([*head, *fitting_rows, last])]
    return ["\n".join([*head, *fitting_rows]), last]


def _format_row(result: Result, name: str, cause: str, columns: Sequence[str]) -> str:
    condition = result.condition
    cells = {
        "Resource": format_code(name),
        "Namespace": format_code(result.key.namespace),
        "Outcome": f"**{result.outcome.value}**" if result.outcome is Outcome.FAILED else result.outcome.value,
        "Verdict": result.verdict.value,
        "Action": f"**{REPLACE_NEEDED}**" if result.replacement else result.action.value,
        "Ready": condition.status.value,
        "Reason": format_code(condition.reason),
        "Message": format_code(shorten(cause or result.message, _SHORT_MESSAGE)),
    }
    return f"| {' | '.join(cells[column] for column in columns)} |"


def _format_detail(result: Result, name: str) -> str:
    """Format one resource, folded: its id, differences (live values with a minus, desired with a
    plus), failed attempts.
    """
    differences = sorted(result.differences, key=lambda d: d.path)
    shown, hidden = differences[:_MOST_DIFFERENCES], len(differences[_MOST_DIFFERENCES:])
    attempts = (
        f"{attempt.at} {attempt.stage.value} {attempt.status or ''} {attempt.code}: "
        f"{shorten(attempt.message, _SHORT_MESSAGE)}{_format_request(attempt.request_id)}"
        for attempt in result.attempts
    )
    parts = [
        f"<details><summary>{_find_word(result)}: {format_code(name)}</summary>",
        format_code(result.arm_id or ""),
        format_code(_format_source(result)),
        format_code(shorten(result.condition.message, _LONG_MESSAGE) + _format_request(result.condition.request_id)),
        f"**{REPLACE_NEEDED.capitalize()}:** {format_code(replacement)}"
        if (replacement := describe_replacement(result))
        else "",
        f"Last commit: {format_code(commit)}" if (commit := format_last_commit(result.last_commit)) else "",
        f"**What to do:** {advice}" if (advice := format_advice(result.condition, result.key, _LONG_MESSAGE)) else "",
        format_block([line for d in shown for line in _format_sides(d)], "diff") if shown else "",
        *_format_left_out(hidden, "difference"),
        "\n".join(f"- {format_code(text)}" for text in attempts),
        "</details>",
    ]
    return "\n\n".join(part for part in parts if part)


def _format_source(result: Result) -> str:
    """Format where the manifest of a resource is, if a unit rendered it: its name does not say so."""
    if not (result.source and result.rendered_by):
        return ""
    return f"{result.source}, {format_renderers([result.rendered_by])}"


def _find_word(result: Result) -> str:
    """Find what a detail is about: a failure, or else the verdict."""
    if result.replacement:
        return REPLACE_NEEDED
    return result.outcome.value if result.outcome is Outcome.FAILED else result.verdict.value


def _format_request(request_id: str) -> str:
    return f" (request {request_id})" if request_id else ""


def _format_sides(difference: Difference) -> list[str]:
    reason = f" ({REMOVED})" if difference.rule == REMOVED else ""
    return [
        f"  {difference.path}{reason}",
        f"- {format_value(difference.live)}",
        f"+ {format_value(difference.desired)}",
    ]

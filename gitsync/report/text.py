"""Renders a report for a terminal: a summary, a table like that of `kubectl get`, differences, problems and next steps.

Only resources that differ or need attention are listed; those in sync and Ready are counted. Ids and messages are never
truncated, so that they can be copied.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gitsync.diff.three_way import REMOVED
from gitsync.diff.unknown_values import is_not_known
from gitsync.logging import escape_controls
from gitsync.model.problem import Problem
from gitsync.model.report import Report, RunTarget
from gitsync.model.result import Result
from gitsync.model.verdict import Difference, Verdict
from gitsync.problems.problem_codes import find_code_meaning
from gitsync.report.escape import format_value
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.ordering import describe_causes, has_namespaces, shorten_names, sort_by_urgency
from gitsync.report.run_facts import format_costs, format_coverage, list_by_type, list_target
from gitsync.report.terminal import Paint, format_table, indent, indent_after
from gitsync.report.wording import (
    REPLACE_NEEDED,
    describe_replacement,
    format_action,
    format_baseline_note,
    format_found,
    format_headline,
    format_in_sync,
    format_last_commit,
    format_renderers,
    is_quiet,
    shorten_problems,
    shorten_revision,
)
from gitsync.status.advice import find_condition_advice

_SCREEN = 25
"""Lines; a longer report has its headline at its end too."""

_SHORT = 100  # characters of both sides of a difference; longer ones get a line each


def render(report: Report, *, width: int | None = None, colour: bool = False, verbose: bool = False) -> str:
    """Render the report as text, with a newline at its end. `width` is the terminal's; None for no
    wrapping. A `verbose` one has the bodies of creates in a plan, and the requests by type.
    """
    paint, requests = Paint(on=colour), list_by_type(report)
    sections = (
        _format_summary(report, width, paint),
        _format_resources(report, width, paint),
        _format_details(report, width, paint, verbose=verbose),
        format_problems(report.problems, width=width, colour=colour),
        [
            line
            for step in (*explain_codes(report.problems), *list_next_steps(report))
            for line in indent(step, width, by=0)
        ],
        format_table(["TYPE", "REQUESTS"], requests) if verbose and requests else [],
        [
            *format_target(report.target, width=width),
            *(line for cost in format_costs(report) for line in indent(cost, width, by=0)),
        ],
    )
    text = "\n\n".join("\n".join(lines) for lines in sections if lines)
    # The end of a long report is what a terminal shows.
    again = "\n\n" + "\n".join(_format_headline(report, width, paint)) if text.count("\n") >= _SCREEN else ""
    return f"{text}{again}\n"


def format_target(target: RunTarget, *, width: int | None = None) -> list[str]:
    """Format what the run reads and writes to, a line each."""
    facts = list_target(target)
    column = max((len(fact.name) for fact in facts), default=0) + 2
    return [
        line for name, value in facts for line in indent_after(f"{name}:".ljust(column), escape_controls(value), width)
    ]


def _format_headline(report: Report, width: int | None, paint: Paint) -> list[str]:
    return [paint.bold(line) for line in indent(format_headline(report), width, by=0)]


def _format_summary(report: Report, width: int | None, paint: Paint) -> list[str]:
    revision = escape_controls(shorten_revision(report.revision))
    lines = [
        f"{report.command} of {revision}: {format_found(report)}",
        format_baseline_note(report),
        f"read {format_coverage(report.coverage)}" if report.coverage.files or report.coverage.ignored else "",
    ]
    interrupted = "Interrupted: the next run continues with the resources that were not reached."
    return [
        *_format_headline(report, width, paint),
        *(line for text in lines if text for line in indent(text, width, by=0)),
        *(paint.mark_bad(line) for line in indent(interrupted, width, by=0) if report.interrupted),
    ]


def _format_resources(report: Report, width: int | None, paint: Paint) -> list[str]:
    """Format the table of resources that need attention, and the number of resources that it omits."""
    ordered = sort_by_urgency(report.results)
    listed = [result for result in ordered if not is_quiet(result)]
    names = shorten_names(result.key for result in ordered)
    causes = describe_causes(report.results)
    rows = [_TableRow(result, names[result.key], causes.get(result.key, "")) for result in listed]
    lines = _format_table(rows, width, paint, writes=report.command == "sync") if rows else []
    return [*lines, *_format_left_out([result for result in ordered if is_quiet(result)])]


def _format_left_out(results: Sequence[Result]) -> list[str]:
    """Format how many are in sync, and for how many of them the comparison is incomplete."""
    if not results:
        return []
    unknown = sum(any(map(is_not_known, result.because.values())) for result in results)
    incomplete = sum(any(not is_not_known(result.because.get(p, "")) for p in result.unverified) for result in results)
    notes = (
        f"; for {incomplete} of them, Azure does not return all desired values" if incomplete else "",
        f"; for {unknown} of them, the plan does not know all desired values" if unknown else "",
    )
    return [f"{format_in_sync(results)}, not listed{''.join(notes)}."]


class _TableRow(NamedTuple):
    """A resource, its short name, and what it waits for ("" if it waits for no other resource)."""

    result: Result
    name: str
    cause: str

    @property
    def message(self) -> str:
        """The cause takes the place of a message that only says that something is missing."""
        return self.cause or escape_controls(self.result.message)


_COLUMNS: tuple[tuple[str, Callable[[_TableRow], str]], ...] = (
    ("NAMESPACE", lambda row: escape_controls(row.result.key.namespace)),
    ("NAME", lambda row: row.name),
    ("OUTCOME", lambda row: row.result.outcome.value),
    ("VERDICT", lambda row: row.result.verdict.value),
    ("ACTION", lambda row: format_action(row.result)),
    ("READY", lambda row: row.result.condition.status.value),
    ("SEVERITY", lambda row: row.result.condition.severity.value),
    ("REASON", lambda row: escape_controls(row.result.condition.reason)),
    ("MESSAGE", lambda row: row.message),
)
_OF_A_SYNC = frozenset({"OUTCOME", "READY", "SEVERITY", "REASON"})  # a plan changes nothing, the condition neither


def _format_table(rows: Sequence[_TableRow], width: int | None, paint: Paint, *, writes: bool) -> list[str]:
    left_out = (frozenset() if writes else _OF_A_SYNC) | (
        frozenset() if has_namespaces(row.result.key for row in rows) else {"NAMESPACE"}
    )
    columns = [column for column in _COLUMNS if column[0] not in left_out]
    cells = [tuple(text(row) for _, text in columns) for row in rows]
    head, *body = format_table([title for title, _ in columns], cells, width=width)
    return [paint.bold(head), *(paint.colour_words(line) for line in body)]


def _format_details(report: Report, width: int | None, paint: Paint, *, verbose: bool) -> list[str]:
    """Differences, failures and planned creates, by resource."""
    names = shorten_names(r.key for r in report.results)
    lines: list[str] = []
    for result in sort_by_urgency(report.results):
        if detail := [*_format_detail(result, width, paint), *(_format_body(result) if verbose else ())]:
            source = str(result.source) if result.source else ""
            parts = (f" in {result.key.namespace}", source, format_renderers([result.rendered_by] if source else []))
            location = ", ".join(escape_controls(part) for part in parts if part)
            lines += [f"{paint.bold(names[result.key])}{location}", *detail]
    return lines


def _format_body(result: Result) -> Iterator[str]:
    """Format the body of a planned create."""
    if result.body is not None:
        yield "  body:"
        text = json.dumps(result.body, indent=2, ensure_ascii=False)
        yield from (f"    {escape_controls(line)}" for line in text.splitlines())


def _format_detail(result: Result, width: int | None, paint: Paint) -> Iterator[str]:
    differences = sorted(result.differences, key=lambda d: d.path)
    # Its row names the cause; it was not read from Azure.
    is_waiting = result.verdict in {Verdict.BLOCKED, Verdict.INVALID}
    is_new = result.body is not None and (result.arm_id or "") not in result.condition.message
    if result.arm_id and (is_new or differences or result.attempts or not (result.is_fine or is_waiting)):
        yield f"  id: {escape_controls(result.arm_id)}"
    yield from _format_notes(result, width)
    for difference in differences:
        yield from _format_difference(difference, width, paint)
    if differences and result.unverified:
        for path in sorted(result.unverified):
            yield f"  {escape_controls(path)}: {result.because.get(path, 'Azure does not return it')}"
    for attempt in result.attempts:
        status = f" {attempt.status}" if attempt.status else ""
        request = f" (request {attempt.request_id})" if attempt.request_id else ""
        line = f"{attempt.at} {attempt.stage.value}:{status} {attempt.code}: {attempt.message}{request}"
        yield from indent(escape_controls(line), width, by=2)


def _format_notes(result: Result, width: int | None) -> Iterator[str]:
    """Format what is known of a resource in addition to its row."""
    if result.condition.request_id:
        yield f"  request id: {escape_controls(result.condition.request_id)}"
    if last_commit := format_last_commit(result.last_commit):
        yield from indent(f"last commit: {last_commit}", width, by=2)
    if replacement := describe_replacement(result):
        yield from indent(f"{REPLACE_NEEDED}: {escape_controls(replacement)}", width, by=2)
    if advice := find_condition_advice(result.condition, result.key):
        yield from indent(f"What to do: {escape_controls(advice)}", width, by=2)


def _format_difference(difference: Difference, width: int | None, paint: Paint) -> Iterator[str]:
    """Format a value that would be added (+), removed (-) or changed (~), with its path."""
    path, live, desired = (
        escape_controls(difference.path),
        format_value(difference.live),
        format_value(difference.desired),
    )
    if difference.live is None:
        yield from map(paint.mark_good, indent(f"+ {path}: {desired}", width, by=2))
    elif difference.desired is None:
        reason = f" ({REMOVED})" if difference.rule == REMOVED else ""
        yield from map(paint.mark_bad, indent(f"- {path}: {live}{reason}", width, by=2))
    elif len(live) + len(desired) <= _SHORT:
        yield from map(paint.mark_notable, indent(f"~ {path}: {live} → {desired}", width, by=2))
    else:
        yield paint.mark_notable(f"  ~ {path}:")
        yield from map(paint.mark_bad, indent(f"- {live}", width, by=6))
        yield from map(paint.mark_good, indent(f"+ {desired}", width, by=6))


def explain_codes(problems: Sequence[Problem]) -> list[str]:
    """Say how to learn more of problems: of the first code that the table has, and of those that
    are not shown.
    """
    shown = shorten_problems(problems)
    known = (problem.code for problem in shown if find_code_meaning(problem.code))
    every = ["`--output json` has every problem."] if len(shown) < len(problems) else []
    return [*(f"`gitsync explain {code}` explains the code, with an example." for code in islice(known, 1)), *every]


def format_problems(problems: Sequence[Problem], *, width: int | None = None, colour: bool = False) -> list[str]:
    """Format problems of the input as lines: place, problem and remedy, in the order of the files."""
    paint = Paint(on=colour)
    lines: list[str] = []
    for problem in shorten_problems(problems):
        place = escape_controls(problem.place)
        level = paint.mark_bad(problem.level.value) if problem.is_error else paint.mark_notable(problem.level.value)
        field = f" {escape_controls(problem.field)}" if problem.field else ""
        renderers = format_renderers(problem.rendered_by)
        end = f", {escape_controls(renderers)}" if renderers else ""
        lines.append(f"{place + ': ' if place else ''}{level}: {problem.code}{field}{end}")
        lines += [
            line
            for part in (problem.message, problem.hint)
            for text in part.splitlines()
            for line in indent(escape_controls(text), width, by=4)
        ]
    return lines

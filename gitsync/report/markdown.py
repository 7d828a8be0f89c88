"""Renders a report as Markdown, for a comment on a pull request or a job summary: short, with folded details.

The headline comes first, then the sections in the order of every report; the target and the cost are last. Hosts
reject comments above 65,536 characters. The end of each section is omitted if it does not fit, and counted.
Foreign text is always formatted as code (see `escape`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitsync.model.attribution import Who
from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Action
from gitsync.planning.data_types import describe_loss
from gitsync.report.authors import Doubt, list_authors, list_busy_authors, list_doubts
from gitsync.report.checks import (
    MOST_REASONS,
    Unchecked,
    format_check,
    format_remedy,
    format_statement,
    format_way_on,
    list_shown,
    list_unchecked,
    repeats_check,
)
from gitsync.report.differences import Change, list_changes
from gitsync.report.escape import format_advice, format_block, format_code, format_value, shorten
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.ordering import (
    DELETES,
    FAILED,
    IN_SYNC,
    LOSING,
    REFUSED,
    TITLED,
    Section,
    describe_causes,
    has_namespaces,
    shorten_names,
    split_results,
    takes_away,
)
from gitsync.report.people import leave_out_people
from gitsync.report.run_facts import format_costs, format_coverage, list_target
from gitsync.report.wording import (
    FEW_CREATES,
    describe_replacement,
    format_attempt,
    format_baseline_note,
    format_found,
    format_headline,
    format_in_sync,
    format_last_commit,
    format_message,
    format_place,
    format_plural,
    format_problem_place,
    format_renderers,
    format_state,
    list_body,
    list_told_elsewhere,
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
_COLUMNS = ("Resource", "Namespace", "Action", "Manifest", "Message")
_FEW_OPEN = 5  # resources whose details are open from the start, if they have not more than so many lines together
_FEW_LINES = 40
_MOST_OPEN_DELETES = 20  # whose details are open: what is lost is shown at once


def render(report: Report) -> str:
    """Render the report as Markdown, under `LIMIT` characters however large the run was; with the names of people only
    with `--who names`.
    """
    report = report if report.who is Who.NAMES else leave_out_people(report)
    errors, warnings = (
        _format_problems(word, [problem for problem in report.problems if problem.is_error is is_error])
        for word, is_error in (("Errors", True), ("Warnings", False))
    )
    head = _format_head(report)
    results = split_results(report.results)
    quiet = results.get(IN_SYNC, [])
    sections = {section: found for section, found in results.items() if section != IN_SYNC}
    listing = _Listing(report)
    tables = listing.format_tables(sections)
    in_sync = [f"{format_in_sync(quiet)}, not listed."] if quiet else []
    way_on = [text for text in [format_way_on(report)] if text]
    ends = [*in_sync, *_format_unchecked(report), *list_next_steps(report), *_format_foot(report)]
    fixed = [head, *way_on, *errors, *warnings, *ends, *(part for table in tables.values() for part in table)]
    room = LIMIT - _RESERVE - sum(len(part) + 2 for part in fixed)
    details = listing.format_details(sections, room)
    parts = {section: [*tables[section], *details[section]] for section in sections}
    first = [*parts.pop(FAILED, []), *parts.pop(REFUSED, []), *way_on]
    listed = [part for section in parts.values() for part in section]
    return "\n\n".join([head, *first, *errors, *listed, *warnings, *ends]) + "\n"


class _Listing:
    """Formats the resources of a report by section: a table, and details below it."""

    def __init__(self, report: Report) -> None:
        self._writes, self._names_people = report.command == "sync", report.who is Who.NAMES
        self._names = shorten_names(result.key for result in report.results)
        self._causes = describe_causes(report.results)
        self._told_elsewhere = list_told_elsewhere(report)
        self._has_namespaces = has_namespaces(result.key for result in report.results)
        self._shows_bodies = sum(result.body is not None for result in report.results) <= FEW_CREATES
        changed = [result for result in report.results if result.differences]
        lines = sum(len(_list_lines(result)) for result in changed[: _FEW_OPEN + 1])
        self._is_small = len(changed) <= _FEW_OPEN and lines <= _FEW_LINES

    def format_tables(self, sections: Mapping[Section, Sequence[Result]]) -> dict[Section, list[str]]:
        """Format the heading and the table of each section; all tables share their room."""
        tables, room = {}, _TABLE_ROOM
        for section, results in sections.items():
            cells = [self._list_cells(section, result) for result in results]
            columns = [column for column in _COLUMNS if any(row[column] for row in cells)]
            rows = [f"| {' | '.join(row[column] for column in columns)} |" for row in cells]
            fitting = select_fitting(rows, room, "resource")
            left_out = [] if fitting[-1].startswith("|") else [fitting.pop()]
            head = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"] if fitting else []
            title = f"#### {section.find_title(writes=self._writes)} ({len(results)})"
            tables[section] = [title, *filter(None, ["\n".join([*head, *fitting])]), *left_out]
            room -= sum(len(row) + 2 for row in fitting)
        return tables

    def _list_cells(self, section: Section, result: Result) -> Mapping[str, str]:
        checks = list_shown(result, writes=self._writes)
        said = " ".join(f"{format_check(finding)}: {format_statement(finding, result)}" for finding in checks)
        is_told = result.key in self._told_elsewhere or result.replacement is not None  # below
        message = "" if is_told or result.is_refused else self._causes.get(result.key) or format_message(result)
        state = "" if section in TITLED else format_state(result)
        return {
            "Resource": format_code(self._names[result.key]),
            "Namespace": format_code(result.key.namespace) if self._has_namespaces else "",
            "Action": state,
            "Manifest": format_code(format_place(result)),
            "Message": format_code(shorten(message or said, _SHORT_MESSAGE)),
        }

    def format_details(self, sections: Mapping[Section, Sequence[Result]], room: int) -> dict[Section, list[str]]:
        """Format the details of each section, as far as there is room for all of them together."""
        details = {}
        for section, results in sections.items():
            texts = [self._format_detail(section, result, results) for result in results if self._has_details(result)]
            fitting = select_fitting(texts, room, "resource with details")
            room -= sum(len(text) + 2 for text in fitting)
            details[section] = fitting
        return details

    def _has_details(self, result: Result) -> bool:
        """Tell whether a resource has details. The row of what waits for another resource says all of it."""
        is_explained = result.is_fine or result.blocked_by or result.key in self._told_elsewhere
        has_checks = list_shown(result, writes=self._writes)
        has_content = has_checks or result.differences or result.attempts or result.last_commit or result.changed_by
        is_shown = result.body is not None and self._shows_bodies
        return bool(has_content) or is_shown or result.action is Action.DELETE or not is_explained

    def _is_open(self, section: Section, result: Result, results: Sequence[Result]) -> bool:
        if section in LOSING:
            return len(results) <= _MOST_OPEN_DELETES
        if section in {FAILED, REFUSED}:
            return len(results) <= _FEW_OPEN
        return bool(result.differences) and self._is_small

    def _format_detail(self, section: Section, result: Result, results: Sequence[Result]) -> str:
        """Format one resource: its id, advice, differences (live values with a minus, desired with a plus), failed
        attempts. Folded, unless there are few.
        """
        lines = _list_lines(result)
        condition = result.condition
        loss = (
            describe_loss(result.arm_id, done=self._writes and section is DELETES)
            if takes_away(section, result)
            else ""
        )
        attempts = (format_attempt(attempt, result, _SHORT_MESSAGE) for attempt in result.attempts)
        message = condition.message if len(format_message(result)) > _SHORT_MESSAGE else ""
        advice = format_advice(condition, result.key, _LONG_MESSAGE)
        shown, hidden = lines[:_MOST_DIFFERENCES], len(lines[_MOST_DIFFERENCES:])
        opened = " open" if self._is_open(section, result, results) else ""
        parts = [
            f"<details{opened}><summary>{format_code(self._names[result.key])}</summary>",
            format_code(result.arm_id or ""),
            *self._format_checks(result),
            "" if repeats_check(result) else format_code(shorten(message, _LONG_MESSAGE)),
            f"**{loss}**" if loss else "",
            format_code(describe_replacement(result)),
            f"Last commit: {format_code(commit)}" if (commit := format_last_commit(result.last_commit)) else "",
            f"**What to do:** {advice}" if advice and not repeats_check(result) else "",
            format_block([line for change in shown for line in change], "diff") if shown else "",
            *_format_left_out(hidden, "difference"),
            *list_authors(result, names=self._names_people, quote=format_code),
            format_block(list_body(result), "yaml") if result.body is not None and self._shows_bodies else "",
            f"Request id: {format_code(condition.request_id)}" if condition.request_id else "",
            "\n".join(f"- {format_code(text)}" for text in attempts),
            "</details>",
        ]
        return "\n\n".join(part for part in parts if part)

    def _format_checks(self, result: Result) -> Iterator[str]:
        """Format what the checks say of the change, with what to do about it."""
        for finding in list_shown(result, writes=self._writes):
            statement = shorten(format_statement(finding, result), _LONG_MESSAGE)
            yield f"**{format_check(finding)}:** {format_code(statement)}"
            if remedy := format_remedy(finding):
                yield f"**What to do:** {format_code(shorten(remedy, _LONG_MESSAGE))}"


def _format_unchecked(report: Report) -> list[str]:
    """Format what is not known of who changed something, and what the checks have no answer for, an item for each
    reason.
    """
    rows: list[Doubt | Unchecked] = [*list_doubts(report), *list_unchecked(report)]
    items = [f"- {format_code(shorten(row.text, _LONG_MESSAGE))}" for row in rows[:MOST_REASONS]]
    return ["\n".join(items), *_format_left_out(len(rows) - MOST_REASONS, "reason")] if items else []


def _list_lines(result: Result) -> list[list[str]]:
    """List the lines of each difference: its field, then both sides as far as they are there."""
    return [_format_sides(change) for change in list_changes(result)]


def _format_sides(change: Change) -> list[str]:
    notes = f" ({', '.join(change.notes)})" if change.notes else ""
    return [
        f"  {change.name}{notes}",
        *([] if change.live is None else [f"- {format_value(change.live)}"]),
        *([] if change.desired is None else [f"+ {format_value(change.desired)}"]),
    ]


def select_fitting(texts: Sequence[str], room: int, noun: str) -> list[str]:
    """Select the first texts that fit into the room together, and add a sentence that counts the others."""
    fitting_count = 0
    for text in texts:
        room -= len(text) + 2
        if room < 0:
            break
        fitting_count += 1
    return [*texts[:fitting_count], *_format_left_out(len(texts) - fitting_count, noun)]


def _format_left_out(count: int, noun: str) -> list[str]:
    if count <= 0:
        return []
    head, _, tail = noun.partition(" ")
    return [f"… and {format_plural(count, f'more {head}')}{tail and ' ' + tail}, left out to keep this short."]


def _format_head(report: Report) -> str:
    """Format the headline, which is what a mail or a folded comment shows, and what the run was of."""
    paragraphs = [f"{MARKER}\n### {format_headline(report)}"]
    if report.command != "validate" or report.revision:
        short = shorten_revision(report.revision)
        revision = short if report.revision is None else format_code(short)
        found = f": {format_found(report)}" if report.command != "validate" else ""
        note = format_baseline_note(report)
        paragraphs.append(f"gitsync {report.command} of {revision}{found}.{note and ' ' + note}")
    if authors := list_busy_authors(report, names=report.who is Who.NAMES, quote=format_code):
        paragraphs.append("\n".join(f"- {author}" for author in authors))
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


def _format_problems(word: str, problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return []
    place = format_problem_place(problems)
    lines = [format_problem(one) for one in shorten_problems(problems)]
    fitting = select_fitting(lines, _PROBLEMS_ROOM // 2, "problem")
    return [f"#### {word}{place} ({len(problems)})", "\n".join(fitting)]


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

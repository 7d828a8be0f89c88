"""Renders a report as Markdown, for a comment on a pull request or a job summary: short, with folded details.

The headline comes first, then the sections in the order of every report; the target and the cost are last. Hosts reject
comments above 65,536 characters. The end of each section is omitted if it does not fit, and counted. Names and values
are formatted as code, sentences as prose without markup (see `escape`). A resource stands once: in the summary of its
details, or in the table of those without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, takewhile
from typing import NamedTuple

from gitsync.model.attribution import Who
from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Action
from gitsync.planning.data_types import describe_loss
from gitsync.report.author_texts import Doubt, list_authors, list_busy_authors, list_common_authors, list_doubts
from gitsync.report.check_texts import (
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
from gitsync.report.differences import Change, find_compared_section, list_changes, name_sides
from gitsync.report.escape import format_advice, format_block, format_code, format_prose, format_sides, shorten
from gitsync.report.folding import (
    Fold,
    describe_folds,
    describe_members,
    fold_results,
    list_failed_requests,
    name_kinds,
)
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.identity_texts import IDENTITY_HINT, format_identity
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.ordering import (
    DELETES,
    FAILED,
    IDENTITY,
    IN_SYNC,
    LOSING,
    OUTSIDE,
    REFUSED,
    TITLED,
    Section,
    count_waiting,
    describe_causes,
    group_results,
    has_namespaces,
    shorten_names,
    split_results,
    takes_away,
)
from gitsync.report.outside_texts import (
    OUTSIDE_SIDES,
    OUTSIDE_TITLE,
    are_many_reset,
    format_many_resets,
    format_resets,
    list_outside,
    weakens_estate,
)
from gitsync.report.run_facts import format_costs, format_coverage, list_target
from gitsync.report.wording import (
    FEW_CREATES,
    describe_replacement,
    format_baseline_note,
    format_failed_request,
    format_found,
    format_in_sync,
    format_last_commit,
    format_location,
    format_message,
    format_plural,
    format_problem_location,
    format_renderers,
    format_state,
    format_waiting,
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
_SIDES = "`-` {}, `+` {}"
_COLUMNS = ("Resource", "Namespace", "Action", "Manifest", "Message")
_FEW_OPEN = 5  # resources whose details are open from the start, if they have not more than so many lines together
_FEW_LINES = 40
_MOST_OPEN = 20  # deletes, or what weakens the estate, whose details are open: that is shown at once


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
    in_sync = [f"{format_in_sync(quiet)}, not listed."] if quiet else []
    way_on = [text for text in [format_way_on(report)] if text]
    ends = [*in_sync, *_format_unchecked(report), *list_next_steps(report), *_format_foot(report)]
    fixed = [head, *way_on, *errors, *warnings, *ends]
    room = LIMIT - _RESERVE - _TABLE_ROOM - sum(len(part) + 2 for part in fixed)
    parts = _Listing(report).format_sections({key: found for key, found in results.items() if key != IN_SYNC}, room)
    first = [*parts.pop(FAILED, []), *parts.pop(REFUSED, []), *way_on]
    listed = [part for section in parts.values() for part in section]
    return "\n\n".join([head, *first, *errors, *listed, *warnings, *ends]) + "\n"


class _Entry(NamedTuple):
    """A resource, or a fold of several: its cells by the title of their column, and its details ("" for none)."""

    cells: Mapping[str, str]
    details: str


class _Listing:
    """Formats the resources of a report by section: what has details folds, and a table has the others."""

    def __init__(self, report: Report) -> None:
        self._writes, self._names_people = report.command == "sync", report.who is Who.NAMES
        self._sides = name_sides(report)
        self._names = shorten_names(result.key for result in report.results)
        self._kinds = name_kinds(result.key for result in report.results)
        self._groups = group_results(report.results)
        self._causes, self._waiting = describe_causes(report.results), count_waiting(report.results)
        self._told_elsewhere = list_told_elsewhere(report)
        self._has_namespaces = has_namespaces(result.key for result in report.results)
        self._shows_bodies = sum(result.change.body is not None for result in report.results) <= FEW_CREATES
        self._shows_resets = not are_many_reset(report.results, writes=self._writes)
        # Only as many are counted as the decision needs: there may be thousands.
        changed = [result for result in report.results if _differs(result)]
        lines = sum(len(_list_lines(result)) + len(list_outside(result)) for result in changed[: _FEW_OPEN + 1])
        self._is_small = len(changed) <= _FEW_OPEN and lines <= _FEW_LINES

    def format_sections(self, sections: Mapping[Section, Sequence[Result]], room: int) -> dict[Section, list[str]]:
        """Format each section: its heading, details as far as there is room for all of them together, and a table of
        what has none. All tables share their own room.
        """
        formatted, table_room = {}, _TABLE_ROOM
        compared = find_compared_section(chain.from_iterable(sections.values()))
        legend, outside_legend = (f"Values: {_SIDES.format(*sides)}." for sides in (self._sides, OUTSIDE_SIDES))
        for section, results in sections.items():
            listed, folds = fold_results(section, results, self._causes, writes=self._writes)
            entries = [self._make_entry(section, result, results) for result in listed]
            entries += [self._make_fold_entry(section, fold) for fold in folds]
            detailed = [entry for entry in entries if entry.details]
            shown = count_fitting([entry.details for entry in detailed], room)
            room -= sum(len(entry.details) + 2 for entry in detailed[:shown])
            rest = [*detailed[shown:], *(entry for entry in entries if not entry.details)]
            table, used = _format_table([entry.cells for entry in rest], table_room)
            table_room -= used
            shortened = format_plural(len(detailed) - shown, "resource") if shown < len(detailed) else ""
            formatted[section] = [
                f"#### {section.choose_title(writes=self._writes)} ({len(results)})",
                *([IDENTITY_HINT] if section == IDENTITY else []),
                *([legend] if section == compared else []),
                *([outside_legend] if section == OUTSIDE else []),
                *(entry.details for entry in detailed[:shown]),
                *table,
                *([f"… without the details of {shortened}, to keep this short."] if shortened else []),
                *([f"{describe_folds(folds)}: the page of the report (`--output html`) lists them."] if folds else []),
            ]
        return formatted

    def _make_entry(self, section: Section, result: Result, results: Sequence[Result]) -> _Entry:
        checks = list_shown(result, writes=self._writes)
        said = " ".join(f"{format_check(finding)}: {format_statement(finding, result)}" for finding in checks)
        message = "" if repeats_check(result) else self._causes.get(result.key) or format_message(result)
        # The reason for a replacement is in the details, beside what it takes.
        message = said if result.is_refused else "" if result.change.replacement else message or said
        waiting = format_waiting(self._waiting.get(result.key, 0)) if section is FAILED else ""
        cells = {
            "Resource": format_code(self._names[result.key]),
            "Namespace": format_code(result.key.namespace) if self._has_namespaces else "",
            "Action": "" if section in TITLED else format_state(result),
            "Manifest": format_code(format_location(result)),
            "Message": " ".join(filter(None, (format_prose(shorten(message, _SHORT_MESSAGE)), waiting))),
        }
        if not self._has_details(result):
            return _Entry(cells, "")
        # The line that folds has the only statement in full already.
        is_told = len(checks) == 1 and message == said and len(said) <= _SHORT_MESSAGE
        details = self._list_details(section, result, with_statements=not is_told)
        return _Entry(cells, _fold(cells, details, is_open=self._is_open(section, result, results)))

    def _make_fold_entry(self, section: Section, fold: Fold) -> _Entry:
        first = fold.first
        kind = self._kinds[first.key.kind, first.key.group]
        members = describe_members(fold, self._groups, with_namespaces=self._has_namespaces)
        cause = self._causes.get(first.key, "")
        cells = {
            "Resource": f"{len(fold.results)} {format_code(kind)}",
            "Namespace": "",
            "Action": "" if section in TITLED else format_state(first),
            "Manifest": "",
            "Message": format_prose(", ".join(filter(None, (cause, members)))),
        }
        if not fold.has_details:
            return _Entry(cells, "")
        message = "" if cause or repeats_check(first) else format_message(first)
        advice = "" if repeats_check(first) else format_advice(first.condition, first.arm_id, _LONG_MESSAGE)
        parts = [
            format_prose(format_identity(first)),
            *self._format_checks(first, with_location=False),
            format_prose(shorten(message, _LONG_MESSAGE)),
            f"**What to do:** {advice}" if advice else "",
            *_format_differences(_list_lines(first, with_locations=False)),
            *_format_outside(section, first),
            *self._list_resets(first),
            *list_common_authors(fold.results, names=self._names_people, quote=format_code),
            *map(format_prose, list_failed_requests(fold)),
        ]
        return _Entry(cells, _fold(cells, parts, is_open=True))

    def _has_details(self, result: Result) -> bool:
        """Return whether a resource has details. The row of what waits for another resource is complete."""
        is_explained = result.is_fine or result.ending.blocked_by or result.key in self._told_elsewhere
        has_checks = list_shown(result, writes=self._writes)
        has_content = (
            has_checks
            or _differs(result)
            or result.change.identity
            or result.attempts
            or result.manifest.last_commit
            or result.changed_by
            or self._list_resets(result)
        )
        is_shown = result.change.body is not None and self._shows_bodies
        return bool(has_content) or is_shown or result.action is Action.DELETE or not is_explained

    def _is_open(self, section: Section, result: Result, results: Sequence[Result]) -> bool:
        if section in LOSING:
            return len(results) <= _MOST_OPEN
        if section == OUTSIDE and weakens_estate(result):
            return len(results) <= _MOST_OPEN
        if section in {FAILED, REFUSED, IDENTITY}:
            return len(results) <= _FEW_OPEN
        return _differs(result) and self._is_small

    def _list_details(self, section: Section, result: Result, *, with_statements: bool) -> list[str]:
        """List what a resource shows when it is unfolded: results of checks, advice, differences (live values with a
        minus, desired with a plus), its id, failed attempts.
        """
        condition = result.condition
        loss = (
            describe_loss(result.arm_id, done=self._writes and section is DELETES)
            if takes_away(section, result)
            else ""
        )
        attempts = (format_failed_request(attempt, result, _SHORT_MESSAGE) for attempt in result.attempts)
        # A shorter one is in the line that folds, in full.
        message = condition.message if len(format_message(result)) > _SHORT_MESSAGE else ""
        advice = format_advice(condition, result.arm_id, _LONG_MESSAGE)
        return [
            format_prose(format_identity(result)),
            *self._format_checks(result, with_statements=with_statements),
            "" if repeats_check(result) else format_prose(shorten(message, _LONG_MESSAGE)),
            f"**{loss}**" if loss else "",
            format_prose(describe_replacement(result)),
            f"Last commit: {format_prose(commit)}"
            if (commit := format_last_commit(result.manifest.last_commit))
            else "",
            f"**What to do:** {advice}" if advice and not repeats_check(result) else "",
            *_format_differences(_list_lines(result)),
            *_format_outside(section, result),
            *self._list_resets(result),
            *list_authors(result, names=self._names_people, quote=format_code),
            format_block(list_body(result), "yaml") if result.change.body is not None and self._shows_bodies else "",
            f"Id: {format_code(result.arm_id or '')}" if result.arm_id else "",
            f"Request id: {format_code(condition.request_id)}" if condition.request_id else "",
            "\n".join(f"- {format_prose(text)}" for text in attempts),
        ]

    def _list_resets(self, result: Result) -> list[str]:
        resets = format_resets(result, writes=self._writes) if self._shows_resets else ""
        return [format_prose(resets)] if resets else []

    def _format_checks(
        self, result: Result, *, with_statements: bool = True, with_location: bool = True
    ) -> Iterator[str]:
        """Format the results of the checks, with what to do about them."""
        for finding in list_shown(result, writes=self._writes):
            statement = shorten(format_statement(finding, result, with_location=with_location), _LONG_MESSAGE)
            if with_statements:
                yield f"**{format_check(finding)}:** {format_prose(statement)}"
            if remedy := format_remedy(finding):
                yield f"**What to do:** {format_prose(shorten(remedy, _LONG_MESSAGE))}"


def _fold(cells: Mapping[str, str], parts: Iterable[str], *, is_open: bool) -> str:
    """Format what folds: the cells of its row are what shows of it, the message in a line of its own."""
    *facts, message = cells.values()
    summary = " · ".join(filter(None, facts)) + (f"<br>{message}" if message else "")
    head = f"<details{' open' if is_open else ''}><summary>{summary}</summary>"
    return "\n\n".join([head, *filter(None, parts), "</details>"])


def _format_table(rows: Sequence[Mapping[str, str]], room: int) -> tuple[list[str], int]:
    """Format a table without the columns that are empty, as far as there is room; with the room that it takes."""
    columns = [column for column in _COLUMNS if any(row[column] for row in rows)]
    lines = [f"| {' | '.join(row[column] for column in columns)} |" for row in rows]
    fitting = lines[: count_fitting(lines, room)]
    head = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"] if fitting else []
    table = ["\n".join([*head, *fitting])] if fitting else []
    return [*table, *_format_left_out(len(lines) - len(fitting), "resource")], sum(len(row) + 2 for row in fitting)


def _format_differences(lines: Sequence[Sequence[str]]) -> list[str]:
    shown, hidden = lines[:_MOST_DIFFERENCES], len(lines[_MOST_DIFFERENCES:])
    block = [format_block([line for change in shown for line in change], "diff")] if shown else []
    return [*block, *_format_left_out(hidden, "difference")]


def _differs(result: Result) -> bool:
    return bool(result.differences or result.comparison.outside)


def _format_outside(section: Section, result: Result) -> list[str]:
    """Format the changes outside of git as a block, below a title where that of the section is another, and how they
    weaken the estate.
    """
    changes = list_outside(result)
    if not changes:
        return []
    title = [] if section == OUTSIDE else [f"**{OUTSIDE_TITLE}** ({_SIDES.format(*OUTSIDE_SIDES)}):"]
    block = _format_differences([_format_sides(part) for change in changes for part in change.parts])
    weakening = [f"- **{format_code(name)}:** {format_prose(weakens)}" for name, _, weakens in changes if weakens]
    return [*title, *block, *(["\n".join(weakening[:_MOST_DIFFERENCES])] if weakening else [])]


def _format_unchecked(report: Report) -> list[str]:
    """Format what is not known of who changed something, and what the checks have no answer for, an item for each
    reason.
    """
    rows: list[Doubt | Unchecked] = [*list_doubts(report), *list_unchecked(report)]
    items = [f"- {format_prose(shorten(row.text, _LONG_MESSAGE))}" for row in rows[:MOST_REASONS]]
    return ["\n".join(items), *_format_left_out(len(rows) - MOST_REASONS, "reason")] if items else []


def _list_lines(result: Result, *, with_locations: bool = True) -> list[list[str]]:
    """List the lines of each difference: its field, then both sides as far as they are there."""
    return [_format_sides(change) for change in list_changes(result, with_locations=with_locations)]


def _format_sides(change: Change) -> list[str]:
    notes = f" ({', '.join(change.notes)})" if change.notes else ""
    live, desired = format_sides(change.live, change.desired)
    return [
        f"  {change.name}{notes}",
        *([] if change.live is None else [f"- {live}"]),
        *([] if change.desired is None else [f"+ {desired}"]),
    ]


def select_fitting(texts: Sequence[str], room: int, noun: str) -> list[str]:
    """Select the first texts that fit into the room together, and add a sentence that counts the others."""
    fitting = count_fitting(texts, room)
    return [*texts[:fitting], *_format_left_out(len(texts) - fitting, noun)]


def count_fitting(texts: Sequence[str], room: int) -> int:
    """Count the first texts that fit into the room together."""
    # Two more for each: the empty line between parts.
    ends = accumulate(len(text) + 2 for text in texts)
    return sum(1 for _ in takewhile(lambda end: end <= room, ends))


def _format_left_out(count: int, noun: str) -> list[str]:
    return [f"… and {format_plural(count, f'more {noun}')}, left out to keep this short."] if count > 0 else []


def _format_head(report: Report) -> str:
    """Format the headline, which is what a mail or a folded comment shows, and what the run was of."""
    paragraphs = [f"{MARKER}\n### {format_headline(report)}"]
    if report.command != "validate" or report.revision:
        short = shorten_revision(report.revision)
        revision = short if report.revision is None else format_code(short)
        found = f": {format_found(report)}" if report.command != "validate" else ""
        note = format_baseline_note(report)
        paragraphs.append(f"gitsync {report.command} of {revision}{found}.{note and ' ' + note}")
    if resets := format_many_resets(report):
        paragraphs.append(f"{resets}: the page of the report (`--output html`) lists them.")
    if authors := list_busy_authors(report, names=report.who is Who.NAMES, quote=format_code):
        paragraphs.append("\n".join(f"- {author}" for author in authors))
    if report.source.coverage.files or report.source.coverage.ignored:
        paragraphs.append(f"Read {format_coverage(report.source.coverage)}.")
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
    location = format_problem_location(problems)
    lines = [format_problem(problem) for problem in shorten_problems(problems)]
    # Errors and warnings share the room.
    fitting = select_fitting(lines, _PROBLEMS_ROOM // 2, "problem")
    return [f"#### {word}{location} ({len(problems)})", "\n".join(fitting)]


def format_problem(problem: Problem) -> str:
    """Format one problem as an item of a list: its code, field and location, then what is wrong and what to do."""
    head = (f"**{problem.code}**" if problem.code else "", format_code(problem.field), format_code(problem.location))
    renderers = format_prose(format_renderers(problem.rendered_by))
    location = ", ".join(filter(None, (" ".join(filter(None, head)), renderers)))
    return f"- {location}: {' '.join(filter(None, map(format_prose, (problem.message, problem.hint))))}"

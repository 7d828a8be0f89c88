"""Renders a report for a terminal: the headline, the sections in their order with cause, advice and differences of each
resource, next steps, target and cost.

Only resources that differ or need attention are listed; those in sync and Ready are counted. Ids and messages are never
truncated, so that they can be copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from gitsync.model.check import CheckFinding, CheckVerdict
from gitsync.model.condition import WaitReason
from gitsync.model.report import Report, RunTarget
from gitsync.model.result import Result
from gitsync.model.verdict import Verdict
from gitsync.planning.data_types import describe_loss
from gitsync.planning.diff.handed_over_values import is_handed_over
from gitsync.planning.diff.unknown_values import is_not_known
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.author_texts import Doubt, list_authors, list_busy_authors, list_common_authors, list_doubts
from gitsync.report.check_texts import (
    MOST_REASONS,
    Unchecked,
    format_check,
    format_checked,
    format_remedy,
    format_statement,
    format_way_on,
    list_shown,
    list_unchecked,
    repeats_check,
)
from gitsync.report.differences import Change, find_compared_section, list_changes, name_path, name_sides
from gitsync.report.escape import format_sides
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
    OUTSIDE,
    REFUSED,
    REMOVED,
    REPLACED,
    REPLACES,
    TITLED,
    WAITING,
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
)
from gitsync.report.problem_lines import format_problem_section
from gitsync.report.run_facts import format_costs, format_coverage, list_by_type, list_target
from gitsync.report.terminal import Paint, format_table, indent, indent_after
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
    format_state,
    format_waiting,
    list_body,
    list_told_elsewhere,
    shorten_revision,
)
from gitsync.settings.logging import escape_controls

_SCREEN = 25
"""Lines; a longer report has its headline at its end too."""

_GAP = "   "
_OUTSIDE_SIDES = " → ".join(OUTSIDE_SIDES)
_NAME = 45  # columns of a name; a longer one moves what is behind it

_SHORT = 100  # characters of both sides of a difference; longer ones get a line each
_WITH_ID = frozenset({FAILED, REFUSED, DELETES, REPLACED, REPLACES, REMOVED})


class Extent(Enum):
    """How much of a report is printed."""

    ALL = auto()
    PLAN = auto()
    """Of a plan that its sync follows: neither next steps nor costs."""
    RESULT = auto()
    """Of that sync: what the plan has not shown, or what did not end well."""


def render(
    report: Report,
    *,
    width: int | None = None,
    colour: bool = False,
    verbose: bool = False,
    names: bool = False,
    extent: Extent = Extent.ALL,
) -> str:
    """Render the report as text, with a newline at its end. `width` is the terminal's; None for no wrapping. A
    `verbose` one has paths in requests, all values of creates, and the requests by type. With `names` it has the names
    of people.
    """
    report, paint, requests = report if names else leave_out_people(report), Paint(on=colour), list_by_type(report)
    # Of a run that was stopped, what came of it matters; what it did not reach is a number.
    unlisted = {
        result.key for result in report.results if not verbose and result.condition.reason == WaitReason.NOT_REACHED
    }
    is_result, has_end = extent is Extent.RESULT, extent is not Extent.PLAN
    listed = (result for result in report.results if result.key not in unlisted)
    results = split_results(result for result in listed if not (is_result and result.is_fine))
    listing = _Listing(report, width, paint, verbose=verbose, names=names)
    errors, warnings = ([p for p in report.problems if p.is_error is is_error] for is_error in (True, False))
    steps = [line for step in list_next_steps(report) if has_end for line in indent(step, width, by=0)]
    costs = [line for cost in format_costs(report) if has_end for line in indent(cost, width, by=0)]
    parts = (
        _format_summary(report, width, paint, verbose=verbose, names=names, is_result=is_result),
        listing.format_section(FAILED, results.get(FAILED, [])),
        listing.format_section(REFUSED, results.get(REFUSED, [])),
        indent(way_on, width, by=0) if (way_on := format_way_on(report)) else [],
        format_problem_section("Errors", errors, width, paint),
        *(listing.format_section(section, found) for section, found in results.items() if section not in _APART),
        format_problem_section("Warnings", () if is_result else warnings, width, paint),
        [
            line
            for text in _format_left_out(results.get(IN_SYNC, []), len(unlisted))
            for line in indent(text, width, by=0)
        ],
        [] if is_result else _format_unchecked(report, width, verbose=verbose),
        steps,
        format_table(["TYPE", "REQUESTS"], requests, width=width) if verbose and requests else [],
        [*([] if is_result else format_target(report.target, width=width)), *costs],
    )
    text = "\n\n".join("\n".join(lines) for lines in parts if lines)
    return f"{text}{_repeat_headline(text, report, width, paint)}\n"


def _repeat_headline(text: str, report: Report, width: int | None, paint: Paint) -> str:
    """Repeat the headline at the end of a long report, which is what a terminal shows; "" for a short one."""
    return "\n\n" + "\n".join(_format_headline(report, width, paint)) if text.count("\n") >= _SCREEN else ""


_APART = frozenset({FAILED, REFUSED, IN_SYNC})


def format_target(target: RunTarget, *, width: int | None = None) -> list[str]:
    """Format what the run reads and writes to, a line each."""
    facts = list_target(target)
    column = max((len(fact.name) for fact in facts), default=0) + 2
    return [
        line for name, value in facts for line in indent_after(f"{name}:".ljust(column), escape_controls(value), width)
    ]


def _format_headline(report: Report, width: int | None, paint: Paint) -> list[str]:
    return [paint.bold(line) for line in indent(format_headline(report), width, by=0)]


def _format_summary(
    report: Report, width: int | None, paint: Paint, *, verbose: bool, names: bool, is_result: bool
) -> list[str]:
    revision = escape_controls(shorten_revision(report.revision))
    has_read = report.source.coverage.files or report.source.coverage.ignored
    many_resets = format_many_resets(report)
    about = (
        format_baseline_note(report),
        f"{many_resets}; -v lists them" if many_resets and not verbose else "",
        f"read {format_coverage(report.source.coverage)}" if has_read else "",
        *list_busy_authors(report, names=names),
    )
    lines = [f"{report.command} of {revision}: {format_found(report)}", *(() if is_result else about)]
    interrupted = "Interrupted: the next run continues with the resources that were not reached."
    return [
        *_format_headline(report, width, paint),
        *(line for text in lines if text for line in indent(text, width, by=0)),
        *(paint.mark_bad(line) for line in indent(interrupted, width, by=0) if report.interrupted),
    ]


def _format_left_out(results: Sequence[Result], unreached: int) -> list[str]:
    """Format how many were not reached, how many are in sync, and for how many of these the comparison is
    incomplete.
    """
    lines = [f"{format_plural(unreached, 'resource')} not reached, not listed; -v lists them."] if unreached else []
    if not results:
        return lines
    unknown = sum(any(map(is_not_known, result.comparison.because.values())) for result in results)
    incomplete = sum(
        any(_is_not_returned(result.comparison.because.get(p, "")) for p in result.comparison.unverified)
        for result in results
    )
    notes = (
        f"; for {incomplete} of them, Azure does not return all desired values" if incomplete else "",
        f"; for {unknown} of them, the plan did not read all desired values" if unknown else "",
    )
    return [*lines, f"{format_in_sync(results)}, not listed{''.join(notes)}."]


def _is_not_returned(reason: str) -> bool:
    return not (is_not_known(reason) or is_handed_over(reason))


def _format_unchecked(report: Report, width: int | None, *, verbose: bool) -> list[str]:
    """Format what is not known of who changed something, and what the checks have no answer for, a line for each
    reason; a `verbose` one with the names, and with how many were checked.
    """
    rows: list[Doubt | Unchecked] = [*list_doubts(report), *list_unchecked(report)]
    names = shorten_names(result.key for result in report.results)
    lines: list[str] = []
    for row in rows if verbose else rows[:MOST_REASONS]:
        lines += indent(escape_controls(row.text), width, by=0)
        lines += indent(", ".join(names[key] for key in row.keys), width, by=2) if verbose else []
    if len(rows) > MOST_REASONS and not verbose:
        lines.append(f"… and {format_plural(len(rows) - MOST_REASONS, 'more reason')}; -v lists them.")
    checked = format_checked(report.results) if verbose else ""
    return [*lines, *(indent(checked, width, by=0) if checked else [])]


class _Row(NamedTuple):
    """The line of a resource or a fold: what happens, its name, and its location, what it waits for or what it has."""

    word: str
    name: str
    last: str


class _Listing:
    """Formats the resources of a report by section: a line for each, and what is known of it below."""

    def __init__(self, report: Report, width: int | None, paint: Paint, *, verbose: bool, names: bool) -> None:
        self._writes = report.command == "sync"
        self._compared, self._sides = find_compared_section(report.results), " → ".join(name_sides(report))
        self._paint, self._verbose, self._names_people = paint, verbose, names
        self._names = shorten_names(result.key for result in report.results)
        self._causes = describe_causes(report.results)
        self._groups = group_results(report.results)
        self._kinds = name_kinds(result.key for result in report.results)
        self._waiting = count_waiting(report.results)
        self._told_elsewhere = list_told_elsewhere(report)
        self._has_namespaces = has_namespaces(result.key for result in report.results)
        creates = sum(result.change.body is not None for result in report.results)
        self._margin = "  " if self._has_namespaces else ""  # of what is below the name of a namespace
        self._width = width and width - len(self._margin)
        self._shows_bodies = verbose or creates <= FEW_CREATES
        self._shows_resets = verbose or not are_many_reset(report.results, writes=self._writes)

    def format_section(self, section: Section, results: Sequence[Result]) -> list[str]:
        """Format a section; nothing without resources."""
        if not results:
            return []
        messages = {result.key: self._find_message(section, result) for result in results}
        common = messages[results[0].key] if len(results) > 1 and len(set(messages.values())) == 1 else ""
        lines = [self._paint.bold(f"{section.choose_title(writes=self._writes)} ({len(results)})")]
        lines += indent(common, self._width, by=2) if common else []
        lines += indent(IDENTITY_HINT, self._width, by=2) if section == IDENTITY else []
        lines += [f"  Values: {self._sides}"] if section == self._compared else []
        lines += [f"  Values: {_OUTSIDE_SIDES}"] if section == OUTSIDE else []
        listed, folds = self._fold(section, results)
        rows = [self._make_row(section, result) for result in listed]
        rows += [self._make_fold_row(section, fold) for fold in folds]
        heads = self._format_heads(rows)
        by_namespace: dict[str, list[tuple[list[str], Result]]] = defaultdict(list)
        for head, result in zip(heads, listed, strict=False):
            by_namespace[result.key.namespace].append((head, result))
        for namespace, inside in by_namespace.items():
            if self._has_namespaces:
                lines.append(f"  {escape_controls(namespace)}:")
            for head, result in inside:
                details = (
                    ()
                    if result.key in self._told_elsewhere
                    else self._format_detail(section, result, "" if common else messages[result.key])
                )
                lines += [f"{self._margin}{line}" for line in (*head, *details)]
        for head, fold in zip(heads[len(listed) :], folds, strict=True):
            lines += [*head, *self._format_fold(section, fold, "" if common else messages[fold.first.key])]
        return [*lines, *([f"  {describe_folds(folds)}; -v lists them."] if folds else [])]

    def _fold(self, section: Section, results: Sequence[Result]) -> tuple[Sequence[Result], Sequence[Fold]]:
        return (results, ()) if self._verbose else fold_results(section, results, self._causes, writes=self._writes)

    def _make_row(self, section: Section, result: Result) -> _Row:
        word = (
            ""
            if section in TITLED or (section is WAITING and result.verdict is Verdict.BLOCKED)
            else format_state(result)
        )
        last = self._causes.get(result.key, escape_controls(format_location(result)))
        return _Row(word, self._names[result.key], last)

    def _make_fold_row(self, section: Section, fold: Fold) -> _Row:
        kind = self._kinds[fold.first.key.kind, fold.first.key.group]
        members = describe_members(fold, self._groups, with_namespaces=self._has_namespaces)
        last = ", ".join(filter(None, (self._causes.get(fold.first.key), members)))
        return _Row(self._make_row(section, fold.first).word, f"{len(fold.results)} {kind}", last)

    def _format_heads(self, rows: Sequence[_Row]) -> list[list[str]]:
        """Format the line of each row: what happens, its name, and its location or what it waits for."""
        if {row.word for row in rows} == {Verdict.BLOCKED.value}:
            rows = [row._replace(word="") for row in rows]
        longest = max(len(row.word) for row in rows)
        names = max((len(row.name) for row in rows if len(row.name) <= _NAME), default=0)
        heads = []
        for word, name, last in rows:
            start = "  " + (word.ljust(longest) + _GAP if longest else "")
            line = f"{start}{name.ljust(names)}{_GAP}{last}".rstrip()
            # The padding goes first: it only puts the columns of the rows below each other.
            if self._width and len(line) > self._width:
                line = f"{start}{name}{_GAP}{last}".rstrip()
            lines = [line]
            if self._width and len(line) > self._width:
                lines = [f"{start}{name}", *indent(last, self._width, by=6)]
            # A word is coloured only between the gaps of a column, and the first column has none before it.
            heads.append([self._paint.colour_words(f"{_GAP}{line}")[len(_GAP) :] for line in lines])
        return heads

    def _format_fold(self, section: Section, fold: Fold, message: str) -> Iterator[str]:
        """Format what the resources of a fold have in common."""
        if not fold.has_details:
            return
        first = fold.first
        for finding in list_shown(first, writes=self._writes):
            yield from self._format_check(finding, format_statement(finding, first, with_location=False))
        advice = "" if repeats_check(first) else find_condition_advice(first.condition, first.arm_id)
        what_to_do = _label("What to do: ", escape_controls(advice))
        for note in filter(None, (escape_controls(format_identity(first)), message, what_to_do)):
            yield from indent(note, self._width, by=4)
        for change in list_changes(first, with_locations=False):
            yield from _format_change(change, self._width, self._paint)
        yield from self._format_outside(section, first)
        notes = [
            *list_common_authors(fold.results, names=self._names_people),
            *_list_unverified(first),
            *self._list_resets(first),
            *list_failed_requests(fold),
        ]
        for note in notes:
            yield from indent(escape_controls(note), self._width, by=4)

    def _find_message(self, section: Section, result: Result) -> str:
        # The cause replaces a message that only reports that something is missing.
        if section is WAITING and result.key in self._causes:
            return ""
        # The reason for a replacement is shown with what it takes, and the result of a check below the name.
        return "" if result.change.replacement or repeats_check(result) else escape_controls(format_message(result))

    def _format_detail(self, section: Section, result: Result, message: str) -> Iterator[str]:
        yield from self._format_checks(result)
        advice = "" if repeats_check(result) else find_condition_advice(result.condition, result.arm_id)
        notes = (
            escape_controls(format_identity(result)),
            message,
            escape_controls(describe_replacement(result)),
            describe_loss(result.arm_id, done=self._writes and section is DELETES)
            if takes_away(section, result)
            else "",
            _label("What to do: ", escape_controls(advice)),
            _label("last commit: ", format_last_commit(result.manifest.last_commit)),
            format_waiting(self._waiting.get(result.key, 0)) if section is FAILED else "",
        )
        for note in filter(None, notes):
            yield from indent(note, self._width, by=4)
        for change in list_changes(result, with_paths=self._verbose):
            yield from _format_change(change, self._width, self._paint)
        yield from self._format_outside(section, result)
        for author in list_authors(result, names=self._names_people):
            yield from indent(author, self._width, by=4)
        for note in (*_list_unverified(result), *self._list_resets(result)):
            yield from indent(note, self._width, by=4)
        yield from self._format_body(result)
        has_body = result.change.body is not None and self._shows_bodies
        has_details = result.differences or result.comparison.outside or result.attempts or has_body
        if result.arm_id and (section in _WITH_ID or (has_details and section is not WAITING)):
            yield f"    id: {escape_controls(result.arm_id)}"
        if result.condition.request_id:
            yield f"    request id: {escape_controls(result.condition.request_id)}"
        yield from self._format_failed_requests(result)

    def _format_outside(self, section: Section, result: Result) -> Iterator[str]:
        """Format the changes outside of git, below a title where that of the section is another."""
        if result.comparison.outside and section != OUTSIDE:
            yield f"    {OUTSIDE_TITLE} ({_OUTSIDE_SIDES}):"
        for shown in list_outside(result, with_paths=self._verbose):
            for part in shown.parts:
                yield from _format_change(part, self._width, self._paint)
            if shown.weakens:
                yield from map(self._paint.mark_bad, indent(escape_controls(shown.weakens), self._width, by=6))

    def _list_resets(self, result: Result) -> list[str]:
        resets = format_resets(result, writes=self._writes, everything=self._verbose) if self._shows_resets else ""
        return [resets] if resets else []

    def _format_checks(self, result: Result) -> Iterator[str]:
        """Format the results of the checks, with what to do about them."""
        for finding in list_shown(result, writes=self._writes):
            yield from self._format_check(finding, format_statement(finding, result))

    def _format_check(self, finding: CheckFinding, statement: str) -> Iterator[str]:
        mark = self._paint.mark_bad if finding.verdict is CheckVerdict.REFUSED else self._paint.mark_notable
        text = escape_controls(f"{format_check(finding)}: {statement}")
        yield from map(mark, indent(text, self._width, by=4))
        if remedy := format_remedy(finding):
            yield from indent(f"What to do: {escape_controls(remedy)}", self._width, by=4)

    def _format_failed_requests(self, result: Result) -> Iterator[str]:
        """Format the failed tries."""
        for attempt in result.attempts:
            # The message already states that a stop of the run ended one.
            if attempt.code != WaitReason.INTERRUPTED or self._verbose:
                yield from indent(escape_controls(format_failed_request(attempt, result)), self._width, by=4)

    def _format_body(self, result: Result) -> Iterator[str]:
        """Format the values of a planned create, as YAML."""
        if result.change.body is None or not self._shows_bodies:
            return
        for line in list_body(result, everything=self._verbose):
            blanks = len(line) - len(line.lstrip())
            for part in indent(escape_controls(line.lstrip()), self._width, by=6 + blanks):
                yield self._paint.mark_good(f"    +{part[5:]}")


def _list_unverified(result: Result) -> list[str]:
    """List which values of a resource that differs are not compared, and why."""
    paths = sorted(result.comparison.unverified) if result.differences else []
    return [
        f"{escape_controls(name_path(result, path))}: {result.comparison.because.get(path, 'Azure does not return it')}"
        for path in paths
    ]


def _label(label: str, text: str) -> str:
    return f"{label}{text}" if text else ""


def _format_change(change: Change, width: int | None, paint: Paint) -> Iterator[str]:
    """Format a value that would be added (+), removed (-) or changed (~), with its field."""
    name, (live, desired) = escape_controls(change.name), format_sides(change.live, change.desired)
    notes = f" ({escape_controls(', '.join(change.notes))})" if change.notes else ""
    if change.live is None:
        yield from map(paint.mark_good, indent_after("    + ", f"{name}: {desired}{notes}", width))
    elif change.desired is None:
        yield from map(paint.mark_bad, indent_after("    - ", f"{name}: {live}{notes}", width))
    elif len(live) + len(desired) <= _SHORT:
        yield from map(paint.mark_notable, indent_after("    ~ ", f"{name}: {live} → {desired}{notes}", width))
    else:
        yield from map(paint.mark_notable, indent_after("    ~ ", f"{name}:{notes}", width))
        yield from map(paint.mark_bad, indent(f"- {live}", width, by=8))
        yield from map(paint.mark_good, indent(f"+ {desired}", width, by=8))

"""Writes the words that all forms of a report share: the verdicts and the actions by number, what is in sync, what must
be replaced, the last commit of a removed manifest, problems, one for many of the same code and cause, and the units
that rendered a manifest.

Text that git stores has no times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from gitsync.desired.formats.name_list import name_first
from gitsync.model.condition import WaitReason
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.outside import ResetValue
from gitsync.model.plan import LastCommit
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import FailedRequest, Outcome, Result
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.replacement import list_takes
from gitsync.report.alike import MOST_NAMED, split_alike
from gitsync.report.escape import shorten
from gitsync.settings.logging import escape_controls

PAST = {
    Action.CREATE: "created",
    Action.UPDATE: "updated",
    Action.REPLACE: "replaced",
    Action.DELETE: "deleted",
    Action.DETACH: "detached",
}

PLANNED = {action: action.value for action in PAST}

_GONE = frozenset({Action.DELETE, Action.DETACH})

UNTOUCHED = "Planned"
"""The reason of a condition that no run has set yet: a plan sets none."""

REPLACE_NEEDED = "replace needed"

REPLACE_RULE = "replace-needed"
"""The name of such a finding for machines."""

_MOST_TAKEN = 10  # names in a sentence

FEW_CREATES = 5
"""Planned creates that are shown with their values."""

_MOST_LINES = 20  # of the values of a create
_LOWER_CASE_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*")
_MOST_RENDERERS = 3  # names in a sentence


def format_subject(report: Report) -> str:
    """Format one line for a commit: the revision, the number of Ready resources, and the actions."""
    parts = [format_ready(report), *format_failed(report), *list_done(report)]
    return f"Status of {shorten_revision(report.revision)}: {', '.join(parts)}"


def format_ready(report: Report) -> str:
    """Format how many are Ready of those that exist: `8 of 9 Ready`."""
    existing = _list_existing(report)
    return f"{sum(result.condition.is_ready for result in existing)} of {len(existing)} Ready"


def _list_existing(report: Report) -> list[Result]:
    """List the results without what a sync deleted or detached."""
    return [result for result in report.results if not (result.action in _GONE and result.is_fine)]


def format_baseline_note(report: Report) -> str:
    """Format the note for a plan of two revisions, which does not read from Azure; "" for every other run."""
    if report.source.base is None:
        return ""
    return f"Compared with revision {shorten_revision(report.source.base)}, not with Azure."


def format_problem_location(problems: Iterable[Problem]) -> str:
    """Format where problems are, for a title: ` in manifests`, or "" if one of them is in no file."""
    return " in manifests" if all(problem.path for problem in problems) else ""


def format_problem_counts(problems: Iterable[Problem]) -> str:
    """Format the number of problems: `2 errors and 1 warning`, or `no problems`."""
    problems = tuple(problems)
    errors = sum(problem.is_error for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    return " and ".join(format_plural(count, noun) for count, noun in counts if count) or "no problems"


def count_outside(report: Report) -> int:
    """Count the changes in Azure of values that git does not set."""
    return sum(len(result.comparison.outside) for result in report.results)


def format_outside_count(count: int) -> str:
    """Format the number of outside changes: `2 changed outside of git`; "" for none."""
    return f"{count} changed outside of git" if count else ""


def count_resets(report: Report) -> int:
    """Count the values in Azure that the writes of a plan may reset, or that those of a sync may have reset."""
    return sum(count_reset(list_reset(result, writes=report.command == "sync")) for result in report.results)


def count_reset(values: Iterable[ResetValue]) -> int:
    """Count values that a write may reset."""
    # A value without a path stands for others.
    return sum(1 if value.path else value.entries for value in values)


def may_reset(result: Result, *, writes: bool) -> bool:
    """Return whether the write of a resource may reset something."""
    # A plan has no values for a held resource, and a sync (`writes`) resets only what it has written.
    is_written = not writes or result.is_fine or result.ending.written is not Written.NOTHING
    return bool(result.change.resets) and result.action is not Action.NONE and is_written


def list_reset(result: Result, *, writes: bool) -> tuple[ResetValue, ...]:
    """List what the write of a resource may reset."""
    return result.change.resets if may_reset(result, writes=writes) else ()


def format_holds(holds: Iterable[HeldUntil | None]) -> str:
    """Format how many resources are held until each day: `2 held until 2026-12-01, 1 until 2026-12-24`; "" for none."""
    days = Counter(str(hold.day) for hold in holds if hold)
    counts = [f"{count} until {day}" for day, count in sorted(days.items())]
    return ", ".join(counts).replace(" until", " held until", 1)


def format_replacing(records: Iterable[Record]) -> str:
    """Format how many resources a run began to replace, without an end: `2 being replaced`; "" for none."""
    count = sum(record.is_replacing for record in records)
    return f"{count} being replaced" if count else ""


def format_found(report: Report) -> str:
    """Format the number of resources: of a plan with each verdict, of a sync with those that are Ready or in sync."""
    total = format_plural(len(report.results), "resource")
    if report.command == "sync":
        return ", ".join([total, *_list_found_by_sync(report)])
    return ", ".join([total, *_list_verdicts(report.results)])


def _list_found_by_sync(report: Report) -> list[str]:
    """List what the headline does not have: it counts what the sync wrote, what failed and what waits."""
    unwritten = [result for result in report.results if result.action is Action.NONE and result.is_fine]
    in_sync = sum(result.verdict is Verdict.IN_SYNC for result in unwritten)
    others = _list_verdicts(result for result in unwritten if result.verdict is not Verdict.IN_SYNC)
    existing = _list_existing(report)
    is_ready = bool(existing) and all(result.condition.is_ready for result in existing)
    every = "all " if len(report.results) > 1 else ""
    if is_ready and in_sync == len(report.results):
        return [f"{every}in sync and Ready"]
    ready = f"{every}Ready" if is_ready else format_ready(report) if existing else ""
    return list(filter(None, (ready, f"{in_sync} in sync" if in_sync else "", *others)))


def _list_verdicts(results: Iterable[Result]) -> list[str]:
    """List the number of each verdict, by name."""
    return [f"{count} {name}" for name, count in sorted(Counter(map(_name_verdict, results)).items())]


def _name_verdict(result: Result) -> str:
    """Name a verdict in a count."""
    # What was removed from git and stays in Azure is not a delete.
    stays = result.verdict in {Verdict.DELETE, Verdict.DETACH} and result.action is Action.NONE
    return "removed from git" if stays else result.verdict.value


def format_failed(report: Report) -> list[str]:
    """Format the number of failures: `2 failed`, or nothing."""
    failed = report.outcomes[Outcome.FAILED]
    return [f"{failed} failed"] if failed else []


def list_done(report: Report) -> list[str]:
    """List what a sync has done in Azure: its actions, then what Azure took that has no good end, or none yet."""
    open_ends = [result for result in report.results if not result.is_fine]
    deleted = sum(
        result.action is Action.DELETE and result.ending.written is not Written.ACCEPTED for result in open_ends
    )
    accepted = Counter(result.outcome for result in open_ends if result.ending.written is Written.ACCEPTED)
    unknown = sum(result.ending.written is Written.UNKNOWN for result in report.results)
    under_way, failed = accepted[Outcome.BLOCKED], accepted[Outcome.FAILED]
    return [
        *list_actions(report, PAST),
        *([f"deleted {deleted} to be created again"] if deleted else []),
        *([f"{under_way} still under way in Azure"] if under_way else []),
        *([f"{format_plural(failed, 'accepted write')} failed"] if failed else []),
        *([f"{format_plural(unknown, 'write')} with an unknown outcome"] if unknown else []),
    ]


def shorten_revision(revision: str | None) -> str:
    """Shorten a commit id to its first twelve characters, which are enough for git."""
    return "the uncommitted working tree" if revision is None else revision[:12]


def format_seconds(seconds: int) -> str:
    """Format whole seconds as `12s`, or as `1m04s`."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


# The steps are those of kubectl, so that ages look familiar.
_MINUTE, _HOUR, _DAY, YEAR = 60, 3600, 86_400, 365 * 86_400
DURATION_STEPS = (
    # below this many seconds: the unit, its letter, and the smaller unit beside it (0 for none) with its letter
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * YEAR, _DAY, "d", 0, ""),
    (8 * YEAR, YEAR, "y", _DAY, "d"),
)


def format_duration(seconds: int) -> str:
    """Format a duration in its largest units."""
    for limit, unit, letter, smaller, smaller_letter in DURATION_STEPS:
        if seconds < limit:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{letter}{f'{rest}{smaller_letter}' if rest else ''}"
    return f"{seconds // YEAR}y"


def format_plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def count_actions(report: Report) -> Mapping[Action, int]:
    """Count the actions that a sync took, without those that failed, or that a sync of this plan would take."""
    return Counter(result.action for result in report.results if result.is_fine or report.command == "plan")


def list_actions(report: Report, words: Mapping[Action, str]) -> list[str]:
    """List the actions of a run by number, in these words: `created 3`."""
    times = count_actions(report)
    return [f"{word} {times[action]}" for action, word in words.items() if times[action]]


def is_quiet(result: Result) -> bool:
    """Return whether a resource is in sync, unchanged, and Ready as far as that is known."""
    in_sync = result.verdict is Verdict.IN_SYNC and result.action is Action.NONE and result.is_fine
    return in_sync and (result.condition.is_ready or result.condition.reason == UNTOUCHED)


def format_in_sync(results: Iterable[Result]) -> str:
    """Format the number of resources in words; all of them are quiet."""
    quiet = list(results)
    ready = all(result.condition.is_ready for result in quiet)
    return f"{format_plural(len(quiet), 'resource')} in sync{' and Ready' if ready else ''}"


def format_state(result: Result) -> str:
    """Format what is done, and why if that does not go without saying: `update, drifted`; without an action, the
    verdict.
    """
    if result.needs_replacement:
        return REPLACE_NEEDED
    if result.comparison.withheld:
        return f"{result.verdict.value}, {result.comparison.withheld.value}"
    if result.action is Action.NONE:
        return "not reached" if result.condition.reason == WaitReason.NOT_REACHED else result.verdict.value
    is_plain = result.verdict in {Verdict.PENDING, result.action.value}
    return result.action.value if is_plain else f"{result.action.value}, {result.verdict.value}"


def format_message(result: Result) -> str:
    """Format the message of a resource, after the reason where it is not Ready; "" for nothing."""
    condition = result.condition
    if condition.is_ready or condition.reason == UNTOUCHED or not result.message:
        return result.message
    return f"{condition.reason}: {result.message}"


def format_waiting(count: int, more: str = "") -> str:
    """Format how many resources wait for one, as a sentence, `more ` of them if some are named; "" for none."""
    verb = "waits" if count == 1 else "wait"
    return f"{format_plural(count, f'{more}resource')} {verb} for it." if count else ""


def format_action(result: Result) -> str:
    """Format the action, or that none is possible."""
    return REPLACE_NEEDED if result.needs_replacement else result.action.value


def describe_replacement(result: Result) -> str:
    """Describe why a delete is needed, what it takes along, and for how long the resource was away; "" for any other
    resource.
    """
    replacement = result.change.replacement
    if replacement is None:
        return ""
    refers, verb = list_takes(replacement.refers, _MOST_TAKEN), "refers" if len(replacement.refers) == 1 else "refer"
    referring, lost = (f" {refers} {verb} to it.", f"what {refers} {verb} to") if replacement.refers else ("", "")
    # "Nothing else" is written only where it is true.
    below = list_takes(replacement.below, _MOST_TAKEN) if replacement.below or not lost else ""
    along = f", with {below}" if below else ""
    if replacement.away is not None:
        away = f"{',' if along else ''} and away for {format_seconds(round(replacement.away))}"
        return f"{replacement.reason} It was deleted and created again{along}{away}.{referring}"
    if replacement.is_due:
        return f"{replacement.reason} A sync deletes it and creates it again{along}.{referring}"
    return f"{replacement.reason} A delete would also delete {', and '.join(filter(None, [below, lost]))}."


def format_last_commit(commit: LastCommit | None) -> str:
    """Format the last commit of a removed manifest: id, author and subject on one line, or why it is not known; "" for
    a resource that is in git.
    """
    if commit is None:
        return ""
    if commit.doubt:
        return f"not known: {commit.doubt}"
    author = f" by {commit.author}" if commit.author else ""
    subject = f": {commit.subject}" if commit.subject else ""
    return escape_controls(f"{shorten_revision(commit.commit)}{author}{subject}")


def shorten_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Order problems by file; of more than `MOST_ALIKE` with one code and cause keep the first, with their number and
    the first places.
    """
    ordered = sorted(problems, key=lambda problem: problem.order)
    groups = split_alike(ordered, lambda problem: (problem.level, problem.code, _find_cause(problem)))
    shown = (same[0] if len(same) == 1 else _join_problems(same) for same in groups)
    return sorted(shown, key=lambda problem: problem.order)


def _find_cause(problem: Problem) -> str:
    """Find the text of a problem without what differs between locations: whatever is not a word in lower case is a
    name, a path or a value, and so is a word of the field.
    """
    names = set(re.split(r"\W+", problem.field))
    words = (word.strip(".,:;()?`") for word in f"{problem.message} {problem.hint}".split())
    return " ".join(word if _LOWER_CASE_WORD.fullmatch(word) and word not in names else "…" for word in words)


def _join_problems(same: list[Problem]) -> Problem:
    first = same[0]
    locations = name_first([problem.location or problem.unit or "the source" for problem in same], MOST_NAMED)
    text = f"{len(same)} problems are like this one: {locations}."
    renderers = first.rendered_by if all(problem.rendered_by == first.rendered_by for problem in same) else ()
    return replace(first, message=f"{first.message}\n{text}", rendered_by=renderers)


def join_renderers(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Join the problems of units in the order of the files, each once: units may have a file in common."""
    renderers: dict[Problem, set[str]] = {}
    for problem in problems:
        renderers.setdefault(replace(problem, rendered_by=()), set()).update(problem.rendered_by)
    joined = (replace(problem, rendered_by=tuple(sorted(names))) for problem, names in renderers.items())
    return tuple(sorted(joined, key=lambda problem: problem.order))


def format_renderers(names: Sequence[str]) -> str:
    """Format names of units: `rendered by a, b and 3 more`; "" without a name."""
    shown = name_first([name for name in names if name], _MOST_RENDERERS)
    return f"rendered by {shown}" if shown else ""


def format_location(result: Result) -> str:
    """Format where the manifest is, and the unit that rendered it; "" for one that was removed."""
    if result.manifest.source is None:
        return ""
    return ", ".join(filter(None, (str(result.manifest.source), format_renderers([result.manifest.rendered_by]))))


def list_body(result: Result, *, everything: bool = False) -> list[str]:
    """List the lines of the request of a planned create, as YAML; of many only the first, without `everything`."""
    # Without a width, PyYAML breaks a text at 80 columns.
    text = yaml.safe_dump(_make_plain(result.change.body), allow_unicode=True, sort_keys=False, width=1_000_000)
    lines = text.splitlines()
    if tags := format_default_tags(result.change.default_tags):
        lines = [f"# {tags}", *lines]
    if everything or len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} more lines; `-v` shows them"]


def format_default_tags(tags: Mapping[str, SourceLocation]) -> str:
    """Format where default tags are set: `default tags: team (gitsync.yaml:2)`; "" without any."""
    return f"default tags: {', '.join(f'{name} ({source})' for name, source in tags.items())}" if tags else ""


def _make_plain(value: Any) -> Any:
    """Make a value of plain types alone, as YAML can write it."""
    if isinstance(value, Mapping):
        return {str(key): _make_plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(member) for member in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def list_told_elsewhere(report: Report) -> frozenset[Key]:
    """List the resources whose failure is in the errors of their manifests, in the section below them."""
    files = {problem.path for problem in report.problems if problem.is_error}
    invalid = (result for result in report.results if result.verdict is Verdict.INVALID)
    return frozenset(
        result.key for result in invalid if result.manifest.source and result.manifest.source.path in files
    )


def format_failed_request(failed: FailedRequest, result: Result, most: int | None = None) -> str:
    """Format a failed request on one line: its message only where the resource does not say the same, and at most so
    many characters of it.
    """
    says_more = failed.message and failed.message != result.condition.message
    message = f": {failed.message if most is None else shorten(failed.message, most)}" if says_more else ""
    status = f" {failed.status}" if failed.status else ""
    request = f" (request {failed.request_id})" if failed.request_id else ""
    return f"{failed.at} {failed.stage.value}:{status} {failed.code}{message}{request}"

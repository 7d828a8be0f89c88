"""A report in a few words: the verdicts and the actions. Text that git stores has no times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action
from gitsync.report.replacement import count_replacements

_PAST = {
    Action.CREATE: "created",
    Action.UPDATE: "updated",
    Action.DELETE: "deleted",
    Action.DETACH: "detached",
}


def format_subject(report: Report) -> str:
    """One line for a commit: the revision, the number of Ready resources, and the actions."""
    ready = sum(r.condition.is_ready for r in report.results)
    parts = [f"{ready} of {len(report.results)} Ready", *format_failed(report), *_list_done(report)]
    return f"Status of {shorten_revision(report.revision)}: {', '.join(parts)}"


def format_baseline_note(report: Report) -> str:
    """The note for a plan of two revisions, which does not read from Azure; "" for every other run."""
    if report.base is None:
        return ""
    return f"Compared with revision {shorten_revision(report.base)}, not with Azure."


def format_problem_counts(problems: Iterable[Problem]) -> str:
    """`2 errors and 1 warning`, or `no problems`."""
    problems = tuple(problems)
    errors = sum(problem.is_error for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    return " and ".join(format_plural(count, noun) for count, noun in counts if count) or "no problems"


def format_found(report: Report) -> str:
    """How many failed, then the number of resources and of each verdict."""
    verdicts = [f"{count} {verdict}" for verdict, count in report.summary.items()]
    found = ", ".join([format_plural(len(report.results), "resource"), *verdicts])
    return "; ".join([*format_failed(report), found])


def format_failed(report: Report) -> list[str]:
    """`2 failed`, or nothing."""
    failed = report.outcomes[Outcome.FAILED]
    return [f"{failed} failed"] if failed else []


def format_done(report: Report) -> str:
    """The actions of a sync, or those that a sync would take. Failed actions are not counted."""
    if report.command == "plan":
        subject = "a sync" if report.base is None else "the change"
        actions = _count_actions(report.results, {action: action.value for action in _PAST})
        done = f"{subject} would {', '.join(actions)}" if actions else f"{subject} would change nothing"
    else:
        done = ", ".join(_list_done(report)) or "nothing changed"
    return ", ".join(filter(None, (done, count_replacements(report.results))))


def shorten_revision(revision: str | None) -> str:
    """The first twelve characters of a commit id, which are enough for git."""
    return "the uncommitted working tree" if revision is None else revision[:12]


def format_plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _list_done(report: Report) -> list[str]:
    return _count_actions([result for result in report.results if result.is_fine], _PAST)


def _count_actions(results: Iterable[Result], words: Mapping[Action, str]) -> list[str]:
    times = Counter(result.action for result in results)
    return [f"{word} {times[action]}" for action, word in words.items() if times[action]]

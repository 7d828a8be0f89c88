"""Writes the headline, the sentence that every form of a report begins with: what failed, what the run has changed in
Azure or a sync would change, and what that takes away.
"""

from __future__ import annotations

from gitsync.model.problem import REFUSALS
from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.verdict import Verdict
from gitsync.report.removed_links import count_removed_links
from gitsync.report.wording import (
    PLANNED,
    count_outside,
    count_resets,
    format_failed,
    format_holds,
    format_outside_count,
    format_plural,
    format_problem_counts,
    format_problem_location,
    list_actions,
    list_done,
)


def format_headline(report: Report) -> str:
    """Format the sentence that every form of a report begins with: what failed, and what the run has changed in Azure
    or a sync would change.

    `1 failed, 2 waiting; a sync would create 1, update 3, delete 3`. It has no word about the cost of the run.
    """
    if report.command == "validate":
        return _begin(format_problem_counts(report.problems))
    refusal = next((problem.code for problem in report.problems if problem.code in REFUSALS), "")
    # What is wrong with the manifest of a resource is counted with that resource.
    counted = {
        result.manifest.source.path
        for result in report.results
        if result.verdict is Verdict.INVALID and result.manifest.source
    }
    wrong = (problem for problem in report.problems if problem.is_error and problem.code not in REFUSALS)
    errors = [problem for problem in wrong if problem.path not in counted]
    location = format_problem_location(errors)
    replacements = sum(result.needs_replacement for result in report.results)
    # What a sync has left out has failed.
    refused_count = sum(result.is_refused and result.outcome is not Outcome.FAILED for result in report.results)
    refused = [f"{refused_count} would be refused"] if refused_count else []
    # In a run that stopped early nearly all wait, for the next run.
    held = sum(result.verdict is Verdict.HELD and result.outcome is Outcome.BLOCKED for result in report.results)
    blocked = 0 if report.interrupted else report.outcomes[Outcome.BLOCKED] - replacements - held
    waiting = [f"{blocked} waiting"] if blocked > 0 else []
    parts = (
        "stopped early" if report.interrupted else "",
        f"a sync is refused ({refusal})" if refusal else "",
        ", ".join(
            [
                *format_failed(report),
                *refused,
                *([format_plural(len(errors), "error") + location] if errors else []),
                *waiting,
            ]
        ),
        _format_effect(report, "it" if refusal else "a sync"),
        _format_identity_count(report),
        f"cannot replace {replacements}" if replacements else "",
        _format_reset_count(report),
        _format_removed_links(report),
        format_outside_count(count_outside(report)),
        format_holds(result.manifest.hold for result in report.results),
    )
    return _begin("; ".join(filter(None, parts)))


def _begin(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _format_effect(report: Report, subject: str) -> str:
    """Format the actions of a sync, or those that a sync would take."""
    if report.command != "plan":
        return ", ".join(list_done(report)) or "nothing changed"
    subject = subject if report.source.base is None else "the change"
    actions = list_actions(report, PLANNED)
    return f"{subject} would {', '.join(actions)}" if actions else f"{subject} would change nothing"


def _format_identity_count(report: Report) -> str:
    """Format how many resources another identity writes: `2 resources change identity`; "" for none."""
    count = sum(result.change.identity is not None for result in report.results)
    verb = "changed" if report.command == "sync" else "changes" if count == 1 else "change"
    return f"{format_plural(count, 'resource')} {verb} identity" if count else ""


def _format_reset_count(report: Report) -> str:
    count = count_resets(report)
    verb = "may have been reset" if report.command == "sync" else "may be reset"
    return f"{format_plural(count, 'value')} {verb}" if count else ""


def _format_removed_links(report: Report) -> str:
    """Format what Entra ID objects lose: `2 members and 1 owner would be removed`; "" for nothing."""
    counts = [format_plural(count, noun) for noun, count in count_removed_links(report).items()]
    verb = "removed" if report.command == "sync" else "would be removed"
    return f"{' and '.join(counts)} {verb}" if counts else ""

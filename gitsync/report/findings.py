"""Lists the findings of a report, one per problem or resource. JUnit, SARIF and annotations render the same findings.

A plan reports everything that a sync would change; a sync reports only what it did not fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import DRIFTED, Action, Verdict
from gitsync.report.escape import format_value, shorten
from gitsync.report.ordering import describe_causes, sort_by_urgency
from gitsync.report.wording import REPLACE_RULE, describe_replacement, format_renderers
from gitsync.status.advice import find_condition_advice

FAILED = "failed"
"""The rule for a resource that should be Ready and is not."""

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})
_MOST_DIFFERENCES = 20  # of one finding
_LONGEST_VALUE = 200  # characters


class Weight(StrEnum):
    """The severity of a finding: an error; drift; a change to make."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFinding:
    """`rule` is a problem's code, a verdict or FAILED. `identity` is the same in the next run, even if the manifest
    moves. `path` is relative to the root of the repository, "" if there is no file; `line` is 0 if unknown. The first
    line of `text` is its title. `is_advice` means that it is not a failure. `outcome` is that of the
    resource, "" for a problem.
    """

    rule: str
    weight: Weight
    identity: str
    path: str
    line: int
    text: str
    is_advice: bool = False
    outcome: str = ""

    @property
    def title(self) -> str:
        return self.text.partition("\n")[0]


def list_findings(report: Report) -> list[ReportFinding]:
    """List problems in the order of the files, then resources: what failed, what waits for that,
    and the rest.
    """
    problem_findings = [
        make_problem_finding(problem, report) for problem in sorted(report.problems, key=lambda p: p.order)
    ]
    # The problems of an invalid manifest are more specific than its verdict.
    results = [r for r in report.results if not (r.verdict is Verdict.INVALID and report.problems)]
    causes = describe_causes(report.results)
    result_findings = (make_finding(result, report, causes.get(result.key, "")) for result in sort_by_urgency(results))
    return problem_findings + [finding for finding in result_findings if finding is not None]


def make_finding(result: Result, report: Report, cause: str = "") -> ReportFinding | None:
    """Make the finding for a resource; None if nothing is wrong with it. `cause` names the resource
    that it waits for.
    """
    rule = _find_rule(result, report)
    if not rule:
        return None
    source, advice = result.source, find_condition_advice(result.condition, result.key)
    return ReportFinding(
        rule=rule,
        weight=Weight.WARNING if result.is_tolerated or (result.replacement and result.is_fine) else find_weight(rule),
        identity=f"{rule}\n{result.key}",
        path=_make_path_from_root(source.path, report) if source else "",
        line=source.line if source else 0,
        outcome=result.outcome.value,
        is_advice=result.is_tolerated,
        text="\n".join(
            [
                _format_headline(result, rule, cause),
                *format_differences(result),
                *filter(None, [describe_replacement(result)]),
                *([f"What to do: {advice}"] if advice else []),
                *_format_references(result),
                *filter(None, [_say_renderers([result.rendered_by])]),
            ]
        ),
    )


def _find_rule(result: Result, report: Report) -> str:
    """Find the rule of the finding for a resource; "" if there is no finding."""
    if result.replacement:
        return REPLACE_RULE
    if not result.is_fine:
        return result.verdict.value if result.verdict in _HINDERED else FAILED
    if result.verdict in {Verdict.IN_SYNC, Verdict.SKIP}:
        return ""
    # Differences that no action resolves are findings of a sync too; those that it resolved are not.
    is_unresolved = bool(result.differences) and result.action is Action.NONE
    changes = result.action is not Action.NONE or bool(result.differences) or result.verdict is not Verdict.ADOPT
    return result.verdict.value if is_unresolved or (changes and report.command == "plan") else ""


def find_weight(rule: str) -> Weight:
    """Find the severity of a rule for resources."""
    if rule in {FAILED, REPLACE_RULE} or rule in {verdict.value for verdict in _HINDERED}:
        return Weight.ERROR
    # What is merely to be done is a note: a pull request that adds a resource is not broken.
    return Weight.WARNING if rule in {verdict.value for verdict in DRIFTED} else Weight.NOTE


def make_problem_finding(problem: Problem, report: Report) -> ReportFinding:
    """Make the finding for a problem of the input."""
    return ReportFinding(
        rule=problem.code,
        weight=Weight.ERROR if problem.is_error else Weight.WARNING,
        identity=f"{problem.code}\n{problem.path}\n{problem.field}\n{problem.message}",
        path=_make_path_from_root(problem.path, report),
        line=problem.line,
        text="\n".join(part for part in (problem.message, problem.hint, _say_renderers(problem.rendered_by)) if part),
        is_advice=not problem.is_error,
    )


def _say_renderers(names: Sequence[str]) -> str:
    """Say which units rendered the manifest, as a sentence; "" if none did."""
    renderers = format_renderers(names)
    return f"The manifest was {renderers}." if renderers else ""


def _make_path_from_root(path: str, report: Report) -> str:
    return f"{report.root}/{path}" if report.root and path else path


def _format_headline(result: Result, rule: str, cause: str) -> str:
    condition, name = result.condition, f"{result.key.kind}/{result.key.name}"
    if cause:
        return f"{name} is {cause}."
    text = condition.message if result.is_fine else f"{condition.reason}: {condition.message}"
    return f"{name} {_format_state(result, rule)}" + (f": {' '.join(text.split())}" if text.strip(": ") else ".")


def _format_state(result: Result, rule: str) -> str:
    # What a resource did not become Ready for may still be under way: only a failure is called one.
    if rule == FAILED and result.outcome is Outcome.FAILED:
        return FAILED
    return f"is {_WORDS.get(rule, rule)}"


_WORDS = {
    FAILED: "not Ready",
    REPLACE_RULE: "to be replaced",
    "pending": "to be updated",
    "create": "to be created",
    "adopt": "to be adopted",
    "delete": "to be deleted",
    "detach": "to be detached",
    "conflict": "changed both in git and in Azure",
}


def format_differences(result: Result) -> Iterator[str]:
    """Format the differences, one line each, live value first. Long values are truncated, and
    excess lines are counted.
    """
    differences = sorted(result.differences, key=lambda difference: difference.path)
    for difference in differences[:_MOST_DIFFERENCES]:
        sides = (shorten(format_value(side), _LONGEST_VALUE) for side in (difference.live, difference.desired))
        yield f"{difference.path}: {' → '.join(sides)}"
    if len(differences) > _MOST_DIFFERENCES:
        yield f"… and {len(differences) - _MOST_DIFFERENCES} more"


def _format_references(result: Result) -> Iterator[str]:
    if result.arm_id:
        yield f"id: {result.arm_id}"
    if result.condition.request_id:
        yield f"request id: {result.condition.request_id}"

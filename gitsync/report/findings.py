"""Lists the findings of a report, one per problem or resource. JUnit, SARIF and annotations render the same findings.

A plan reports everything that a sync would change; a sync reports only what it did not fix.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from gitsync.desired.formats.name_list import name_first
from gitsync.model.check import CheckFinding, CheckVerdict
from gitsync.model.condition import WaitReason
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import DRIFTED, Action, Verdict
from gitsync.planning.data_types import describe_loss
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.author_texts import list_authors
from gitsync.report.check_texts import format_check, format_remedy, format_statement, is_left_out, list_shown
from gitsync.report.differences import Change, find_first_location, list_changes
from gitsync.report.escape import format_sides
from gitsync.report.identity_texts import IDENTITY_HINT, describe_identity_change
from gitsync.report.ordering import collect_causes, describe_causes, sort_by_urgency
from gitsync.report.outside_texts import ShownChange, format_resets, list_outside
from gitsync.report.wording import (
    REPLACE_RULE,
    describe_replacement,
    format_last_commit,
    format_plural,
    format_renderers,
    format_waiting,
)

OUTSIDE_RULE = "outside"
"""The rule for values that were changed in Azure and that git does not set."""

IDENTITY_RULE = "identity"
"""The rule for resources that another identity than before writes."""

REPLACED_RULE = "replace"
"""The rule for a resource that a sync would replace."""

FAILED = "failed"
"""The rule for a resource that should be Ready and is not."""

CHECK_RULE = "check-"
"""What the rules for findings of checks begin with: `check-policy`."""

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
    """One finding of a report."""

    rule: str  # a problem's code, a verdict or FAILED
    weight: Weight
    identity: str  # the same in the next run, even if the manifest moves
    path: str  # relative to the root of the repository, "" if there is no file
    line: int  # 0 if unknown
    title: str  # names the subject in a few words
    message: str = ""  # the cause on one line, "" if the title has it
    details: tuple[str, ...] = ()  # the lines below
    is_advice: bool = False  # it is not a failure
    outcome: str = ""  # of the resource, "" for a problem

    @property
    def headline(self) -> str:
        """The title and the message on one line."""
        if self.message:
            return f"{self.title}: {self.message}"
        return f"{self.title}." if self.outcome else self.title  # a problem is a sentence already

    @property
    def text(self) -> str:
        return "\n".join((self.headline, *self.details))


def list_findings(report: Report) -> list[ReportFinding]:
    """List errors of manifests in the order of the files, then resources: what failed, what waits for that, and the
    rest.

    One cause is one error: what waits for it is a number in that, and so is what a run did not reach.
    """
    unreached = [result for result in report.results if result.condition.reason == WaitReason.NOT_REACHED]
    # The problems of an invalid manifest are more specific than its verdict.
    told = {result.key for result in report.results if result.verdict is Verdict.INVALID and report.problems}
    left_out = told.union(result.key for result in unreached)
    causes = describe_causes(report.results)
    resources = {
        result.key: list_result_findings(result, report, causes.get(result.key, ""))
        for result in sort_by_urgency(report.results)
        if result.key not in left_out
    }
    problems = {
        problem: make_problem_finding(problem, report) for problem in sorted(report.problems, key=lambda p: p.order)
    }
    _count_waiting(report, problems, resources)
    for first, finding in list_identity_findings(sort_by_urgency(report.results), report):
        resources[first] = [finding, *resources.get(first, ())]
    errors = [finding for finding in problems.values() if finding.weight is Weight.ERROR]
    warnings = [finding for finding in problems.values() if finding.weight is not Weight.ERROR]
    # Warnings come last, or they would displace deletes where a host shows only the first.
    return [*errors, *chain.from_iterable(resources.values()), *_list_unreached(unreached), *warnings]


def _count_waiting(
    report: Report, problems: dict[Problem, ReportFinding], resources: dict[Key, list[ReportFinding]]
) -> None:
    """Add to the error of each cause how many resources wait for it, and take out their findings."""
    waiting: dict[Key, list[Key]] = defaultdict(list)
    for key, cause in collect_causes(sort_by_urgency(report.results)).items():
        if any(map(_waits, resources.get(key, ()))):
            waiting[cause].append(key)
    own_problems = _collect_own_problems(report) if waiting else {}
    for cause, keys in waiting.items():
        counted = keys
        error = next((finding for finding in resources.get(cause, ()) if finding.weight is Weight.ERROR), None)
        if error:
            resources[cause] = [
                _add_waiting(finding, len(keys)) if finding is error else finding for finding in resources[cause]
            ]
        elif cause in own_problems:
            problems[own_problems[cause]] = _add_waiting(problems[own_problems[cause]], len(keys))
        else:
            # Where there is no such error, the first that waits stands for all.
            first, *counted = keys
            resources[first] = [
                _add_waiting(finding, len(counted), "more ") if _waits(finding) else finding
                for finding in resources[first]
            ]
        for key in counted:
            resources[key] = [finding for finding in resources[key] if not _waits(finding)]


def _waits(finding: ReportFinding) -> bool:
    return finding.rule == Verdict.BLOCKED and not finding.is_advice


def _add_waiting(finding: ReportFinding, count: int, more: str = "") -> ReportFinding:
    sentence = format_waiting(count, more)
    return replace(finding, details=(*finding.details, sentence)) if sentence else finding


def _collect_own_problems(report: Report) -> Mapping[Key, Problem]:
    """Find for each invalid manifest its first error: one from its first line to that of the next manifest, else one of
    its file.
    """
    sources = [(result.manifest.source, result.key) for result in report.results if result.manifest.source]
    starts = sorted(sources, key=lambda row: row[0])
    in_file: dict[str, Problem] = {}
    own: dict[Key, Problem] = {}
    for problem in sorted(report.problems, key=lambda problem: problem.order):
        if problem.is_error and problem.path:
            in_file.setdefault(problem.path, problem)
            location = SourceLocation(problem.path, problem.line)
            at = bisect_right(starts, location, key=lambda row: row[0]) - 1
            if at >= 0 and starts[at][0].path == problem.path:
                own.setdefault(starts[at][1], problem)
    invalid = [
        (result.key, source.path)
        for result in report.results
        if result.verdict is Verdict.INVALID and (source := result.manifest.source) and source.path in in_file
    ]
    return {key: own.get(key, in_file[path]) for key, path in invalid}


def _list_unreached(results: Sequence[Result]) -> list[ReportFinding]:
    """List one finding for what a run that ended early did not reach: no manifest is wrong."""
    if not results:
        return []
    verb = "was" if len(results) == 1 else "were"
    finding = ReportFinding(
        rule=Verdict.UNKNOWN.value,
        weight=Weight.ERROR,
        identity=WaitReason.NOT_REACHED.value,
        path="",
        line=0,
        title=f"{format_plural(len(results), 'resource')} {verb} not reached",
        message=" ".join(results[0].condition.message.split()),
        outcome=Outcome.BLOCKED.value,
    )
    return [finding]


def list_result_findings(result: Result, report: Report, cause: str = "") -> list[ReportFinding]:
    """List the findings of one resource: those of the checks, then what is done with it or wrong with it."""
    checks = [
        _make_check_finding(finding, result, report) for finding in list_shown(result, writes=report.command == "sync")
    ]
    own = None if is_left_out(result) else make_finding(result, report, cause)
    return [*checks, *([own] if own else []), *_list_outside_findings(result, report)]


def list_identity_findings(results: Sequence[Result], report: Report) -> Iterator[tuple[Key, ReportFinding]]:
    """List a finding for each change of identity, with its first resource."""
    # A sync reports only what it did not do.
    shown = [result for result in results if report.command != "sync" or not result.is_fine]
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in shown:
        # One Secret may change the identity of all resources of a namespace, and that is one cause.
        if text := describe_identity_change(result):
            groups[text].append(result)
    for text, members in groups.items():
        yield members[0].key, _make_identity_finding(text, members, report)


def _make_identity_finding(text: str, members: Sequence[Result], report: Report) -> ReportFinding:
    """Make the finding for resources with the same change of identity, at the Secret of the new one."""
    first = members[0]
    now = first.change.identity.now if first.change.identity else None
    source = (now.source if now else None) or first.manifest.source or first.manifest.last_source
    names = [f"{member.key.kind}/{member.key.name}" for member in members]
    return ReportFinding(
        rule=IDENTITY_RULE,
        weight=Weight.WARNING,
        identity=f"{IDENTITY_RULE}\n{first.key.namespace}\n{now.credential if now else ''}",
        path=_make_path_from_root(source.path, report) if source else "",
        line=source.line if source else 0,
        outcome=first.outcome.value,
        # It is advice: the verdicts of the resources stay.
        is_advice=True,
        title=f"Another identity than before writes {names[0] if len(names) == 1 else f'{len(names)} resources'}",
        message=text,
        details=(IDENTITY_HINT, *([f"resources: {name_first(names, _MOST_DIFFERENCES)}"] if len(names) > 1 else [])),
    )


def _list_outside_findings(result: Result, report: Report) -> list[ReportFinding]:
    """List a finding for the changes outside of git that weaken the estate, and one for the others."""
    changes = list_outside(result)
    weakening, others = ([each for each in changes if bool(each.weakens) is weakens] for weakens in (True, False))
    found = ((weakening, Weight.WARNING, "weakens"), (others, Weight.NOTE, ""))
    return [_make_outside_finding(result, report, part, weight, word) for part, weight, word in found if part]


def _make_outside_finding(
    result: Result, report: Report, changes: Sequence[ShownChange], weight: Weight, word: str
) -> ReportFinding:
    """Make the finding for changes outside of git."""
    source = result.manifest.source or result.manifest.last_source
    count = f"{format_plural(len(changes), 'value')} of {result.key.kind}/{result.key.name}"
    effect = ", and weaken the estate" if len(changes) > 1 else ", and weakens the estate"
    return ReportFinding(
        rule=OUTSIDE_RULE,
        weight=weight,
        identity=f"{OUTSIDE_RULE}\n{word}\n{result.key}",
        path=_make_path_from_root(source.path, report) if source else "",
        line=source.line if source else 0,
        outcome=result.outcome.value,
        # It is advice: the verdict of the resource stays.
        is_advice=True,
        title=f"{count} changed outside of git{effect if weight is Weight.WARNING else ''}",
        details=(*_format_outside(changes), *list_authors(result), *_format_references(result)),
    )


def _format_outside(changes: Sequence[ShownChange]) -> Iterator[str]:
    """Format changes outside of git, one line for each part."""
    rows = [(part, change.weakens) for change in changes for part in change.parts]
    for part, weakens in rows[:_MOST_DIFFERENCES]:
        yield f"{_format_change(part)}. {weakens}" if weakens else _format_change(part)
    if len(rows) > _MOST_DIFFERENCES:
        yield f"… and {len(rows) - _MOST_DIFFERENCES} more"


def _make_check_finding(finding: CheckFinding, result: Result, report: Report) -> ReportFinding:
    """Make the finding for the result of a check, at the field that it is about."""
    is_refusal = finding.verdict is CheckVerdict.REFUSED
    field = result.comparison.fields.get(finding.path)
    source = field.source if field else result.manifest.source or result.manifest.last_source
    name, remedy = f"{result.key.kind}/{result.key.name}", format_remedy(finding)
    return ReportFinding(
        rule=f"{CHECK_RULE}{finding.check}",
        weight=Weight.ERROR if is_refusal else Weight.WARNING,
        identity=f"{CHECK_RULE}{finding.check}\n{finding.code}\n{finding.path}\n{result.key}",
        path=_make_path_from_root(source.path, report) if source else "",
        line=source.line if source else 0,
        title=f"Azure would refuse {name}" if is_refusal else f"Azure would accept {name} with a warning",
        message=f"{format_check(finding)}: {format_statement(finding, result)}",
        details=(*([f"What to do: {remedy}"] if remedy else []), *_format_references(result)),
        is_advice=not is_refusal,
        outcome=result.outcome.value,
    )


def make_finding(result: Result, report: Report, cause: str = "") -> ReportFinding | None:
    """Make the finding for a resource; None if nothing is wrong with it. `cause` names the resource that it waits
    for.
    """
    rule = _decide_rule(result, report)
    if not rule:
        return None
    # A removed manifest is shown where it was last, though its file may be gone: GitHub rejects a SARIF result without
    # a location, and shows one in a missing file without a preview. Another file would be the wrong one.
    changed = find_first_location(result) if result.is_fine or result.change.replacement else None
    source = changed or result.manifest.source or result.manifest.last_source
    advice = find_condition_advice(result.condition, result.arm_id)
    title, message = _describe_result(result, rule, cause)
    deletes = result.is_fine and result.action is Action.DELETE
    loss = describe_loss(result.arm_id) if deletes or result.change.replacement else ""
    commit = result.manifest.last_commit
    last_commit = format_last_commit(commit if commit and commit.commit else None)
    is_warning = result.ending.is_tolerated or (result.change.replacement and result.is_fine)
    return ReportFinding(
        rule=rule,
        weight=Weight.WARNING if is_warning else choose_weight(rule),
        identity=f"{rule}\n{result.key}",
        path=_make_path_from_root(source.path, report) if source else "",
        line=source.line if source else 0,
        outcome=result.outcome.value,
        is_advice=result.ending.is_tolerated,
        title=f"{title} (holds data)" if deletes and loss else title,
        message=message,
        details=(
            *format_differences(result),
            *filter(None, [format_resets(result, writes=report.command == "sync")]),
            *list_authors(result),
            *([loss] if loss else []),
            *([f"What to do: {advice}"] if advice else []),
            *([f"last commit: {last_commit}"] if last_commit else []),
            *_format_references(result),
            *filter(None, [_say_renderers([result.manifest.rendered_by])]),
        ),
    )


def _decide_rule(result: Result, report: Report) -> str:
    """Find the rule of the finding for a resource; "" if there is no finding."""
    if result.needs_replacement:
        return REPLACE_RULE
    if result.verdict is Verdict.HELD:
        return Verdict.HELD.value
    if not result.is_fine:
        return result.verdict.value if result.verdict in _HINDERED else FAILED
    if result.verdict in {Verdict.IN_SYNC, Verdict.SKIP}:
        return ""
    if result.action is Action.REPLACE:
        return REPLACED_RULE if report.command == "plan" else ""
    # Differences that no action resolves are findings of a sync too; those that it resolved are not.
    is_unresolved = bool(result.differences) and result.action is Action.NONE
    changes = result.action is not Action.NONE or bool(result.differences) or result.verdict is not Verdict.ADOPT
    return result.verdict.value if is_unresolved or (changes and report.command == "plan") else ""


def choose_weight(rule: str) -> Weight:
    """Choose the severity of a rule for resources."""
    if rule in {FAILED, REPLACE_RULE} or rule in {verdict.value for verdict in _HINDERED}:
        return Weight.ERROR
    # What is merely to be done is a note: a pull request that adds a resource is not broken. A delete is more than
    # that: no later commit restores what it takes away. And what failed before may fail again.
    warned = {verdict.value for verdict in (*DRIFTED, Verdict.DELETE, Verdict.FAILED_BEFORE)}
    return Weight.WARNING if rule in warned | {REPLACED_RULE} else Weight.NOTE


def make_problem_finding(problem: Problem, report: Report) -> ReportFinding:
    """Make the finding for a problem of the input."""
    title, *more = problem.message.splitlines() or [""]
    return ReportFinding(
        rule=problem.code,
        weight=Weight.ERROR if problem.is_error else Weight.WARNING,
        identity=f"{problem.code}\n{problem.path}\n{problem.field}\n{problem.message}",
        path=_make_path_from_root(problem.path, report),
        line=problem.line,
        title=title,
        details=tuple(filter(None, (*more, *problem.hint.splitlines(), _say_renderers(problem.rendered_by)))),
        is_advice=not problem.is_error,
    )


def _say_renderers(names: Sequence[str]) -> str:
    """Name the units that rendered the manifest, as a sentence; "" if none did."""
    renderers = format_renderers(names)
    return f"The manifest was {renderers}." if renderers else ""


def _make_path_from_root(path: str, report: Report) -> str:
    return f"{report.source.root}/{path}" if report.source.root and path else path


def _describe_result(result: Result, rule: str, cause: str) -> tuple[str, str]:
    """Return the title of a finding, with the effect or the failure first, and its message."""
    condition, name = result.condition, f"{result.key.kind}/{result.key.name}"
    message = " ".join(condition.message.split())
    # Its own message only repeats what it waits for.
    if cause:
        return f"{name} is {cause}", ""
    if rule == REPLACED_RULE:
        return _PLANNED[rule].format(name), describe_replacement(result)
    if result.needs_replacement:
        description = describe_replacement(result)  # begins with the reason, which may be the condition's message too
        more = "" if description.startswith(message) else message
        return f"{name} {_STATES[REPLACE_RULE]}", " ".join(filter(None, (more, description)))
    if condition.reason == WaitReason.NOT_REACHED:
        return f"{name} was not reached", message
    # Only what a plan would do is fine and has an action: a sync reports nothing that it did.
    planned = _PLANNED.get(rule, "") if result.is_fine and result.action is not Action.NONE else ""
    title = planned.format(name) if planned else f"{name} {_format_state(result, rule)}"
    if not result.is_fine and condition.reason:
        title = f"{title}: {condition.reason}"
    return title, message


def _format_state(result: Result, rule: str) -> str:
    # What a resource did not become Ready for may still be under way: only a failure is called one.
    if rule == FAILED and result.outcome is Outcome.FAILED:
        return FAILED
    return _STATES.get(rule, f"is {rule}")


_PLANNED = {
    "create": "Would create {}",
    "failed-before": "Would write {} again, which failed before",
    "pending": "Would update {}",
    REPLACED_RULE: "Would delete {} and create it again",
    "adopt": "Would adopt {}",
    "drifted": "Would update {}, which was changed in Azure",
    "conflict": "Would update {}, which was changed both in git and in Azure",
    "missing": "Would create {} again, which was deleted from Azure",
    "delete": "Would delete {}",
    "detach": "Would stop managing {}",
}
"""By rule: what a sync would do."""

_STATES = {
    FAILED: "is not Ready",
    REPLACE_RULE: "cannot be changed in place",
    "adopt": "exists, but gitsync did not create it",
    "failed-before": "failed before",
    "drifted": "was changed in Azure",
    "conflict": "was changed both in git and in Azure",
    "missing": "was deleted from Azure",
    "delete": "is no longer in git",
    "detach": "is no longer in git",
    "held": "is held",
}
"""By rule: how a resource is that no action follows for."""


def format_differences(result: Result) -> Iterator[str]:
    """Format the differences, one line each, live value first. Long values are truncated, and excess lines are
    counted.
    """
    changes = list(list_changes(result))
    for change in changes[:_MOST_DIFFERENCES]:
        yield _format_change(change)
    if len(changes) > _MOST_DIFFERENCES:
        yield f"… and {len(changes) - _MOST_DIFFERENCES} more"


def _format_change(change: Change) -> str:
    sides = format_sides(change.live, change.desired, _LONGEST_VALUE)
    notes = f" ({', '.join(change.notes)})" if change.notes else ""
    return f"{change.name}: {' → '.join(sides)}{notes}"


def _format_references(result: Result) -> Iterator[str]:
    if result.arm_id:
        yield f"id: {result.arm_id}"
    if result.condition.request_id:
        yield f"request id: {result.condition.request_id}"

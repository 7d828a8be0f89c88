"""The exit code of a run: the first that applies (docs/reference/design.md#exit-codes)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from gitsync.errors import ExitCode
from gitsync.model.problem import Problem
from gitsync.model.refusal import is_refused
from gitsync.model.result import Result
from gitsync.model.verdict import DRIFT_WORD, DRIFTED, Action, Verdict
from gitsync.status.conditions import OVERLAP

FAULT = ExitCode.FAULT

_PENDING = frozenset({Verdict.CREATE, Verdict.PENDING, Verdict.DELETE, Verdict.DETACH})


def decide_exit_code(
    results: Sequence[Result],
    problems: Iterable[Problem],
    *,
    writes: bool,
    detailed: bool,
    fail_on: Collection[str] = (),
) -> ExitCode:
    """`writes`: a sync, else a plan. `detailed`: a plan distinguishes drift from pending changes. `fail_on` are
    verdicts (or DRIFT_WORD) that make the run fail, and take precedence over `detailed`.

    An internal error comes first: other results of its resource may follow from it. Then the refusal of a sync, which
    only a plan gets here with.
    """
    problems = tuple(problems)
    if any(result.fault for result in results):
        return ExitCode.FAULT
    if is_refused(problems):
        return ExitCode.REFUSED
    if any(problem.is_error for problem in problems) or any(_is_failed(result) for result in results):
        return ExitCode.FAILED
    if any(_is_held_elsewhere(result) or _is_failure(result.verdict, fail_on) for result in results):
        return ExitCode.FAILED
    if writes or not detailed:
        return ExitCode.FINE
    if any(result.verdict in DRIFTED for result in results):
        return ExitCode.DRIFT
    return ExitCode.PENDING if any(_is_pending(result) for result in results) else ExitCode.FINE


def _is_failed(result: Result) -> bool:
    return not result.is_fine and not result.is_tolerated


def _is_held_elsewhere(result: Result) -> bool:
    """Another agent manages a resource that this one should."""
    return result.condition.reason == OVERLAP and result.policy.allows_modify


def _is_failure(verdict: Verdict, words: Collection[str]) -> bool:
    return verdict.value in words or (verdict in DRIFTED and DRIFT_WORD in words)


def _is_pending(result: Result) -> bool:
    adopts = result.verdict is Verdict.ADOPT and (bool(result.differences) or result.action is not Action.NONE)
    return result.verdict in _PENDING or adopts

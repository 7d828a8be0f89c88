"""Decides the exit code of a run: the first that applies (docs/exit-codes.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from gitsync.errors import ExitCode
from gitsync.model.problem import Problem, is_refused
from gitsync.model.result import Result
from gitsync.model.verdict import DRIFT_WORD, DRIFTED, OUTSIDE_WORD, Action, Verdict
from gitsync.planning.status.conditions import OVERLAP

_PENDING = frozenset({Verdict.CREATE, Verdict.FAILED_BEFORE, Verdict.PENDING, Verdict.DELETE, Verdict.DETACH})

_GRAVITY = (ExitCode.FAULT, ExitCode.REFUSED, ExitCode.FAILED, ExitCode.DRIFT, ExitCode.PENDING, ExitCode.FINE)
"""In the order in which `decide_exit_code` looks for them."""


def choose_worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the exit code of a run whose workers ended with these, at least one."""
    return min(codes, key=_GRAVITY.index)


def decide_exit_code(
    results: Sequence[Result],
    problems: Iterable[Problem],
    *,
    writes: bool,
    detailed_exitcode: bool,
    fail_on: Collection[str] = (),
) -> ExitCode:
    """Return the exit code of a sync (`writes`), or of a plan.

    With `detailed_exitcode`, that of a plan distinguishes drift from pending changes. `fail_on` are verdicts (or
    DRIFT_WORD or OUTSIDE_WORD) that make the run fail, and take precedence over it. A change outside of git is neither
    drift nor a change to make.

    An internal error comes first: other results of its resource may follow from it. Then the refusal of a sync, which
    only a plan gets here with.
    """
    problems = tuple(problems)
    if any(result.ending.fault for result in results):
        return ExitCode.FAULT
    if is_refused(problems):
        return ExitCode.REFUSED
    has_failure = any(
        # Another agent manages a resource that this one should.
        (result.condition.reason == OVERLAP and result.manifest.policy.allows_modify)
        or not (result.is_fine or result.ending.is_tolerated)
        for result in results
    )
    if has_failure or any(problem.is_error for problem in problems):
        return ExitCode.FAILED
    if any(_is_named(result, fail_on) for result in results):
        return ExitCode.FAILED
    if writes or not detailed_exitcode:
        return ExitCode.FINE
    if any(result.verdict in DRIFTED for result in results):
        return ExitCode.DRIFT
    if any(result.verdict in _PENDING or result.change.identity for result in results):
        return ExitCode.PENDING
    # To adopt a resource that is as git has it changes nothing in Azure.
    adopted = (result for result in results if result.verdict is Verdict.ADOPT)
    return (
        ExitCode.PENDING
        if any(result.differences or result.action is not Action.NONE for result in adopted)
        else ExitCode.FINE
    )


def _is_named(result: Result, fail_on: Collection[str]) -> bool:
    """Return whether the words of a setting name what was found of a resource. A hold keeps what changed outside of
    git, as it keeps drift.
    """
    has_drifted = DRIFT_WORD in fail_on and result.verdict in DRIFTED
    is_outside = OUTSIDE_WORD in fail_on and bool(result.comparison.outside) and result.manifest.hold is None
    return has_drifted or is_outside or result.verdict.value in fail_on

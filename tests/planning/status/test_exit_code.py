from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.problem import REFUSALS, Level, Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.conditions import make_other_agent
from gitsync.planning.status.exit_code import decide_exit_code
from tests.support.builders import result, vnet
from tests.support.parts import change

WRONG = Problem(code="Bad", message="m")
NOTED = Problem(code="Odd", message="m", level=Level.WARNING)


@pytest.mark.parametrize(
    ("verdicts", "problems", "writes", "detailed", "expected", "why"),
    [
        ([Verdict.IN_SYNC], [], True, False, 0, "all is well"),
        ([Verdict.CREATE], [], True, False, 0, "a create that became Ready"),
        ([Verdict.IN_SYNC], [WRONG], True, False, 1, "a file does not parse"),
        ([Verdict.IN_SYNC], [NOTED], True, False, 0, "a warning is no failure"),
        ([Verdict.DRIFTED, Verdict.CREATE], [], False, False, 0, "a plan that found something did its work"),
        ([Verdict.DRIFTED, Verdict.CREATE], [], False, True, 4, "drift comes before pending"),
        ([Verdict.MISSING], [], False, True, 4, "what is gone drifted"),
        ([Verdict.CREATE], [], False, True, 3, "pending"),
        ([Verdict.DELETE], [], False, True, 3, "pending"),
        ([Verdict.ADOPT], [], False, True, 0, "an adoption without differences changes nothing"),
    ],
)
def test_how_a_run_ends(verdicts, problems, writes, detailed, expected, why):
    results = [result(vnet(verdict.value), verdict=verdict) for verdict in verdicts]
    assert decide_exit_code(results, problems, writes=writes, detailed_exitcode=detailed) == expected, why


def test_what_another_agent_holds_fails_a_run_that_should_manage_it():
    held = replace(result(vnet()), condition=make_other_agent("two", "one"), is_fine=True)
    read_only = change(held, policy=Policy.SKIP)
    codes = [
        decide_exit_code([resource], [], writes=writes, detailed_exitcode=False)
        for resource in (held, read_only)
        for writes in (0, 1)
    ]
    assert codes == [1, 1, 0, 0]


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_a_plan_ends_as_the_sync_that_it_speaks_of(code):
    refusal = Problem(code=code, message="m")
    results = [result(vnet("a"), is_fine=False), result(vnet("b"), verdict=Verdict.DRIFTED)]
    assert decide_exit_code(results, [WRONG, refusal], writes=False, detailed_exitcode=True) == 2


def test_failure_comes_first():
    results = [result(vnet("a"), is_fine=False), result(vnet("b"), verdict=Verdict.DRIFTED)]
    assert decide_exit_code(results, [], writes=False, detailed_exitcode=True) == 1


def test_an_adoption_that_would_write_is_pending():
    adopts = result(vnet(), verdict=Verdict.ADOPT, action=Action.UPDATE)
    assert decide_exit_code([adopts], [], writes=False, detailed_exitcode=True) == 3


@pytest.mark.parametrize(
    ("verdict", "fail_on", "writes", "expected", "why"),
    [
        (Verdict.PENDING, ("pending",), False, 1, "a verdict that was named fails the run"),
        (Verdict.PENDING, ("drifted",), False, 3, "another one does not"),
        (Verdict.DRIFTED, ("drifted", "create"), False, 1, "it comes before the detailed codes"),
        (Verdict.MISSING, ("drift",), False, 1, "drift stands for drifted, missing and conflict"),
        (Verdict.CONFLICT, ("drift",), False, 1, "drift stands for drifted, missing and conflict"),
        (Verdict.PENDING, ("drift",), False, 3, "and for nothing else"),
        (Verdict.FAILED_BEFORE, ("drift",), False, 3, "what failed before is to be tried again: it has not drifted"),
        (Verdict.FAILED_BEFORE, ("failed-before",), False, 1, "it may be named"),
        (Verdict.HELD, (), False, 0, "what is held is not counted"),
        (Verdict.HELD, ("drift",), False, 0, "nor as drift"),
        (Verdict.HELD, ("held",), True, 1, "unless it is named"),
        (Verdict.DRIFTED, ("drift",), True, 1, "a sync that mended drift says that there was some"),
        (Verdict.DRIFTED, (), True, 0, "without the setting it does not"),
    ],
)
def test_verdicts_that_fail_a_run(verdict, fail_on, writes, expected, why):
    results = [result(vnet(), verdict=verdict)]
    assert decide_exit_code(results, [], writes=writes, detailed_exitcode=True, fail_on=fail_on) == expected, why


def test_what_is_tolerated_fails_no_run_unless_its_verdict_does():
    waiting = change(result(vnet(), is_fine=False, verdict=Verdict.BLOCKED), is_tolerated=True)
    for fail_on, expected in (((), 0), (("blocked",), 1)):
        assert decide_exit_code([waiting], [], writes=True, detailed_exitcode=False, fail_on=fail_on) == expected

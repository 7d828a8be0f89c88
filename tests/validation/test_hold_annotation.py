"""The annotation gitsync/hold: what it may have, and on which day it holds."""

from datetime import date

import pytest

from gitsync.model.hold import HeldUntil
from gitsync.model.problem import Level
from gitsync.validation.hold_annotation import check_hold, read_hold
from tests.support.handmade_kinds import a_resource

TODAY = date(2030, 6, 15)
SHORT = "Write it as `until 2030-12-31, incident 4711`."


def resource(text):
    return a_resource(annotations={"gitsync/hold": text})


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("", None, "empty means not set"),
        ("until 2030-06-30, incident 4711", HeldUntil(date(2030, 6, 30), "incident 4711"), "a day and a reason"),
        (" until  2030-06-30 ,  a, b\n c ", HeldUntil(date(2030, 6, 30), "a, b c"), "the reason is one line"),
        ("until 2030-06-15, x", HeldUntil(date(2030, 6, 15), "x"), "the last day counts"),
        ("until 2030-06-14, x", None, "the day after does not"),
        ("until 2030-09-13, x", HeldUntil(date(2030, 9, 13), "x"), "90 days ahead"),
        ("until 2030-09-14, x", None, "what is wrong holds nothing, and stops the resource"),
    ],
)
def test_holds_in_force(text, expected, why):
    assert read_hold(resource(text), TODAY) == expected, why


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("2030-06-30", "must be `until DATE, reason`, but is", SHORT),
        ("until 2030-06-30", "must be `until DATE, reason`", SHORT),
        ("until 2030-06-30, ", "must be `until DATE, reason`", SHORT),
        ("until , incident", "must be `until DATE, reason`", SHORT),
        ("incident 4711", "must be `until DATE, reason`", SHORT),
        ("until tomorrow, x", '"tomorrow", which is not a date', SHORT),
        ("until 2030-02-30, x", '"2030-02-30", which is not a date', SHORT),
        ("until 20300630, x", "which is not a date", SHORT),
        ("until 2030-06-30T10:00:00Z, x", "which is not a date", SHORT),
        ("until 2030-09-14, x", "more than 90 days ahead", "Set 2030-09-13 or an earlier day."),
        (f"until 2030-06-30, {'x' * 201}", "a reason of 201 characters", "Use at most 200"),
    ],
)
def test_errors(text, said, hint):
    (finding,) = check_hold(resource(text), TODAY)
    assert (finding.code, finding.level) == ("HoldAnnotation", Level.ERROR)
    assert said in finding.message
    assert hint in finding.hint


def test_a_hold_that_has_ended_is_a_warning():
    (finding,) = check_hold(resource("until 2030-06-14, x"), TODAY)
    assert (finding.code, finding.level) == ("HoldEnded", Level.WARNING)
    assert "ended on 2030-06-14" in finding.message


@pytest.mark.parametrize("text", ["", "until 2030-06-15, x", "until 2030-09-13, x"])
def test_a_good_one_is_not_a_finding(text):
    assert list(check_hold(resource(text), TODAY)) == []

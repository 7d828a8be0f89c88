"""The annotation gitsync/hold: what it may have, and on which day it holds."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.validation.hold_annotation import check_hold, read_hold
from gitsync.model.hold import HeldUntil
from gitsync.model.problem import Level
from tests.support.handmade_kinds import a_resource

TODAY = date(2030, 6, 15)
SHORT = "Write it as `until 2030-07-31, incident 4711`."
GIVEN = "Write it as `until 2030-06-30, incident 4711`."


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
        ("2030-06-30", "must be `until DATE, reason`, but is", GIVEN),
        ("until 2030-06-30", "must be `until DATE, reason`", GIVEN),
        ("until 2030-12-31", "must be `until DATE, reason`", SHORT),
        ("until 2030-06-14", "must be `until DATE, reason`", SHORT),
        ("until 2030-06-30, ", "must be `until DATE, reason`", GIVEN),
        ("until , incident", "must be `until DATE, reason`", SHORT),
        ("incident 4711", "must be `until DATE, reason`", SHORT),
        ("until tomorrow, x", '"tomorrow", which is not a date', SHORT),
        ("until 2030-02-30, x", '"2030-02-30", which is not a date', SHORT),
        ("until 20300630, x", "which is not a date", SHORT),
        ("until 2030-06-30T10:00:00Z, x", "which is not a date", GIVEN),
        ("until 2030-09-14, x", "more than 90 days ahead", "Set 2030-09-13 or an earlier day."),
        (f"until 2030-06-30, {'x' * 201}", "a reason of 201 characters", "Use at most 200"),
    ],
)
def test_errors(text, said, hint):
    (finding,) = check_hold(resource(text), TODAY)
    assert (finding.code, finding.level) == ("HoldAnnotation", Level.ERROR)
    assert said in finding.message
    assert hint in finding.hint


@given(
    st.dates(date(2000, 1, 1), date(9000, 1, 1)),
    st.sampled_from(
        ["", "x", "until ", "2030-12-31", "until 2030-02-30, x", "until {soon}", "{soon} x", "until {late}"]
    ),
    st.integers(0, 90),
)
def test_the_date_in_a_hint_is_itself_allowed(today, text, ahead):
    soon, late = today + timedelta(days=ahead), today + timedelta(days=91)
    for finding in check_hold(resource(text.format(soon=soon, late=late)), today):
        example = re.fullmatch("Write it as `(.*)`.", finding.hint)[1]
        assert not list(check_hold(resource(example), today))
        assert read_hold(resource(example), today)


def test_without_a_clock_a_hint_has_no_date():
    (finding,) = check_hold(resource("until 2030-06-30"), None)
    assert finding.hint == "Write it as `until YYYY-MM-DD, incident 4711`, with a date at most 90 days ahead."


def test_a_hold_that_has_ended_is_a_warning():
    (finding,) = check_hold(resource("until 2030-06-14, x"), TODAY)
    assert (finding.code, finding.level) == ("HoldEnded", Level.WARNING)
    assert "ended on 2030-06-14" in finding.message


@pytest.mark.parametrize("text", ["", "until 2030-06-15, x", "until 2030-09-13, x"])
def test_a_good_one_is_not_a_finding(text):
    assert list(check_hold(resource(text), TODAY)) == []

"""A worker leaves out only what nobody sees."""

import pytest

from tests.support.worker_reports import SHORTEST, is_shown


@pytest.mark.parametrize(
    ("when", "outcome", "duration", "shown", "why"),
    [
        ("setup", "passed", 0.0, False, "a test counts by its call"),
        ("teardown", "passed", 0.0, False, "a test counts by its call"),
        ("call", "passed", 0.0, True, "it counts the test"),
        ("call", "failed", 0.0, True, "it says why"),
        ("setup", "failed", 0.0, True, "an error, with no call after it"),
        ("teardown", "failed", 0.0, True, "an error of a test that passed"),
        ("setup", "skipped", 0.0, True, "a test that is skipped has no call"),
        ("setup", "passed", SHORTEST, True, "--durations shows it"),
        ("teardown", "passed", SHORTEST, True, "--durations shows it"),
    ],
)
def test_a_report_is_sent_if_it_is_shown(when, outcome, duration, shown, why):
    place = ("tests/test_it.py", 1, "test_it")
    report = pytest.TestReport("test_it", place, {}, outcome, None, when, duration=duration)
    assert is_shown(report) is shown, why

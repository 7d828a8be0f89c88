"""SUMMARY.md and the headline of the status branch: the same bytes for the same records."""

from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.model.condition import Severity
from gitsync.report.records import count_failed
from gitsync.report.site.states import choose_state
from gitsync.report.summary import format_records, render
from gitsync.report.wording import format_subject
from tests.report.report_builders import FULL, PROBLEMS, RECORDS, failed, record, report, result

GOLDEN = Path(__file__).parent / "golden"
REVISION = "0123456789abcdef"


def test_the_summary_reads_as_it_should():
    expected = (GOLDEN / "SUMMARY.md").read_text(encoding="utf-8")
    assert render(RECORDS, revision=REVISION, problems=PROBLEMS) == expected


def test_order_times_and_request_ids_do_not_matter():
    later = [replace(r, condition=r.condition and replace(r.condition, time="2027", request_id="1")) for r in RECORDS]
    assert render(later[::-1], revision=REVISION) == render(RECORDS, revision=REVISION)


def test_nothing_recorded_is_a_summary_too():
    assert render([], revision=None) == "# 0 of 0 resources Ready\n"


STATES = [
    (failed("AuthorizationFailed", "No.", Severity.WARNING), "1 failed; ", "failed", "a failure that may pass"),
    (failed("Refused", "No.", Severity.WARNING), "1 failed; ", "failed", "what a check refuses"),
    (failed("InvalidParameter", "No."), "1 failed; ", "failed", "a failure until the manifest changes"),
    (failed("SecretNotFound", "No.", Severity.WARNING), "", "waiting", "a value is missing"),
    (failed("ReplaceNeeded", "No."), "", "waiting", "a person has to decide, whatever the severity"),
    (failed("Reconciling", "Wait.", Severity.INFO), "", "waiting", "Azure works on it"),
    (None, "", "waiting", "nothing is known yet"),
]


@pytest.mark.parametrize(("condition", "wrong", "state", "why"), STATES, ids=[row[-1] for row in STATES])
def test_the_summary_the_status_and_the_site_agree_on_what_failed(condition, wrong, state, why):
    stored = record(RECORDS[0].key, condition)
    assert format_records([stored]) == f"{wrong}0 of 1 resource Ready", why
    assert f"## {state.title()} (1)" in render([stored], revision=None)
    assert count_failed([stored]) == (state == "failed")
    assert choose_state(stored, "") == state


def test_foreign_text_breaks_no_table():
    evil = record(RECORDS[0].key, failed("a|b", "c | d\n<e>"))
    assert {line.count("|") for line in render([evil], revision=None).splitlines() if "|" in line} == {5}


def test_the_headline_counts_what_was_done():
    assert format_subject(FULL) == "Status of 0123456789ab: 2 of 3 Ready, 1 failed, updated 1, deleted 1"
    assert format_subject(report(result(RECORDS[0].key))) == "Status of 0123456789ab: 1 of 1 Ready"

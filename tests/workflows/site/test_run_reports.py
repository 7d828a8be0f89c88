"""What a history needs of a report: the members of the run, and the resources that the report before had otherwise."""

import json

import pytest

from gitsync.workflows.site.run_reports import ReportReader
from tests.workflows.site.histories import report_entry, write_report

DIFFERENCE = {"path": "/tags/a", "desired": 1, "live": 2, "rule": "changed"}


def read(*contents):
    reader = ReportReader()
    return [reader.read(content.encode()) for content in contents]


def names(report):
    return [found.key.name for found in report.found]


def test_only_resources_that_changed_are_read():
    one, two = report_entry("one"), report_entry("two")
    first, same, other, less = read(
        write_report(one, two),
        write_report(one, two, headline="Other"),
        write_report(one, report_entry("two", verdict="drifted")),
        write_report(one),
    )
    assert [names(report) for report in (first, same, other, less)] == [["one", "two"], [], ["two"], []]
    assert same.read_text("headline") == "Other"
    assert (first.agent, first.exit_code, first.outcomes) == ("gitsync", 0, [("unchanged", 2)])


def test_a_report_of_another_layout_is_read_too():
    document = json.loads(write_report(report_entry("one", verdict="missing")))
    [report] = read(json.dumps(document, indent=4))
    assert [(found.key.name, found.verdict) for found in report.found] == [("one", "missing")]
    assert report.read_text("command") == "sync"


FOUND = (
    ({"verdict": "drifted", "differences": [DIFFERENCE]}, ("drifted", False, ("/tags/a",)), "left as it is"),
    ({"verdict": "drifted", "action": "update", "outcome": "changed"}, ("drifted", True, ()), "repaired"),
    ({"verdict": "missing", "action": "create", "outcome": "failed"}, ("missing", False, ()), "not repaired"),
    ({"verdict": "held", "hold": {"verdict": "conflict"}}, ("conflict", False, ()), "found despite its hold"),
    ({"verdict": "held", "hold": {"verdict": "pending"}}, ("", False, ()), "git changed alone"),
    ({"verdict": "pending", "action": "update", "outcome": "changed"}, ("", False, ()), "git changed alone"),
)


@pytest.mark.parametrize(("members", "expected", "why"), FOUND)
def test_drift_is_what_azure_changed(members, expected, why):
    [report] = read(write_report(report_entry("one", **members)))
    [found] = report.found
    assert (found.verdict, found.is_repaired, found.fields) == expected, why


def test_the_time_of_a_change_is_the_first_in_the_activity_log():
    changes = [{"at": "2026-01-02T00:00:00Z"}, {"at": "2026-01-01T00:00:00Z"}, {"at": None}, {"at": "soon"}]
    [report] = read(write_report(report_entry("one", verdict="drifted", changedBy=changes)))
    assert report.found[0].since == "2026-01-01T00:00:00Z"


BAD = (
    ("", "nothing"),
    ("{}", "no members"),
    ("[]", "a list"),
    ('{"resources": [1]}', "no resource"),
    ('{"resources": {"a": 1}}', "no list"),
    ("{" * 5000, "too deep"),
    (write_report({"apiVersion": 1}), "no kind"),
    (write_report(report_entry("one", differences=3, verdict="drifted")), "no differences"),
    (write_report(report_entry("one", outside=[3])), "no change"),
)


@pytest.mark.parametrize(("content", "why"), BAD)
def test_a_malformed_report_is_none(content, why):
    assert read(content) == [None], why

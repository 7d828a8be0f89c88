"""Metrics: what collectors of both formats read, and what a file of a run that failed keeps of the one before."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
from prometheus_client.parser import text_string_to_metric_families as parse_text_format

from gitsync.model.problem import Level, Problem
from gitsync.model.report import Report, RequestCounts, RequestUse
from gitsync.model.result import Stage
from gitsync.report.metrics import AUDITED, LAST_SUCCESS, MANAGED, METRICS, UNMANAGED, render
from gitsync.report.progress import StageVisit
from tests.report.report_builders import DRIFTED, IN_SYNC, REFUSED, RUN_END
from tests.support.parts import build

REPORT = build(
    Report,
    command="sync",
    revision="a" * 40,
    started="",
    finished="",
    exit_code=1,
    requests=RequestCounts(reads=4, writes=1, deletes=0, polls=7, throttled=2),
    problems=(Problem(code="SomeWarning", message="Look.", level=Level.WARNING),),
    results=(IN_SYNC, DRIFTED, REFUSED, replace(IN_SYNC, key=IN_SYNC.key._replace(name="other"))),
    use=RequestUse(hour_shares={"reads": 0.25}, throttled_seconds=1.5),
)
END = replace(
    RUN_END,
    report=REPORT,
    visits={IN_SYNC.key: [StageVisit(Stage.OBSERVE, 10.0, 12.0)], DRIFTED.key: [StageVisit(Stage.OBSERVE, 11.0, 11.5)]},
)
SEARCH = replace(
    RUN_END,
    figures={MANAGED: [(("Subnet",), 2)], UNMANAGED: [(("Subnet",), 0), (("a\ud800",), 1)], AUDITED: [(("other",), 3)]},
)
FAILED = replace(END, exit_code=1, is_success=False, ended_at=END.started_at + timedelta(hours=1))
REFUSAL = replace(FAILED, exit_code=2, report=None, visits={})


def samples(text, read=parse):
    """Values by name and own labels."""
    common = {"command", "agent", "source", "status"}
    return {
        (sample.name, *(value for name, value in sorted(sample.labels.items()) if name not in common)): sample.value
        for family in read(text)
        for sample in family.samples
    }


def test_a_run_in_figures():
    assert samples(render(END)) == {
        ("gitsync_run_end_timestamp_seconds",): 1777629690.0,
        ("gitsync_last_success_timestamp_seconds",): 1777629690.0,
        ("gitsync_run_duration_seconds",): 90.0,
        ("gitsync_run_success",): 1.0,
        ("gitsync_run_exit_code",): 0.0,
        ("gitsync_run_results", "changed", "drifted"): 1.0,
        ("gitsync_run_results", "failed", "create"): 1.0,
        ("gitsync_run_results", "unchanged", "in-sync"): 2.0,
        ("gitsync_run_outside_changes", "true"): 0.0,
        ("gitsync_run_outside_changes", "false"): 0.0,
        ("gitsync_run_failures", "failed", "AccountNameInvalid"): 1.0,
        ("gitsync_run_problems", "SomeWarning", "warning"): 1.0,
        ("gitsync_run_requests", "read"): 4.0,
        ("gitsync_run_requests", "write"): 1.0,
        ("gitsync_run_requests", "delete"): 0.0,
        ("gitsync_run_requests", "poll"): 7.0,
        ("gitsync_run_requests", "question"): 0.0,
        ("gitsync_run_request_limit_ratio", "read"): 0.25,
        ("gitsync_run_throttled_requests",): 2.0,
        ("gitsync_run_throttled_seconds",): 1.5,
        ("gitsync_run_stage_seconds", "observe"): 2.5,
        ("gitsync_run_stage_longest_seconds", "observe"): 2.0,
    }


def test_the_older_text_format_reads_the_same():
    """A textfile collector does not know OpenMetrics' own types, and refuses a file with one of them."""
    text = render(END)
    assert samples(text, parse_text_format) == samples(text)
    assert {family.type for family in parse_text_format(text)} == {"gauge"}
    assert text == render(END), "the same run has the same bytes"


def test_the_table_names_what_is_written():
    written = render(replace(END, figures=SEARCH.figures))
    assert [family.name for family in parse(written)] == list(METRICS)
    assert {sample.name for family in parse(written) for sample in family.samples} == set(METRICS)


def test_a_search_has_its_figures_beside_those_of_its_end():
    assert samples(render(SEARCH)) == {
        ("gitsync_run_end_timestamp_seconds",): 1777629690.0,
        ("gitsync_last_success_timestamp_seconds",): 1777629690.0,
        ("gitsync_run_duration_seconds",): 90.0,
        ("gitsync_run_success",): 1.0,
        ("gitsync_run_exit_code",): 0.0,
        ("gitsync_managed_resources", "Subnet"): 2.0,
        ("gitsync_unmanaged_resources", "Subnet"): 0.0,
        ("gitsync_unmanaged_resources", "a\\ud800"): 1.0,
        ("gitsync_audited_operations", "other"): 3.0,
    }


def test_every_sample_reports_whose_it_is():
    for end in (END, REFUSAL):
        found = [sample.labels for family in parse(render(end)) for sample in family.samples]
        assert all(labels["agent"] == "gitsync" and labels["source"] == END.source for labels in found)
    other = replace(END, status="prod/status")
    assert all(sample.labels["status"] == "prod/status" for f in parse(render(other)) for sample in f.samples)


def test_a_refused_run_reports_only_what_is_known():
    assert samples(render(REFUSAL)) == {
        ("gitsync_run_end_timestamp_seconds",): 1777633200.0,
        ("gitsync_run_duration_seconds",): 3600.0,
        ("gitsync_run_success",): 0.0,
        ("gitsync_run_exit_code",): 2.0,
    }


SUCCESSES = [
    (END, FAILED, 1777629690.0, "a run that fails keeps the last success"),
    (END, REFUSAL, 1777629690.0, "so does a refused one"),
    (END, replace(END, is_complete=False), 1777629690.0, "some resources are not all"),
    (END, replace(END, ended_at=FAILED.ended_at), 1777633200.0, "a success is the last one"),
    (FAILED, FAILED, None, "there was none, and that is not one at 0"),
    (replace(END, agent="blue"), FAILED, None, "that was another agent's"),
]


@pytest.mark.parametrize(("first", "second", "expected", "why"), SUCCESSES, ids=[row[-1] for row in SUCCESSES])
def test_the_last_success(first, second, expected, why):
    assert samples(render(second, render(first))).get((LAST_SUCCESS,)) == expected, why


@given(st.text() | st.text().map(lambda text: f"{render(END)[:-6]}{text}"))
def test_a_file_of_somebody_else_ends_no_run(before):
    assert samples(render(FAILED, before))[("gitsync_run_exit_code",)] == 1.0


def test_labels_may_have_any_text():
    unexpected = replace(END, source='a"b\\c\nd\udcff')
    [value] = {sample.labels["source"] for family in parse(render(unexpected)) for sample in family.samples}
    assert value == 'a"b\\c\nd\\udcff'

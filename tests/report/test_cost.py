"""What a run cost, and what a sync would need."""

from dataclasses import replace

import pytest

from gitsync.model.report import RequestCounts, RequestUse
from gitsync.model.schedule import Bar, Estimate, Schedule
from gitsync.model.verdict import Action
from gitsync.report.run_facts import estimate_sync, format_cost, format_costs, list_by_type
from gitsync.report.text import render
from tests.report.report_builders import IN_SYNC, report
from tests.support.parts import change

COUNTS = RequestCounts(reads=12, writes=1, deletes=0, polls=2)

SHARES = [
    ({}, "", "a run that sent nothing"),
    ({"reads": 0.0001}, " (under 1% of the hourly limit)", "no false precision"),
    ({"reads": 0.02, "writes": 0.124, "deletes": 0.0}, " (12% of the hourly write limit)", "the largest share counts"),
    ({"reads": 1.5}, " (150% of the hourly read limit)", "a run of more than an hour"),
]


@pytest.mark.parametrize(("shares", "ends", "why"), SHARES, ids=[row[-1] for row in SHARES])
def test_a_cost_shows_its_share_of_the_limits(shares, ends, why):
    value = report(requests=COUNTS, use=RequestUse({}, shares))
    assert format_cost(value) == f"12 reads, 1 write, 2 polls in 1m12s{ends}", why


def results(*actions):
    return [replace(IN_SYNC, action=action) for action in actions]


NEEDS = [
    ((), (12, 0, 0), "nothing to write: the reads of the plan again"),
    ((Action.CREATE, Action.UPDATE), (14, 2, 0), "what is written is read once more"),
    ((Action.DELETE, Action.DELETE), (12, 0, 2), "a delete"),
    ((Action.DETACH,), (12, 0, 0), "to let go of a resource takes no request"),
]


@pytest.mark.parametrize(("actions", "needs", "why"), NEEDS, ids=[row[-1] for row in NEEDS])
def test_a_plan_reports_what_a_sync_would_need(actions, needs, why):
    need = estimate_sync(report(*results(*actions), command="plan", requests=COUNTS))
    assert (need.reads, need.writes, need.deletes) == needs, why


def test_what_a_plan_sent_and_what_a_sync_would_send_are_sentences_of_their_own():
    plan = report(*results(Action.UPDATE), command="plan", requests=COUNTS, use=RequestUse())
    assert format_costs(plan) == [
        "12 reads, 1 write, 2 polls in 1m12s.",
        "A sync would send about 13 reads, 1 write, and polls while Azure works.",
    ]


def make_schedule(*estimates, seconds=185.0):
    bars = [
        Bar(
            key=IN_SYNC.key._replace(name=str(number)),
            action=Action.UPDATE,
            estimate=estimate,
            ready=0.0,
            sent=0.0,
            end=seconds,
            wave=1,
            polls=8,
        )
        for number, estimate in enumerate(estimates)
    ]
    return Schedule(bars=tuple(bars))


RECORD, TYPE, PUBLISHED, DEFAULT = Estimate


@pytest.mark.parametrize(
    ("schedule", "ends"),
    [
        pytest.param(
            Schedule(),
            "1 write, and polls while Azure works.",
            id="without a schedule there is no time, and no number of polls",
        ),
        pytest.param(
            make_schedule(RECORD, RECORD), "1 write, 16 polls, and take about 3m.", id="as long as the last time"
        ),
        pytest.param(
            make_schedule(TYPE), "take about 3m (estimated from recordings).", id="one write, of a known type"
        ),
        pytest.param(make_schedule(DEFAULT), "take at least 3m (guessed).", id="one write, of an unknown type"),
        pytest.param(
            make_schedule(RECORD, TYPE, RECORD),
            "take about 3m (1 of 3 durations estimated from recordings).",
            id="one of several is not from a record",
        ),
        pytest.param(
            make_schedule(RECORD, TYPE, DEFAULT, TYPE),
            "take at least 3m (2 of 4 durations estimated from recordings, 1 guessed).",
            id="of several sources, and a guess makes it a least",
        ),
        pytest.param(
            make_schedule(RECORD, PUBLISHED),
            "take about 3m (1 of 2 durations estimated from published figures).",
            id="a published figure is no guess",
        ),
        pytest.param(make_schedule(RECORD, seconds=12.4), "take about 12s.", id="seconds"),
        pytest.param(make_schedule(RECORD, seconds=3725.0), "take about 61m.", id="no false precision"),
    ],
)
def test_a_plan_reports_how_long_its_sync_would_write(schedule, ends):
    [_, need] = format_costs(
        change(report(*results(Action.UPDATE), command="plan", requests=COUNTS), schedule=schedule)
    )

    assert need.endswith(ends)


def test_what_goes_with_its_group_is_not_a_request():
    within = change(IN_SYNC, action=Action.DELETE, deleted_with=IN_SYNC.key)

    assert estimate_sync(report(*results(Action.DELETE), within, command="plan", requests=COUNTS)).deletes == 1


def test_no_other_run_reports_what_a_sync_would_need():
    assert len(format_costs(report(command="sync"))) == 1
    assert format_costs(report(command="plan", base="0123")) == [], "Azure was not read"


def test_a_run_without_a_request_reports_it():
    idle = report(command="plan", requests=RequestCounts(), use=RequestUse())
    assert format_costs(idle) == ["No requests in 1m12s."]


def test_types_with_the_most_requests_come_first():
    by_type = {"A/a": {"get": 1}, "B/b": {"get": 1, "list": 2}, "C/c": {"put": 1}}
    value = report(use=RequestUse(by_type, {}))
    assert list_by_type(value) == [("B/b", "1 get, 2 list"), ("A/a", "1 get"), ("C/c", "1 put")]
    assert "B/b" in render(value, verbose=True)
    assert "B/b" not in render(value)

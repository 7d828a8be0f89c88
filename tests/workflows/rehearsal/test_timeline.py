"""The time line: what is folded, where bars and bands are, and which times the axis has."""

from dataclasses import replace
from itertools import pairwise

import pytest

from gitsync.model.schedule import Schedule
from gitsync.model.verdict import Action
from gitsync.workflows.rehearsal.rehearsal_findings import name_resources
from gitsync.workflows.rehearsal.timeline import ACTION_LOOKS, MOST_ROWS, lay_out
from gitsync.workflows.rehearsal.writes import list_rows
from tests.workflows.rehearsal.rehearsals import FINE, GROUP, HUB, LOGS, OLD, bar, rebuilt


def laid_out(rehearsal):
    return lay_out(rehearsal.schedule, list_rows(rehearsal, name_resources(rehearsal)))


@pytest.mark.parametrize("number", [1, 3, 30, MOST_ROWS, MOST_ROWS + 1, 300, 600])
def test_each_write_has_a_row_and_many_are_folded(number):
    timeline = laid_out(rebuilt(number))
    assert len(timeline.shown) == min(number, MOST_ROWS)
    assert len(timeline.shown) + len(timeline.folded) == number
    assert not any(row.bar.is_critical for row in timeline.folded)
    for rows in (timeline.shown, timeline.folded):
        assert [row.bar.sent for row in rows] == sorted(row.bar.sent for row in rows)


def test_a_critical_path_that_is_longer_than_the_picture_is_shown_in_full():
    path = [
        bar(name_group(number), Action.CREATE, number, number, number + 1, number + 1, critical=True)
        for number in range(MOST_ROWS + 5)
    ]
    timeline = laid_out(replace(FINE, schedule=Schedule(bars=tuple(path))))
    assert (len(timeline.shown), timeline.folded) == (MOST_ROWS + 5, [])


def name_group(number):
    return GROUP._replace(name=f"g{number:03}")


def test_the_longest_of_the_others_are_shown():
    timeline = laid_out(rebuilt(300))
    shown = [row.bar.end - row.bar.sent for row in timeline.shown if not row.bar.is_critical]
    assert min(shown) >= max(row.bar.end - row.bar.sent for row in timeline.folded)


def test_a_write_that_waits_has_a_pale_bar_before_the_solid_one():
    bars = (
        bar(GROUP, Action.CREATE, 0, 0, 10, 1),
        bar(HUB, Action.UPDATE, 10, 20, 40, 2),
    )
    first, second = laid_out(replace(FINE, schedule=Schedule(bars=bars))).shown
    assert (first.wait, first.work[:2]) == (None, ("0.00", "25.00"))
    assert (second.wait[:2], second.work[:2]) == (("25.00", "25.00"), ("50.00", "50.00"))


def test_the_bands_of_waves_cover_the_whole_width_once():
    for number in (1, 3, 30, 300):
        bands = laid_out(rebuilt(number)).bands
        assert float(bands[0].x) == 0
        for band, after in pairwise(bands):
            assert float(band.x) + float(band.width) == pytest.approx(float(after.x), abs=0.02)
        assert float(bands[-1].x) + float(bands[-1].width) == pytest.approx(100, abs=0.02)


def test_a_wave_begins_with_its_first_write_though_others_still_run():
    bars = (
        bar(GROUP, Action.CREATE, 0, 0, 20, 1),
        bar(LOGS, Action.CREATE, 0, 0, 100, 1),
        bar(HUB, Action.CREATE, 20, 20, 60, 2),
    )
    bands = laid_out(replace(FINE, schedule=Schedule(bars=bars))).bands
    assert bands == [("0.00", "20.00", "wave 1"), ("20.00", "80.00", "2")]


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (0.5, ["0"]),
        (5, ["0", "1 s", "2 s", "3 s", "4 s", ""]),
        (100, ["0", "30 s", "60 s", ""]),
        (234, ["0", "1 min", "2 min", "3 min"]),
        (1680, ["0", "5 min", "10 min", "15 min", "20 min", ""]),
        (3 * 3600, ["0", "30 min", "60 min", "90 min", "120 min", "150 min", ""]),
        (10 * 3600, ["0", "2 h", "4 h", "6 h", "8 h", ""]),
        (30 * 86400, ["0", "120 h", "240 h", "360 h", "480 h", "600 h", ""]),
    ],
)
def test_the_axis_has_few_round_times(seconds, labels):
    bars = (bar(OLD, Action.DELETE, 0, 0, seconds, 1),)
    assert [tick.label for tick in laid_out(replace(FINE, schedule=Schedule(bars=bars))).ticks] == labels


def test_without_expected_times_there_is_no_time_line():
    assert laid_out(replace(FINE, schedule=Schedule())) is None
    assert laid_out(replace(FINE, schedule=Schedule(bars=(bar(OLD, Action.DELETE, 0, 0, 0, 1),)))) is None


def test_no_two_actions_look_alike():
    assert set(ACTION_LOOKS) == set(Action)
    assert len({look.sign for look in ACTION_LOOKS.values()}) == len(ACTION_LOOKS)

"""Heartbeats as a person and a program read them."""

from datetime import UTC, datetime, timedelta

import pytest

from gitsync.model.record import Heartbeat
from gitsync.report.records import build_heartbeats, list_heartbeats

NOW = datetime(2026, 5, 3, 12, 0, 0, 900_000, tzinfo=UTC)
AGES = [
    (timedelta(), "0s ago"),
    (timedelta(seconds=59), "59s ago"),
    (timedelta(minutes=12), "12m0s ago"),
    (timedelta(hours=3, minutes=5, seconds=7), "3h5m ago"),
    (timedelta(days=2, hours=4, minutes=1), "2d4h ago"),
    (timedelta(days=400), "400d0h ago"),
    (timedelta(minutes=-5), "5m0s ahead of this clock"),
]


def beat(age, agent="gitsync", revision="0123456789abcdef0123456789abcdef01234567"):
    return Heartbeat(agent=agent, time=NOW.replace(microsecond=0) - age, revision=revision)


@pytest.mark.parametrize(("age", "shown"), AGES, ids=[shown for _, shown in AGES])
def test_an_age_has_its_two_largest_units(age, shown):
    [line] = list_heartbeats([beat(age)], NOW)
    assert line.startswith(f"Last success of gitsync: {shown} (20")
    assert line.endswith("Z, at 0123456789ab).")


def test_an_agent_without_a_revision_and_with_an_unexpected_name():
    assert list_heartbeats([beat(timedelta(), "a\x1b[2J", None)], NOW) == [
        "Last success of a\\x1b[2J: 0s ago (2026-05-03T12:00:00Z)."
    ]


def test_a_program_gets_time_and_age():
    assert build_heartbeats([beat(timedelta(hours=1), revision=None)], NOW) == [
        {"agent": "gitsync", "lastSuccess": "2026-05-03T11:00:00Z", "ageSeconds": 3600, "revision": None}
    ]

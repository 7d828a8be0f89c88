"""Writes in a row that something undoes: when they stop, when they start again, and what is reported."""

from datetime import UTC, datetime, timedelta

import pytest

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.record import WriteStreak
from gitsync.model.verdict import Comparison, Difference, Verdict
from gitsync.planning.record_counts import LONGEST_GAP, build_flapping_condition, extend_streak, find_pause

NOON = datetime(2030, 6, 15, 12, tzinfo=UTC)
LIMIT = 3


def drift(verdict=Verdict.DRIFTED, **fields):
    """A comparison in which Azure has these values at `/tags/NAME`, and git has "git"."""
    found = (Difference(f"/tags/{name}", "git", value, "changed in Azure") for name, value in fields.items())
    return Comparison(verdict=verdict, differences=tuple(found))


TEAM = drift(team="azure")
MISSING = Comparison(verdict=Verdict.MISSING)


def after(*comparisons, gap=timedelta(hours=1)):
    """The row after a write for each of these, and the time of the run that comes next."""
    row, now = None, NOON
    for comparison in comparisons:
        row, now = extend_streak(row, comparison, now), now + gap
    return row, now


@pytest.mark.parametrize(
    ("writes", "count", "paths", "why"),
    [
        ([TEAM], 1, ("/tags/team",), "a first move is noted"),
        ([TEAM, TEAM, TEAM], 3, ("/tags/team",), "one after another is a row"),
        ([TEAM, drift(team="other")], 2, ("/tags/team",), "an autoscaler sets other values to the same field"),
        ([drift(team="a", env="a"), drift(env="a", cost="a")], 2, ("/tags/env",), "what moved each time is what is at it"),
        ([TEAM, drift(env="a")], 1, ("/tags/env",), "another field is another row"),
        ([MISSING, MISSING], 2, ("",), "what is deleted each time moves as a whole"),
        ([MISSING, TEAM], 1, ("/tags/team",), "which is another move than that of a field"),
    ],
)  # fmt: skip
def test_rows(writes, count, paths, why):
    row, _ = after(*writes)
    assert (row.count, row.paths) == (count, paths), why


@pytest.mark.parametrize(
    ("comparison", "why"),
    [
        (drift(Verdict.PENDING, team="azure"), "git moved"),
        (drift(Verdict.CONFLICT, team="azure"), "both moved, so there was a commit in between"),
        (Comparison(verdict=Verdict.CREATE), "a first write"),
        (drift(Verdict.ADOPT, team="azure"), "a first write"),
        (Comparison(verdict=Verdict.DRIFTED), "a failed provisioning is tried once a run, and no field moved"),
        (Comparison(verdict=Verdict.IN_SYNC), "a write that was asked for, and not for a difference"),
    ],
)
def test_what_ends_a_row(comparison, why):
    row, _ = after(TEAM, TEAM, comparison)
    assert row is None, why


@pytest.mark.parametrize(
    ("writes", "found", "limit", "is_held", "why"),
    [
        ([TEAM] * 3, TEAM, 3, True, "three writes were undone"),
        ([TEAM] * 2, TEAM, 3, False, "two are not enough"),
        ([TEAM] * 1, TEAM, 1, True, "unless the limit says so"),
        ([TEAM] * 9, TEAM, 0, False, "0 writes for ever"),
        ([TEAM] * 3, drift(env="a"), 3, False, "another field moved this time"),
        ([TEAM] * 3, drift(team="new"), 3, True, "the same field, whatever its value"),
        ([TEAM] * 3, drift(team="azure", env="a"), 3, True, "and whatever else moved"),
        ([TEAM] * 3, drift(Verdict.CONFLICT, team="azure"), 3, False, "git moved"),
        ([TEAM] * 3, Comparison(verdict=Verdict.IN_SYNC), 3, False, "nothing moved"),
        ([MISSING] * 3, MISSING, 3, True, "deleted three times"),
        ([], TEAM, 3, False, "nothing was written yet"),
    ],
)
def test_when_writing_stops(writes, found, limit, is_held, why):
    row, now = after(*writes)
    assert (find_pause(row, found, limit, now) is not None) is is_held, why


@pytest.mark.parametrize(
    ("gap", "is_held", "why"),
    [
        (timedelta(hours=25), True, "nightly runs"),
        (LONGEST_GAP, True, "the longest gap there is"),
        (LONGEST_GAP + timedelta(seconds=1), False, "there must have been quiet runs in between"),
    ],
)
def test_a_row_ends_after_a_while(gap, is_held, why):
    row, now = after(TEAM, TEAM, TEAM, gap=gap)
    assert (find_pause(row, TEAM, LIMIT, now) is not None) is is_held, why


@pytest.mark.parametrize(
    ("found", "is_held", "why"),
    [
        (TEAM, True, "nothing has changed"),
        (drift(team="other"), False, "Azure changed"),
        (drift(team="azure", env="a"), False, "Azure changed elsewhere"),
        (drift(Verdict.CONFLICT, team="azure"), False, "git changed"),
    ],
)
def test_what_is_held_stays_so_until_git_or_azure_changes(found, is_held, why):
    row, now = after(TEAM, TEAM, TEAM)
    row = find_pause(row, TEAM, LIMIT, now)
    later = find_pause(row, found, LIMIT, now + timedelta(days=30))
    assert (later == row) is is_held, why
    assert (later is None) is not is_held


def test_after_it_was_held_counting_begins_again():
    row, now = after(TEAM, TEAM, TEAM)
    row = find_pause(row, TEAM, LIMIT, now)
    assert extend_streak(row, drift(team="other"), now).count == 1


def test_the_condition_names_the_field_the_sides_and_the_way_out():
    row, now = after(TEAM, TEAM, TEAM)
    found = drift(team="azure", env="a")
    condition = build_flapping_condition(find_pause(row, found, LIMIT, now), found)
    assert (condition.status, condition.severity, condition.reason) == (
        ConditionStatus.FALSE,
        Severity.WARNING,
        "Flapping",
    )
    assert condition.message == (
        "It was written 3 times in a row with no change in git, and each time something reset it: "
        '/tags/team (git has "git", Azure has "azure"). It is paused until git or Azure changes.'
    )
    assert condition.advice.startswith("Find what keeps resetting the field")


@pytest.mark.parametrize(
    ("comparison", "part", "why"),
    [
        (MISSING, "reset it: something deletes it. It is", "no field to name"),
        (drift(team=None), '(git has "git", Azure has nothing)', "taken away"),
        (drift(team="x" * 900), "x" * 59 + "…)", "long values are cut"),
        (drift(**{f"t{n}": "a" for n in range(8)}), '/tags/t4 (git has "git", Azure has "a"); and 3 more.', "many fields are counted"),
    ],
)  # fmt: skip
def test_messages(comparison, part, why):
    row = WriteStreak(count=3, paths=("", "/tags/team", *(f"/tags/t{n}" for n in range(8))), at="2030-06-15T12:00:00Z")
    assert part in build_flapping_condition(row, comparison).message, why

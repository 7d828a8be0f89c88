"""What a result keeps of a difference does not grow with what Azure shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.reconcile.shortened_differences import (
    LONGEST_TEXT,
    MOST_ENTRIES,
    shorten_difference,
    shorten_outside,
    shorten_resets,
)
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.secret import Secret
from gitsync.model.verdict import Difference
from gitsync.settings.redaction import Redactions
from tests.support.world import GROUP, World, of

LONG = "x" * (LONGEST_TEXT + 1)
SHORT = f"{LONG[:-1]}… (32,769 characters)"
TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: git}")


def of_azure(live):
    return Difference("/tags/team", "git", live, "changed in Azure since it was last seen")


@pytest.mark.parametrize(
    ("live", "kept", "why"),
    [
        (LONG, SHORT, "a text"),
        ([LONG, 1], [SHORT, 1], "a text in a list"),
        ({"a": {"b": [LONG]}}, {"a": {"b": [SHORT]}}, "a text far inside"),
        ({LONG: 1}, {f"{LONG[:-1]}…": 1}, "the name of a member"),
        (["a"] * (MOST_ENTRIES + 1500), [*["a"] * MOST_ENTRIES, "… and 1,500 more"], "a list says what it left out"),
        (
            {str(number): number for number in range(MOST_ENTRIES + 1)},
            {str(number): number for number in range(MOST_ENTRIES)},
            "an object",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)
def test_a_long_value_is_shortened(live, kept, why):
    assert shorten_difference(of_azure(live), str).live == kept, why
    assert shorten_difference(Difference("/tags/team", live, "azure", "changed in git"), str).desired == kept, why
    (change,) = shorten_outside((OutsideChange(path="/tags/team", before="azure", now=live),), str)
    (reset,) = shorten_resets((ResetValue(path="/tags/team", live=live),), str)
    assert (change.before, change.now, reset.live) == ("azure", kept, kept), why


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_other_value_stays_the_one_that_it_is(live):
    difference = of_azure(live)
    assert shorten_difference(difference, str) is difference


@pytest.mark.parametrize(
    ("live", "desired", "kept", "why"),
    [
        (
            f"{LONG}a",
            f"{LONG}b",
            ("… 32,719 equal characters …" + "x" * 50 + "a"),
            "texts that differ behind the limit",
        ),
        ([1, f"{LONG}a"], [1, f"{LONG}b"], [1, "… 32,719 equal characters …" + "x" * 50 + "a"], "texts in lists"),
        ({"v": f"{LONG}a"}, {"v": f"{LONG}b"}, {"v": "… 32,719 equal characters …" + "x" * 50 + "a"}, "and in objects"),
        (["a"] * 2500 + ["b"], ["a"] * 2500 + ["c"], ["… 2,500 equal entries", "b"], "lists"),
        (
            {str(number): 0 for number in range(2001)} | {"x": 1},
            {str(number): 0 for number in range(2001)} | {"x": 2},
            {"x": 1} | {str(number): 0 for number in range(1999)},
            "an object shows first what differs",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)
def test_two_sides_that_differ_never_look_equal(live, desired, kept, why):
    shortened = shorten_difference(Difference("/v", desired, live, "changed in git"), str)
    assert shortened.live == kept, why
    assert shortened.live != shortened.desired


def test_the_rest_of_a_secret_that_loses_its_beginning_is_masked():
    secret = Secret("".join(f"{number:x}Zq" for number in range(3000)))  # longer than what is searched for pieces
    text = "x" * LONGEST_TEXT + secret.reveal()
    difference = Difference("/v", f"{text}b", f"{text}a", "changed in git")
    shortened = shorten_difference(difference, Redactions([secret]).mask)
    assert secret.reveal()[-40:] not in f"{shortened.live}{shortened.desired}"
    assert shortened.live != shortened.desired


def test_a_run_keeps_and_reports_the_beginning_of_a_long_text(tmp_path):
    world = World(tmp_path).says(group=TAGGED)
    world.sync()
    world.somebody_changes(of(world.plan(), "ResourceGroup").key, {"/tags/team": "x" * 1_000_000})
    [difference] = of(world.plan(), "ResourceGroup").differences
    assert (difference.path, difference.live) == ("/tags/team", f"{LONG[:-1]}… (1,000,000 characters)")
    assert of(world.sync(), "ResourceGroup").is_fine
    assert world.read(of(world.plan(), "ResourceGroup").arm_id, "2020-06-01")["tags"] == {"team": "git"}

"""What two digests of a secret show."""

from __future__ import annotations

import pytest

from gitsync.desired.request.secret_digest import Digests, seal_body
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Comparison, Difference, Verdict
from gitsync.planning.diff.secret_changes import (
    CHANGED,
    MADE_WITH_ANOTHER_KEY,
    MADE_WITHOUT_KEY,
    NO_KEY,
    add_secret_changes,
)
from tests.support.builders import vnet

KEY, OTHER, NONE = Digests(Secret("k" * 32)), Digests(Secret("o" * 32)), Digests()


def seal(body, digests=KEY):
    return seal_body(body, vnet(), digests)


IN_SYNC = Comparison(verdict=Verdict.IN_SYNC, unverified=("/password",))


def evaluated(before, now, comparison=IN_SYNC):
    return add_secret_changes(comparison, seal({"password": Secret("x")}) if now is None else now, before)


def body(value, digests=KEY):
    return seal({"password": Secret(value)}, digests)


@pytest.mark.parametrize(
    "before, now, verdict, because, why",
    [
        (body("one"), body("one"), Verdict.IN_SYNC, {}, "the same secret"),
        (body("one"), body("two"), Verdict.PENDING, {}, "another secret"),
        (body("one"), body("two", OTHER), Verdict.IN_SYNC, {"/password": MADE_WITH_ANOTHER_KEY}, "another key"),
        (body("one"), body("two", NONE), Verdict.IN_SYNC, {"/password": NO_KEY}, "the key is gone"),
        (body("one", NONE), body("two"), Verdict.IN_SYNC, {"/password": MADE_WITHOUT_KEY}, "the key is new"),
        (body("one", NONE), body("two", NONE), Verdict.IN_SYNC, {"/password": NO_KEY}, "never a key"),
        ({"password": MASKED}, body("two"), Verdict.IN_SYNC, {"/password": MADE_WITHOUT_KEY}, "the first release"),
        ({}, body("two"), Verdict.IN_SYNC, {}, "a new secret is a matter of the values"),
    ],
)
def test_what_two_digests_say(before, now, verdict, because, why):
    found = evaluated(before, now)
    assert (found.verdict, found.because) == (verdict, because), why
    is_changed = verdict is Verdict.PENDING
    assert [d.rule for d in found.differences] == [CHANGED] * is_changed, why
    assert found.unverified == (() if is_changed else ("/password",)), why


@pytest.mark.parametrize(
    "verdict, after",
    [
        (Verdict.IN_SYNC, Verdict.PENDING),
        (Verdict.DRIFTED, Verdict.CONFLICT),
        (Verdict.PENDING, Verdict.PENDING),
        (Verdict.CONFLICT, Verdict.CONFLICT),
    ],
)
def test_a_changed_secret_means_a_change_in_git(verdict, after):
    other = Difference("/a", 1, 2, "x")
    found = evaluated(body("one"), body("two"), Comparison(verdict=verdict, differences=(other,)))
    assert (found.verdict, [d.path for d in found.differences]) == (after, ["/a", "/password"])
    assert found.differences[1] == Difference("/password", MASKED, MASKED, CHANGED)


def test_a_difference_that_the_values_showed_is_reported_once():
    shown = Comparison(verdict=Verdict.PENDING, differences=(Difference("/password", MASKED, None, "x"),))
    assert evaluated(body("one"), body("two"), shown) == shown

"""Reasons to refuse a whole run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.problem import is_refused
from gitsync.planning.run_problems import (
    describe_not_compared,
    describe_not_pushed,
    describe_superseded,
    find_too_many_deletes,
)
from tests.support.builders import record, vnet, vnet_id
from tests.support.plans import make_plan


@pytest.mark.parametrize(
    ("deletes", "inventory", "most", "refused", "why"),
    [
        (1, 1, None, False, "one may always go"),
        (2, 9, None, True, "a fifth of nine is one"),
        (2, 10, None, False, "a fifth of ten is two"),
        (11, 500, None, True, "ten at most, however large the inventory"),
        (11, 500, 11, False, "unless more is allowed"),
        (1, 500, 0, True, "or none is"),
    ],
)
def test_too_many_deletes_are_refused(deletes, inventory, most, refused, why):
    gone = [record(vnet(f"v{n}"), vnet_id(f"v{n}")) for n in range(deletes)]
    found = find_too_many_deletes(make_plan([], {prune.key: prune for prune in gone}), inventory, most)
    assert (found is not None) is refused, why
    assert found is None or f"--max-deletes {deletes}" in found.hint


STAYING = [
    ({"kept_because": "Held."}, "a held one"),
    ({"detaches": True}, "one that is only forgotten"),
    ({"can_delete": False}, "one that Azure cannot delete"),
]


@pytest.mark.parametrize(("change", "why"), STAYING, ids=[row[-1] for row in STAYING])
def test_what_stays_is_not_a_delete_and_neither_is_what_is_within_it(change, why):
    gone = [record(vnet(f"v{n}"), vnet_id(f"v{n}")) for n in range(3)]
    plan = make_plan([], {prune.key: prune for prune in gone})
    first, second, third = sorted(plan.prunes)
    prunes = {
        first: replace(plan.prunes[first], **change),
        second: replace(plan.prunes[second], within=first, can_delete=False),
        third: plan.prunes[third],
    }
    found = find_too_many_deletes(replace(plan, prunes=prunes), 9, 0)
    assert found is not None
    assert f"would delete 1 of 9 resources, and the limit is 0: {third}." in found.message, why


def test_a_refusal_is_an_error_and_a_note_is_not():
    refusal, *notes = (
        describe(40 * "a", 40 * "b") for describe in (describe_superseded, describe_not_compared, describe_not_pushed)
    )
    assert (refusal.is_error, is_refused([refusal])) == (True, True)
    assert [(note.is_error, is_refused([note])) for note in notes] == [(False, False)] * 2

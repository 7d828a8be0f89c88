from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.condition import Condition, ConditionStatus, WaitReason
from gitsync.planning.status.conditions import (
    DELETION_NOT_SUPPORTED,
    READY,
    RECONCILING,
    is_replacement,
    is_waiting,
    make_error,
    make_unknown_state,
    make_waiting_for_owner,
    make_warning,
)
from tests.support.builders import rg

BLOCKED = make_warning("ReconciliationBlocked", "Not now.")


@pytest.mark.parametrize(
    ("new", "old", "expected", "why"),
    [
        (READY, None, True, "there was none"),
        (READY, replace(READY, time="2026-01-01T00:00:00Z"), False, "equal but for the time keeps the old time"),
        (READY, BLOCKED, True, "as important"),
        (RECONCILING, READY, False, "at work is less than Ready"),
        (RECONCILING, BLOCKED, False, "and less than a warning"),
        (RECONCILING, make_waiting_for_owner(rg()), True, "but it no longer waits for its owner"),
        (replace(RECONCILING, generation=2), READY, True, "a newer generation always wins"),
        (make_error("Failed", "x"), READY, True, "as important"),
    ],
)
def test_which_condition_takes_the_place_of_another(new, old, expected, why):
    assert is_replacement(new, old) is expected, why


def test_the_words_for_a_missing_owner_are_asos():
    assert make_waiting_for_owner(rg("myrg")).message == (
        'Owner "myrg, Group/Kind: resources.azure.com/ResourceGroup" cannot be found. '
        "Progress is blocked until the owner is created."
    )


CONDITIONS = [
    (READY, False, "ready"),
    (RECONCILING, True, "Azure works on it"),
    (make_unknown_state("Shelved"), True, "Azure is in a state that nobody knows"),
    (make_waiting_for_owner(rg("core")), True, "the owner is not there"),
    (make_warning("SecretNotFound", "No."), True, "a value is missing"),
    (make_warning("ReconciliationBlocked", "A pool is missing."), True, "a check does not allow it now"),
    (make_warning("PruneHeld", "Something is left."), True, "a delete is held"),
    (DELETION_NOT_SUPPORTED, True, "Azure deletes it with its parent"),
    *((make_warning(reason.value, ""), True, f"the wait reason {reason.name}") for reason in WaitReason),
    (Condition(status=ConditionStatus.UNKNOWN, reason="NotReached"), True, "the run did not reach it"),
    (make_warning("Conflict", "Azure refuses it."), False, "a failure that may pass"),
    (make_warning("Failed", "It cannot be read."), False, "a failed read"),
    (make_error("InvalidParameter", "Azure refuses it."), False, "a failure until the manifest changes"),
]


@pytest.mark.parametrize(("condition", "waits", "why"), CONDITIONS, ids=[row[-1] for row in CONDITIONS])
def test_what_waits_has_not_failed(condition, waits, why):
    assert is_waiting(condition) is waits, why

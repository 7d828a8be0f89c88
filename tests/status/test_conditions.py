from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.status.conditions import (
    READY,
    RECONCILING,
    is_replacement,
    make_error,
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

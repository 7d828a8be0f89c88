"""The PATCH that restores recorded values, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from gitsync.model.outside import OutsideChange
from gitsync.planning.outside.recorded_outside import OutsideView
from gitsync.planning.outside.restoring import (
    build_restoring_patch,
    explain_restored_weakening,
    find_unit,
    group_by_obstacle,
)
from tests.planning.outside.test_outside_laws import SEEDS, Estate
from tests.support.outside_views import NETWORK, view

NAMED = [{"name": "a", "x": 1}, {"name": "b", "x": 2}]

ROWS: list[tuple[dict[str, Any], list[tuple[str, Any, Any]], dict[str, Any], str]] = [
    (
        {"properties": {"access": "Enabled", "other": 1}},
        [("/properties/access", "Disabled", "Enabled")],
        {"properties": {"access": "Disabled"}},
        "a value of before",
    ),
    (
        {"properties": {"new": {"a": 1, "b": 2}}},
        [("/properties/new/a", None, 1)],
        {"properties": {"new": {"a": None}}},
        "a new member becomes null",
    ),
    (
        {"properties": {}},
        [("/properties/gone/a", 1, None), ("/properties/gone/b", 2, None)],
        {"properties": {"gone": {"a": 1, "b": 2}}},
        "an object that is gone returns",
    ),
    (
        {"tags": {"Owner": "eve", "team": "shop", "new": "x"}},
        [("/tags/owner", "rob", "eve"), ("/tags/new", None, "x"), ("/tags/cost", "7", None)],
        {"tags": {"team": "shop", "owner": "rob", "cost": "7"}},
        "tags are complete, and their names have no case",
    ),
    ({}, [("/tags/cost", "7", None)], {"tags": {"cost": "7"}}, "the last tag returns"),
    (
        {"properties": {"servers": ["1", "2"]}},
        [("/properties/servers", ["1"], ["1", "2"])],
        {"properties": {"servers": ["1"]}},
        "a list of plain values",
    ),
    (
        {"properties": {"servers": ["1"]}},
        [("/properties/servers", None, ["1"])],
        {"properties": {"servers": []}},
        "a new list becomes empty",
    ),
    (
        {"properties": {"l": NAMED}},
        [("/properties/l/1/x", 5, 2), ("/properties/l/0/y", 7, None)],
        {"properties": {"l": [{"name": "a", "x": 1, "y": 7}, {"name": "b", "x": 5}]}},
        "values in entries of a list, which is the live one",
    ),
    (
        {"properties": {"l": NAMED}},
        [("/properties/l/0", None, {"name": "a", "x": 1}), ("/properties/l/2", {"name": "c"}, None)],
        {"properties": {"l": [{"name": "b", "x": 2}, {"name": "c"}]}},
        "an entry that came, and one that went",
    ),
    (
        {"properties": {"l": [{"name": "a", "in": ["1", "2"], "tags": {"A": "1"}}]}},
        [("/properties/l/0/in", ["1"], ["1", "2"])],
        {"properties": {"l": [{"name": "a", "in": ["1"], "tags": {"A": "1"}}]}},
        "a list in an entry",
    ),
    (
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/a": {}, "/b": {}}}},
        [("/identity/userAssignedIdentities/~1b", None, {})],
        {"identity": {"userAssignedIdentities": {"/b": None}}},
        "an identity is an entry of a map",
    ),
]


@pytest.mark.parametrize(("live", "changes", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_the_patch_has_the_former_values_and_nothing_else(
    live: dict[str, Any], changes: list[tuple[str, Any, Any]], expected: dict[str, Any], why: str
) -> None:
    outside = [OutsideChange(path=path, before=before, now=now) for path, before, now in changes]
    assert build_restoring_patch(live, outside) == expected, why


def test_what_gets_weaker_by_a_restore_is_explained() -> None:
    change = OutsideChange(path="/properties/minimumTlsVersion", before="TLS1_0", now="TLS1_2")
    assert "TLS" in explain_restored_weakening("Microsoft.Storage/storageAccounts", change)
    back = OutsideChange(path="/properties/minimumTlsVersion", before="TLS1_2", now="TLS1_0")
    assert not explain_restored_weakening("Microsoft.Storage/storageAccounts", back)


def merge(value: Any, patch: Any) -> Any:
    """Apply a merge patch (RFC 7386), as services do: names in any case, and tags as a whole."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for key, new in patch.items():
        known = next((name for name in merged if name.casefold() == key.casefold()), key)
        old = merged.pop(known, None)
        if new is not None:
            merged[known] = new if key == "tags" else merge(old, new)
    return merged


@given(SEEDS)
def test_after_the_patch_nothing_that_it_restores_is_changed(seed: int) -> None:
    estate = Estate(seed)
    cover = estate.thin(estate.live, 0.3)
    recorded = estate.view.record(estate.live, cover)
    now = merge(estate.change(estate.live), cover)  # drift is written first
    changes = estate.view.find_changes(recorded, now, (cover, cover))
    restored = group_by_obstacle(changes, now, estate.view).get("", [])
    patch = build_restoring_patch(estate.view.select_writable(now), restored)
    after = estate.view.find_changes(recorded, merge(now, patch), (cover, cover))
    units = {find_unit(change.path) for change in restored}
    left = {find_unit(change.path) for change in changes if change not in restored}
    assert not [change for change in after if find_unit(change.path) in units - left]


def test_many_changes_select_what_can_be_written_once() -> None:
    selected = []

    class CountingView(OutsideView):
        def select_writable(self, live: Mapping[str, Any]) -> Mapping[str, Any]:
            selected.append(live)
            return super().select_writable(live)

    of = view(NETWORK)
    counting = CountingView(kind=of.kind, arm_id=of.arm_id, digests=of.digests)
    changes = [OutsideChange(path=f"/tags/{number}", before=None, now="a") for number in range(9)]
    live = {"tags": {str(number): "a" for number in range(9)}}
    assert group_by_obstacle(changes, live, counting) == {"": changes}
    assert len(selected) == 1

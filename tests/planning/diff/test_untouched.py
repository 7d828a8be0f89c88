from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitsync.desired.formats.leaf_changes import is_same
from gitsync.model.secret import MASKED, Secret
from gitsync.planning.diff.projection import project, select_desired
from gitsync.planning.diff.three_way import is_untouched, make_baseline, remove_secrets

ID = "/subscriptions/S"
BODY = {"name": "x", "tags": {"a": "1"}, "none": None, "empty": {"deep": {}}, "list": [{"name": "p", "v": None}, {}]}
LIVE = {"id": ID, "tags": {"a": "1", "b": "2"}, "list": [{"name": "p"}, {}], "etag": "1"}


def recorded(body: Any, live: Any) -> tuple[Any, Any, Any, Any]:
    """What a run hands over if nothing has changed since the resource was written."""
    return body, remove_secrets(body), make_baseline(body, live), live


def test_what_was_recorded_is_untouched():
    assert is_untouched(*recorded(BODY, LIVE))


@pytest.mark.parametrize(
    ("side", "path", "value", "why"),
    [
        (0, ("tags", "a"), "2", "git changed"),
        (0, ("tags", "c"), "3", "git asks for more"),
        (0, ("tags",), None, "git asks for less"),
        (0, ("tags", "a"), Secret("1"), "a secret is compared by its digest"),
        (0, ("empty", "deep", "now"), 1, "an empty object has a value now"),
        (1, ("tags", "a"), "2", "something else was sent"),
        (1, ("more",), "1", "more was sent"),
        (2, ("tags", "a"), "2", "Azure returned something else then"),
        (2, ("empty",), {}, "the baseline has what nobody asks for"),
        (3, ("tags", "a"), "2", "Azure changed"),
        (3, ("tags", "a"), None, "Azure returns it no more"),
        (3, ("list",), [{"name": "p"}, {}, {"name": "q"}], "Azure has one more entry"),
        (3, ("tags",), "1", "Azure returns another shape"),
    ],
)
def test_a_change_of_any_side_is_seen(side, path, value, why):
    sides = [copy.deepcopy(side) for side in recorded(BODY, LIVE)]
    *parents, last = path
    location = sides[side]
    for step in parents:
        location = location[step]
    location[last] = value
    assert not is_untouched(*sides), why


@pytest.mark.parametrize(
    ("value", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1)], ids=["boolean", "float", "zero", "text"]
)
def test_types_of_numbers_count(value, other):
    body = {"a": value}
    assert is_untouched(body, body, body, body)
    assert not is_untouched(body, body, body, {"a": other})


def test_a_masked_value_is_never_plain_to_see():
    body = {"a": MASKED}
    assert not is_untouched(body, body, body, body)


@pytest.mark.parametrize(
    ("then", "now"), [({}, {}), ({}, {"a": []}), ({"a": []}, {"a": []}), ({"a": None}, {"a": None})]
)
def test_an_empty_list_that_azure_does_not_return_is_untouched(then, now):
    sides = ({"b": 1, "a": []}, {"b": 1, "a": []}, make_baseline({"b": 1, "a": []}, {"b": 1, **then}))
    assert is_untouched(*sides, {"b": 1, **now})
    assert not is_untouched(*sides, {"b": 1, "a": ["x"]})


def test_an_id_without_members_is_a_value():
    assert is_untouched(*recorded({"ids": {ID: {}}}, {"ids": {ID: {"clientId": "c"}}}))
    assert not is_untouched({"ids": {ID: {}}}, {"ids": {ID: {}}}, {"ids": {ID: {}}}, {"ids": {}})


SCALARS = st.sampled_from([None, "", "a", MASKED, 0, 1, 1.0, True, False])
KEYS = st.sampled_from(["name", "a", "b", ID])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=6,
)
BODIES = st.dictionaries(KEYS, VALUES, max_size=3)


def is_same_everywhere(desired: Any, applied: Any, baseline: Any, live: Any) -> bool:
    """The same in three steps: what git requests is in the baseline, in the last write, and in Azure."""
    requested = select_desired(desired)
    sides = (baseline, select_desired(applied), project(requested, live))
    return all(is_same(requested, side) for side in sides)


def drop_empty_lists(value: Any) -> Any:
    """Without members that are empty lists, which Azure need not return."""
    if isinstance(value, dict):
        return {key: drop_empty_lists(child) for key, child in value.items() if child != []}
    return [drop_empty_lists(entry) for entry in value] if isinstance(value, list) else value


@given(BODIES, BODIES, BODIES, BODIES)
@example({"a": []}, {"a": []}, {}, {})
def test_any_four_bodies_are_untouched_only_if_they_are_the_same(desired, applied, baseline, live):
    sides = (desired, applied, baseline, live)
    assert is_same_everywhere(*map(drop_empty_lists, sides)) or not is_untouched(*sides)


@given(BODIES, BODIES)
def test_what_was_recorded_is_untouched_exactly_if_it_is_the_same(body, more):
    sides = recorded(body, {**more, **copy.deepcopy(body)})
    assert is_untouched(*sides) == is_same_everywhere(*sides)

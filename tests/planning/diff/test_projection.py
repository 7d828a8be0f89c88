from __future__ import annotations

import pytest

from gitsync.planning.diff.projection import build_merge_patch


@pytest.mark.parametrize(
    ("desired", "live", "expected", "why"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"a": 1, "b": {"c": 2, "d": 4}}, {"b": {"d": 3}}, "only what differs"),
        ({"tags": {"x": "1", "y": "2"}}, {"tags": {"x": "1"}}, {"tags": {"x": "1", "y": "2"}}, "tags go whole"),
        ({"l": [1, 2]}, {"l": [1]}, {"l": [1, 2]}, "lists go whole"),
        ({"name": "n", "a": 1}, {"name": "m"}, {"a": 1}, "identity comes from the URL"),
        ({"sku": {"name": "n"}}, {"sku": {"name": "m"}}, {"sku": {"name": "n"}}, "a name below is a value"),
        ({"a": None}, {"a": 1}, {"a": None}, "null removes"),
        ({"tags": None}, {"tags": {"x": "1"}}, {}, "the tags of others stay where git has none"),
        (
            {"tags": {"x": "2"}},
            {"tags": {"X": "1", "y": "2"}},
            {"tags": {"x": "2", "y": "2"}},
            "and beside those of git",
        ),
    ],
)
def test_the_least_to_say(desired, live, expected, why):
    assert build_merge_patch(desired, live) == expected, why


def test_what_is_no_longer_asked_for_is_removed():
    before = {"a": {"b": 1, "c": 2}, "d": 1, "gone": 1}
    assert build_merge_patch({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 1}, before) == {"a": {"c": None}, "d": None}


def test_a_tag_that_is_no_longer_asked_for_is_removed_and_those_of_others_stay():
    before, live = {"tags": {"x": "1", "y": "1"}}, {"tags": {"X": "1", "Y": "1", "other": "1"}}
    assert build_merge_patch({"tags": {"x": "1"}}, live, before) == {"tags": {"x": "1", "other": "1"}}
    assert build_merge_patch({}, live, before) == {"tags": {"other": "1"}}

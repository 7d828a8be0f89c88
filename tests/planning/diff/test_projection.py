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
        ({"a": None}, {"a": 1}, {"a": None}, "null removes"),
    ],
)
def test_the_least_to_say(desired, live, expected, why):
    assert build_merge_patch(desired, live) == expected, why


def test_what_is_no_longer_asked_for_is_removed():
    before = {"a": {"b": 1, "c": 2}, "d": 1, "gone": 1}
    assert build_merge_patch({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 1}, before) == {"a": {"c": None}, "d": None}

"""The examples of RFC 7396, appendix A."""

import pytest

from gitsync.desired.formats.merge_patch import merge_patch

ROWS = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}, "a member changes"),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, "a member is added"),
    ({"a": "b"}, {"a": None}, {}, "null removes"),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, "and leaves the others"),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}, "a list is replaced"),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}, "by a list too"),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, "objects are merged"),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}, "entries are not"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}, "a null of the target stays"),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}, "null of nothing removes nothing"),
]


@pytest.mark.parametrize(("value", "patch", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_a_patch_is_merged(value, patch, expected, why):
    assert merge_patch(value, patch) == expected, why

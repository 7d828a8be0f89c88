"""A list that differs is shown by its elements."""

import pytest

from gitsync.model.verdict import Difference
from gitsync.planning.diff.list_elements import split_lists

SERVERS = [f"10.0.0.{number}" for number in range(40)]
RULE = {"name": "a", "ports": [1, 2]}

SPLITS = [
    ("/a", 1, 2, [("/a", 1, 2)], "no list"),
    ("/a", [*SERVERS[:7], "x", *SERVERS[8:]], SERVERS, [("/a/7", "x", "10.0.0.7")], "one of 40"),
    ("/a", ["b", "a", "c"], ["a", "b"], [("/a/2", "c", None)], "one more; the order does not count"),
    ("/a", ["a"], ["b", "a", "a"], [("/a/0", None, "b"), ("/a/2", None, "a")], "two that only Azure has"),
    ("/a", ["b", "a"], ["a", "b"], [("/a", ["b", "a"], ["a", "b"])], "the same elements: the list as it is"),
    ("/a", [RULE | {"name": "b"}], [RULE, {}], [("/a/0/name", "b", "a"), ("/a/1", None, {})], "members of an object"),
    ("/a", [1], None, [("/a", [1], None)], "a list that Azure does not have"),
]


@pytest.mark.parametrize(("path", "desired", "live", "parts", "why"), SPLITS, ids=[row[-1] for row in SPLITS])
def test_a_list_is_split(path, desired, live, parts, why):
    found = split_lists(Difference(path, desired, live, "r"))
    assert [(part.path, part.desired, part.live) for part in found] == parts, why
    assert {part.rule for part in found} == {"r"}

"""How two request bodies differ: laws, lists, and secrets that show nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.secret import Secret
from gitsync.planning.diff.masked_differences import Bodies

KEYS = st.sampled_from(["a", "b", "c", "name", "/subscriptions/x"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text("xyz~/", max_size=3)
    | st.builds(Secret, st.text("pq", max_size=2))
)
DOCUMENTS = st.dictionaries(
    KEYS,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)


def told(new, old):
    return [(d.path, d.live, d.desired, d.rule) for d in Bodies().differences(new, old)]


@given(DOCUMENTS)
def test_a_body_does_not_differ_from_itself(body):
    assert told(body, body) == []


@given(DOCUMENTS, DOCUMENTS)
def test_the_order_of_keys_never_matters(new, old):
    turned = dict(reversed(new.items()))
    assert told(turned, old) == told(new, old)


@given(DOCUMENTS, DOCUMENTS)
def test_what_is_shown_can_be_written_and_holds_no_placeholder(new, old):
    text = json.dumps(told(new, old))
    assert "\\u0000" not in text


ROWS = [
    ({"a": 1}, {"a": 2}, [("/a", 2, 1, "changed in git")], "a leaf"),
    ({}, {"a": 2}, [("/a", 2, None, "removed from git")], "one that is gone"),
    ({"a": 1}, {}, [("/a", None, 1, "changed in git")], "one that is new"),
    ({"a": True}, {"a": 1}, [("/a", 1, True, "changed in git")], "a truth is no number"),
    ({"a": None}, {}, [], "null asks for nothing"),
    ({"name": "x"}, {"name": "y"}, [], "the URL says the name"),
    ({"p": Secret("one")}, {"p": Secret("one")}, [], "the same secret"),
    ({"p": Secret("one")}, {"p": Secret("two")}, [("/p", "<secret>", "<secret>", "the secret changed")], "another"),
    ({"p": Secret("one")}, {}, [("/p", None, "<secret>", "changed in git")], "a secret that is new"),
    ({"p": Secret("one")}, {"p": "one"}, [("/p", "one", "<secret>", "changed in git")], "a text that became a secret"),
    (
        {"l": [Secret("one")]},
        {"l": [Secret("two")]},
        [("/l", ["<secret>"], ["<secret>"], "the secret changed")],
        "in lists",
    ),
]


@pytest.mark.parametrize(("new", "old", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_is_shown(new, old, expected, why):
    assert told(new, old) == expected, why


def test_entries_with_a_name_are_paired_by_it():
    old = {"l": [{"name": "a", "v": 1}, {"name": "b", "v": 1}]}
    new = {"l": [{"name": "b", "v": 2}, {"name": "a", "v": 1}]}
    assert told(new, old) == [("/l/0/v", 1, 2, "changed in git")]

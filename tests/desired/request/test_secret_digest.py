"""Digests in place of secrets: what they tell, and what they keep to themselves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.request.secret_digest import Digests, has_secrets, keep_digests, mask_digests, seal_body
from gitsync.model.secret import MASKED, Placeholder, Secret
from gitsync.planning.diff.three_way import remove_secrets
from tests.support.builders import vnet

KEY, OTHER, NONE = Digests(Secret("k" * 32)), Digests(Secret("o" * 32)), Digests()

TEXTS = st.text(max_size=8)
NAMES = TEXTS | st.sampled_from(["$secret", "$$secret", "name"])
LEAVES = TEXTS | st.integers() | st.booleans() | st.none() | TEXTS.map(Secret)
BODIES = st.dictionaries(
    NAMES,
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=6,
)


def seal(body, digests=KEY, resource=None):
    return seal_body(body, resource or vnet(), digests)


def digest(value, digests=KEY, **more):
    return seal({"password": Secret(value)}, digests, **more)["password"]["$secret"]


def test_a_digest_reports_how_and_with_which_key_it_was_made():
    scheme, key_name, value = digest("one").split(":")
    assert (scheme, key_name, len(value)) == ("hmac-sha256", KEY.key_name, 64)
    assert KEY.key_name != OTHER.key_name
    assert digest("one") == digest("one")
    assert "one" not in value
    assert "kkk" not in repr(KEY)


@pytest.mark.parametrize(
    "other, why",
    [
        (digest("two"), "another value"),
        (digest("one", OTHER), "another key"),
        (digest("one", resource=vnet("spoke")), "another resource"),
        (seal({"key": Secret("one")})["key"]["$secret"], "another place in the body"),
    ],
)
def test_a_digest_is_bound_to_everything_about_the_secret(other, why):
    assert digest("one") != other, why


def test_without_a_key_and_for_what_is_yet_to_be_known_there_is_none():
    assert digest("one", NONE) == ""
    assert seal({"password": Placeholder("<secret db/password>")}) == {"password": {"$secret": ""}}
    assert NONE.key_name == ""


def test_a_named_entry_keeps_its_digest_at_any_position_of_its_list():
    one, two = {"name": "One", "value": Secret("1")}, {"name": "two", "value": Secret("2")}
    before, after = seal({"env": [one, two]}), seal({"env": [two, one]})
    assert before["env"] == after["env"][::-1]
    twice = seal({"env": [one, one]})["env"]
    assert twice[0] != twice[1], "names that stand twice name nothing"


@given(BODIES)
def test_what_is_sealed_is_masked_as_the_body_itself_would_be(body):
    """Nothing that a manifest may say is taken for a digest, and it is JSON."""
    for digests in (KEY, NONE):
        written = json.loads(json.dumps(seal(body, digests)))
        assert mask_digests(written) == remove_secrets(body)


@given(BODIES)
def test_a_body_holds_secrets_as_long_as_it_shows_some(body):
    assert has_secrets(seal(body)) == (MASKED in leaves(remove_secrets(body)))


def leaves(value):
    """The texts that a body shows as values: a name may be anything."""
    if isinstance(value, dict):
        return {leaf for member in value.values() for leaf in leaves(member)}
    if isinstance(value, list):
        return {leaf for entry in value for leaf in leaves(entry)}
    return {value} if isinstance(value, str) else set()


def test_a_resource_that_was_not_written_keeps_the_digests_of_what_was_sent():
    before = seal({"password": Secret("one"), "a": 1, "env": [{"name": "x", "value": Secret("1")}]})
    now = seal({"password": Secret("two"), "a": 2, "env": [{"name": "x", "value": Secret("2")}], "new": Secret("3")})
    found = keep_digests(now, before)
    assert (found["password"], found["env"]) == (before["password"], before["env"])
    assert (found["a"], found["new"]) == (2, now["new"])
    assert keep_digests(now, None) == now

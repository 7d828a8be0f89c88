"""What git gave up: found in an Azure answer, retained in a record, and demanded by a body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.planning.diff.hints import Hints
from gitsync.planning.removed_values import KeptValue, demand_removal, list_kept, retain_removed

ONE, TWO = "/subscriptions/s/one", "/subscriptions/s/two"
NOTHING = ()

FOUND = {
    "a tag": ({"tags": {"a": "1"}}, {"tags": {"a": "1", "b": "2"}}, {"tags": {"a": "1", "b": "2"}}, [("tags", "b")]),
    "a tag that is gone": ({"tags": {}}, {"tags": {"b": "2"}}, {"tags": {}}, NOTHING),
    "a tag with the value of another": (
        {"tags": {"a": "1"}},
        {"tags": {"a": "1", "b": "1"}},
        {"tags": {"a": "1", "b": "1"}},
        [("tags", "b")],
    ),
    "an identity, as Azure spells it": (
        {"identity": {"ids": {ONE: {}}}},
        {"identity": {"ids": {ONE: {}, TWO: {}}}},
        {"identity": {"ids": {ONE: {"clientId": "1"}, TWO.upper(): {"clientId": "2"}}}},
        [("identity", "ids", TWO.upper())],
    ),
    "all identities": (
        {},
        {"identity": {"type": "UserAssigned", "ids": {ONE: {}}}},
        {"identity": {"type": "UserAssigned", "ids": {ONE: {}}}},
        [("identity", "type"), ("identity", "ids", ONE)],
    ),
    "a field": ({"properties": {}}, {"properties": {"a": 1}}, {"properties": {"a": 1}}, [("properties", "a")]),
    "a field with Azure's default": ({"properties": {}}, {"properties": {"a": 1}}, {"properties": {"a": 0}}, NOTHING),
    "a field that Azure shows twice": (
        {"properties": {"prefixes": ["10.0.0.0/8"]}},
        {"properties": {"prefix": "10.0.0.0/8"}},
        {"properties": {"prefix": "10.0.0.0/8", "prefixes": ["10.0.0.0/8"]}},
        NOTHING,
    ),
    "an entry with a key": (
        {"properties": {"rules": [{"value": "1.1.1.1"}]}},
        {"properties": {"rules": [{"value": "2.2.2.2"}, {"value": "1.1.1.1"}]}},
        {"properties": {"rules": [{"value": "1.1.1.1", "action": "Allow"}, {"value": "2.2.2.2", "action": "Allow"}]}},
        [("properties", "rules", 0)],
    ),
    "an entry of texts": (
        {"properties": {"names": ["a"]}},
        {"properties": {"names": ["a", "b"]}},
        {"properties": {"names": ["B", "a", "azure"]}},
        [("properties", "names")],
    ),
    "the last entries": (
        {"properties": {}},
        {"properties": {"rules": [{"value": "1.1.1.1"}]}},
        {"properties": {"rules": [{"value": "1.1.1.1", "action": "Allow"}]}},
        [("properties", "rules")],
    ),
    "all entries, and Azure has its own": (
        {"properties": {"names": []}},
        {"properties": {"names": ["a"]}},
        {"properties": {"names": ["azure"]}},
        NOTHING,
    ),
    "a field of an entry that moved": (
        {"properties": {"probes": [{"name": "ready"}]}},
        {"properties": {"probes": [{"name": "alive", "path": "/alive"}, {"name": "ready", "path": "/ready"}]}},
        {"properties": {"probes": [{"name": "ready", "path": "/ready"}]}},
        [("properties", "probes", 0, "path")],
    ),
    "a resource of its own": (
        {"properties": {"subnets": [{"name": "a"}]}},
        {"properties": {"subnets": [{"name": "a"}, {"name": "b"}]}},
        {"properties": {"subnets": [{"name": "a"}, {"name": "b"}]}},
        NOTHING,
    ),
    "a secret": ({"properties": {}}, {"properties": {"key": {"$secret": "x"}}}, {"properties": {"key": "y"}}, NOTHING),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_azure_still_shows_as_it_was_is_kept(case):
    desired, before, live, paths = FOUND[case]
    assert [difference.path for difference in list_kept(desired, before, live, Hints())] == list(paths)


def test_of_a_list_only_what_is_too_much_is_kept():
    (kept,) = list_kept({"p": {"n": ["a"]}}, {"p": {"n": ["a", "b"]}}, {"p": {"n": ["a", "b", "c"]}}, Hints())
    assert (kept.live, kept.is_part, kept.can_be_demanded) == (["b"], True, False)


def test_extensions_of_a_scale_set_are_resources_of_their_own():
    extensions = {"virtualMachineProfile": {"extensionProfile": {"extensions": [{"name": "a"}, {"name": "b"}]}}}
    body = {"virtualMachineProfile": {"extensionProfile": {"extensions": [{"name": "a"}]}}}
    hints = Hints(arm_type="Microsoft.Compute/virtualMachineScaleSets")
    assert list_kept({"properties": body}, {"properties": extensions}, {"properties": extensions}, hints) == ()


DEMANDED = {
    "a tag": ({"tags": {"a": "1"}}, KeptValue(("tags", "b"), "2"), {"tags": {"a": "1", "b": None}}),
    "a map that is gone": ({}, KeptValue(("properties", "map", ONE), {}), {"properties": {"map": {ONE: None}}}),
    "a list": ({"properties": {"a": 1}}, KeptValue(("properties", "l"), [1]), {"properties": {"a": 1, "l": []}}),
    "an identity of two": (
        {"identity": {"type": "UserAssigned", "ids": {ONE: {}}}},
        KeptValue(("identity", "ids", TWO), {}),
        {"identity": {"type": "UserAssigned", "ids": {ONE: {}, TWO: None}}},
    ),
    "the only identity": (
        {"tags": {}},
        KeptValue(("identity", "ids", TWO), {}),
        {"tags": {}, "identity": {"type": "None"}},
    ),
    "a field of an entry": (
        {"properties": {"probes": [{"name": "a"}, {"name": "b"}]}},
        KeptValue(("properties", "probes", 1, "path"), "/"),
        {"properties": {"probes": [{"name": "a"}, {"name": "b", "path": None}]}},
    ),
}


@pytest.mark.parametrize("case", DEMANDED)
def test_a_body_shows_what_goes(case):
    desired, kept, body = DEMANDED[case]
    assert demand_removal(desired, [kept], desired) == body


def test_an_entry_is_found_by_its_key_where_the_body_has_further_ones():
    desired = {"properties": {"probes": [{"name": "b"}]}}
    body = {"properties": {"probes": [{"name": "azure"}, {"name": "b"}]}}
    demanding = demand_removal(body, [KeptValue(("properties", "probes", 0, "path"), "/")], desired)
    assert demanding == {"properties": {"probes": [{"name": "azure"}, {"name": "b", "path": None}]}}


def test_an_entry_of_an_entry_is_found_by_its_key_too():
    desired = {"properties": {"pools": [{"name": "a", "probes": [{"name": "b"}]}]}}
    body = {"properties": {"pools": [{"name": "a", "probes": [{"name": "azure"}, {"name": "b"}]}]}}
    demanding = demand_removal(body, [KeptValue(("properties", "pools", 0, "probes", 0, "path"), "/")], desired)
    assert demanding["properties"]["pools"][0]["probes"] == [{"name": "azure"}, {"name": "b", "path": None}]


RETAINED_LISTS = [
    (["a"], ["a", "b"], ["a", "b"], "a text that is gone"),
    (["c", "d"], ["a", "c"], ["c", "d", "a"], "one of two texts that was replaced"),
    ([{"name": "b"}], [{"name": "a"}, {"name": "b", "v": 1}], [{"name": "b", "v": 1}, {"name": "a"}],
     "an entry that is gone, and a field of one that moved"),
    ([{"name": "b"}, {"name": "c"}], [{"name": "a"}], [{"name": "b"}, {"name": "c"}, {"name": "a"}],
     "an entry of a list that grew"),
    ([{"v": 1}], [{"v": 1}, {"v": 2}], [{"v": 1}, {"v": 2}], "an entry without a key, of a list that is shorter now"),
    ([{"v": 1}], [{"v": 2}], [{"v": 1}], "an entry without a key that may have changed"),
    ([], ["a"], ["a"], "all entries"),
]  # fmt: skip


@pytest.mark.parametrize(("now", "before", "retained", "why"), RETAINED_LISTS, ids=[row[-1] for row in RETAINED_LISTS])
def test_a_list_retains_what_is_gone(now, before, retained, why):
    assert retain_removed({"p": {"l": now}}, {"p": {"l": before}}) == {"p": {"l": retained}}, why


SCALARS = st.one_of(st.booleans(), st.integers(0, 3), st.sampled_from(["a", "b"]))
NAMES = st.sampled_from(["a", "b", "tags"])
ENTRIES = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("xyz"), "v": SCALARS}), max_size=3, unique_by=lambda row: row["name"]
)
BODIES = st.dictionaries(
    NAMES, st.one_of(SCALARS, ENTRIES, st.dictionaries(st.sampled_from(["c", "d"]), SCALARS, min_size=1)), max_size=3
)


@given(BODIES)
def test_what_is_retained_of_the_same_body_is_that_body(body):
    assert retain_removed(body, body) == body


@given(BODIES, BODIES)
def test_what_is_retained_is_found_where_azure_kept_it(now, before):
    """Whether a later run compares with the last body or with what a record retained of it, it finds the same."""
    retained = retain_removed(now, before)
    for live in (before, now, retained):
        found = {
            difference.path[:-1] if isinstance(difference.path[-1], int) else difference.path
            for difference in _find(now, before, live)
        }
        assert found == {
            difference.path[:-1] if isinstance(difference.path[-1], int) else difference.path
            for difference in _find(now, retained, live)
        }


def _find(now, before, live):
    return list_kept(now, before, live, Hints())


@given(BODIES, BODIES)
def test_nothing_is_kept_where_azure_has_the_desired_body(now, before):
    assert _find(now, before, now) == ()


def test_secrets_are_retained_as_they_are_sealed_now():
    now, before = {"key": {"$secret": "new"}}, {"key": {"$secret": "old"}, "other": {"$secret": "x"}}
    assert retain_removed(now, before) == {"key": {"$secret": "new"}, "other": {"$secret": "x"}}

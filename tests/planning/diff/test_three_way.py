from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.secret import Secret
from gitsync.model.verdict import Comparison, Verdict
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline, remove_secrets

ID = "/subscriptions/S/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me"


def differing(desired: Any, live: Any, **more: Any) -> list[tuple[str, Any, Any]]:
    found = compare(desired, live, None, **more)
    return [(d.path, d.desired, d.live) for d in found.differences]


@pytest.mark.parametrize(
    ("desired", "live", "expected", "why"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, [], "fields that git does not name are not drift"),
        ({"a": 1}, {"a": 2}, [("/a", 1, 2)], "a leaf that git names is"),
        ({"name": "x", "a": 1}, {"name": "y", "a": 1}, [], "identity comes from the URL"),
        ({"location": "West Europe"}, {"location": "westeurope"}, [], "ARM ignores case and blanks in regions"),
        (
            {"description": "West Europe"},
            {"description": "westeurope"},
            [("/description", "West Europe", "westeurope")],
            "only in regions",
        ),
        ({"id": ID}, {"id": ID.upper()}, [], "ids compare without case"),
        ({"tags": {"x": "1"}}, {"tags": {}}, [("/tags/x", "1", None)], "Azure always returns tags"),
        ({"tags": {"x": ""}}, {"tags": {}}, [("/tags/x", "", None)], "an empty value is one"),
        ({"tags": {"x": ""}}, {"tags": {"x": ""}}, [], "which Azure keeps"),
        ({"tags": {"Env": "P"}}, {"tags": {"env": "P"}}, [], "names of tags have no case"),
        ({"tags": {"Env": "P"}}, {"tags": {"env": "p"}}, [("/tags/Env", "P", "p")], "their values have"),
        ({"labels": {"x": "1"}}, {"labels": {"X": "1"}}, [], "what Azure does not return is no drift"),
        ({"a": None, "b": {}, "c": []}, {}, [], "null, empty and absent are the same"),
        ({"c": []}, {"c": [1]}, [("/c", [], [1])], "an empty list asks for none"),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}, [], "Azure keeps lists of plain values in an order of its own"),
        ({"a": ["x", "x"]}, {"a": ["x", "y"]}, [("/a", ["x", "x"], ["x", "y"])], "but repeats count"),
        (
            {"a": [{"name": "p", "v": 1}]},
            {"a": [{"name": "q"}, {"name": "P", "v": 1}]},
            [("/a/0", None, {"name": "q"})],
            "entries pair by name, and another one differs",
        ),
        (
            {"subnets": [{"name": "p", "v": 1}]},
            {"subnets": [{"name": "q"}, {"name": "p", "v": 1}]},
            [],
            "subnets are resources of their own too",
        ),
        (
            {"a": [{"v": 1}]},
            {"a": [{"v": 1}, {"v": 2}]},
            [("/a", [{"v": 1}], [{"v": 1}, {"v": 2}])],
            "entries without a key are one leaf",
        ),
        ({"n": 1}, {"n": 1.0}, [], "a number is a number"),
        ({"n": 1}, {"n": True}, [("/n", 1, True)], "but a boolean is none"),
        ({"v": "1.10"}, {"v": "1.1"}, [("/v", "1.10", "1.1")], "text is not a number"),
        (
            {"identity": {"userAssignedIdentities": {ID: {}}}},
            {"identity": {"userAssignedIdentities": {ID.lower(): {"clientId": "c"}}}},
            [],
            "an id as a key compares without case",
        ),
        (
            {"identity": {"userAssignedIdentities": {ID: {}}}},
            {"identity": {"userAssignedIdentities": {}}},
            [(f"/identity/userAssignedIdentities/{ID.replace('/', '~1')}", {}, None)],
            "an identity that is not assigned differs",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_at_first_sight(desired, live, expected, why):
    assert differing(desired, live) == expected, why


def test_an_enumeration_has_no_case():
    hints = Hints(leaves={"plan": "enum"})
    assert differing({"plan": "Standard"}, {"plan": "standard"}, hints=hints) == []
    assert differing({"plan": "Standard"}, {"plan": "standard"}) == [("/plan", "Standard", "standard")]


def test_what_azure_does_not_return_is_unverified():
    found = compare(
        {"properties": {"password": Secret("x"), "mode": "a", "b/c": 1, "e": ""}}, {"properties": {"mode": "a"}}, None
    )
    assert not found.differences
    assert found.unverified == ("/properties/b~1c", "/properties/e", "/properties/password")


def remembered(applied: Any, first: Any) -> Remembered:
    return Remembered(applied=remove_secrets(applied), baseline=make_baseline(applied, first))


@pytest.mark.parametrize(
    ("desired", "applied", "first", "later", "verdict", "paths", "why"),
    [
        ({"a": "x"}, {"a": "x"}, {"a": "X!"}, {"a": "X!"}, Verdict.IN_SYNC, [], "what Azure made of it, it may keep"),
        ({"a": "x"}, {"a": "x"}, {"a": "X!"}, {"a": "X?"}, Verdict.DRIFTED, ["/a"], "a later change of it is drift"),
        ({"a": "x"}, {"a": "x"}, {"a": "X!"}, {}, Verdict.DRIFTED, ["/a"], "and so is its absence"),
        ({"a": "x"}, {"a": "x"}, {"a": "X!"}, {"a": "x"}, Verdict.IN_SYNC, [], "becoming what git asks for is not"),
        ({"a": "x"}, {"a": "x"}, {}, {}, Verdict.IN_SYNC, [], "what was never returned stays unverified"),
        ({"a": ""}, {"a": ""}, {"a": ""}, {}, Verdict.DRIFTED, ["/a"], "an empty text is a value"),
        ({"a": ""}, {"a": "x"}, {"a": "x"}, {}, Verdict.CONFLICT, ["/a"], "which git may have set since"),
        (
            {"tags": {"a": ""}},
            {"tags": {}},
            {"tags": {}},
            {"tags": {}},
            Verdict.PENDING,
            ["/tags/a"],
            "a tag may be empty",
        ),
        ({"a": "y"}, {"a": "x"}, {"a": "x"}, {"a": "x"}, Verdict.PENDING, ["/a"], "git moved"),
        ({"a": "y"}, {"a": "x"}, {"a": "x"}, {"a": "y"}, Verdict.IN_SYNC, [], "Azure has it already"),
        ({"a": "y"}, {"a": "x"}, {}, {}, Verdict.PENDING, ["/a"], "also where Azure never returns it"),
        ({}, {"a": "x"}, {"a": "x"}, {"a": "x"}, Verdict.PENDING, ["/a"], "a removed field is pending"),
        (
            {},
            {"a": "x"},
            {"a": "x"},
            {},
            Verdict.IN_SYNC,
            [],
            "it is gone already, on both sides: nothing is left to send",
        ),
        (
            {"a": "y", "b": 1},
            {"a": "x", "b": 1},
            {"a": "x", "b": 1},
            {"a": "x", "b": 2},
            Verdict.CONFLICT,
            ["/a", "/b"],
            "both moved",
        ),
        (
            {"l": [{"name": "p"}]},
            {"l": [{"name": "p"}]},
            {"l": [{"name": "p"}]},
            {"l": [{"name": "p"}, {"name": "q"}]},
            Verdict.DRIFTED,
            ["/l/1"],
            "a further entry is drift",
        ),
        (
            {"l": [{"name": "p", "v": 1}, {"name": "q", "v": 1}]},
            {"l": [{"name": "p", "v": 1}, {"name": "q", "v": 1}]},
            {"l": [{"name": "p", "v": 1}, {"name": "q", "v": 1}]},
            {"l": [{"name": "q", "v": 1}, {"name": "p", "v": 1}]},
            Verdict.IN_SYNC,
            [],
            "another order of named entries is not",
        ),
        (
            {"l": ["a", "b"]},
            {"l": ["a", "b"]},
            {"l": ["A", "B"]},
            {"l": ["B", "A"]},
            Verdict.IN_SYNC,
            [],
            "nor is another order of what Azure made of plain values",
        ),
        (
            {"command": ["a", "b"]},
            {"command": ["a", "b"]},
            {"command": ["a", "b"]},
            {"command": ["b", "a"]},
            Verdict.DRIFTED,
            ["/command"],
            "but it is where the order counts",
        ),
        (
            {"p": "<a> <b/> </a>"},
            {"p": "<a> <b/> </a>"},
            {"p": "<a>\r\n<b x='1' /></a>"},
            {"p": "<a><b x='1'/></a>"},
            Verdict.IN_SYNC,
            [],
            "what Azure said, spelled otherwise, is still what it said",
        ),
        (
            {"location": "West US"},
            {"location": "West US"},
            {"location": "moved"},
            {"location": "Moved 2"},
            Verdict.DRIFTED,
            ["/location"],
            "another region than Azure's is drift",
        ),
        (
            {"l": [{"locationName": "West US", "v": 1}]},
            {"l": [{"locationName": "West US", "v": 1}]},
            {"l": [{"locationName": "westus", "v": 1}]},
            {"l": [{"locationName": "westus", "v": 2}]},
            Verdict.DRIFTED,
            ["/l/0/v"],
            "a change in an entry whose key Azure spells otherwise",
        ),
        (
            {"l": [{"subnet": {"id": "a"}}]},
            {"l": [{"subnet": {"id": "a"}}]},
            {"l": [{"subnet": {"id": "a"}}]},
            {"l": [{"subnet": {"id": "b"}}, {"subnet": {"id": "a"}}]},
            Verdict.DRIFTED,
            ["/l/0"],
            "a further entry, by a key that stands deeper",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_with_a_record(desired, applied, first, later, verdict, paths, why):
    found = compare(desired, later, remembered(applied, first))
    assert (found.verdict, [d.path for d in found.differences]) == (verdict, paths), why


def sized(objective: str) -> dict[str, Any]:
    return {"sku": {"name": "Premium"}, "properties": {"currentServiceObjectiveName": objective}}


@pytest.mark.parametrize(
    ("desired", "applied", "later", "verdict", "why"),
    [
        ("P1", "P1", "P1", Verdict.IN_SYNC, "Azure has the objective"),
        ("P1", "P1", "P2", Verdict.DRIFTED, "another one of the same tier, whose name stays"),
        ("P2", "P1", "P1", Verdict.PENDING, "git moved"),
        ("P2", "P1", "P2", Verdict.IN_SYNC, "and Azure has it already"),
    ],
)
def test_what_azure_returns_in_two_leaves_is_compared_with_a_baseline_too(desired, applied, later, verdict, why):
    record = remembered({"sku": {"name": applied}}, sized(applied))
    hints = Hints(arm_type="Microsoft.Sql/servers/databases")
    assert compare({"sku": {"name": desired}}, sized(later), record, hints).verdict is verdict, why


def test_another_api_version_is_compared_at_first_sight():
    found = compare(
        {"location": "West US"}, {"location": "westus"}, Remembered(applied={"location": "West US"}, baseline=None)
    )
    assert found.verdict is Verdict.IN_SYNC


def test_a_record_never_holds_a_secret():
    body = {"properties": {"password": Secret("hunter2-hunter2")}}
    assert "hunter2" not in str(remove_secrets(body))
    assert make_baseline(body, {"properties": {"password": "hunter2-hunter2"}}) == {"properties": {}}


def test_a_secret_that_azure_returns_is_not_drift():
    body = {"properties": {"clientId": Secret("a-value-of-its-own")}}
    live = {"properties": {"clientId": "a-value-of-its-own"}}
    found = compare(body, live, remembered(body, live))
    assert (found.verdict, found.differences) == (Verdict.IN_SYNC, ())


def test_what_azure_sets_itself_is_held_to_its_baseline():
    hints = Hints(arm_type="Microsoft.Cache/redis")
    requested, first, later = (
        {"properties": {"redisConfiguration": {"maxmemory-delta": value}}} for value in ("10", "642", "700")
    )
    path = "/properties/redisConfiguration/maxmemory-delta"
    adopted = compare(requested, first, None, hints)
    assert (adopted.differences, adopted.unverified) == ((), (path,))
    kept = compare(requested, first, remembered(requested, first), hints)
    assert (kept.verdict, kept.unverified) == (Verdict.IN_SYNC, ())
    assert [d.path for d in compare(requested, later, remembered(requested, first), hints).differences] == [path]
    assert [d.path for d in compare(requested, requested, remembered(requested, first), hints).differences] == [path]


def test_a_relative_id_is_compared_by_the_id_that_azure_returns():
    body = {"properties": {"scope": "/apis"}}
    live = {"id": f"{ID}/subscriptions/mine", "properties": {"scope": f"{ID}/apis"}}
    assert compare(body, live, None).differences == ()
    assert compare(body, {**live, "id": f"{ID}2/subscriptions/mine"}, None).differences


scalars = st.one_of(st.booleans(), st.integers(-5, 5), st.text("abcXYZ /.1", max_size=4))
names = st.sampled_from(["a", "b", "c", "location", "tags"])
bodies = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(names, inner, max_size=3),
        st.lists(st.sampled_from("pqr"), unique=True, max_size=3).map(
            lambda keys: [{"name": key, "v": 1} for key in keys]
        ),
    ),
    max_leaves=8,
)
documents = st.dictionaries(names, bodies, max_size=4)


@given(documents)
def test_a_document_does_not_differ_from_itself(body):
    assert not compare(body, copy.deepcopy(body), None).differences


@given(documents)
def test_what_is_the_same_on_all_sides_is_so_by_every_rule(body):
    """It needs no rules; they find nothing either if something beside it differs."""
    assert compare(body, copy.deepcopy(body), remembered(body, body)) == Comparison(verdict=Verdict.IN_SYNC)
    before, after = {**body, "size": 1}, {**body, "size": 2}
    beside = compare(before, after, remembered(before, before))
    assert ([difference.path for difference in beside.differences], beside.unverified) == (["/size"], ())


@pytest.mark.parametrize(
    ("desired", "live", "verdict"),
    [
        ({"a": True}, {"a": 1}, Verdict.DRIFTED),
        ({"a": [1, 2]}, {"a": [1, 3]}, Verdict.DRIFTED),
        ({"a": [1]}, {"a": [1, 1]}, Verdict.DRIFTED),
        ({"a": {"b": "c"}}, {"a": {"b": "d"}}, Verdict.DRIFTED),
    ],
)
def test_what_only_looks_the_same_is_compared_by_the_rules(desired, live, verdict):
    assert compare(desired, live, remembered(desired, desired)).verdict is verdict


@given(documents, documents)
def test_what_azure_made_of_it_is_in_sync_whatever_it_is(applied, made):
    assert compare(applied, copy.deepcopy(made), remembered(applied, made)).verdict is Verdict.IN_SYNC


@given(documents, documents, documents)
def test_what_is_in_sync_stays_so_when_compared_again(desired, applied, made):
    if compare(desired, made, remembered(applied, made)).verdict is Verdict.IN_SYNC:
        assert compare(desired, made, remembered(desired, made)).verdict is Verdict.IN_SYNC


@given(documents, documents)
def test_the_order_of_keys_never_matters(desired, live):
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(entry) for entry in value] if isinstance(value, list) else value

    assert compare(turned(desired), turned(live), None) == compare(desired, live, None)


@given(documents, st.data())
def test_a_change_of_a_leaf_that_azure_returned_is_found(body, data):
    leaves = [(parent, key) for parent, key in _leaves(body)]
    if not leaves:
        return
    later = copy.deepcopy(body)
    locations = list(_leaves(later))
    parent, key = data.draw(st.sampled_from(locations))
    parent[key] = "something else entirely"
    assert compare(body, later, remembered(body, body)).differences


@given(documents, st.data())
def test_a_change_of_a_leaf_is_found_at_first_sight(body, data):
    later = copy.deepcopy(body)
    locations = list(_leaves(later))
    if not locations:
        return
    parent, key = data.draw(st.sampled_from(locations))
    parent[key] = "something else entirely"
    assert compare(body, later, None).differences


@given(documents, documents, st.data())
def test_a_change_of_what_azure_made_of_it_is_found(applied, made, data):
    before = remembered(applied, made)
    locations = list(_leaves(copy.deepcopy(dict(before.baseline or {}))))
    if not locations:
        return
    later = copy.deepcopy(dict(before.baseline or {}))
    parent, key = data.draw(st.sampled_from(list(_leaves(later))))
    parent[key] = "something else entirely"
    assert compare(applied, later, before).verdict is Verdict.DRIFTED


@given(documents, documents)
def test_what_differs_differs_with_a_record_of_what_azure_had(desired, live):
    """A record made by hand of what git requests hides nothing that first sight finds."""
    found = compare(desired, live, Remembered(applied=remove_secrets(desired), baseline=None))
    assert found.differences == compare(desired, live, None).differences


def _leaves(value: Any, top: bool = True):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in list(items):
        if isinstance(child, dict | list):
            yield from _leaves(child, top=False)
        elif key != "name":
            yield value, key


def test_an_entry_that_azure_has_added_is_not_drift_once_git_has_all_of_it() -> None:
    before = {"a": [{"name": "p", "v": 1}]}
    live = {"a": [{"name": "p", "v": 1}, {"name": "q", "v": 2}]}
    remembered = Remembered(applied=before, baseline=before)
    assert compare(before, live, remembered).verdict is Verdict.DRIFTED
    assert compare(live, live, remembered).verdict is Verdict.IN_SYNC
    other = {"a": [*before["a"], {"name": "q", "v": 3}]}
    assert compare(other, live, remembered).differences, "a value of it that differs is one"


def test_an_entry_that_moved_in_azure_is_compared_with_that_in_git() -> None:
    before = {"a": [{"name": "p", "v": 1}, {"name": "q", "v": 2}]}
    live = {"a": [{"name": "q", "v": 3}, {"name": "p", "v": 1}]}
    remembered = Remembered(applied=before, baseline=before)
    found = compare(before, live, remembered)
    assert [(difference.desired, difference.live) for difference in found.differences] == [(2, 3)]
    assert compare(live, live, remembered).verdict is Verdict.IN_SYNC
    gone = {"a": [{"name": "q", "v": 2}]}
    assert [(difference.desired, difference.live) for difference in compare(before, gone, remembered).differences] == [
        ({"name": "p", "v": 1}, None)
    ]
    lost = {"a": [{"name": "q"}, {"name": "p", "v": 1}]}
    assert [(difference.desired, difference.live) for difference in compare(before, lost, remembered).differences] == [
        (2, None)
    ]


def test_a_list_that_git_no_longer_sets_and_azure_has_empty_is_not_a_difference() -> None:
    before = {"a": 1, "b": ["x"]}
    remembered = Remembered(applied=before, baseline=before)
    assert compare({"a": 1}, {"a": 1, "b": []}, remembered).verdict is Verdict.IN_SYNC
    assert compare({"a": 1, "b": []}, {"a": 1}, remembered).verdict is Verdict.IN_SYNC
    assert compare({"a": 1}, {"a": 1, "b": ["x"]}, remembered).verdict is Verdict.PENDING
    assert compare(before, {"a": 1, "b": []}, remembered).verdict is Verdict.DRIFTED

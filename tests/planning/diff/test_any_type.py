"""Comparing an `AzureResource` by ARM's types, and the traps of bodies that are sent as they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.verdict import Verdict
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import COMMITTED, Remembered, compare, make_baseline

WORKFLOW = "Microsoft.Logic/workflows@2019-05-01"
MACHINE = "Microsoft.Compute/virtualMachines@2024-07-01"
VAULT = "Microsoft.KeyVault/vaults@2023-07-01"
IMAGE = "Microsoft.Compute/galleries/images/versions@2022-03-03"
JIT = "Microsoft.Security/locations/jitNetworkAccessPolicies@2020-01-01"
IDENTITY = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"


def hints(type_and_version):
    return make_kind_hints(open_catalog().any_type(TypeAndVersion.parse(type_and_version)))


def nest(path, value):
    for step in reversed(path.split("/")):
        value = {step: value}
    return value


@pytest.mark.parametrize(
    ("of", "path", "git", "live", "state", "why"),
    [
        (WORKFLOW, "properties/state", "enabled", "Enabled", "same", "a choice has no case"),
        (WORKFLOW, "properties/state", "Enabled", "Disabled", "different", "another choice"),
        (WORKFLOW, "properties/definition/state", "x y", "X Y", "different", "anything has a case"),
        (WORKFLOW, "properties/version", "1", "2", "unverified", "Azure alone sets it"),
        (WORKFLOW, "properties/sku/name", "a", "b", "unverified", "inside of what Azure sets"),
        (WORKFLOW, "properties/state", "", "Enabled", "unverified", "a default"),
        (WORKFLOW, "tags/team", "", "shop", "different", "an empty tag is a tag"),
        (WORKFLOW, "properties/state", "Enabled", "", "different", "the empty text in Azure"),
        (WORKFLOW, "properties/definition/password", "a", "********", "unverified", "a masked secret"),
        (WORKFLOW, "properties/definition/changedTime", "2026-01-01", "2026-01-02", "different", "a name like no other"),
        (WORKFLOW, "properties/definition/createdTime", "2026-01-01", "2026-01-02", "unverified", "a time of change"),
        (WORKFLOW, "properties/definition/createdTime", "2026-01-01", "never", "different", "not a time"),
        (MACHINE, "properties/osProfile/adminPassword", "a", "b", "unverified", "sensitive"),
        (VAULT, "properties/createMode", "recover", None, "unverified", "write-only, so it is not returned"),
        (VAULT, "properties/createMode", "recover", "default", "unverified", "write-only, and returned anyway"),
        (JIT, "location", "a", "b", "unverified", "Azure alone sets it, although a request has it"),
        (IMAGE, "properties/publishingProfile/targetRegions", [{"name": "westus"}], [{"name": "West US"}], "same", "a region"),
        (IMAGE, "properties/publishingProfile/targetRegions", [{"name": "westus"}], [{"name": "East US"}], "different", "other"),
        ("Microsoft.Logic/workflows@2099-01-01", "properties/version", "1", "2", "different", "a version that is not known"),
    ],
)  # fmt: skip
def test_a_value_at_first_sight(of, path, git, live, state, why):
    found = compare(nest(path, git), nest(path, live), None, hints(of))
    assert ("different" if found.differences else "unverified" if found.unverified else "same") == state, why


@pytest.mark.parametrize(
    ("of", "path", "git", "before", "live", "verdict", "why"),
    [
        (WORKFLOW, "properties/version", "1", "5", "6", "in-sync", "Azure alone sets it"),
        (WORKFLOW, "properties/sku", {"name": "a"}, {"name": "c"}, {"name": "b"}, "in-sync", "inside of what Azure sets"),
        (WORKFLOW, "properties/version", "1", "5", None, "in-sync", "Azure no longer returns it"),
        (WORKFLOW, "properties/version", "1", "1", "2", "drifted", "Azure took it from git, so the type is wrong"),
        (WORKFLOW, "properties/state", "Enabled", "Enabled", "enabled", "in-sync", "a choice has no case"),
        (WORKFLOW, "properties/state", "", "Enabled", "Disabled", "drifted", "a default that changed in Azure"),
        (WORKFLOW, "properties/state", "Enabled", "Enabled", "Disabled", "drifted", "a change"),
        (VAULT, "properties/createMode", "recover", None, None, "in-sync", "write-only"),
        (IMAGE, "properties/publishingProfile/targetRegions", [{"name": "westus", "regionalReplicaCount": 1}],
         [{"name": "West US", "regionalReplicaCount": 1}], [{"name": "West US", "regionalReplicaCount": 2}], "drifted",
         "a member of an entry that is named by its region"),
    ],
)  # fmt: skip
def test_a_value_with_a_baseline(of, path, git, before, live, verdict, why):
    body = nest(path, git)
    remembered = Remembered(body, make_baseline(body, nest(path, before)))
    assert compare(body, nest(path, live), remembered, hints(of)).verdict.value == verdict, why


def test_a_read_only_value_that_git_changes_is_sent_once():
    before, now = nest("properties/version", "1"), nest("properties/version", "2")
    found = compare(now, before, Remembered(before, before), hints(WORKFLOW))
    assert [difference.rule for difference in found.differences] == [COMMITTED]
    assert compare(now, before, Remembered(now, before), hints(WORKFLOW)).verdict is Verdict.IN_SYNC


def test_a_read_only_value_that_git_gives_up_is_not_removed():
    before = {"properties": {"version": "1", "state": "Enabled"}}
    now = {"properties": {"state": "Enabled"}}
    assert compare(now, before, Remembered(before, before), hints(WORKFLOW)).verdict is Verdict.IN_SYNC


NULLS = {
    "properties": {
        "state": "Enabled",
        "accessControl": {"triggers": None, "actions": {"openAuthenticationPolicies": None}},
    }
}


@pytest.mark.parametrize(
    "control",
    [{"triggers": None, "actions": {"openAuthenticationPolicies": None}}, {"actions": None}, {}, None, "absent"],
)
def test_an_object_of_nulls_equals_null_and_absent(control):
    live = {"properties": {"state": "Enabled"} | ({} if control == "absent" else {"accessControl": control})}
    assert compare(NULLS, live, None, hints(WORKFLOW)).differences == ()
    for earlier in (NULLS, live, {"properties": {"state": "Enabled"}}):
        remembered = Remembered(NULLS, make_baseline(NULLS, earlier))
        assert compare(NULLS, live, remembered, hints(WORKFLOW)).verdict is Verdict.IN_SYNC


CALLERS = "properties/accessControl/triggers/allowedCallerIpAddresses"
RANGES = st.lists(st.sampled_from(["10.0.0.1", "10.0.0.2", "10.0.0.3"]), min_size=1, max_size=5)


def list_callers(ranges):
    return nest(CALLERS, [{"addressRange": text} for text in ranges])


@given(RANGES, st.data())
def test_entries_without_names_may_come_back_in_any_order(ranges, data):
    body = list_callers(ranges)
    live = list_callers(data.draw(st.permutations(ranges)))
    remembered = Remembered(body, make_baseline(body, body))
    assert compare(body, live, remembered, hints(WORKFLOW)).verdict is Verdict.IN_SYNC


@given(RANGES, st.data())
def test_one_changed_entry_without_a_name_is_one_difference(ranges, data):
    body = list_callers(ranges)
    mixed = data.draw(st.permutations(ranges))
    was, mixed[0] = mixed[0], "192.168.0.1"
    found = compare(body, list_callers(mixed), Remembered(body, make_baseline(body, body)), hints(WORKFLOW))
    assert [(difference.desired, difference.live) for difference in found.differences] == [(was, "192.168.0.1")]


@pytest.mark.parametrize("live", [["a", "b", "c"], ["b"], []])
def test_an_entry_without_a_name_that_came_or_went_is_drift(live):
    body = list_callers(["a", "b"])
    found = compare(body, list_callers(live), Remembered(body, make_baseline(body, body)), hints(WORKFLOW))
    assert found.verdict is Verdict.DRIFTED


def test_entries_of_different_members_keep_theirs_in_another_order():
    body = nest("properties/definition/rules", [{"a": 1}, {"b": 2}])
    full = [{"a": 1, "b": 0}, {"b": 2, "a": 0}]
    remembered = Remembered(body, make_baseline(body, nest("properties/definition/rules", full)))
    live = nest("properties/definition/rules", full[::-1])
    assert compare(body, live, remembered, hints(WORKFLOW)).verdict is Verdict.IN_SYNC


@pytest.mark.parametrize(
    ("live", "is_same", "why"),
    [
        ({"a": {"principalId": "p", "clientId": "c"}}, True, "it comes back with ids"),
        ({"A": {"principalId": "p", "clientId": "c"}}, True, "in another case"),
        ({"a": {"principalId": "q"}}, True, "the ids are Azure's"),
        ({}, False, "it was removed"),
        ({"b": {"principalId": "p"}}, False, "another one has its place"),
    ],
)
def test_the_map_of_identities(live, is_same, why):
    def assign(identities):
        assigned = {f"{IDENTITY}{name}": value for name, value in identities.items()}
        return {"identity": {"type": "UserAssigned", "userAssignedIdentities": assigned}}

    body, before = assign({"a": {}}), assign({"a": {"principalId": "p", "clientId": "c"}})
    remembered = Remembered(body, make_baseline(body, before))
    for known in (None, remembered):
        assert (compare(body, assign(live), known, hints(WORKFLOW)).differences == ()) is is_same, why


def test_secrets_that_only_asos_kind_marks_count_too():
    kind = open_catalog().any_type(TypeAndVersion.parse("Microsoft.ApiManagement/service/loggers@2024-05-01"))
    assert make_kind_hints(kind).told(("properties", "credentials", "anything")) == "secret"

"""Lists, entries of Azure's own, and secrets, where nothing is remembered of a resource."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.list_pairing import KEY_FIELDS, keep_key
from gitsync.model.secret import MASKED
from gitsync.planning.diff.first_sight import ABSENT, FURTHER, RULE, Unverified, compare_first_sight
from gitsync.planning.diff.hints import Hints, make_type_hints
from gitsync.planning.diff.three_way import compare

ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/"


def seen(desired: Any, live: Any, arm_type: str = "") -> tuple[list[str], list[str]]:
    """Paths of differences and of what is unverified."""
    found = list(compare_first_sight(desired, live, Hints(arm_type=arm_type)))
    untold = [format_pointer(difference.path) for difference in found if isinstance(difference, Unverified)]
    return [difference.path for difference in found if not isinstance(difference, Unverified)], untold


@pytest.mark.parametrize(
    ("desired", "live", "paths", "why"),
    [
        ([{"path": "/a", "v": 1}, {"path": "/b"}], [{"path": "/b"}, {"path": "/a", "v": 1}], [], "a natural key"),
        ([{"path": "/a"}], [{"path": "/A"}], ["/l/0/path"], "which is compared as the leaf that it is"),
        ([{"name": "a"}], [{"name": "A"}], [], "names have no case"),
        ([{"category": "a", "on": True}], [{"category": "a", "on": False}], ["/l/0/on"], "a change in an entry"),
        ([{"path": "/a"}], [{"path": "/a"}, {"path": "/b"}], ["/l/1"], "a further entry"),
        ([{"path": "/a"}, {"path": "/b"}], [{"path": "/b"}], ["/l/0"], "one that is gone"),
        ([{"locationName": "West US"}], [{"locationName": "westus"}], [], "a region is a key in any spelling"),
        ([{"value": "1.2.3.4"}], [{"value": "1.2.3.4/32"}], [], "and an address"),
        ([{"value": "1.2.3.4"}], [{"value": "1.2.3.5/32"}], ["/l/0", "/l/0"], "another address is another entry"),
        (
            [{"subnet": {"id": f"{ID}a"}, "v": 1}, {"subnet": {"id": f"{ID}b"}, "v": 2}],
            [{"subnet": {"id": f"{ID}B"}, "v": 2}, {"subnet": {"id": f"{ID}A"}, "v": 1}],
            [],
            "a key may stand deeper",
        ),
        ([{"port": 80}, {"port": 443}], [{"port": 443}, {"port": 80}], [], "a number may be a key"),
        ([{"x": 1}, {"x": 2}], [{"x": 2}, {"x": 1}], ["/l/0/x", "/l/1/x"], "without a key the place counts"),
        ([[1, 2], [3]], [[2, 1], [3]], [], "lists in lists"),
        ([[1, 2], [3]], [[1, 2], [4]], ["/l/1"], "each by its place"),
        (["a", "b"], ["b", "a"], [], "plain values in any order"),
        (["a"], ["A"], ["/l"], "but with their case"),
        ([], [""], [], "an empty text in a list is no entry"),
        (["a", ""], ["a"], [], "on either side"),
        ([], ["a"], ["/l"], "an empty list asks for none"),
        ([{"a": 1}], [], ["/l"], "nothing is there"),
        ([{"a": 1}], ["a"], ["/l/0"], "another shape"),
        ([{"name": "d", "toBeDetached": True}], [], [], "a disk that is to be detached is gone"),
        ([{"name": "d", "toBeDetached": False}], [], ["/l/0"], "one that is to stay is missing"),
        ({"a": 1}, "a", ["/l"], "a text for an object"),
        ("a", {"a": 1}, ["/l"], "an object for a text"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_a_list(desired, live, paths, why):
    assert seen({"l": desired}, {"l": live})[0] == paths, why


def test_entries_that_are_enumerations_have_no_case():
    hints = Hints(leaves={"l": {"*": "enum"}})
    assert not list(compare_first_sight({"l": ["Get", "List"]}, {"l": ["list", "get"]}, hints))
    assert list(compare_first_sight({"l": ["Get", "List"]}, {"l": ["get", "set"]}, hints))


def test_the_taint_of_a_spot_pool_is_known_in_its_cluster_too():
    body = {"agentPoolProfiles": [{"name": "p", "nodeTaints": []}]}
    spot = {"agentPoolProfiles": [{"name": "p", "nodeTaints": [SPOT]}]}
    assert seen({"properties": body}, {"properties": spot}, CLUSTER) == (
        [],
        ["/properties/agentPoolProfiles/0/nodeTaints/0"],
    )


@pytest.mark.parametrize("name", ["command", "args", "dnsServers"])
def test_the_order_of_some_lists_counts(name):
    assert seen({name: ["a", "b"]}, {name: ["b", "a"]})[0] == [f"/{name}"]
    assert seen({name: ["a", "b"]}, {name: ["a", "b"]})[0] == []


def test_the_order_of_an_index_counts():
    requested, there = [{"path": "/a"}, {"path": "/b"}], [{"path": "/b"}, {"path": "/a"}]
    assert seen({"compositeIndexes": [requested]}, {"compositeIndexes": [there]})[0]


def test_names_of_variables_have_case():
    desired, live = [{"name": "Path", "value": "x"}], [{"name": "PATH", "value": "x"}]
    assert seen({"env": desired}, {"env": live})[0] == ["/env/0/name"]


ETAG = {"path": '/"_etag"/?'}
CONTAINER = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers"
COLLECTION = "Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections"
ALLOW_ALL = {"ipAddress": "Any", "action": "Allow", "priority": 2147483647, "name": "Allow all"}
CLUSTER = "Microsoft.ContainerService/managedClusters"
NO_PROXY = "properties/httpProxyConfig/noProxy"
OUTBOUND = "properties/networkProfile/loadBalancerProfile/effectiveOutboundIPs"
SPOT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
ADDRESS = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/"
RANGES = "properties/snat/privateRanges"


def index(name: str) -> dict[str, Any]:
    return {"key": {"keys": [name]}, "options": {}}


ALL = {"certificates": ["all"], "keys": ["all"], "secrets": ["all"], "storage": []}


def at(path: str, value: Any) -> dict[str, Any]:
    body: Any = value
    for step in reversed(path.split("/")):
        body = {step: body}
    return body


@pytest.mark.parametrize(
    ("arm_type", "path", "desired", "live", "paths", "untold", "why"),
    [
        (
            CONTAINER,
            "properties/resource/indexingPolicy/excludedPaths",
            [{"path": "/a/*"}],
            [{"path": "/a/*"}, ETAG],
            0,
            1,
            "Cosmos DB adds its _etag",
        ),
        (
            CONTAINER,
            "properties/resource/indexingPolicy/excludedPaths",
            [{"path": "/a/*"}],
            [{"path": "/a/*"}, ETAG, {"path": "/b/*"}],
            1,
            1,
            "and nothing else",
        ),
        ("Microsoft.Web/sites", "excludedPaths", [{"path": "/a/*"}], [{"path": "/a/*"}, ETAG], 1, 0, "there alone"),
        (
            "Microsoft.KeyVault/vaults",
            "properties/accessPolicies",
            [],
            [{"tenantId": "t", "objectId": "o", "permissions": ALL}],
            0,
            1,
            "a service that uses the vault",
        ),
        (
            "Microsoft.KeyVault/vaults",
            "properties/accessPolicies",
            [],
            [{"tenantId": "t", "objectId": "o", "permissions": {**ALL, "storage": ["all"]}}],
            1,
            0,
            "somebody else",
        ),
        (
            "Microsoft.Insights/diagnosticSettings",
            "properties/logs",
            [{"category": "a", "enabled": True}],
            [{"category": "b", "enabled": False}, {"category": "a", "enabled": True}],
            0,
            1,
            "a category that is off",
        ),
        (
            "Microsoft.Insights/diagnosticSettings",
            "properties/logs",
            [{"category": "a", "enabled": True}],
            [{"category": "b", "enabled": True}, {"category": "a", "enabled": True}],
            1,
            0,
            "one that is on",
        ),
        (
            COLLECTION,
            "properties/resource/indexes",
            [index("_ts")],
            [index("_id"), index("_ts"), index("DocumentDBDefaultIndex")],
            0,
            2,
            "each collection has an index of _id",
        ),
        (
            COLLECTION,
            "properties/resource/indexes",
            [index("_id"), index("_ts")],
            [index("_id"), index("_ts"), index("DocumentDBDefaultIndex")],
            0,
            1,
            "which git may ask for too",
        ),
        (
            COLLECTION,
            "properties/resource/indexes",
            [index("_ts")],
            [index("_id"), index("_ts"), index("more")],
            1,
            0,
            "an index of somebody else",
        ),
        (
            CLUSTER,
            NO_PROXY,
            ["a.net"],
            ["10.0.0.0/16", "localhost", "a.net", "x.hcp.azmk8s.io"],
            0,
            3,
            "AKS adds its own",
        ),
        (CLUSTER, NO_PROXY, ["localhost"], ["konnectivity", "localhost"], 0, 1, "git may ask for one of them"),
        (CLUSTER, NO_PROXY, ["a.net"], ["localhost", "a.net", "b.net"], 1, 0, "a host of somebody else"),
        (CLUSTER, NO_PROXY, ["a.net"], ["a.net", "20.0.0.0/8"], 1, 0, "a network of the internet"),
        (CLUSTER, NO_PROXY, ["a.net"], ["a.net", "10.0.0.5"], 1, 0, "a single host"),
        (CLUSTER, NO_PROXY, ["a.net"], ["localhost"], 1, 0, "one that is gone"),
        (
            f"{CLUSTER}/agentPools",
            "properties/nodeTaints",
            ["a=b:NoSchedule"],
            [SPOT, "a=b:NoSchedule"],
            0,
            1,
            "a Spot pool",
        ),
        ("Microsoft.Web/sites", "properties/siteConfig/ipSecurityRestrictions", [], [ALLOW_ALL], 0, 1, "no rule"),
        (
            "Microsoft.Web/sites",
            "properties/siteConfig/ipSecurityRestrictions",
            [],
            [ALLOW_ALL, {"ipAddress": "203.0.113.7/32", "priority": 1}],
            1,
            0,
            "a rule of somebody else",
        ),
        (f"{CLUSTER}/agentPools", "properties/nodeTaints", [], ["a=b:NoSchedule"], 1, 0, "a taint of somebody else"),
        (CLUSTER, OUTBOUND, [{"id": f"{ADDRESS}a"}], [{"id": f"{ADDRESS}a"}, {"id": f"{ADDRESS}b"}], 0, 1, "one more"),
        (CLUSTER, OUTBOUND, [{"id": f"{ADDRESS}a"}], [{"id": f"{ADDRESS}b"}], 1, 1, "another one is told"),
        ("Microsoft.Network/firewallPolicies", RANGES, ["1.2.3.4"], ["1.2.3.4", "IANAPrivateRanges"], 0, 1, "by name"),
        ("Microsoft.Network/firewallPolicies", RANGES, ["1.2.3.4"], ["10.0.0.0/8", "1.2.3.4"], 0, 1, "a default range"),
        ("Microsoft.Network/firewallPolicies", RANGES, ["1.2.3.4"], ["10.0.0.0/9", "1.2.3.4"], 1, 0, "another range"),
        (
            "Microsoft.ApiManagement/service",
            "properties/hostnameConfigurations",
            [{"type": "Proxy", "hostName": "api.a.net"}],
            [{"type": "Proxy", "hostName": "a.azure-api.net"}, {"type": "Proxy", "hostName": "api.a.net"}],
            0,
            1,
            "the gateway's own name",
        ),
        (
            "Microsoft.ApiManagement/service",
            "properties/hostnameConfigurations",
            [{"type": "Proxy", "hostName": "api.a.net"}],
            [{"type": "Proxy", "hostName": "b.net"}, {"type": "Proxy", "hostName": "api.a.net"}],
            1,
            0,
            "a name of somebody else",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_entries_of_azures_own_are_distinguished(arm_type, path, desired, live, paths, untold, why):
    differing, unverified = seen(at(path, desired), at(path, live), arm_type)
    assert (len(differing), len(unverified)) == (paths, untold), why


def test_what_decided_is_reported():
    desired = {"l": [{"name": "a"}], "location": "westus", "x": 1, "tags": {"t": "1"}}
    found = compare_first_sight(desired, {"l": [{"name": "b"}], "location": "eastus", "x": 2, "tags": {}}, Hints())
    rules = [difference.rule for difference in found if not isinstance(difference, Unverified)]
    assert rules == [ABSENT, FURTHER, f"{RULE}, compared as a region", RULE, ABSENT]


def test_a_secret_that_differs_is_not_shown():
    hints = Hints(leaves={"properties": {"code": "secret"}})
    desired = {"properties": {"code": "one", "adminPassword": "two"}}
    (code, password) = compare_first_sight(desired, {"properties": {"code": "x", "adminPassword": "y"}}, hints)
    assert (code.desired, code.live, password.desired, password.live) == (MASKED,) * 4


def test_a_key_alone_leads_to_the_key():
    assert [keep_key({"subnet": {"id": "i", "x": 1}, "y": 2}, "subnet.id")] == [{"subnet": {"id": "i"}}]


ENTRIES = st.lists(st.text("abc", min_size=1, max_size=3), unique_by=str.casefold, min_size=1, max_size=5)


@given(ENTRIES, st.sampled_from([field for field in KEY_FIELDS if "." not in field]), st.randoms())
def test_entries_with_a_key_have_no_order(keys, field, random):
    desired = [{field: key, "v": index} for index, key in enumerate(keys)]
    live = random.sample(desired, len(desired))
    assert seen({"l": desired}, {"l": live}) == ([], [])


@given(ENTRIES, st.sampled_from([field for field in KEY_FIELDS if "." not in field]), st.data())
def test_a_change_in_an_entry_with_a_key_is_found(keys, field, data):
    desired = [{field: key, "v": index} for index, key in enumerate(keys)]
    live = [dict(entry) for entry in reversed(desired)]
    live[data.draw(st.integers(0, len(live) - 1))]["v"] = -1
    assert len(seen({"l": desired}, {"l": live})[0]) == 1


@pytest.mark.parametrize(
    ("arm_type", "desired", "live", "different", "unverified", "why"),
    [
        ("Microsoft.Logic/workflows", {"version": "1"}, {"version": "2"}, [], ["version"], "Azure alone sets it"),
        ("Microsoft.Logic/workflows", {"sku": {"name": "a"}}, {"sku": {"name": "b"}}, [], ["sku/name"], "inside"),
        ("Microsoft.Logic/workflows", {"state": ""}, {"state": "Enabled"}, [], ["state"], "the empty text"),
        ("Microsoft.Logic/workflows", {"state": "enabled"}, {"state": "Enabled"}, [], [], "a choice in another case"),
        ("Microsoft.Logic/workflows", {"state": "Disabled"}, {"state": "Enabled"}, ["state"], [], "another choice"),
        ("Microsoft.Logic/workflows", {"definition": {"a": "x"}}, {"definition": {"a": "X"}}, ["definition/a"], [], "text"),
        ("Microsoft.Nothing/such", {"a": ""}, {"a": "x"}, ["a"], [], "a type that is not known"),
    ],
)  # fmt: skip
def test_what_arms_types_show_of_a_type_without_a_kind(arm_type, desired, live, different, unverified, why):
    hints = make_type_hints(arm_type, "2019-05-01")
    found = compare({"properties": desired}, {"properties": live}, None, hints)
    assert [difference.path for difference in found.differences] == [f"/properties/{path}" for path in different], why
    assert list(found.unverified) == [f"/properties/{path}" for path in unverified], why


@pytest.mark.parametrize(
    ("name", "desired", "live", "differs", "why"),
    [
        ("targetRegions", ["westus", "eastus"], ["East US", "West US"], False, "codes and display names"),
        ("targetRegions", ["westus"], ["West US 2"], True, "another region"),
        ("rules", ["myrule"], ["My Rule"], True, "names of other things"),
    ],
)
def test_entries_of_a_list_of_regions_are_found_by_either_name(name, desired, live, differs, why):
    ours, theirs = ([{"name": region, "count": 1} for region in regions] for regions in (desired, live))
    assert bool(seen({name: ours}, {name: theirs})[0]) is differs, why


@pytest.mark.parametrize(
    ("live", "differs", "why"),
    [
        ({"a": {"password": "encrypted"}, "encryptedKeyForSecureFields": "key"}, False, "encrypted, beside its key"),
        ({"a": {"password": "encrypted"}}, True, "no key shows that it is encrypted"),
        ({"a": {"password": "x", "user": "other"}, "encryptedKeyForSecureFields": "key"}, True, "no secret"),
    ],
)
def test_an_encrypted_secret_is_not_compared(live, differs, why):
    body = {
        "properties": {
            "input": {"a": {"password": "plain", "user": "me"} if "user" in live["a"] else {"password": "plain"}}
        }
    }
    found = compare(body, {"properties": {"input": live}}, None, Hints(arm_type="Microsoft.DataMigration/services"))
    assert bool(found.differences) is differs, why

"""What counts as a change outside of git's fields, row by row."""

import pytest

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.request.secret_digest import Digests
from gitsync.model.secret import MASKED, Secret
from gitsync.planning.outside.recorded_outside import OutsideView
from tests.support.outside_views import (
    ACCOUNT,
    BALANCER,
    CLUSTER,
    CONTAINER_APP,
    LOGIC,
    NETWORK,
    ONE,
    POOL,
    SERVER,
    TWO,
    VAULT,
    find,
    properties,
    view,
)

REPORTED = {
    "a tag that came": (ACCOUNT, {}, {}, {"tags": {"a": "b"}}, [("/tags/a", None, "b")]),
    "a tag that went": (ACCOUNT, {}, {"tags": {"a": "b"}}, {}, [("/tags/a", "b", None)]),
    "an empty tag that came": (ACCOUNT, {}, {}, {"tags": {"a": ""}}, [("/tags/a", None, "")]),
    "an empty tag that went": (ACCOUNT, {}, {"tags": {"a": ""}}, {}, [("/tags/a", "", None)]),
    "a tag that is empty now": (ACCOUNT, {}, {"tags": {"a": "b"}}, {"tags": {"a": ""}}, [("/tags/a", "b", "")]),
    "a tag beside those of git": (
        ACCOUNT,
        {"tags": {"a": "b"}},
        {"tags": {"a": "b"}},
        {"tags": {"a": "b", "c/d": "e"}},
        [("/tags/c~1d", None, "e")],
    ),
    "another value of a tag, in another case": (
        ACCOUNT,
        {},
        {"tags": {"a": "b"}},
        {"tags": {"A": "B"}},
        [("/tags/A", "b", "B")],
    ),
    "a switch": (
        ACCOUNT,
        properties(minimumTlsVersion="TLS1_2"),
        properties(minimumTlsVersion="TLS1_2", allowSharedKeyAccess=False),
        properties(minimumTlsVersion="TLS1_2", allowSharedKeyAccess=True),
        [("/properties/allowSharedKeyAccess", False, True)],
    ),
    "a switch that weakens, where nothing was shown": (
        ACCOUNT,
        {},
        {},
        properties(supportsHttpsTrafficOnly=False),
        [("/properties/supportsHttpsTrafficOnly", None, False)],
    ),
    "False and 0, where nothing was shown": (
        ACCOUNT,
        {},
        {},
        properties(isHnsEnabled=False, sasPolicy={"sasExpirationPeriod": 0}),
        [("/properties/isHnsEnabled", None, False), ("/properties/sasPolicy/sasExpirationPeriod", None, 0)],
    ),
    "an entry of a list that git does not set": (
        ACCOUNT,
        properties(networkAcls={"defaultAction": "Deny"}),
        properties(networkAcls={"defaultAction": "Deny", "ipRules": [{"value": "1.2.3.4"}]}),
        properties(networkAcls={"defaultAction": "Deny", "ipRules": [{"value": "5.6.7.8"}, {"value": "1.2.3.4/32"}]}),
        [("/properties/networkAcls/ipRules/0", None, {"value": "5.6.7.8"})],
    ),
    "entries that came and went, at the same position": (
        ACCOUNT,
        {},
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4"}]}),
        properties(networkAcls={"ipRules": [{"value": "5.6.7.8"}]}),
        [
            ("/properties/networkAcls/ipRules/0", None, {"value": "5.6.7.8"}),
            ("/properties/networkAcls/ipRules/1", {"value": "1.2.3.4"}, None),
        ],
    ),
    "a list of plain values": (
        NETWORK,
        properties(addressSpace={"addressPrefixes": ["10.0.0.0/8"]}),
        properties(addressSpace={"addressPrefixes": ["10.0.0.0/8"]}),
        properties(addressSpace={"addressPrefixes": ["10.0.0.0/8"]}, dhcpOptions={"dnsServers": ["8.8.8.8"]}),
        [("/properties/dhcpOptions/dnsServers", None, ["8.8.8.8"])],
    ),
    "the order of DNS servers, which counts": (
        NETWORK,
        {},
        properties(dhcpOptions={"dnsServers": ["10.0.0.4", "10.0.0.5"]}),
        properties(dhcpOptions={"dnsServers": ["10.0.0.5", "10.0.0.4"]}),
        [("/properties/dhcpOptions/dnsServers", ["10.0.0.4", "10.0.0.5"], ["10.0.0.5", "10.0.0.4"])],
    ),
    "a member of an entry that git sets, whose position changed": (
        BALANCER,
        properties(probes=[{"name": "a", "properties": {"port": 1}}, {"name": "b", "properties": {"port": 2}}]),
        properties(
            probes=[
                {"name": "a", "properties": {"port": 1, "intervalInSeconds": 5}},
                {"name": "b", "properties": {"port": 2, "intervalInSeconds": 5}},
            ]
        ),
        properties(
            probes=[
                {"name": "b", "properties": {"port": 2, "intervalInSeconds": 9}},
                {"name": "a", "properties": {"port": 1, "intervalInSeconds": 5}},
            ]
        ),
        [("/properties/probes/0/properties/intervalInSeconds", 5, 9)],
    ),
    "an identity, which is a key of a map": (
        ACCOUNT,
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {}}}},
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {"clientId": "1"}}}},
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {"clientId": "1"}, TWO: {"clientId": "2"}}}},
        [(f"/identity/userAssignedIdentities/{TWO.replace('/', '~1')}", None, {})],
    ),
    "the size, without an autoscaler": (
        POOL,
        properties(mode="User"),
        properties(mode="User", count=3, enableAutoScaling=False),
        properties(mode="User", count=5, enableAutoScaling=False),
        [("/properties/count", 3, 5)],
    ),
    "the tier of a SKU that git does not set": (
        ("Microsoft.EventHub/namespaces", "2024-01-01"),
        {},
        {"sku": {"tier": "Standard"}},
        {"sku": {"tier": "Premium"}},
        [("/sku/tier", "Standard", "Premium")],
    ),
    "the approval of an endpoint": (
        ("Microsoft.Storage/storageAccounts/privateEndpointConnections", "2023-01-01"),
        {},
        properties(privateLinkServiceConnectionState={"status": "Pending"}),
        properties(privateLinkServiceConnectionState={"status": "Approved"}),
        [("/properties/privateLinkServiceConnectionState/status", "Pending", "Approved")],
    ),
    "a variant, whose members depend on one of them": (
        ("Microsoft.DataFactory/factories/integrationRuntimes", "2018-06-01"),
        properties(type="Managed"),
        properties(type="Managed", description="a", typeProperties={"computeProperties": {"numberOfNodes": 1}}),
        properties(type="Managed", description="a", typeProperties={"computeProperties": {"numberOfNodes": 2}}),
        [("/properties/typeProperties/computeProperties/numberOfNodes", 1, 2)],
    ),
    "members in another case": (
        ACCOUNT,
        {"Properties": {"MINIMUMTLSVERSION": "TLS1_2"}},
        properties(minimumtlsversion="TLS1_2", accesstier="Hot"),
        properties(MinimumTlsVersion="TLS1_0", AccessTier="Cool"),
        [("/properties/accessTier", "Hot", "Cool")],
    ),
    "an entry beside ignored ones, by its index in Azure": (
        ACCOUNT,
        {},
        properties(networkAcls={"ipRules": [{"value": "9.9.9.9"}, {"value": "1.2.3.4", "action": "Allow"}]}),
        properties(networkAcls={"ipRules": [{"value": "9.9.9.8"}, {"value": "9.9.9.9"}, {"value": "5.6.7.8"}]}),
        [
            ("/properties/networkAcls/ipRules/2", None, {"value": "5.6.7.8"}),
            ("/properties/networkAcls/ipRules/3", {"action": "Allow", "value": "1.2.3.4"}, None),
        ],
        {
            "ignored": (
                ("properties", "networkAcls", "ipRules", "[value=9.9.9.9]"),
                ("properties", "networkAcls", "ipRules", "[value=9.9.9.8]"),
            )
        },
    ),
}  # fmt: skip
"""What is reported: the type, what git sets, what Azure showed and shows, and the changes."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in REPORTED.items()])
def test_reported(row):
    resource_type, cover, before, now, changes, *settings = row
    assert sorted(find(resource_type, cover, before, now, **(settings[0] if settings else {})), key=str) == changes


SILENT = {
    "what git sets: drift": (
        ACCOUNT,
        properties(minimumTlsVersion="TLS1_2"),
        properties(minimumTlsVersion="TLS1_2"),
        properties(minimumTlsVersion="TLS1_0"),
    ),
    "a tag that git sets in another case": (ACCOUNT, {"tags": {"Env": "a"}}, {"tags": {"env": "a"}}, {"tags": {"ENV": "b"}}),
    "another entry of a list that git sets: drift": (
        ACCOUNT,
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4"}, {"value": "5.6.7.8"}]}),
    ),
    "an entry that git sets and that went: drift": (
        ACCOUNT,
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.2.3.4", "action": "Allow"}]}),
        properties(networkAcls={"ipRules": []}),
    ),
    "a list without keys that git sets, with another length: drift": (
        VAULT,
        properties(accessPolicies=[{"permissions": {"keys": ["get"]}}]),
        properties(accessPolicies=[{"permissions": {"keys": ["get"]}}]),
        properties(accessPolicies=[{"permissions": {"keys": ["get"]}}, {"permissions": {"secrets": ["get"]}}]),
    ),
    "a subnet: a resource of its own": (
        NETWORK,
        {},
        properties(subnets=[{"name": "a"}]),
        properties(subnets=[{"name": "a"}, {"name": "b"}]),
    ),
    "a pool of a cluster: a resource of its own": (
        CLUSTER,
        properties(dnsPrefix="a"),
        properties(agentPoolProfiles=[{"name": "a", "count": 1}]),
        properties(agentPoolProfiles=[{"name": "a", "count": 2}]),
    ),
    "the endpoints of others": (
        ("Microsoft.DeviceUpdate/accounts", "2023-07-01"),
        {},
        {},
        properties(privateEndpointConnections=[{"properties": {"groupIds": ["a"]}}]),
    ),
    "a map that is complete in git": (
        ("Microsoft.DocumentDB/mongoClusters", "2024-07-01"),
        properties(databasePrivileges={"a": ["read"]}),
        properties(databasePrivileges={"a": ["read"]}),
        properties(databasePrivileges={"a": ["read"], "b": ["write"]}),
    ),
    "a member that Azure alone sets": (
        ACCOUNT,
        {},
        properties(provisioningState="Creating", primaryLocation="a"),
        properties(provisioningState="Succeeded", primaryLocation="b"),
    ),
    "a member that Azure alone sets, although the type requires it": (
        ("Microsoft.ContainerService/deploymentSafeguards", "2025-07-01"),
        properties(level="Warn"),
        properties(level="Warn", systemExcludedNamespaces=["kube-system"]),
        properties(level="Warn", systemExcludedNamespaces=["kube-system", "calico-system"]),
    ),
    "a member that the type does not have": (ACCOUNT, {}, properties(nothingSuch=1), properties(nothingSuch=2)),
    "null, empty and absent": (
        ACCOUNT,
        {},
        properties(networkAcls={"ipRules": [], "bypass": ""}, accessTier=None),
        properties(networkAcls={"virtualNetworkRules": []}, routingPreference={}),
    ),
    "the order of entries, keys and plain values": (
        BALANCER,
        {},
        {"properties": {"probes": [{"name": "a"}, {"name": "b"}]}, "tags": {"a": "1", "b": "2"}},
        {"tags": {"b": "2", "a": "1"}, "properties": {"probes": [{"name": "b"}, {"name": "a"}]}},
    ),
    "the order of entries without a key": (
        ("Microsoft.Network/publicIPAddresses", "2024-05-01"),
        {},
        properties(ipTags=[{"ipTagType": "a", "tag": "b"}, {"ipTagType": "c", "tag": "d"}]),
        properties(ipTags=[{"ipTagType": "c", "tag": "d"}, {"ipTagType": "a", "tag": "b"}]),
    ),
    "a region and an id in another spelling": (
        ACCOUNT,
        {},
        {"location": "West Europe", "extendedLocation": {"name": "/subscriptions/S/a"}},
        {"location": "westeurope", "extendedLocation": {"name": "/subscriptions/s/A"}},
    ),
    "identities with the ids in another case": (
        ACCOUNT,
        {},
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {"clientId": "1"}}}},
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE.upper(): {"clientId": "1"}}}},
    ),
    "a default of Azure that appears": (ACCOUNT, {}, {}, {"sku": {"tier": "Standard"}}),
    "a default of Azure that it no longer shows": (ACCOUNT, {}, {"sku": {"tier": "Standard"}}, {}),
    "the tier of a SKU, which follows from the name in git": (
        ("Microsoft.EventHub/namespaces", "2024-01-01"),
        {"sku": {"name": "Standard"}},
        {"sku": {"name": "Standard", "tier": "Standard"}},
        {"sku": {"name": "Premium", "tier": "Premium"}},
    ),
    "an ignored member": (ACCOUNT, {}, {}, {"tags": {"a": "b"}}, {"ignored": (("tags", "a"),)}),
    "ignored members by a pattern": (ACCOUNT, {}, {}, {"tags": {"a": "b", "c": "d"}}, {"ignored": (("tags", "*"),)}),
    "an ignored member of an entry that is named": (
        BALANCER,
        {},
        properties(probes=[{"name": "a", "properties": {"port": 1}}, {"name": "b", "properties": {"port": 1}}]),
        properties(probes=[{"name": "b", "properties": {"port": 2}}, {"name": "a", "properties": {"port": 1}}]),
        {"ignored": (("properties", "probes", "[name=b]", "properties", "port"),)},
    ),
}  # fmt: skip
"""What is not reported: the type, what git sets, and what Azure showed and shows."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in SILENT.items()])
def test_silent(row):
    resource_type, cover, before, now, *settings = row
    assert find(resource_type, cover, before, now, **(settings[0] if settings else {})) == []


def test_what_an_entry_of_a_list_lacks_is_unknown():
    before = properties(accessTier="Hot", allowSharedKeyAccess=True, networkAcls={"defaultAction": "Deny"})
    assert find(ACCOUNT, {}, before, properties(networkAcls={}), is_partial=True) == []
    shown = properties(networkAcls={"defaultAction": "Allow"})
    assert find(ACCOUNT, {}, before, shown, is_partial=True) == [
        ("/properties/networkAcls/defaultAction", "Deny", "Allow")
    ]


IP_RULES = [{"value": "1.2.3.4"}, {"value": "5.6.7.8"}]
GONE = [
    ({"tags": {"a": "b"}}, {}, ["/tags/a"], "Azure always shows tags"),
    ({"tags": {"a": "b", "c": "d"}}, {"tags": {"c": ""}}, ["/tags/a", "/tags/c"], "an empty tag stands for none"),
    (properties(networkAcls={"ipRules": IP_RULES}), properties(networkAcls={"ipRules": IP_RULES[:1]}),
        ["/properties/networkAcls/ipRules/1"], "the entry shows the list"),
    (properties(networkAcls={"ipRules": IP_RULES}), properties(networkAcls={"ipRules": []}),
        ["/properties/networkAcls/ipRules"], "it shows that the list is empty"),
    (properties(networkAcls={"ipRules": IP_RULES}), properties(networkAcls={}), [], "it may lack the list"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "now", "paths", "why"), GONE, ids=[row[-1] for row in GONE])
def test_what_an_entry_of_a_list_shows_as_gone(before, now, paths, why):
    assert [path for path, *_ in find(ACCOUNT, {}, before, now, is_partial=True)] == paths, why


@pytest.mark.parametrize(
    ("now", "changes", "why"),
    [
        ({"storageSizeGB": 0}, [], "a list that has no storage: recorded"),
        ({"storageSizeGB": 64}, [("/properties/storage/storageSizeGB", 32, 64)], "a value that it does show"),
        (
            {"storageSizeGB": 0, "autoGrow": "Enabled"},
            [("/properties/storage/storageSizeGB", 32, 0)],
            "a list that has the object",
        ),
    ],
)
def test_a_value_beside_unknown_ones_may_stand_for_an_unknown_one(now, changes, why):
    before = properties(storage={"storageSizeGB": 32, "autoGrow": "Enabled"})
    assert find(SERVER, {}, before, properties(storage=now), is_partial=True) == changes, why


def test_what_weakens_comes_first():
    of, tags = view(ACCOUNT), {"tags": {"a": "b"}}
    changes = of.find_changes(of.record({}, {}), {**tags, **properties(publicNetworkAccess="Enabled")}, ({},))
    assert [(change.path, bool(change.weakens)) for change in changes] == [
        ("/properties/publicNetworkAccess", True),
        ("/tags/a", False),
    ]


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ("s3cret", "s3cret", []),
        ("s3cret", "0ther", [("/properties/definition/adminPassword", MASKED, MASKED)]),
        ("s3cret", None, [("/properties/definition/adminPassword", MASKED, None)]),
        (None, "s3cret", [("/properties/definition/adminPassword", None, MASKED)]),
    ],
)
def test_a_secret_is_reported_without_its_value(before, now, changes):
    of, sides = view(LOGIC), [properties(definition={"adminPassword": value}) for value in (before, now)]
    recorded = of.record(sides[0], {})
    found = of.find_changes(recorded, sides[1], ({},))
    assert [(change.path, change.before, change.now) for change in found] == changes
    assert "s3cret" not in str(recorded)
    assert all(change.is_restorable is (before is None) for change in found)


@pytest.mark.parametrize("value", ["s3cret", "x" * 2000], ids=["a secret", "a long value"])
def test_a_digest_that_came_or_went_is_reported_without_a_key(value):
    of, without, has = view(LOGIC, digests=Digests()), properties(), properties(definition={"password": value})
    came, went, stayed = (
        of.find_changes(of.record(before, {}), now, ({},))
        for before, now in ((without, has), (has, without), (has, has))
    )
    assert [(change.before, change.now) for change in (*came, *went)] == [(None, MASKED), (MASKED, None)]
    assert not stayed


def test_a_list_of_secrets_is_compared_in_any_order():
    sides = [
        properties(configuration={"secrets": [{"name": name, "value": name * 3} for name in names]})
        for names in ("ab", "ba", "abc")
    ]
    assert find(CONTAINER_APP, {}, sides[0], sides[1]) == []
    assert find(CONTAINER_APP, {}, sides[0], sides[2]) == [("/properties/configuration/secrets", MASKED, MASKED)]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (None, None, "no key"),
        ("k", None, "the key is gone"),
        (None, "k", "the record has none"),
        ("k", "other", "another key"),
    ],
)
def test_a_digest_without_its_key_shows_no_change(old, new, why):
    sides = [properties(configuration={"secrets": [{"name": "a", "value": value}]}) for value in ("s3cret", "0ther")]
    of, later = (view(CONTAINER_APP, digests=Digests(key=Secret(key) if key else None)) for key in (old, new))
    recorded = of.record(sides[0], {})
    assert later.find_changes(recorded, sides[1], ({},)) == (), why
    assert not later.is_plainly_unchanged(recorded, sides[1])
    assert (recorded.read == "") is (old is None), "an unkeyed digest would let somebody guess the secret"


def test_a_long_value_is_recorded_as_a_digest():
    sides = [{"tags": {"a": letter * 2000}} for letter in "bc"]
    assert find(ACCOUNT, {}, *sides) == [("/tags/a", MASKED, MASKED)]
    of = view(ACCOUNT)
    recorded = of.record(sides[0], {})
    assert "bbbb" not in str(recorded)
    assert [change.is_restorable for change in of.find_changes(recorded, sides[1], ({},))] == [False]


def test_a_member_that_looks_like_a_digest():
    inside = {"$secret": "hmac-sha256:a:b", "$$secret": "c"}
    sides = [properties(definition={"a": {**inside, "d": value}}) for value in (1, 2)]
    assert find(LOGIC, {}, *sides) == [("/properties/definition/a/d", 1, 2)]
    changed = properties(definition={"a": {**inside, "$secret": "other", "d": 1}})
    assert find(LOGIC, {}, sides[0], changed) == [("/properties/definition/a/$secret", MASKED, MASKED)], (
        "a secret by its name"
    )


def test_a_record_by_other_types_shows_no_change():
    of = view(ACCOUNT)
    recorded = of.record({}, {})
    recorded.types = "older"
    assert of.find_changes(recorded, {"tags": {"a": "b"}}, ({},)) == ()
    assert of.find_changes(None, {"tags": {"a": "b"}}, ({},)) == ()
    renewed = of.renew(recorded, {"tags": {"a": "b"}}, {}, {}, ())
    assert (renewed.values, renewed.changed) == ({"tags": {"a": "b"}}, ())


def test_a_type_that_the_facts_do_not_have_shows_no_change():
    kind = open_catalog().any_type(TypeAndVersion(ACCOUNT[0], "2999-01-01"))
    of = OutsideView(kind=kind, arm_id=view(ACCOUNT).arm_id, digests=Digests(key=Secret("k")))
    recorded = of.record({"tags": {"a": "b"}}, {})
    assert (recorded.values, of.find_changes(recorded, {}, ({},))) == ({}, ())


RENEWED = {
    "a change stays one": ({}, {}, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, {"tags": {"a": "b"}}),
    "what git sets now is gone": (
        {},
        {"tags": {"a": "b"}},
        {"tags": {"a": "b", "x": "1"}},
        {"tags": {"a": "b", "x": "2"}},
        {"tags": {"x": "1"}},
    ),
    "what git gives up is as Azure shows it": (
        {"tags": {"a": "b"}},
        {},
        {"tags": {"a": "b", "x": "1"}},
        {"tags": {"a": "c", "x": "2"}},
        {"tags": {"a": "c", "x": "1"}},
    ),
    "an object that git gives up": (
        properties(networkAcls={"defaultAction": "Deny"}),
        {},
        properties(networkAcls={"defaultAction": "Deny", "bypass": "None"}),
        {**properties(networkAcls={"defaultAction": "Allow", "bypass": "None"}), "tags": {"x": "1"}},
        properties(networkAcls={"defaultAction": "Allow", "bypass": "None"}),
    ),
    "an entry that git adds to a list": (
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}, {"value": "2.2.2.2"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}]}),
        {
            "tags": {"x": "1"},
            **properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}, {"value": "2.2.2.2", "action": "Allow"}]}),
        },
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}, {"value": "2.2.2.2", "action": "Allow"}]}),
    ),
}  # fmt: skip
"""What a run that wrote nothing records: what git set and sets, what Azure showed and shows, and the record."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in RENEWED.items()])
def test_a_renewed_record(row):
    old, new, before, now, values = row
    of = view(ACCOUNT)
    recorded = of.record(before, old)
    changes = of.find_changes(recorded, now, (new, old))
    assert changes, "without a change all is recorded as it is"
    renewed = of.renew(recorded, now, old, new, changes)
    assert renewed.values == values
    assert of.find_changes(renewed, now, (new, new)) == changes

"""What a PUT may reset: by the outside changes since the last write, and before the first one."""

import pytest

from gitsync.model.outside import ResetValue
from gitsync.model.secret import MASKED
from gitsync.planning.outside.resets import MOST, list_resets
from tests.support.outside_views import (
    ACCOUNT,
    BALANCER,
    CONTAINER_APP,
    LOGIC,
    NETWORK,
    ONE,
    TWO,
    VAULT,
    properties,
    view,
)

RULES = [{"id": "/s/1", "action": "Allow"}, {"id": "/s/2", "action": "Allow"}]
OWN_ID = view(LOGIC).arm_id


def name(resource_type, live, body, changes=None):
    """The path of each value, with the number of entries of a list."""
    resets = list_resets(view(resource_type), live, body, changes)
    return [f"{reset.entries} {reset.path}" if reset.entries else reset.path for reset in resets]


ADOPTED = {
    "nothing beside the body": (ACCOUNT, properties(accessTier="Cool"), properties(accessTier="Hot"), []),
    "a switch that protects, and its default": (
        ACCOUNT,
        properties(publicNetworkAccess="Disabled", supportsHttpsTrafficOnly=True),
        {},
        ["/properties/publicNetworkAccess"],
    ),
    "the default of the same switch": (ACCOUNT, properties(publicNetworkAccess="Enabled"), {}, []),
    "keys that are forbidden": (
        ACCOUNT,
        properties(allowSharedKeyAccess=False),
        {},
        ["/properties/allowSharedKeyAccess"],
    ),
    "a tag": (ACCOUNT, {"tags": {"owner": "rob", "team": "a"}}, {"tags": {"team": "a"}}, ["/tags/owner"]),
    "a list": (
        ACCOUNT,
        properties(networkAcls={"defaultAction": "Deny", "virtualNetworkRules": RULES}),
        properties(networkAcls={"defaultAction": "Deny"}),
        ["2 /properties/networkAcls/virtualNetworkRules"],
    ),
    "a list below an object that the body lacks": (
        NETWORK,
        properties(addressSpace={"addressPrefixes": ["10.0.0.0/8"]}, dhcpOptions={"dnsServers": ["10.0.0.4"]}),
        properties(addressSpace={"addressPrefixes": ["10.0.0.0/8"]}),
        ["1 /properties/dhcpOptions/dnsServers"],
    ),
    "another entry of a list that the body sets: a difference from git": (
        ACCOUNT,
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}, {"value": "2.2.2.2"}]}),
        properties(networkAcls={"ipRules": [{"value": "1.1.1.1"}]}),
        [],
    ),
    "a member of an entry that the body sets": (
        BALANCER,
        properties(probes=[{"name": "b"}, {"name": "a", "properties": {"port": 1, "requestPath": "/health-of-it"}}]),
        properties(probes=[{"name": "a", "properties": {"port": 1}}]),
        ["/properties/probes/1/properties/requestPath"],
    ),
    "an identity": (
        ACCOUNT,
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {"clientId": "1"}, TWO: {"clientId": "2"}}}},
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": {ONE: {}}}},
        [f"/identity/userAssignedIdentities/{TWO.replace('/', '~1')}"],
    ),
    "what Azure alone sets, or the type does not have": (
        ACCOUNT,
        properties(provisioningState="Succeeded", primaryEndpoints={"blob": "a"}, nothingSuch="a"),
        {},
        [],
    ),
    "subnets: resources of their own": (NETWORK, properties(subnets=[{"name": "a"}]), {}, []),
    "values that say nothing": (
        ACCOUNT,
        {"tags": {}, **properties(networkAcls={"ipRules": []}, isHnsEnabled=False, accessTier=None)},
        {},
        [],
    ),
    "the own id, the own name, a time, a name in the body": (
        LOGIC,
        properties(definition={"a": f"{OWN_ID}/x", "b": "web", "c": "2024-01-01T00:00:00Z", "d": "a-long-name"}),
        {"tags": {"x": "a-long-name"}},
        [],
    ),
    "what switches off": (LOGIC, properties(definition={"a": "Disabled", "b": "None", "c": 0}), {}, []),
    "a bypass that is closed": (
        ACCOUNT,
        properties(networkAcls={"bypass": "None"}),
        {},
        ["/properties/networkAcls/bypass"],
    ),
    "what a service reports": (LOGIC, properties(definition={"etag": "a", "lastModifiedTime": "b"}), {}, []),
    "members in another case": (ACCOUNT, properties(ACCESSTIER="Cool"), {"PROPERTIES": {"accesstier": "Hot"}}, []),
    "a type that is not known": (("Microsoft.Storage/storageAccounts", "2999-01-01"), {"tags": {"a": "b"}}, {}, []),
}  # fmt: skip
"""The type, the live body, the body of the PUT, and what is named before the first write."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in ADOPTED.items()])
def test_adoption(row):
    resource_type, live, body, named = row
    assert name(resource_type, live, body) == named


def test_more_than_a_few_are_counted():
    live = {"tags": {letter: letter for letter in "abcd"}, **properties(publicNetworkAccess="Disabled")}
    resets = list_resets(view(ACCOUNT), live, {}, None)
    assert len(resets) == MOST
    assert [reset.path for reset in resets] == ["/properties/publicNetworkAccess", "/tags/a", ""]
    assert resets[-1] == ResetValue(path="", live=None, entries=3)


def test_a_secret_is_named_without_its_value():
    live = properties(definition={"adminPassword": "s3cret", "a": {"password": ["s3cret"], "b": "text-of-somebody"}})
    resets = list_resets(view(LOGIC), live, {}, None)
    assert {reset.path: reset.live for reset in resets} == {
        "/properties/definition/a/b": "text-of-somebody",
        "/properties/definition/a/password": MASKED,
        "/properties/definition/adminPassword": MASKED,
    }
    live = properties(configuration={"secrets": [{"name": "a", "value": "s3cret"}]})
    assert "s3cret" not in str(list_resets(view(CONTAINER_APP), live, {}, None))


CHANGED = {
    "what changed, and not what the last write left": (
        ACCOUNT,
        properties(accessTier="Cool"),
        {**properties(accessTier="Cool", publicNetworkAccess="Disabled"), "tags": {"a": "b"}},
        {},
        ["/properties/publicNetworkAccess", "/tags/a"],
    ),
    "a switch that was turned off": (
        ACCOUNT,
        properties(allowSharedKeyAccess=True),
        properties(allowSharedKeyAccess=False),
        {},
        ["/properties/allowSharedKeyAccess"],
    ),
    "what is gone already": (ACCOUNT, {"tags": {"a": "b"}}, {}, {}, []),
    "what the body sets by now": (ACCOUNT, {}, {"tags": {"a": "b"}}, {"tags": {"A": "c"}}, []),
    "one of two entries": (
        ACCOUNT,
        properties(networkAcls={"virtualNetworkRules": RULES[:1]}),
        properties(networkAcls={"virtualNetworkRules": RULES}),
        {},
        ["1 /properties/networkAcls/virtualNetworkRules"],
    ),
    "a member of an entry of a list that the body lacks": (
        VAULT,
        properties(accessPolicies=[{"tenantId": "t", "objectId": "o", "permissions": {"keys": ["get"]}}]),
        properties(accessPolicies=[{"tenantId": "t", "objectId": "o", "permissions": {"keys": ["get", "list"]}}]),
        {},
        ["1 /properties/accessPolicies"],
    ),
    "a list of plain values": (
        NETWORK,
        {},
        properties(dhcpOptions={"dnsServers": ["10.0.0.4", "10.0.0.5"]}),
        {},
        ["2 /properties/dhcpOptions/dnsServers"],
    ),
    "no change": (ACCOUNT, {"tags": {"a": "b"}}, {"tags": {"a": "b"}}, {}, []),
    "a tag that git sets, sent in another case": (
        ACCOUNT,
        {},
        {"tags": {"a": "1", "b": "2"}},
        {"tags": {"A": "1"}},
        ["/tags/b"],
    ),
}  # fmt: skip
"""The type, what Azure showed and shows, the body of the PUT, and what is named."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in CHANGED.items()])
def test_changes_since_the_last_write(row):
    resource_type, before, now, body, named = row
    of = view(resource_type)
    changes = of.find_changes(of.record(before, {}), now, ({},))
    assert sorted(name(resource_type, now, body, changes)) == named


@pytest.mark.parametrize(
    ("is_first", "named", "why"),
    [
        (False, ["/tags/new"], "the rest was there at gitsync's last write"),
        (
            True,
            ["/tags/new", "/properties/publicNetworkAccess", "/tags/old"],
            "gitsync has adopted it, and wrote nothing",
        ),
    ],
)
def test_the_first_write_after_an_adoption(is_first, named, why):
    of, adopted = (
        view(ACCOUNT),
        {"tags": {"old": "a"}, **properties(publicNetworkAccess="Disabled", isHnsEnabled=False)},
    )
    now = {**adopted, "tags": {"old": "a", "new": "b"}}
    changes = of.find_changes(of.record(adopted, {}), now, ({},))
    assert [reset.path for reset in list_resets(of, now, {}, changes, is_first=is_first)] == named, why


def test_the_first_write_names_all_changes_and_counts_the_rest():
    of, adopted = view(ACCOUNT), properties(publicNetworkAccess="Disabled", allowSharedKeyAccess=False)
    now = {**adopted, "tags": {letter: letter for letter in "abcd"}}
    changes = of.find_changes(of.record(adopted, {}), now, ({},))
    resets = list_resets(of, now, {}, changes, is_first=True)
    assert [reset.path for reset in resets] == ["/tags/a", "/tags/b", "/tags/c", "/tags/d", ""]
    assert resets[-1].entries == 2

"""An empty list in git has that there are not entries. What somebody adds to it is drift, and a write takes it away."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, GROUP_ID, VNET, VNET_ID, World, annotated, key, of

ACCOUNT = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: store123x
    spec:
      owner: {name: core}
      location: westeurope
      kind: StorageV2
      sku: {name: Standard_LRS}
      networkAcls: {bypass: Logging, defaultAction: Deny, ipRules: []}
    """
RULE = {"value": "203.0.113.7", "action": "Allow"}
RULES = "/properties/networkAcls/ipRules"
BALANCER = """\
    apiVersion: network.azure.com/v1api20240301
    kind: LoadBalancer
    metadata:
      name: front
    spec:
      owner: {name: core}
      location: westeurope
      sku: {name: Standard}
      inboundNatRules: []
    """
ACCOUNT_KEY = key("StorageAccount", "storage.azure.com", "store123x")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def rules(world):
    path = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/store123x"
    return world.read(path, api_version="2023-01-01")["properties"]["networkAcls"].get("ipRules")


def test_an_entry_that_somebody_adds_is_drift_and_leaves(world):
    world.synced(group=GROUP, account=ACCOUNT)
    world.somebody_changes(ACCOUNT_KEY, {RULES: [RULE]})
    found = of(world.plan(), "StorageAccount")
    assert found.verdict is Verdict.DRIFTED
    assert [
        (difference.path.startswith(RULES), difference.desired in (None, [])) for difference in found.differences
    ] == [(True, True)]
    world.sync()
    assert rules(world) == []
    assert of(world.sync(), "StorageAccount").verdict is Verdict.IN_SYNC
    assert world.writes == []


def test_a_write_of_something_else_does_not_take_it_away_unsaid(world):
    world.synced(group=GROUP, account=ACCOUNT)
    world.somebody_changes(ACCOUNT_KEY, {RULES: [RULE]})
    changed = ACCOUNT.replace("sku:", "tags: {a: b}\n      sku:")
    found = of(world.says(group=GROUP, account=changed).plan(), "StorageAccount")
    assert found.verdict is Verdict.CONFLICT
    assert sorted(difference.path for difference in found.differences) == [f"{RULES}/0", "/tags/a"]


@pytest.mark.parametrize("method", ["put", "patch"])
def test_at_first_sight_and_by_either_method(world, method):
    plain = ACCOUNT.replace(", ipRules: []", "")
    world.synced(group=GROUP, account=plain)
    world.somebody_changes(ACCOUNT_KEY, {RULES: [RULE]})
    assert of(world.plan(), "StorageAccount").verdict is Verdict.IN_SYNC, "git says nothing of the rules"
    stated = annotated(ACCOUNT, **{"gitsync/update-method": method})
    found = of(world.says(group=GROUP, account=stated).sync(), "StorageAccount")
    assert (found.verdict, found.action) == (Verdict.PENDING, Action.UPDATE)
    assert [(difference.path, difference.desired, difference.live) for difference in found.differences] == [
        (RULES, [], [RULE])
    ]
    assert rules(world) == []
    assert of(world.sync(), "StorageAccount").verdict is Verdict.IN_SYNC


def test_the_statement_may_be_removed_from_git(world):
    world.synced(group=GROUP, account=ACCOUNT)
    report = world.says(group=GROUP, account=ACCOUNT.replace(", ipRules: []", "")).sync()
    assert (of(report, "StorageAccount").verdict, world.writes) == (Verdict.IN_SYNC, [])
    world.somebody_changes(ACCOUNT_KEY, {RULES: [RULE]})
    assert of(world.sync(), "StorageAccount").verdict is Verdict.IN_SYNC
    assert rules(world) == [RULE]


def test_an_adopted_resource(world):
    world.synced(group=GROUP)
    listed = VNET.replace("addressSpace:", "dhcpOptions: {dnsServers: []}\n      addressSpace:")
    body = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}
    world.somebody_creates(
        VNET_ID, {**body, "properties": {**body["properties"], "dhcpOptions": {"dnsServers": ["10.0.0.4"]}}}
    )
    found = of(world.says(group=GROUP, network=listed).sync(), "VirtualNetwork")
    assert [(difference.path, difference.live) for difference in found.differences] == [
        ("/properties/dhcpOptions/dnsServers", ["10.0.0.4"])
    ]
    assert of(world.sync(), "VirtualNetwork").verdict is Verdict.IN_SYNC


def test_a_list_of_what_may_have_manifests_of_its_own_sets_none(world):
    world.synced(group=GROUP, balancer=BALANCER)
    rule = {"name": "ssh", "properties": {"protocol": "Tcp", "frontendPort": 22, "backendPort": 22}}
    path = f"{GROUP_ID}/providers/Microsoft.Network/loadBalancers/front"
    world.outside("PUT", f"{path}/inboundNatRules/ssh", rule, api_version="2024-03-01")
    changed = BALANCER.replace("location:", "tags: {a: b}\n      location:")
    assert of(world.plan(), "LoadBalancer").verdict is Verdict.IN_SYNC
    found = of(world.says(group=GROUP, balancer=changed).sync(), "LoadBalancer")
    assert [difference.path for difference in found.differences] == ["/tags/a"]
    assert world.read(f"{path}/inboundNatRules/ssh", api_version="2024-03-01")["name"] == "ssh"

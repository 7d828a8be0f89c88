"""Drift of a field that an expression computes: `gitsync accept` skips it and names the expression."""

from __future__ import annotations

import pytest

from tests.agent.run.test_knowledge_of_values import IP, PROD, STAGE, setting
from tests.support.world import ACCOUNT, GROUP, World, key
from tests.workflows.accept.test_accept import accept

DATA = key("StorageAccount", "storage.azure.com", "data")
RULE = """\
    apiVersion: network.azure.com/v1api20201101
    kind: NetworkSecurityGroupsSecurityRule
    metadata:
      name: web
    spec:
      owner: {name: nsg}
      access: Allow
      direction: Inbound
      priority: 100
      protocol: Tcp
      destinationAddressPrefix: '*'
      destinationPortRange: '443'
      sourcePortRange: '*'
      sourceAddressPrefixes: [192.0.2.1]
    """
NSG = """\
    apiVersion: network.azure.com/v1api20201101
    kind: NetworkSecurityGroup
    metadata:
      name: nsg
    spec: {owner: {name: core}, location: westeurope}
    """
ACCOUNT_OF_ANY = f"""\
    apiVersion: azure.gitsync/v1
    kind: AzureResource
    metadata:
      name: data
    spec:
      type: Microsoft.Storage/storageAccounts@2023-01-01
      owner: {{group: resources.azure.com, kind: ResourceGroup, name: core}}
      body:
        location: westeurope
        kind: StorageV2
        sku: {{name: Standard_LRS}}
        tags: {{plain: a, stage: {{$expression: '{STAGE}'}}}}
    """
TAGGED = ACCOUNT.replace("      sku:", "      tags: {plain: a}\n      sku:")
ROWS = [
    ("a member of a map", setting(TAGGED, f"spec.tags.stage: {STAGE}"), "spec.tags.stage"),
    ("a value in the body of an AzureResource", ACCOUNT_OF_ANY, "spec.body.tags.stage"),
]


@pytest.mark.parametrize(("why", "account", "field"), ROWS, ids=[row[0] for row in ROWS])
def test_a_computed_field_is_never_edited(tmp_path, why, account, field):
    world = World(tmp_path)
    world.says(group=GROUP, ip=IP, account=account).sync()
    data = next(id_ for id_ in world.azure().ids() if id_.endswith("/data"))
    world.somebody_changes(data, {"/tags/stage": "odd", "/tags/plain": "b"})
    accepted = accept(world, world.plan())
    [left] = accepted.left
    kind = "AzureResource" if account is ACCOUNT_OF_ANY else "StorageAccount"
    assert (left.field, left.reason) == (field, f"The expression {STAGE} computes {field}."), why
    assert left.advice == f"Change the expression, or run gitsync revert {kind}/data to restore the value."
    [text] = [text.decode() for text in accepted.texts.values()]
    assert ("plain: b" in text, STAGE in text, "odd" in text) == (True, True, False), why


def test_a_list_with_a_computed_element_is_not_edited(tmp_path):
    address = 'resource("PublicIPAddress/egress").status.ipAddress'
    world = World(tmp_path)
    world.says(group=GROUP, ip=IP, nsg=NSG, rule=setting(RULE, f"spec.sourceAddressPrefixes[1]: {address}")).sync()
    rule = key("NetworkSecurityGroupsSecurityRule", "network.azure.com", "web")
    world.somebody_changes(rule, {"/properties/sourceAddressPrefixes": ["192.0.2.1", "198.51.100.9"]})
    accepted = accept(world, world.plan())
    assert not accepted.texts
    assert [left.reason for left in accepted.left] == [
        f"The expression {address} computes spec.sourceAddressPrefixes[1]."
    ]


def test_a_field_that_the_next_sync_changes_has_not_drifted(tmp_path):
    world = World(tmp_path)
    account = setting(TAGGED, f"spec.tags.stage: {STAGE}")
    world.says(group=GROUP, ip=IP, account=account).sync()
    world.somebody_changes(DATA, {"/tags/plain": "b"})
    accepted = accept(world.says(group=GROUP, ip=PROD, account=account), world.plan())
    assert (accepted.left, list(accepted.texts)) == ((), ["account.yaml"])


def test_drift_of_a_source_is_accepted_and_flows(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, ip=IP, account=setting(TAGGED, f"spec.tags.stage: {STAGE}")).sync()
    world.somebody_changes(key("PublicIPAddress", "network.azure.com", "egress"), {"/tags/stage": "prod"})
    accepted = accept(world, world.plan())
    assert list(accepted.texts) == ["ip.yaml"]
    world.git("commit", "-qam", "Accept")
    world.sync()
    assert world.azure().resource(world.id_of(DATA))["tags"]["stage"] == "prod"

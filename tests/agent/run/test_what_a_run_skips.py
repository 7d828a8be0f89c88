"""Deletes that would also delete what the run skips, in whole runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gitsync.emulator.settings import Denial, EmulatorSettings
from gitsync.model.verdict import Action
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, of

EMPTY = {"match": {"method": "GET", "path": "*/resourcegroups/core/resources"}}
EMPTY["answer"] = {"status": 200, "body": {"value": []}}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.mark.parametrize("only", [("ResourceGroup/core",), ("VirtualNetwork/hub",)])
def test_only_some_of_what_was_removed_from_git_takes_nothing_else_along(world, only):
    """An empty list of the group would mean that there is nothing in it."""
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    world.settings = replace(world.settings, rules=rules(json.dumps(EMPTY)))
    report = world.says().sync(prune=True, max_deletes=3, only=only)
    assert world.sent("DELETE") == []
    assert [result.condition.reason for result in report.results] == ["PruneHeld"]
    assert "which this run does not manage" in report.results[0].condition.message


def test_another_agents_record_keeps_its_group(world):
    world.says(group=GROUP, vnet=VNET).sync(agent="theirs", only=("VirtualNetwork/hub", "ResourceGroup/core"))
    for file in world.state.rglob("*.json"):
        if "ResourceGroup" in str(file):
            file.write_text(file.read_text().replace("theirs", "ours"))
    world.settings = replace(world.settings, rules=rules(json.dumps(EMPTY)))
    world.says().sync(prune=True, max_deletes=3, agent="ours")
    assert world.sent("DELETE") == []


def test_a_group_does_not_take_along_what_a_failed_resource_needs(world):
    nsg = """\
        apiVersion: network.azure.com/v1api20240301
        kind: NetworkSecurityGroup
        metadata:
          name: rules
        spec:
          location: westeurope
          owner:
            name: other
        """
    other = GROUP.replace("name: core", "name: other")
    needed = "addressPrefix: 10.0.0.0/24\n      networkSecurityGroup:\n        reference: {group: network.azure.com, kind: NetworkSecurityGroup, name: rules}"
    guarded = SUBNET.replace("addressPrefix: 10.0.0.0/24", needed)
    world.synced(group=GROUP, vnet=VNET, subnet=guarded, other=other, nsg=nsg)
    world.settings = EmulatorSettings(limits=None, denied=(Denial(action="*subnets/write"),))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == []
    assert of(report, "NetworkSecurityGroup").condition.reason == "PruneHeld"
    world.settings = EmulatorSettings(limits=None)
    report = world.sync(prune=True, max_deletes=3)
    assert of(report, "ResourceGroup", "other").action is Action.DELETE
    assert world.sent("DELETE") == [GROUP_ID.replace("core", "other")]


def test_what_is_in_no_list_goes_before_its_group(world):
    """A role assignment of a group shows in no list of what the group holds."""
    role = """\
        apiVersion: authorization.azure.com/v1api20220401
        kind: RoleAssignment
        metadata:
          name: reads
        spec:
          owner: {name: core, group: resources.azure.com, kind: ResourceGroup}
          principalId: 5a9ad4b2-3f0c-4d6b-9c3e-2f6f6f6f6f6f
          roleDefinitionReference: {wellKnownName: Reader}
        """
    world.synced(group=GROUP, vnet=VNET, role=role)
    world.says().sync(prune=True, max_deletes=3)
    deleted = world.sent("DELETE")
    assert [path.rpartition("/")[0].rpartition("/")[2] for path in deleted] == ["roleAssignments", "resourceGroups"]
    assert VNET_ID not in deleted

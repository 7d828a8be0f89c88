"""A sync leaves out what Azure would refuse, before its first write, and goes on with the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitsync.emulator.settings import read_settings
from gitsync.model.check import CheckName, CheckVerdict
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, of

ALL = tuple(name.value for name in CheckName)
SPOKE = VNET.replace("name: hub", "name: spoke")
DENY_HUB = {"name": "no-hub", "scope": GROUP_ID, "effect": "deny", "if": {"field": "name", "equals": "hub"}}
LOCK = {"scope": VNET_ID, "level": "CanNotDelete", "name": "keep"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def govern(world: World, **settings: Any) -> World:
    """Set policies and locks of the emulator, as its settings file does."""
    file = world.folder.parent / "settings.yaml"
    file.write_text(json.dumps({"settings": settings}))
    world.settings = replace(read_settings(file), limits=None)
    return world


def test_what_would_be_refused_is_left_out_and_the_rest_is_written(world: World):
    world.synced(group=GROUP)
    govern(world.says(group=GROUP, network=VNET, subnet=SUBNET, spoke=SPOKE), policies=[DENY_HUB])
    report = world.sync(checks=ALL)
    hub, subnet = of(report, "VirtualNetwork", "hub"), of(report, "VirtualNetworksSubnet")
    assert (report.exit_code, hub.condition.reason, hub.outcome) == (1, "Refused", Outcome.FAILED)
    assert "no-hub" in hub.condition.message
    assert (subnet.outcome, subnet.ending.blocked_by) == (Outcome.BLOCKED, hub.key)
    assert of(report, "VirtualNetwork", "spoke").action is Action.CREATE
    assert VNET_ID not in world.sent("PUT")


def test_the_checks_come_before_the_first_write(world: World):
    world.synced(group=GROUP)
    govern(world.says(group=GROUP, network=VNET, spoke=SPOKE), policies=[DENY_HUB])
    world.sync(checks=ALL)
    methods = [request.method for request in world.requests]
    assert methods.index("POST") < methods.index("PUT")


def test_once_nothing_refuses_it_the_next_run_creates_it(world: World):
    world.synced(group=GROUP)
    govern(world.says(group=GROUP, network=VNET), policies=[DENY_HUB])
    world.sync(checks=ALL)
    report = govern(world).sync(checks=ALL)
    assert (report.exit_code, of(report, "VirtualNetwork").verdict) == (0, Verdict.CREATE)


def test_a_check_that_is_wrong_can_be_left_out(world: World):
    govern(world.says(group=GROUP, network=VNET), policies=[DENY_HUB])
    report = world.sync(checks=("locks", "names"))
    assert VNET_ID in world.sent("PUT"), "Azure itself says no"
    assert of(report, "VirtualNetwork").condition.reason == "RequestDisallowedByPolicy"


@pytest.mark.parametrize("scope", [VNET_ID, GROUP_ID, f"{VNET_ID}/subnets/one"])
def test_a_locked_resource_is_not_deleted(world: World, scope: str):
    """Neither by a lock at it or above, nor by one below it, which Azure finds only halfway."""
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    govern(world.says(group=GROUP), locks=[{**LOCK, "scope": scope}])
    report = world.sync(prune=True, max_deletes=5, checks=ALL)
    refused = [result for result in report.results if result.condition.reason == "Refused"]
    assert (report.exit_code, bool(refused), world.sent("DELETE")) == (1, True, [])
    assert all("keep" in result.condition.message for result in refused)


def test_what_turns_out_to_be_missing_is_checked_when_it_is_read(world: World):
    world.synced(group=GROUP, network=VNET)
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    report = govern(world, policies=[DENY_HUB]).sync(checks=ALL)
    network = of(report, "VirtualNetwork")
    assert (network.verdict, network.condition.reason, world.writes) == (Verdict.MISSING, "Refused", [])


def test_an_update_is_left_to_azure(world: World):
    """A sync checks what it creates, replaces and deletes; a plan shows the rest."""
    world.synced(group=GROUP, network=VNET)
    changed = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
    govern(world.says(group=GROUP, network=changed), policies=[DENY_HUB])
    planned = of(world.plan(checks=ALL), "VirtualNetwork")
    assert CheckVerdict.REFUSED in {finding.verdict for finding in planned.change.checks}
    assert of(world.sync(checks=ALL), "VirtualNetwork").condition.reason == "RequestDisallowedByPolicy"


def test_a_replacement_that_would_be_refused_deletes_nothing(world: World):
    """The delete would succeed, and the create would not."""
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    agreed = VNET.replace("westeurope", "northeurope").replace(
        "metadata:\n", "metadata:\n      annotations: {gitsync/replace: location=northeurope}\n"
    )
    in_europe = {"field": "location", "equals": "northeurope"}
    west = {"name": "west", "scope": GROUP_ID, "effect": "deny", "if": in_europe}
    govern(world.says(group=GROUP, network=agreed, subnet=SUBNET), policies=[west])
    report = world.sync(prune=True, max_deletes=5, checks=ALL)
    assert (of(report, "VirtualNetwork").condition.reason, world.writes) == ("Refused", [])


def test_a_lock_below_holds_a_replacement(world: World):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    agreed = VNET.replace("westeurope", "northeurope").replace(
        "metadata:\n", "metadata:\n      annotations: {gitsync/replace: location=northeurope}\n"
    )
    govern(world.says(group=GROUP, network=agreed, subnet=SUBNET), locks=[{**LOCK, "scope": f"{VNET_ID}/subnets/one"}])
    report = world.sync(prune=True, max_deletes=5, checks=ALL)
    assert (of(report, "VirtualNetwork").outcome, world.writes) != (Outcome.CHANGED, [])
    assert world.writes == []

"""States that a type ends in, and states that no one has: what a run waits for, reports, and counts as success."""

from __future__ import annotations

import pytest

from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report import text
from tests.support.fault_rules import rules
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, annotated, key, of

SERVER = """\
    apiVersion: sql.azure.com/v1api20211101
    kind: Server
    metadata: {name: srv-x1}
    spec: {owner: {name: core}, location: westeurope}
    """
RULE = """\
    apiVersion: sql.azure.com/v1api20211101
    kind: ServersOutboundFirewallRule
    metadata: {name: rule}
    spec: {owner: {name: srv-x1}, azureName: example.com}
    """
SOME_MINUTES = 5 * 60
NET = key("VirtualNetwork", "network.azure.com", "hub")


def becomes(state, after=0):
    """A script in which the network is in a state after so many requests about it, and its operation is over."""
    move = f"{{id: {VNET_ID}, set: {{/properties/provisioningState: {state}}}}}"
    about = "type: Microsoft.Network/virtualNetworks"
    return rules(
        f"{{match: {{method: [GET, PUT], {about}, after: {after}}}, move: {move}}}",
        f"{{match: {{poll: true, {about}}}, move: {move}}}",
    )


def test_a_state_that_the_type_ends_in_is_success(tmp_path):
    """A server and its rule for each style of operations."""
    styles = [Style.DONE, Style.ASYNC, Style.ASYNC_LOCATION, Style.ACCEPTED, Style.STATE]
    operations = (
        f"{{match: {{method: PUT, path: '*/servers/srv-x{row}*'}}, operation: {{style: {style.value}, polls: 2}}}}"
        for row, style in enumerate(styles)
    )
    world = World(tmp_path, rules=rules(*operations))
    documents = {
        f"{name}{row}": text.replace("srv-x1", f"srv-x{row}").replace("{name: rule}", f"{{name: rule{row}}}")
        for row in range(len(styles))
        for name, text in (("server", SERVER), ("rule", RULE))
    }
    report = world.says(group=GROUP, **documents).sync()
    for row, style in enumerate(styles):
        assert of(report, "ServersOutboundFirewallRule", f"rule{row}").condition.is_ready, style
    assert world.clock.elapsed < 60
    before = world.clock.elapsed
    again = world.sync()
    for result in again.results:
        assert (result.action, result.condition.is_ready) == (Action.NONE, True), result.key
    assert world.clock.elapsed - before < 60


@pytest.mark.parametrize("style", [Style.DONE, Style.ASYNC, Style.ACCEPTED, Style.STATE])
def test_an_unknown_state_is_named_and_is_not_a_success(tmp_path, style):
    world = World(tmp_path, operations=Timing(style=style, polls=0), rules=becomes("Shelved"))
    report = world.says(group=GROUP, net=VNET, subnet=SUBNET).sync()
    net, subnet = of(report, "VirtualNetwork"), of(report, "VirtualNetworksSubnet")
    assert "state Shelved unknown" in net.condition.message
    assert not net.condition.is_ready
    assert net.outcome is Outcome.BLOCKED
    assert report.exit_code == 1
    assert "Check the resource in Azure" in find_condition_advice(net.condition, net.arm_id)
    assert subnet.condition.reason == "WaitingForOwner"
    assert world.clock.elapsed < SOME_MINUTES


def test_the_next_run_looks_again_for_some_minutes(tmp_path):
    world = World(tmp_path, rules=becomes("Shelved"))
    world.says(group=GROUP, net=VNET, subnet=SUBNET).sync()
    before = world.clock.elapsed
    report = world.sync()
    assert "state Shelved unknown" in of(report, "VirtualNetwork").condition.message
    assert world.writes == []
    assert world.clock.elapsed - before < SOME_MINUTES
    world.settings = EmulatorSettings(limits=None)
    world.azure().change(VNET_ID, "/properties/provisioningState", "Succeeded")
    assert all(result.condition.is_ready for result in world.sync().results)


def test_an_unknown_state_that_passes_in_time_is_waited_for(tmp_path):
    script = (*becomes("Shelved"), *becomes("Succeeded", after=5))
    world = World(tmp_path, operations=Timing(style=Style.DONE), rules=script)
    report = world.says(group=GROUP, net=VNET).sync()
    assert of(report, "VirtualNetwork").condition.is_ready
    assert len([request for request in world.requests if request.method == "GET" and request.path == VNET_ID]) > 5


def test_what_was_ready_is_not_ready_in_an_unknown_state(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, net=VNET)
    world.azure().change(VNET_ID, "/properties/provisioningState", "Shelved")
    report = world.sync()
    assert "state Shelved unknown" in of(report, "VirtualNetwork").condition.message
    assert "state Shelved unknown" in (world.state / "SUMMARY.md").read_text()
    assert world.clock.elapsed < SOME_MINUTES


def test_a_delete_waits_some_minutes_and_names_the_state(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, net=VNET)
    world.azure().change(VNET_ID, "/properties/provisioningState", "Shelved")
    report = world.says(group=GROUP).sync(prune=True)
    assert "state Shelved unknown" in of(report, "VirtualNetwork").condition.message
    assert world.sent("DELETE") == []
    assert world.clock.elapsed < SOME_MINUTES


def shelve(tmp_path, *, net=VNET):
    world = World(tmp_path)
    world.synced(group=GROUP, net=net)
    world.azure().change(VNET_ID, "/properties/provisioningState", "Shelved")
    return world


HELD = annotated(VNET, **{"gitsync/hold": "until 2026-03-02, incident"})
SKIPPED = annotated(VNET, **{"serviceoperator.azure.com/reconcile-policy": "skip"})
CHANGED = VNET.replace("10.0.0.0/16", "10.8.0.0/16")


@pytest.mark.parametrize("net", [VNET, CHANGED, HELD, SKIPPED], ids=["same", "changed in git", "held", "only read"])
def test_a_plan_does_not_call_an_unknown_state_in_sync(tmp_path, net):
    world = shelve(tmp_path)
    before = world.clock.elapsed
    report = world.says(group=GROUP, net=net).plan()
    found = of(report, "VirtualNetwork")
    assert (found.verdict, found.outcome, found.is_fine) == (Verdict.UNKNOWN, Outcome.BLOCKED, False)
    assert "state Shelved unknown" in found.condition.message
    assert world.clock.elapsed - before < 1, "only a sync waits for the end"
    lines = text.render(report)
    assert lines.startswith("1 waiting; a sync would change nothing")
    assert "1 in-sync, 1 unknown" in lines


def test_a_sync_does_not_wait_for_an_unknown_state_of_a_held_resource(tmp_path):
    world = shelve(tmp_path)
    before = world.clock.elapsed
    found = of(world.says(group=GROUP, net=HELD).sync(), "VirtualNetwork")
    assert (found.verdict, found.condition.reason) == (Verdict.UNKNOWN, "UnknownState")
    assert world.clock.elapsed - before < 60

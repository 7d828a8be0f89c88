"""Commands about AzureResources, over a real socket: revert, hold, ignore, unmanaged, import and the plan after it."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Verdict
from tests.support.command_line import azure, run_here
from tests.support.filled_store import ROOT
from tests.support.world import World

GROUP_ID = f"{ROOT}/shop"
IN_GROUP = f"{GROUP_ID}/providers"
FLOW_ID = f"{IN_GROUP}/Microsoft.Logic/workflows/orders"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
FLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties: {state: Enabled, definition: {steps: [a]}}
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def run(world, command, *arguments, rules=()):
    """Run a command in the repository. Returns how it ended, and what it wrote to Azure."""
    with azure(store=world.store, clock=world.clock, rules=tuple(rules)) as served:
        ended = run_here(command, *arguments, folder=world.folder, **served.variables)
        return ended, [(method, path) for method, path, _ in served.sent("PUT", "PATCH", "DELETE", "POST")]


def annotate(name, value):
    return FLOW.replace("{name: orders}", f'{{name: orders, annotations: {{{name}: "{value}"}}}}')


def test_revert_writes_the_drift(world):
    world.says(group=GROUP, flow=FLOW).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    options = ("--status-dir", str(world.state), "--checks", "none", "--who", "off")
    ended, writes = run(world, "revert", "AzureResource/orders", *options)
    assert (ended.code, writes) == (0, [("PUT", FLOW_ID)])
    assert "spec.body.properties.state" in ended.out
    again, writes = run(world, "revert", "orders", *options)
    assert (again.code, writes) == (0, [])


def test_a_hold_leaves_the_drift(world):
    world.says(group=GROUP, flow=FLOW).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    held = world.says(group=GROUP, flow=annotate("gitsync/hold", "until 2026-03-02, incident")).sync()
    assert [result.verdict for result in held.results if result.key.name == "orders"] == [Verdict.HELD]
    assert world.writes == []


@pytest.mark.parametrize("ignored", ["/properties/state", "spec.body.properties.state"])
def test_an_ignored_field_has_no_drift(world, ignored):
    flow = annotate("gitsync/ignore", f"[{ignored}]")
    world.says(group=GROUP, flow=flow).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}
    world.somebody_changes(FLOW_ID, {"/properties/definition/steps": ["b"]})
    drifted = next(result for result in world.plan().results if result.key.name == "orders")
    assert [difference.path for difference in drifted.differences] == ["/properties/definition/steps"]

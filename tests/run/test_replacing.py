"""Resources that are deleted and created again: with consent, in one run, and in the next one if that is killed."""

from __future__ import annotations

import pytest

from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, of

FAR = VNET.replace("westeurope", "northeurope")
AGREED = FAR.replace("metadata:\n", "metadata:\n      annotations: {gitsync/replace: location=northeurope}\n")
SUBNET_ID = f"{VNET_ID}/subnets/one"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_sync_deletes_children_first_and_creates_all_again(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, network=AGREED, subnet=SUBNET)
    planned = of(world.plan(prune=True, max_deletes=10), "VirtualNetwork")
    assert (planned.action, planned.outcome, planned.is_fine) == (Action.REPLACE, Outcome.CHANGED, True)
    report = world.sync(prune=True, max_deletes=10)
    network = of(report, "VirtualNetwork")
    assert world.writes == [f"DELETE {SUBNET_ID}", f"DELETE {VNET_ID}", f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"]
    assert (report.exit_code, network.action, network.verdict) == (0, Action.REPLACE, Verdict.PENDING)
    assert network.replacement.away is not None
    assert network.record.operation is None
    assert of(report, "VirtualNetworksSubnet").action is Action.CREATE
    again = world.sync(prune=True, max_deletes=10)
    assert (again.exit_code, world.writes) == (0, [])

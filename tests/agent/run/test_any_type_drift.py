"""Runs over an AzureResource: what Azure alone sets is sent as it is written, and is never drift."""

from __future__ import annotations

from typing import Any

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.agent.run.test_any_types import FLOW, FLOW_ID, GROUP, find
from tests.support.world import World, of

IDENTITY = FLOW_ID.replace("Microsoft.Logic/workflows/orders", "Microsoft.ManagedIdentity/userAssignedIdentities/flow")
CALLERS = "{triggers: {allowedCallerIpAddresses: [{addressRange: 10.0.0.1/32}, {addressRange: 10.0.0.2/32}]}}"
STATED = FLOW.replace("state: Enabled", f"state: Enabled\n      version: '1'\n      accessControl: {CALLERS}").replace(
    "location: westeurope",
    f"location: westeurope\n    identity: {{type: UserAssigned, userAssignedIdentities: {{{IDENTITY}: {{}}}}}}",
)
SWAPPED = [{"addressRange": "10.0.0.2/32"}, {"addressRange": "10.0.0.1/32"}]
LIST = "/properties/accessControl/triggers/allowedCallerIpAddresses"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


CHANGES: list[tuple[dict[str, Any], Verdict, str]] = [
    ({"/properties/version": "2"}, Verdict.DRIFTED, "Azure took it from git, though its type is read-only"),
    ({"/properties/state": "ENABLED"}, Verdict.IN_SYNC, "a choice in another case"),
    ({LIST: SWAPPED}, Verdict.IN_SYNC, "entries without names in another order"),
    ({LIST: SWAPPED[:1]}, Verdict.DRIFTED, "an entry without a name that went"),
    ({"/properties/state": "Disabled"}, Verdict.DRIFTED, "another choice"),
]


def test_a_change_in_azure(world):
    """Each row is a workflow of its own."""
    rows = range(len(CHANGES))
    world.synced(
        group=GROUP, **{f"flow{row}": STATED.replace("{name: orders}", f"{{name: orders{row}}}") for row in rows}
    )
    for row, (change, _, why) in enumerate(CHANGES):
        assert world.azure().resource(f"{FLOW_ID}{row}")["properties"]["version"] == "1", f"it is sent: {why}"
        world.somebody_changes(f"{FLOW_ID}{row}", change)
    report, again = world.sync(), world.sync()
    for row, (_, verdict, why) in enumerate(CHANGES):
        result = of(report, "AzureResource", f"orders{row}")
        assert result.verdict is verdict, why
        assert (result.action is Action.NONE) is (verdict is Verdict.IN_SYNC), why
        assert of(again, "AzureResource", f"orders{row}").action is Action.NONE, why
    assert world.writes == []


def test_a_value_that_azure_sets_is_removed_from_git(world):
    world.synced(group=GROUP, flow=STATED)
    world.says(group=GROUP, flow=STATED.replace("      version: '1'\n", "").replace("Enabled", "Disabled"))
    assert find(world.sync()).action is Action.UPDATE
    again = find(world.sync())
    assert (again.verdict, again.condition.is_ready, world.writes) == (Verdict.IN_SYNC, True, [])


def test_an_adoption_writes_nothing_for_what_proves_nothing(world):
    world.says(group=GROUP).sync()
    properties = {"state": "enabled", "version": "2", "definition": {}, "accessControl": {"triggers": {}}}
    world.somebody_creates(
        FLOW_ID,
        {
            "location": "West Europe",
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {IDENTITY.upper(): {"principalId": "p"}}},
            "properties": properties,
        },
    )
    adopted = find(world.says(group=GROUP, flow=STATED).sync())
    assert (adopted.verdict, adopted.action, world.writes) == (Verdict.ADOPT, Action.NONE, [])
    assert "/properties/version" in adopted.comparison.unverified
    assert find(world.sync()).verdict is Verdict.IN_SYNC

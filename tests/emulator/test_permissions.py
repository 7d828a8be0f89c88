"""The permissions that Azure lists at a scope."""

from dataclasses import replace

import pytest

from gitsync.emulator.settings import Denial
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, play, with_group

DENIED = replace(OPEN, denied=(Denial(scope=GROUP, action="Microsoft.Network/*/write"), Denial(principal="other")))

CASES = [
    (OPEN, SUBSCRIPTION, [], "nothing is denied"),
    (DENIED, SUBSCRIPTION, [], "what is denied in a group is not in the subscription"),
    (DENIED, GROUP, ["Microsoft.Network/*/write"], "in the group"),
]


@pytest.mark.parametrize(("settings", "scope", "expected", "why"), CASES, ids=[row[-1] for row in CASES])
def test_what_is_granted_but_for_denials(settings, scope, expected, why):
    async def scenario(azure):
        return await azure.get(f"{scope}/providers/Microsoft.Authorization/permissions")

    reply = play(with_group(scenario), settings)
    assert (reply.status, [entry["notActions"] for entry in reply.body["value"]]) == (200, [expected]), why
    assert reply.body["value"][0]["actions"] == ["*"]


@pytest.mark.parametrize(("scope", "code"), [(GROUP, "ResourceGroupNotFound"), (VNET, "ResourceGroupNotFound")])
def test_a_scope_that_does_not_exist(scope, code):
    async def scenario(azure):
        return await azure.get(f"{scope}/providers/Microsoft.Authorization/permissions")

    reply = play(scenario)
    assert (reply.status, reply.body["error"]["code"]) == (404, code)

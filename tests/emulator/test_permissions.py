"""The permissions that Azure lists at a scope."""

from dataclasses import replace

import pytest

from gitsync.emulator.settings import Denial
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, emulated

DENIED = replace(OPEN, denied=(Denial(scope=GROUP, action="Microsoft.Network/*/write"), Denial(principal="other")))

CASES = [
    (OPEN, SUBSCRIPTION, [], "nothing is denied"),
    (DENIED, SUBSCRIPTION, [], "what is denied in a group is not in the subscription"),
    (DENIED, GROUP, ["Microsoft.Network/*/write"], "in the group"),
]


@pytest.mark.parametrize(("settings", "scope", "expected", "why"), CASES, ids=[row[-1] for row in CASES])
async def test_what_is_granted_but_for_denials(settings, scope, expected, why):
    async with emulated(settings, has_group=True) as azure:
        reply = await azure.get(f"{scope}/providers/Microsoft.Authorization/permissions")
    assert (reply.status, [entry["notActions"] for entry in reply.body["value"]]) == (200, [expected]), why
    assert reply.body["value"][0]["actions"] == ["*"]


@pytest.mark.parametrize(("scope", "code"), [(GROUP, "ResourceGroupNotFound"), (VNET, "ResourceGroupNotFound")])
async def test_a_scope_that_does_not_exist(azure, scope, code):
    reply = await azure.get(f"{scope}/providers/Microsoft.Authorization/permissions")
    assert (reply.status, reply.body["error"]["code"]) == (404, code)

"""A server that does not run takes no changes."""

import pytest

from tests.extensions.asking import owner_check, pre_check, with_

GROUP = "dbforpostgresql.azure.com"


@pytest.mark.parametrize(
    ("state", "expected", "why"),
    [
        ("Ready", "", "it runs"),
        ("ready", "", "states have no case"),
        ("Succeeded", "", "it stands still"),
        ("Stopped", 'Flexible Server is in state "Stopped"', "until somebody starts it"),
        ("Updating", 'Flexible Server is in state "Updating"', "busy"),
        ("", 'Flexible Server is in state ""', "an empty state is a state"),
        (None, "", "no state, no objection"),
    ],
)
async def test_the_own_state(state, expected, why):
    assert await pre_check(GROUP, "FlexibleServer", with_(state=state)) == expected, why


@pytest.mark.parametrize(
    ("kind", "state", "expected", "why"),
    [
        ("FlexibleServersDatabase", "Ready", "", "it runs"),
        ("FlexibleServersDatabase", "Stopped", 'Owning FlexibleServer is in state "Stopped"', "nothing runs there"),
        ("FlexibleServersFirewallRule", "Starting", 'Owning FlexibleServer is in state "Starting"', "busy"),
        ("FlexibleServersFirewallRule", None, "", "no state, no objection"),
        ("FlexibleServersConfiguration", "Stopped", "", "no check of its own"),
    ],
)
async def test_the_owners_state(kind, state, expected, why):
    assert await owner_check(GROUP, kind, with_(state=state)) == expected, why


async def test_the_provisioning_state_is_not_asked():
    assert await pre_check(GROUP, "FlexibleServer", with_(provisioningState="Updating")) == ""

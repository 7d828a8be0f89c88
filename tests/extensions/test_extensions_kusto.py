"""A cluster takes no changes before it runs."""

import pytest

from tests.extensions.asking import owner_check, pre_check, with_

GROUP = "kusto.azure.com"


@pytest.mark.parametrize(
    ("kind", "state", "expected", "why"),
    [
        ("Cluster", "Creating", 'Cluster is in provisioning state "Creating"', "busy"),
        ("Cluster", "Succeeded", "", "it stands still"),
        ("Database", "Creating", "", "a database's own state is not asked"),
    ],
)
async def test_the_own_state(kind, state, expected, why):
    assert await pre_check(GROUP, kind, with_(provisioningState=state)) == expected, why


@pytest.mark.parametrize(
    ("kind", "state", "expected", "why"),
    [
        ("Database", "Running", 'Owning cluster is in provisioning state "Running"', "running is a transient state"),
        ("Database", "Succeeded", "", "the cluster stands still"),
        ("Database", None, "", "no state, no objection"),
        ("DataConnection", "Running", "", "no check of its own"),
    ],
)
async def test_the_owners_state(kind, state, expected, why):
    assert await owner_check(GROUP, kind, with_(provisioningState=state)) == expected, why

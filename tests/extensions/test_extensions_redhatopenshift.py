"""A cluster that is being deleted."""

import pytest

from tests.extensions.asking import pre_check, with_

GROUP = "redhatopenshift.azure.com"


@pytest.mark.parametrize(
    ("state", "expected", "why"),
    [
        ("Deleting", "reconcile blocked while cluster is at status deleting", "it is on its way out"),
        ("DELETING", "reconcile blocked while cluster is at status deleting", "states have no case"),
        ("Updating", "", "only a delete is waited for here"),
        (None, "", "no state, no objection"),
    ],
)
async def test_the_own_state(state, expected, why):
    assert await pre_check(GROUP, "HcpOpenShiftCluster", with_(provisioningState=state)) == expected, why

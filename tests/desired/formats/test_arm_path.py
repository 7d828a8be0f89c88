from __future__ import annotations

from gitsync.desired.formats.arm_path import read_provider
from tests.support.builders import group_id, vnet_id


def test_the_provider_of_an_id():
    assert read_provider(vnet_id()) == "Microsoft.Network"
    assert (
        read_provider(f"{vnet_id()}/providers/Microsoft.Authorization/roleAssignments/x") == "Microsoft.Authorization"
    )
    assert read_provider(group_id()) == "Microsoft.Resources"

from __future__ import annotations

import pytest
from builders import group_id, prepared, rg, vnet, vnet_id

from gitsync.manifests.selection import Choice, chosen, unmatched
from gitsync.model.policy import Policy


@pytest.mark.parametrize(
    ("choice", "expected", "why"),
    [
        (Choice(), True, "everything"),
        (Choice(only=("VirtualNetwork/hub",)), True, "by kind and name"),
        (Choice(only=("VirtualNetwork.network.azure.com/default/hub",)), True, "by key"),
        (Choice(only=("*/hub",)), True, "by pattern"),
        (Choice(only=("virtualnetwork/hub",)), False, "names have case"),
        (Choice(namespaces=("other",)), False, "another namespace"),
        (Choice(only=("*/hub",), namespaces=("default",)), True, "both must hold"),
    ],
)
def test_what_a_choice_has(choice, expected, why):
    assert choice.has(vnet("hub")) is expected, why


def test_what_the_chosen_depend_on_is_only_looked_at():
    both = [prepared(rg(), group_id()), prepared(vnet(), vnet_id(), depends_on=(rg(),))]
    found = {one.key: one.policy for one in chosen(both, Choice(only=("VirtualNetwork/*",)))}
    assert found == {vnet(): Policy.MANAGE, rg(): Policy.SKIP}


def test_a_name_that_nothing_has_is_told():
    assert unmatched([vnet("hub")], Choice(only=("VirtualNetwork/hub", "VirtualNetwork/hubb"))) == (
        "VirtualNetwork/hubb",
    )

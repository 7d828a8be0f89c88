from __future__ import annotations

import pytest
from builders import group_id, prepared, rg, vnet, vnet_id

from gitsync.manifests.selection import Selection, find_unmatched, select_prepared
from gitsync.model.policy import Policy


@pytest.mark.parametrize(
    ("choice", "expected", "why"),
    [
        (Selection(), True, "everything"),
        (Selection(only=("VirtualNetwork/hub",)), True, "by kind and name"),
        (Selection(only=("VirtualNetwork.network.azure.com/default/hub",)), True, "by key"),
        (Selection(only=("*/hub",)), True, "by pattern"),
        (Selection(only=("virtualnetwork/hub",)), False, "names have case"),
        (Selection(namespaces=("other",)), False, "another namespace"),
        (Selection(only=("*/hub",), namespaces=("default",)), True, "both must hold"),
    ],
)
def test_what_a_choice_has(choice, expected, why):
    assert choice.has(vnet("hub")) is expected, why


def test_what_the_chosen_depend_on_is_only_looked_at():
    both = [prepared(rg(), group_id()), prepared(vnet(), vnet_id(), depends_on=(rg(),))]
    found = {one.key: one.policy for one in select_prepared(both, Selection(only=("VirtualNetwork/*",)))}
    assert found == {vnet(): Policy.MANAGE, rg(): Policy.SKIP}


def test_a_name_that_nothing_has_is_told():
    assert find_unmatched([vnet("hub")], Selection(only=("VirtualNetwork/hub", "VirtualNetwork/hubb"))) == (
        "VirtualNetwork/hubb",
    )

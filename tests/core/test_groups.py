from __future__ import annotations

from dataclasses import replace

import pytest
from builders import group_id, prune, rg, vnet, vnet_id

from gitsync.core.groups import absorbed, doomed_groups

PRUNES = {rg(): prune(rg(), group_id(), depends_on=(vnet(),)), vnet(): prune(vnet(), vnet_id())}


@pytest.mark.parametrize(
    ("listed", "taken", "why"),
    [
        ([vnet_id()], True, "all it holds is ours and goes"),
        ([vnet_id().upper()], True, "ids have no case"),
        ([], True, "what a list does not show goes all the same"),
        ([vnet_id(), vnet_id("stranger")], False, "something else is in there"),
    ],
)
def test_a_group_takes_its_content_along_where_all_of_it_is_ours(listed, taken, why):
    nodes = absorbed(PRUNES, {rg(): listed})
    assert (nodes[vnet()].within == rg()) is taken, why
    assert (nodes[rg()].depends_on == ()) is taken
    assert nodes[rg()].carries == ((vnet_id(),) if taken else ())


def test_a_group_with_something_held_in_it_is_not_asked():
    held = {**PRUNES, vnet(): replace(PRUNES[vnet()], held="It is needed.")}
    assert doomed_groups(PRUNES) == [PRUNES[rg()]]
    assert doomed_groups(held) == []

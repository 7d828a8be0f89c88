from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.plan import Prune
from gitsync.planning.delete_scope import absorb_content, list_deleted_groups
from tests.support.builders import group_id, prune, rg, vnet, vnet_id

PRUNES = {rg(): prune(rg(), group_id(), depends_on=(vnet(),)), vnet(): prune(vnet(), vnet_id())}


SUBNET_ID = f"{vnet_id()}/subnets/one"


def planned(**ids: str) -> dict[Key, Prune]:
    """Prunes of the group and of these resources in it, by name; the group waits for all of them."""
    inside = {vnet(name): prune(vnet(name), arm_id) for name, arm_id in ids.items()}
    return {rg(): prune(rg(), group_id(), depends_on=tuple(inside)), **inside}


@pytest.mark.parametrize(
    ("listed", "going", "why"),
    [
        ([vnet_id()], {"hub", "one"}, "a subnet shows in no list, and goes with its network"),
        ([vnet_id().upper()], {"hub", "one"}, "ids have no case"),
        ([f"{vnet_id()}/"], {"hub", "one"}, "nor does a slash at the end matter"),
        ([vnet_id(), vnet_id("stranger")], set(), "something else is in there"),
        ([], set(), "what the list does not show may be there, and so may be something else"),
    ],
)
def test_what_a_list_shows_as_ours_goes_with_its_group(listed, going, why):
    nodes = absorb_content(planned(hub=vnet_id(), one=SUBNET_ID), {rg(): [*map(ArmId, listed)]})
    content = {vnet("hub"), vnet("one")}
    assert {key.name for key in content if nodes[key].within == rg()} == going, why
    assert {key.name for key in nodes[rg()].depends_on} == {"hub", "one"} - going
    assert {record.key.name for record in nodes[rg()].carries} == going


def test_what_a_list_leaves_out_goes_first_by_itself():
    prunes = planned(hub=vnet_id(), role=f"{group_id()}/providers/Microsoft.Authorization/roleAssignments/x")
    nodes = absorb_content(prunes, {rg(): [vnet_id()]})
    assert nodes[vnet("hub")].within == rg()
    assert nodes[vnet("role")].within is None
    assert nodes[rg()].depends_on == (vnet("role"),)


def test_what_goes_before_something_that_is_left_out_goes_by_itself_too():
    """Its group would wait for what waits for the group."""
    prunes = planned(hub=vnet_id(), other=vnet_id("other"), far=vnet_id("far"))
    prunes[vnet("hub")] = replace(prunes[vnet("hub")], depends_on=(vnet("far"),))
    nodes = absorb_content(prunes, {rg(): [vnet_id("other"), vnet_id("far")]})
    assert {key.name for key in nodes[rg()].depends_on} == {"hub", "far"}
    assert nodes[vnet("other")].within == rg()
    TopologicalSorter({key: node.depends_on for key, node in nodes.items()}).prepare()


def test_two_groups_do_not_wait_for_each_other():
    """Each holds something that goes before the other group."""
    one, two = vnet("one"), vnet("two")
    prunes = {
        rg("a"): prune(rg("a"), group_id("a"), depends_on=(one, two)),
        rg("b"): prune(rg("b"), group_id("b"), depends_on=(one, two)),
        one: prune(one, vnet_id("one", "a")),
        two: prune(two, vnet_id("two", "b")),
    }
    nodes = absorb_content(prunes, {rg("a"): [vnet_id("one", "a")], rg("b"): [vnet_id("two", "b")]})
    TopologicalSorter({key: node.depends_on for key, node in nodes.items()}).prepare()


def test_what_cannot_be_deleted_goes_with_what_it_is_in():
    prunes = planned(hub=vnet_id())
    prunes[vnet("part")] = prune(vnet("part"), f"{vnet_id()}/parts/x", within=vnet("hub"), depends_on=(vnet("hub"),))
    assert absorb_content(prunes, {rg(): []})[vnet("part")].within == vnet("hub")
    assert absorb_content(prunes, {rg(): [vnet_id()]})[vnet("part")].within == rg()


def test_a_group_with_something_held_in_it_is_not_asked():
    held = {**PRUNES, vnet(): replace(PRUNES[vnet()], kept_because="It is needed.")}
    assert list_deleted_groups(PRUNES) == [PRUNES[rg()]]
    assert list_deleted_groups(held) == []

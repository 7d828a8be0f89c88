"""What a run skips holds back the delete of what it is in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.plan import RestOfSource
from gitsync.model.policy import Policy
from gitsync.model.record import Claim
from gitsync.planning.delete_scope import spare_bystanders
from gitsync.planning.plan import make_plan
from tests.support.builders import group_id, prepared, record, rg, subnet, vnet, vnet_id
from tests.support.parts import change

GROUP = record(rg(), group_id())
NET = record(vnet(), vnet_id())
SUBNET = record(subnet(), f"{vnet_id()}/subnets/one")


def records(*entries):
    return {entry.key: entry for entry in entries}


def held(plan, every=()):
    return {key.name for key, node in spare_bystanders(plan, records(*every)).prunes.items() if node.held}


@pytest.mark.parametrize(
    ("beside", "expected", "why"),
    [
        ((), set(), "nothing else is on record"),
        ((SUBNET,), {"core", "hub"}, "a record that was not chosen, or another agent's"),
        ((replace(SUBNET, claim=Claim.EXPECTED),), {"core", "hub"}, "what may have been made"),
        ((replace(SUBNET, claim=Claim.NONE),), set(), "what was never there"),
        ((change(SUBNET, claim=Claim.NONE, policy=Policy.SKIP),), {"core", "hub"}, "what is only watched"),
        ((replace(SUBNET, arm_id=vnet_id()),), {"core", "hub"}, "the same resource under another name"),
        ((replace(SUBNET, arm_id=vnet_id("hub2")),), {"core"}, "a name that begins alike is another resource"),
        ((replace(SUBNET, arm_id=vnet_id("x", "core2")),), set(), "another group"),
    ],
)
def test_what_is_on_record_beside_the_plan_holds_what_it_is_in(beside, expected, why):
    plan = make_plan([], records(GROUP, NET))
    assert held(plan, (GROUP, NET, *beside)) == expected, why


def test_what_is_below_a_held_resource_is_held_with_it():
    two = record(subnet("two"), f"{vnet_id()}/subnets/two")
    assert held(make_plan([], records(GROUP, NET, two)), (GROUP, NET, two, SUBNET)) == {"core", "hub", "two"}


def test_a_manifest_that_was_not_chosen_holds_what_it_is_in():
    around = RestOfSource(others=(prepared(subnet(), SUBNET.arm_id),))
    assert held(make_plan([], records(GROUP, NET), around=around), (GROUP, NET)) == {"core", "hub"}


def test_a_manifest_without_an_id_yet_is_where_it_is_on_record():
    later = replace(prepared(subnet(), ""), arm_id=None)
    plan = make_plan([later], records(GROUP, NET, SUBNET))
    assert held(plan, (GROUP, NET, SUBNET)) == {"core", "hub"}


def test_what_git_has_elsewhere_by_now_holds_its_old_group():
    """No list shows subnets, so none would show that this one is still there. Its network is held as the owner that the
    manifest names.
    """
    moved = prepared(subnet(), f"{vnet_id('new', 'new')}/subnets/one")
    plan = make_plan([moved], records(GROUP, NET, SUBNET))
    assert held(plan, (GROUP, NET, SUBNET)) == {"core", "hub"}

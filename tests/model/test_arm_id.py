from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.arm_id import MOST_STEPS, NO_ID, ArmId
from tests.support.builders import SUBSCRIPTION, group_id, vnet_id

SUB = f"/subscriptions/{SUBSCRIPTION}"
RG = f"{SUB}/resourceGroups/core"
SUBNET = f"{vnet_id()}/subnets/one"
ROLE = "providers/Microsoft.Authorization/roleAssignments/reader"

STEPS = st.lists(st.text("abAB", min_size=1, max_size=3), min_size=1, max_size=6)
IDS = st.builds(lambda steps, end: ArmId("/" + "/".join(steps) + end), STEPS, st.sampled_from(["", "/"]))


# How ids compare.


@given(IDS)
def test_case_and_a_slash_at_the_end_make_no_difference(arm_id):
    for same in (arm_id.upper(), arm_id.lower(), arm_id.rstrip("/"), f"{arm_id}/"):
        other = ArmId(same)
        assert arm_id.is_same(other)
        assert arm_id.key == other.key
        assert (arm_id.is_within(other), arm_id.is_below(other)) == (True, False)


@given(IDS, IDS, IDS)
def test_what_is_below_is_an_order(one, other, third):
    assert one.is_below(other) == (other.key in list(one.lineage)[1:])
    assert one.is_within(other) == (one.is_same(other) or one.is_below(other))
    if one.is_below(other):
        assert not other.is_within(one)
        assert one.is_below(third) or not other.is_within(third)


@pytest.mark.parametrize(
    ("child", "parent", "expected", "why"),
    [
        (vnet_id(), group_id(), True, "a resource in its group"),
        (SUBNET, group_id(), True, "at any depth"),
        (f"{vnet_id()}/{ROLE}", vnet_id(), True, "an extension of it"),
        (vnet_id().upper(), group_id() + "/", True, "in any spelling"),
        (group_id("core2"), group_id("core"), False, "core2 only begins like core"),
        (group_id(), group_id(), False, "it is not below itself"),
        (group_id(), vnet_id(), False, "nor below its content"),
    ],
)
def test_what_is_below(child, parent, expected, why):
    assert ArmId(child).is_below(ArmId(parent)) is expected, why


def test_no_id_is_like_none():
    assert not ArmId(RG).is_same(None)
    assert not ArmId(RG).is_same(NO_ID)
    assert not NO_ID
    assert list(NO_ID.lineage) == []


def test_an_id_equals_its_text_as_it_is_written():
    """A record has changed if the spelling of its id has, and a dict of texts finds an id by the same text."""
    assert ArmId(RG) == RG
    assert ArmId(RG) != ArmId(RG.upper())
    assert {RG: 1}[ArmId(RG)] == 1


# Its lineage.


def test_the_lineage_leads_from_an_id_to_all_that_contains_it():
    found = list(ArmId(vnet_id() + "/").lineage)
    assert found[0] == vnet_id().key
    assert group_id().key in found
    assert found == sorted(found, reverse=True)
    assert len(found) == vnet_id().count("/")


def test_the_lineage_of_a_text_that_is_not_an_id_is_bounded():
    """All parents together would have the square of its length."""
    found = list(ArmId("/a" * 100_000).lineage)
    assert (len(found[0]), len(found)) == (200_000, MOST_STEPS)


# Its parts.


@pytest.mark.parametrize(
    ("arm_id", "expected"),
    [
        (RG, SUB),
        (vnet_id(), RG),
        (SUBNET, vnet_id()),
        (f"{vnet_id()}/{ROLE}", vnet_id()),
        (f"{RG}/{ROLE}", RG),
        (f"{SUB}/{ROLE}", SUB),
        ("/providers/Microsoft.Subscription/aliases/x", ""),
    ],
)
def test_the_parent(arm_id, expected):
    assert ArmId(arm_id).parent == expected


@pytest.mark.parametrize(
    ("arm_id", "expected"),
    [
        (SUB, "Microsoft.Resources/subscriptions"),
        (RG, "Microsoft.Resources/resourceGroups"),
        (f"{RG}/providers/Microsoft.Kusto/clusters/c", "Microsoft.Kusto/clusters"),
        (f"{RG}/providers/Microsoft.Kusto/clusters/c/databases/d", "Microsoft.Kusto/clusters/databases"),
        (f"{RG}/providers/Microsoft.X/a/b/providers/Microsoft.Y/c/d", "Microsoft.Y/c"),
        (f"{RG}/PROVIDERS/Microsoft.X/a/b", "Microsoft.X/a"),
    ],
)
def test_the_type(arm_id, expected):
    assert ArmId(arm_id).arm_type == expected


@pytest.mark.parametrize(
    ("arm_id", "expected"),
    [
        (SUBNET, (SUBSCRIPTION, "core", "one")),
        (f"{SUBNET}/", (SUBSCRIPTION, "core", "one")),
        (vnet_id().upper(), (SUBSCRIPTION, "CORE", "HUB")),
        (SUB, (SUBSCRIPTION, None, SUBSCRIPTION)),
        ("/providers/Microsoft.Subscription/aliases/x", (None, None, "x")),
    ],
)
def test_subscription_group_and_name(arm_id, expected):
    one = ArmId(arm_id)
    assert (one.subscription, one.resource_group, one.name) == expected


# As a text.


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda dump: pickle.loads(pickle.dumps(dump))])
@pytest.mark.parametrize("is_used", [False, True])
def test_a_copy_is_an_id_with_the_same_text(make, is_used):
    parsed_id = ArmId(RG)
    assert not is_used or parsed_id.key
    other = make(parsed_id)
    assert (type(other), other, other.key) == (ArmId, RG, parsed_id.key)


def test_it_is_written_as_a_text():
    assert json.dumps({"id": ArmId(RG)}) == json.dumps({"id": RG})
    assert f"{ArmId(RG)}" == str(ArmId(RG)) == RG
    assert type(str(ArmId(RG))) is str

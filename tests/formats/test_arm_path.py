from __future__ import annotations

from gitsync.formats.arm_path import (
    MOST_STEPS,
    find_subscription,
    is_below,
    is_same_id,
    iterate_ancestors,
    read_provider,
)
from tests.support.builders import SUBSCRIPTION, group_id, vnet_id


def test_ids_compare_without_case_and_by_whole_steps():
    assert is_same_id(vnet_id(), vnet_id().upper() + "/")
    assert is_below(vnet_id(), group_id().upper())
    assert not is_below(group_id("core2"), group_id("core")), "core2 is not below core"
    assert not is_below(group_id(), group_id())


def test_upwards_leads_from_an_id_to_all_that_contains_it():
    found = list(iterate_ancestors(vnet_id() + "/"))
    assert found[0] == vnet_id().casefold()
    assert group_id().casefold() in found
    assert found == sorted(found, reverse=True)
    assert len(found) == vnet_id().count("/")
    assert list(iterate_ancestors("")) == []


def test_what_an_id_is_about():
    assert find_subscription(vnet_id()) == SUBSCRIPTION
    assert find_subscription("/providers/Microsoft.Subscription/aliases/x") is None
    assert read_provider(vnet_id()) == "Microsoft.Network"
    assert (
        read_provider(f"{vnet_id()}/providers/Microsoft.Authorization/roleAssignments/x") == "Microsoft.Authorization"
    )
    assert read_provider(group_id()) == "Microsoft.Resources"


def test_parents_of_a_text_that_is_not_an_id_are_bounded():
    """All parents together would have the square of its length."""
    found = list(iterate_ancestors("/a" * 100_000))
    assert (len(found[0]), len(found)) == (200_000, MOST_STEPS)

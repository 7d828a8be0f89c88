from __future__ import annotations

from builders import SUBSCRIPTION, group_id, vnet_id

from gitsync.formats.arm_path import is_below, provider_of, same_id, subscription_of, upwards


def test_ids_compare_without_case_and_by_whole_steps():
    assert same_id(vnet_id(), vnet_id().upper() + "/")
    assert is_below(vnet_id(), group_id().upper())
    assert not is_below(group_id("core2"), group_id("core")), "core2 is not below core"
    assert not is_below(group_id(), group_id())


def test_upwards_leads_from_an_id_to_all_that_it_lies_in():
    found = list(upwards(vnet_id() + "/"))
    assert found[0] == vnet_id().casefold()
    assert group_id().casefold() in found
    assert found == sorted(found, reverse=True)
    assert len(found) == vnet_id().count("/")
    assert list(upwards("")) == []


def test_what_an_id_is_about():
    assert subscription_of(vnet_id()) == SUBSCRIPTION
    assert subscription_of("/providers/Microsoft.Subscription/aliases/x") is None
    assert provider_of(vnet_id()) == "Microsoft.Network"
    assert provider_of(f"{vnet_id()}/providers/Microsoft.Authorization/roleAssignments/x") == "Microsoft.Authorization"
    assert provider_of(group_id()) == "Microsoft.Resources"

"""Names of manifests: legal, readable, unique, and the same in every import."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.workflows.imports.conversion.layout import MOST, name_manifests
from tests.workflows.imports.found import SUBSCRIPTION, at, find

NETWORK = at("Microsoft.Network/virtualNetworks/Hub_1")
ZONE = at("Microsoft.Network/dnsZones/shop.contoso.example")
ACCOUNT = at("Microsoft.Storage/storageAccounts/stuff")


@pytest.mark.parametrize(
    ("arm_id", "name", "why"),
    [
        (NETWORK, "hub-1", "lower case, and a dash for what Kubernetes does not allow"),
        (ZONE, "shop.contoso.example", "dots are allowed"),
        (f"{ZONE}/A/@", "shop.contoso.example-apex", "the record of the zone itself"),
        (f"{ZONE}/CNAME/*.dev", "shop.contoso.example-wildcard.dev", "a wildcard"),
        (f"{NETWORK}/subnets/one", "hub-1-one", "a child has the name of its parent"),
        (f"{ACCOUNT}/blobServices/default", "stuff", "a fixed name says nothing"),
        (f"{ACCOUNT}/blobServices/default/containers/a", "stuff-a", "nor does that of a parent"),
        (f"{NETWORK}/providers/Microsoft.Insights/diagnosticSettings/audit", "hub-1-audit", "an extension as a child"),
        (f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleAssignments/0123456789",
         "subscription-role-01234567", "an assignment is named by its role"),
        (at("Microsoft.Network/virtualNetworks/ü"), "unnamed", "nothing legal is left"),
        (at("Microsoft.Network/virtualNetworks/" + "a" * 300), None, "too long for Kubernetes"),
    ],
)  # fmt: skip
def test_a_name_shows_which_resource_it_is(arm_id, name, why):
    found = name_manifests([find(arm_id)])[arm_id]
    assert found == name or (name is None and len(found) == MOST), why


def test_names_that_meet_get_the_name_of_their_group():
    one, other = (at("Microsoft.Network/virtualNetworks/hub", group) for group in ("Core", "Edge"))
    assert name_manifests([find(one), find(other)]) == {one: "core-hub", other: "edge-hub"}


def test_a_name_of_an_existing_manifest_is_not_taken():
    hub = at("Microsoft.Network/virtualNetworks/hub")
    assert name_manifests([find(hub)], {("network.azure.com", "VirtualNetwork", "hub")}) == {hub: "core-hub"}


IDS = st.lists(
    st.builds(
        at,
        st.builds(
            "Microsoft.Network/virtualNetworks/{}{}".format,
            st.text("aB-_.@é", min_size=1, max_size=3),
            st.sampled_from(["", "/subnets/a", "/subnets/A-a", "/virtualNetworkPeerings/a"]),
        ),
        st.sampled_from(["a", "A", "a-b"]),
    ),
    unique_by=str.casefold,
    max_size=8,
)


@given(IDS, st.randoms(use_true_random=False))
def test_names_are_legal_unique_and_do_not_depend_on_the_order(arm_ids, chance: random.Random):
    resources = [find(arm_id) for arm_id in arm_ids]
    names = name_manifests(resources)
    assert set(names) == set(arm_ids)
    assert all(
        re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", name)
        for name in names.values()
    )
    assert len({(resource.kind.gvk.kind, names[resource.arm_id]) for resource in resources}) == len(resources)
    chance.shuffle(resources)
    assert name_manifests(resources) == names

"""Which lists a run requests: the fewest requests, from the counts of the plan; and which resources it samples."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.collections import list_collections
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.plan import Apply
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, PendingOperation
from gitsync.planning.list_cover import ROTATION, ListedResource, choose_cover, is_sampled, may_be_listed
from gitsync.planning.status.conditions import READY, RECONCILING
from tests.support.builders import prepared, record, vnet, vnet_id
from tests.support.parts import change

VAULT = ("keyvault.azure.com", "Vault", "Microsoft.KeyVault/vaults")
QUEUE = ("servicebus.azure.com", "NamespacesQueue", "Microsoft.ServiceBus/namespaces/{parent}/queues")
GATEWAY = ("network.azure.com", "VirtualNetworkGateway", "Microsoft.Network/virtualNetworkGateways")


def listed(catalog, sort, location, *, version=-1, principal="me"):
    """A resource at "subscription/group/name", or "subscription/group/parent/name"."""
    api_group, kind, path = sort
    subscription, group, *parent, name = location.split("/")
    known = catalog.kind(GVK(api_group, catalog.versions(api_group, kind)[version], kind))
    below = path.format(parent=parent[0] if parent else "")
    arm_id = f"/subscriptions/{subscription}/resourceGroups/{group}/providers/{below}/{name}"
    return ListedResource(
        key=Key(api_group, kind, principal, location),
        arm_id=ArmId(arm_id),
        api_version=known.api_version,
        principal=principal,
        collections=list_collections(known, ArmId(arm_id)),
    )


COVERS = [
    (VAULT, ["s/a/1"], [0], "one resource is read"),
    (VAULT, ["s/a/1", "s/a/2"], [1, 1], "two in a group: that group's list"),
    (VAULT, ["s/a/1", "s/b/1"], [1, 1], "one in each of two groups: the subscription's list"),
    (VAULT, ["s/a/1", "s/a/2", "s/b/1"], [2, 2, 1], "the subscription's, or else the group's where it has two"),
    (VAULT, ["s/a/1", "t/a/1"], [0, 0], "no list is of two subscriptions"),
    (VAULT, ["s/a/1", "s/A/2"], [1, 1], "ids compare without case"),
    (QUEUE, ["s/a/bus/1", "s/a/bus/2", "s/a/train/1"], [1, 1, 0], "children are listed below their parents alone"),
    (GATEWAY, ["s/a/1", "s/b/1"], [0, 0], "gateways have no list in a subscription"),
]


@pytest.mark.parametrize(("sort", "locations", "lengths", "why"), COVERS, ids=[row[-1] for row in COVERS])
def test_a_list_is_requested_if_it_replaces_two_requests(catalog, sort, locations, lengths, why):
    resources = [listed(catalog, sort, location) for location in locations]
    chains = choose_cover(resources).chains
    assert [len(chains[resource.key]) for resource in resources] == lengths, why


def test_the_widest_list_comes_first_and_has_what_it_replaces(catalog):
    one, other, alone = (listed(catalog, VAULT, location) for location in ("s/a/1", "s/a/2", "s/b/1"))
    cover = choose_cover([one, other, alone])
    wide, narrow = cover.chains[one.key]
    assert wide.path == "/subscriptions/s/providers/Microsoft.KeyVault/vaults"
    assert narrow.path == "/subscriptions/s/resourceGroups/a/providers/Microsoft.KeyVault/vaults"
    assert set(cover.wanted[wide]) == {resource.arm_id.casefold() for resource in (one, other, alone)}
    assert len(set(cover.wanted[wide].values())) == 2, "a list of the group with two, and a list or a read of the other"
    assert set(cover.wanted[narrow].values()) == {one.key, other.key}


def test_lists_are_not_shared_by_api_versions_or_principals(catalog):
    resources = [
        listed(catalog, VAULT, "s/a/1"),
        listed(catalog, VAULT, "s/a/2", version=0),
        listed(catalog, VAULT, "s/a/3", principal="somebody else"),
    ]
    assert set(choose_cover(resources).chains.values()) == {()}


DONE = record(vnet(), vnet_id(), applied={"a": 1}, baseline={"a": 1}, condition=READY)
REQUESTED = prepared(vnet(), vnet_id())


@pytest.mark.parametrize(
    ("may", "changes", "manifest", "why"),
    [
        (True, {}, {}, "the last run left it Ready"),
        (True, {"claim": Claim.ADOPTED}, {}, "an adopted one is ours too"),
        (False, {"claim": Claim.EXPECTED}, {}, "it may not exist yet"),
        (False, {"baseline": None}, {}, "nothing is known of what Azure showed"),
        (False, {"applied": None}, {}, "nor of what was sent"),
        (False, {"condition": RECONCILING}, {}, "it was not Ready, and a list must not change that"),
        (False, {"condition": None}, {}, "nothing is known of its condition"),
        (False, {"operation": PendingOperation("update", "2026-01-01T00:00:00Z")}, {}, "an operation goes on"),
        (False, {"arm_api_version": "2019-01-01"}, {}, "its baseline is of another api-version"),
        (False, {"arm_id": vnet_id("old")}, {}, "its id has changed"),
        (False, {}, {"policy": Policy.SKIP}, "it is only read"),
        (False, {}, {"written_by": vnet("other")}, "another manifest writes it"),
        (False, {}, {"is_watched": True}, "it is outside of the run"),
        (False, {}, {"id_doubt": "A value is not known."}, "a plan is not sure of its id"),
        (False, {}, {"template": None}, "its manifest is invalid"),
    ],
)
def test_lists_cover_what_the_last_run_left_ready(may, changes, manifest, why):
    apply = Apply(prepared=change(REQUESTED, **manifest), record=change(DONE, **changes))
    assert may_be_listed(apply) is may, why


def test_what_is_new_moved_or_held_is_read():
    assert not may_be_listed(Apply(prepared=REQUESTED))
    assert not may_be_listed(Apply(prepared=REQUESTED, record=DONE, moved_from=vnet("former")))
    assert not may_be_listed(Apply(prepared=REQUESTED, record=DONE, skipped_because=RECONCILING))


@given(name=st.text(max_size=9), start=st.dates(date(2020, 1, 1), date(2100, 1, 1)))
def test_a_resource_is_in_the_sample_once_in_a_rotation(name, start):
    days = [start + timedelta(days=number) for number in range(ROTATION)]
    assert sum(is_sampled(vnet(name), day) for day in days) == 1


def test_one_in_fifty_is_in_the_sample_of_a_day():
    count = sum(is_sampled(vnet(f"hub-{number}"), date(2026, 11, 22)) for number in range(5000))
    assert 70 <= count <= 130

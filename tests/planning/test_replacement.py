"""Which changes need a delete and a create, and what the delete takes along."""

from __future__ import annotations

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.reconcile_policy import Policy
from gitsync.model.result import Replacement, Result
from gitsync.model.verdict import Difference, Verdict
from gitsync.planning.replacement import add_takes, find_replacement, list_takes, make_move
from gitsync.planning.status.conditions import make_error
from tests.support.builders import group_id, record, rg, subnet, vnet, vnet_id
from tests.support.parts import build

CLUSTER = "Microsoft.ContainerService/managedClusters"
POOL = f"{CLUSTER}/agentPools"
REFUSAL = make_error("PropertyChangeNotAllowed", "Changing property 'properties.upgradeSettings' is not allowed.")

CHANGES = [
    ("/location", "westeurope", "northeurope", "another region", "a region is fixed for every type"),
    ("/location", "West Europe", "westeurope", None, "another spelling of a region is none"),
    ("/location", None, "westeurope", None, "what Azure lacks, it may take"),
    ("/properties/dnsPrefix", "a", "b", "Azure fixes /properties/dnsPrefix", "a field of the table"),
    ("/properties/dnsPrefix", "a", None, None, "git leaves it out, and Azure keeps it"),
    ("/properties/dnsPrefix/x", "a", "b", "Azure fixes", "all below a fixed field"),
    ("/properties/dnsPrefixes", "a", "b", None, "a name that only begins alike"),
    ("/properties/dnsServiceIP", "a", "b", None, "unknown is never fixed"),
    ("/tags/location", "a", "b", None, "a tag of that name"),
]


@pytest.mark.parametrize(("path", "live", "desired", "expected", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_a_change_that_azure_refuses_in_place(path, live, desired, expected, why):
    found = find_replacement(CLUSTER.upper(), [Difference(path, desired, live, "exact")])
    assert (expected is None and found is None) or (found is not None and expected in found.reason), why


NAMED = [
    ("Changing property 'properties.upgradeSettings' is not allowed.", True, "the field"),
    ("Changing property 'upgradeSettings' is not allowed.", True, "without properties, as Compute writes it"),
    ("Changing property 'upgradeSettings.maxSurge' is not allowed.", True, "case is Azure's"),
    ("Changing property 'properties.osType' is not allowed.", False, "another field was refused"),
    ("Changing property 'upgradeSettings.maxSurge.x' is not allowed.", False, "something below it"),
    ("The property cannot change.", False, "no field is named"),
]


@pytest.mark.parametrize(("message", "expected", "why"), NAMED, ids=[row[-1] for row in NAMED])
def test_a_field_that_azure_has_refused_by_name(message, expected, why):
    difference = Difference("/properties/upgradeSettings/maxsurge", "1", "2", "exact")
    refusal = make_error("PropertyChangeNotAllowed", message)
    assert (find_replacement(POOL, [difference], refusal) is not None) is expected, why


def test_a_difference_of_the_whole_body_is_of_no_field():
    assert find_replacement(POOL, [Difference("", {"a": 1}, {"a": 2}, "exact")], REFUSAL) is None


def test_another_code_has_no_fields():
    difference = Difference("/properties/upgradeSettings", "1", "2", "exact")
    assert find_replacement(POOL, [difference], make_error("BadRequest", REFUSAL.message)) is None
    assert find_replacement(POOL, [difference], REFUSAL) is not None


def test_the_reasons_do_not_depend_on_the_order():
    some = [Difference("/location", "a", "b", "exact"), Difference("/properties/dnsPrefix", "a", "b", "exact")]
    assert find_replacement(CLUSTER, some) == find_replacement(CLUSTER, reversed(some))


def result(key, arm_id, *, replacement=None):
    return build(
        Result,
        key=key,
        api_version="",
        source=None,
        arm_id=ArmId(arm_id),
        policy=Policy.MANAGE,
        verdict=Verdict.PENDING,
        condition=Condition(status=ConditionStatus.UNKNOWN, reason="Planned"),
        is_fine=True,
        exists=True,
        replacement=replacement,
    )


def test_a_delete_takes_along_what_is_below_in_git_and_on_record():
    needed = Replacement(reason="No.")
    results = {
        rg(): result(rg(), group_id()),
        vnet(): result(vnet(), vnet_id("renamed"), replacement=needed),
        subnet("two"): result(subnet("two"), f"{vnet_id().upper()}/subnets/two"),
    }
    records = {
        vnet(): record(vnet(), vnet_id()),
        subnet(): record(subnet(), f"{vnet_id()}/subnets/one"),
        subnet("far"): record(subnet("far"), f"{vnet_id('hub2')}/subnets/far"),
    }
    found = add_takes(results, records, {})
    assert found[vnet()].change.replacement.takes == (subnet(), subnet("two")), (
        "below the id on record, not the new one"
    )
    assert found[rg()] == results[rg()]


def test_many_names_are_counted():
    keys = [subnet(name) for name in "abc"]
    assert list_takes(keys, 2) == "VirtualNetworksSubnet/a, VirtualNetworksSubnet/b and 1 more"
    assert list_takes([], 2) == "nothing else that gitsync manages"


CORE, OTHER = "/subscriptions/1/resourceGroups/core/providers", "/subscriptions/1/resourceGroups/other/providers"
AKS, VNET = "Microsoft.ContainerService/managedClusters/a", "Microsoft.Network/virtualNetworks/hub"


@pytest.mark.parametrize(
    ("old", "new", "said", "why"),
    [
        (f"{CORE}/{VNET}", f"{OTHER}/{VNET}", f"--ids {CORE}/{VNET} --destination-group other`,", "another group"),
        (
            f"{CORE}/{VNET}",
            f"{OTHER.replace('/1/', '/2/')}/{VNET}",
            "--destination-group other --destination-subscription-id 2`,",
            "another subscription too",
        ),
        (f"{CORE}/{AKS}", f"{OTHER}/{AKS}", "Azure cannot move this type", "a type that is known to stay"),
        (f"{CORE}/{VNET}/subnets/a", f"{OTHER}/{VNET}/subnets/a", "It moves with", "a child goes with its parent"),
        (f"{CORE}/{VNET}", f"{CORE}/{VNET}s", "Azure cannot rename or move", "another name"),
        (f"{CORE}/{VNET}", f"{OTHER}/{VNET}s", "Azure cannot rename or move", "another group and name"),
        (
            f"{CORE}/{VNET}",
            f"{CORE.replace('core', 'CORE')}/{VNET}s",
            "Azure cannot rename",
            "another case of the group",
        ),
        (
            f"{CORE}/{VNET}/providers/Microsoft.Authorization/locks/a",
            f"{OTHER}/{VNET}/providers/Microsoft.Authorization/locks/a",
            "Azure cannot rename or move",
            "what extends a resource does not move with it",
        ),
        ("/subscriptions/1/resourceGroups/core", "/subscriptions/1/resourceGroups/other", "Azure cannot", "a group"),
    ],
)
def test_another_owner_group_may_be_a_move(old, new, said, why):
    assert said in make_move(ArmId(old), ArmId(new)).reason, why

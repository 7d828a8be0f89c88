"""Subnets inside and outside of the address space of their network."""

from dataclasses import replace

import pytest

from gitsync.desired.validation.relations import Member, check_address_prefixes, check_overlaps
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import RECONCILE_POLICY
from gitsync.model.resource import OwnerRef
from tests.support.handmade_kinds import a_kind, a_resource

GROUP = "network.azure.com"


def network(prefixes, **more):
    resource = a_resource({"addressSpace": {"addressPrefixes": prefixes}}, name="net", **more)
    key = Key(GROUP, "VirtualNetwork", "default", "net")
    return Member(resource=resource_of(resource, key), kind=a_kind())


def subnet(spec):
    key = Key(GROUP, "VirtualNetworksSubnet", "default", "sub")
    owner = OwnerRef(key=Key(GROUP, "VirtualNetwork", "default", "net"))
    return Member(resource=resource_of(a_resource(spec, name="sub"), key), kind=a_kind(), owner=owner)


def resource_of(resource, key):
    return replace(resource, key=key)


ONE = {"addressPrefix": "10.1.0.0/24"}


@pytest.mark.parametrize(
    ("prefixes", "spec", "fields", "why"),
    [
        (["10.0.0.0/16"], ONE, ["spec.addressPrefix"], "outside"),
        (["10.0.0.0/8"], ONE, [], "inside"),
        (["10.0.0.0/16", "10.1.0.0/24"], ONE, [], "inside of the second range"),
        (["10.1.0.128/25"], ONE, ["spec.addressPrefix"], "half of it is outside"),
        (
            ["10.1.0.0/16"],
            {"addressPrefixes": ["10.1.1.0/24", "10.2.0.0/24"]},
            ["spec.addressPrefixes.1"],
            "one of two",
        ),
        (["fd00::/48"], ONE, ["spec.addressPrefix"], "the other family"),
        (["${CIDR}"], ONE, [], "the range of the network is not known"),
        (["10.0.0.0/16"], {"addressPrefix": "${CIDR}"}, [], "that of the subnet is not known"),
        ([], ONE, [], "the network gets its range from a pool"),
    ],
)
def test_a_subnet_is_held_against_its_network(prefixes, spec, fields, why):
    found = check_address_prefixes([network(prefixes), subnet(spec)])
    assert [".".join(map(str, finding.path)) for _, finding in found] == fields, why


def test_a_network_that_is_only_read_may_have_other_ranges_in_azure():
    assert not list(
        check_address_prefixes([network(["10.0.0.0/16"], annotations={RECONCILE_POLICY: "skip"}), subnet(ONE)])
    )


@pytest.mark.parametrize(
    ("one", "two", "overlaps", "why"),
    [
        ("10.0.0.0/24", "10.0.0.128/25", True, "inside of the other"),
        ("10.0.0.0/24", "10.0.0.0/24", True, "the same"),
        ("10.0.0.7/24", "10.0.0.0/25", True, "an address in place of the start"),
        ("fd00::/64", "fd00::/65", True, "of the other family"),
        ("10.0.0.0/24", "10.0.1.0/24", False, "side by side"),
        ("10.0.0.0/24", "fd00::/64", False, "of two families"),
        ("10.0.0.0/24", "${CIDR}", False, "one is not known"),
    ],
)
def test_subnets_of_one_network_have_no_address_in_common(one, two, overlaps, why):
    first, second = (
        replace(member, resource=replace(member.resource, key=member.key._replace(name=name)))
        for name, member in (("a", subnet({"addressPrefix": one})), ("b", subnet({"addressPrefixes": [two]})))
    )
    found = [finding.code for _, finding in check_overlaps([first, second])]
    assert found == (["SubnetsOverlap"] if overlaps else []), why
    assert list(check_overlaps([first, replace(second, is_written=False)])) == [], "it may be another one in Azure"
    other = replace(second, owner=OwnerRef(key=Key(GROUP, "VirtualNetwork", "default", "other")))
    assert list(check_overlaps([first, other])) == [], "another network"


def test_overlaps_of_many_subnets_are_found_once_for_each():
    """A wide one before many narrow ones, of which none touches its neighbour."""
    names = [("wide", "10.0.0.0/8"), *((f"s{index}", f"10.{index}.0.0/24") for index in range(1, 200))]
    members = [
        replace(member, resource=replace(member.resource, key=member.key._replace(name=name)))
        for name, member in ((name, subnet({"addressPrefix": prefix})) for name, prefix in names)
    ]
    assert len([*check_overlaps(members)]) == 199
    assert all("of VirtualNetworksSubnet/wide" in finding.message for _, finding in check_overlaps(members))

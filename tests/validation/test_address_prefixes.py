"""Subnets inside and outside of the address space of their network."""

from dataclasses import replace

import pytest

from gitsync.model.gvk import Key
from gitsync.model.policy import RECONCILE_POLICY
from gitsync.model.resource import OwnerRef
from gitsync.validation.relations import Member, check_address_prefixes
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

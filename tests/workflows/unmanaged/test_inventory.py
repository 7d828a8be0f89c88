"""What git has: manifests, trusted records, and children that a manifest names."""

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.record import Trust
from gitsync.workflows.unmanaged.inventory import make_inventory
from tests.support.builders import group_id, prepared, record, rg, vnet, vnet_id

LAB = vnet_id("lab", "else")


@pytest.mark.parametrize(
    ("trust", "has"),
    [(Trust.SIGNED, True), (Trust.UNCHECKED, True), (Trust.ALTERED, False)],
    ids=["signed", "no key is used", "somebody changed it"],
)
def test_a_record_counts_if_it_is_trusted(trust, has):
    inventory = make_inventory([], [record(vnet("lab"), LAB, trust=trust)])
    assert inventory.has(ArmId(LAB.upper())) is has
    assert bool(inventory.groups) is has


def test_groups_are_those_of_manifests_and_records_by_subscription():
    other = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/B"
    inventory = make_inventory([prepared(rg(), arm_id=group_id())], [record(vnet("lab"), LAB), record(rg("b"), other)])
    assert sorted(inventory.groups.values()) == [("B",), ("core", "else")]


BALANCER = f"{group_id()}/providers/Microsoft.Network/loadBalancers/lb"
DECLARED = {
    "inboundNatRules": [{"name": "ssh"}],
    "backendAddressPools": [{"name": "Pool"}, {"id": "/x"}, "odd"],
    "odd": "text",
}


@pytest.mark.parametrize(
    ("child", "has", "why"),
    [
        ("inboundNatRules/ssh", True, "its manifest has this rule"),
        ("inboundNatRules/rdp", False, "and no other"),
        ("backendAddressPools/pool", True, "a type without a kind has its list, too"),
        ("backendAddressPools/other", False, "and no other"),
        ("odd/text", False, "this is no list"),
        ("outboundRules/out", False, "there is no such list"),
        ("backendAddressPools/pool/deeper/x", False, "what is below a part is none"),
    ],
)
def test_a_child_counts_if_the_manifest_of_its_parent_names_it(child, has, why):
    of = prepared(vnet("lb"), arm_id=BALANCER, body={"properties": DECLARED})
    inventory = make_inventory([of], [])
    assert inventory.has(ArmId(f"{BALANCER}/{child}")) is has, why


def test_a_manifest_without_an_id_is_named_unless_a_record_has_it():
    unknown = prepared(vnet("lab"), arm_id=None)
    assert make_inventory([unknown], []).without_id == (str(vnet("lab")),)
    known = make_inventory([unknown], [record(vnet("lab"), LAB)])
    assert known.without_id == ()
    assert known.has(ArmId(LAB))

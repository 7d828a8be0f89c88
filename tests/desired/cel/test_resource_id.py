"""`aso.parseResourceId`: what an id is made of, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.functions.resource_id import parse_resource_id
from gitsync.desired.cel.syntax.parser import parse
from gitsync.errors import EvaluationError

SUB = "/subscriptions/s1"
GROUP = f"{SUB}/resourceGroups/rg"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
SUBNET = f"{VNET}/subnets/a"
LOCK = f"{SUBNET}/providers/Microsoft.Authorization/locks/keep"


def part_of(arm_id, path):
    return evaluate(parse(f"aso.parseResourceId(id).{path}"), {"id": arm_id})


@pytest.mark.parametrize(
    ("arm_id", "path", "expected", "why"),
    [
        (VNET, "subscriptionId", "s1", "the subscription that it lies in"),
        (VNET, "resourceGroupName", "rg", "and the group"),
        (VNET, "name", "hub", "its own name"),
        (VNET, "resourceType.namespace", "Microsoft.Network", "the provider is the namespace of its type"),
        (VNET, "resourceType.type", "virtualNetworks", "and the type"),
        (VNET, "provider", "", "which is set for a provider's own id alone"),
        (VNET, "location", "", "it lies in no location"),
        (VNET, "parent.name", "rg", "it lies in the group"),
        (VNET, "parent.resourceType.type", "resourceGroups", "which has a type, too"),
        (SUBNET, "name", "a", "the name of the last"),
        (SUBNET, "resourceType.type", "virtualNetworks/subnets", "a child's type has that of its parent before it"),
        (SUBNET, "parent.name", "hub", "and lies in it"),
        (SUBNET, "parent.parent.resourceGroupName", "rg", "and so on upwards"),
        (LOCK, "resourceType.namespace", "Microsoft.Authorization", "an extension has a provider of its own"),
        (LOCK, "resourceType.type", "locks", "and starts a row of types"),
        (LOCK, "parent.name", "a", "below what it extends"),
        (LOCK, "subscriptionId", "s1", "whose subscription it is in"),
        (GROUP, "resourceGroupName", "rg", "a group is in itself"),
        (GROUP, "resourceType.namespace", "Microsoft.Resources", "its provider"),
        (GROUP, "name", "rg", "its name"),
        (GROUP.lower(), "resourceType.type", "resourceGroups", "words of the way are read in any case"),
        (SUB, "resourceType.type", "subscriptions", "a subscription is a resource"),
        (SUB, "parent.resourceType.type", "tenants", "which lies in the tenant"),
        (SUB, "parent.parent.name", "", "above the tenant there is nothing, which has no name"),
        (f"{SUB}/providers/Microsoft.Insights", "provider", "Microsoft.Insights", "a provider in a subscription"),
        (f"{SUB}/providers/Microsoft.Insights", "resourceType.type", "providers", "is of this type"),
        (f"{SUB}/locations/westeurope", "location", "westeurope", "a location"),
        ("/providers/Microsoft.Management/managementGroups/top", "name", "top", "what lies in the tenant"),
        ("/providers/Microsoft.Management/managementGroups/top", "subscriptionId", "", "has no subscription"),
        (
            f"{SUB}/providers/A.B/c/d/providers/E.F/g/h",
            "parent.resourceType.namespace",
            "A.B",
            "extensions of anything",
        ),
        (f"{VNET}/subnets", "resourceType.type", "virtualNetworks/subnets", "a type may stand without a name"),
        (f"{VNET}/subnets", "name", "", "which is then empty"),
    ],
)
def test_parts_of_an_id(arm_id, path, expected, why):
    assert part_of(arm_id, path) == expected, why


@pytest.mark.parametrize(
    ("arm_id", "path", "expected", "why"),
    [
        (VNET, "parent", True, "a resource lies in something"),
        (VNET, "location", False, "what is empty is not set"),
        (VNET, "resourceGroupName", True, "what is not, is"),
        (SUB, "parent.parent", False, "the tenant lies in nothing"),
    ],
)
def test_has_reports_which_parts_there_are(arm_id, path, expected, why):
    assert evaluate(parse(f"has(aso.parseResourceId(id).{path})"), {"id": arm_id}) is expected, why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing"),
        ("hub", "a name"),
        ("subscriptions/s1", "it does not start at the root"),
        ("/", "no segment"),
        ("/subscriptions", "a type without its name"),
        ("/resourceGroups/rg", "a group without its subscription"),
        (f"{SUB}/resourceGroups", "a group without its name"),
        (f"{SUB}//resourceGroups/rg", "an empty segment"),
        (f"{VNET}/", "one at the end"),
        (f"{GROUP}/providers/Microsoft.Network", "a provider lies in no group"),
        (f"{GROUP}/providers/Microsoft.Network/virtualNetworks", "a type of a provider without a name"),
        (f"{GROUP}/things", "a type without a name in a group"),
        (f"{SUB}/providers", "providers without one"),
        (f"{SUB}{'/a/b' * 1100}", "thousands of parts, each with all types above it, would fill the memory"),
    ],
)
def test_what_is_not_an_id_is_refused(text, why):
    with pytest.raises(EvaluationError) as failed:
        part_of(text, "name")
    assert failed.value.message.startswith("aso.parseResourceId: invalid resource ID"), why


def test_every_segment_costs_a_step():
    budget = EvaluationBudget(steps=8)
    assert parse_resource_id(budget, VNET).name == "hub"
    with pytest.raises(EvaluationError, match="too many steps"):
        parse_resource_id(budget, SUB)


def test_there_is_no_other_part():
    with pytest.raises(EvaluationError, match="no such key: kind"):
        part_of(VNET, "kind")


def test_an_id_is_taken_apart_and_nothing_else():
    with pytest.raises(EvaluationError, match=r"no such overload: aso\.parseResourceId"):
        part_of(7, "name")


segments = st.sampled_from(
    ["subscriptions", "resourceGroups", "providers", "locations", "Microsoft.Network", "a", "b", ""]
)


@given(st.lists(segments).map(lambda names: "/" + "/".join(names)))
def test_any_row_of_segments_is_an_id_or_refused(text):
    try:
        id_ = parse_resource_id(EvaluationBudget(), text)
    except EvaluationError as failed:
        assert failed.message.startswith("aso.parseResourceId: invalid resource ID")
    else:
        assert text.endswith(f"/{id_.name}") or not id_.name

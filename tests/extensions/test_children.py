from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.errors import GitsyncError
from gitsync.extensions.api import LookupRequest, Subject
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.extensions.registry import Registry
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from tests.support.builders import live, vnet_id

REGISTRY = Registry(BUILT_IN)
NETWORK = "network.azure.com"
SUBNET = {
    "id": f"{vnet_id()}/subnets/one",
    "name": "one",
    "etag": 'W/"1"',
    "type": "Microsoft.Network/virtualNetworks/subnets",
    "properties": {
        "addressPrefix": "10.0.0.0/24",
        "provisioningState": "Succeeded",
        "ipConfigurations": [{"id": "/x"}],
        "delegations": [],
        "natGateway": None,
        "serviceEndpoints": [{"service": "Microsoft.Sql", "locations": ["*"], "provisioningState": "Succeeded"}],
        "applicationGatewayIpConfigurations": [{"id": "/gateway", "name": "dropped"}],
        "defaultOutboundAccess": False,
    },
}


def subject(kind: str, live: Live | None, api_version: str = "2024-03-01", group: str = NETWORK) -> Subject:
    key = Key(group, kind, "default", "it")
    return Subject(key=key, gvk=GVK(group, "v", kind), spec={}, arm_id=vnet_id(), api_version=api_version, live=live)


def sent(kind: str, body, live: Live | None, **more):
    return REGISTRY.modified(body, subject(kind, live, **more))


def test_a_virtual_network_keeps_its_subnets_as_far_as_they_may_be_sent():
    body = sent("VirtualNetwork", {"properties": {"addressSpace": {}}}, live(properties={"subnets": [SUBNET]}))
    assert body["properties"] == {
        "addressSpace": {},
        "subnets": [
            {
                "id": f"{vnet_id()}/subnets/one",
                "name": "one",
                "type": "Microsoft.Network/virtualNetworks/subnets",
                "properties": {
                    "addressPrefix": "10.0.0.0/24",
                    "serviceEndpoints": [{"service": "Microsoft.Sql", "locations": ["*"]}],
                    "applicationGatewayIPConfigurations": [{"id": "/gateway"}],
                    "defaultOutboundAccess": False,
                },
            }
        ],
    }


def test_an_older_api_version_has_fewer_members_and_spells_one_otherwise():
    body = sent("VirtualNetwork", {}, live(properties={"subnets": [SUBNET]}), api_version="2020-11-01")
    properties = body["properties"]["subnets"][0]["properties"]
    assert "defaultOutboundAccess" not in properties
    assert properties["applicationGatewayIpConfigurations"] == [{"id": "/gateway"}]


@pytest.mark.parametrize(
    ("kind", "member", "child"),
    [
        ("NetworkSecurityGroup", "securityRules", {"name": "r", "properties": {"priority": 100, "access": "Allow"}}),
        ("RouteTable", "routes", {"name": "r", "properties": {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}}),
    ],
)
def test_rules_and_routes_are_kept(kind, member, child):
    assert sent(kind, {"tags": {}}, live(properties={member: [child]})) == {"tags": {}, "properties": {member: [child]}}


def test_a_load_balancers_rules_of_other_names_are_kept_after_those_of_git():
    requested = {"properties": {"inboundNatRules": [{"name": "b", "properties": {"frontendPort": 1}}]}}
    there = [{"name": "a", "properties": {"frontendPort": 2, "backendIPConfiguration": {"id": "/x"}}}, {"name": "b"}]
    rules = sent("LoadBalancer", requested, live(properties={"inboundNatRules": there}))["properties"][
        "inboundNatRules"
    ]
    assert rules == [requested["properties"]["inboundNatRules"][0], {"name": "a", "properties": {"frontendPort": 2}}]


def test_a_scale_sets_extensions_are_kept_and_missing_objects_mean_none():
    found = live(
        properties={
            "virtualMachineProfile": {
                "extensionProfile": {"extensions": [{"name": "a", "properties": {"settings": {"x": 1}}}]}
            }
        }
    )
    more = {"group": "compute.azure.com", "api_version": "2022-03-01"}
    body = sent("VirtualMachineScaleSet", {"sku": {}}, found, **more)
    assert body["properties"]["virtualMachineProfile"]["extensionProfile"]["extensions"] == [
        {"name": "a", "properties": {"settings": {"x": 1}}}
    ]
    assert sent("VirtualMachineScaleSet", {"sku": {}}, live(properties={}), **more) == {"sku": {}}


def test_a_new_parent_is_sent_as_it_is():
    assert sent("VirtualNetwork", {"a": 1}, None) == {"a": 1}


def test_no_children_are_sent_as_nothing():
    assert sent("VirtualNetwork", {"a": 1}, live(properties={"subnets": []})) == {"a": 1, "properties": {}}


@pytest.mark.parametrize("body", [{}, {"properties": None}, {"properties": {}}, {"properties": {"subnets": None}}])
def test_an_answer_without_the_list_is_not_an_empty_list(body):
    with pytest.raises(GitsyncError, match="could delete"):
        sent("VirtualNetwork", {}, Live(body=body))


NO_LIST = [
    ("RouteTable", "routes", {"properties": {}}, "no list"),
    ("RouteTable", "routes", {}, "no properties either"),
    ("RouteTable", "routes", {"properties": {"routes": None}}, "null for it"),
    ("VirtualNetwork", "subnets", {"properties": {}}, "another kind"),
]


@pytest.mark.parametrize(("kind", "name", "body", "why"), NO_LIST, ids=[f"{row[0]}: {row[-1]}" for row in NO_LIST])
def test_a_list_that_is_not_shown_is_empty_if_the_collection_is(kind, name, body, why):
    it = subject(kind, Live(body=body))
    requested = LookupRequest(f"{vnet_id()}/{name}", "2024-03-01", lists=True)
    assert REGISTRY.lookups(it) == (requested,), why
    assert REGISTRY.modified({"tags": {}}, replace(it, answers={requested: ()})) == {"tags": {}, "properties": {}}
    with pytest.raises(GitsyncError, match="the collection is not empty"):
        REGISTRY.modified({"tags": {}}, replace(it, answers={requested: ({"name": "a", "properties": {}},)}))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "it does not exist"),
        ({"properties": {"routes": []}}, "the list is shown"),
        ({"properties": {"routes": "x"}}, "a text is shown: the resource cannot be sent in any case"),
        ({"properties": "x"}, "a text for the properties, too"),
    ],
)
def test_the_collection_is_not_asked_for_in_vain(body, why):
    assert REGISTRY.lookups(subject("RouteTable", Live(body=body) if body is not None else None)) == (), why


def test_a_scale_set_without_a_profile_of_extensions_has_none():
    it = subject("VirtualMachineScaleSet", live(properties={}), group="compute.azure.com")
    assert REGISTRY.lookups(it) == ()


def test_other_kinds_are_sent_as_they_are():
    assert sent("PublicIPAddress", {"a": 1}, live(properties={})) == {"a": 1}


def extensions_of(profile):
    return live(properties={"virtualMachineProfile": profile})


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ("x", "a text for the profile"),
        ({"extensionProfile": "x"}, "a text for the profile of extensions"),
        ({"extensionProfile": []}, "a list for it"),
        ({"extensionProfile": {}}, "no list in it"),
        ({"extensionProfile": {"extensions": [None]}}, "null for an extension"),
        ({"extensionProfile": {"extensions": [{"name": "a"}]}}, "one without properties"),
        (
            {"extensionProfile": {"extensions": [{"name": "a", "properties": {"protectedSettingsFromKeyVault": 5}}]}},
            "a number for an object",
        ),
    ],
)
def test_a_scale_set_with_an_unexpected_list_of_extensions_is_not_sent(profile, why):
    with pytest.raises(GitsyncError, match="a PUT could delete its entries"):
        sent(
            "VirtualMachineScaleSet",
            {"sku": {}},
            extensions_of(profile),
            group="compute.azure.com",
            api_version="2022-03-01",
        )

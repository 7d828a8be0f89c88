"""What the command line selects, and what of it is refused."""

import pytest

from gitsync.errors import ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.workflows.imports.conversion.scope import make_filters, read_scope
from tests.workflows.imports.found import GROUP, SUBSCRIPTION, at

ENDPOINT = "https://management.azure.com"
HUB = at("Microsoft.Network/virtualNetworks/hub")


@pytest.mark.parametrize(
    ("given", "admitted", "refused", "why"),
    [
        ({"names": ["shop-*"]}, ("SHOP-1", {}), ("hub", {}), "a pattern of names, in any case"),
        ({"tags": ["team=a"]}, ("x", {"team": "a"}), ("x", {"team": "b"}), "a tag with a value"),
        ({"tags": ["team"]}, ("x", {"team": "b"}), ("x", None), "a tag with any value"),
        ({"names": ["x"], "tags": ["team"]}, ("x", {"team": ""}), ("y", {"team": ""}), "both"),
    ],
)
def test_filters_by_name_and_tag(catalog, given, admitted, refused, why):
    filters = make_filters(**{"types": [], "names": [], "tags": [], "excluded": [], **given}, catalog=catalog)
    assert filters.admits(*admitted), why
    assert not filters.admits(*refused), why


@pytest.mark.parametrize("text", ["VirtualNetworksSubnet", "microsoft.network/VIRTUALNETWORKS/subnets"])
def test_a_type_leads_through_its_parents(catalog, text):
    filters = make_filters([text], [], [], [], catalog)
    assert filters.leads_to("Microsoft.Network/virtualNetworks")
    assert not filters.admits_type("Microsoft.Network/virtualNetworks")
    assert filters.names_type("Microsoft.Network/virtualNetworks/subnets")
    assert not filters.leads_to("Microsoft.Storage/storageAccounts")


@pytest.mark.parametrize(
    "text", ["VirtualNetwork", "Microsoft.Network/virtualNetworks", HUB.upper(), GROUP, "h*", "hub"]
)
def test_what_excludes_a_network(catalog, text):
    filters = make_filters([], [], [], [text], catalog)
    assert filters.excludes(ArmId(HUB), "Microsoft.Network/virtualNetworks")
    assert not filters.excludes(
        ArmId(at("Microsoft.Storage/storageAccounts/x", "Other")), "Microsoft.Storage/storageAccounts"
    )


@pytest.mark.parametrize(
    "text", ["VirtualNetwrok", "Contoso.Things/things", "SecurityGroup", "Microsoft.Graph/groups", "AzureResource"]
)
def test_an_unknown_type_is_an_error(catalog, text):
    with pytest.raises(ConfigError):
        make_filters([text], [], [], [], catalog)


ABOVE = "/providers/Microsoft.Management/managementGroups/all"


@pytest.mark.parametrize(
    ("ids", "groups", "expected", "why"),
    [
        ([], [], ((), ()), "everything"),
        ([], ["a", "a"], (("a",), ()), "a group"),
        ([GROUP + "/"], ["b"], (("b", "Core"), ()), "a group by its id"),
        ([HUB], [], ((), (HUB,)), "a resource"),
        ([f"{ABOVE}/"], [], ((), (ABOVE,)), "a management group"),
        ([f"{ENDPOINT}{HUB}?api-version=1"], [], ((), (HUB,)), "the URL of a resource"),
        ([f"/subscriptions/{SUBSCRIPTION}", HUB], ["a"], ((), ()), "the subscription includes the rest"),
    ],
)
def test_where_an_import_looks(ids, groups, expected, why):
    scope = read_scope(ids, groups, SUBSCRIPTION, ENDPOINT)
    assert (scope.groups, scope.ids) == expected, why


@pytest.mark.parametrize(
    ("ids", "subscription", "says"),
    [
        ([f"https://management.chinacloudapi.cn{HUB}"], None, "--endpoint is management.azure.com"),
        (["hub"], None, "is not an ARM id"),
        (["/providers/Microsoft.Management/managementGroups/a"], None, "No subscription is set"),
        ([HUB], "11111111-1111-1111-1111-111111111111", "several subscriptions"),
        ([], None, "No subscription is set"),
    ],
)
def test_what_no_import_can_be_of(ids, subscription, says):
    with pytest.raises(ConfigError, match=says):
        read_scope(ids, [], subscription, ENDPOINT)

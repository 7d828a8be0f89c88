"""Values that Azure refuses by rules that the facts of kinds do not have."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.validation.value_rules import check_known_values
from tests.support.handmade_kinds import a_kind

FIELDS = {
    **{name: {"type": "string"} for name in ("location", "principalId", "addressPrefix", "sourceAddressPrefix")},
    "addressPrefixes": {"type": {"list": "string"}},
    "inner": {"type": {"ref": "Inner"}},
}
INNER = {"Inner": {"fields": {"location": {"type": "string"}, "locationName": {"type": "string"}}}}
GUID = "5a9ad4b2-3f0c-4d6b-9c3e-2f6f6f6f6f6f"


def check(spec, group="things.azure.com"):
    kind = a_kind(FIELDS, types=INNER, group=group)
    return [
        (finding.code, finding.hint)
        for visit in visit_spec(kind, spec)
        if visit.facts is not None
        for finding in check_known_values(visit, kind)
    ]


RIGHT = [
    {"location": "westeurope"},
    {"location": "West Europe"},
    {"location": "NorthCentralUS(Stage)"},
    {"location": "East US 2 EUAP"},
    {"location": "Global"},
    {"location": "East US2 "},
    {"location": "usgovvirginia"},
    {"location": "chinanorth3"},
    {"location": "${LOCATION}"},
    {"location": "<region>"},
    {"location": 5},
    {"inner": {"location": "emea-nl-ams-azr"}},
    {"principalId": GUID},
    {"principalId": GUID.upper()},
    {"principalId": "${PRINCIPAL}"},
    {"addressPrefix": "10.0.0.0/32"},
    {"addressPrefix": "fd00::/128"},
    {"addressPrefix": "10.0.0.0"},
    {"addressPrefixes": ["10.0.0.0/0", "::/0", 5]},
    {"sourceAddressPrefix": "*"},
    {"sourceAddressPrefix": "AzureLoadBalancer"},
    {"sourceAddressPrefix": "Storage.WestEurope"},
    {"sourceAddressPrefix": "10.0.0.0/255.255.255.0"},
    {"addressPrefix": "${CIDR}/33"},
]


@pytest.mark.parametrize("spec", RIGHT, ids=str)
def test_what_may_be_right_is_not_complained_of(spec):
    assert check(spec) == []


@pytest.mark.parametrize(
    ("spec", "code", "hint"),
    [
        ({"location": "weseurope"}, "UnknownRegion", "Did you mean westeurope?"),
        ({"location": "us-east-1"}, "UnknownRegion", "`az account list-locations"),
        ({"location": "we"}, "UnknownRegion", "`az account list-locations"),
        ({"inner": {"locationName": "northeurop"}}, "UnknownRegion", "Did you mean northeurope?"),
        ({"principalId": "web-identity"}, "InvalidPrincipal", "principalIdFromConfig"),
        ({"principalId": GUID[:-1]}, "InvalidPrincipal", "principalIdFromConfig"),
        ({"addressPrefix": "10.0.0.0/33"}, "InvalidAddressRange", "10.0.0.0/16"),
        ({"addressPrefix": "fd00::/129"}, "InvalidAddressRange", "10.0.0.0/16"),
        ({"addressPrefixes": ["10.0.0.0/8", "10.0.0/24"]}, "InvalidAddressRange", "10.0.0.0/16"),
        ({"sourceAddressPrefix": "300.0.0.0/8"}, "InvalidAddressRange", "10.0.0.0/16"),
    ],
    ids=str,
)
def test_what_azure_refuses_is_reported(spec, code, hint):
    ((found, text),) = check(spec)
    assert (found, hint in text) == (code, True)


def test_a_principal_of_kusto_may_be_a_name():
    assert check({"principalId": "people@contoso.com"}, "kusto.azure.com") == []
    assert check({"principalId": "readers"}, "kusto.azure.com") == []

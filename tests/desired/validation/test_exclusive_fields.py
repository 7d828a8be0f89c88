"""Fields that exclude each other."""

import pytest

from gitsync.desired.validation.spec_schema import check_pairs
from tests.support.handmade_kinds import a_kind, seen

KIND = a_kind(
    {
        "tenantId": {"type": "string", "optionalConfigMapPair": "TenantId"},
        "tenantIdFromConfig": {"type": "configMapReference", "optionalConfigMapPair": "TenantId"},
        "serviceUri": {"type": "string"},
        "serviceUriFromSecret": {"type": "secretReference"},
        "azureName": {"type": "string", "meta": True},
        "azureNameFromConfig": {"type": "configMapReference"},
        "keyFromConfig": {"type": "configMapReference"},
    }
)
FROM = {"name": "n", "key": "k"}


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({"tenantId": "a"}, [], "one of the pair"),
        ({"tenantIdFromConfig": FROM}, [], "the other"),
        ({}, [], "neither"),
        ({"tenantId": None, "tenantIdFromConfig": FROM}, [], "null is absent"),
        ({"keyFromConfig": FROM}, [], "a field without a pair"),
        ({"azureName": "a", "azureNameFromConfig": FROM}, [], "the name in Azure has a rule of its own"),
        ({"tenantId": "", "tenantIdFromConfig": FROM}, ["tenantIdFromConfig"], "an empty string is set"),
        ({"serviceUri": "a", "serviceUriFromSecret": FROM}, ["serviceUriFromSecret"], "a secret's pair"),
    ],
)
def test_pairs(spec, expected, why):
    found = list(check_pairs(seen(KIND, spec, ("spec",))))
    assert [f.path[-1] for f in found] == expected, why


def test_what_is_reported():
    (finding,) = check_pairs(seen(KIND, {"tenantId": "a", "tenantIdFromConfig": FROM}, ("spec",)))
    assert finding.message == "cannot specify both tenantId and tenantIdFromConfig."

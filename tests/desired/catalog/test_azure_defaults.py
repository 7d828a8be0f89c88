"""Values that Azure shows in recordings although no one requested them."""

import pytest

from gitsync.desired.catalog.azure_defaults import AzureDefaults, find_azure_defaults

OWN = {
    "/properties/accesstier": {'"hot"': 1},
    "/properties/minimumtlsversion": {'"tls1_2"': 5, '"tls1_0"': 2},
    "/properties/probes/*/port": {"80": 2},
    "/properties/dnsname": {"": 3},
}
DEFAULTS = AzureDefaults(OWN, {"idletimeoutinminutes": ["4"]})


@pytest.mark.parametrize(
    ("path", "value", "is_default", "is_usual", "why"),
    [
        (("properties", "accessTier"), "Hot", True, False, "one resource has it"),
        (("properties", "accessTier"), "hot", True, False, "texts have no case"),
        (("properties", "accessTier"), "Cool", False, False, "another value"),
        (("properties", "minimumTlsVersion"), "TLS1_2", True, True, "most of several"),
        (("properties", "minimumTlsVersion"), "TLS1_0", True, False, "the fewest of several"),
        (("properties", "probes", "*", "port"), 80, True, True, "an entry of a list"),
        (("properties", "dnsName"), "any", True, True, "each resource has another one"),
        (("properties", "anything", "idleTimeoutInMinutes"), 4, True, True, "by its name"),
        (("properties", "anything", "idleTimeoutInMinutes"), True, False, False, "a number is no boolean"),
        (("properties", "idleTimeoutInMinutes", "other"), 4, False, False, "the name of what holds it"),
        (("tags", "a"), "b", False, False, "nothing is known of it"),
    ],
)
def test_defaults(path, value, is_default, is_usual, why):
    assert DEFAULTS.is_default(path, value) is is_default, why
    assert DEFAULTS.is_default(path, value, is_usual=True) is is_usual, why


def test_the_packed_table():
    defaults = find_azure_defaults("MICROSOFT.STORAGE/storageAccounts")
    assert defaults.is_default(("properties", "networkAcls", "defaultAction"), "Allow", is_usual=True)
    assert not defaults.is_default(("properties", "networkAcls", "defaultAction"), "Deny")
    assert find_azure_defaults("Contoso.Things/things").own == {}

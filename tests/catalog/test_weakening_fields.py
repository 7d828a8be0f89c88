"""Which changes make an estate weaker."""

from __future__ import annotations

import pytest

from gitsync.catalog.catalog import open_catalog
from gitsync.catalog.weakening_fields import FIELDS, TYPES, find_weakening
from gitsync.model.edit import REMOVED
from gitsync.model.gvk import GVK

STORAGE = "Microsoft.Storage/storageAccounts"
RULES = "Microsoft.Network/networkSecurityGroups/securityRules"
SQL_RULE = "Microsoft.Sql/servers/firewallRules"
PRINCIPAL, START, END = "/properties/principalId", "/properties/startIpAddress", "/properties/endIpAddress"
IP_RULES, ACLS = "/properties/networkAcls/ipRules", "/properties/networkAcls"


@pytest.mark.parametrize(
    ("arm_type", "pointer", "old", "new", "expected", "why"),
    [
        (STORAGE, "/properties/publicNetworkAccess", "Disabled", "Enabled", "reaches", "it opens"),
        (STORAGE, "/properties/publicNetworkAccess", "Enabled", "Disabled", "", "it closes"),
        (STORAGE, "/properties/publicNetworkAccess", "Disabled", REMOVED, "reaches", "Azure may open by default"),
        (STORAGE.upper(), "/PROPERTIES/AllowBlobPublicAccess", False, True, "reaches", "in any case"),
        (STORAGE, "/properties/allowBlobPublicAccess", True, False, "", "it closes"),
        (STORAGE, "/properties/allowSharedKeyAccess", False, True, "key", "keys let in again"),
        (STORAGE, "/properties/minimumTlsVersion", "TLS1_2", "TLS1_0", "lower version", "lower"),
        (STORAGE, "/properties/minimumTlsVersion", "TLS1_0", "TLS1_2", "", "higher"),
        (STORAGE, "/properties/minimumTlsVersion", "TLS1_2", None, "lower version", "the default may be lower"),
        ("Microsoft.DocumentDB/databaseAccounts", "/properties/minimalTlsVersion", "Tls12", "Tls11", "lower", "lower"),
        (STORAGE, "/properties/supportsHttpsTrafficOnly", True, False, "not encrypted", "plain HTTP"),
        (STORAGE, f"{ACLS}/defaultAction", "Deny", "Allow", "reaches", "the default lets in"),
        (STORAGE, f"{ACLS}/bypass", "None", "AzureServices", "reaches", "more passes by"),
        (STORAGE, ACLS, {"defaultAction": "Deny"}, REMOVED, "reaches", "a member of what went"),
        (STORAGE, ACLS, {"defaultAction": "Allow"}, {"defaultAction": "Deny"}, "", "a member that closes"),
        (STORAGE, IP_RULES, [{"value": "1.2.3.4"}], [{"value": "1.2.3.4"}, {"value": "0.0.0.0/0"}], "reaches", "added"),
        (STORAGE, IP_RULES, [{"value": "1.2.3.4"}, {"value": "5.6.7.8"}], [{"value": "5.6.7.8"}], "", "one went"),
        (STORAGE, IP_RULES, [{"value": "1.2.3.4"}], [], "reaches", "for some types an empty list lets in all"),
        (STORAGE, f"{IP_RULES}/0/value", "1.2.3.4", "1.2.0.0/16", "reaches", "widened"),
        (STORAGE, f"{IP_RULES}/1", REMOVED, {"value": "1.2.3.4", "action": "Allow"}, "reaches", "an entry was added"),
        (STORAGE, f"{IP_RULES}/1", {"value": "1.2.3.4", "action": "Allow"}, REMOVED, "", "an entry went"),
        (STORAGE, f"{IP_RULES}/1", {"value": "1.2.3.4", "action": "Deny"}, REMOVED, "reaches", "a denial went"),
        (STORAGE, "/properties/encryption/keySource", "Microsoft.Keyvault", "Microsoft.Storage", "encrypted", "keys"),
        (STORAGE, "/properties/encryption/requireInfrastructureEncryption", False, True, "", "twice encrypted"),
        (STORAGE, "/identity/userAssignedIdentities", {"/a": {}}, {"/a": {}, "/b": {}}, "who may do", "identities"),
        ("Microsoft.KeyVault/vaults", "/properties/enablePurgeProtection", True, False, "restored", "purged at once"),
        ("Microsoft.KeyVault/vaults", "/properties/softDeleteRetentionInDays", 90, 7, "restored", "fewer days"),
        ("Microsoft.KeyVault/vaults", "/properties/softDeleteRetentionInDays", 7, 90, "", "more days"),
        ("Microsoft.Search/searchServices", "/properties/disableLocalAuth", True, False, "key", "keys let in again"),
        (RULES, "/properties/sourceAddressPrefix", "10.0.0.0/8", "*", "traffic", "widened"),
        (RULES, "/tags/team", "a", "b", "", "a tag of such a type"),
        (SQL_RULE, END, "10.0.0.9", "10.0.0.200", "more addresses", "widened at the end"),
        (SQL_RULE, END, "10.0.0.200", "10.0.0.9", "", "narrowed at the end"),
        (SQL_RULE, START, "10.0.0.9", "0.0.0.0", "more addresses", "widened at the start"),
        (SQL_RULE, START, "0.0.0.0", "10.0.0.9", "", "narrowed at the start"),
        (SQL_RULE, START, "10.0.0.9", "?", "more addresses", "an odd answer is none"),
        ("Microsoft.Authorization/roleAssignments", PRINCIPAL, "a", "b", "who may do", "another principal"),
        ("Microsoft.Insights/diagnosticSettings", "/properties/logs/0/enabled", True, False, "logged", "logs end"),
        (STORAGE, "/sku/name", "Standard_LRS", "Premium_LRS", "", "a SKU weakens nothing"),
        (STORAGE, "/properties/publicNetworkAccess", "Enabled", "Enabled", "", "no change"),
        ("Contoso.Things/things", "/properties/publicNetworkAccess", "Disabled", "Enabled", "reaches", "by its name"),
    ],
)
def test_fields(arm_type, pointer, old, new, expected, why):
    found = find_weakening(arm_type, pointer, old, new, is_gone=False)
    assert expected in found if expected else found == "", (why, found)


@pytest.mark.parametrize(
    ("arm_type", "expected", "why"),
    [
        (RULES, "traffic", "it may have been a denial"),
        ("microsoft.insights/DIAGNOSTICSETTINGS", "logged", "in any case"),
        ("Microsoft.Authorization/roleAssignments", "who may do", "rights change"),
        (SQL_RULE, "", "a rule that lets in went, so less is let in"),
        (STORAGE, "", "a resource like any other"),
    ],
)
def test_deleted_resources(arm_type, expected, why):
    found = find_weakening(arm_type, "", None, None, is_gone=True)
    assert expected in found if expected else found == "", (why, found)


def test_every_row_is_of_a_kind_in_the_catalog():
    """A misspelt name would guard nothing."""
    catalog = open_catalog()
    kinds = [
        catalog.kind(GVK(group, version, name))
        for group in catalog.groups()
        for name in catalog.kinds(group)
        for version in catalog.versions(group, name)
    ]
    fields = {
        step.casefold()
        for kind in kinds
        for facts in kind.types.values()
        for field in facts["fields"].values()
        for step in field.get("arm", "").split("/")
    }
    assert set(FIELDS) <= fields
    assert set(TYPES) <= {kind.arm_type.casefold() for kind in kinds}

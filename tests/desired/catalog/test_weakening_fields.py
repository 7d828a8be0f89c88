"""Which changes make an estate weaker."""

from __future__ import annotations

import re

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.weakening_fields import FIELDS, HARMLESS, TYPES, explain_weakening, protects
from gitsync.model.edit import REMOVED
from gitsync.model.gvk import GVK

STORAGE = "Microsoft.Storage/storageAccounts"
RULES = "Microsoft.Network/networkSecurityGroups/securityRules"
LOCAL, OPEN = {"disableLocalAuth": True}, {"disableLocalAuth": False}
APPLICATION = "Microsoft.Graph/applications"
BATCH, MODES = "Microsoft.Batch/batchAccounts", "allowedAuthenticationModes"
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
        (APPLICATION, "/signInAudience", "AzureADMyOrg", "AzureADMultipleOrgs", "sign in", "other tenants"),
        (APPLICATION, "/signInAudience", "AzureADMultipleOrgs", "AzureADMyOrg", "", "this tenant alone"),
        (APPLICATION, "/web/implicitGrantSettings/enableIdTokenIssuance", False, True, "sends tokens", "in the URL"),
        (APPLICATION, "/spa/redirectUris", ["https://a"], ["https://a", "https://b"], "sends tokens", "added"),
        (APPLICATION, "/web/redirectUris", ["https://a", "https://b"], ["https://a"], "", "one went"),
        (RULES, "/tags/team", "a", "b", "", "a tag of such a type"),
        (SQL_RULE, END, "10.0.0.9", "10.0.0.200", "more addresses", "widened at the end"),
        (SQL_RULE, END, "10.0.0.200", "10.0.0.9", "", "narrowed at the end"),
        (SQL_RULE, START, "10.0.0.9", "0.0.0.0", "more addresses", "widened at the start"),
        (SQL_RULE, START, "0.0.0.0", "10.0.0.9", "", "narrowed at the start"),
        (SQL_RULE, START, "10.0.0.9", "?", "more addresses", "an odd answer is none"),
        (SQL_RULE, "/properties/ignoreMissingEndpoint", False, True, "more addresses", "a boolean is no address"),
        (SQL_RULE, "/properties/priority", 100, 200, "more addresses", "a number is no address, so it is not narrowed"),
        ("Microsoft.Authorization/roleAssignments", PRINCIPAL, "a", "b", "who may do", "another principal"),
        ("Microsoft.Insights/diagnosticSettings", "/properties/logs/0/enabled", True, False, "logged", "logs end"),
        (STORAGE, "/sku/name", "Standard_LRS", "Premium_LRS", "", "a SKU weakens nothing"),
        (STORAGE, "/properties/publicNetworkAccess", "Enabled", "Enabled", "", "no change"),
        ("Contoso.Things/things", "/properties/publicNetworkAccess", "Disabled", "Enabled", "reaches", "by its name"),
        (BATCH, f"/properties/{MODES}", ["AAD"], ["AAD", "SharedKey"], "key", "another way in"),
        (BATCH, f"/properties/{MODES}/1", REMOVED, "SharedKey", "key", "another way in, as an entry"),
        (BATCH, f"/properties/{MODES}", ["AAD", "SharedKey"], ["AAD"], "", "one way less"),
        (STORAGE, "/properties/smb/encryptionInTransit", {"required": True}, {"required": False}, "not encr", "nested"),
        (STORAGE, "/tags/access-key", "a", "b", "", "a tag guards nothing"),
        (STORAGE, "/properties/lockerDoor", "a", "b", "no rule defines", "letters that could mean something"),
        (STORAGE, "/properties/newEncryption/settings/0/on", True, False, "no rule defines", "below such a name"),
        (STORAGE, "/properties/newKeys", [1], [1, 2], "no rule defines", "a list of that name"),
        (STORAGE, "/properties/newAuth", REMOVED, {"on": True}, "no rule defines", "a part of that name that came"),
        (STORAGE, "/properties/others", [{"a": 1}, LOCAL], [{"a": 1}, OPEN], "key", "in an entry of a list"),
        (STORAGE, "/properties/others", [{"a": 1}, OPEN], [{"a": 1}, LOCAL], "", "the safer way in an entry"),
        (STORAGE, "/properties/others", [{"a": 1}], [{"a": 1}, OPEN], "key", "in a new entry"),
        (STORAGE, "/properties/others", [{"a": 1}], [{"a": 1}, {"b": [OPEN]}], "key", "deep in a new entry"),
        (STORAGE, "/properties/others", [1, 2], [1, 3], "", "plain entries"),
        (STORAGE, "/properties/partitionKey/paths", ["/a"], ["/b"], "", "a key that data is found by"),
    ],
)
def test_fields(arm_type, pointer, old, new, expected, why):
    found = explain_weakening(arm_type, pointer, old, new, is_gone=False)
    assert expected in found if expected else found == "", (why, found)


DIRECTIONS = {
    ("true", "enabled"): """
        azureadonlyauthentication defaulttooauthauthentication denyencryptionscopeoverride disableaccesskeyauthentication
        disablekeybasedmetadatawriteaccess disablelocalauth disablepasswordauthentication disableruncommand enablediskencryption enableprivatecluster
        enabledoubleencryption enableencryptionathost enablepurgeprotection enablerbacauthorization
        enablevnetintegration encryptionathost encryptionintransit encryptionprotectorautorotation encryptionwithcmk
        endtoendencryptionenabled infrastructureencryption linkedaccesscheckontargetresource mtls
        requireinfrastructureencryption restrictoutboundnetworkaccess rotationtolatestkeyversionenabled
        serverlesscomputenopublicip useaadauth verifyclientcertissuerdn
    """,
    ("false", "disabled"): """
        accesskeysauthentication allowblobpublicaccess allowpublicaccesswhenbehindvnet allowsecretaccess
        allowsharedkeyaccess allowvirtualnetworkaccess defaultoutboundaccess disableaadauth enabledfordeployment
        enabledfordiskencryption enabledfortemplatedeployment enablelogaccessusingonlyresourcepermissions
        enablenodepublicip enableprivateclusterpublicfqdn enablepurge immediatepurgedataon30days issharedtoall
        enableaccesstokenissuance isfallbackpublicclient
        passwordauth publicnetworkaccess publicnetworkaccessforingestion publicnetworkaccessforquery
        remoteloginportpublicaccess sshaccess sshpublicaccess
    """,
    ("restricted",): "accessmode",
    ("private",): "keyvaultnetworkaccess",
    ("ipv4",): "publiciptype",
    ("deny",): "defaultaction outboundaccess",
    ("none",): "podlinklocalaccess publicaccess",
    ("denyall", "allowprivate"): "networkaccesspolicy",
    ("batchaccountmanagedidentity", "pass-through"): "authenticationmode",
    ("identitybased",): "authenticationtype",
    ("aad",): "targetauthenticationtype",
    ("azureactivedirectory",): "dataaccessauthmode",
    ("ocsp",): "verifyclientrevocation",
    ("redirecttologinpage", "return401", "return403"): "unauthenticatedclientaction",
    ("wireguard",): "transitencryption",
    ("securedbyperimeter",): "publicnetworkaccess publicnetworkaccessforingestion publicnetworkaccessforquery",
}
"""The values that weaken nothing, of all members whose names suggest a guard; any other value does."""

ANY = """
    accesskey accesspolicies accountkey apikey auth authconfig authentication authenticationmethod authenticationsettings
    authorizationtype authtype azurefilesidentitybasedauthentication azurekeyvaultkms computeinstanceauthorizationtype
    customkeys dataencryption encryption encryptionsettings encryptionsettingscollection encryptiontype ikeencryption
    ipsecencryption issmboauthenabled oauth2 oauth2granttype publicipaddressconfiguration publicnetwork
    rights securityencryptiontype urlsigningkey urlsigningkeys
"""
"""Names whose every change counts, as does all below them that no other name decides."""

MORE_WAYS = "allowedauthenticationmodes iprules vpnauthenticationtypes"
NOTHING = """
    aadauthfailuremode accesstier cachekeyquerystring disablewwwauthenticate lastaccesstimetrackingpolicy partitionkey
    publicipaddressversion publicipallocationmethod
"""
GUARDS = re.compile("access|public|auth|key|encrypt|purge|lock|enabledfor", re.IGNORECASE)


def list_guards():
    """Yield each boolean and enumerated member that guards something by its name, or by one above it: the ARM type, the
    path, and the values.
    """
    catalog = open_catalog()
    for group in catalog.groups():
        for name in catalog.kinds(group):
            for version in catalog.versions(group, name):
                kind = catalog.kind(GVK(group, version, name))
                for path, values in list_members(kind, kind.spec, (), frozenset()):
                    if any(map(GUARDS.search, path)):
                        yield kind.arm_type, path, values


def list_members(kind, type_name, path, above):
    if type_name in above or type_name not in kind.types:
        return
    for name, field in kind.types[type_name]["fields"].items():
        type_ = field["type"]
        while isinstance(type_, dict) and not {"ref", "enum"} & type_.keys():
            type_ = next(iter(type_.values()))
        here = (*path, *field.get("arm", name).split("/"))
        if isinstance(type_, dict) and "ref" in type_:
            yield from list_members(kind, type_["ref"], here, above | {type_name})
        elif type_ == "boolean":
            yield here, (False, True)
        elif isinstance(type_, dict):
            yield here, tuple(type_["enum"])


def find_deciding(path, names):
    return next((step.casefold() for step in reversed(path) if step.casefold() in names), "")


def test_every_switch_of_the_catalog_that_guards_something_was_looked_at():
    """Each is in one of the tables above, and every value of it goes the way that they define."""
    safe = {}
    for values, names in DIRECTIONS.items():
        for name in names.split():
            safe.setdefault(name, set()).update(values)
    nothing, every = NOTHING.split(), {*ANY.split(), *MORE_WAYS.split()}
    seen, unknown = set(), set()
    for arm_type, path, values in list_guards():
        deciding = find_deciding(path, {*safe, *every, *nothing})
        by_type = arm_type.casefold() in TYPES and path[0] == "properties"
        seen.add(deciding)
        if not (deciding or by_type):
            unknown.add((arm_type, "/".join(path)))
            continue
        for new in values:
            found = explain_weakening(arm_type, "/" + "/".join(path), "?", new, is_gone=False)
            is_safe = deciding in nothing or str(new).casefold() in safe.get(deciding, ())
            may_weaken = not is_safe or (by_type and deciding in {"", *nothing})
            assert bool(found) is may_weaken, (arm_type, path, new, found)
    assert not unknown
    assert {*safe, *every, *nothing} == seen - {""}


def test_no_rule_is_of_last_resort():
    """Each member of the catalog has a rule, or a reason why it weakens nothing: the last resort is for new ones."""
    for arm_type, path, values in list_guards():
        assert "no rule defines" not in explain_weakening(
            arm_type, "/" + "/".join(path), "?", values[0], is_gone=False
        ), path
    assert not FIELDS.keys() & HARMLESS.keys()


@pytest.mark.parametrize("name", ["enabledForBackup", "allowKeyAccess", "unlocked", "purgeNow", "publicView", "oAuth3"])
@pytest.mark.parametrize("values", [(False, True), (True, False), ("A", "B"), (REMOVED, True), (True, REMOVED)])
def test_a_switch_that_no_table_has_weakens_both_ways(name, values):
    assert "no rule defines" in explain_weakening(
        "Contoso.Things/things", f"/properties/{name}", *values, is_gone=False
    )


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
    found = explain_weakening(arm_type, "", None, None, is_gone=True)
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
    assert set(HARMLESS) <= fields
    assert set(TYPES) <= {kind.arm_type.casefold() for kind in kinds}


@pytest.mark.parametrize(
    ("pointer", "value", "expected", "why"),
    [
        ("/properties/publicNetworkAccess", "Disabled", True, "the safer value"),
        ("/PROPERTIES/PUBLICNETWORKACCESS", "DISABLED", True, "without case"),
        ("/properties/publicNetworkAccess", "Enabled", False, "the value that is not safe"),
        ("/properties/allowSharedKeyAccess", False, True, "a switch that is off"),
        ("/properties/networkAcls/bypass", "None", True, "nothing passes"),
        ("/properties/minimumTlsVersion", "TLS1_2", True, "a lower one may follow"),
        ("/properties/encryption/keySource", "Microsoft.Keyvault", True, "which one is safer depends"),
        (IP_RULES, [{"value": "1.2.3.4"}], True, "rules"),
        ("/properties/accessTier", "Hot", False, "no rule"),
        ("/properties/someKeyThing", "a", False, "only its name suggests it"),
        ("/tags/publicNetworkAccess", "Enabled", False, "a tag"),
    ],
)
def test_values_that_protect(pointer, value, expected, why):
    assert protects(STORAGE, pointer, value) is expected, why

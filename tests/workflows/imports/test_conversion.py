"""Live bodies as specs: what is read, and what is left out."""

import json

import pytest
import yaml

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.packed_tables import find_azure_values
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.workflows.imports.conversion.import_proof import prove
from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, format_manifests, make_manifests
from tests.workflows.imports.found import SUBSCRIPTION, at, find

STYLE = ManifestStyle(existing={}, namespace="default")


def spec_of(resource, **style):
    (manifest,) = make_manifests([resource], ManifestStyle(**{"existing": {}, "namespace": "default", **style}))
    return {name: value for name, value in manifest.document["spec"].items() if name not in {"owner", "azureName"}}


VAULT = at("Microsoft.KeyVault/vaults/safe")
ACCOUNT = at("Microsoft.Storage/storageAccounts/stuff")
CLUSTER = at("Microsoft.ContainerService/managedClusters/k")
SERVER = at("Microsoft.DBforPostgreSQL/flexibleServers/db1")
MACHINE = at("Microsoft.Compute/virtualMachines/vm")
NETWORK = at("Microsoft.Network/virtualNetworks/hub")
SUBNET = f"{NETWORK}/subnets/one"
SECURITY = at("Microsoft.Network/networkSecurityGroups/nsg")
ALERT = at("Microsoft.Insights/activityLogAlerts/a")
WANTED = {"condition": {"allOf": []}, "scopesReferences": []}
"""What the kind of an alert requires, in a form that requests nothing."""
BLOBS = f"{ACCOUNT}/blobServices/default"
RULE = {
    "allowedHeaders": ["*"],
    "allowedMethods": ["GET"],
    "allowedOrigins": ["*"],
    "exposedHeaders": [""],
    "maxAgeInSeconds": 9,
}
IDENTITY = at("Microsoft.ManagedIdentity/userAssignedIdentities/me")
PASSWORD = {"name": "db1-flexibleserver", "key": "administratorLoginPassword"}


@pytest.mark.parametrize(
    ("arm_id", "body", "spec", "why"),
    [
        (ACCOUNT, {"location": "West Europe"}, {"location": "westeurope"}, "regions have one spelling"),
        (ACCOUNT, {"kind": "storageV2"}, {"kind": "StorageV2"}, "words of an enumeration are spelled as the kind does"),
        (ACCOUNT, {"etag": "W/1", "properties": {"provisioningState": "Succeeded"}}, {}, "what an answer is about"),
        (ACCOUNT, {"properties": {"primaryEndpoints": {"blob": "https://x"}}}, {}, "read-only, so no field has it"),
        (ACCOUNT, {"tags": {"a": "", "b": "c"}}, {"tags": {"a": "", "b": "c"}}, "a tag may be empty"),
        (ACCOUNT, {"properties": {"networkAcls": {"ipRules": []}}}, {}, "an empty object says nothing"),
        (ACCOUNT, {"properties": {"accessTier": ""}}, {}, "nor does an empty text"),
        (ACCOUNT, {"properties": {"accessTier": "Sometimes"}}, {}, "a word that the kind lacks, which is reported"),
        (
            ACCOUNT,
            {"properties": {"allowBlobPublicAccess": "False"}},
            {"allowBlobPublicAccess": False},
            "text for a flag",
        ),
        (
            SUBNET,
            {"properties": {"networkSecurityGroup": {"id": SECURITY}}},
            {"networkSecurityGroup": {"reference": {"armId": SECURITY}}},
            "an id of what is not imported",
        ),
        (
            CLUSTER,
            {"identity": {"type": "UserAssigned", "userAssignedIdentities": {IDENTITY: {"clientId": "x"}}}},
            {"identity": {"type": "UserAssigned", "userAssignedIdentities": [{"reference": {"armId": IDENTITY}}]}},
            "ids as keys become references",
        ),
        (
            NETWORK,
            {"properties": {"subnets": [{"name": "one"}], "addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}},
            {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}},
            "subnets have manifests of their own",
        ),
        (
            CLUSTER,
            {"properties": {"agentPoolProfiles": [{"name": "s", "mode": "System"}, {"name": "u", "mode": "User"}]}},
            {"agentPoolProfiles": [{"name": "s", "mode": "System"}]},
            "a cluster cannot be made without its system pool",
        ),
        (
            SERVER,
            {"properties": {"administratorLogin": "me"}},
            {"administratorLogin": "me", "administratorLoginPassword": PASSWORD},
            "Azure shows the account alone",
        ),
        (
            MACHINE,
            {
                "properties": {
                    "osProfile": {"adminUsername": "me", "linuxConfiguration": {"disablePasswordAuthentication": True}}
                }
            },
            {"osProfile": {"adminUsername": "me", "linuxConfiguration": {"disablePasswordAuthentication": True}}},
            "a machine with keys has no password",
        ),
        (
            at("Microsoft.Kusto/clusters/c/databases/d"),
            {"kind": "ReadWrite", "location": "West Europe"},
            {"readWriteDatabase": {"kind": "ReadWrite", "location": "westeurope"}},
            "a union by its discriminator",
        ),
        (at("Microsoft.Kusto/clusters/c/databases/d"), {"kind": "Odd"}, {}, "a union of an unknown member"),
        (
            at("Microsoft.Kusto/clusters/c/databases/d"),
            {"properties": {"hotCachePeriod": "P5D", "softDeletePeriod": "P10D"}},
            {
                "readWriteDatabase": {
                    "hotCachePeriod": "P5D",
                    "kind": "ReadWrite",
                    "softDeletePeriod": "P10D",
                }
            },
            "a union by its members, if an old api-version does not say the choice",
        ),
        (
            at("Microsoft.Kusto/clusters/c/databases/d/dataConnections/e"),
            {"location": "West Europe"},
            {},
            "members of more than one choice",
        ),
        (ALERT, {"properties": {"actions": {"actionGroups": []}}}, {**WANTED, "actions": {}}, "required, and empty"),
        (
            ALERT,
            {"properties": {}},
            {"actions": {}, "condition": {"allOf": []}, "scopesReferences": []},
            "required, not shown",
        ),
        (BLOBS, {"properties": {"cors": {"corsRules": [RULE]}}}, {"cors": {"corsRules": [RULE]}}, "an empty entry"),
    ],
)
def test_what_a_spec_sets_in_a_body(arm_id, body, spec, why):
    assert spec_of(find(arm_id, **body)) == spec, why


@pytest.mark.parametrize(
    ("arm_id", "properties", "spec", "unfit", "why"),
    [
        (ACCOUNT, {"accessTier": "Sometimes"}, {}, ["/properties/accessTier"], "a word that the kind lacks"),
        (
            BLOBS,
            {"deleteRetentionPolicy": {"days": 0, "enabled": False}},
            {"deleteRetentionPolicy": {"enabled": False}},
            ["/properties/deleteRetentionPolicy/days"],
            "a number out of bounds",
        ),
        (
            SUBNET,
            {"addressPrefix": "10.0.0.0/24", "networkSecurityGroup": {"id": "_ResourceId"}},
            {"addressPrefix": "10.0.0.0/24"},
            ["/properties/networkSecurityGroup"],
            "a member of an id that has none",
        ),
        (
            BLOBS,
            {"cors": {"corsRules": [RULE, {**RULE, "allowedMethods": ["DANCE"]}]}},
            {},
            ["/properties/cors/corsRules/*/allowedMethods/*", "/properties/cors"],
            "an entry goes with its list, as the rest of it would ask for a removal, and what is empty then",
        ),
    ],
)
def test_a_value_that_a_kind_does_not_allow_is_left_out_and_named(arm_id, properties, spec, unfit, why):
    resource = find(arm_id, properties=properties)
    (manifest,) = make_manifests([resource], STYLE)
    assert spec_of(resource) == spec, why
    assert list(manifest.unfit) == unfit


def test_what_the_spec_itself_requires_stays_wrong_and_is_reported():
    body = {"location": "westeurope", "sku": {"name": "Odd", "capacity": 2}}
    resource = find(at("Microsoft.Cache/redisEnterprise/r"), **body)
    (manifest,) = make_manifests([resource], STYLE)
    assert manifest.unfit == ("/sku/name", "/sku")
    prepared = prepare(
        read_manifests({"m.yaml": format_manifests([manifest])}, namespace="default"),
        catalog=open_catalog(),
        subscription=SUBSCRIPTION,
    )
    (proof,) = prove({manifest.key: resource}, show(prepared, {}, keeps_secrets=True))
    assert "MissingField" in [problem.code for problem in proof.problems]


def test_secrets_are_never_written_but_named():
    body = {"properties": {"configurationProtectedSettings": {"key": "hunter2"}}}
    extension = find(f"{CLUSTER}/providers/Microsoft.KubernetesConfiguration/extensions/flux", **body)
    server = find(SERVER, properties={"administratorLogin": "me"})
    manifests = make_manifests([extension, server], STYLE)
    assert [manifest.secrets for manifest in manifests] == [
        (("k-flux-extension-configurationprotectedsettings", ""),),
        (("db1-flexibleserver", "administratorLoginPassword"),),
    ]
    assert "hunter2" not in json.dumps([manifest.document for manifest in manifests])


def test_what_azure_sets_by_itself_is_left_out_unless_all_is_kept():
    body = {"properties": {"encryption": {"keySource": "Microsoft.Storage"}, "allowCrossTenantReplication": False}}
    account = find(ACCOUNT, **body)
    assert spec_of(account) == {}
    assert spec_of(account, is_full=True) == {
        "encryption": {"keySource": "Microsoft.Storage"},
        "allowCrossTenantReplication": False,
    }


def test_a_field_that_the_kind_requires_stays_beside_one_that_is_set():
    body = {"properties": {"encryption": {"keySource": "Microsoft.Storage", "requireInfrastructureEncryption": True}}}
    assert spec_of(find(ACCOUNT, **body))["encryption"]["requireInfrastructureEncryption"] is True


def test_the_table_has_a_type_in_any_case_and_no_others():
    leaf = ("properties", "encryption", "keySource")
    assert find_azure_values("MICROSOFT.STORAGE/storageAccounts").is_own(leaf, "Microsoft.Storage")
    assert not find_azure_values("Microsoft.Storage/storageAccounts").is_own(leaf, "Microsoft.Keyvault")
    assert not find_azure_values("Contoso.Things/things").is_own(leaf, "Microsoft.Storage")


def test_references_are_by_name_inside_an_import_and_the_repository_and_else_by_id():
    network, subnet = find(NETWORK), find(SUBNET, properties={"networkSecurityGroup": {"id": SECURITY.upper()}})
    key = Key("network.azure.com", "NetworkSecurityGroup", "default", "firewall")
    elsewhere = Key("network.azure.com", "NetworkSecurityGroup", "team", "firewall")
    for existing, reference in (
        ({ArmId(SECURITY).key: key}, {"group": key.group, "kind": key.kind, "name": "firewall"}),
        ({ArmId(SECURITY).key: elsewhere}, {"armId": SECURITY.upper()}),
    ):
        style = ManifestStyle(existing=existing, namespace="default")
        manifests = [manifest.document["spec"] for manifest in make_manifests([network, subnet], style)]
        assert manifests[0]["owner"] == {"armId": network.owner_id}
        assert manifests[1]["owner"] == {"name": "hub"}
        assert manifests[1]["networkSecurityGroup"]["reference"] == reference


def test_a_role_is_referred_to_by_its_name():
    role = "/subscriptions/x/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    assignment = f"{NETWORK}/providers/Microsoft.Authorization/roleAssignments/8a1b5d2c-a08f-55af-a14e-fa97442cba25"
    found = find(assignment, properties={"roleDefinitionId": role, "principalId": "p"})
    (manifest,) = make_manifests([found], STYLE)
    assert manifest.document["spec"]["roleDefinitionReference"] == {"wellKnownName": "Reader"}
    assert manifest.key.name == "hub-reader-8a1b5d2c"


def test_a_manifest_begins_with_its_identity_and_writes_lines_as_a_block():
    policy = find(at("Microsoft.ApiManagement/service/a/policies/policy"), properties={"value": "<a>\r\n</a>"})
    account = find(ACCOUNT.replace("stuff", "Stuff"), location="westeurope")
    text = format_manifests(make_manifests([policy, account], STYLE)).decode()
    assert "value: |-\n    <a>\n    </a>\n" in text
    assert list(yaml.safe_load(text.partition("---\n")[2])["spec"]) == ["azureName", "owner", "location"]

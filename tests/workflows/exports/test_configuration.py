"""The configuration of manifests. `docs/decisions/terraform.md` has why a plan of it is silent."""

import re
from textwrap import dedent

import pytest
import yaml

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.model.arm_id import ArmId
from gitsync.planning.claims import assign_writers
from gitsync.workflows.exports.terraform.configuration import (
    ManifestSet,
    list_changes,
    make_configuration,
    name_file,
)
from tests.support.command_line import SUBSCRIPTION

GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
GROUP = """
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {name: core}
    spec: {location: westeurope}
"""
IDENTITY = """
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata: {name: app}
    spec:
      location: westeurope
      owner: {name: core}
      operatorSpec:
        configMaps: {principalId: {name: app, key: principal}}
        configMapExpressions:
          - {name: app, key: client, value: self.status.clientId}
          - {name: app, key: joined, value: self.status.clientId + "x"}
"""
ADDRESS = """
    apiVersion: network.azure.com/v1api20240301
    kind: PublicIPAddress
    metadata: {name: egress}
    spec: {location: westeurope, owner: {name: core}, sku: {name: Standard}}
"""
NETWORK = """
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetwork
    metadata: {name: hub}
    spec:
      location: westeurope
      owner: {name: core}
      addressSpace: {addressPrefixes: [10.0.0.0/16]}
"""
SUBNET = """
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksSubnet
    metadata: {name: one}
    spec: {owner: {name: hub}, addressPrefix: 10.0.0.0/24}
"""


def flow(body, name="flow", type_="Microsoft.Logic/workflows@2019-05-01", **metadata):
    """An AzureResource in the group, whose definition may be anything."""
    spec = {"type": type_, "owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "core"}}
    document = {
        "apiVersion": "azure.gitsync/v1",
        "kind": "AzureResource",
        "metadata": {"name": name, **metadata},
        "spec": spec | {"body": {"location": "westeurope", **body}},
    }
    return yaml.safe_dump(document)


def define(value):
    return flow({"properties": {"definition": {"value": value}}})


def export(*documents):
    own = make_set(*documents)
    return make_configuration([own], own.prepared, open_catalog())


def make_set(*documents):
    text = "\n---\n".join(dedent(document) for document in documents)
    manifests = read_manifests({"m.yaml": text.encode()})
    prepared = assign_writers(prepare(manifests, catalog=open_catalog(), subscription=SUBSCRIPTION), {})
    return ManifestSet(prepared, manifests.objects.config_maps)


def join(configuration):
    return b"\n".join(configuration.files.values()).decode()


GROUP_BLOCK = "azapi_resource.resource_group_core"
DEFINITIONS = [
    (GROUP_ID, f"{GROUP_BLOCK}.id", "an id of a block"),
    (f"{GROUP_ID}/providers/x", f'"${{{GROUP_BLOCK}.id}}/providers/x"', "an id below it"),
    (f"see {GROUP_ID}, and", f'"see ${{{GROUP_BLOCK}.id}}, and"', "an id in a text"),
    (f"cost$ of ${GROUP_ID}", f'"cost$ of \\u0024${{{GROUP_BLOCK}.id}}"', "a sign before an id"),
    (f"{GROUP_ID}2", f'"{GROUP_ID}2"', "another group whose name begins so"),
    (GROUP_ID.upper(), f'"{GROUP_ID.upper()}"', "another spelling: azapi compares case"),
    (f"{GROUP_ID}${{x}}", f'"{GROUP_ID}$${{x}}"', "not an id, and escaped"),
    (
        {"$reference": {"group": "network.azure.com", "kind": "PublicIPAddress", "name": "egress"}},
        "azapi_resource.public_ip_address_egress.id",
        "a reference",
    ),
    (
        f"{GROUP_ID}/providers/Microsoft.Logic/workflows/flow/runs",
        f'"${{{GROUP_BLOCK}.id}}/providers/Microsoft.Logic/workflows/flow/runs"',
        "its own id would be a cycle",
    ),
    ({"$configMap": {"name": "app", "key": "principal"}}, "principalId", "an export of what Azure sets"),
    ({"$configMap": {"name": "app", "key": "client"}}, "clientId", "an expression that is a path"),
    ({"$configMap": {"name": "app", "key": "joined"}}, "var.app_joined", "an expression that is more"),
    ({"$configMap": {"name": "given", "key": "a"}}, '"one"', "a value in git"),
    ({"$configMap": {"name": "other", "key": "a"}}, "var.other_a", "a value from elsewhere"),
    (
        {"$expression": 'resource("UserAssignedIdentity/app").status.principalId'},
        "azapi_resource.user_assigned_identity_app.output.properties.principalId",
        "only Azure sets it, so the output has it",
    ),
    (
        {"$expression": 'resource("PublicIPAddress/egress").status.ipAddress'},
        "data.azapi_resource.public_ip_address_egress.output.properties.ipAddress",
        "the output lacks what a body may set",
    ),
    (
        {"$expression": '"ip=" + resource("PublicIPAddress/egress").status.ipAddress + ";"'},
        '"ip=${data.azapi_resource.public_ip_address_egress.output.properties.ipAddress};"',
        "a text that is joined",
    ),
    ({"$expression": 'resource("PublicIPAddress/egress").spec.sku.name'}, '"Standard"', "a value in git"),
    (
        {"$expression": 'resource("PublicIPAddress/egress").id + "/x"'},
        '"${azapi_resource.public_ip_address_egress.id}/x"',
        "an id in a text that is joined",
    ),
    (
        {"$expression": 'resource("PublicIPAddress/egress").status.ipAddress.upperAscii()'},
        "var.egress_value",
        "an expression that is more than a path",
    ),
    (None, None, "null is what is not there"),
]


@pytest.mark.parametrize(("value", "text", "why"), DEFINITIONS, ids=[row[-1] for row in DEFINITIONS])
def test_value_of_a_body(value, text, why):
    given = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: given}\ndata: {a: one}\n"
    configuration = export(GROUP, IDENTITY, ADDRESS, given, define(value))
    assert not configuration.left_out
    lines = [line.strip() for line in join(configuration).splitlines()]
    found = [line.partition("=")[2].strip() for line in lines if line.startswith("value ") or line == "value = null"]
    if text is None:
        assert found == [], why
    elif text in {"principalId", "clientId"}:
        assert found == [f"azapi_resource.user_assigned_identity_app.output.properties.{text}"], why
    else:
        assert found == [text], why


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: hooks}\nstringData: {one: https://example.com/?sig=hunter2}\n"
TEAM = """
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata: {name: team}
    spec: {displayName: Team, mailNickname: team, membershipType: assigned}
"""
PRODUCT = """
    apiVersion: apimanagement.azure.com/v1api20220801
    kind: ProductApi
    metadata: {name: x}
    spec: {owner: {armId: GROUP_ID/providers/Microsoft.ApiManagement/service/s/products/p}, azureName: a}
""".replace("GROUP_ID", GROUP_ID)
CLUSTER = "Microsoft.ContainerService/managedClusters@2025-03-01"
LEFT_OUT = [
    (
        PRODUCT,
        "Azure has no GET of its type, which an import needs",
        "an assignment that can only be made and removed",
    ),
    (
        NETWORK.replace("name: core", "name: none"),
        "its manifest has errors: run gitsync validate",
        "an owner is missing",
    ),
    (
        NETWORK.replace("{name: hub}", "{name: hub, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}"),
        "its reconcile policy is skip",
        "gitsync does not write it either",
    ),
    (
        TEAM,
        "it is in Microsoft Entra ID, which azapi does not manage",
        "a resource that ARM does not have",
    ),
    (
        define(2**53 + 1),
        "properties.definition.value cannot be written: azapi rounds a number of this size",
        "a number",
    ),
    (
        define("e\u0301"),
        "properties.definition.value cannot be written: Terraform normalizes the text (Unicode NFC)",
        "a text that would change",
    ),
    (
        flow({"identity": {"type": "SystemAssigned", "delegatedResources": {}}}, type_=CLUSTER),
        "identity has more than a type and user-assigned identities, which azapi cannot have",
        "what an identity block lacks",
    ),
    (
        flow({"tags": {"a": {"$secret": {"name": "hooks", "key": "one"}}}}),
        "tags has a secret, which azapi takes in a body only",
        "a secret that the state would have",
    ),
]


@pytest.mark.parametrize(("document", "reason", "why"), LEFT_OUT, ids=[row[-1] for row in LEFT_OUT])
def test_left_out(document, reason, why):
    configuration = export(GROUP, SECRET, document)
    assert [each.reason for each in configuration.left_out] == [reason], why
    assert len(configuration.blocks) == 1, "the group is there anyway"


def test_a_refused_resource_is_not_referred_to():
    target = define(2**53 + 1)
    arm_id = f"{GROUP_ID}/providers/Microsoft.Logic/workflows/flow"
    configuration = export(GROUP, target, flow({"properties": {"definition": {"a": arm_id}}}, name="other"))
    assert [each.name for each in configuration.blocks] == ["workflows_other", "resource_group_core"]
    assert f'"${{{GROUP_BLOCK}.id}}/providers/Microsoft.Logic/workflows/flow"' in join(configuration)


PLAIN = """
    apiVersion: network.azure.com/v1api20240301
    kind: PublicIPAddress
    metadata: {name: egress}
    spec: {azureName: egress-NAME, location: westeurope, owner: {name: core}, sku: {name: Standard}}
"""
OTHER = "another environment declares it with other values: export each with --path"
ENVIRONMENTS = [
    ([[GROUP, PLAIN.replace("NAME", "dev")], [GROUP, PLAIN.replace("NAME", "prod")]], 3, [], "a group that both have"),
    ([[GROUP, PLAIN], [GROUP, PLAIN]], 2, [], "everything is the same"),
    (
        [[GROUP, PLAIN], [GROUP.replace("westeurope}", "westeurope, tags: {a: b}}"), PLAIN]],
        2,
        [OTHER],
        "one ARM id with two values",
    ),
    (
        [[GROUP, PLAIN], [GROUP, PLAIN.replace("{name: egress}", "{name: other}")]],
        2,
        ["PublicIPAddress.network.azure.com/default/egress has the same ARM id"],
        "one ARM id with two names",
    ),
]


@pytest.mark.parametrize(("sets", "blocks", "reasons", "why"), ENVIRONMENTS, ids=[row[-1] for row in ENVIRONMENTS])
def test_environments_share_a_resource(sets, blocks, reasons, why):
    made = [make_set(*documents) for documents in sets]
    configuration = make_configuration(made, [each for own in made for each in own.prepared], open_catalog())
    assert len(configuration.blocks) == blocks, why
    assert [each.reason for each in configuration.left_out] == reasons, why
    assert join(configuration).count(f"  parent_id = {GROUP_BLOCK}.id\n") == blocks - 1, "each refers to the one block"


def test_secrets_are_variables_and_in_no_file():
    receivers = [{"name": "hook", "serviceUri": {"$secret": {"name": "hooks", "key": "one"}}}]
    body = {"properties": {"groupShortName": "a", "enabled": True, "webhookReceivers": receivers}}
    made = flow(body, name="alerts", type_="Microsoft.Insights/actionGroups@2023-01-01")
    configuration = export(GROUP, SECRET, made)
    text = join(configuration)
    assert "hunter2" not in text
    assert text.count("var.hooks_one") == 1
    assert "sensitive_body = {" in text
    assert configuration.files["variables.tf"].decode() == (
        "# Written by gitsync export terraform.\n\n"
        'variable "hooks_one" {\n'
        "  type        = string\n"
        '  description = "Secret default/hooks, key one"\n'
        "  sensitive   = true\n"
        "  ephemeral   = true\n"
        "}\n"
    )
    assert [(each.name, why) for each, why in list_changes(configuration.blocks)] == [
        ("action_groups_alerts", "secrets, which an imported state does not have")
    ]


PLAIN_SECRETS = [
    ("Microsoft.Sql/servers@2021-11-01", {"administratorLoginPassword": "hunter2"}, "var.db_administratorloginpassword",
     "the type has it as a secret"),
    ("Microsoft.Sql/servers@2099-01-01", {"administratorLoginPassword": "hunter2"}, "var.db_administratorloginpassword",
     "a version whose type is not known"),
    ("Microsoft.Sql/servers@2099-01-01", {"nodes": [{"sharedAccessKey": "hunter2"}]}, "var.db_sharedaccesskey",
     "a name in a list"),
    ("Microsoft.Sql/servers@2099-01-01", {"clientSecrets": ["hunter2"]}, "var.db_0", "an entry of a list of that name"),
    ("Microsoft.Sql/servers@2099-01-01", {"secrets": {"url": "https://v"}}, '"https://v"', "beside a secret"),
    ("Microsoft.Sql/servers@2099-01-01", {"password": True}, "password = true", "not a text"),
    ("Microsoft.Web/sites@2023-12-01", {"siteConfig": {"connectionStrings": [{"name": "a", "type": "SQLAzure",
     "connectionString": "hunter2"}]}}, "var.db_connectionstring", "Azure may return it"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "properties", "text", "why"), PLAIN_SECRETS, ids=[row[-1] for row in PLAIN_SECRETS])
def test_a_secret_that_a_manifest_has_in_plain_text_is_a_variable(type_, properties, text, why):
    made = join(export(GROUP, flow({"properties": properties}, name="db", type_=type_)))
    assert "hunter2" not in made, why
    assert text in made, why


def test_what_reads_a_value_of_a_resource_that_changes_changes_too():
    login = {"administratorLogin": "a", "administratorLoginPassword": {"$secret": {"name": "admin", "key": "password"}}}
    server = flow({"properties": login}, name="db", type_="Microsoft.Sql/servers@2021-11-01")
    host = {"$expression": 'resource("AzureResource/db").status.properties.fullyQualifiedDomainName'}
    by_id = flow(
        {"properties": {"definition": {"a": {"$expression": 'resource("AzureResource/db").id'}}}}, name="by-id"
    )
    changes = list_changes(export(GROUP, server, define(host), by_id).blocks)
    assert [(each.name, why) for each, why in changes] == [
        ("servers_db", "secrets, which an imported state does not have"),
        ("workflows_flow", "a value of azapi_resource.servers_db, which changes"),
    ]


IDENTITY_REF = "{reference: {group: managedidentity.azure.com, kind: UserAssignedIdentity, name: app}}"
ACCOUNT = """
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata: {name: data}
    spec:
      location: westeurope
      owner: {name: core}
      kind: StorageV2
      sku: {name: Standard_LRS}
      identity: IDENTITY
"""
IDENTITIES = [
    ("{type: SystemAssigned}", "SystemAssigned", "[]", "an import has an empty list, not none"),
    ("{type: None}", "None", "[]", "no identity"),
    (
        f"{{type: UserAssigned, userAssignedIdentities: [{IDENTITY_REF}]}}",
        "UserAssigned",
        "[azapi_resource.user_assigned_identity_app.id]",
        "the ids are a list of azapi's, and keys in Azure",
    ),
    (
        f'{{type: "SystemAssigned,UserAssigned", userAssignedIdentities: [{IDENTITY_REF}]}}',
        "SystemAssigned, UserAssigned",
        "[azapi_resource.user_assigned_identity_app.id]",
        "azapi accepts one spelling",
    ),
]


@pytest.mark.parametrize(("identity", "type_", "ids", "why"), IDENTITIES, ids=[row[-1] for row in IDENTITIES])
def test_identity(identity, type_, ids, why):
    text = join(export(GROUP, IDENTITY, ACCOUNT.replace("IDENTITY", identity)))
    block = f'  identity {{\n    type         = "{type_}"\n    identity_ids = {ids}\n  }}\n'
    assert block in text, why
    assert "depends_on" not in text, "a reference orders already"
    assert "tags" not in text, "ASO sends null for no tags"


DETACH = "serviceoperator.azure.com/reconcile-policy: detach-on-delete"
LIFECYCLES = [
    (DETACH, ["prevent_destroy = true"], [], "Terraform would delete it"),
    (
        "gitsync/ignore: '[spec.idleTimeoutInMinutes]'",
        ["ignore_changes = [body.properties.idleTimeoutInMinutes]"],
        [],
        "a member of the body",
    ),
    ("gitsync/ignore: '[spec.tags.team]'", ['ignore_changes = [tags["team"]]'], [], "a tag, which is in a map"),
    ("gitsync/ignore: '[spec.ddosSettings]'", [], [], "what the body does not have is not compared"),
    (
        "gitsync/ignore: '[\"spec.tags.hidden-*\"]'",
        [],
        ['gitsync ignores tags["hidden-*"], and ignore_changes cannot name it'],
        "a pattern",
    ),
    (
        "gitsync/hold: 'until 2999-01-01, an incident'",
        [],
        ["gitsync holds it until 2999-01-01, and an apply writes it"],
        "a hold, which Terraform does not have",
    ),
    (
        "gitsync/update-method: patch",
        [],
        ["gitsync sends a PATCH of what differs, and azapi a PUT, which resets what the body lacks"],
        "another method",
    ),
    ("gitsync/update-method: put", [], [], "the method of azapi"),
]


@pytest.mark.parametrize(("annotation", "lines", "notes", "why"), LIFECYCLES, ids=[row[-1] for row in LIFECYCLES])
def test_lifecycle(annotation, lines, notes, why):
    made = ADDRESS.replace("{name: egress}", f"{{name: egress, annotations: {{{annotation}}}}}")
    configuration = export(GROUP, made.replace("sku:", "tags: {team: a}, idleTimeoutInMinutes: 7, sku:"))
    assert not configuration.left_out
    text = join(configuration)
    found = [line.strip() for line in text.splitlines() if "prevent_destroy" in line or "ignore_changes" in line]
    assert found == lines, why
    assert [note for each in configuration.blocks for note in each.notes] == notes, why


def test_keys_that_only_gitsync_exports_are_noted():
    secrets = "operatorSpec: {secrets: {key1: {name: keys, key: a}, key2: {name: keys, key: b}}}"
    account = ACCOUNT.replace("identity: IDENTITY", secrets)
    assert [note for each in export(GROUP, account).blocks for note in each.notes] == [
        "gitsync exports its values to Secret keys, and Terraform does not"
    ]


STORAGE = "Microsoft.Storage/storageAccounts@2023-01-01"
KIND = {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
VALIDATED = [
    (flow({"properties": {"state": "Enabled"}}), True, "a body of the type"),
    (
        flow({"properties": {"state": "Enabled"}}, type_="Microsoft.Logic/workflows@2099-01-01"),
        False,
        "a newer version",
    ),
    (flow({"properties": {"provisioningState": "Succeeded"}}), False, "a member that is read-only"),
    (flow({"properties": {"accessTier": "Hot"}, **KIND}, type_=STORAGE), True, "a word of a choice"),
    (flow({"properties": {"accessTier": "hot"}, **KIND}, type_=STORAGE), False, "azapi compares words with their case"),
    (flow(KIND, name="a", type_=STORAGE), False, "azapi validates the name as well"),
]


@pytest.mark.parametrize(("document", "validates", "why"), VALIDATED, ids=[row[-1] for row in VALIDATED])
def test_azapi_validates_what_its_schema_accepts(document, validates, why):
    text = join(export(GROUP, document))
    # An import assumes true, and what is validated is what is written.
    assert ("  schema_validation_enabled = false\n" in text) is not validates, why
    assert ("    ignore_changes = [schema_validation_enabled]\n" in text) is not validates, why


RULES = "Microsoft.Network/networkSecurityGroups@2024-05-01"
NETWORKS = "Microsoft.Network/virtualNetworks@2024-05-01"
ENTRY = {"name": "one", "properties": {"addressPrefix": "10.0.0.0/24"}}
SPACE = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
EMBEDDING = [
    (NETWORK, ["subnets", "virtualNetworkPeerings"], "a request without the lists deletes what is in them"),
    (
        flow({"properties": {**SPACE, "subnets": [ENTRY]}}, type_=NETWORKS),
        ["virtualNetworkPeerings"],
        "a list that git has is its own",
    ),
    (flow({}, type_=RULES), ["securityRules"], "a body without properties"),
    (ADDRESS, [], "a type without children"),
]


@pytest.mark.parametrize(("document", "lists", "why"), EMBEDDING, ids=[row[-1] for row in EMBEDDING])
def test_children_that_azure_embeds_are_kept(document, lists, why):
    configuration = export(GROUP, document)
    assert not configuration.left_out
    text = join(configuration)
    ignored = ", ".join(f"body.properties.{name}" for name in lists)
    assert (f"    ignore_changes = [{ignored}]\n" in text) is bool(lists), why
    assert [line.split()[0] for line in text.splitlines() if line.endswith("= []")] == lists, why


def test_a_list_of_the_parent_deletes_no_child_that_has_a_block():
    rule = """
        apiVersion: network.azure.com/v1api20240301
        kind: NetworkSecurityGroupsSecurityRule
        metadata: {name: rule}
        spec:
          owner: {armId: GROUP_ID/providers/Microsoft.Network/networkSecurityGroups/flow}
          access: Deny
          direction: Inbound
          priority: 100
          protocol: Tcp
          sourceAddressPrefix: Internet
          sourcePortRange: "*"
          destinationAddressPrefix: "*"
          destinationPortRange: "22"
    """.replace("GROUP_ID", GROUP_ID)
    parent = flow({"properties": {"securityRules": []}}, type_=RULES)
    configuration = export(GROUP, parent, rule)
    assert not configuration.left_out
    assert "    ignore_changes = [body.properties.securityRules]\n" in join(configuration)
    assert [note for each in configuration.blocks for note in each.notes] == [
        "changes to properties.securityRules are not sent: its entries have blocks too"
    ]
    assert "ignore_changes" not in join(export(GROUP, parent)), "without a block, the list is complete"


def test_an_order_without_a_reference_is_kept():
    after = NETWORK.replace("{name: hub}", "{name: hub, annotations: {gitsync/depends-on: PublicIPAddress/egress}}")
    assert "  depends_on = [azapi_resource.public_ip_address_egress]\n" in join(export(GROUP, ADDRESS, after))


ROOT = "/providers/Microsoft.Management/managementGroups/root"
LOCK = "Microsoft.Authorization/locks@2020-05-01"
POLICY = "Microsoft.Authorization/policyAssignments@2022-06-01"
SCOPES = [
    (LOCK, f"{{armId: /subscriptions/{SUBSCRIPTION}}}", f"/subscriptions/{SUBSCRIPTION}", None, "a subscription"),
    (LOCK, "{group: resources.azure.com, kind: ResourceGroup, name: core}", GROUP_ID, GROUP_BLOCK, "a group"),
    ("Microsoft.Management/managementGroups@2021-04-01", "", "", None, "the tenant"),
    (POLICY, f"{{armId: {ROOT}}}", ROOT, None, "a management group"),
]


@pytest.mark.parametrize(("type_", "owner", "scope", "block", "why"), SCOPES, ids=[row[-1] for row in SCOPES])
def test_scope(type_, owner, scope, block, why):
    lines = ["apiVersion: azure.gitsync/v1", "kind: AzureResource", "metadata: {name: x}", "spec:", f"  type: {type_}"]
    configuration = export(GROUP, "\n".join([*lines, *([f"  owner: {owner}"] if owner else []), "  body: {}"]))
    parent = f"{block}.id" if block else f'"{scope or "/"}"'
    text = configuration.files[name_file(ArmId(f"{scope}/providers/x"))].decode()
    assert re.search(rf"  parent_id +=  *{re.escape(parent)}\n", text), why
    arm_type, _, version = type_.partition("@")
    wanted = f'"{scope}/providers/{arm_type}/x?api-version={version}"'
    assert wanted in configuration.files["imports.tf"].decode(), why


FILES = [
    (f"{GROUP_ID}/providers/x/y/z", "group-core.tf", "by resource group"),
    ("/subscriptions/s/providers/x", "subscription.tf", "in no group"),
    ("/providers/x/y/z", "tenant.tf", "in no subscription"),
    ("/subscriptions/s/resourceGroups/A_override", "group-a-override.tf", "*_override.tf has a meaning of its own"),
    ("/subscriptions/s/resourceGroups/override", "group-override.tf", "so has override.tf"),
    ("/subscriptions/s/resourceGroups/..(x)", "group-x.tf", "no path"),
    ("/subscriptions/s/resourceGroups/日本", "group-unnamed.tf", "nothing legal in it"),
    ("/subscriptions/s/resourceGroups/imports", "group-imports.tf", "not the file of the imports"),
]


@pytest.mark.parametrize(("arm_id", "name", "why"), FILES, ids=[row[-1] for row in FILES])
def test_file(arm_id, name, why):
    assert name_file(ArmId(arm_id)) == name, why


def test_the_bytes_do_not_depend_on_the_order_of_the_documents():
    documents = [GROUP, IDENTITY, ADDRESS, NETWORK, SUBNET, define({"$configMap": {"name": "app", "key": "client"}})]
    assert export(*documents).files == export(*reversed(documents)).files


def test_a_source_without_a_block_is_read_by_its_id():
    policy = "{name: egress, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}"
    read = define({"$expression": 'resource("PublicIPAddress/egress").status.ipAddress'})
    data = export(GROUP, ADDRESS.replace("{name: egress}", policy), read).files["data.tf"].decode()
    assert data == (
        "# Written by gitsync export terraform.\n\n"
        'data "azapi_resource" "public_ip_address_egress" {\n'
        '  type                   = "Microsoft.Network/publicIPAddresses@2024-03-01"\n'
        f'  resource_id            = "{GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/egress"\n'
        '  response_export_values = ["properties.ipAddress"]\n'
        "}\n"
    )


ROOT_GROUP = """
    apiVersion: azure.gitsync/v1
    kind: AzureResource
    metadata: {name: root}
    spec: {type: Microsoft.Management/managementGroups@2021-04-01, body: {properties: {}}}
"""


def test_the_provider_has_a_subscription_if_there_is_one_alone():
    assert f'subscription_id = "{SUBSCRIPTION}"' in export(GROUP).files["providers.tf"].decode()
    assert 'provider "azapi" {}\n' in export(ROOT_GROUP).files["providers.tf"].decode()


def test_nothing_to_export_has_no_files():
    assert export(TEAM).files == {}

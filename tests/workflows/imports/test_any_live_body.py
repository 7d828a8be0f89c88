"""Live bodies of any type as bodies of AzureResources: what is read, and what is left out."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.model.arm_id import ArmId
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.import_proof import prove
from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, format_manifests, make_manifests
from gitsync.workflows.imports.plain_secrets import mark_plain_secrets
from tests.workflows.imports.found import GROUP, SUBSCRIPTION, at, find

FLOW = at("Microsoft.Logic/workflows/orders")
B2B = at("Microsoft.Logic/integrationAccounts/b2b")
CUBES = at("Microsoft.AnalysisServices/servers/cubes")
INSTANCE = at("Microsoft.Sql/managedInstances/db")
CONNECTION = at("Microsoft.Network/connections/office")
TASK = at("Microsoft.Logic/integrationAccounts/b2b/partners/contoso")
NETWORK = at("Microsoft.Network/virtualNetworks/hub")
STYLE = ManifestStyle(existing={}, namespace="default")


def make(*resources, **style):
    return make_manifests(resources, ManifestStyle(**{"existing": {}, "namespace": "default", **style}))


def body_of(resource):
    (manifest,) = make(resource)
    return manifest.document["spec"].get("body", {})


SECRET = {"name": "db-azureresource", "key": "administratorLoginPassword"}


@pytest.mark.parametrize(
    ("arm_id", "body", "expected", "why"),
    [
        (FLOW, {"location": "West Europe", "name": "orders", "type": "microsoft.logic/WORKFLOWS", "etag": "1"},
         {"location": "westeurope"}, "what other fields have, and what is of an answer only"),
        (FLOW, {"properties": {"state": "Enabled", "version": "08", "accessEndpoint": "https://x", "createdTime": "t"}},
         {"properties": {"state": "Enabled"}}, "what Azure alone sets"),
        (FLOW, {"properties": {"accessEndpoint": "https://x"}}, {}, "an object of which nothing is left"),
        (FLOW, {"properties": {"definition": {"$schema": "s", "a": None, "b": {}, "c": [], "d": ""}}},
         {"properties": {"definition": {"$schema": "s", "a": None, "b": {}, "c": [], "d": ""}}}, "free JSON stays as it is"),
        (FLOW, {"properties": {"definition": {"$secret": {"$$reference": 1}, "$$other": 2}}},
         {"properties": {"definition": {"$$secret": {"$$$reference": 1}, "$$other": 2}}}, "own keys that are words"),
        (FLOW, {"tags": {"a": "", "$secret": "b"}}, {"tags": {"a": "", "$$secret": "b"}}, "members of any name"),
        (FLOW, {"tags": {}, "properties": {"state": ""}}, {}, "what is empty says nothing"),
        (FLOW, {"properties": {"newMember": 1}}, {}, "a member that the type does not have"),
        (FLOW, {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/x": {"clientId": "1"}}}},
         {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/x": {}}}}, "keys of a map stay"),
        (FLOW, {"properties": {"integrationAccount": {"id": B2B}}},
         {"properties": {"integrationAccount": {"id": B2B}}}, "an id of what is not in the import"),
        (CUBES, {"properties": {"managedMode": "1"}}, {"properties": {"managedMode": 1}}, "a number as text"),
        (INSTANCE, {"properties": {"administratorLogin": "boss"}},
         {"properties": {"administratorLogin": "boss", "administratorLoginPassword": {"$secret": SECRET}}},
         "an account without its password"),
        (INSTANCE, {"properties": {"administratorLoginPassword": "hunter2"}},
         {"properties": {"administratorLoginPassword": {"$secret": SECRET}}}, "a secret that Azure shows is not read"),
        (CONNECTION, {"properties": {"connectionType": "IPsec", "sharedKey": "****"}},
         {"properties": {"connectionType": "IPsec", "sharedKey":
          {"$secret": {"name": "office-azureresource", "key": "sharedKey"}}}}, "a masked secret"),
        (FLOW, {"properties": {"parameters": {"key": {"value": "*****"}}}},
         {"properties": {"parameters": {"key": {"value":
          {"$secret": {"name": "orders-azureresource", "key": "parameters.key.value"}}}}}}, "and one in free JSON"),
    ],
)  # fmt: skip
def test_a_live_body_becomes_a_body(arm_id, body, expected, why):
    assert body_of(find(arm_id, **body)) == expected, why


def test_a_value_that_the_type_does_not_allow_is_left_out_and_named():
    (manifest,) = make(find(CUBES, properties={"querypoolConnectionMode": "Warp", "managedMode": 1}))
    assert manifest.document["spec"]["body"]["properties"] == {"managedMode": 1}
    assert manifest.unfit == ("/properties/querypoolConnectionMode",)


def test_the_header_names_type_version_and_owner():
    (manifest,) = make(find(FLOW, location="westeurope"))
    assert manifest.document == {
        "apiVersion": "azure.gitsync/v1",
        "kind": "AzureResource",
        "metadata": {
            "name": "orders",
            "annotations": {"serviceoperator.azure.com/reconcile-policy": "detach-on-delete"},
        },
        "spec": {
            "type": "Microsoft.Logic/workflows@2019-05-01",
            "owner": {"armId": GROUP},
            "body": {"location": "westeurope"},
        },
    }


def test_ids_of_the_same_import_become_references():
    account, partner = find(B2B, location="x"), find(TASK, properties={"partnerType": "B2B"})
    flow = find(
        FLOW,
        properties={"integrationAccount": {"id": B2B.upper()}, "definition": {"inputs": [NETWORK, f"{NETWORK}/a"]}},
    )
    manifests = {
        manifest.key.name: manifest.document["spec"] for manifest in make(flow, account, partner, find(NETWORK))
    }
    hub = {"group": "network.azure.com", "kind": "VirtualNetwork", "name": "hub"}
    b2b = {"group": "azure.gitsync", "kind": "AzureResource", "name": "b2b"}
    assert manifests["orders"]["body"]["properties"] == {
        "integrationAccount": {"id": {"$reference": b2b}},
        "definition": {"inputs": [{"$reference": hub}, f"{NETWORK}/a"]},
    }
    assert manifests["b2b-contoso"]["owner"] == b2b
    assert manifests["b2b-contoso"]["azureName"] == "contoso"


def test_no_reference_closes_a_circle():
    account = find(B2B, properties={"integrationServiceEnvironment": {"id": TASK}})
    partner = find(TASK, properties={"metadata": {"account": B2B, "self": TASK, "flow": FLOW}})
    flow = find(FLOW, properties={"definition": {"partner": TASK, "account": B2B}})
    texts = {manifest.key.name: str(manifest.document) for manifest in make(account, partner, flow)}
    assert "$reference" not in texts["b2b"], "its child needs it"
    assert ("$reference" in texts["b2b-contoso"]) is not ("$reference" in texts["orders"]) or texts["orders"].count(
        "$reference"
    ) == 1


def test_plain_secrets_of_a_body_are_marked():
    definition = {"actions": {"call": {"inputs": {"clientSecret": "s3cr3t-value", "method": "GET"}}}}
    (manifest,) = make(find(FLOW, properties={"definition": definition}))
    (secret,) = mark_plain_secrets(manifest).plain_secrets
    assert secret.field == "spec.body.properties.definition.actions.call.inputs.clientSecret"
    assert secret.way == (
        "write $secret: {name: orders-azureresource, key: body_properties_definition_actions_call_inputs_clientSecret} "
        "in its place"
    )


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        (FLOW, at("Microsoft.Maps/accounts/orders"), {"orders-workflows", "orders-accounts"}),
        (FLOW, at("Microsoft.Logic/workflows/orders", "Edge"), {"core-orders", "edge-orders"}),
    ],
)
def test_two_of_one_name_get_their_type_or_their_group(first, second, names):
    assert {manifest.key.name for manifest in make(find(first), find(second))} == names


@pytest.mark.parametrize("arm_id", [FLOW, CUBES, at("Microsoft.Maps/accounts/map")])
def test_a_preview_is_taken_only_without_a_stable_version(arm_id):
    assert not find(arm_id).kind.api_version.endswith("preview")


def test_a_type_without_a_stable_version_gets_its_newest_preview():
    kind = find(at("Microsoft.AgFoodPlatform/farmBeats/d")).kind
    assert kind.api_version.endswith("preview")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", FLOW, NETWORK, "$secret"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "$secret", "$$secret", "$reference", "$connections", "$"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["definition", "parameters", "$secret", "x"]), _VALUES))
def test_the_manifest_of_free_json_requests_what_azure_shows(properties):
    """A version that is not known has no facts, so all of its body is free."""
    kind = open_catalog().any_type(TypeAndVersion("Microsoft.Logic/workflows", "2099-01-01"))
    body = {"id": FLOW, "properties": properties}
    flow = FoundResource(kind=kind, arm_id=ArmId(FLOW), owner_id=ArmId(GROUP), body=body)
    manifests = make_manifests([flow, find(NETWORK, location="westeurope")], STYLE)
    files = {"a.yaml": format_manifests(manifests)}
    assert len(list(yaml.safe_load_all(files["a.yaml"]))) == 2
    prepared = prepare(read_manifests(files, namespace="default"), catalog=open_catalog(), subscription=SUBSCRIPTION)
    shown = show(prepared, {})
    request = next(shown.request for shown in shown if shown.arm_id == FLOW)
    assert request.body == {"properties": properties}
    (proof,) = prove({manifests[0].key: flow}, shown)
    assert proof.holds

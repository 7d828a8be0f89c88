"""What commands print as JSON keeps the schemas in docs/schemas, and the schemas name every member of it."""

import json

import jsonschema
import pytest

from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import init_repository
from tests.support.json_schemas import NAMES, list_faults, read_schema

ENVIRONMENT = {"AZURE_SUBSCRIPTION_ID": SUBSCRIPTION, "GITSYNC_EMULATOR": "azure.db", "GITSYNC_STATUS_DIR": "status"}
MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
---
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: hub}
spec: {owner: {name: shop}, location: westeurope, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
---
apiVersion: keyvault.azure.com/v1api20230701
kind: Vault
metadata: {name: shop-secrets, annotations: {serviceoperator.azure.com/reconcile-policy: detach-on-delete}}
spec:
  owner: {name: shop}
  location: westeurope
  properties: {tenantId: 11111111-1111-1111-1111-111111111111, sku: {family: A, name: standard}}
"""
INVALID = """\
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: spoke}
spec: {owner: {name: nothing}, location: 5}
"""
COMMANDS = {
    "accept": ("accept",),
    "audit": ("audit",),
    "compare": ("compare", "desired.json", "live.json"),
    "doctor": ("doctor",),
    "eval": ("eval", "VirtualNetwork/hub", "self.metadata.name"),
    "explain": ("explain", "vnet"),
    "graph": ("graph",),
    "import": ("import", "--out", "imported"),
    "rehearse": ("rehearse", "--from-nothing"),
    "render": ("render",),
    "report": ("plan",),
    "shards": ("shards", "--workers", "2"),
    "status": ("status",),
    "unmanaged": ("unmanaged",),
    "validate": ("validate",),
}


@pytest.fixture(scope="module")
def synced(tmp_path_factory):
    """A folder that was synced once, and a manifest with problems that came later."""
    folder = tmp_path_factory.mktemp("schemas") / "source"
    folder.mkdir()
    (folder / "shop.yaml").write_text(MANIFESTS)
    assert run_here("sync", "--yes", folder=folder, **ENVIRONMENT).code == 0
    init_repository(folder)  # accept edits nothing outside of one
    (folder / "spoke.yaml").write_text(INVALID)
    (folder / "desired.json").write_text('{"tags": {"a": "b"}, "properties": {"c": 1}}')
    (folder / "live.json").write_text('{"tags": {"a": "c"}}')
    return folder


def test_each_schema_has_a_command():
    assert sorted(COMMANDS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(read_schema(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_command_prints_keeps_its_schema(name, synced):
    ended = run_here(*COMMANDS[name], "--output=json", folder=synced, **ENVIRONMENT)
    assert list_faults(name, json.loads(ended.out)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_refuses_another_document(name):
    assert list_faults(name, {"surprise": 1}) != []


def test_one_record_keeps_the_schema_of_its_part(synced):
    ended = run_here("describe", "VirtualNetwork/hub", "--output=json", folder=synced, **ENVIRONMENT)
    assert list_faults("status", json.loads(ended.out), "#/$defs/record") == []


REQUESTED = [
    ("UnknownField",),
    (),
    ("ResourceGroup", "--recursive"),
    ("AzureResource",),
    ("Microsoft.Logic",),
    ("Microsoft.Storage/storageAccounts", "--recursive"),
    ("Microsoft.Logic/workflows/runs",),
    ("Microsoft.Resources/deployments",),
]


@pytest.mark.parametrize("requested", REQUESTED, ids=str)
def test_every_form_of_an_explanation_keeps_its_schema(requested, synced):
    ended = run_here("explain", *requested, "--output=json", folder=synced)
    assert list_faults("explain", json.loads(ended.out)) == []

"""Scenarios of tests/scenarios.md on secrets, config maps and expressions, by their numbers:
15, 16, 29, 31, 32 and 34.

Those of credentials (11, 35) and the first ones of exports (13, 14, 26 to 28, 30, 33) stand with their own tests.
"""

from __future__ import annotations

import pytest

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.verdict import Action, Verdict
from tests.agent.run.exporters import ACCOUNT_ID, READY, account, config_map_at, revealed, said, secret_at, world_with
from tests.agent.run.test_secret_digests import KEY, SERVER, SERVER_ID, secret
from tests.support.memory_places import MemorySink
from tests.support.world import GROUP, GROUP_ID, of

IDENTITY_ID = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/who"
FEDERATION_ID = f"{IDENTITY_ID}/federatedIdentityCredentials/jobs"
IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: who
    spec:
      location: westeurope
      owner:
        name: core
    """
FEDERATION = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: FederatedIdentityCredential
    metadata:
      name: jobs
    spec:
      owner:
        name: who
      audiences: [api://AzureADTokenExchange]
      subject: system:serviceaccount:default:jobs
      issuerFromConfig:
        name: cluster
        key: issuer
    """
CONFIG_MAP = """\
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: cluster
      namespace: {namespace}
    data:
      issuer: {issuer}
    """
NOT_FOUND = (ConditionStatus.FALSE, Severity.WARNING)


@pytest.fixture
def sink():
    return MemorySink()


@pytest.fixture
def world(tmp_path, sink):
    return world_with(tmp_path, sink)


def config_map(issuer: str, namespace: str = "default") -> str:
    return CONFIG_MAP.format(issuer=issuer, namespace=namespace)


def elsewhere(value: str) -> str:
    return secret(value).replace("name: postgres", "name: postgres\n      namespace: other")


def with_exports(manifest: str, exports: str) -> str:
    """The manifest with an operatorSpec in YAML's flow style."""
    return f"{manifest.rstrip()}\n      operatorSpec: {{{exports}}}\n"


def problems_of(report, kind):
    """Its errors, each of which the report names once."""
    assert of(report, kind).verdict is Verdict.INVALID
    return [problem for problem in report.problems if problem.is_error]


def test_15_a_secret_of_another_namespace_is_none(world):
    found = of(world.says(group=GROUP, server=SERVER, far=elsewhere("hunter2hunter2")).sync(), "FlexibleServer")
    assert said(found) == (*NOT_FOUND, "SecretNotFound")
    assert "default/postgres does not exist" in found.condition.message
    assert world.sent("PUT") == [GROUP_ID]


def test_15_a_config_map_of_another_namespace_is_none(world):
    world.says(group=GROUP, identity=IDENTITY, federation=FEDERATION, far=config_map("https://far.example", "other"))
    found = of(world.sync(), "FederatedIdentityCredential")
    assert said(found) == (*NOT_FOUND, "ConfigMapNotFound")
    assert "failed resolving config map references" in found.condition.message
    assert "default/cluster does not exist" in found.condition.message


def test_15_changes_in_another_namespace_trigger_nothing(world):
    near = {"group": GROUP, "server": SERVER, "near": secret("hunter2hunter2")}
    world.says(**near, far=elsewhere("one-far-away")).sync(digest_key=KEY)
    report = world.says(**near, far=elsewhere("another-far-away")).sync(digest_key=KEY)
    assert of(report, "FlexibleServer").verdict is Verdict.IN_SYNC
    assert world.writes == []
    report = world.says(**{**near, "near": secret("hunter3hunter3")}).sync(digest_key=KEY)
    assert of(report, "FlexibleServer").action is Action.UPDATE, "its own is another matter"
    assert world.writes == [f"PUT {SERVER_ID}"]


def test_16_a_config_map_that_was_edited_is_written_again(world):
    estate = {"group": GROUP, "identity": IDENTITY, "federation": FEDERATION}
    world.synced(**estate, cluster=config_map("https://one.example"))
    report = world.says(**estate, cluster=config_map("https://two.example")).sync()
    assert of(report, "FederatedIdentityCredential").action is Action.UPDATE
    assert world.writes == [f"PUT {FEDERATION_ID}"]
    there = world.read(FEDERATION_ID, api_version="2023-01-31")
    assert there["properties"]["issuer"] == "https://two.example"
    assert world.sync().requests.writes == 0


TWICE = {
    "two fields": "secrets: {key1: {name: x, key: why}, key2: {name: x, key: why}}",
    "a field and an expression": (
        "secretExpressions: [{name: x, key: why, value: secret.key2}]\n        secrets: {key1: {name: x, key: why}}"
    ),
    "two expressions": (
        "secretExpressions: [{name: x, key: why, value: secret.key1}, {name: x, key: why, value: secret.key2}]"
    ),
}


@pytest.mark.parametrize("exports", TWICE.values(), ids=TWICE)
def test_29_two_secrets_to_one_key_are_rejected(world, sink, exports):
    report = world.says(group=GROUP, account=account(exports)).sync()
    (problem,) = problems_of(report, "StorageAccount")
    assert problem.code == "ExportTwice"
    assert problem.message == 'cannot write more than one secret to destination Name: "x", Key: "why".'
    assert (problem.path, problem.line > 0) == ("account.yaml", True)
    assert of(report, "StorageAccount").verdict is Verdict.INVALID
    assert (world.sent("PUT"), world.sent("POST"), sink.objects) == ([GROUP_ID], [], {})


def test_31_an_ill_typed_expression_is_rejected_word_for_word(world, sink):
    exports = "configMapExpressions: [{name: who, key: id, value: self.status.principalId + 10}]"
    report = world.says(group=GROUP, identity=with_exports(IDENTITY, exports)).sync()
    (problem,) = problems_of(report, "UserAssignedIdentity")
    assert problem.message == (
        'failed to compile CEL expression: "self.status.principalId + 10": ERROR: <input>:1:25: '
        "found no matching overload for '_+_' applied to '(string, int)'."
    )
    assert of(report, "UserAssignedIdentity").verdict is Verdict.INVALID
    assert (world.sent("PUT"), sink.objects) == ([GROUP_ID], {})


SITE = """\
    apiVersion: web.azure.com/{version}
    kind: Site
    metadata:
      name: shop
    spec:
      location: westeurope
      owner:
        name: core
      operatorSpec:
        configMapExpressions: [{{name: shop, key: routes, value: string(self.status.vnetRouteAllEnabled)}}]
    """


def test_32_a_property_of_the_manifests_older_version_can_be_set(world, sink):
    report = world.says(group=GROUP, site=SITE.format(version="v20220301")).sync()
    assert said(of(report, "Site")) == READY, of(report, "Site").condition.message
    assert revealed(sink, config_map_at("shop")) == {"routes": "false"}
    report = world.says(group=GROUP, site=SITE.format(version="v20250501")).sync()
    (problem,) = problems_of(report, "Site")
    assert "undefined field 'vnetRouteAllEnabled'" in problem.message, "the newer version does not have it"


CREDENTIAL = """\
secretExpressions: [\
{name: aso-credential, key: AZURE_SUBSCRIPTION_ID, value: aso.parseResourceId(self.status.id).subscriptionId}, \
{name: aso-credential, key: AZURE_TENANT_ID, value: self.status.tenantId}, \
{name: aso-credential, key: AZURE_CLIENT_ID, value: self.status.clientId}, \
{name: aso-credential, key: USE_WORKLOAD_IDENTITY_AUTH, value: string(true)}]"""


def test_34_a_credential_is_exported_by_expressions(world, sink):
    report = world.says(group=GROUP, identity=with_exports(IDENTITY, CREDENTIAL)).sync()
    found = of(report, "UserAssignedIdentity")
    assert said(found) == READY, found.condition.message
    there = world.read(IDENTITY_ID, api_version="2023-01-31")["properties"]
    assert revealed(sink, secret_at("aso-credential")) == {
        "AZURE_SUBSCRIPTION_ID": GROUP_ID.split("/")[2],
        "AZURE_TENANT_ID": there["tenantId"],
        "AZURE_CLIENT_ID": there["clientId"],
        "USE_WORKLOAD_IDENTITY_AUTH": "true",
    }
    assert world.sent("POST") == [], "nothing of it is a secret of Azure's"


def test_a_run_for_one_resource_leaves_the_exports_of_others_where_they_are(world, sink):
    """--only names what a run is about: what another resource exports feeds it, and is written nothing."""
    server = SERVER.replace("name: postgres\n        key: password", "name: lake\n        key: first")
    exports = "secrets: {key1: {name: lake, key: first}}\n        configMaps: {blobEndpoint: {name: where, key: blob}}"
    world.says(group=GROUP, account=account(exports), server=server)
    world.sync(only=("ResourceGroup/*", "StorageAccount/*"))
    sink.objects.clear()
    report = world.sync(only=("FlexibleServer/*",))
    assert said(of(report, "FlexibleServer")) == READY
    assert world.writes == [f"POST {ACCOUNT_ID}/listKeys", f"PUT {SERVER_ID}"]
    assert sink.objects == {}

"""Plans of resources whose values are elsewhere: what a plan reads, and what it shows of values that it cannot read."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.providers.arm.auth.arm_access import Network
from gitsync.providers.arm.http.connection import open_connection
from gitsync.report.text import render
from gitsync.repository.secrets.keyvault.key_vault import open_key_vault
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import SERVER_ID, server
from tests.agent.run.test_cluster_of_the_job import Pod
from tests.agent.run.test_review import apply, planned
from tests.agent.run.test_scenarios_of_secrets import FEDERATION, FEDERATION_ID, IDENTITY, config_map
from tests.support import private_ca
from tests.support.arm_rig import StaticCredential
from tests.support.fake_key_vault import FakeKeyVault
from tests.support.world import GROUP, GROUP_ID, World, of

KEY = Secret("k" * 32)
ISSUER = "/properties/issuer"
ONE, TWO = "https://one.example", "https://two.example"
API = "2023-01-31"


@pytest.fixture
def pod(tmp_path):
    pod = Pod(tmp_path)
    pod.cluster.make("configmaps", "default", "cluster", {"issuer": ONE})
    return pod


def federated(pod):
    return pod.says(group=GROUP, identity=IDENTITY, federation=FEDERATION)


def sides(result):
    return [(d.path, d.live, d.desired) for d in result.differences]


def test_a_plan_reads_a_config_map_of_the_cluster(pod):
    federated(pod).sync()
    pod.cluster.requests.clear()
    report = pod.plan(detailed_exitcode=True)
    assert (report.exit_code, of(report, "FederatedIdentityCredential").verdict) == (0, Verdict.IN_SYNC)
    assert {call.line for call in pod.cluster.requests} == {"GET /api/v1/namespaces/default/configmaps/cluster"}
    pod.cluster.make("configmaps", "default", "cluster", {"issuer": TWO})
    found = of(pod.plan(), "FederatedIdentityCredential")
    assert (found.verdict, sides(found)) == (Verdict.PENDING, [(ISSUER, ONE, TWO)]), "a public value is shown"


def test_a_config_map_that_a_plan_may_not_read_is_not_a_difference(pod):
    federated(pod).sync()
    pod.cluster.forbid("get", "configmaps")
    report = pod.plan(detailed_exitcode=True)
    found = of(report, "FederatedIdentityCredential")
    assert (report.exit_code, found.verdict, found.differences) == (0, Verdict.IN_SYNC, ())
    assert found.comparison.unverified == (ISSUER,)
    assert "ConfigMap default/cluster could not be read from kubernetes" in found.comparison.because[ISSUER]
    assert "<secret>" not in render(report), "it is no secret"
    (problem,) = report.problems
    assert problem.code == "ValuesNotRead"
    assert "gitsync-get-configmaps" in problem.hint, "the Role that is missing"


def test_what_it_may_not_read_is_not_held_against_azure_either(pod):
    federated(pod).sync()
    pod.cluster.forbid("get", "configmaps")
    moved = {
        "properties": {"issuer": TWO, "audiences": ["api://other"], "subject": "system:serviceaccount:default:jobs"}
    }
    pod.outside("PUT", FEDERATION_ID, moved, API)
    found = of(pod.plan(), "FederatedIdentityCredential")
    assert (found.verdict, [path for path, *_ in sides(found)]) == (Verdict.DRIFTED, ["/properties/audiences"])
    assert found.comparison.unverified == (ISSUER,)


def test_a_reviewed_plan_that_could_not_read_a_value_is_applied(pod):
    federated(pod).sync()
    pod.cluster.forbid("get", "configmaps")
    federation = FEDERATION.replace("serviceaccount:default:jobs", "serviceaccount:default:others")
    file = planned(pod.says(group=GROUP, identity=IDENTITY, federation=federation))
    pod.cluster.allow("get", "configmaps")
    report = apply(pod, file)
    assert (report.exit_code, pod.sent("PUT")) == (0, [FEDERATION_ID])
    assert pod.read(FEDERATION_ID, API)["properties"]["issuer"] == ONE


def test_a_value_that_no_one_reviewed_is_not_written(pod):
    federated(pod).sync()
    pod.cluster.forbid("get", "configmaps")
    file = planned(pod)
    pod.cluster.allow("get", "configmaps")
    assert apply(pod, file).exit_code == 0, "nothing is to be written"
    pod.cluster.make("configmaps", "default", "cluster", {"issuer": TWO})
    found = of(apply(pod, file), "FederatedIdentityCredential")
    assert (found.condition.reason, pod.writes) == ("NotReviewed", [])


def test_a_value_that_changed_since_the_review_is_the_reason_of_the_refusal(pod):
    federated(pod).sync()
    pod.cluster.make("configmaps", "default", "cluster", {"issuer": TWO})
    file = planned(pod)
    pod.cluster.make("configmaps", "default", "cluster", {"issuer": "https://three.example"})
    found = of(apply(pod, file), "FederatedIdentityCredential")
    assert (found.condition.reason, pod.writes) == ("PlanOutdated", [])
    assert "a referenced value or a setting changed" in found.condition.message
    assert "In Azure" not in found.condition.message
    assert apply(pod, planned(pod)).exit_code == 0
    assert pod.sent("PUT") == [FEDERATION_ID]


def rotate(pod, password):
    pod.cluster.make("secrets", "default", "db", {"password": password})


BOSS_ID = f"{SERVER_ID}/administrators/who"
BOSS = """\
    apiVersion: dbforpostgresql.azure.com/v20250801
    kind: FlexibleServersAdministrator
    metadata:
      name: boss
    spec:
      owner:
        name: books
      azureNameFromConfig:
        name: cluster
        key: boss
      principalType: User
    """
TOLD = {"issuer": ONE, "boss": "who"}


@pytest.fixture
def named(pod):
    """A pod whose cluster has the name of a resource."""
    rotate(pod, "0ne-of-the-cluster")
    pod.cluster.make("configmaps", "default", "cluster", TOLD)
    return pod.says(group=GROUP, server=server("db", "password"), boss=BOSS)


def test_a_name_that_a_plan_may_not_read_is_that_of_the_record(named):
    named.sync()
    named.cluster.forbid("get", "configmaps")
    report = named.plan(detailed_exitcode=True)
    found = of(report, "FlexibleServersAdministrator")
    assert (report.exit_code, found.verdict, found.arm_id) == (0, Verdict.IN_SYNC, BOSS_ID)
    assert found.comparison.unverified == ("/id",)
    file = planned(named, always_put=True)
    named.cluster.allow("get", "configmaps")
    assert of(apply(named, file, always_put=True), "FlexibleServersAdministrator").condition.reason == "Succeeded"


def test_a_name_that_nothing_is_known_of_is_reported_as_unknown(named):
    named.cluster.forbid("get", "configmaps")
    found = of(named.plan(), "FlexibleServersAdministrator")
    assert (found.action, found.arm_id) == (Action.CREATE, f"{SERVER_ID}/administrators/<configmap cluster/boss>")
    assert found.condition.message.startswith(
        "The ARM id is not known yet: ConfigMap default/cluster could not be read"
    )


def test_a_later_source_does_not_stand_in_for_one_that_could_not_be_read(pod):
    """Its value may not be the one that counts."""
    pod.order = ("kubernetes", "manifests")
    pod.cluster.forbid("get", "configmaps")
    report = pod.says(group=GROUP, identity=IDENTITY, federation=FEDERATION, cluster=config_map(TWO)).plan()
    body = of(report, "FederatedIdentityCredential").change.body
    assert body["properties"]["issuer"] == "<configmap cluster/issuer>"


PASSWORD = "/properties/administratorLoginPassword"


@pytest.fixture
def shop(pod):
    """A pod whose database has a password of the cluster, and is in sync."""
    rotate(pod, "0ne-of-the-cluster")
    pod.says(group=GROUP, server=server("db", "password")).sync(digest_key=KEY)
    return pod


def test_a_plan_reads_a_secret_only_on_request(shop):
    rotate(shop, "tw0-of-the-cluster")
    shop.cluster.requests.clear()
    found = of(shop.plan(digest_key=KEY), "FlexibleServer")
    assert (found.verdict, found.comparison.unverified, shop.cluster.requests) == (Verdict.IN_SYNC, (PASSWORD,), [])
    assert (
        found.comparison.because[PASSWORD]
        == "not known to a plan: it reads no Secrets from kubernetes without --plan-secrets"
    )
    report = shop.plan(digest_key=KEY, plan_secrets=True)
    found = of(report, "FlexibleServer")
    assert (found.verdict, sides(found)) == (Verdict.PENDING, [(PASSWORD, "<secret>", "<secret>")])
    assert "of-the-cluster" not in repr(report)


def test_a_rotated_secret_passes_a_review(shop):
    settings = {"digest_key": KEY, "plan_secrets": True}
    rotate(shop, "tw0-of-the-cluster")
    file = planned(shop, **settings)
    assert "of-the-cluster" not in file.read_text()
    rotate(shop, "thr33-of-the-cluster")
    found = of(apply(shop, file, **settings), "FlexibleServer")
    assert (found.condition.reason, shop.writes) == ("PlanOutdated", []), "it was rotated again"
    report = apply(shop, planned(shop, **settings), digest_key=KEY)
    assert (report.exit_code, shop.sent("PUT")) == (0, [SERVER_ID])


def test_a_plan_that_is_to_read_secrets_names_the_right_that_it_lacks(shop):
    shop.cluster.forbid("get", "secrets")
    report = shop.plan(plan_secrets=True)
    assert {result.verdict for result in report.results} == {Verdict.INVALID}
    assert "gitsync-get-secrets" in of(report, "FlexibleServer").condition.advice


EXTENSION = """\
    apiVersion: kubernetesconfiguration.azure.com/v1api20230501
    kind: Extension
    metadata:
      name: agent
    spec:
      owner:
        armId: {owner}
      extensionType: agent
      configurationProtectedSettings:
        name: db
    """


def test_a_whole_secret_that_a_plan_does_not_read_is_not_a_difference(shop):
    owner = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/fleet"
    shop.outside("PUT", owner, {"location": "westeurope"}, "2024-09-01")
    report = shop.says(group=GROUP, agent=EXTENSION.format(owner=owner)).sync(digest_key=KEY)
    assert report.exit_code == 0, of(report, "Extension").condition
    found = of(shop.plan(digest_key=KEY), "Extension")
    assert (found.verdict, found.comparison.unverified) == (
        Verdict.IN_SYNC,
        ("/properties/configurationProtectedSettings",),
    )
    rotate(shop, "tw0-of-the-cluster")
    found = of(shop.plan(digest_key=KEY, plan_secrets=True), "Extension")
    assert [path for path, *_ in sides(found)] == ["/properties/configurationProtectedSettings/password"]


class Vaulted(World):
    """A world whose runs have a Key Vault beside the manifests."""

    def __init__(self, folder):
        super().__init__(folder)
        self.ca = private_ca.make(folder)
        self.vault = FakeKeyVault(self.ca.tls)

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.vault as fake,
            open_connection(Network(ca_bundle=self.ca.bundle)) as way,
            open_key_vault(fake.url, StaticCredential(), way, self.clock) as vault,
        ):
            self.secret_stores = SecretStores(order=("manifests", "key-vault"), sources={"key-vault": vault})
            yield azure


def test_a_rotated_secret_of_a_key_vault_passes_a_review(tmp_path):
    world, settings = Vaulted(tmp_path), {"digest_key": KEY, "plan_secrets": True}
    world.vault.make("default--db--password", "0ne-of-the-vault")
    world.says(group=GROUP, server=server("db", "password")).sync(digest_key=KEY)
    world.vault.make("default--db--password", "tw0-of-the-vault")
    world.vault.requests.clear()
    found = of(world.plan(digest_key=KEY), "FlexibleServer")
    assert (found.verdict, found.comparison.unverified, world.vault.requests) == (Verdict.IN_SYNC, (PASSWORD,), [])
    found = of(world.plan(**settings), "FlexibleServer")
    assert (found.verdict, sides(found)) == (Verdict.PENDING, [(PASSWORD, "<secret>", "<secret>")])
    assert apply(world, planned(world, **settings), digest_key=KEY).exit_code == 0
    assert world.sent("PUT") == [SERVER_ID]


def test_a_config_map_is_missing_although_a_plan_does_not_read_a_key_vault(tmp_path):
    found = of(Vaulted(tmp_path).says(group=GROUP, who=IDENTITY, jobs=FEDERATION).plan(), "FederatedIdentityCredential")
    assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "ConfigMapNotFound"), "a vault holds none"

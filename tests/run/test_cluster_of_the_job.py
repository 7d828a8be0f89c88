"""Whole runs in a pod: Secrets and config maps of the cluster that the job runs in, as source and as sink."""

from __future__ import annotations

from contextlib import asynccontextmanager

import private_ca
import pytest
from exporters import BOTH, ENDPOINT, KEY_1, READY, account, said, server
from fake_kubernetes import FakeKubernetes
from world import GROUP, GROUP_ID, World, of

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.verdict import Verdict
from gitsync.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.secrets.stores import Places

VALUE = "Marker-of-the-cluster"
NOT_YET = (ConditionStatus.FALSE, Severity.WARNING, "Failed")
OWNER = "StorageAccount.storage.azure.com/default/lake"


class Pod(World):
    """A world whose runs have a cluster around them. `account` is the folder of the service account."""

    def __init__(self, folder, **settings):
        super().__init__(folder, **settings)
        self.cluster = FakeKubernetes(private_ca.make(folder), folder / "account")

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.cluster as cluster,
            open_kubernetes(cluster.environment, self.clock, cluster.folder) as kubernetes,
        ):
            self.places = Places(
                order=("manifests", "kubernetes"), sources={"kubernetes": kubernetes}, sinks=(kubernetes,)
            )
            yield azure


@pytest.fixture
def pod(tmp_path):
    return Pod(tmp_path)


def test_a_secret_of_the_cluster_is_used_and_exports_become_objects_of_it(pod):
    pod.cluster.make("secrets", "default", "db", {"password": VALUE})
    report = pod.says(group=GROUP, account=account(BOTH), server=server("db", "password")).sync()
    assert [said(result) for result in report.results] == [READY] * 3
    exported = pod.cluster.there("secrets", "default", "lake")
    assert exported["metadata"]["annotations"] == {"gitsync/owner": OWNER}
    assert exported["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "gitsync"}
    assert len(pod.cluster.data("secrets", "default", "lake")["first"]) > 30
    assert pod.cluster.data("configmaps", "default", "where")["blob"].startswith("https://lake.blob.")
    pod.cluster.requests.clear()
    assert [result.verdict for result in pod.sync().results] == [Verdict.IN_SYNC] * 3
    assert pod.cluster.lines("POST", "PUT") == ["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"]


def test_a_plan_asks_the_cluster_nothing(pod):
    pod.says(group=GROUP, account=account(BOTH), server=server("db", "password")).plan()
    assert pod.cluster.requests == []


@pytest.mark.parametrize(
    ("verb", "resource", "made", "why"),
    [
        ("create", "secrets", {"configmaps/where"}, "what came before it is written, as nobody can know"),
        ("create", "configmaps", set(), "the first one is refused"),
        ("get", "configmaps", set(), "whose it is cannot be told, which comes before any write"),
    ],
)
def test_a_missing_right_is_named_and_the_rest_goes_on(pod, verb, resource, made, why):
    pod.cluster.make("secrets", "default", "db", {"password": VALUE})
    pod.cluster.forbid(verb, resource)
    report = pod.says(group=GROUP, account=account(BOTH), server=server("db", "password")).sync()
    found = of(report, "StorageAccount")
    assert said(found) == NOT_YET
    assert "Grant the service account of the job a Role in namespace default" in found.condition.advice
    assert f"allows it to {verb} {resource}." in found.condition.advice
    assert said(of(report, "FlexibleServer")) == READY
    there = {("configmaps", "where"), ("secrets", "lake")}
    assert {f"{what}/{name}" for what, name in there if pod.cluster.has(what, "default", name)} == made, why


def test_without_the_right_to_read_nothing_is_taken_for_missing(pod):
    """Whose credential a resource has is unknown too, so nothing is written as anybody."""
    pod.cluster.make("secrets", "default", "db", {"password": VALUE})
    pod.cluster.forbid("get", "secrets")
    report = pod.says(group=GROUP, server=server("db", "password")).sync()
    assert {result.verdict for result in report.results} == {Verdict.INVALID}
    found = of(report, "FlexibleServer")
    assert "allows it to get secrets" in found.condition.advice
    assert "SecretNotFound" not in found.condition.reason
    assert pod.sent("PUT") == []


def test_an_object_of_somebody_else_is_left_alone(pod):
    pod.cluster.make("secrets", "default", "lake", {"first": "theirs"})
    report = pod.says(group=GROUP, account=account(f"{KEY_1}\n        {ENDPOINT}")).sync()
    found = of(report, "StorageAccount")
    assert found.condition.reason == "FailedWritingAdditionalKubernetesObjects"
    assert "cannot overwrite Secret default/lake which is not owned by" in found.condition.message
    assert pod.cluster.data("secrets", "default", "lake") == {"first": "theirs"}
    assert not pod.cluster.has("configmaps", "default", "where"), "nothing is half exported"
    assert pod.read(GROUP_ID)["name"] == "core"

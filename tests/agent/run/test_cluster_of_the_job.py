"""Whole runs in a pod: Secrets and config maps of the cluster that the job runs in, as source and as sink."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from gitsync.errors import ConfigError
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.verdict import Verdict
from gitsync.repository.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import BOTH, ENDPOINT, KEY_1, READY, account, said, server
from tests.support import private_ca
from tests.support.fake_kubernetes import NO_DRY_RUN, POLICY, REVIEWS, Admission, FakeKubernetes
from tests.support.git_repositories import add_remote
from tests.support.world import GROUP, GROUP_ID, World, of

VALUE = "Marker-of-the-cluster"
NOT_YET = (ConditionStatus.FALSE, Severity.WARNING, "Failed")
OWNER = "StorageAccount.storage.azure.com/default/lake"


class Pod(World):
    """A world whose runs have a cluster around them. `order` is that of the sources."""

    def __init__(self, folder, **settings):
        super().__init__(folder, **settings)
        self.order = ("manifests", "kubernetes")
        self.cluster = FakeKubernetes(private_ca.make(folder), folder / "account")

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.cluster as cluster,
            open_kubernetes(cluster.environment, self.clock, cluster.folder) as kubernetes,
        ):
            self.secret_stores = SecretStores(order=self.order, sources={"kubernetes": kubernetes}, sinks=(kubernetes,))
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
    assert set(pod.cluster.lines("POST", "PUT")) == {REVIEWS}


def test_a_plan_reads_no_secret_from_the_cluster(pod):
    pod.says(group=GROUP, account=account(BOTH), server=server("db", "password")).plan()
    assert pod.cluster.requests == []


@pytest.mark.parametrize(
    ("verb", "resource"),
    [("get", "configmaps"), ("create", "secrets"), ("create", "configmaps"), ("update", "secrets")],
)
def test_a_missing_right_refuses_the_run_before_anything_is_touched(pod, verb, resource):
    pod.cluster.make("secrets", "default", "db", {"password": VALUE})
    pod.cluster.forbid(verb, resource)
    with pytest.raises(ConfigError) as refused:
        pod.says(group=GROUP, account=account(BOTH), server=server("db", "password")).sync()
    assert refused.value.message == (
        f"The service account of the job lacks permissions that this run needs: {verb} {resource} in namespace default."
    )
    assert f"resources: [{resource}], verbs: [{verb}]" in refused.value.hint
    assert pod.sent("PUT") == []
    assert pod.cluster.names("configmaps", "default") == []
    assert not pod.state.exists(), "not even a record of what is expected"


def test_a_role_may_name_the_objects(pod):
    for verb in ("get", "update"):
        pod.cluster.forbid(verb, "secrets", except_names=("lake", "aso-credential"))
    report = pod.says(group=GROUP, account=account(BOTH)).sync()
    assert {said(result) for result in report.results} == {READY}


def test_the_right_to_delete_is_needed_by_a_run_that_deletes(pod):
    pod.says(group=GROUP, account=account(BOTH)).sync()
    pod.cluster.forbid("delete", "configmaps")
    assert pod.sync().exit_code == 0
    pod.says(group=GROUP)
    assert pod.sync().exit_code == 0, "without --prune nothing is deleted"
    with pytest.raises(ConfigError, match="delete configmaps in namespace default"):
        pod.sync(prune=True, max_deletes=5)
    assert pod.sent("DELETE") == []


def test_a_namespace_that_exports_nothing_is_not_asked_for(pod):
    pod.cluster.forbid("create", "secrets")
    pod.cluster.forbid("create", "configmaps")
    assert pod.says(group=GROUP).sync().exit_code == 0


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda cluster: cluster.limit("secrets", 0), "because of a quota"),
        (lambda cluster: cluster.terminate("default"), "because the namespace is being deleted"),
        (lambda cluster: setattr(cluster, "admission", Admission(422, "Invalid", POLICY)), "an admission policy"),
    ],
)
def test_an_object_that_would_be_refused_keeps_the_others_from_being_written(pod, prepare, words):
    """The config map comes first, and would be written if the Secret were not rehearsed."""
    prepare(pod.cluster)
    report = pod.says(group=GROUP, account=account(BOTH)).sync()
    found = of(report, "StorageAccount")
    assert said(found) == NOT_YET
    assert words in found.condition.message
    assert "kind: Role" not in found.condition.message
    assert pod.cluster.names("configmaps", "default") == []


def test_a_webhook_with_side_effects_is_not_rehearsed(pod):
    pod.cluster.admission = Admission(400, "BadRequest", NO_DRY_RUN, only_rehearsals=True)
    report = pod.says(group=GROUP, account=account(BOTH)).sync()
    assert {said(result) for result in report.results} == {READY}
    assert pod.cluster.has("secrets", "default", "lake")


def test_an_object_is_read_once_before_its_first_write_and_a_credential_once_a_run(pod):
    pod.says(group=GROUP, account=account(BOTH)).sync()
    secrets = "/api/v1/namespaces/default/secrets"
    reads = [line for line in pod.cluster.lines("GET") if line.startswith(f"GET {secrets}")]
    assert reads == [f"GET {secrets}/aso-credential", f"GET {secrets}/lake"]
    assert pod.cluster.lines("POST")[-2:] == ["POST /api/v1/namespaces/default/configmaps", f"POST {secrets}"]


def test_without_the_right_to_read_nothing_is_taken_for_missing(pod):
    """Whose credential a resource has is unknown too, so nothing is written as anybody."""
    pod.cluster.make("secrets", "default", "db", {"password": VALUE})
    pod.cluster.forbid("get", "secrets")
    report = pod.says(group=GROUP, server=server("db", "password")).sync()
    assert {result.verdict for result in report.results} == {Verdict.INVALID}
    found = of(report, "FlexibleServer")
    assert 'cannot get resource "secrets"' in found.condition.message
    assert "SecretNotFound" not in found.condition.reason
    assert pod.sent("PUT") == []


def test_a_namespace_without_a_role_is_one_problem_and_not_one_a_resource(pod):
    pod.cluster.forbid("get", "secrets", namespace="red")
    red = {name: GROUP.replace("name: core", f"name: {name}\n      namespace: red") for name in ("one", "two", "three")}
    report = pod.says(group=GROUP, **red).sync()
    (problem,) = report.problems
    assert problem.code == "CredentialNotUsable"
    assert problem.message.startswith(
        '3 resources: Could not determine whether the credential Secret "red/aso-credential" exists: The API server '
        "refused to get Secret red/aso-credential (403)"
    )
    assert [result.key.name for result in report.results if result.condition.is_ready] == ["core"]
    reads = [line for line in pod.cluster.lines("GET") if "/red/" in line]
    assert reads == ["GET /api/v1/namespaces/red/secrets/aso-credential"], "nothing there is referred to"


def test_a_missing_key_is_reported_as_aso_reports_it(pod):
    pod.cluster.make("secrets", "default", "db", {"other": VALUE})
    found = of(pod.says(group=GROUP, server=server("db", "password")).sync(), "FlexibleServer")
    assert found.condition.reason == "SecretNotFound"
    assert found.condition.message.startswith(
        'failed resolving secret references: default/db does not exist (Secret "default/db" does not contain key "password")'
    )


def test_an_object_of_another_agent_is_refused_with_its_name(pod):
    owner = f"{OWNER} of blue"
    pod.cluster.make(
        "secrets", "default", "lake", {"first": "theirs"}, metadata={"annotations": {"gitsync/owner": owner}}
    )
    found = of(pod.says(group=GROUP, account=account(BOTH)).sync(), "StorageAccount")
    assert found.condition.reason == "FailedWritingAdditionalKubernetesObjects"
    assert found.condition.message == (
        "cannot overwrite Secret default/lake which is not owned by StorageAccount.storage.azure.com default/lake. "
        f"{OWNER} of the agent blue exports it"
    )


def test_an_object_of_somebody_else_is_skipped(pod):
    pod.cluster.make("secrets", "default", "lake", {"first": "theirs"})
    report = pod.says(group=GROUP, account=account(f"{KEY_1}\n        {ENDPOINT}")).sync()
    found = of(report, "StorageAccount")
    assert found.condition.reason == "FailedWritingAdditionalKubernetesObjects"
    assert "cannot overwrite Secret default/lake which is not owned by" in found.condition.message
    assert pod.cluster.data("secrets", "default", "lake") == {"first": "theirs"}
    assert not pod.cluster.has("configmaps", "default", "where"), "nothing is half exported"
    assert pod.read(GROUP_ID)["name"] == "core"


@pytest.mark.parametrize(
    ("agent", "is_refused", "why"),
    [
        (None, True, "both are agents without a name, and would write over each other for ever"),
        ("blue", False, "the name says who it is, wherever its repository is"),
    ],
)
def test_two_repositories_without_names_do_not_share_an_object(pod, agent, is_refused, why):
    add_remote(pod.folder, "https://git.example/acme/one.git")
    pod.says(group=GROUP, account=account(BOTH)).sync(agent=agent)
    pod.git("remote", "set-url", "origin", "git@git.example:acme/two.git")
    report = pod.says(group=GROUP, account=account(BOTH)).sync(agent=agent)
    found = of(report, "StorageAccount")
    assert (found.condition.reason == "FailedWritingAdditionalKubernetesObjects") is is_refused, why
    assert ("exported from the repository git.example/acme/one" in found.condition.message) is is_refused, why
    annotations = pod.cluster.there("secrets", "default", "lake")["metadata"]["annotations"]
    assert annotations.get("gitsync/repository", "") == ("git.example/acme/one" if is_refused else "")

"""Exports never overwrite what is not their own, wherever it is (docs/reference/reconciliation.md#export-ownership)."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from gitsync.errors import SourceError
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.verdict import Action
from gitsync.providers.arm.auth.arm_access import Network
from gitsync.providers.arm.http.connection import open_connection
from gitsync.repository.secrets.keyvault.key_vault import open_key_vault
from gitsync.repository.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.sources.mounted_folder import FolderSource
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import ACCOUNT_ID, KEY_1, READY, SERVER_ID, UNWRITABLE, account, said, server, world_with
from tests.support import private_ca
from tests.support.arm_rig import StaticCredential
from tests.support.fake_key_vault import FakeKeyVault
from tests.support.fake_kubernetes import FakeKubernetes
from tests.support.memory_places import MemorySink
from tests.support.world import GROUP, World, of

ALL = """secrets: {key1: {name: keys, key: first}}
        configMaps: {blobEndpoint: {name: urls, key: blob}}
        secretExpressions: [{name: made-keys, key: made, value: secret.key1}]
        configMapExpressions: [{name: made-urls, key: made, value: self.status.id}]"""
OBJECTS = {
    "ConfigMap": {"urls": "blob", "made-urls": "made"},
    "Secret": {"keys": "first", "made-keys": "made"},
}
DECLARED = {
    f"{object_kind.lower()}-{name}": f"""\
    apiVersion: v1
    kind: {object_kind}
    metadata: {{name: {name}}}
    {"stringData" if object_kind == "Secret" else "data"}: {{{key}: theirs-of-people}}
    """
    for object_kind, keys in OBJECTS.items()
    for name, key in keys.items()
}
DB = """\
    apiVersion: v1
    kind: Secret
    metadata: {name: db}
    stringData: {password: hunter2hunter2}
    """
OWNER = "StorageAccount.storage.azure.com default/lake"
FAILED = (ConditionStatus.FALSE, Severity.WARNING, "Failed")


def refusal(*object_kinds: str) -> str:
    """ASO's message for the objects of these kinds, all that `ALL` exports to."""
    objects = [f"{object_kind} default/{name}" for object_kind in object_kinds for name in sorted(OBJECTS[object_kind])]
    return "; ".join(f"cannot overwrite {name} which is not owned by {OWNER}" for name in objects)


EVERYTHING = refusal("ConfigMap", "Secret")


@pytest.fixture
def sink():
    return MemorySink()


@pytest.fixture
def world(tmp_path, sink):
    return world_with(tmp_path, sink)


def assert_refused(report, message):
    found = of(report, "StorageAccount")
    assert (said(found), found.condition.message, report.exit_code) == (UNWRITABLE, message, 1)


def test_git_objects(world, sink):
    planned = world.says(group=GROUP, account=account(ALL), **DECLARED).plan()
    assert_refused(planned, EVERYTHING)
    assert of(planned, "StorageAccount").action is Action.CREATE, "only the export is refused"
    problems = [
        (problem.path, problem.line, problem.message.rpartition(": ")[2])
        for problem in planned.problems
        if problem.is_error
    ]
    assert problems == [
        ("account.yaml", 13, "secret-keys.yaml:1 declares it."),
        ("account.yaml", 14, "configmap-urls.yaml:1 declares it."),
        ("account.yaml", 15, "secret-made-keys.yaml:1 declares it."),
        ("account.yaml", 16, "configmap-made-urls.yaml:1 declares it."),
    ]
    assert_refused(world.sync(), EVERYTHING)
    assert sink.objects == {}
    assert not (world.state / "default/ConfigMap").exists()
    assert world.read(ACCOUNT_ID, "2023-01-01")["name"] == "lake"
    assert_refused(world.plan(), EVERYTHING)
    assert [said(result) for result in world.says(group=GROUP, account=account(ALL)).sync().results] == [READY] * 2
    assert {address.name for address in sink.objects} == {"keys", "urls", "made-keys", "made-urls"}


def test_git_objects_count_if_git_is_not_a_source(world):
    world.secret_stores = SecretStores(order=())
    assert_refused(world.says(group=GROUP, account=account(ALL), **DECLARED).sync(), EVERYTHING)


def test_a_reader_of_a_git_object_gets_its_value_and_waits_for_no_export(world):
    declared = {"secret": DECLARED["secret-keys"]}
    report = world.says(
        group=GROUP, account=account(KEY_1.replace("lake", "keys")), **declared, a=server("keys")
    ).sync()
    assert said(of(report, "StorageAccount")) == UNWRITABLE
    assert said(of(report, "FlexibleServer")) == READY


IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata: {name: app}
    spec:
      location: westeurope
      owner: {name: core}
      operatorSpec: {configMaps: {principalId: {name: app, key: id}}}
    """
ADMINISTRATOR = """\
    apiVersion: dbforpostgresql.azure.com/v20250801
    kind: FlexibleServersAdministrator
    metadata: {name: boss}
    spec:
      owner: {armId: SERVER}
      azureNameFromConfig: {name: app, key: id}
      principalNameFromConfig: {name: app, key: id}
      principalType: ServicePrincipal
    """.replace("SERVER", SERVER_ID)
CONFIG_MAP = """\
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: app}
    data: {id: 11111111-2222-3333-4444-555555555555}
    """


def test_one_request_has_one_value_of_a_key(world):
    """The id is known offline, from git; the body is filled in the run, after the export."""
    world.says(group=GROUP, server=server("db", "password"), db=DB).sync()
    report = world.says(
        group=GROUP, server=server("db", "password"), db=DB, app=IDENTITY, boss=ADMINISTRATOR, map=CONFIG_MAP
    ).sync()
    assert said(of(report, "UserAssignedIdentity")) == UNWRITABLE
    boss = of(report, "FlexibleServersAdministrator")
    assert said(boss) == READY, boss.condition.message
    assert boss.arm_id.endswith("/administrators/11111111-2222-3333-4444-555555555555")
    assert world.read(boss.arm_id, "2025-08-01")["properties"]["principalName"] == boss.arm_id.rpartition("/")[2]


def test_strict_refuses_the_run(world):
    world.says(group=GROUP, account=account(ALL), **DECLARED)
    with pytest.raises(SourceError, match=r"--strict refuses the run: account\.yaml:13: cannot overwrite Secret"):
        world.sync(strict=True)


def people(top):
    """Write every object into a folder, as Kubernetes mounts them."""
    for object_kind, part in (("Secret", "secrets"), ("ConfigMap", "config-maps")):
        for name, key in OBJECTS[object_kind].items():
            (top / part / "default" / name).mkdir(parents=True)
            (top / part / "default" / name / key).write_text("theirs-of-people")


def folder_of(top):
    return FolderSource(secrets=top / "secrets", config_maps=top / "config-maps", namespace="default")


def test_objects_of_a_folder(world, sink, tmp_path):
    people(tmp_path)
    world.secret_stores = SecretStores(
        order=("manifests", "folder"), sources={"folder": folder_of(tmp_path)}, sinks=(sink,)
    )
    planned = world.says(group=GROUP, account=account(ALL), books=server("keys")).plan()
    assert_refused(planned, EVERYTHING)
    problems = [(problem.line, problem.message.rpartition(": ")[2]) for problem in planned.problems if problem.is_error]
    assert problems == [(line, "the secret source folder has it.") for line in (13, 14, 15, 16)]
    blocked = of(planned, "FlexibleServer").ending.blocked_by
    synced = world.sync()
    assert_refused(synced, EVERYTHING)
    assert of(synced, "FlexibleServer").ending.blocked_by == blocked == of(synced, "StorageAccount").key
    assert sink.objects == {}
    alone = world.sync(only=("FlexibleServer/books",))
    assert of(alone, "FlexibleServer").ending.blocked_by == blocked, "the exports of a watched resource are no others"


def test_what_an_earlier_run_exported_to_the_folder_is_its_own(world, tmp_path):
    top = tmp_path / "exported"
    (top / "secrets").mkdir(parents=True, mode=0o700)
    top.chmod(0o700)
    (top / "secrets").chmod(0o700)
    world.secret_stores = SecretStores(
        order=("manifests", "folder"), sources={"folder": folder_of(top)}, sinks=(FolderSink(top),)
    )
    world.says(group=GROUP, account=account(ALL))
    for _ in range(2):
        assert said(of(world.sync(), "StorageAccount")) == READY
    assert world.plan().exit_code == 0


class RemoteWorld(World):
    """A world whose runs read from a remote store, and export to memory."""

    name = ""

    def __init__(self, folder):
        super().__init__(folder)
        self.sink = MemorySink()
        self.ca = private_ca.make(folder)

    def reads(self, location):
        self.secret_stores = SecretStores(
            order=("manifests", self.name), sources={self.name: location}, sinks=(self.sink,)
        )


class ClusterWorld(RemoteWorld):
    name = "kubernetes"

    def __init__(self, folder):
        super().__init__(folder)
        self.cluster = FakeKubernetes(self.ca, folder / "account")

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.cluster as cluster,
            open_kubernetes(cluster.environment, self.clock, cluster.folder) as location,
        ):
            self.reads(location)
            yield azure


class VaultWorld(RemoteWorld):
    name = "key-vault"

    def __init__(self, folder):
        super().__init__(folder)
        self.vault = FakeKeyVault(self.ca.tls)

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.vault as vault,
            open_connection(Network(ca_bundle=self.ca.bundle)) as way,
            open_key_vault(vault.url, StaticCredential(), way, self.clock) as location,
        ):
            self.reads(location)
            yield azure


def test_objects_of_the_cluster(tmp_path):
    world = ClusterWorld(tmp_path)
    for object_kind, keys in OBJECTS.items():
        for name, key in keys.items():
            world.cluster.make(f"{object_kind.lower()}s", "default", name, {key: "theirs-of-people"})
    world.says(group=GROUP, account=account(ALL))
    assert (world.plan().exit_code, world.cluster.requests) == (0, []), "a plan does not ask the cluster"
    assert_refused(world.sync(), EVERYTHING)
    assert world.sink.objects == {}
    assert world.cluster.lines("POST", "PUT", "DELETE") == []


def test_a_cluster_that_does_not_answer_is_not_a_cluster_without_the_object(tmp_path):
    world = ClusterWorld(tmp_path)
    world.cluster.forbid("get", "configmaps")
    found = of(world.says(group=GROUP, account=account(ALL)).sync(), "StorageAccount")
    assert said(found) == FAILED
    assert "resources: [configmaps], verbs: [get]" in found.condition.advice
    assert world.sink.objects == {}


def test_objects_of_the_vault(tmp_path):
    world = VaultWorld(tmp_path)
    world.vault.make("default--keys--other-key", "theirs-of-people")
    tags = {"gitsync-namespace": "default", "gitsync-name": "made-keys", "gitsync-key": "made"}
    world.vault.make("any-name", "theirs-of-people", tags=tags)
    world.says(group=GROUP, account=account(ALL))
    assert (world.plan().exit_code, world.vault.requests) == (0, []), "a plan does not ask the vault"
    assert_refused(world.sync(), refusal("Secret"))
    assert world.sink.objects == {}, "nothing is half exported, and a vault has no config maps"

"""The role of `gitsync doctor --role` in whole runs: with it a run can do all it needs, and without any one of its
actions something is refused.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gitsync.emulator.governance.external_evaluation import ExternalEvaluation
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, PolicyCondition
from gitsync.emulator.settings import ANONYMOUS, TENANT, EmulatedPrincipal, EmulatorSettings
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.role import build_role
from tests.support.fault_rules import rules
from tests.support.memory_places import MemorySink
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBSCRIPTION, VNET, VNET_ID, World, annotated

SCOPE = f"/subscriptions/{SUBSCRIPTION}"
FOR_POLICIES = "Microsoft.Authorization/acquirePolicyToken/action"
"""Only used where an Azure Policy demands a token, which git does not show."""

OF_GROUP = f"{{armId: {GROUP_ID}}}"


def document(kind, name, spec, *, owner=OF_GROUP, annotations=""):
    """One manifest; `kind` is `Vault.keyvault/v1api20230701`."""
    kind, _, rest = kind.partition(".")
    group, _, version = rest.partition("/")
    return f"""\
    apiVersion: {group}.azure.com/{version}
    kind: {kind}
    metadata: {{name: {name}, annotations: {{{annotations}}}}}
    spec: {{owner: {owner}, {spec}}}
    """


LOCATION = "location: westeurope"
ACCOUNT = "StorageAccount.storage/v1api20230101"
STORAGE = f"{LOCATION}, kind: StorageV2, sku: {{name: Standard_LRS}}"
EXPORTS = "operatorSpec: {secrets: {key1: {name: keys, key: one}}}"
NETWORK = document(
    "VirtualNetwork.network/v1api20240301", "hub", f"{LOCATION}, addressSpace: {{addressPrefixes: [10.0.0.0/16]}}"
)
ZONE = document("DnsZone.network/v1api20180501", "example.com", "location: global")


def record(name):
    return document(
        "DnsZonesARecord.network/v1api20180501",
        name,
        "TTL: 60, ARecords: [{ipv4Address: 10.0.0.1}]",
        owner="{name: example.com}",
    )


SKIP = "serviceoperator.azure.com/reconcile-policy: skip"
DETACH = "serviceoperator.azure.com/reconcile-policy: detach-on-delete"


VAULT = document(
    "Vault.keyvault/v1api20230701",
    "kv-shop",
    f"{LOCATION}, properties: {{createMode: purgeThenCreate, tenantId: {TENANT}, sku: {{family: A, name: standard}}, accessPolicies: []}}",
)
VAULT_ID = f"{GROUP_ID}/providers/Microsoft.KeyVault/vaults/kv-shop"
ROLE = document(
    "RoleAssignment.authorization/v1api20220401",
    "reads",
    f"principalId: {TENANT}, roleDefinitionReference: {{wellKnownName: Reader}}",
)
DOOR = document(
    "PrivateEndpoint.network/v1api20240301",
    "door",
    f"{LOCATION}, subnet: {{reference: {{armId: {VNET_ID}/subnets/one}}}}, operatorSpec: {{configMaps: {{primaryNicPrivateIpAddress: {{name: door, key: ip}}}}}}",
)
EXPRESSION = "operatorSpec: {secretExpressions: [{name: keys, key: one, value: secret.key1}]}"
CLUSTER_ID = f"{GROUP_ID}/providers/Microsoft.Kusto/clusters/warehouse"
DATABASE = document(
    "Database.kusto/v1api20240413",
    "orders",
    f"readWriteDatabase: {{kind: ReadWrite, {LOCATION}}}",
    owner=f"{{armId: {CLUSTER_ID}}}",
)
SAFE_ID = f"{GROUP_ID}/providers/Microsoft.DataProtection/backupVaults/safe"
SAFE = document(
    "BackupVault.dataprotection/v1api20231101",
    "safe",
    f"{LOCATION}, properties: {{storageSettings: [{{datastoreType: VaultStore, type: LocallyRedundant}}]}}",
)
BACKUP = document(
    "BackupVaultsBackupInstance.dataprotection/v1api20231101",
    "disk",
    f"properties: {{objectType: BackupInstance, dataSourceInfo: {{objectType: Datasource, resourceReference: {{armId: {GROUP_ID}/providers/Microsoft.Compute/disks/data}}}}, policyInfo: {{policyReference: {{armId: {SAFE_ID}/backupPolicies/daily}}}}}}",
    owner="{name: safe}",
)
USER_ERROR = "{match: {method: PUT, type: Microsoft.DataProtection/backupVaults/backupInstances}, move: {set: {/properties/protectionStatus: {status: ProtectionError, errorDetails: {code: UserErrorDiskGone}}}}}"
GROUP_READ = ("Microsoft.Resources/subscriptions/resourceGroups/read",)
"""Asked for only if a write fails since something is missing: is that the group?"""


@dataclass(frozen=True)
class Shape:
    """One row."""

    why: str
    more: tuple[str, ...]  # the documents of the first run that a second one lacks
    keep: tuple[str, ...] = ()
    there: dict[str, Any] = field(default_factory=dict)  # what Azure has before, by id
    exports: bool = False
    rules: tuple[str, ...] = ()
    deleted: str = ""
    unused: tuple[str, ...] = GROUP_READ


SUBNETS_READ = ("Microsoft.Network/virtualNetworks/subnets/read",)
"""Asked for only if Azure shows a network without a list of its subnets."""
SHAPES = [
    Shape("a resource in a group of others", (NETWORK,), unused=(*GROUP_READ, *SUBNETS_READ)),
    Shape("a group of its own with what is in it", (GROUP, VNET), there={GROUP_ID: None}),
    Shape("exported keys", (document(ACCOUNT, "stapp", f"{STORAGE}, {EXPORTS}"),), exports=True),
    Shape("keys in an expression", (document(ACCOUNT, "stapp", f"{STORAGE}, {EXPRESSION}"),), exports=True),
    Shape("exports that nothing takes", (document(ACCOUNT, "stapp", f"{STORAGE}, {EXPORTS}"),)),
    Shape("what is only read", (), keep=(document(ACCOUNT, "stapp", STORAGE, annotations=SKIP),), there={f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/stapp": {"location": "westeurope"}}),
    Shape("what stays in Azure", (document(ACCOUNT, "stapp", STORAGE, annotations=DETACH),)),
    Shape("records of a zone, which are listed together", (ZONE, record("a"), record("b"))),
    Shape("a vault whose name a deleted one has", (VAULT,), there={VAULT_ID: {"location": "westeurope", "properties": {}}}, deleted=VAULT_ID),
    Shape("a role by its name", (ROLE,)),
    Shape("an address in a network interface", (DOOR,)),
    Shape("a child of an owner whose state counts", (DATABASE,), there={CLUSTER_ID: {"location": "westeurope", "properties": {}}}, unused=()),
    Shape("an action after a user error", (SAFE, BACKUP), rules=(USER_ERROR,)),
]  # fmt: skip


def number_them(*documents):
    return {f"d{number}": text for number, text in enumerate(documents)}


def make_world(folder, shape):
    world = World(folder)
    for arm_id, body in {GROUP_ID: {"location": "westeurope"}, **shape.there}.items():
        if body is not None:
            world.azure().put(arm_id, body)
    if shape.deleted:
        world.outside("DELETE", shape.deleted, api_version="2023-07-01")
    if shape.exports:
        world.secret_stores = SecretStores(sinks=(MemorySink(),))
    return world


SETTINGS = {"prune": True, "max_deletes": 99, "resource_timeout": 60.0, "checks": ("none",)}


def write_role(world, shape):
    exports = ("folder",) if shape.exports else ("status",)
    source = {"source": str(world.folder), "subscription": SUBSCRIPTION}
    return build_role(Config(prune=True, checks=("none",), who="off", export_to=exports, **source), Redactions())


def run_all(world, shape, role, unregistered):
    """Create, look again, and delete, as a principal with this role. Yields the report of each run, and its requests."""
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=role.actions, scopes=role.scopes)
    world.settings = replace(
        EmulatorSettings(limits=None),
        principals=(anonymous,),
        unregistered=unregistered,
        rules=rules(*shape.rules) if shape.rules else (),
    )
    more = [shape.more[:count] for count in range(len(shape.more), -1, -1)]  # the last is removed first
    for documents in (more[0], *more):
        yield world.says(**number_them(*shape.keep, *documents)).sync(**SETTINGS), world.requests


def list_namespaces(role):
    """The providers that the role may register: the subscription lacks all of them."""
    suffix = "/register/action"
    return tuple(action.removesuffix(suffix) for action in role.actions if action.endswith(suffix))


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.why for shape in SHAPES])
def test_a_run_requests_just_the_actions_of_the_role(tmp_path, shape):
    world = make_world(tmp_path, shape)
    role = write_role(world.says(**number_them(*shape.keep, *shape.more)), shape)
    runs = list(run_all(world, shape, role, list_namespaces(role)))
    requests = [request for _, sent in runs for request in sent]
    assert [f"{r.method} {r.path}" for r in requests if r.status == 403] == []
    assert [str(result.condition) for report, _ in runs for result in report.results if not result.is_fine] == []
    requested = {request.action.casefold() for request in requests}
    unused = [action for action in role.actions if not fnmatch.filter(requested, action.casefold())]
    assert unused == sorted({*shape.unused, FOR_POLICIES} & {*role.actions})


def is_refused(report, requests):
    return any(request.status == 403 for request in requests) and not all(result.is_fine for result in report.results)


TAKEN = [shape for shape in SHAPES if shape.why in {"exported keys", "a group of its own with what is in it"}]


@pytest.mark.parametrize("shape", TAKEN, ids=[shape.why for shape in TAKEN])
def test_a_run_fails_without_any_one_of_them(tmp_path, shape):
    start = make_world(tmp_path, shape)
    role = write_role(start.says(**number_them(*shape.keep, *shape.more)), shape)
    for number, action in enumerate(sorted({*role.actions} - {*shape.unused, FOR_POLICIES})):
        world = start.copy(tmp_path / str(number))
        less = replace(role, actions=tuple(granted for granted in role.actions if granted != action))
        runs = run_all(world, shape, less, list_namespaces(role))
        assert any(is_refused(report, requests) for report, requests in runs), action


@pytest.mark.parametrize("is_granted", [True, False], ids=["granted", "not granted"])
def test_where_a_policy_demands_tokens_the_role_has_the_right_to_them(tmp_path, is_granted):
    [shape] = [shape for shape in SHAPES if shape.why == "a group of its own with what is in it"]
    world = make_world(tmp_path, shape)
    role = write_role(world.says(**number_them(*shape.keep, *shape.more)), shape)
    actions = tuple(action for action in role.actions if is_granted or action != FOR_POLICIES)
    network = PolicyCondition(types=("Microsoft.Network/virtualNetworks",))
    invoke = EmulatedPolicy(
        name="window", scope=SCOPE, effect=Effect.DENY, conditions=(network,), external=ExternalEvaluation()
    )
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=actions, scopes=role.scopes)
    world.settings = EmulatorSettings(limits=None, principals=(anonymous,), policies=(invoke,))
    report = world.sync(**SETTINGS)
    refused = {result.condition.reason for result in report.results if not result.is_fine}
    assert ("AuthorizationFailed" in refused) is not is_granted
    assert is_granted is not bool(refused)


EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "manifests"


def test_the_examples_are_synced_and_pruned_with_their_role(tmp_path):
    """With every export, from providers that are not registered, and until nothing is left: in the examples some stays."""
    shape = Shape("the examples", (), exports=True)
    world = make_world(tmp_path, shape)
    texts = {str(path.relative_to(EXAMPLES)): path.read_text() for path in sorted(EXAMPLES.rglob("*.yaml"))}
    files = {
        path: text.replace("reconcile-policy: detach-on-delete", "reconcile-policy: manage")
        for path, text in texts.items()
    }
    role = write_role(world.says_files(files), shape)
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=role.actions, scopes=role.scopes)
    world.settings = EmulatorSettings(limits=None, principals=(anonymous,), unregistered=list_namespaces(role))
    groups = {path: keep_groups(text) for path, text in files.items()}
    requests = []
    for some in (files, groups, {}):
        report = world.says_files(some).sync(**SETTINGS)
        assert [str(result.key) for result in report.results if not result.is_fine] == []
        requests += world.requests
    assert [f"{r.method} {r.path}" for r in requests if r.status == 403] == []
    requested = {request.action.casefold() for request in requests}
    unused = [action for action in role.actions if not fnmatch.filter(requested, action.casefold())]
    assert unused == [FOR_POLICIES]


def keep_groups(text):
    kept = re.compile(r"^kind: (ResourceGroup|Namespace)$", re.MULTILINE)
    return "\n---\n".join(document for document in text.split("\n---\n") if kept.search(document))


def test_a_replacement_sees_all_that_it_would_take_along(tmp_path):
    network = VNET.replace("name: core", f"armId: {GROUP_ID}")
    far = annotated(network.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})
    shape = Shape("a network that moves to another region", ())
    world = make_world(tmp_path, shape)
    world.says(network=network, subnet=SUBNET).sync()
    role = write_role(world.says(network=far, subnet=SUBNET), shape)
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=role.actions, scopes=role.scopes)
    world.settings = EmulatorSettings(limits=None, principals=(anonymous,))
    report = world.sync(**SETTINGS)
    assert [f"{r.method} {r.path}" for r in world.requests if r.status == 403] == []
    assert [result.condition.reason for result in report.results] == ["Succeeded", "Succeeded"]
    assert [line for line in world.writes if line.startswith("DELETE")] == [
        f"DELETE {VNET_ID}/subnets/one",
        f"DELETE {VNET_ID}",
    ]

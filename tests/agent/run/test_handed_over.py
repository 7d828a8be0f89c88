"""What a manifest hands over to Azure, in whole runs: no drift, no record for it, and no write that resets it."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, GROUP_ID, World, annotated, key, of, read_status

CONTAINERS = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters"
CLUSTER = """\
    apiVersion: containerservice.azure.com/v1api20240901
    kind: ManagedCluster
    metadata:
      name: aks
    spec:
      owner: {name: core}
      location: westeurope
      dnsPrefix: aks
      identity: {type: SystemAssigned}
      kubernetesVersion: "1.27.3"
      autoUpgradeProfile: {upgradeChannel: patch}
      agentPoolProfiles:
      - {name: system, mode: System, count: 1, minCount: 1, maxCount: 5, enableAutoScaling: true, vmSize: Standard_D2s_v3}
    """
POOL = """\
    apiVersion: containerservice.azure.com/v1api20240901
    kind: ManagedClustersAgentPool
    metadata:
      name: users
    spec:
      owner: {name: aks}
      mode: User
      count: 3
      minCount: 1
      maxCount: 9
      enableAutoScaling: true
      orchestratorVersion: "1.27.3"
      vmSize: Standard_D2s_v3
    """
PLAN = """\
    apiVersion: web.azure.com/v1api20220301
    kind: ServerFarm
    metadata:
      name: farm
    spec:
      owner: {name: core}
      location: westeurope
      sku: {name: P1v3, capacity: 1}
    """
SETTING = """\
    apiVersion: insights.azure.com/v1api20221001
    kind: AutoscaleSetting
    metadata:
      name: busy
    spec:
      owner: {name: core}
      location: westeurope
      enabled: true
      targetResourceUriReference: {group: web.azure.com, kind: ServerFarm, name: farm}
      profiles:
      - name: usual
        capacity: {minimum: "1", maximum: "9", default: "1"}
        rules: []
    """
AKS = key("ManagedCluster", "containerservice.azure.com", "aks")
USERS = key("ManagedClustersAgentPool", "containerservice.azure.com", "users")
FARM = key("ServerFarm", "web.azure.com", "farm")
CORE = {"group": GROUP, "cluster": CLUSTER, "pool": POOL}


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(**CORE)
    return world


def read(world, path=""):
    return world.read(f"{CONTAINERS}/aks{path}", api_version="2024-09-01")["properties"]


def azure_scales_and_upgrades(world):
    world.somebody_changes(USERS, {"/properties/count": 7, "/properties/orchestratorVersion": "1.27.14"}, by="System")
    values = {"/properties/kubernetesVersion": "1.27.14", "/properties/agentPoolProfiles/0/count": 4}
    world.somebody_changes(AKS, values, by="System")


def test_it_is_not_drift_and_nothing_is_recorded(world):
    azure_scales_and_upgrades(world)
    assert {result.verdict for result in world.plan().results} == {Verdict.IN_SYNC}
    before = read_status(world)
    world.sync()
    assert world.writes == []
    after = read_status(world)
    assert {path for path in before if before[path] != after[path]} <= {"inventory.json", "status.json"}


@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_write_of_something_else_carries_azures_values(world, method):
    azure_scales_and_upgrades(world)
    cluster = annotated(
        CLUSTER.replace("dnsPrefix:", "tags: {a: b}\n      dnsPrefix:"), **{"gitsync/update-method": method}
    )
    report = world.says(
        group=GROUP, cluster=cluster, pool=POOL.replace("count: 3", "count: 4\n      nodeLabels: {a: b}")
    ).sync()
    aks, users = of(report, "ManagedCluster"), of(report, "ManagedClustersAgentPool")
    assert [difference.path for difference in aks.differences] == ["/tags/a"]
    assert [difference.path for difference in users.differences] == ["/properties/nodeLabels/a"]
    assert aks.comparison.because["/properties/kubernetesVersion"].endswith("upgradeChannel, which has 1.27.14")
    assert read(world)["kubernetesVersion"] == "1.27.14"
    assert read(world, "/agentPools/users")["count"] == 7
    assert read(world, "/agentPools/users")["orchestratorVersion"] == "1.27.14"
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}


def test_git_counts_again_once_it_sets_the_field(world):
    azure_scales_and_upgrades(world)
    fixed = POOL.replace("enableAutoScaling: true", "enableAutoScaling: false")
    found = of(world.says(**CORE | {"pool": fixed}).sync(), "ManagedClustersAgentPool")
    assert {"/properties/count", "/properties/enableAutoScaling"} <= {
        difference.path for difference in found.differences
    }
    assert read(world, "/agentPools/users")["count"] == 3


def test_also_after_a_write_in_between(world):
    azure_scales_and_upgrades(world)
    world.says(**CORE | {"pool": POOL.replace("mode: User", "mode: User\n      nodeLabels: {a: b}")}).sync()
    fixed = POOL.replace("enableAutoScaling: true", "enableAutoScaling: false\n      nodeLabels: {a: b}")
    world.says(**CORE | {"pool": fixed}).sync()
    assert read(world, "/agentPools/users")["count"] == 3


def test_an_upgrade_by_git_is_sent(world):
    azure_scales_and_upgrades(world)
    found = of(world.says(**CORE | {"cluster": CLUSTER.replace("1.27.3", "1.28.0")}).sync(), "ManagedCluster")
    assert [difference.path for difference in found.differences] == ["/properties/kubernetesVersion"]
    assert read(world)["kubernetesVersion"] == "1.28.0"


def test_what_somebody_changes_beside_it_is_drift(world):
    azure_scales_and_upgrades(world)
    world.somebody_changes(USERS, {"/properties/maxCount": 50})
    found = of(world.plan(), "ManagedClustersAgentPool")
    assert (found.verdict, [difference.path for difference in found.differences]) == (
        Verdict.DRIFTED,
        ["/properties/maxCount"],
    )


def test_a_cluster_without_a_channel_keeps_its_pools_versions(world):
    world.says(**CORE | {"cluster": CLUSTER.replace("upgradeChannel: patch", "upgradeChannel: none")}).sync()
    world.somebody_changes(USERS, {"/properties/orchestratorVersion": "1.27.14"})
    assert of(world.plan(), "ManagedClustersAgentPool").verdict is Verdict.DRIFTED


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [(SETTING, Verdict.IN_SYNC), (SETTING.replace("enabled: true", "enabled: false"), Verdict.DRIFTED)],
)
def test_the_target_of_an_autoscale_setting(tmp_path, setting, verdict):
    world = World(tmp_path)
    world.synced(group=GROUP, farm=PLAN, setting=setting)
    world.somebody_changes(FARM, {"/sku/capacity": 6}, by="System")
    assert of(world.plan(), "ServerFarm").verdict is verdict
    found = of(
        world.says(group=GROUP, farm=PLAN.replace("sku:", "tags: {a: b}\n      sku:"), setting=setting).sync(),
        "ServerFarm",
    )
    assert found.action is Action.UPDATE
    path = f"{GROUP_ID}/providers/Microsoft.Web/serverfarms/farm"
    assert world.read(path, api_version="2022-03-01")["sku"]["capacity"] == (6 if verdict is Verdict.IN_SYNC else 1)

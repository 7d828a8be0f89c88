"""What a manifest hands over to Azure is not drift, and what a write sends instead is Azure's value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.handed_over import AUTOSCALE_SETTING, HANDED_OVER_FIELDS, UPGRADE_CHANNEL, select_rows
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.model.secret import Secret
from gitsync.planning.diff.handed_over_values import take_live_values
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.three_way import compare

CLUSTER = "Microsoft.ContainerService/managedClusters"
POOL = f"{CLUSTER}/agentPools"
CONTAINER = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers"
THROUGHPUT = f"{CONTAINER}/throughputSettings"
POSTGRES = "Microsoft.DBforPostgreSQL/flexibleServers"
MYSQL = "Microsoft.DBforMySQL/flexibleServers"
DATABASE = "Microsoft.Sql/servers/databases"
SETS = "Microsoft.Compute/diskEncryptionSets"
KEY = "https://v.vault.azure.net/keys/k"
OLD, NEW = "0" * 31 + "1", "0" * 31 + "2"
IMAGE = "AKSUbuntu-2204gen2containerd-2024"

ON, OFF = "what hands it over is on", "off"

CASES: list[tuple[str, str, Any, Any, dict[str, Any], dict[str, Any]]] = [
    (POOL, "properties/count", 3, 7, {"properties/enableAutoScaling": True}, {"properties/enableAutoScaling": False}),
    (CLUSTER, "properties/kubernetesVersion", "1.27.3", "1.27.14", {"properties/autoUpgradeProfile/upgradeChannel": "patch"}, {"properties/autoUpgradeProfile/upgradeChannel": "none"}),
    (CLUSTER, "properties/kubernetesVersion", "1.27.3", "1.28.2", {"properties/autoUpgradeProfile/upgradeChannel": "Stable"}, {"properties/autoUpgradeProfile/upgradeChannel": "node-image"}),
    (CLUSTER, "properties/kubernetesVersion", "1.27", "1.29.0", {"properties/autoUpgradeProfile/upgradeChannel": "rapid"}, {}),
    (CONTAINER, "properties/options/throughput", 400, 900, {"properties/options/autoscaleSettings/maxThroughput": 4000}, {}),
    (THROUGHPUT, "properties/resource/throughput", 400, 900, {"properties/resource/autoscaleSettings/maxThroughput": 4000}, {}),
    (THROUGHPUT, "properties/resource/autoscaleSettings/maxThroughput", 4000, 5000, {"properties/resource/autoscaleSettings/autoUpgradePolicy/throughputPolicy/isEnabled": True}, {"properties/resource/autoscaleSettings/autoUpgradePolicy/throughputPolicy/isEnabled": False}),
    ("Microsoft.EventHub/namespaces", "sku/capacity", 1, 6, {"properties/isAutoInflateEnabled": True, "properties/maximumThroughputUnits": 8}, {"properties/isAutoInflateEnabled": False}),
    (POSTGRES, "properties/storage/storageSizeGB", 32, 64, {"properties/storage/autoGrow": "Enabled"}, {"properties/storage/autoGrow": "Disabled"}),
    (MYSQL, "properties/storage/storageSizeGB", 32, 64, {"properties/storage/autoGrow": "enabled"}, {"properties/storage/autoGrow": "Disabled"}),
    (MYSQL, "properties/storage/iops", 400, 900, {"properties/storage/autoIoScaling": "Enabled"}, {"properties/storage/autoIoScaling": "Disabled"}),
    ("Microsoft.DBforMariaDB/servers", "properties/storageProfile/storageMB", 5120, 10240, {"properties/storageProfile/storageAutogrow": "Enabled"}, {"properties/storageProfile/storageAutogrow": "Disabled"}),
    ("Microsoft.Kusto/clusters", "sku/capacity", 2, 4, {"properties/optimizedAutoscale/isEnabled": True, "properties/optimizedAutoscale/maximum": 5}, {"properties/optimizedAutoscale/isEnabled": False}),
    ("Microsoft.Synapse/workspaces/bigDataPools", "properties/nodeCount", 3, 5, {"properties/autoScale/enabled": True, "properties/autoScale/maxNodeCount": 9}, {"properties/autoScale/enabled": False}),
    ("Microsoft.Network/applicationGateways", "properties/sku/capacity", 2, 5, {"properties/autoscaleConfiguration/minCapacity": 2}, {}),
    ("Microsoft.Web/serverfarms", "sku/capacity", 1, 4, {"properties/elasticScaleEnabled": True}, {"properties/elasticScaleEnabled": False}),
    ("Microsoft.KubernetesConfiguration/extensions", "properties/version", "1.8.0", "1.10.1", {"properties/autoUpgradeMinorVersion": True}, {"properties/autoUpgradeMinorVersion": False}),
    ("Microsoft.Compute/virtualMachines/extensions", "properties/typeHandlerVersion", "1.0", "1.33", {"properties/enableAutomaticUpgrade": True}, {}),
    ("Microsoft.Compute/virtualMachineScaleSets/extensions", "properties/typeHandlerVersion", "1.0", "1.33", {"properties/autoUpgradeMinorVersion": True}, {}),
    (SETS, "properties/activeKey/keyUrl", f"{KEY}/{OLD}", f"{KEY}/{NEW}", {"properties/rotationToLatestKeyVersionEnabled": True}, {"properties/rotationToLatestKeyVersionEnabled": False}),
    ("Microsoft.Cdn/profiles/secrets", "properties/parameters/secretVersion", OLD, NEW, {"properties/parameters/useLatestVersion": True}, {"properties/parameters/useLatestVersion": False}),
]  # fmt: skip
"""The type, the field, git's value, Azure's, and what else git sets: what hands the field over, and what does not."""

DECIDED_BY_GIT: list[tuple[str, str, Any, Any, dict[str, Any], str]] = [
    (CLUSTER, "properties/kubernetesVersion", "1.28.0", "1.27.14", {"properties/autoUpgradeProfile/upgradeChannel": "patch"}, "an upgrade"),
    (CLUSTER, "properties/kubernetesVersion", "1.10.0", "1.9.9", {"properties/autoUpgradeProfile/upgradeChannel": "rapid"}, "a number is no text"),
    ("Microsoft.EventHub/namespaces", "sku/capacity", 6, 2, {"properties/isAutoInflateEnabled": True}, "auto-inflate takes nothing away"),
    ("Microsoft.EventHub/namespaces", "sku/capacity", 6, 9, {"properties/isAutoInflateEnabled": True, "properties/maximumThroughputUnits": 8}, "nor goes above the limit"),
    (POSTGRES, "properties/storage/storageSizeGB", 128, 64, {"properties/storage/autoGrow": "Enabled"}, "git makes it larger"),
    (THROUGHPUT, "properties/resource/throughput", 400, 9000, {"properties/resource/autoscaleSettings/maxThroughput": 4000}, "above the limit"),
    (SETS, "properties/activeKey/keyUrl", f"{KEY}/{OLD}", f"{KEY}2/{NEW}", {"properties/rotationToLatestKeyVersionEnabled": True}, "another key"),
    ("Microsoft.DBforMariaDB/servers", "properties/storageProfile/storageMB", 5120, 5127, {"properties/storageProfile/storageAutogrow": "Enabled"}, "no whole GB"),
    (POOL, "properties/count", 3, 12, {"properties/enableAutoScaling": True, "properties/maxCount": 3}, "above the limit of git"),
]  # fmt: skip


def build(**members: Any) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for path, value in members.items():
        *parents, last = path.split("/")
        node = body
        for step in parents:
            node = node.setdefault(step, {})
        node[last] = value
    return body


def find_at(body: Any, path: str) -> Any:
    for step in path.split("/"):
        body = body[step]
    return body


def find_differences(arm_type: str, body: Any, live: Any) -> list[str]:
    return [difference.path for difference in compare(body, live, None, Hints(arm_type=arm_type)).differences]


@pytest.mark.parametrize(("arm_type", "path", "git", "azure", "on", "off"), CASES)
def test_a_field_is_handed_over_only_by_what_states_it(arm_type, path, git, azure, on, off):
    live = build(**{path: azure}, **on)
    taken = take_live_values(build(**{path: git}, **on), live, arm_type)
    assert find_at(taken.body, path) == azure
    assert find_differences(arm_type, taken.body, live) == []
    assert taken.because.keys() == {f"/{path}"}
    assert remove_paths(live, taken.paths) != live, "the record does not follow it"
    body = build(**{path: git}, **off)
    kept = take_live_values(body, build(**{path: azure}, **off), arm_type)
    assert (kept.body, kept.paths, kept.because) == (body, (), {})


@pytest.mark.parametrize(("arm_type", "path", "git", "azure", "on", "why"), DECIDED_BY_GIT)
def test_git_decides_where_azure_would_not(arm_type, path, git, azure, on, why):
    body, live = build(**{path: git}, **on), build(**{path: azure}, **on)
    taken = take_live_values(body, live, arm_type)
    assert (taken.body, taken.paths, taken.because) == (body, (), {}), why


@pytest.mark.parametrize(("live", "sent"), [(7, 5), (1, 2), (4, 4)])
def test_a_count_stays_within_the_git_limits(live, sent):
    limits = {"properties/enableAutoScaling": True, "properties/minCount": 2, "properties/maxCount": 5}
    taken = take_live_values(build(**{"properties/count": 3}, **limits), build(**{"properties/count": live}), POOL)
    assert taken.body["properties"]["count"] == sent
    assert bool(taken.because) is (live == sent), "what is sent and is not Azure's is a difference"


def test_pools_in_a_cluster_are_paired_by_name():
    pools = [
        {"name": "system", "count": 1, "orchestratorVersion": "1.27.3", "nodeImageVersion": f"{IMAGE}01.17.0"},
        {"name": "users", "count": 3, "enableAutoScaling": True, "orchestratorVersion": "1.28.0"},
    ]
    body = {
        "properties": {
            "autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "NodeImage"},
            "agentPoolProfiles": pools,
        }
    }
    live = {
        "properties": {
            "agentPoolProfiles": [
                {"name": "Users", "count": 7, "orchestratorVersion": "1.27.14"},
                {"name": "more", "count": 9},
                {"name": "system", "count": 2, "orchestratorVersion": "1.27.14", "nodeImageVersion": f"{IMAGE}05.03.0"},
            ]
        }
    }
    taken = take_live_values(body, live, CLUSTER)
    assert taken.body["properties"]["agentPoolProfiles"] == [
        {"name": "system", "count": 1, "orchestratorVersion": "1.27.14", "nodeImageVersion": f"{IMAGE}05.03.0"},
        {"name": "users", "count": 7, "enableAutoScaling": True, "orchestratorVersion": "1.28.0"},
    ]
    assert find_differences(CLUSTER, taken.body, live) == [
        "/properties/agentPoolProfiles/0/count",
        "/properties/agentPoolProfiles/1/orchestratorVersion",
    ]
    left = remove_paths(live, taken.paths)["properties"]["agentPoolProfiles"]
    assert left == [
        {"name": "Users", "orchestratorVersion": "1.27.14"},
        {"name": "more", "count": 9},
        {"name": "system", "count": 2},
    ]


@pytest.mark.parametrize(
    ("arm_type", "path", "git", "azure", "told"),
    [
        (POOL, "properties/orchestratorVersion", "1.27.3", "1.27.14", (UPGRADE_CHANNEL, "patch")),
        ("Microsoft.Compute/virtualMachineScaleSets", "sku/capacity", 2, 6, (AUTOSCALE_SETTING, "s")),
        ("Microsoft.ServiceBus/namespaces", "sku/capacity", 1, 2, (AUTOSCALE_SETTING, "s")),
    ],
)
def test_what_another_manifest_sets(arm_type, path, git, azure, told):
    body, live = build(**{path: git}), build(**{path: azure})
    assert take_live_values(body, live, arm_type).body == body
    assert take_live_values(body, live, arm_type, [told]).body == live
    assert take_live_values(body, live, arm_type, [(told[0], "none")]).body == (
        body if told[0] == UPGRADE_CHANNEL else live
    )


def test_the_tier_of_storage_follows_its_size():
    grown = {
        "properties/storage/autoGrow": "Enabled",
        "properties/storage/storageSizeGB": 128,
        "properties/storage/tier": "P10",
    }
    body = build(**grown)
    live = build(**grown | {"properties/storage/storageSizeGB": 256, "properties/storage/tier": "P15"})
    assert take_live_values(body, live, POSTGRES).body == live
    raised = build(**grown | {"properties/storage/tier": "P15"})
    assert take_live_values(body, raised, POSTGRES).body == body, "somebody raised it, and the size is git's"


def test_a_database_in_a_pool_has_the_size_of_the_pool():
    pooled = {"properties/elasticPoolId": "/p", "sku/name": "Standard", "sku/capacity": 10}
    live = build(**pooled | {"sku/name": "ElasticPool", "sku/capacity": 0})
    assert take_live_values(build(**pooled), live, DATABASE).body == live
    outside = build(**{"sku/name": "S0", "sku/capacity": 20})
    assert take_live_values(build(**pooled), outside, DATABASE).body == build(**pooled)


def test_what_azure_does_not_return_and_a_secret_stay():
    limits = {"properties/enableAutoScaling": True}
    body = build(**{"properties/count": 3}, **limits)
    assert take_live_values(body, build(**limits), POOL).body is body
    hidden = build(**{"properties/count": Secret("3")}, **limits)
    assert take_live_values(hidden, build(**{"properties/count": 7}), POOL).body is hidden


def test_each_row_is_tried():
    tried = [(arm_type, path) for arm_type, path, *_ in CASES]
    tried += [
        (CLUSTER, f"properties/agentPoolProfiles/*/{name}")
        for name in ("count", "orchestratorVersion", "nodeImageVersion")
    ]
    tried += [
        (POOL, "properties/orchestratorVersion"),
        ("x", "sku/capacity"),
        (POSTGRES, "properties/storage/tier"),
        (DATABASE, "sku/*"),
    ]
    for row in HANDED_OVER_FIELDS:
        assert any(row.types.fullmatch(arm_type) and "/".join(row.path) == path for arm_type, path in tried), row.path


def test_most_types_have_no_row():
    assert select_rows("Microsoft.Network/virtualNetworks") == ()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["1.2", "9" * 5000, "P10", KEY]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "count", "capacity"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.sampled_from(CASES), VALUES, VALUES, st.booleans())
def test_no_value_of_either_side_is_too_strange(case, git, azure, is_limit):
    arm_type, path, _, _, on, _ = case
    more = dict.fromkeys(on, azure) if is_limit else on
    body, live = build(**{path: git}, **more), build(**{path: azure}, **on)
    taken = take_live_values(body, live, arm_type)
    value = find_at(taken.body, path)
    assert value in (git, azure) or isinstance(value, int | float)

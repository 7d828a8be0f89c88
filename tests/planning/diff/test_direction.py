"""A rule for one type holds one way: what Azure makes of a value is known, and the reverse is drift."""

from __future__ import annotations

from typing import Any

import pytest

from gitsync.planning.diff.equivalence import compare_values
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.rule import RuleOutcome
from gitsync.planning.diff.rules.single_types import TYPE_RULES
from gitsync.planning.diff.three_way import compare

API = "Microsoft.ApiManagement/service/apis"
CLUSTER = "Microsoft.ContainerService/managedClusters"
POOL = f"{CLUSTER}/agentPools"
SQL = "Microsoft.Sql/servers/databases"
TOPIC = "Microsoft.EventGrid/eventSubscriptions"
HEADER = "properties/deliveryAttributeMappings/0/properties/value"
ROLE = "Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions"
SECRET = "Microsoft.Cdn/profiles/secrets"

ONE_WAY: list[tuple[str, str, str, Any, Any, dict[str, Any]]] = [
    ("the revision that the id names", API, "properties/apiRevision", "v1", "1", {}),
    ("the time of the last write", "Microsoft.Authorization/policyAssignments", "properties/metadata/updatedOn", "2023-02-15T12:23:15.1977029Z", "2023-02-15T12:23:17.9454131Z", {}),
    ("memory that Azure reserves", "Microsoft.Cache/redis", "properties/redisConfiguration/maxmemory-delta", "10", "642", {}),
    ("a version's line", "Microsoft.Cache/redis", "properties/redisVersion", "6", "6.0", {}),
    ("a version's line", CLUSTER, "properties/kubernetesVersion", "1.27", "1.27.3", {}),
    ("a version's line", CLUSTER, "properties/agentPoolProfiles/0/orchestratorVersion", "1.27", "1.27.3", {}),
    ("a version's line", POOL, "properties/orchestratorVersion", "1.27", "1.27.3", {}),
    ("the cluster's version", CLUSTER, "properties/agentPoolProfiles/0/orchestratorVersion", "", "1.27.3", {}),
    ("the cluster's version", POOL, "properties/orchestratorVersion", "", "1.27.3", {}),
    ("the disk of the machine's size", CLUSTER, "properties/agentPoolProfiles/0/osDiskSizeGB", 0, 128, {}),
    ("the disk of the machine's size", POOL, "properties/osDiskSizeGB", 0, 128, {}),
    ("the default version", CLUSTER, "properties/kubernetesVersion", "", "1.27.3", {}),
    ("a secret and its version", SECRET, "properties/parameters/secretSource/id", "/s/a/1", "/s/a", {"properties": {"parameters": {"secretVersion": "1"}}}),
    ("the speed of a standard disk", "Microsoft.Compute/disks", "properties/diskIOPSReadWrite", 900, 500, {"sku": {"name": "Standard_LRS"}}),
    ("the speed of a standard disk", "Microsoft.Compute/disks", "properties/diskMBpsReadWrite", 90, 60, {"sku": {"name": "Standard_LRS"}}),
    ("the size of all partitions", "Microsoft.ServiceBus/namespaces/queues", "properties/maxSizeInMegabytes", 1024, 16384, {"properties": {"enablePartitioning": True}}),
    ("a secret header", TOPIC, f"properties/destination/{HEADER}", "x", "Hidden", {}),
    ("a secret header", TOPIC, f"properties/deliveryWithResourceIdentity/destination/{HEADER}", "x", "Hidden", {}),
    ("no region", "Microsoft.Insights/diagnosticSettings", "location", "westeurope", "global", {}),
    ("a service objective", SQL, "sku/name", "P1", "Premium", {"properties": {"currentServiceObjectiveName": "P1"}}),
    ("what follows from the replicas", SQL, "properties/readScale", "Disabled", "Enabled", {"sku": {"tier": "Hyperscale"}, "properties": {"highAvailabilityReplicaCount": 2}}),
    ("permissions for all keys", "Microsoft.Cache/redis/accessPolicies", "properties/permissions", "+get", "+get allkeys", {}),
    ("a role's type by number", ROLE, "properties/type", "CustomRole", 1, {}),
    ("soft delete, which is always on", "Microsoft.KeyVault/vaults", "properties/enableSoftDelete", False, True, {}),
    ("a pricing tier of the past", "Microsoft.OperationalInsights/workspaces", "properties/sku/name", "Standalone", "PerGB2018", {}),
]  # fmt: skip
"""The rule, the type, the leaf, what is requested, what Azure makes of it, and what else it answers."""

EITHER_WAY: list[tuple[str, str, str, Any, Any]] = [
    ("a path of the gateway", API, "properties/path", "/a", "a"),
    ("a state of protection", "Microsoft.DataProtection/backupVaults/backupInstances", "properties/protectionStatus/status", "ProtectionConfigured", "UpdatingProtection"),
    ("a .NET TimeSpan", "Microsoft.ServiceBus/namespaces/queues", "properties/lockDuration", "P1M", "P30D"),
    ("a collation", SQL, "properties/collation", "SQL_LATIN1", "sql_latin1"),
    ("MySQL's UTF-8", "Microsoft.DBforMySQL/flexibleServers/databases", "properties/charset", "utf8", "utf8mb3"),
    ("MySQL's UTF-8", "Microsoft.DBforMySQL/flexibleServers/databases", "properties/collation", "utf8_general_ci", "utf8mb3_general_ci"),
    ("a feature's value", "Microsoft.SignalRService/signalR", "properties/features/0/value", "False", "false"),
    ("a distribution", "Microsoft.Kubernetes/connectedClusters", "properties/distribution", "aks", "AKS"),
    ("a version", "Microsoft.NetworkCloud/kubernetesClusters", "properties/kubernetesVersion", "1.24.9", "v1.24.9"),
]  # fmt: skip
"""Two spellings of one value: git may have either."""

NEITHER_WAY: list[tuple[str, str, str, Any, Any]] = [
    ("a count of the service", "Microsoft.RecoveryServices/vaults/backupPolicies", "properties/protectedItemsCount", 1, 0),
]  # fmt: skip
"""Azure sets the value, whatever is requested."""


def tell(arm_type: str, leaf: str, desired: Any, live: Any, answer: dict[str, Any]) -> RuleOutcome:
    path = tuple(int(step) if step.isdecimal() else step for step in leaf.split("/"))
    return compare_values(path, desired, live, Hints(arm_type=arm_type, own_id="/a", answer=answer))[0]


@pytest.mark.parametrize(("rule", "arm_type", "leaf", "requested", "made", "answer"), ONE_WAY)
def test_a_rule_holds_one_way(rule, arm_type, leaf, requested, made, answer):
    assert tell(arm_type, leaf, requested, made, answer) is not RuleOutcome.OTHER, "what Azure makes of it"
    assert tell(arm_type, leaf, made, requested, answer) is RuleOutcome.OTHER, "the reverse is drift"


@pytest.mark.parametrize(("rule", "arm_type", "leaf", "one", "other"), EITHER_WAY)
def test_two_spellings_of_one_value(rule, arm_type, leaf, one, other):
    assert tell(arm_type, leaf, one, other, {}) is RuleOutcome.SAME
    assert tell(arm_type, leaf, other, one, {}) is RuleOutcome.SAME


@pytest.mark.parametrize(("rule", "arm_type", "leaf", "one", "other"), NEITHER_WAY)
def test_a_value_that_azure_sets_proves_nothing(rule, arm_type, leaf, one, other):
    assert tell(arm_type, leaf, one, other, {}) is RuleOutcome.UNTOLD
    assert tell(arm_type, leaf, other, one, {}) is RuleOutcome.UNTOLD


@pytest.mark.parametrize(
    ("live", "is_same", "why"),
    [
        ("Containers(w1)", True, "the workspace of its name"),
        ("Security(w1)", False, "another solution"),
        ("Containers(w2)", False, "another workspace"),
    ],
)
def test_the_name_of_a_solution(live, is_same, why):
    solution = "/subscriptions/s/resourceGroups/g/providers/Microsoft.OperationsManagement/solutions/Containers(w1)"
    hints = Hints(arm_type="Microsoft.OperationsManagement/solutions", own_id=solution)
    found = compare_values(("plan", "name"), "Containers", live, hints)[0]
    assert (found is RuleOutcome.SAME) is is_same, why


def test_each_rule_of_one_type_is_tried():
    tried = [(row[0], row[2]) for row in (*ONE_WAY, *EITHER_WAY, *NEITHER_WAY)]
    tried.append(("a solution's name", "plan/name"))
    for row in TYPE_RULES:
        assert any(
            name == row.rule.name
            and len(row.path) == len(leaf.split("/"))
            and all(a in ("*", b) for a, b in zip(row.path, leaf.split("/"), strict=True))
            for name, leaf in tried
        ), f"{row.rule.name} at {row.path} is tried in one direction or in none"


@pytest.mark.parametrize(
    ("desired", "live", "differs"), [(False, True, False), (True, False, True), (True, True, False)]
)
def test_soft_delete_of_a_vault(desired, live, differs):
    body, answer = ({"properties": {"enableSoftDelete": value}} for value in (desired, live))
    found = compare(body, answer, None, Hints(arm_type="Microsoft.KeyVault/vaults"))
    assert bool(found.differences) is differs

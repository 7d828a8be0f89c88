"""Lists the ARM types that hold data, and what a delete of one takes: git can declare such a resource again, but not
what was in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.arm_id import ArmId

_ROWS: Final = {
    "Microsoft.ApiManagement/service": "its APIs, subscriptions and their keys",
    "Microsoft.AppConfiguration/configurationStores": "its keys and values",
    "Microsoft.Cache/redis Microsoft.Cache/redisEnterprise Microsoft.Cache/redisEnterprise/databases": (
        "all that is cached, and its access keys"
    ),
    "Microsoft.Compute/disks Microsoft.Compute/snapshots": "the data on the disk",
    "Microsoft.Compute/virtualMachineScaleSets": "the disks of its instances",
    "Microsoft.ContainerRegistry/registries": "its images",
    "Microsoft.ContainerService/managedClusters": "all that runs in it, with the volumes in its node resource group",
    "Microsoft.DataProtection/backupVaults": "its backups",
    "Microsoft.DBforMariaDB/servers Microsoft.DBforMySQL/flexibleServers Microsoft.DBforPostgreSQL/flexibleServers "
    "Microsoft.Sql/servers Microsoft.DocumentDB/databaseAccounts "
    "Microsoft.DocumentDB/mongoClusters Microsoft.Kusto/clusters": "its databases",
    "Microsoft.DBforMariaDB/servers/databases Microsoft.DBforMySQL/flexibleServers/databases "
    "Microsoft.DBforPostgreSQL/flexibleServers/databases Microsoft.Sql/servers/databases "
    "Microsoft.Kusto/clusters/databases": "its tables and their rows",
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases Microsoft.DocumentDB/databaseAccounts/mongodbDatabases "
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers "
    "Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections": "its documents",
    "Microsoft.Devices/IotHubs": "the identities of its devices",
    "Microsoft.EventHub/namespaces Microsoft.EventHub/namespaces/eventhubs": "the events that are still in it",
    "Microsoft.KeyVault/vaults": (
        "its secrets, keys and certificates, unless it is recovered before its retention ends"
    ),
    "Microsoft.MachineLearningServices/workspaces": "its experiments and models",
    "Microsoft.Network/dnsZones Microsoft.Network/privateDnsZones": "its records, including those that are not in git",
    "Microsoft.OperationalInsights/workspaces": "its logs, unless it is recovered within 14 days",
    "Microsoft.Resources/resourceGroups": "all that is in it",
    "Microsoft.Search/searchServices": "its indexes",
    "Microsoft.ServiceBus/namespaces Microsoft.ServiceBus/namespaces/queues Microsoft.ServiceBus/namespaces/topics "
    "Microsoft.ServiceBus/namespaces/topics/subscriptions": "the messages that are still in it",
    "Microsoft.Storage/storageAccounts": "its blobs, files, queues and tables",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "its blobs",
    "Microsoft.Storage/storageAccounts/fileServices/shares": "its files",
    "Microsoft.Storage/storageAccounts/queueServices/queues": "its messages",
    "Microsoft.Storage/storageAccounts/tableServices/tables": "its entities",
    "Microsoft.Synapse/workspaces": "its databases",
}

_LOST: Final[Mapping[str, str]] = {
    arm_type.casefold(): lost for types, lost in _ROWS.items() for arm_type in types.split()
}


def describe_loss(arm_id: ArmId | None, *, done: bool = False) -> str:
    """Describe what a delete of a resource also deletes, or deleted if it is `done`, by the type in its ARM id; "" if
    its type holds no data.
    """
    lost = find_loss(arm_id.arm_type) if arm_id else ""
    if not lost:
        return ""
    return f"It held data: the delete also deleted {lost}." if done else f"It holds data: a delete also deletes {lost}."


def find_loss(arm_type: str) -> str:
    """Find what is in resources of a type (in any case) and not in git: "its blobs"; "" if it holds no data."""
    return _LOST.get(arm_type.casefold(), "")

"""The values that people export are there once a resource is: end points, host names, the ids of identities."""

import pytest

from gitsync.emulator.patch import find_value as inside
from tests.emulator.asked import at

EXPORTED = [
    ("Microsoft.Cache/redis", ["properties.hostName", "properties.port", "properties.sslPort"]),
    ("Microsoft.DBforMariaDB/servers", ["properties.fullyQualifiedDomainName"]),
    ("Microsoft.DBforMySQL/flexibleServers", ["properties.fullyQualifiedDomainName"]),
    ("Microsoft.DBforPostgreSQL/flexibleServers", ["properties.fullyQualifiedDomainName", "properties.state"]),
    ("Microsoft.DocumentDB/databaseAccounts", ["properties.documentEndpoint"]),
    ("Microsoft.EventGrid/topics", ["properties.endpoint"]),
    ("Microsoft.Communication/communicationServices", ["properties.hostName"]),
    ("Microsoft.App/containerApps", ["properties.latestRevisionFqdn", "properties.eventStreamEndpoint"]),
    ("Microsoft.ContainerService/managedClusters", ["properties.oidcIssuerProfile.issuerURL", "identity.principalId"]),
    ("Microsoft.DataProtection/backupVaults", ["identity.principalId", "identity.tenantId"]),
    ("Microsoft.Insights/components", ["properties.ConnectionString", "properties.InstrumentationKey"]),
    ("Microsoft.KubernetesConfiguration/extensions", ["properties.aksAssignedIdentity.principalId"]),
    ("Microsoft.Kusto/clusters", ["identity.principalId", "identity.tenantId"]),
    ("Microsoft.MachineLearningServices/registries", ["properties.discoveryUrl", "properties.mlFlowRegistryUri"]),
    ("Microsoft.ManagedIdentity/userAssignedIdentities", [f"properties.{name}" for name in ("clientId", "principalId", "tenantId")]),
    ("Microsoft.Network/privateLinkServices", ["properties.alias"]),
    ("Microsoft.Network/trafficManagerProfiles", ["properties.dnsConfig.fqdn"]),
    ("Microsoft.NotificationHubs/namespaces", ["properties.serviceBusEndpoint"]),
    ("Microsoft.Search/searchServices", ["identity.principalId", "identity.tenantId"]),
    ("Microsoft.ServiceBus/namespaces", ["properties.serviceBusEndpoint"]),
    ("Microsoft.Sql/servers", ["properties.fullyQualifiedDomainName"]),
    ("Microsoft.Storage/storageAccounts", [f"properties.primaryEndpoints.{name}" for name in ("blob", "dfs", "file", "queue", "table", "web")]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "paths"), EXPORTED, ids=[row[0] for row in EXPORTED])
async def test_a_resource_shows_what_is_exported(azure, group, kind, paths):
    shown = await azure.made(at(kind, "one"), {"location": "westeurope", "identity": {"type": "SystemAssigned"}})
    for path in paths:
        assert inside(shown, tuple(path.split("."))), path

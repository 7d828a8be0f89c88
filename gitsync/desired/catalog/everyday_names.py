"""The names by which people call kinds: those of products, of the Azure CLI and of everyday speech.

Names are compared without case, blanks, dashes and a plural s, so `Key Vaults` is `keyvault`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

GroupKind = tuple[str, str]
"""A group and a kind."""

_NAMES: Final[Mapping[GroupKind, str]] = {
    ("apimanagement.azure.com", "Service"): "apim, api management",
    ("app.azure.com", "ContainerApp"): "aca",
    ("app.azure.com", "Job"): "container app job",
    ("app.azure.com", "ManagedEnvironment"): "container app environment, container apps environment, cae",
    ("appconfiguration.azure.com", "ConfigurationStore"): "app configuration, app config, app configuration store",
    ("authorization.azure.com", "RoleAssignment"): "rbac, role, iam, permission, grant",
    ("authorization.azure.com", "RoleDefinition"): "custom role",
    ("batch.azure.com", "BatchAccount"): "batch",
    ("cache.azure.com", "Redis"): "redis cache, azure cache for redis",
    ("cache.azure.com", "RedisEnterprise"): "managed redis, redis cluster",
    ("cdn.azure.com", "Profile"): "cdn, front door, afd, cdn profile, front door profile",
    ("cdn.azure.com", "AfdEndpoint"): "front door endpoint",
    ("cdn.azure.com", "ProfilesEndpoint"): "cdn endpoint",
    (
        "cognitiveservices.azure.com",
        "Account",
    ): "openai, azure openai, cognitive service, ai service, ai foundry, foundry",
    ("cognitiveservices.azure.com", "Deployment"): "openai deployment, model deployment, model",
    ("communication.azure.com", "CommunicationService"): "acs",
    ("compute.azure.com", "Disk"): "managed disk",
    ("compute.azure.com", "DiskEncryptionSet"): "des",
    ("compute.azure.com", "Image"): "vm image, managed image",
    ("compute.azure.com", "Snapshot"): "disk snapshot",
    ("compute.azure.com", "VirtualMachine"): "vm",
    ("compute.azure.com", "VirtualMachineScaleSet"): "vmss, scale set",
    ("compute.azure.com", "VirtualMachinesExtension"): "vm extension",
    ("containerinstance.azure.com", "ContainerGroup"): "aci, container instance, container",
    ("containerregistry.azure.com", "Registry"): "acr, container registry, docker registry",
    ("containerservice.azure.com", "Fleet"): "kubernetes fleet, fleet manager",
    ("containerservice.azure.com", "ManagedCluster"): "aks, kubernetes, k8s, aks cluster, kubernetes cluster",
    ("containerservice.azure.com", "ManagedClustersAgentPool"): "agent pool, node pool, aks node pool, nodepool",
    ("datafactory.azure.com", "Factory"): "adf, data factory",
    ("dataprotection.azure.com", "BackupVault"): "backup",
    ("dataprotection.azure.com", "BackupVaultsBackupPolicy"): "backup policy",
    ("dataprotection.azure.com", "BackupVaultsBackupInstance"): "backup instance",
    ("dbformariadb.azure.com", "Server"): "mariadb, mariadb server",
    ("dbformysql.azure.com", "FlexibleServer"): "mysql, mysql server, mysql flexible server",
    ("dbformysql.azure.com", "FlexibleServersDatabase"): "mysql database",
    ("dbforpostgresql.azure.com", "FlexibleServer"): (
        "postgres, postgresql, pg, postgres server, postgresql server, postgres flexible server, "
        "postgresql flexible server"
    ),
    ("dbforpostgresql.azure.com", "FlexibleServersDatabase"): "postgres database, postgresql database",
    ("dbforpostgresql.azure.com", "FlexibleServersFirewallRule"): "postgres firewall rule",
    ("dbforpostgresql.azure.com", "FlexibleServersConfiguration"): "postgres configuration, postgres parameter",
    ("devices.azure.com", "IotHub"): "iot",
    ("documentdb.azure.com", "DatabaseAccount"): "cosmos, cosmosdb, cosmos db account, documentdb",
    ("documentdb.azure.com", "CassandraCluster"): "cassandra",
    ("documentdb.azure.com", "MongoCluster"): "mongo, mongodb, cosmos mongo",
    ("documentdb.azure.com", "SqlDatabase"): "cosmos database, cosmosdb database",
    ("documentdb.azure.com", "SqlDatabaseContainer"): "cosmos container, cosmosdb container",
    ("documentdb.azure.com", "SqlRoleAssignment"): "cosmos role assignment",
    ("eventgrid.azure.com", "Domain"): "event grid domain",
    ("eventgrid.azure.com", "Topic"): "event grid, event grid topic",
    ("eventhub.azure.com", "Namespace"): "event hub namespace, event hubs namespace",
    ("eventhub.azure.com", "NamespacesEventhub"): "event hub",
    ("eventhub.azure.com", "NamespacesEventhubsConsumerGroup"): "consumer group",
    ("insights.azure.com", "ActionGroup"): "alert receiver",
    ("insights.azure.com", "AutoscaleSetting"): "autoscale",
    ("insights.azure.com", "Component"): "app insights, application insights, appi",
    ("insights.azure.com", "DataCollectionEndpoint"): "dce",
    ("insights.azure.com", "DataCollectionRule"): "dcr",
    ("insights.azure.com", "DiagnosticSetting"): "diagnostics, diagnostic log",
    ("insights.azure.com", "MetricAlert"): "alert",
    ("insights.azure.com", "ScheduledQueryRule"): "log alert, log search alert",
    ("keyvault.azure.com", "Vault"): "key vault, kv",
    ("kubernetesconfiguration.azure.com", "Extension"): "aks extension, kubernetes extension",
    ("kubernetesconfiguration.azure.com", "FluxConfiguration"): "flux",
    ("kusto.azure.com", "Cluster"): "kusto, adx, data explorer, azure data explorer, kusto cluster",
    ("kusto.azure.com", "Database"): "kusto database, adx database",
    (
        "machinelearningservices.azure.com",
        "Workspace",
    ): "machine learning, aml, ml workspace, machine learning workspace",
    ("managedidentity.azure.com", "FederatedIdentityCredential"): "federated credential, workload identity, fic",
    ("managedidentity.azure.com", "UserAssignedIdentity"): "managed identity, identity, msi, uami",
    ("monitor.azure.com", "Account"): "azure monitor workspace, prometheus, managed prometheus, amw",
    ("network.azure.com", "ApplicationGateway"): "app gateway, agw, appgw",
    ("network.azure.com", "ApplicationSecurityGroup"): "asg",
    ("network.azure.com", "AzureFirewall"): "firewall",
    ("network.azure.com", "BastionHost"): "bastion",
    ("network.azure.com", "DdosProtectionPlan"): "ddos",
    ("network.azure.com", "DnsResolver"): "private dns resolver",
    ("network.azure.com", "DnsZone"): "dns, public dns zone",
    ("network.azure.com", "LoadBalancer"): "lb",
    ("network.azure.com", "NatGateway"): "nat, ngw",
    ("network.azure.com", "NetworkInterface"): "nic",
    ("network.azure.com", "NetworkSecurityGroup"): "nsg",
    ("network.azure.com", "NetworkSecurityGroupsSecurityRule"): "security rule, nsg rule",
    ("network.azure.com", "NetworkWatchersFlowLog"): "flow log",
    ("network.azure.com", "PrivateDnsZone"): "private dns",
    ("network.azure.com", "PrivateDnsZonesVirtualNetworkLink"): "private dns link, virtual network link, vnet link",
    ("network.azure.com", "PrivateEndpoint"): "pe",
    ("network.azure.com", "PrivateEndpointsPrivateDnsZoneGroup"): "private dns zone group, dns zone group",
    ("network.azure.com", "PrivateLinkService"): "pls",
    ("network.azure.com", "PublicIPAddress"): "public ip, pip, ip address",
    ("network.azure.com", "PublicIPPrefix"): "ip prefix",
    ("network.azure.com", "RouteTable"): "udr, rt",
    ("network.azure.com", "RouteTablesRoute"): "user defined route",
    ("network.azure.com", "TrafficManagerProfile"): "traffic manager",
    ("network.azure.com", "VirtualNetwork"): "vnet, network",
    ("network.azure.com", "VirtualNetworkGateway"): "vpn, vpn gateway, express route gateway",
    ("network.azure.com", "VirtualNetworksSubnet"): "subnet, snet",
    ("network.azure.com", "VirtualNetworksVirtualNetworkPeering"): "peering, vnet peering, virtual network peering",
    ("network.azure.com", "WebApplicationFirewallPolicy"): "waf, waf policy",
    ("network.frontdoor.azure.com", "WebApplicationFirewallPolicy"): "front door waf, front door waf policy",
    ("notificationhubs.azure.com", "Namespace"): "notification hub namespace",
    ("operationalinsights.azure.com", "Workspace"): "log analytics, law, log analytics workspace",
    ("redhatopenshift.azure.com", "OpenShiftCluster"): "aro, openshift",
    ("resources.azure.com", "ResourceGroup"): "rg",
    ("search.azure.com", "SearchService"): "search, ai search, cognitive search",
    ("servicebus.azure.com", "Namespace"): "service bus, service bus namespace",
    ("servicebus.azure.com", "NamespacesQueue"): "queue, service bus queue",
    ("servicebus.azure.com", "NamespacesTopic"): "service bus topic",
    ("servicebus.azure.com", "NamespacesTopicsSubscription"): "service bus subscription",
    ("sql.azure.com", "Server"): "sql, sql server, mssql",
    ("sql.azure.com", "ServersDatabase"): "sql database, sqldb, mssql database",
    ("sql.azure.com", "ServersElasticPool"): "elastic pool",
    ("sql.azure.com", "ServersFailoverGroup"): "failover group",
    ("sql.azure.com", "ServersFirewallRule"): "sql firewall rule",
    ("storage.azure.com", "StorageAccount"): "storage",
    ("storage.azure.com", "StorageAccountsBlobService"): "blob, blob service",
    ("storage.azure.com", "StorageAccountsBlobServicesContainer"): "blob container, storage container",
    ("storage.azure.com", "StorageAccountsFileServicesShare"): "file share, share",
    ("storage.azure.com", "StorageAccountsManagementPolicy"): "lifecycle, lifecycle policy",
    ("storage.azure.com", "StorageAccountsQueueServicesQueue"): "storage queue",
    ("storage.azure.com", "StorageAccountsTableServicesTable"): "storage table",
    ("subscription.azure.com", "Alias"): "subscription alias",
    ("synapse.azure.com", "Workspace"): "synapse, synapse workspace",
    ("synapse.azure.com", "WorkspacesBigDataPool"): "spark pool",
    ("web.azure.com", "ServerFarm"): "app service plan, plan, asp",
    ("web.azure.com", "Site"): "web app, function app, function, app service, logic app",
}


TERRAFORM: Final[Mapping[str, str]] = {
    "azurerm_api_management": "Service.apimanagement.azure.com",
    "azurerm_application_insights": "Component.insights.azure.com",
    "azurerm_cognitive_account": "Account.cognitiveservices.azure.com",
    "azurerm_cosmosdb_account": "DatabaseAccount.documentdb.azure.com",
    "azurerm_cosmosdb_sql_container": "SqlDatabaseContainer.documentdb.azure.com",
    "azurerm_cosmosdb_sql_database": "SqlDatabase.documentdb.azure.com",
    "azurerm_eventhub": "NamespacesEventhub.eventhub.azure.com",
    "azurerm_eventhub_consumer_group": "NamespacesEventhubsConsumerGroup.eventhub.azure.com",
    "azurerm_eventhub_namespace": "Namespace.eventhub.azure.com",
    "azurerm_federated_identity_credential": "FederatedIdentityCredential.managedidentity.azure.com",
    "azurerm_firewall": "AzureFirewall.network.azure.com",
    "azurerm_kubernetes_cluster": "ManagedCluster.containerservice.azure.com",
    "azurerm_kubernetes_cluster_node_pool": "ManagedClustersAgentPool.containerservice.azure.com",
    "azurerm_lb": "LoadBalancer.network.azure.com",
    "azurerm_linux_function_app": "Site.web.azure.com",
    "azurerm_linux_virtual_machine": "VirtualMachine.compute.azure.com",
    "azurerm_linux_virtual_machine_scale_set": "VirtualMachineScaleSet.compute.azure.com",
    "azurerm_linux_web_app": "Site.web.azure.com",
    "azurerm_monitor_action_group": "ActionGroup.insights.azure.com",
    "azurerm_monitor_diagnostic_setting": "DiagnosticSetting.insights.azure.com",
    "azurerm_monitor_metric_alert": "MetricAlert.insights.azure.com",
    "azurerm_mssql_database": "ServersDatabase.sql.azure.com",
    "azurerm_mssql_firewall_rule": "ServersFirewallRule.sql.azure.com",
    "azurerm_mssql_server": "Server.sql.azure.com",
    "azurerm_mysql_flexible_database": "FlexibleServersDatabase.dbformysql.azure.com",
    "azurerm_network_security_rule": "NetworkSecurityGroupsSecurityRule.network.azure.com",
    "azurerm_postgresql_flexible_server_configuration": "FlexibleServersConfiguration.dbforpostgresql.azure.com",
    "azurerm_postgresql_flexible_server_database": "FlexibleServersDatabase.dbforpostgresql.azure.com",
    "azurerm_postgresql_flexible_server_firewall_rule": "FlexibleServersFirewallRule.dbforpostgresql.azure.com",
    "azurerm_private_dns_zone_virtual_network_link": "PrivateDnsZonesVirtualNetworkLink.network.azure.com",
    "azurerm_public_ip": "PublicIPAddress.network.azure.com",
    "azurerm_redis_cache": "Redis.cache.azure.com",
    "azurerm_route": "RouteTablesRoute.network.azure.com",
    "azurerm_service_plan": "ServerFarm.web.azure.com",
    "azurerm_servicebus_namespace": "Namespace.servicebus.azure.com",
    "azurerm_servicebus_queue": "NamespacesQueue.servicebus.azure.com",
    "azurerm_servicebus_subscription": "NamespacesTopicsSubscription.servicebus.azure.com",
    "azurerm_servicebus_topic": "NamespacesTopic.servicebus.azure.com",
    "azurerm_signalr_service": "SignalR.signalrservice.azure.com",
    "azurerm_snapshot": "Snapshot.compute.azure.com",
    "azurerm_storage_container": "StorageAccountsBlobServicesContainer.storage.azure.com",
    "azurerm_storage_management_policy": "StorageAccountsManagementPolicy.storage.azure.com",
    "azurerm_storage_queue": "StorageAccountsQueueServicesQueue.storage.azure.com",
    "azurerm_storage_share": "StorageAccountsFileServicesShare.storage.azure.com",
    "azurerm_storage_table": "StorageAccountsTableServicesTable.storage.azure.com",
    "azurerm_subnet": "VirtualNetworksSubnet.network.azure.com",
    "azurerm_virtual_network_peering": "VirtualNetworksVirtualNetworkPeering.network.azure.com",
    "azurerm_windows_function_app": "Site.web.azure.com",
    "azurerm_windows_virtual_machine": "VirtualMachine.compute.azure.com",
    "azurerm_windows_web_app": "Site.web.azure.com",
}
"""Resources of Terraform's provider and their kinds, where `azurerm_` and words of the kind are not enough."""


def find_by_everyday_name(name: str) -> GroupKind | None:
    """The kind that people call so; None if the table does not have the name."""
    return _index_names().get(normalize_name(name))


def list_everyday_names(group_kind: GroupKind) -> tuple[str, ...]:
    """What people call a kind, the most usual name first; none if the table does not have it."""
    return tuple(_split(_NAMES.get(group_kind, "")))


def everyday_names() -> tuple[str, ...]:
    """All names of the table, sorted."""
    return tuple(sorted(name for names in _NAMES.values() for name in _split(names)))


def normalize_name(name: str) -> str:
    """A name as names are compared: without case, blanks, dashes and a plural s."""
    word = squash_name(name)
    return (word.removesuffix("es") if word.endswith(("sses", "xes")) else word).removesuffix("s")


def squash_name(name: str) -> str:
    """A name without case, blanks and dashes."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@cache
def _index_names() -> Mapping[str, GroupKind]:
    return MappingProxyType(
        {normalize_name(name): group_kind for group_kind, names in _NAMES.items() for name in _split(names)}
    )


def _split(names: str) -> Iterator[str]:
    return (name for name in names.split(", ") if name)

"""Resource types of Terraform: what each is in Azure. The ids are those of the documentation of azurerm."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.workflows.imports.terraform.resource_types import TypeStanding, identify
from tests.workflows.imports.found import GROUP, SUBSCRIPTION

OWN, PART, NONE = TypeStanding.OWN, TypeStanding.PART, TypeStanding.NONE
S = f"/subscriptions/{SUBSCRIPTION}"
P = f"{GROUP}/providers"
NET = f"{P}/Microsoft.Network"
VAULT = f"{P}/Microsoft.KeyVault/vaults/v"
ACCOUNT = f"{P}/Microsoft.Storage/storageAccounts/a"
SITE = f"{P}/Microsoft.Web/sites/s"
FABRIC = f"{P}/Microsoft.RecoveryServices/vaults/v/backupFabrics/Azure"
NIC = f"{NET}/networkInterfaces/n"
GUID = "11111111-1111-4111-8111-111111111111"
ROLE = f"{S}/providers/Microsoft.Authorization/roleDefinitions/{GUID}"

ROWS = [
    # type, id, standing, the ARM id (None: the same as the id)
    ("azurerm_resource_group", GROUP, OWN, None),
    ("azurerm_virtual_network", f"{NET}/virtualNetworks/v", OWN, None),
    ("azurerm_subnet", f"{NET}/virtualNetworks/v/subnets/s", OWN, None),
    ("azurerm_virtual_network_peering", f"{NET}/virtualNetworks/v/virtualNetworkPeerings/p", OWN, None),
    ("azurerm_network_security_group", f"{NET}/networkSecurityGroups/n", OWN, None),
    ("azurerm_network_security_rule", f"{NET}/networkSecurityGroups/n/securityRules/r", OWN, None),
    ("azurerm_route_table", f"{NET}/routeTables/r", OWN, None),
    ("azurerm_route", f"{NET}/routeTables/r/routes/x", OWN, None),
    ("azurerm_public_ip", f"{NET}/publicIPAddresses/p", OWN, None),
    ("azurerm_nat_gateway", f"{NET}/natGateways/g", OWN, None),
    ("azurerm_network_interface", NIC, OWN, None),
    ("azurerm_lb", f"{NET}/loadBalancers/l", OWN, None),
    ("azurerm_lb_nat_rule", f"{NET}/loadBalancers/l/inboundNatRules/r", OWN, None),
    ("azurerm_application_gateway", f"{NET}/applicationGateways/g", OWN, None),
    ("azurerm_firewall", f"{NET}/azureFirewalls/f", OWN, None),
    ("azurerm_firewall_policy_rule_collection_group", f"{NET}/firewallPolicies/p/ruleCollectionGroups/g", OWN, None),
    ("azurerm_private_endpoint", f"{NET}/privateEndpoints/e", OWN, None),
    ("azurerm_dns_zone", f"{GROUP}/providers/Microsoft.Network/dnszones/example.com", OWN, None),
    ("azurerm_dns_a_record", f"{NET}/dnsZones/example.com/A/@", OWN, None),
    ("azurerm_private_dns_zone", f"{NET}/privateDnsZones/example.com", OWN, None),
    ("azurerm_private_dns_cname_record", f"{NET}/privateDnsZones/example.com/CNAME/www", OWN, None),
    ("azurerm_private_dns_zone_virtual_network_link", f"{NET}/privateDnsZones/z/virtualNetworkLinks/l", OWN, None),
    ("azurerm_storage_account", ACCOUNT, OWN, None),
    ("azurerm_storage_management_policy", f"{ACCOUNT}/managementPolicies/default", OWN, None),
    ("azurerm_storage_container", f"{ACCOUNT}/blobServices/default/containers/c", OWN, None),
    ("azurerm_storage_share", f"{ACCOUNT}/fileServices/default/shares/s", OWN, None),
    ("azurerm_key_vault", VAULT, OWN, None),
    ("azurerm_user_assigned_identity", f"{P}/Microsoft.ManagedIdentity/userAssignedIdentities/i", OWN, None),
    ("azurerm_federated_identity_credential",
     f"{P}/Microsoft.ManagedIdentity/userAssignedIdentities/i/federatedIdentityCredentials/f", OWN, None),
    ("azurerm_role_assignment", f"{S}/providers/Microsoft.Authorization/roleAssignments/{GUID}", OWN, None),
    ("azurerm_role_assignment", f"{S}/providers/Microsoft.Authorization/roleAssignments/{GUID}|{GUID}", OWN,
     f"{S}/providers/Microsoft.Authorization/roleAssignments/{GUID}"),
    ("azurerm_role_definition", f"{ROLE}|{S}", OWN, ROLE),
    ("azurerm_monitor_diagnostic_setting", f"{VAULT}|audit", OWN,
     f"{VAULT}/providers/Microsoft.Insights/diagnosticSettings/audit"),
    ("azurerm_monitor_action_group", f"{S}/resourcegroups/g/providers/microsoft.insights/actiongroups/a", OWN, None),
    ("azurerm_monitor_metric_alert", f"{P}/Microsoft.Insights/metricAlerts/a", OWN, None),
    ("azurerm_monitor_data_collection_rule_association",
     f"{P}/Microsoft.Compute/virtualMachines/m/providers/Microsoft.Insights/dataCollectionRuleAssociations/a", OWN, None),
    ("azurerm_application_insights", f"{P}/Microsoft.Insights/components/c", OWN, None),
    ("azurerm_log_analytics_workspace", f"{P}/Microsoft.OperationalInsights/workspaces/w", OWN, None),
    ("azurerm_log_analytics_solution", f"{P}/Microsoft.OperationsManagement/solutions/ContainerInsights(w)", OWN, None),
    ("azurerm_kubernetes_cluster", f"{P}/Microsoft.ContainerService/managedClusters/c", OWN, None),
    ("azurerm_kubernetes_cluster_node_pool", f"{P}/Microsoft.ContainerService/managedClusters/c/agentPools/p", OWN, None),
    ("azurerm_container_registry", f"{P}/Microsoft.ContainerRegistry/registries/r", OWN, None),
    ("azurerm_linux_web_app", SITE, OWN, None),
    ("azurerm_service_plan", f"{P}/Microsoft.Web/serverFarms/p", OWN, None),
    ("azurerm_mssql_server", f"{P}/Microsoft.Sql/servers/s", OWN, None),
    ("azurerm_mssql_database", f"{P}/Microsoft.Sql/servers/s/databases/d", OWN, None),
    ("azurerm_mssql_firewall_rule", f"{P}/Microsoft.Sql/servers/s/firewallRules/r", OWN, None),
    ("azurerm_postgresql_flexible_server", f"{P}/Microsoft.DBforPostgreSQL/flexibleServers/s", OWN, None),
    ("azurerm_cosmosdb_account", f"{P}/Microsoft.DocumentDB/databaseAccounts/a", OWN, None),
    ("azurerm_cosmosdb_sql_container",
     f"{P}/Microsoft.DocumentDB/databaseAccounts/a/sqlDatabases/d/containers/c", OWN, None),
    ("azurerm_redis_cache", f"{P}/Microsoft.Cache/redis/r", OWN, None),
    ("azurerm_eventhub", f"{P}/Microsoft.EventHub/namespaces/n/eventhubs/e", OWN, None),
    ("azurerm_servicebus_queue", f"{P}/Microsoft.ServiceBus/namespaces/n/queues/q", OWN, None),
    ("azurerm_linux_virtual_machine", f"{P}/Microsoft.Compute/virtualMachines/m", OWN, None),
    ("azurerm_virtual_machine_extension", f"{P}/Microsoft.Compute/virtualMachines/m/extensions/e", OWN, None),
    ("azurerm_managed_disk", f"{P}/Microsoft.Compute/disks/d", OWN, None),
    ("azurerm_api_management_api", f"{P}/Microsoft.ApiManagement/service/s/apis/a;rev=1", OWN, None),
    ("azurerm_backup_protected_vm",
     f"{FABRIC}/protectionContainers/iaasvmcontainer;v2;g;m/protectedItems/vm;iaasvmcontainerv2;g;m", OWN, None),
    ("azurerm_management_lock", f"{VAULT}/providers/Microsoft.Authorization/locks/l", OWN, None),
    ("azurerm_management_group", "/providers/Microsoft.Management/managementGroups/m", OWN, None),
    ("azurerm_consumption_budget_subscription", f"{S}/providers/Microsoft.Consumption/budgets/b", OWN, None),
    ("azurerm_subscription_policy_assignment", f"{S}/providers/Microsoft.Authorization/policyAssignments/p", OWN, None),
    ("azapi_resource", f"{P}/Microsoft.Search/searchServices/s", OWN, None),
    ("azapi_update_resource", f"{ACCOUNT}/blobServices/default", OWN, None),
    # Parts of others: the ARM id is the first of the two, or has the part behind it.
    ("azurerm_subnet_network_security_group_association", f"{NET}/virtualNetworks/v/subnets/s", PART, None),
    ("azurerm_subnet_route_table_association", f"{NET}/virtualNetworks/v/subnets/s", PART, None),
    ("azurerm_subnet_nat_gateway_association", f"{NET}/virtualNetworks/v/subnets/s", PART, None),
    ("azurerm_network_interface_security_group_association", f"{NIC}|{NET}/networkSecurityGroups/n", PART, NIC),
    ("azurerm_network_interface_backend_address_pool_association",
     f"{NIC}/ipConfigurations/c|{NET}/loadBalancers/l/backendAddressPools/p", PART, f"{NIC}/ipConfigurations/c"),
    ("azurerm_nat_gateway_public_ip_association", f"{NET}/natGateways/g|{NET}/publicIPAddresses/p", PART,
     f"{NET}/natGateways/g"),
    ("azurerm_lb_backend_address_pool", f"{NET}/loadBalancers/l/backendAddressPools/p", PART, None),
    ("azurerm_lb_probe", f"{NET}/loadBalancers/l/probes/p", PART, None),
    ("azurerm_lb_rule", f"{NET}/loadBalancers/l/loadBalancingRules/r", PART, None),
    ("azurerm_key_vault_access_policy", f"{VAULT}/objectId/{GUID}", PART, None),
    ("azurerm_key_vault_access_policy", f"{VAULT}/objectId/{GUID}/applicationId/{GUID}", PART, None),
    ("azurerm_storage_account_network_rules", ACCOUNT, PART, None),
    ("azurerm_storage_account_customer_managed_key", ACCOUNT, PART, None),
    ("azurerm_virtual_machine_data_disk_attachment", f"{P}/Microsoft.Compute/virtualMachines/m/dataDisks/d", PART, None),
    ("azurerm_virtual_network_dns_servers", f"{NET}/virtualNetworks/v/dnsServers/default", PART, None),
    ("azurerm_app_service_virtual_network_swift_connection", f"{SITE}/config/virtualNetwork", PART, None),
    # No resource of Azure Resource Manager, though some ids look so.
    ("azurerm_key_vault_secret", "", NONE, ""),
    ("azurerm_key_vault_key", "", NONE, ""),
    ("azurerm_key_vault_certificate", "", NONE, ""),
    ("azurerm_storage_blob", "", NONE, ""),
    ("azurerm_storage_table_entity", "", NONE, ""),
    ("azurerm_storage_data_lake_gen2_path", "", NONE, ""),
    ("azurerm_storage_queue", "", NONE, ""),
    ("azurerm_app_configuration_key", f"{P}/Microsoft.AppConfiguration/configurationStores/s/AppConfigurationKey/k",
     NONE, ""),
    ("azurerm_app_service_source_control", SITE, NONE, ""),
    ("azurerm_web_app_active_slot", SITE, NONE, ""),
    ("azurerm_resource_provider_registration", f"{S}/providers/Microsoft.Search", NONE, ""),
    ("azurerm_management_group_subscription_association", f"/managementGroup/m/subscription/{GUID}", NONE, ""),
    ("azurerm_automation_job_schedule", f"{P}/Microsoft.Automation/automationAccounts/a/schedules/s|{P}/x", NONE, ""),
    ("azurerm_storage_object_replication", f"{ACCOUNT}/objectReplicationPolicies/p;{ACCOUNT}/objectReplicationPolicies/p",
     NONE, ""),
    ("azurerm_pim_active_role_assignment", f"{S}|{ROLE}|{GUID}", NONE, ""),
    ("azapi_data_plane_resource", "/x", NONE, ""),
    ("azapi_resource_action", VAULT, NONE, ""),
    ("azuread_group", f"/groups/{GUID}", NONE, ""),
    ("random_password", "", NONE, ""),
    ("null_resource", "", NONE, ""),
    ("tls_private_key", "", NONE, ""),
    ("kubernetes_namespace", "", NONE, ""),
    ("helm_release", "", NONE, ""),
    ("time_sleep", "", NONE, ""),
    ("terraform_data", "", NONE, ""),
    ("aws_instance", "", NONE, ""),
    # Ids that Azure cannot have.
    ("azurerm_key_vault", f"{VAULT}/../secrets", NONE, ""),
    ("azurerm_key_vault", f"{VAULT}<script>", NONE, ""),
    ("azurerm_key_vault", f"{VAULT}\nkind: Secret", NONE, ""),
    ("azurerm_key_vault", f"{VAULT}?x=1", NONE, ""),
    ("azurerm_key_vault", "/", NONE, ""),
    ("azurerm_monitor_diagnostic_setting", f"{VAULT}|a|b", NONE, ""),
    ("azurerm_monitor_diagnostic_setting", f"{VAULT}|../x", NONE, ""),
]  # fmt: skip


@pytest.mark.parametrize(("type_name", "text", "standing", "arm_id"), ROWS)
def test_what_a_type_is(type_name, text, standing, arm_id):
    found = identify(type_name, text)
    assert (found.standing, str(found.arm_id)) == (standing, text if arm_id is None else arm_id), type_name
    assert bool(found.why) is (standing is not OWN)


def test_every_resource_of_its_own_has_a_kind_or_a_reason():
    tree = KindTree(open_catalog())
    found = [identify(type_name, text) for type_name, text, standing, _ in ROWS if standing is OWN]
    missing = [own.arm_id.arm_type for own in found if tree.find(own.arm_id.arm_type) is None]
    assert missing == []

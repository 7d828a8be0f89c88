"""What the resource types of Terraform are in Azure: a resource of their own, a part of another, or nothing that Azure
Resource Manager has.

The ids are those that the documentation of azurerm shows in its sections "Import", and that its code sets. All 1,103
types of 2026-08 were compared. A type that no rule names is a resource of its own if its id is an ARM id.
"""

from __future__ import annotations

from enum import Enum
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from gitsync.desired.validation.references import is_arm_id
from gitsync.model.arm_id import NO_ID, ArmId


class TypeStanding(Enum):
    OWN = "a resource of its own"
    PART = "a part of another resource"
    NONE = "nothing that an import takes"


class TerraformType(NamedTuple):
    """What some types are, and why."""

    pattern: str
    standing: TypeStanding
    why: str


_ENTRA: Final = "an object of Microsoft Entra ID"
_VALUE: Final = "a value or a step of Terraform"
_CLUSTER: Final = "an object in a Kubernetes cluster"
_DATA: Final = "data of a service, not of Azure Resource Manager"
_ACTION: Final = "an action, not a resource"
_KEYS: Final = "keys or tokens, which no manifest has"

PROVIDERS: Final[dict[str, str]] = {
    "archive": _VALUE,
    "azuread": _ENTRA,
    "azurecaf": _VALUE,
    "azuredevops": "an object of Azure DevOps",
    "cloudinit": _VALUE,
    "external": _VALUE,
    "flux": _CLUSTER,
    "helm": _CLUSTER,
    "http": _VALUE,
    "kubectl": _CLUSTER,
    "kubernetes": _CLUSTER,
    "local": "a file on a machine",
    "modtm": _VALUE,
    "msgraph": _ENTRA,
    "null": _VALUE,
    "random": _VALUE,
    "terraform": _VALUE,
    "time": _VALUE,
    "tls": _VALUE,
}
"""Providers without resources of Azure Resource Manager: what theirs are."""

_OF_AZURE: Final = frozenset({"azurerm", "azapi"})

_OWN, _PART, _NONE = TypeStanding.OWN, TypeStanding.PART, TypeStanding.NONE

_RULES: Final = (
    # Types that the patterns below would match.
    TerraformType("azurerm_application_load_balancer_subnet_association", _OWN, "an association below the controller"),
    TerraformType("azurerm_monitor_data_collection_rule_association", _OWN, "an extension of what it observes"),
    TerraformType("azurerm_network_security_perimeter_association", _OWN, "an association below the perimeter"),
    TerraformType("azurerm_recovery_services_vault_resource_guard_association", _OWN, "a proxy below the vault"),
    TerraformType("azurerm_resource_management_private_link_association", _OWN, "an extension of a management group"),
    TerraformType("azurerm_site_recovery_*_replication_policy_association", _OWN, "a mapping below the container"),
    TerraformType("azurerm_spring_cloud_app_*_association", _OWN, "a binding below the application"),
    TerraformType("azurerm_cdn_frontdoor_custom_domain_association", _NONE, "a link that the routes declare"),
    TerraformType("azurerm_management_group_subscription_association", _NONE, "a move between management groups"),
    # Fields of another resource.
    TerraformType("azurerm_*_association", _PART, "a field of the first of the two resources"),
    TerraformType("azurerm_*_customer_managed_key", _PART, "the encryption of the resource"),
    TerraformType("azurerm_*_network_acl", _PART, "the network rules of the resource"),
    TerraformType("azurerm_active_directory_domain_service_*", _PART, "a list of the domain service"),
    TerraformType("azurerm_api_management_custom_domain", _PART, "the host names of the service"),
    TerraformType("azurerm_app_service_*virtual_network_swift_connection", _PART, "the subnet of the site"),
    TerraformType("azurerm_app_service_certificate_binding", _PART, "the certificate of the host name"),
    TerraformType("azurerm_container_app_*custom_domain", _PART, "a domain of the application or its environment"),
    TerraformType("azurerm_firewall_*_rule_collection", _PART, "rules of the firewall"),
    TerraformType("azurerm_iotcentral_application_network_rule_set", _PART, "the network rules of the resource"),
    TerraformType("azurerm_iothub_endpoint_*", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_enrichment", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_fallback_route", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_file_upload", _PART, "the storage of the hub"),
    TerraformType("azurerm_iothub_route", _PART, "the routing of the hub"),
    TerraformType("azurerm_ip_group_cidr", _PART, "an address of the group"),
    TerraformType("azurerm_key_vault_access_policy", _PART, "an access policy of the vault"),
    TerraformType("azurerm_lb_backend_address_pool", _PART, "a pool of the load balancer"),
    TerraformType("azurerm_lb_backend_address_pool_address", _PART, "an address in a pool of the load balancer"),
    TerraformType("azurerm_lb_nat_pool", _PART, "a pool of the load balancer"),
    TerraformType("azurerm_lb_outbound_rule", _PART, "a rule of the load balancer"),
    TerraformType("azurerm_lb_probe", _PART, "a probe of the load balancer"),
    TerraformType("azurerm_lb_rule", _PART, "a rule of the load balancer"),
    TerraformType("azurerm_logic_app_action_*", _PART, "an action in the definition of the workflow"),
    TerraformType("azurerm_logic_app_trigger_*", _PART, "a trigger in the definition of the workflow"),
    TerraformType("azurerm_mssql_job_schedule", _PART, "the schedule of the job"),
    TerraformType("azurerm_netapp_account_encryption", _PART, "the encryption of the resource"),
    TerraformType("azurerm_storage_account_network_rules", _PART, "the network rules of the account"),
    TerraformType("azurerm_stream_analytics_job_storage_account", _PART, "the storage of the job"),
    TerraformType("azurerm_virtual_hub_route_table_route", _PART, "a route of the table"),
    TerraformType("azurerm_virtual_machine_data_disk_attachment", _PART, "a disk of the machine"),
    TerraformType("azurerm_virtual_machine_gallery_application_assignment", _PART, "an application of the machine"),
    TerraformType("azurerm_virtual_machine_implicit_data_disk_from_source", _PART, "a disk of the machine"),
    TerraformType("azurerm_virtual_network_dns_servers", _PART, "the DNS servers of the network"),
    # Ids that would name something else.
    TerraformType("azapi_data_plane_resource", _NONE, _DATA),
    TerraformType("azapi_resource_action", _NONE, _ACTION),
    TerraformType("azurerm_*_active_deployment", _NONE, _ACTION),
    TerraformType("azurerm_*_active_slot", _NONE, _ACTION),
    TerraformType("azurerm_*_run_now", _NONE, _ACTION),
    TerraformType("azurerm_app_configuration_feature", _NONE, _DATA),
    TerraformType("azurerm_app_configuration_key", _NONE, _DATA),
    TerraformType("azurerm_app_service_source_control*", _NONE, "a token and a repository of the site"),
    TerraformType("azurerm_application_insights_api_key", _NONE, _KEYS),
    TerraformType("azurerm_batch_job", _NONE, _DATA),
    TerraformType("azurerm_container_registry_token_password", _NONE, _KEYS),
    TerraformType("azurerm_iotcentral_organization", _NONE, _DATA),
    TerraformType("azurerm_iothub_*shared_access_policy", _NONE, _KEYS),
    TerraformType("azurerm_key_vault_certificate*", _NONE, _DATA),
    TerraformType("azurerm_key_vault_key", _NONE, _DATA),
    TerraformType("azurerm_key_vault_managed_hardware_security_module_*", _NONE, _DATA),
    TerraformType("azurerm_key_vault_managed_storage_account*", _NONE, _DATA),
    TerraformType("azurerm_key_vault_secret", _NONE, _DATA),
    TerraformType("azurerm_managed_disk_sas_token", _NONE, _KEYS),
    TerraformType("azurerm_managed_redis_geo_replication", _NONE, "a link between databases of several"),
    TerraformType("azurerm_marketplace_agreement", _NONE, "an agreement of the subscription"),
    TerraformType("azurerm_network_manager_deployment", _NONE, _ACTION),
    TerraformType("azurerm_pim_*", _NONE, "a request of Privileged Identity Management"),
    TerraformType("azurerm_resource_provider_*registration", _NONE, "a registration of the subscription"),
    TerraformType("azurerm_role_management_policy", _NONE, "a policy of Privileged Identity Management"),
    TerraformType("azurerm_storage_account_*_properties", _NONE, _DATA),
    TerraformType("azurerm_storage_account_static_website", _NONE, _DATA),
    TerraformType("azurerm_storage_blob", _NONE, _DATA),
    TerraformType("azurerm_storage_data_lake_gen2_*", _NONE, _DATA),
    TerraformType("azurerm_storage_share_directory", _NONE, _DATA),
    TerraformType("azurerm_storage_share_file", _NONE, _DATA),
    TerraformType("azurerm_storage_table_entity", _NONE, _DATA),
    TerraformType("azurerm_stream_analytics_job_schedule", _NONE, _ACTION),
    TerraformType("azurerm_synapse_linked_service", _NONE, _DATA),
    TerraformType("azurerm_synapse_managed_private_endpoint", _NONE, _DATA),
    TerraformType("azurerm_synapse_role_assignment", _NONE, _DATA),
    TerraformType("azurerm_virtual_desktop_host_pool_registration_info", _NONE, _KEYS),
)
"""The first that matches counts."""

_ENDINGS: Final[dict[str, str]] = {
    "azurerm_api_management_api_operation_policy": "/policies/policy",
    "azurerm_api_management_api_policy": "/policies/policy",
    "azurerm_api_management_policy": "/policies/policy",
    "azurerm_api_management_product_policy": "/policies/policy",
    "azurerm_api_management_workspace_policy": "/policies/policy",
    "azurerm_eventgrid_partner_configuration": "/providers/Microsoft.EventGrid/partnerConfigurations/default",
    "azurerm_kubernetes_cluster_deployment_safeguard":
        "/providers/Microsoft.ContainerService/deploymentSafeguards/default",
    "azurerm_marketplace_role_assignment": "",
    "azurerm_monitor_diagnostic_setting": "/providers/Microsoft.Insights/diagnosticSettings/{}",
    "azurerm_postgresql_flexible_server_virtual_endpoint": "",
    "azurerm_role_assignment": "",
    "azurerm_role_definition": "",
    "azurerm_security_center_storage_defender": "/providers/Microsoft.Security/defenderForStorageSettings/current",
    "azurerm_storage_blob_inventory_policy": "/inventoryPolicies/default",
}  # fmt: skip
"""What makes an ARM id of ids of the forms `FIRST` and `FIRST|SECOND`: `{}` is the second, which is a name, a tenant, a
scope or a twin.
"""

UPDATES: Final = "azapi_update_resource"
"""Sets fields of a resource that another block, another team or Azure has created, and has its id."""


class ArmIdentity(NamedTuple):
    """What a resource of Terraform is in Azure."""

    standing: TypeStanding
    arm_id: ArmId  # of the resource, or of what it is a part of; "" for none
    why: str  # why an import does not take it, or what part of another it is; "" for a resource of its own


def identify(type_name: str, text: str) -> ArmIdentity:
    """Find what a type with an id is in Azure. `text` is "" for an id that does not begin with a slash."""
    provider = type_name.partition("_")[0]
    if provider not in _OF_AZURE:
        why = PROVIDERS.get(provider, f"a resource of the provider {provider}")
        return ArmIdentity(TypeStanding.NONE, NO_ID, why)
    rule = next((rule for rule in _RULES if fnmatchcase(type_name, rule.pattern)), None)
    if rule and rule.standing is TypeStanding.NONE:
        return ArmIdentity(TypeStanding.NONE, NO_ID, rule.why)
    if rule and rule.standing is TypeStanding.PART:
        first = text.partition("|")[0].rstrip("/")
        arm_id = ArmId(first) if is_arm_id(first) else NO_ID
        return ArmIdentity(TypeStanding.PART, arm_id, rule.why)
    return _identify_own(type_name, text)


def _identify_own(type_name: str, text: str) -> ArmIdentity:
    text = _complete(text.rstrip("/"), _ENDINGS.get(type_name))
    if "|" in text or ";/" in text:
        return ArmIdentity(TypeStanding.NONE, NO_ID, "its id is made of several")
    if not is_arm_id(text):
        return ArmIdentity(TypeStanding.NONE, NO_ID, "its id is not an ARM id")
    return ArmIdentity(TypeStanding.OWN, ArmId(text), "")


def _complete(text: str, ending: str | None) -> str:
    """Make an ARM id of an id that has only some of it. Older releases of azurerm have the ending in their states."""
    if ending is None:
        return text
    first, _, second = text.partition("|")
    wanted = ending.replace("{}", second)
    return first if first.casefold().endswith(wanted.casefold()) else f"{first}{wanted}"

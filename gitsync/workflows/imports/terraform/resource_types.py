"""What the resource types of Terraform are in Azure: a resource of their own, a part of another, or nothing that Azure
Resource Manager has.

The ids are those that the documentation of azurerm shows in its sections "Import". A type that no rule names is a
resource of its own if its id is an ARM id.
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
    TerraformType("azurerm_monitor_data_collection_rule_association", _OWN, "an extension of what it observes"),
    TerraformType("azurerm_recovery_services_vault_resource_guard_association", _OWN, "a proxy below the vault"),
    TerraformType("azurerm_cdn_frontdoor_custom_domain_association", _NONE, "a link that the routes declare"),
    TerraformType("azurerm_management_group_subscription_association", _NONE, "a move between management groups"),
    # Fields of another resource.
    TerraformType("azurerm_*_association", _PART, "a field of the first of the two resources"),
    TerraformType("azurerm_*_customer_managed_key", _PART, "the encryption of the resource"),
    TerraformType("azurerm_iothub_endpoint_*", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_enrichment", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_fallback_route", _PART, "the routing of the hub"),
    TerraformType("azurerm_iothub_route", _PART, "the routing of the hub"),
    TerraformType("azurerm_key_vault_access_policy", _PART, "an access policy of the vault"),
    TerraformType("azurerm_lb_backend_address_pool", _PART, "a pool of the load balancer"),
    TerraformType("azurerm_lb_backend_address_pool_address", _PART, "an address in a pool of the load balancer"),
    TerraformType("azurerm_lb_nat_pool", _PART, "a pool of the load balancer"),
    TerraformType("azurerm_lb_outbound_rule", _PART, "a rule of the load balancer"),
    TerraformType("azurerm_lb_probe", _PART, "a probe of the load balancer"),
    TerraformType("azurerm_lb_rule", _PART, "a rule of the load balancer"),
    TerraformType("azurerm_storage_account_network_rules", _PART, "the network rules of the account"),
    TerraformType("azurerm_virtual_hub_route_table_route", _PART, "a route of the table"),
    TerraformType("azurerm_virtual_machine_data_disk_attachment", _PART, "a disk of the machine"),
    TerraformType("azurerm_virtual_network_dns_servers", _PART, "the DNS servers of the network"),
    TerraformType("azurerm_app_service_*virtual_network_swift_connection", _PART, "the subnet of the site"),
    # Ids that would name something else.
    TerraformType("azapi_data_plane_resource", _NONE, _DATA),
    TerraformType("azapi_resource_action", _NONE, _ACTION),
    TerraformType("azurerm_*_active_slot", _NONE, _ACTION),
    TerraformType("azurerm_app_configuration_feature", _NONE, _DATA),
    TerraformType("azurerm_app_configuration_key", _NONE, _DATA),
    TerraformType("azurerm_app_service_source_control*", _NONE, "a token and a repository of the site"),
    TerraformType("azurerm_key_vault_certificate*", _NONE, _DATA),
    TerraformType("azurerm_key_vault_key", _NONE, _DATA),
    TerraformType("azurerm_key_vault_managed_*", _NONE, _DATA),
    TerraformType("azurerm_key_vault_secret", _NONE, _DATA),
    TerraformType("azurerm_pim_*", _NONE, "a request of Privileged Identity Management"),
    TerraformType("azurerm_resource_provider_*registration", _NONE, "a registration of the subscription"),
    TerraformType("azurerm_role_management_policy", _NONE, "a policy of Privileged Identity Management"),
    TerraformType("azurerm_security_center_storage_defender", _NONE, "settings of Microsoft Defender"),
    TerraformType("azurerm_storage_account_queue_properties", _NONE, _DATA),
    TerraformType("azurerm_storage_account_static_website", _NONE, _DATA),
    TerraformType("azurerm_storage_blob", _NONE, _DATA),
    TerraformType("azurerm_storage_blob_inventory_policy", _OWN, "a policy below the account"),
    TerraformType("azurerm_storage_data_lake_gen2_*", _NONE, _DATA),
    TerraformType("azurerm_storage_share_directory", _NONE, _DATA),
    TerraformType("azurerm_storage_share_file", _NONE, _DATA),
    TerraformType("azurerm_storage_table_entity", _NONE, _DATA),
    TerraformType("azurerm_synapse_linked_service", _NONE, _DATA),
    TerraformType("azurerm_synapse_role_assignment", _NONE, _DATA),
)
"""The first that matches counts."""

_FIRST_IS_OWN: Final = frozenset({"azurerm_role_assignment", "azurerm_role_definition"})
"""Types whose id has the ARM id first, and then a tenant or a scope: `ID|SCOPE`."""

UPDATES: Final = "azapi_update_resource"
"""Sets fields of a resource that another block, another team or Azure has created, and has its id."""

_DIAGNOSTIC_SETTING: Final = "azurerm_monitor_diagnostic_setting"


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
    if not text:
        return ArmIdentity(TypeStanding.NONE, NO_ID, "its id is not an ARM id")
    text = text.rstrip("/")
    first, bar, second = text.partition("|")
    if bar and type_name == _DIAGNOSTIC_SETTING:
        text = f"{first}/providers/Microsoft.Insights/diagnosticSettings/{second}"
    elif bar and type_name in _FIRST_IS_OWN:
        text = first
    if "|" in text or ";/" in text or text.casefold().count("/subscriptions/") > 1:
        return ArmIdentity(TypeStanding.NONE, NO_ID, "its id is made of several")
    if not is_arm_id(text):
        return ArmIdentity(TypeStanding.NONE, NO_ID, "its id is not an ARM id")
    return ArmIdentity(TypeStanding.OWN, ArmId(text), "")

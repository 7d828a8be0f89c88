"""The texts of advice by code and kind, where a code means something of its own for a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MAY_NOT_ASSIGN: Final = (
    "Contributor may not assign roles. Grant gitsync's identity Role Based Access Control Administrator on the "
    "scope, with a condition on the roles that it may assign; this takes some minutes to take effect."
)
_HIGH_DEMAND: Final = (
    "Usually the region has no capacity for new accounts. Choose another location, or request access from support to "
    "this one."
)
_START: Final = "The server is stopped. Start it (az postgres flexible-server start)."
_VCORES: Final = (
    "Usually the subscription has no cores of this family left in the region: choose another size, or request more "
    "quota (in the portal under Quotas). Otherwise the message names the state that forbids it."
)
_POSTGRESQL: Final = "dbforpostgresql.azure.com"

_BY_KIND: Final = {
    ("AuthorizationFailed", "authorization.azure.com", "RoleAssignment"): _MAY_NOT_ASSIGN,
    ("AuthorizationFailed", "authorization.azure.com", "RoleDefinition"): (
        "Contributor may not create roles. Grant gitsync's identity the role User Access Administrator on each of the "
        "assignableScopes; this takes some minutes to take effect."
    ),
    ("ConflictError", "keyvault.azure.com", "Vault"): (
        "Usually a deleted vault still reserves the name. Set spec.properties.createMode to createOrRecover, or to "
        "purgeThenCreate if its content may be lost, or set another name in spec.azureName."
    ),
    ("CustomKubeletIdentityMissingPermissionError", "containerservice.azure.com", "ManagedCluster"): (
        "Grant the identity of the cluster the role Managed Identity Operator on the identity of the kubelet."
    ),
    ("NodePoolMcVersionIncompatible", "containerservice.azure.com", "ManagedClustersAgentPool"): (
        "A pool cannot be newer than its cluster. Raise the version of the ManagedCluster first."
    ),
    ("OperationNotAllowed", "compute.azure.com", "VirtualMachine"): _VCORES,
    ("OperationNotAllowed", "compute.azure.com", "VirtualMachineScaleSet"): _VCORES,
    ("PostReconciliationFailure", "network.azure.com", "PrivateEndpoint"): (
        "Ask the owner of the target service to approve the connection, then run again."
    ),
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServer"): _START,
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServersDatabase"): _START,
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServersFirewallRule"): _START,
    ("ServiceUnavailable", "documentdb.azure.com", "DatabaseAccount"): _HIGH_DEMAND,
    ("VulnerabilityAssessmentADSIsDisabled", "sql.azure.com", "ServersVulnerabilityAssessment"): (
        "Enable Microsoft Defender for SQL on the server first, with a ServersAdvancedThreatProtectionSetting."
    ),
}

BY_KIND: Final[Mapping[tuple[str, str, str], str]] = {
    (code.casefold(), group, kind): text for (code, group, kind), text in _BY_KIND.items()
}
"""Advice by code in lower case, group and kind, before that of the code alone."""

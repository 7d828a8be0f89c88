"""The texts of advice by code and kind, where a code means something of its own for a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MAY_NOT_ASSIGN: Final = (
    "Contributor may not assign roles. Give gitsync's identity the role Role Based Access Control Administrator on the "
    "scope, with a condition on the roles that it may hand out; it takes some minutes to count."
)
_HIGH_DEMAND: Final = (
    "Most often the region has no room for new accounts. Choose another location, or ask Azure's support for access to "
    "this one."
)
_START: Final = "It goes on once the server runs: start it (az postgres flexible-server start), if nobody is about to."
_VCORES: Final = (
    "Most often the subscription has no cores of this family left in the region: ask for another size, or for more "
    "quota (in the portal under Quotas). Otherwise the message says which state forbids it."
)
_POSTGRESQL: Final = "dbforpostgresql.azure.com"

_BY_KIND: Final = {
    ("AuthorizationFailed", "authorization.azure.com", "RoleAssignment"): _MAY_NOT_ASSIGN,
    ("AuthorizationFailed", "authorization.azure.com", "RoleDefinition"): (
        "Contributor may not make roles. Give gitsync's identity the role User Access Administrator on each of the "
        "assignableScopes; it takes some minutes to count."
    ),
    ("ConflictError", "keyvault.azure.com", "Vault"): (
        "Most often a deleted vault still holds the name. Set spec.properties.createMode to createOrRecover, or to "
        "purgeThenCreate where what is in it may go, or write another name into spec.azureName."
    ),
    ("CustomKubeletIdentityMissingPermissionError", "containerservice.azure.com", "ManagedCluster"): (
        "Give the cluster's own identity the role Managed Identity Operator on the kubelet's identity."
    ),
    ("NodePoolMcVersionIncompatible", "containerservice.azure.com", "ManagedClustersAgentPool"): (
        "A pool cannot be newer than its cluster. Raise the version of the ManagedCluster first."
    ),
    ("OperationNotAllowed", "compute.azure.com", "VirtualMachine"): _VCORES,
    ("OperationNotAllowed", "compute.azure.com", "VirtualMachineScaleSet"): _VCORES,
    ("PostReconciliationFailure", "network.azure.com", "PrivateEndpoint"): (
        "Ask those who own the service behind it to approve the connection; the next run finds it approved."
    ),
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServer"): _START,
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServersDatabase"): _START,
    ("ReconciliationBlocked", _POSTGRESQL, "FlexibleServersFirewallRule"): _START,
    ("ServiceUnavailable", "documentdb.azure.com", "DatabaseAccount"): _HIGH_DEMAND,
    ("VulnerabilityAssessmentADSIsDisabled", "sql.azure.com", "ServersVulnerabilityAssessment"): (
        "Turn Microsoft Defender for SQL on for the server first, with a ServersAdvancedThreatProtectionSetting."
    ),
}

BY_KIND: Final[Mapping[tuple[str, str, str], str]] = {
    (code.casefold(), group, kind): text for (code, group, kind), text in _BY_KIND.items()
}
"""Advice by code in lower case, group and kind, before that of the code alone."""

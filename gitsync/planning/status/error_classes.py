"""Classifies Azure's errors, with their retry speeds (docs/reference/reconciliation.md#error-classes).

Only PUT, DELETE and poll errors are classified; a failed read is "unknown", whatever its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.errors import ProviderError
from gitsync.model.condition import Retry


@dataclass(frozen=True, slots=True)
class Classification:
    """What an error means for the next try."""

    retry: Retry  # NEVER is fatal: only a change of the manifest can fix it

    @property
    def is_fatal(self) -> bool:
        return self.retry is Retry.NEVER


_SLOW = """
    AnotherOperationInProgress AuthorizationFailed AllocationFailed Conflict FailedIdentityOperation
    InvalidResourceReference InvalidSubscriptionRegistrationState LinkedAuthorizationFailed
    MissingRegistrationForLocation MissingSubscriptionRegistration NoRegisteredProviderFound NotFound
    ParentResourceNotFound PrincipalNotFound ResourceGroupNotFound ResourceNotFound ResourceQuotaExceeded
    RequestDisallowedByPolicy SubscriptionNotRegistered
"""
_VERY_SLOW = """
    BadRequestFormat BadRequest InvalidResourceGroupLocation InvalidParameter InvalidParameterValue MethodNotAllowed
    ReservedResourceName RegionIsOfferRestricted ScopeLocked SkuNotAvailable SubscriptionNotFound
"""
_FATAL = """
    PublicIpForGatewayIsRequired InvalidResourceType InvalidRequestContent InvalidTemplate
    InvalidValuesForRequestParameters InvalidGatewaySkuProvidedForGatewayVpnType InvalidGatewaySize
    K8sVersionNotSupported LocationRequired MissingRequiredParameter PasswordTooLong PrivateIPAddressInReservedRange
    PrivateIPAddressNotInSubnet PropertyChangeNotAllowed
"""
_RECORDED: Final[Mapping[str, Retry]] = {
    "GeoBackupsNotAvailable": Retry.VERY_SLOW,  # Microsoft.DBforPostgreSQL/flexibleServers: a copy of another server
    "GlobalPublicIPAddressNotSupportedForBasicPublicIpAddress": Retry.NEVER,  # Microsoft.Network/publicIPAddresses
    "InUseDdosProtectionPlanCannotBeDeleted": Retry.VERY_SLOW,  # Microsoft.Network/ddosProtectionPlans
    "InvalidAddressPrefixFormat": Retry.NEVER,  # Microsoft.Network/virtualNetworks/subnets
    "ParentResourceIsInFailedState": Retry.SLOW,  # of several providers
    "PreconditionFailed": Retry.SLOW,  # Microsoft.Network/privateDnsZones/a
    "PublicIPAddressCannotBeDeleted": Retry.VERY_SLOW,  # Microsoft.Network/publicIPAddresses
    "ReadReplicaServersExistForSourceServer": Retry.VERY_SLOW,  # Microsoft.DBforPostgreSQL/flexibleServers
    "ReferencedResourceNotProvisioned": Retry.SLOW,  # Microsoft.Network/networkInterfaces
    "RetryableError": Retry.SLOW,  # Microsoft.Network/virtualNetworks/subnets
    "RoleAssignmentExists": Retry.VERY_SLOW,  # Microsoft.Authorization/roleAssignments
    "StorageAccountIsNotProvisioned": Retry.SLOW,  # Microsoft.Storage/storageAccounts: of a new account
    "StorageProvisioningStateNotSucceeded": Retry.SLOW,  # Microsoft.Network/networkWatchers/flowLogs: of a new account
}
"""What Azure was recorded to refuse, with the type that it refused, beside the codes that ASO classifies."""

_BY_CODE = {
    **dict.fromkeys(_SLOW.split(), Retry.SLOW),
    **dict.fromkeys(_VERY_SLOW.split(), Retry.VERY_SLOW),
    **dict.fromkeys(_FATAL.split(), Retry.NEVER),
    **_RECORDED,
    **dict.fromkeys(("InvalidDatabasePrivilege", "InvalidDatabaseUser"), Retry.NEVER),  # of gitsync.providers.databases
}

GROUP_MISSING: Final = "ResourceGroupNotFound"
NOT_PROVISIONED = frozenset(
    {"ReferencedResourceNotProvisioned", "StorageAccountIsNotProvisioned", "StorageProvisioningStateNotSucceeded"}
)
"""Codes for a resource that Azure is still creating."""

PRINCIPAL_MISSING: Final = "PrincipalNotFound"

NOT_YET_THERE = frozenset(
    {
        "InvalidResourceReference",
        "NotFound",
        "ParentResourceNotFound",
        PRINCIPAL_MISSING,
        *NOT_PROVISIONED,
        GROUP_MISSING,
        "ResourceNotFound",
    }
)
"""Codes for a missing resource: a run retries if it created that resource itself."""

PARENT_MISSING = frozenset({"ParentResourceNotFound", GROUP_MISSING})
"""Codes for a missing parent of the resource. Reads return them too."""


NOT_ALLOWED = frozenset({"AuthorizationFailed", "LinkedAuthorizationFailed"})
"""Codes that a run retries after it wrote a role assignment itself."""


def classify(error: ProviderError) -> Classification:
    """Return the default class of an error; codes compare with case, and unknown ones go by their HTTP status."""
    # As ASO does for unknown codes.
    by_status = Retry.VERY_SLOW if error.status == 400 else Retry.SLOW
    return Classification(retry=_BY_CODE.get(error.code, by_status))

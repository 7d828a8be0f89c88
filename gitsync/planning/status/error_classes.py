"""Classifies Azure's errors: whether another try may succeed (docs/reference/reconciliation.md#error-classes).

Only PUT, DELETE and poll errors are classified; a failed read is "unknown", whatever its code. Which retryable errors a
run tries again itself is in `passing_refusals`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gitsync.errors import ProviderError


class Classification(StrEnum):
    """What an error means for the next try."""

    RETRYABLE = "retryable"
    FATAL = "fatal"  # only a change of the manifest can fix it


_FATAL_TO_ASO = """
    PublicIpForGatewayIsRequired InvalidResourceType InvalidRequestContent InvalidTemplate
    InvalidValuesForRequestParameters InvalidGatewaySkuProvidedForGatewayVpnType InvalidGatewaySize
    K8sVersionNotSupported LocationRequired MissingRequiredParameter PasswordTooLong PrivateIPAddressInReservedRange
    PrivateIPAddressNotInSubnet PropertyChangeNotAllowed
"""
_FATAL: Final = frozenset(
    {
        *_FATAL_TO_ASO.split(),
        # recorded from Azure, of Microsoft.Network/publicIPAddresses and virtualNetworks/subnets
        "GlobalPublicIPAddressNotSupportedForBasicPublicIpAddress",
        "InvalidAddressPrefixFormat",
        # of gitsync.providers.databases
        "InvalidDatabasePrivilege",
        "InvalidDatabaseUser",
    }
)
"""The codes of what only a change of the manifest can fix."""

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
    """Return the default class of an error; codes compare with case."""
    return Classification.FATAL if error.code in _FATAL else Classification.RETRYABLE

"""The ARM errors of the emulator: for every code its HTTP status and its message.

The messages are Azure's, since reports show them; programs use the code. `refuse` fills in the names in braces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_QUOTA = (
    "Operation could not be completed as it results in exceeding approved {what} quota. Additional details - "
    "Deployment Model: Resource Manager, Location: {location}, Current Limit: {limit}, Current Usage: {used}, "
    "Additional Required: {need}, (Minimum) New Limit Required: {total}."
)

CODES: Mapping[str, tuple[int, str]] = {
    "AnotherOperationInProgress": (
        409,
        (
            "Another operation on this or dependent resource is in progress. To retrieve status of the operation use "
            "uri: {uri}."
        ),
    ),
    "AuthenticationFailed": (401, "Authentication failed. The 'Authorization' header is missing."),
    "AuthorizationFailed": (
        403,
        (
            "The client '{client}' with object id '{object}' does not have authorization to perform action '{action}'"
            " over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your "
            "credentials."
        ),
    ),
    "CanNotRestoreANonExistingResource": (400, "Could not locate a resource to restore."),
    "CannotDeleteResource": (
        409,
        (
            "Cannot delete resource while nested resources exist. Some existing nested resource IDs include: "
            "'{nested}'. Please delete all nested resources before deleting this resource."
        ),
    ),
    "Conflict": (
        409,
        (
            "The resource '{id}' is busy processing a previous update request or is undergoing system maintenance. As"
            " such, it is currently unable to accept the update request. Please try again later."
        ),
    ),
    "DenyAssignmentAuthorizationFailed": (
        403,
        (
            "The client '{client}' with object id '{object}' has permission to perform action '{action}' on scope "
            "'{scope}'; however, the access is denied because of the deny assignment with name '{name}' and Id "
            "'{id}' at scope '{denied}'."
        ),
    ),
    "ConflictError": (
        409,
        (
            "A vault with the same name already exists in deleted state. You need to either recover or purge existing "
            "key vault. Follow this link https://go.microsoft.com/fwlink/?linkid=2149745 for more information on soft "
            "delete."
        ),
    ),
    "ExpiredAuthenticationToken": (
        401,
        "The access token expiry UTC time '{expiry}' is earlier than current UTC time '{now}'.",
    ),
    "FlagMustBeSetForRestore": (
        409,
        (
            "An existing resource with ID '{id}' has been soft-deleted. To restore the resource, you must specify "
            "'restore' to be 'true' in the property. If you don't want to restore existing resource, please purge it "
            "first."
        ),
    ),
    "GatewayTimeout": (
        504,
        "The gateway did not receive a response from '{namespace}' within the specified time period.",
    ),
    "InternalServerError": (500, "Encountered internal server error."),
    "InvalidApiVersionParameter": (
        400,
        "The api-version '{version}' is invalid. The supported versions are '2021-04-01,2022-09-01,2024-03-01'.",
    ),
    "InvalidAuthenticationToken": (401, "The access token is invalid."),
    "InvalidAuthenticationTokenAudience": (
        401,
        (
            "The access token has been obtained for wrong audience or resource '{audience}'. It should exactly match "
            "with one of the allowed audiences {allowed}."
        ),
    ),
    "InvalidFilterInQueryString": (400, "Invalid $filter '{filter}' specified in the query string."),
    "InvalidPrincipalId": (400, "The Principal ID '{principal}' is not valid. Principal ID must be a GUID."),
    "InvalidRequestContent": (400, "The request content was invalid and could not be deserialized: '{reason}'."),
    "InvalidResourceGroupLocation": (
        409,
        ("Invalid resource group location '{location}'. The Resource group already exists in location '{existing}'."),
    ),
    "InvalidResourceLocation": (
        409,
        (
            "The resource '{name}' already exists in location '{existing}' in resource group '{group}'. A resource "
            "with the same name cannot be created in location '{location}'. Please select a new resource name."
        ),
    ),
    "InvalidResourceNamespace": (404, "The resource namespace '{namespace}' is invalid."),
    "InvalidResourceType": (
        404,
        (
            "The resource type '{type}' could not be found in the namespace '{namespace}' for api version "
            "'{version}'. The supported api-versions are '{versions}'."
        ),
    ),
    "InvalidRoleDefinitionId": (400, "The role definition ID '{role}' is not valid."),
    "LocationNotAvailableForResourceType": (
        400,
        (
            "The provided location '{location}' is not available for resource type '{type}'. List of available regions "
            "for the resource type is '{locations}'."
        ),
    ),
    "LocationRequired": (400, "The location property is required for this definition."),
    "MaxStorageAccountsCountPerSubscriptionExceeded": (
        409,
        (
            "Subscription {subscription} already contains {used} storage accounts in location {location} and the "
            "maximum allowed is {limit}."
        ),
    ),
    "MethodNotAllowed": (405, "The resource type '{type}' does not support the HTTP method '{method}'."),
    "MissingApiVersionParameter": (
        400,
        "The api-version query parameter (?api-version=) is required for all requests.",
    ),
    "MissingSubscriptionRegistration": (
        409,
        (
            "The subscription is not registered to use namespace '{namespace}'. See https://aka.ms/rps-not-found for "
            "how to register subscriptions."
        ),
    ),
    "NameUnavailable": (409, "The specified name is already in use."),
    "NetcfgSubnetRangeOutsideVnet": (
        400,
        (
            "Subnet '{subnet}' is not valid because its IP address range is outside the IP address range of virtual "
            "network '{network}'."
        ),
    ),
    "NoRegisteredProviderFound": (
        400,
        (
            "No registered resource provider found for location '{location}' and API version '{version}' for type "
            "'{type}'. The supported api-versions are '{versions}'. The supported locations are '{locations}'."
        ),
    ),
    "NotFound": (404, "The requested path '{path}' does not exist."),
    "OperationNotAllowed": (409, _QUOTA),
    "OperationNotFound": (404, "The operation '{operation}' was not found."),
    "ParentResourceNotFound": (
        404,
        "Can not perform requested operation on nested resource. Parent resource '{parent}' not found.",
    ),
    "PreconditionFailed": (412, "The condition '{condition}' of the request is not met by the resource '{id}'."),
    "PublicIPCountLimitReached": (
        400,
        "Cannot create more than {limit} public IP addresses for this subscription in this region.",
    ),
    "QuotaExceeded": (
        400,
        (
            "Provisioning of resource(s) for container service {cluster} in resource group {group} failed. Message: "
            + _QUOTA
        ),
    ),
    "RateLimiting": (429, "The quota of queries is used up."),
    "ReadOnlyDisabledSubscription": (
        409,
        (
            "The subscription '{subscription}' is disabled and therefore marked as read only. You cannot perform any "
            "write actions on this subscription until it is re-enabled."
        ),
    ),
    "RequestContentTooLarge": (413, "The request content size exceeds the maximum size of 4 MB."),
    "RequestDisallowedByPolicy": (
        403,
        "Resource '{name}' was disallowed by policy. Policy identifiers: '{policies}'.",
    ),
    "ResourceGroupBeingDeleted": (
        409,
        "The resource group '{group}' is in deprovisioning state and cannot perform this operation.",
    ),
    "ResourceGroupNotFound": (404, "Resource group '{group}' could not be found."),
    "ResourceNotFound": (
        404,
        (
            "The Resource '{resource}' under resource group '{group}' was not found. For more details please go to"
            " https://aka.ms/ARMResourceNotFoundFix"
        ),
    ),
    "ResourceValidationFailed": (
        400,
        "Resource validation failed, correlation id: '{correlation}', see details for more information.",
    ),
    "ResourcesExistingOnSubscription": (
        400,
        ("There are existing resources associated with subscription. Delete them before cancelling the subscription"),
    ),
    "RoleAssignmentExists": (
        409,
        "The role assignment already exists. The ID of the existing role assignment is {name}.",
    ),
    "RoleAssignmentUpdateNotPermitted": (
        400,
        "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.",
    ),
    "ScopeLocked": (
        409,
        (
            "The scope '{scope}' cannot perform {verb} operation because following scope(s) are locked: '{locked}'. "
            "Please remove the lock and try again."
        ),
    ),
    "ServiceAlreadyExistsInSoftDeletedState": (
        409,
        (
            "Api service {name} was soft-deleted. In order to create the new service with the same name, you have to "  # quoted from Azure
            "either undelete the service or purge it. See https://aka.ms/apimsoftdelete."
        ),
    ),
    "ServiceUndeleteNotPossible": (400, "Unable to undelete service."),
    "ServiceUnavailable": (503, "The service is unavailable now. Please retry the request later."),
    "SkuNotAvailable": (
        409,
        (
            "The requested size for resource '{id}' is currently not available in location '{location}' zones "
            "'{zones}' for subscription '{subscription}'. Please try another size or deploy to a different location or "
            "zones. See https://aka.ms/azureskunotavailable for details."
        ),
    ),
    "SoftDeletedVaultDoesNotExist": (
        404,
        (
            "A soft deleted vault with the given name does not exist. Ensure that the name for the vault that is being"
            " attempted to recover is in a recoverable state."
        ),
    ),
    "StaticPublicIPCountLimitReached": (
        400,
        (
            "Cannot create more than {limit} public IP addresses with static allocation method for this subscription "
            "in this region."
        ),
    ),
    "SubscriptionNotFound": (404, "The subscription '{subscription}' could not be found."),
    "SubscriptionRequestsThrottled": (
        429,
        (
            "Number of '{kind}' requests for subscription '{subscription}' actor '{actor}' exceeded. Please try again"
            " after '{seconds}' seconds."
        ),
    ),
    "TooManyRequests": (
        429,
        (
            "The request is being throttled as the limit has been reached for operation type '{kind}'. Please try "
            "again after '{seconds}' seconds."
        ),
    ),
    "ValidationError": (
        400,
        (
            "Product cannot be deleted since it has existing subscriptions. Delete subscriptions before deleting the "
            "product or pass in deleteSubscriptions=true as query param"
        ),
    ),
}

_COSMOS = "microsoft.documentdb/databaseaccounts"
_COSMOS_END = "\r\nActivityId: 4e058b20-0618-11ee-aab7-2c0da71935e7, Microsoft.Azure.Documents.Common/2.14.0"
_NO_RECORD = {
    "code": "NotFound",
    "message": (
        "The resource record '{name}' does not exist in resource group '{group}' of subscription '{subscription}'."
    ),
}

ABSENT: Mapping[str, Mapping[str, Any]] = {
    "microsoft.app/containerapps/authconfigs": {
        "error": {
            "code": "AuthConfigNotFound",
            "message": "AuthConfig {name} was not found under container app {parent}.",
        }
    },
    "microsoft.cdn/profiles/rulesets": {
        "error": {"code": "NotFound", "message": "The requested resource was not found."}
    },
    "microsoft.containerinstance/containergroups": {
        "error": {"code": "ContainerGroupNotFound", "message": "The container group '{name}' does not exist."}
    },
    "microsoft.containerservice/managedclusters/trustedaccessrolebindings": {
        "code": "NotFound",
        "details": [
            {
                "code": "Unspecified",
                "message": "rpc error: code = NotFound desc = TrustedAccessRoleBinding not found",
            }
        ],
        "message": (
            "Could not find the trusted access role binding {name} in subscription: {subscription}, resourceGroup: "
            "{group}, clusterName: {parent}."
        ),
        "subcode": "GetTrustedAccessRoleBinding_NotFound",
    },
    "microsoft.dbformariadb/servers/databases": {
        "error": {
            "code": "ResourceNotFound",
            "message": "The requested resource of type '{type}' with name '{name}' was not found.",
        }
    },
    f"{_COSMOS}/mongodbdatabases": {
        "code": "NotFound",
        "message": f"the database {{name}} doesn't exist.{_COSMOS_END}",
    },
    f"{_COSMOS}/mongodbdatabases/collections": {
        "code": "NotFound",
        "message": f"The collection '{{parent}}'.'{{name}}' doesn't exist.{_COSMOS_END}",
    },
    "microsoft.insights/datacollectionruleassociations": {"error": {"code": "ResourceNotFound"}},
    "microsoft.keyvault/locations/deletedvaults": {
        "error": {"code": "DeletedVaultNotFound", "message": "The specified deleted vault does not exist."}
    },
    "microsoft.kubernetesconfiguration/extensions": {
        "error": {
            "additionalInfo": [],
            "code": "ResourceNotFound",
            "message": "Extension instance with name '{name}' not found.",
        }
    },
    **{f"microsoft.network/dnszones/{record}": _NO_RECORD for record in ("a", "aaaa", "caa", "ns", "txt")},
    "microsoft.network/virtualnetworks/subnets": {
        "error": {"code": "NotFound", "details": [], "message": "Resource {path} not found."}
    },
    "microsoft.storage/storageaccounts/blobservices/containers": {
        "error": {
            "code": "ContainerNotFound",
            "message": (
                "The specified container does not exist.\nRequestId:76c623b8-a01e-0047-15e0-fe05fd000000\n"
                "Time:2022-11-23T02:08:56.9302234Z"
            ),
        }
    },
}
"""By type: the body of the 404 for a missing resource if the provider answers and not ARM, as recorded from Azure. Some
providers use no envelope.
"""

NAMES_MISSING_PARENT = frozenset({f"{_COSMOS}/mongodbdatabases", "microsoft.network/virtualnetworks/subnets"})
"""Types whose read returns the 404 of the parent if that is missing, as recorded from Azure."""

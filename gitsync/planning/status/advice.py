"""The advice for an error: by its code, by ARM type if the code has a special meaning there, and by its message if the
code has several meanings.

Separate from conditions, whose messages quote Azure word for word: health checks compare them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, Severity, WaitReason
from gitsync.model.limits import describes_busy_jobs
from gitsync.planning.status.conditions import find_code
from gitsync.planning.status.passing_refusals import describes_other_work, is_code_of_other_work


def find_advice(code: str, arm_type: str = "", message: str | None = None) -> str:
    """Find what a code means for an ARM type, and what to do: a few sentences on one line, "" for an unknown code. If
    the message of a refusal is given, its meaning comes first.
    """
    # A code such as OperationNotAllowed has several meanings, and the message shows which one it is.
    if message is not None and (by_meaning := _find_meaning(code, message)):
        return by_meaning
    of_type = BY_TYPE.get((code.casefold(), arm_type.casefold()))
    return of_type or BY_CODE.get(code.casefold(), "")


def find_condition_advice(condition: Condition | None, arm_id: ArmId | None) -> str:
    """Find the advice for the condition of a resource: its own, then that of its code; "" if it is Ready or absent."""
    if condition is None or condition.is_ready:
        return ""
    return " ".join(filter(None, (condition.advice, find_code_advice(condition, arm_id))))


def find_code_advice(condition: Condition | None, arm_id: ArmId | None) -> str:
    """Find the advice for the code of a condition alone, which quotes nothing."""
    if condition is None or condition.is_ready:
        return ""
    # gitsync's own messages may contain words that mean something else in Azure's refusals.
    is_refusal = condition.severity is not Severity.INFO and condition.reason not in _OWN_REASONS
    arm_type = arm_id.arm_type if arm_id else ""
    return find_advice(find_code(condition), arm_type, condition.message if is_refusal else None)


_OWN_REASONS: Final = frozenset(WaitReason)


def _find_meaning(code: str, message: str) -> str:
    """Find the meaning in the message of a code that has several, or that is not known."""
    if describes_busy_jobs(message):  # ARM's own sentence, whatever code comes with it
        return _BUSY_JOBS
    is_known, rows = code.casefold() in BY_CODE, _BY_MEANING.get(code.casefold(), {})
    # The code has one meaning, so a word of the message must not change it.
    if is_known and code.casefold() not in _BY_MEANING:
        return ""
    if describes_other_work(message) or (not is_known and is_code_of_other_work(code)):
        return _OTHER_WORK
    return next((text for pattern, text in rows.items() if re.search(pattern, message, re.IGNORECASE)), "")


# Rows of codes that mean the same, and what to do about them; last, codes of single types. Each text is one line, shown
# next to the message, which it does not repeat. It shows how to fix the error, and explains the cause if the message
# does not.


_ACCESS: Final = {
    "AuthorizationFailed": (
        "Grant gitsync's identity a role with the permission that the message names, on that scope or above it; "
        "Contributor is enough for most kinds. A new role assignment takes some minutes to take effect."
    ),
    "LinkedAuthorizationFailed": (
        "Grant gitsync's identity a role on the other resource too, the one that the message names and that this "
        "one references. A subnet needs Network Contributor, an identity Managed Identity Operator."
    ),
    "DenyAssignmentAuthorizationFailed": (
        "A deny assignment overrides every role: that of a managed application, a deployment stack or a service "
        "that manages these resources. Change it there, or remove the resource from git."
    ),
    "AuthenticationFailed InvalidAuthenticationToken ExpiredAuthenticationToken": (
        "Azure rejected the token. Check --credential and its variables, and the clock of the machine."
    ),
    "InsufficientClaims": (
        "Azure requires multifactor authentication from people who write, and not from applications: in a pipeline, "
        "use a workload identity."
    ),
    "InvalidAuthenticationTokenTenant": (
        "The token is for another tenant than the subscription's. Set AZURE_TENANT_ID to the tenant that the "
        "subscription belongs to."
    ),
    "InvalidAuthenticationTokenAudience": (
        "The token is for another cloud. Set AZURE_RESOURCE_MANAGER_AUDIENCE to the audience of the endpoint."
    ),
    "SubscriptionNotFound": (
        "Check the id of the subscription, and that gitsync's identity has a role in it: Azure does not "
        "distinguish the two."
    ),
    "ReadOnlyDisabledSubscription DisabledSubscription": (
        "The subscription is disabled, usually because of billing. Its billing owner must enable it; until "
        "then everything in it is read-only."
    ),
    "RequestDisallowedByPolicy": (
        "An Azure Policy denies it. Look up the assignment that the message names, and change the "
        "manifest to comply, or request an exemption from its owners."
    ),
    "ResourceValidationFailed PreflightValidationCheckFailed InvalidTemplateDeployment": (
        "The message has the reasons, each with the resource or the field. Fix them in the manifest, then run "
        "`gitsync plan` to check it with Azure again."
    ),
    "RequestDisallowedByAzure": (
        "The subscription has no access to this region. Choose another location, or request access from support."
    ),
    "ScopeLocked": (
        "A lock on the resource or above it forbids the change. Remove the lock during the run, or set the "
        "reconcile policy of the resource to skip or detach-on-delete if it must not change."
    ),
}
_ROLES: Final = {
    "RoleAssignmentUpdateNotPermitted": (
        "The assignment of this name has another role, principal or scope, none of which can "
        "change. Delete it in Azure, and run again. Its name is a UUID made from the names of the manifest and its "
        "owner, so it stays the same when an identity is deleted and recreated. Set spec.azureName for another name."
    ),
    "RoleAssignmentExists": (
        "The principal already has this role here, through an assignment of another name. Delete it, or set its "
        "name (the UUID at the end of its id) as spec.azureName to adopt it."
    ),
    "RoleDefinitionWithSameNameExists": (
        "The roleName of a custom role is unique in a tenant. Choose another, or set the UUID of the existing role "
        "as spec.azureName to adopt it."
    ),
    "RoleDefinitionDoesNotExist": (
        "The role does not exist in this scope. Check its UUID; a custom role must have the scope in its "
        "assignableScopes."
    ),
    "RoleAssignmentLimitExceeded": (
        "The subscription has reached its limit of role assignments. Remove unused ones, or assign roles to groups."
    ),
    "PrincipalNotFound": (
        "Check that spec.principalId is the object id of the principal, not its application id. A new principal "
        "appears in the directory after some minutes; with spec.principalType set (ServicePrincipal for managed "
        "identities) Azure does not wait for that."
    ),
    "InvalidRoleDefinitionId": (
        "Name a built-in role by spec.roleDefinitionReference.wellKnownName, or set the full id of a role "
        "definition, which ends in a UUID."
    ),
    "InvalidPrincipalId": "Set spec.principalId to the object id of the principal: a UUID, not a name.",
    "UnmatchedPrincipalType": ("Set spec.principalType to the type of the principal: User, Group or ServicePrincipal."),
    "FailedIdentityOperation": (
        "Check that the user-assigned identities of the manifest exist in the tenant of the subscription, and "
        "that gitsync's identity may assign them (Managed Identity Operator)."
    ),
}
_AMOUNTS: Final = {
    "QuotaExceeded ResourceQuotaExceeded InsufficientQuota ErrCode_InsufficientVCPUQuota PublicIPCountLimitReached "
    "StaticPublicIPCountLimitReached MaxStorageAccountsCountPerSubscriptionExceeded": (
        "The subscription has reached its quota in the region. Delete unused resources, request a "
        "smaller size, or request more quota (in the portal under Quotas)."
    ),
    "SkuNotAvailable": (
        "This size or tier is not available in the region or zone, or not for this subscription. `az vm list-skus "
        "--location REGION --all` lists those of virtual machines. Choose another size or location."
    ),
    "AllocationFailed ZonalAllocationFailed OverconstrainedAllocationRequest OverconstrainedZonalAllocationRequest": (
        "The region has no capacity for this size now. Run again later, choose another size, or name fewer zones."
    ),
    "RegionIsOfferRestricted LocationIsOfferRestricted RegionDoesNotAllowProvisioning ProvisioningDisabled": (
        "The region does not offer the service to this subscription. Choose another location, or request access from "
        "support."
    ),
    "TooManyRequests 429 SubscriptionRequestsThrottled RateLimiting": (
        "All clients of the subscription together send too many requests. The next run continues; run less often, "
        "or spread the runs."
    ),
}
_PROVIDERS: Final = {
    "MissingSubscriptionRegistration SubscriptionNotRegistered InvalidSubscriptionRegistrationState": (
        "Register the subscription with the provider once (`az provider register --namespace NAMESPACE`); this takes "
        "some minutes."
    ),
    "LocationNotAvailableForResourceType NoRegisteredProviderFound MissingRegistrationForLocation": (
        "The region does not support this type, or not at this api-version. Choose a location that the message lists, "
        "or another version of the kind in apiVersion."
    ),
    "InvalidResourceType InvalidResourceNamespace InvalidApiVersionParameter": (
        "This cloud does not support the type, or not at this api-version. Choose another version of the kind in "
        "apiVersion."
    ),
}
_NAMES: Final = {
    "StorageAccountAlreadyTaken StorageAccountAlreadyExists NameUnavailable NameNotAvailable AlreadyInUse "
    "NameAlreadyExists ServerNameAlreadyExists CustomDomainInUse DnsRecordInUse": (
        "The name is part of a DNS name, unique in all of Azure, and already in use. Set another in "
        "spec.azureName (or the field that the message names)."
    ),
    "StorageAccountInAnotherResourceGroup": (
        "The subscription has an account of this name in another resource group. Name that group as the owner, or "
        "choose another spec.azureName."
    ),
    "VaultAlreadyExists": (
        "A vault of this name exists, or a soft-deleted one still reserves it. Purge or recover the deleted one (az "
        "keyvault list-deleted), or set another name in spec.azureName."
    ),
    "FlagMustBeSetForRestore ServiceAlreadyExistsInSoftDeletedState": (
        "A soft-deleted resource still reserves the name. Recover or purge it first, or set another name in "
        "spec.azureName."
    ),
    "CanNotRestoreANonExistingResource ServiceUndeleteNotPossible": (
        "There is no deleted resource to recover. Remove spec.restore (or spec.properties.restore) from the manifest."
    ),
    "SoftDeletedVaultDoesNotExist": (
        "There is no deleted vault to recover. Set spec.properties.createMode to createOrRecover, which does either."
    ),
    "AccountNameInvalid ReservedResourceName InvalidResourceName InvalidResourceGroup": (
        "Azure rejects this name. Set one in spec.azureName that follows the rules in the message; "
        "metadata.name can stay."
    ),
    "InvalidResourceLocation InvalidResourceGroupLocation": (
        "It already exists in another region, and cannot move. Set its current location, choose another "
        "name, or delete it first."
    ),
}
_REFERENCES: Final = {
    "InvalidResourceReference ResourceNotFound NotFound LinkedInvalidPropertyId NetworkSecurityGroupNotFoundForFlowLog "
    "EntityNotFound ShareNotFound ContainerNotFound 404": (
        "A resource that the manifest references does not exist in Azure. Check the id in the message; reference what "
        "is in git too by name, group and kind, so that gitsync creates it first."
    ),
    "ParentResourceNotFound": (
        "The parent resource does not exist in Azure. Add its manifest and name it as the owner, or restore it."
    ),
    "ResourceGroupNotFound": (
        "The resource group does not exist in this subscription. Add a ResourceGroup as its owner, or check the "
        "subscription."
    ),
    "ParentResourceIsInFailedState": (
        "The last change of the parent failed. Fix the parent first: its condition here, or its activity log in Azure, "
        "has the cause. A successful write of the parent ends this state."
    ),
    "StorageAccountIsNotProvisioned StorageProvisioningStateNotSucceeded": (
        "The storage account is still being created or changed. The next run retries this one."
    ),
    "GeoBackupsNotAvailable": (
        "Azure has not copied a backup of the source server to the other region yet, which takes hours. The next runs "
        "retry."
    ),
    "ReferencedResourceNotProvisioned": (
        "A referenced resource is not ready, or failed. Fix it first; the next run retries this one."
    ),
    "ResourceGroupBeingDeleted": (
        "The resource group is being deleted. Once it is gone, the next run recreates it and its content, if git "
        "still declares it."
    ),
}
_USES: Final = {
    "InUseDdosProtectionPlanCannotBeDeleted InUseNetworkSecurityGroupCannotBeDeleted InUsePrefixCannotBeDeleted "
    "InUseRouteTableCannotBeDeleted InUseSubnetCannotBeDeleted InUseSubnetCannotBeUpdated NicInUse "
    "PublicIPAddressCannotBeDeleted PublicIPAddressInUse": (
        "The resource that the message names still uses it. Remove that one from git or Azure, then run again."
    ),
    "ReadReplicaServersExistForSourceServer": (
        "The server has read replicas. Delete or promote them first, then run again."
    ),
    "UpdateRunTargetingEmptyFleet": "Add a FleetsMember to the fleet first.",
    "CannotDeleteResource": (
        "It is not empty. gitsync deletes what it manages first; delete the rest in Azure, or set the "
        "reconcile policy detach-on-delete to keep all of it."
    ),
}
_ADDRESSES: Final = {
    "NetcfgInvalidSubnet NetcfgSubnetRangeOutsideVnet NetcfgSubnetRangesOverlap": (
        "The prefix of a subnet must be within the address space of its network and not overlap another subnet. "
        "Compare with the subnets in Azure, including those that are not in git. Keep an old range in the address "
        "space until its subnets have new ones."
    ),
    "InvalidAddressPrefixFormat": "Write the prefix in CIDR notation, such as 10.0.0.0/24.",
    "GlobalPublicIPAddressNotSupportedForBasicPublicIpAddress": (
        "Set spec.sku.name to Standard; a Basic address has the tier Regional."
    ),
    "SubnetIsFull": (
        "The subnet has no free address. Use another subnet or a larger prefix; Azure reserves five addresses in each."
    ),
    "PrivateIPAddressInReservedRange PrivateIPAddressNotInSubnet": (
        "Choose an address in the prefix of the subnet; Azure reserves the first four and the last."
    ),
    "SubnetsNotInSameVnet": "Put all network interfaces of the machine into one virtual network.",
    "SecurityRuleConflict": (
        "Two rules of one direction have the same priority. Change one priority; rules that are not in git count too."
    ),
    "PrivateEndpointCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled": (
        "Set privateEndpointNetworkPolicies of the subnet to Disabled."
    ),
    "RemotePeeringIsDisconnected": (
        "The other side of the peering was deleted. Delete this side too, and run again: both must be recreated."
    ),
    "AnotherPeeringAlreadyReferencesRemoteVnet": (
        "The two networks are already peered, under another name. Set that name in spec.azureName to adopt it, or "
        "delete it."
    ),
}
_VALUES: Final = {
    "BadRequest BadRequestFormat InvalidParameter InvalidParameterValue InvalidRequestContent InvalidRequestFormat "
    "InvalidValuesForRequestParameters InvalidTemplate MissingRequiredParameter": (
        "Azure rejects a value of the manifest. Fix the field that the message names; `gitsync explain KIND.FIELD` "
        "shows the values that it allows."
    ),
    "LocationRequired": "Add spec.location.",
    "RequestContentTooLarge": "ARM accepts requests of up to 4 MB. Move large values out of the manifest, or split it.",
    "PropertyChangeNotAllowed": (
        "This field is immutable. Restore the old value; or, if the resource may be lost, delete it and run again."
    ),
    "ValidationError": "Fix what the message names; for a delete, check what in Azure still depends on the resource.",
    "ResourcesExistingOnSubscription": (
        "Azure cancels a subscription only if it is empty. Delete its resources first, or set the reconcile "
        "policy to detach-on-delete."
    ),
    "PasswordNotComplex PasswordTooLong": (
        "Set a password that follows the rules in the message in the secret that the manifest references."
    ),
    "K8sVersionNotSupported": "Choose a version that the region supports: az aks get-versions --location REGION.",
    "OperationNotAllowed": "The message has the cause. Change it in the manifest or in Azure, then run again.",
    "MethodNotAllowed": (
        "The provider does not support this operation, or not at this api-version. Choose another version of "
        "the kind, or set the reconcile policy to skip."
    ),
}
_OTHER_WORK: Final = (
    "Another operation is changing this resource or a related one. The run waited and tried again, and the next run "
    "does too. If the error persists, check the activity log for the caller."
)
_BUSY_JOBS: Final = (
    "Azure throttles the background jobs of the subscription, and began nothing. The run waited and tried again, and "
    "the next run does too. If the error persists, run less often, reduce other deployments in the subscription, or "
    "open a request with Azure support."
)
_WAITING: Final = {
    "PreconditionFailed": "The resource changed between gitsync's read and its write. The next run reads it again.",
    "AnotherOperationInProgress Conflict RetryableError": (
        "Another operation is in progress, or the state of the resource forbids changes. If the next run fails the "
        "same way, check the activity log for the caller."
    ),
    "UnknownState": (
        "Check the resource in Azure; the next run reads it again. If its operation has ended, report the type and the "
        "state to the gitsync project, so that gitsync can support the state."
    ),
    "UnknownError": (
        "The response has no Azure Resource Manager code: it comes from a proxy or a gateway, or the service is down. "
        "If the next run fails the same way, check its network."
    ),
    "InternalServerError ServiceUnavailable GatewayTimeout 408 500 502 503 504": (
        "Azure had an internal error; the next run usually succeeds. If it persists, open a request with Azure "
        "support and name the request id."
    ),
}
_SECRETS: Final = {
    "SecretNotFound ConfigMapNotFound": (
        "Add it to a source of --secret-sources, or export it from a manifest; names and keys are case-sensitive."
    ),
    "FailedWritingAdditionalKubernetesObjects": (
        "Export under another name, fix the expression, or remove the existing object of another owner; "
        "`--prune` removes exports of manifests that were removed from git. The resource itself is applied."
    ),
}
_START: Final = "The server is stopped. Start it (az postgres flexible-server start)."
_POSTGRESQL: Final = "Microsoft.DBforPostgreSQL/flexibleServers"

_OF_TYPES: Final = {
    ("AuthorizationFailed", "Microsoft.Authorization/roleAssignments"): (
        "Contributor may not assign roles. Grant gitsync's identity Role Based Access Control Administrator on the "
        "scope, with a condition on the roles that it may assign; this takes some minutes to take effect."
    ),
    ("AuthorizationFailed", "Microsoft.Authorization/roleDefinitions"): (
        "Contributor may not create roles. Grant gitsync's identity the role User Access Administrator on each of the "
        "assignableScopes; this takes some minutes to take effect."
    ),
    ("ConflictError", "Microsoft.KeyVault/vaults"): (
        "Usually a deleted vault still reserves the name. Set spec.properties.createMode to createOrRecover, or to "
        "purgeThenCreate if its content may be lost, or set another name in spec.azureName."
    ),
    ("CustomKubeletIdentityMissingPermissionError", "Microsoft.ContainerService/managedClusters"): (
        "Grant the identity of the cluster the role Managed Identity Operator on the identity of the kubelet."
    ),
    ("NodePoolMcVersionIncompatible", "Microsoft.ContainerService/managedClusters/agentPools"): (
        "A pool cannot be newer than its cluster. Raise the version of the ManagedCluster first."
    ),
    ("PostReconciliationFailure", "Microsoft.Network/privateEndpoints"): (
        "Have the owner of the target service approve the connection, then run again."
    ),
    ("ReconciliationBlocked", _POSTGRESQL): _START,
    ("ReconciliationBlocked", f"{_POSTGRESQL}/databases"): _START,
    ("ReconciliationBlocked", f"{_POSTGRESQL}/firewallRules"): _START,
    ("ServiceUnavailable", "Microsoft.DocumentDB/databaseAccounts"): (
        "Usually the region has no capacity for new accounts. Choose another location, or request access to this one "
        "from support."
    ),
    ("VulnerabilityAssessmentADSIsDisabled", "Microsoft.Sql/servers/vulnerabilityAssessments"): (
        "Enable Microsoft Defender for SQL on the server first, with a ServersAdvancedThreatProtectionSetting."
    ),
}

_BY_MEANING: Final[Mapping[str, Mapping[str, str]]] = {
    "badrequest": {},
    "conflict": {},
    "operationnotallowed": {
        r"\bquotas?\b|\bcores\b": (
            "The subscription has reached its quota in the region. Choose another size, delete unused resources, or "
            "request more quota (in the portal under Quotas)."
        ),
        r"\b(stopped|deallocated|paused|suspended|not running)\b": "The resource is stopped. Start it, then run again.",
        r"\b(sku|tier|plan)\b": "The tier does not allow it. Choose another tier, or remove what the message names.",
    },
    "preconditionfailed": {},
    "requestdisallowedbyazure": {
        r"\bMFA\b|\bmulti-?factor": (
            "Azure requires multifactor authentication from people who write. Sign in again with it, or use a workload "
            "identity."
        ),
    },
}
"""Codes with several meanings, in lower case: patterns of messages, and advice. Each of them may also mean that another
operation is under way.
"""

_TABLES: Final = (
    _ACCESS,
    _ROLES,
    _AMOUNTS,
    _PROVIDERS,
    _NAMES,
    _REFERENCES,
    _USES,
    _ADDRESSES,
    _VALUES,
    _WAITING,
    _SECRETS,
)

BY_CODE: Final[Mapping[str, str]] = {
    code.casefold(): text for table in _TABLES for codes, text in table.items() for code in codes.split()
}
"""Advice by code, in lower case."""

BY_TYPE: Final[Mapping[tuple[str, str], str]] = {
    (code.casefold(), arm_type.casefold()): text for (code, arm_type), text in _OF_TYPES.items()
}
"""Advice by code and ARM type, both in lower case, if the code means something else for that type: whichever kind
declares the resource.
"""

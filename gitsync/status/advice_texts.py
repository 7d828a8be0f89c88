"""The texts of advice by code: rows of codes that mean the same, and what to do about them.

Written for somebody who has the message before them: nothing of it is told again. A text says how to mend it, and what
it means where that is not plain, and stands alone on a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ACCESS: Final = {
    "AuthorizationFailed": (
        "Give gitsync's identity a role that has the right that the message names, on that scope or above it; "
        "Contributor has it for most kinds. A role that was granted just now takes some minutes to count."
    ),
    "LinkedAuthorizationFailed": (
        "Give gitsync's identity rights on the other resource as well, the one that the message names and that this "
        "one refers to. A subnet needs Network Contributor, an identity Managed Identity Operator."
    ),
    "DenyAssignmentAuthorizationFailed": (
        "A deny assignment stands above every role: that of a managed application, a deployment stack or a service "
        "that keeps these resources. Change it there, or leave the resource out of git."
    ),
    "AuthenticationFailed InvalidAuthenticationToken ExpiredAuthenticationToken": (
        "Azure did not take the token: check --credential and its variables, and the clock of the machine."
    ),
    "InvalidAuthenticationTokenTenant": (
        "The token is of another tenant than the subscription: set AZURE_TENANT_ID to the tenant that the "
        "subscription belongs to."
    ),
    "InvalidAuthenticationTokenAudience": (
        "The token is for another cloud: set AZURE_RESOURCE_MANAGER_AUDIENCE as the endpoint demands."
    ),
    "SubscriptionNotFound": (
        "See that the id of the subscription is right, and that gitsync's identity has a role in it: Azure does not "
        "tell the two apart."
    ),
    "SubscriptionMismatch": (
        "gitsync works on one subscription a run: run it again for the other one, or name this one in the manifest."
    ),
    "ReadOnlyDisabledSubscription DisabledSubscription": (
        "The subscription is disabled, most often for its billing. Whoever owns its billing must enable it; until "
        "then everything in it can only be read."
    ),
    "RequestDisallowedByPolicy": (
        "A policy of your organisation forbids it. Look up the assignment that the message names, and change the "
        "manifest to what it allows, or ask its owners for an exemption."
    ),
    "RequestDisallowedByAzure": (
        "Azure keeps your subscription out of this region. Choose another location, or ask support for access."
    ),
    "ScopeLocked": (
        "A lock on the resource or above it forbids the change. Remove the lock for the time of the run, or set the "
        "reconcile policy of the resource to skip or detach-on-delete, if it is meant to stay as it is."
    ),
}
_ROLES: Final = {
    "RoleAssignmentUpdateNotPermitted": (
        "The assignment of this name gives another role, or is for another principal or scope, none of which can "
        "change. Delete it in Azure, and run again. Its name is a UUID made from the names of the manifest and its "
        "owner, so it stays the same when an identity is deleted and made anew; spec.azureName sets another."
    ),
    "RoleAssignmentExists": (
        "The principal has this role here already, by an assignment of another name. Delete that one, or write its "
        "name (the UUID at the end of its id) into spec.azureName, to adopt it."
    ),
    "RoleDefinitionWithSameNameExists": (
        "A custom role's roleName is unique in a tenant. Choose another, or write the UUID of the one that exists "
        "into spec.azureName, to adopt it."
    ),
    "RoleDefinitionDoesNotExist": (
        "There is no such role in this scope. Check the UUID of the role; a custom one must name the scope among its "
        "assignableScopes."
    ),
    "RoleAssignmentLimitExceeded": (
        "The subscription has as many role assignments as it may. Remove what is no longer used, or assign roles to "
        "groups."
    ),
    "PrincipalNotFound": (
        "See that spec.principalId is the object id of the principal, and not its application id. One that is new "
        "shows in the directory after some minutes; with spec.principalType set (ServicePrincipal for managed "
        "identities) Azure does not wait for that."
    ),
    "InvalidRoleDefinitionId": (
        "Name a built-in role by spec.roleDefinitionReference.wellKnownName, or give the whole id of a role "
        "definition, which ends in a UUID."
    ),
    "InvalidPrincipalId": "Azure wants the object id of the principal in spec.principalId: a UUID, and no name.",
    "UnmatchedPrincipalType": ("Set spec.principalType to what the principal is: User, Group or ServicePrincipal."),
    "FailedIdentityOperation": (
        "See that the user-assigned identities that the manifest names exist, in the tenant of the subscription, and "
        "that gitsync's identity may assign them (Managed Identity Operator)."
    ),
}
_AMOUNTS: Final = {
    "QuotaExceeded ResourceQuotaExceeded InsufficientQuota ErrCode_InsufficientVCPUQuota PublicIPCountLimitReached "
    "MaxStorageAccountsCountPerSubscriptionExceeded": (
        "The subscription has as much of this as it may have in the region. Delete what is no longer used, ask for "
        "less, or ask for more quota (in the portal under Quotas)."
    ),
    "SkuNotAvailable": (
        "This size or tier is not to be had in the region or zone, or not for this subscription. `az vm list-skus "
        "--location REGION --all` tells for virtual machines; choose another, or another location."
    ),
    "AllocationFailed ZonalAllocationFailed OverconstrainedAllocationRequest OverconstrainedZonalAllocationRequest": (
        "The region has no room for this size at the moment. Run again later, ask for another size, or name fewer "
        "zones."
    ),
    "RegionIsOfferRestricted LocationIsOfferRestricted RegionDoesNotAllowProvisioning ProvisioningDisabled": (
        "The service is closed in this region for subscriptions like yours. Choose another location, or ask support "
        "for access."
    ),
    "TooManyRequests 429 SubscriptionRequestsThrottled": (
        "The subscription is asked too much, by all that work on it together. The next run goes on; run less often, "
        "or not everything at the same time."
    ),
}
_PROVIDERS: Final = {
    "MissingSubscriptionRegistration SubscriptionNotRegistered InvalidSubscriptionRegistrationState": (
        "The subscription does not know the provider yet. Register it (az provider register --namespace NAME), or "
        "give gitsync's identity the right to do so."
    ),
    "LocationNotAvailableForResourceType NoRegisteredProviderFound MissingRegistrationForLocation": (
        "The region does not have this type, or not at this api-version. Choose a location that the message lists, "
        "or another version of the kind in apiVersion."
    ),
    "InvalidResourceType InvalidResourceNamespace InvalidApiVersionParameter": (
        "This cloud does not know the type, or not at this api-version. Choose another version of the kind in "
        "apiVersion."
    ),
}
_NAMES: Final = {
    "StorageAccountAlreadyTaken StorageAccountAlreadyExists NameUnavailable NameNotAvailable AlreadyInUse "
    "NameAlreadyExists ServerNameAlreadyExists CustomDomainInUse DnsRecordInUse": (
        "The name is a part of a DNS name that all of Azure shares, and somebody has it. Write another into "
        "spec.azureName (or the field that the message names)."
    ),
    "StorageAccountInAnotherResourceGroup": (
        "The subscription has an account of this name in another resource group. Name that group as the owner, or "
        "choose another spec.azureName."
    ),
    "VaultAlreadyExists": (
        "Somebody has a vault of this name, or a deleted one still holds it. Purge or recover the deleted one (az "
        "keyvault list-deleted), or write another name into spec.azureName."
    ),
    "FlagMustBeSetForRestore ServiceAlreadyExistsInSoftDeletedState": (
        "A deleted resource still holds the name. Recover or purge that first, or write another name into "
        "spec.azureName."
    ),
    "SoftDeletedVaultDoesNotExist": (
        "There is no deleted vault to recover. Set spec.properties.createMode to createOrRecover, which does either."
    ),
    "AccountNameInvalid ReservedResourceName InvalidResourceName": (
        "Azure does not take this name. Write one into spec.azureName that keeps the rules in the message; "
        "metadata.name can stay."
    ),
    "InvalidResourceLocation InvalidResourceGroupLocation": (
        "It exists already, in another region, and cannot move. Write the location that it has, or choose another "
        "name, or delete it first."
    ),
}
_REFERENCES: Final = {
    "InvalidResourceReference ResourceNotFound NotFound LinkedInvalidPropertyId": (
        "Something that the manifest refers to is not in Azure. Check the id in the message; what git holds too is "
        "best named by name, group and kind, so that gitsync makes it first."
    ),
    "ParentResourceNotFound": (
        "What the resource lies in is not in Azure. Add its manifest and name it as the owner, or see who deleted it."
    ),
    "ResourceGroupNotFound": (
        "The resource group is not in this subscription. Add a ResourceGroup and name it as the owner, or check the "
        "subscription."
    ),
    "ReferencedResourceNotProvisioned": (
        "What the manifest refers to is not done yet, or failed. Look at it first; the next run tries this one again."
    ),
    "ResourceGroupBeingDeleted": (
        "Somebody is deleting the resource group. The next run makes it and its content anew once it is gone, if git "
        "still names it."
    ),
}
_USES: Final = {
    "InUseSubnetCannotBeDeleted InUseSubnetCannotBeUpdated InUsePrefixCannotBeDeleted "
    "InUseNetworkSecurityGroupCannotBeDeleted InUseRouteTableCannotBeDeleted NicInUse PublicIPAddressCannotBeDeleted "
    "PublicIPAddressInUse": (
        "Something still uses it: the message names it. Take that out of git, or out of Azure, first; then run again."
    ),
    "CannotDeleteResource": (
        "Something still lies in it. What git made goes first by itself; delete the rest in Azure, or set the "
        "reconcile policy detach-on-delete to leave all of it."
    ),
}
_ADDRESSES: Final = {
    "NetcfgInvalidSubnet NetcfgSubnetRangeOutsideVnet NetcfgSubnetRangesOverlap": (
        "The prefix of a subnet must lie in the address space of its network, and outside of every other subnet. "
        "Compare with what Azure has: a subnet that git does not name counts too."
    ),
    "SubnetIsFull": (
        "The subnet has no free address left. Use another subnet, or a larger prefix; Azure keeps five addresses of "
        "each."
    ),
    "PrivateIPAddressInReservedRange PrivateIPAddressNotInSubnet": (
        "Choose an address in the subnet's prefix; the first four and the last one are Azure's."
    ),
    "SubnetsNotInSameVnet": "All network interfaces of a machine must be in one virtual network.",
    "SecurityRuleConflict": (
        "Two rules of one direction have the same priority. Give one of them another; rules that git does not name "
        "count too."
    ),
    "PrivateEndpointCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled": (
        "Set privateEndpointNetworkPolicies of the subnet to Disabled."
    ),
    "RemotePeeringIsDisconnected": (
        "The other side of the peering was deleted. Delete this side as well, and run again: both must be made anew."
    ),
    "AnotherPeeringAlreadyReferencesRemoteVnet": (
        "The two networks are peered already, under another name. Write that into spec.azureName, to adopt it, or "
        "delete it."
    ),
}
_VALUES: Final = {
    "BadRequest BadRequestFormat InvalidParameter InvalidParameterValue InvalidRequestContent InvalidRequestFormat "
    "InvalidValuesForRequestParameters InvalidTemplate MissingRequiredParameter": (
        "Azure does not take a value of the manifest. Change what the message names; `gitsync explain KIND.FIELD` "
        "tells what may stand there."
    ),
    "LocationRequired": "Add spec.location.",
    "RequestContentTooLarge": "ARM takes 4 MB a request. Move what is large out of the manifest, or split it.",
    "PropertyChangeNotAllowed": (
        "This cannot be changed once the resource exists. Write the old value back; or, if it may be lost, delete "
        "the resource and run again."
    ),
    "ValidationError": "Mend what the message names; for a resource that goes, see what in Azure still hangs on it.",
    "ResourcesExistingOnSubscription": (
        "Azure cancels a subscription once nothing is left in it. Delete its resources first, or set the reconcile "
        "policy to detach-on-delete."
    ),
    "PasswordNotComplex PasswordTooLong": (
        "Put a password that keeps the rules in the message into the secret that the manifest names."
    ),
    "K8sVersionNotSupported": "Choose a version that the region has: az aks get-versions --location REGION.",
    "OperationNotAllowed": (
        "It is not allowed as the resource is now: stopped, of another tier, or at the limit of a quota. The message "
        "says which."
    ),
    "MethodNotAllowed": (
        "The provider has no such operation for this resource, or not at this api-version. Choose another version of "
        "the kind, or set the reconcile policy to skip."
    ),
}
_WAITING: Final = {
    "PreconditionFailed": "Somebody changed it between gitsync's look and its write. The next run looks again.",
    "AnotherOperationInProgress Conflict RetryableError": (
        "Something else is at work on it, or the resource is not in a state to be changed. If the next run meets it "
        "again, see in the activity log who that is."
    ),
    "InternalServerError ServiceUnavailable GatewayTimeout": (
        "Azure failed, and most often mends by itself by the next run. If it stays, open a request with Azure's "
        "support and name the request id."
    ),
}
_SECRETS: Final = {
    "SecretNotFound ConfigMapNotFound": (
        "Put it in a place that --secret-sources names, or let a manifest export it; names and keys are told apart by "
        "case."
    ),
    "FailedWritingAdditionalKubernetesObjects": (
        "Export under another name, mend the expression, or remove what stands there and is not the resource's own; "
        "what a manifest exported that left git goes with `--prune`. The resource itself is in Azure."
    ),
}
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

"""Which changes make an estate weaker: who may reach it, who may do what in it, and what would be detected.

Drift of this kind is accepted by name only. The table has names of fields, since Azure's types share them, and types of
which every field counts. Where it is clear which side is safer, only the other direction weakens; of anything else any
change does, so that a person looks at it. So does a field that is in no table, if its name suggests that it guards
access, keys or data: Azure adds fields faster than anyone reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import ip_address
from itertools import zip_longest
from typing import Any, Final

from gitsync.desired.formats.json_pointer import format_pointer, parse_pointer
from gitsync.model.edit import REMOVED


class _Direction(Enum):
    """Which changes of a field weaken."""

    ANY = auto()
    LOWER = auto()  # a lower version of TLS, or fewer days
    OPENING = auto()  # entries that let in: one that is added or changed, a denial that goes, and the last one


@dataclass(frozen=True, slots=True)
class _Rule:
    """When a change of a value weakens the protection of a resource."""

    why: str  # the sentence for a person
    safe: tuple[str, ...] = ()  # the values that never weaken, in lower case, instead of a direction
    direction: _Direction = _Direction.ANY


_REACH: Final = "It changes who reaches the resource over the network."
_KEYS: Final = "It allows access with a key or a password, without an identity."
_PLAIN: Final = "It allows connections that are not encrypted."
_TLS: Final = "It allows a lower version of TLS."
_ENCRYPTION: Final = "It changes how data is encrypted."
_RECOVERY: Final = "It limits what can be restored after a delete."
_RIGHTS: Final = "It changes who may do what in Azure."
_AUDIT: Final = "It changes what is logged, and so what can be detected."
_MACHINE: Final = "It changes the protection of the machine at start-up or on its host."
_SIGN_IN: Final = "It changes who must sign in, and how."
_TOKENS: Final = "It changes where Microsoft Entra ID sends tokens."
_SECRETS: Final = "It allows an Azure service to read secrets from the vault."
_OUT: Final = "It changes which targets can be reached from there."

FIELDS: Final[Mapping[str, _Rule]] = {
    name.casefold(): rule
    for rule, names in {
        _Rule(_REACH, safe=("disabled", "securedbyperimeter")): """
            publicNetworkAccess publicNetworkAccessForIngestion publicNetworkAccessForQuery sshPublicAccess
            remoteLoginPortPublicAccess sshAccess
        """,
        _Rule(_REACH, safe=("deny",)): """
            defaultAction ipSecurityRestrictionsDefaultAction scmIpSecurityRestrictionsDefaultAction threatIntelMode
        """,
        _Rule(_REACH, safe=("none",)): "publicAccess bypass networkAclBypass networkRuleBypassOptions",
        _Rule(_REACH, safe=("denyall", "allowprivate")): "networkAccessPolicy",
        _Rule(_REACH, safe=("false",)): """
            allowBlobPublicAccess allowCrossTenantReplication external isSftpEnabled trustedServiceBypassEnabled
            enablePrivateClusterPublicFQDN enableNodePublicIP remoteDebuggingEnabled allowPublicAccessWhenBehindVnet
            allowVirtualNetworkAccess allowForwardedTraffic allowRemoteVnetTraffic allowVirtualWanTraffic sshEnabled
        """,
        _Rule(_REACH, safe=("true", "enabled")): """
            enablePrivateCluster isVirtualNetworkFilterEnabled restrictOutboundNetworkAccess disableRunCommand
            serverlessComputeNoPublicIP enableVnetIntegration linkedAccessCheckOnTargetResource enablePrivateOnlyBastion
        """,
        _Rule(_REACH, safe=("restricted",)): "accessMode",
        _Rule(_REACH, safe=("private",)): "keyVaultNetworkAccess",
        _Rule(_REACH, safe=("ipv4",)): "publicIPType",
        _Rule(_REACH, safe=("prevention",)): "firewallMode",
        _Rule(_REACH): "publicIPAddressConfiguration publicNetwork allowedCopyScope",
        _Rule(_OUT, safe=("false",)): "defaultOutboundAccess",
        _Rule(_OUT, safe=("deny",)): "outboundAccess",
        _Rule(_OUT, safe=("none",)): "podLinkLocalAccess",
        _Rule(_REACH, direction=_Direction.OPENING): """
            ipRules virtualNetworkRules ipSecurityRestrictions scmIpSecurityRestrictions authorizedIPRanges
            allowedIpRangeList inboundIpRules resourceAccessRules networkAclBypassResourceIds allowedOrigins
            trustedExternalTenants allowedFqdnList
        """,
        _Rule(_KEYS, safe=("true",)): """
            disableLocalAuth disableLocalAccounts disableAccessKeyAuthentication disableKeyBasedMetadataWriteAccess
            disablePasswordAuthentication azureADOnlyAuthentication defaultToOAuthAuthentication useAadAuth
            disableDeviceSAS disableModuleSAS
        """,
        _Rule(_KEYS, safe=("false",)): """
            allowSharedKeyAccess adminUserEnabled isLocalUserEnabled disableAadAuth isSharedToAll
        """,
        _Rule(_KEYS, safe=("batchaccountmanagedidentity", "pass-through")): "authenticationMode",
        _Rule(_KEYS, safe=("identitybased",)): "authenticationType",
        _Rule(_KEYS, safe=("aad",)): "targetAuthenticationType",
        _Rule(_KEYS, safe=("azureactivedirectory",)): "dataAccessAuthMode",
        _Rule(_KEYS, direction=_Direction.OPENING): "allowedAuthenticationModes",
        _Rule(_KEYS): "authentication accessKey accountKey apiKey customKeys urlSigningKey urlSigningKeys keyData",
        _Rule(_SIGN_IN, safe=("true",)): """
            verifyClientCertIssuerDN enableClientCertificate negotiateClientCertificate subscriptionRequired
            approvalRequired
        """,
        _Rule(_SIGN_IN, safe=("false",)): "authnotrequired isFallbackPublicClient",
        _Rule(_SIGN_IN, safe=("azureadmyorg",)): "signInAudience",
        _Rule(_TOKENS, safe=("false",)): "enableAccessTokenIssuance enableIdTokenIssuance",
        _Rule(_TOKENS, direction=_Direction.OPENING): "redirectUris",
        _Rule(_SIGN_IN, safe=("ocsp",)): "verifyClientRevocation",
        _Rule(_SIGN_IN, safe=("redirecttologinpage", "return401", "return403")): "unauthenticatedClientAction",
        _Rule(_SIGN_IN, direction=_Direction.OPENING): "vpnAuthenticationTypes",
        _Rule(_SIGN_IN): """
            auth authOptions authType authenticationMethod authenticationMethods authenticationSettings
            authorizationType azureFilesIdentityBasedAuthentication computeInstanceAuthorizationType
            isSmbOAuthEnabled oAuth2 oauth2grantType
        """,
        _Rule(_SECRETS, safe=("false",)): """
            enabledForDeployment enabledForDiskEncryption enabledForTemplateDeployment
        """,
        _Rule(_KEYS, safe=("disabled",)): "accessKeysAuthentication passwordAuth",
        _Rule(_KEYS, safe=("true", "required", "require")): "clientCertEnabled clientCertMode clientCertificateMode",
        _Rule(_PLAIN, safe=("true", "enabled")): """
            supportsHttpsTrafficOnly httpsOnly sslEnforcement requireHttps httpsRedirect endToEndEncryptionEnabled
            encryptionInTransit mtls validateCertificateChain validateCertificateName enforceCertificateNameCheck
        """,
        _Rule(_PLAIN, safe=("false",)): "isHttpAllowed enableNonSslPort allowInsecure insecure",
        _Rule(_PLAIN, safe=("encrypted", "ftpsonly", "disabled")): "clientProtocol ftpsState",
        _Rule(_PLAIN, safe=("wireguard",)): "transitEncryption",
        _Rule(_TLS, direction=_Direction.LOWER): """
            minimumTlsVersion minimalTlsVersion minTlsVersion scmMinTlsVersion minimumTlsVersionAllowed
        """,
        _Rule(_TLS, safe=("false",)): "tls10Enabled tls11Enabled",
        _Rule(_ENCRYPTION, safe=("true", "enabled")): """
            requireInfrastructureEncryption infrastructureEncryption enableDoubleEncryption enableDiskEncryption
            encryptionWithCmk denyEncryptionScopeOverride encryptionProtectorAutoRotation
            rotationToLatestKeyVersionEnabled
        """,
        _Rule(_ENCRYPTION): """
            encryption keyVaultProperties diskEncryptionSetId secureVMDiskEncryptionSetId azureKeyVaultKms
            dataEncryption keyVaultKeyUri encryptionSettings encryptionSettingsCollection encryptionType
            securityEncryptionType channelEncryption kerberosTicketEncryption ikeEncryption ipsecEncryption
        """,
        _Rule(_RECOVERY, safe=("true",)): "enableSoftDelete enablePurgeProtection immutableStorageWithVersioning",
        _Rule(_RECOVERY, safe=("false",)): "allowPermanentDelete enablePurge immediatePurgeDataOn30Days",
        _Rule(_RECOVERY, direction=_Direction.LOWER): """
            softDeleteRetentionInDays backupRetentionDays immutabilityPeriodSinceCreationInDays
            defaultKeyValueRevisionRetentionPeriodInSeconds
        """,
        _Rule(_RECOVERY): """
            deleteRetentionPolicy containerDeleteRetentionPolicy softDeleteSettings immutabilitySettings
        """,
        _Rule(_RIGHTS, safe=("true",)): "enableRbacAuthorization enableRBAC enableAzureRBAC enableNfsV3RootSquash",
        _Rule(_RIGHTS, safe=("false",)): "allowSecretAccess enableLogAccessUsingOnlyResourcePermissions privileged",
        _Rule(_RIGHTS, safe=("rootsquash", "allsquash")): "rootSquash",
        _Rule(_RIGHTS): "identity identities userAssignedIdentities accessPolicies aadProfile authConfig rights",
        _Rule(_AUDIT, direction=_Direction.LOWER): "retentionDays retentionInDays",
        _Rule(_MACHINE, safe=("true", "enabled")): """
            encryptionAtHost enableEncryptionAtHost secureBootEnabled vTpmEnabled enableSecureBoot enableVTPM
        """,
    }.items()
    for name in names.split()
}
"""The rule of each name of a field, in lower case. It holds for all that is below the field, where nothing that is
nearer to the value has a rule.
"""

HARMLESS: Final[Mapping[str, str]] = {
    name.casefold(): why
    for why, names in {
        "It is the wording of a refusal.": "aadAuthFailureMode disableWWWAuthenticate",
        "It is the cost of reads.": "accessTier",
        "It is the time of the last read, which decides the tier.": """
            lastAccessTimeTrackingPolicy daysAfterLastAccessTimeGreaterThan
        """,
        "It describes an address that exists anyway.": """
            publicIPAddressVersion publicIPAllocationMethod publicIPPrefixSize
        """,
        "It is a key for finding data.": """
            cacheKeyQueryString partitionKey shardKey uniqueKeyPolicy notify-keyspace-events keyword
        """,
        "It is how long a receiver locks a message.": "lockDuration lockDurationAsIso8601",
        "Its name only contains these letters.": "maxBlockedNodes HockeyAppId",
    }.items()
    for name in names.split()
}
"""Why a field weakens nothing although its name has one of `_GUARDS`; names in lower case."""

_GUARDS: Final = re.compile(r"access|public|auth|key|encrypt|purge|lock|enabledfor")
_UNKNOWN: Final = _Rule(
    "Its name suggests that it protects access, keys or data, and no rule defines which value is safer."
)

_FIREWALL: Final = _Rule("It changes which traffic is allowed.")
_RANGE: Final = _Rule("It allows more addresses.", direction=_Direction.OPENING)

TYPES: Final[Mapping[str, _Rule]] = {
    name.casefold(): rule
    for rule, names in {
        _FIREWALL: """
            Microsoft.Network/networkSecurityGroups/securityRules Microsoft.Network/azureFirewalls
            Microsoft.Network/firewallPolicies Microsoft.Network/firewallPolicies/ruleCollectionGroups
            Microsoft.Network/ApplicationGatewayWebApplicationFirewallPolicies
            Microsoft.Network/FrontDoorWebApplicationFirewallPolicies Microsoft.Network/networkSecurityGroups
            Microsoft.Cdn/profiles/securityPolicies
        """,
        _RANGE: """
            Microsoft.Cache/redis/firewallRules Microsoft.DBforMySQL/flexibleServers/firewallRules
            Microsoft.DBforPostgreSQL/flexibleServers/firewallRules Microsoft.DocumentDB/mongoClusters/firewallRules
            Microsoft.Sql/servers/firewallRules Microsoft.Sql/servers/ipv6FirewallRules
            Microsoft.Sql/servers/virtualNetworkRules
        """,
        _Rule(_RIGHTS): """
            Microsoft.Authorization/roleAssignments Microsoft.Authorization/roleDefinitions
            Microsoft.ManagedIdentity/userAssignedIdentities
            Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials
            Microsoft.ApiManagement/service/authorizationProviders/authorizations/accessPolicies
            Microsoft.Cache/redis/accessPolicies Microsoft.Cache/redis/accessPolicyAssignments
            Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments
            Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings
            Microsoft.DBforMySQL/flexibleServers/administrators
            Microsoft.DBforPostgreSQL/flexibleServers/administrators
            Microsoft.DocumentDB/databaseAccounts/mongodbRoleDefinitions
            Microsoft.DocumentDB/databaseAccounts/mongodbUserDefinitions
            Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments Microsoft.Kusto/clusters/principalAssignments
            Microsoft.Kusto/clusters/databases/principalAssignments Microsoft.Sql/servers/administrators
            Microsoft.Sql/servers/azureADOnlyAuthentications
        """,
        _Rule("It changes a key, which needs no identity."): """
            Microsoft.EventHub/namespaces/authorizationRules
            Microsoft.EventHub/namespaces/eventhubs/authorizationRules
            Microsoft.NotificationHubs/namespaces/authorizationRules
            Microsoft.NotificationHubs/namespaces/notificationHubs/authorizationRules
            Microsoft.ServiceBus/namespaces/AuthorizationRules
            Microsoft.ServiceBus/namespaces/topics/authorizationRules
        """,
        _Rule(_AUDIT): """
            Microsoft.Insights/diagnosticSettings Microsoft.Network/networkWatchers/flowLogs
            Microsoft.Insights/activityLogAlerts Microsoft.Sql/servers/auditingSettings
            Microsoft.Sql/servers/databases/auditingSettings Microsoft.Sql/servers/advancedThreatProtectionSettings
            Microsoft.Sql/servers/databases/advancedThreatProtectionSettings
            Microsoft.DBforPostgreSQL/flexibleServers/advancedThreatProtectionSettings
            Microsoft.Sql/servers/securityAlertPolicies Microsoft.Sql/servers/databases/securityAlertPolicies
            Microsoft.Sql/servers/vulnerabilityAssessments Microsoft.Sql/servers/databases/vulnerabilityAssessments
        """,
        _Rule(_ENCRYPTION): """
            Microsoft.Sql/servers/databases/transparentDataEncryption Microsoft.Sql/servers/encryptionProtector
            Microsoft.Sql/servers/keys Microsoft.Compute/diskEncryptionSets
        """,
        _Rule(_RECOVERY): """
            Microsoft.DataProtection/backupVaults/backupInstances
            Microsoft.DataProtection/backupVaults/backupPolicies
            Microsoft.Sql/servers/databases/backupLongTermRetentionPolicies
            Microsoft.Sql/servers/databases/backupShortTermRetentionPolicies
        """,
    }.items()
    for name in names.split()
}
"""The rule of each type, in lower case: it holds for all of its properties, and for the resource itself."""

_DENIAL = re.compile(r'"(?:deny|block|drop)', re.IGNORECASE)


def explain_weakening(arm_type: str, pointer: str, old: Any, new: Any, *, is_gone: bool) -> str:
    """Return a sentence on why a change makes an estate weaker; "" if the table has no rule for it.

    `pointer` is the path of the change in the ARM body; `old` and `new` are the values there, REMOVED or None for none.
    With `is_gone` the resource itself was deleted. Types and pointers are compared without case.
    """
    of_type = TYPES.get(arm_type.casefold())
    if is_gone:
        # A range of addresses that is gone allows less. With any other type, what is gone may have protected something.
        return of_type.why if of_type and of_type.direction is not _Direction.OPENING else ""
    for path, before, after in _split(pointer, old, new):
        steps = [str(step).casefold() for step in parse_pointer(path)]
        rule = _find_rule(steps, of_type)
        if rule and _weakens(rule, steps, before, after):
            return rule.why
        for entry, now in () if rule else _pair_entries(before, after):
            if why := explain_weakening(arm_type, f"{path}/0", entry, now, is_gone=False):
                return why
    return ""


def protects(arm_type: str, pointer: str, value: Any) -> bool:
    """Return whether a value protects a resource, so that a reset to a default may weaken it: the safer one of a field,
    or any value of a field of the table whose safer value depends. Types and pointers are compared without case.
    """
    steps = [str(step).casefold() for step in parse_pointer(pointer)]
    rule = _find_rule(steps, TYPES.get(arm_type.casefold()))
    # A name that only suggests protection does not prove enough for a sentence about each value.
    if rule is None or rule is _UNKNOWN:
        return False
    return str(value).casefold() in rule.safe if rule.safe else True


def _find_rule(steps: list[str], of_type: _Rule | None) -> _Rule | None:
    """Find the rule of a field by the name that is nearest to the value, then by the type. One that no table has guards
    something if its name suggests it, or one above it, below a harmless one. Tags guard nothing.
    """
    known = next((at for at in reversed(range(len(steps))) if steps[at] in FIELDS or steps[at] in HARMLESS), -1)
    if known >= 0 and steps[known] in FIELDS:
        return FIELDS[steps[known]]
    if of_type and steps[:1] == ["properties"]:
        return of_type
    is_guard = steps[:1] != ["tags"] and any(map(_GUARDS.search, steps[known + 1 :]))
    return _UNKNOWN if is_guard else None


def _pair_entries(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    """Pair the entries of a list that went with those that came: the fields of its entries show what a list without its
    own rule means.
    """
    before, after = (side if isinstance(side, list) else [] for side in (old, new))
    gone, come = [entry for entry in before if entry not in after], [entry for entry in after if entry not in before]
    return zip_longest(gone, come, fillvalue=REMOVED)


def _split(pointer: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs, member by member: rules are those of single fields."""
    before, after = (side if isinstance(side, Mapping) else {} for side in (old, new))
    if not before and not after:
        if old != new:
            yield pointer, old, new
        return
    for name in sorted({*before, *after}):
        yield from _split(pointer + format_pointer((name,)), before.get(name, REMOVED), after.get(name, REMOVED))


def _weakens(rule: _Rule, steps: list[str], old: Any, new: Any) -> bool:
    if rule.safe:
        return str(new).casefold() not in rule.safe
    if rule.direction is _Direction.LOWER:
        before, after = _read_number(old), _read_number(new)
        # A minimum that is gone is replaced by a default, which may be lower.
        return after is None or (before is not None and after < before)
    if rule.direction is _Direction.OPENING:
        return _opens(steps, old, new)
    return True


def _read_number(value: Any) -> int | None:
    """Read a number, or a TLS version as any Azure type writes it: 1.2, TLS1_2, Tls12."""
    digits = "".join(re.findall(r"\d", str(value)))
    return int(digits) if digits else None


def _opens(steps: list[str], old: Any, new: Any) -> bool:
    """Return whether more is allowed: by an entry, by a removed denial, or by a list that filters nothing any more."""
    if isinstance(old, list) or isinstance(new, list):
        before, after = ([_write(entry) for entry in side] if isinstance(side, list) else [] for side in (old, new))
        gone = [entry for entry in before if entry not in after]
        # Many services take an empty list of rules as a filter that is off.
        return not after or any(entry not in before for entry in after) or any(map(_DENIAL.search, gone))
    if new is REMOVED or new is None:
        return bool(_DENIAL.search(_write(old)))
    try:
        # Written as text: ipaddress takes a number, and even a boolean, as an address too.
        before_ip, after_ip = int(ip_address(str(old))), int(ip_address(str(new)))
    except ValueError:
        # Any other value, such as the id of a subnet, may let in more.
        return True
    # A range grows by a later end, or by an earlier start.
    is_end = steps[-1].startswith("end")
    return after_ip > before_ip if is_end else after_ip < before_ip


def _write(value: Any) -> str:
    """Write a value so that equal ones, and references in any case, are equal."""
    return json.dumps(value, sort_keys=True, default=str).casefold()

"""Tell which changes make an estate weaker: who may reach it, who may do what in it, and what would be noticed.

Drift of this kind is taken into git by name only. The table has names of fields, since Azure's types share them, and
types of which every field counts. Where it is clear which side is safer, only the other direction weakens; of anything
else any change does, so that a person looks at it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import ip_address
from typing import Any, Final

from gitsync.formats.json_pointer import format_pointer, parse_pointer
from gitsync.model.edit import REMOVED


class _Direction(Enum):
    """Which changes of a field weaken."""

    ANY = auto()
    LOWER = auto()  # a lower version of TLS, or fewer days
    OPENING = auto()  # entries that let in: one that is added or changed, a denial that goes, and the last one


@dataclass(frozen=True, slots=True)
class _Rule:
    """`why` is the sentence for a person. `safe` are the values that never weaken, in lower case, instead of a
    direction.
    """

    why: str
    safe: tuple[str, ...] = ()
    direction: _Direction = _Direction.ANY


_REACH: Final = "It changes who reaches the resource over the network."
_KEYS: Final = "It lets in who has a key or a password, without an identity."
_PLAIN: Final = "It allows connections that are not encrypted."
_TLS: Final = "It allows a lower version of TLS."
_ENCRYPTION: Final = "It changes how data is encrypted."
_RECOVERY: Final = "It takes away from what can be restored after a delete."
_RIGHTS: Final = "It changes who may do what in Azure."
_AUDIT: Final = "It changes what is logged, and so what would be noticed."
_MACHINE: Final = "It changes what protects the machine when it starts, or on its host."

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
            enablePrivateClusterPublicFQDN enableNodePublicIP remoteDebuggingEnabled
        """,
        _Rule(_REACH, safe=("true", "enabled")): """
            enablePrivateCluster isVirtualNetworkFilterEnabled restrictOutboundNetworkAccess disableRunCommand
        """,
        _Rule(_REACH, direction=_Direction.OPENING): """
            ipRules virtualNetworkRules ipSecurityRestrictions scmIpSecurityRestrictions authorizedIPRanges
            allowedIpRangeList inboundIpRules resourceAccessRules networkAclBypassResourceIds allowedOrigins
            trustedExternalTenants allowedFqdnList
        """,
        _Rule(_KEYS, safe=("true",)): """
            disableLocalAuth disableLocalAccounts disableAccessKeyAuthentication disableKeyBasedMetadataWriteAccess
            disablePasswordAuthentication azureADOnlyAuthentication
        """,
        _Rule(_KEYS, safe=("false",)): "allowSharedKeyAccess adminUserEnabled isLocalUserEnabled disableAadAuth",
        _Rule(_KEYS, safe=("disabled",)): "accessKeysAuthentication passwordAuth",
        _Rule(_KEYS, safe=("true", "required", "require")): "clientCertEnabled clientCertMode clientCertificateMode",
        _Rule(_PLAIN, safe=("true", "enabled")): "supportsHttpsTrafficOnly httpsOnly sslEnforcement requireHttps",
        _Rule(_PLAIN, safe=("false",)): "isHttpAllowed enableNonSslPort allowInsecure",
        _Rule(_PLAIN, safe=("encrypted", "ftpsonly", "disabled")): "clientProtocol ftpsState",
        _Rule(_TLS, direction=_Direction.LOWER): "minimumTlsVersion minimalTlsVersion minTlsVersion scmMinTlsVersion",
        _Rule(_TLS, safe=("false",)): "tls10Enabled tls11Enabled",
        _Rule(_ENCRYPTION, safe=("true", "enabled")): """
            requireInfrastructureEncryption infrastructureEncryption enableDoubleEncryption enableDiskEncryption
        """,
        _Rule(_ENCRYPTION): """
            encryption keyVaultProperties diskEncryptionSetId secureVMDiskEncryptionSetId azureKeyVaultKms
            dataEncryption keyVaultKeyUri
        """,
        _Rule(_RECOVERY, safe=("true",)): "enableSoftDelete enablePurgeProtection immutableStorageWithVersioning",
        _Rule(_RECOVERY, safe=("false",)): "allowPermanentDelete",
        _Rule(_RECOVERY, direction=_Direction.LOWER): """
            softDeleteRetentionInDays backupRetentionDays immutabilityPeriodSinceCreationInDays
        """,
        _Rule(_RECOVERY): """
            deleteRetentionPolicy containerDeleteRetentionPolicy softDeleteSettings immutabilitySettings
        """,
        _Rule(_RIGHTS, safe=("true",)): "enableRbacAuthorization enableRBAC enableAzureRBAC",
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

_FIREWALL: Final = _Rule("It changes which traffic is let through.")
_RANGE: Final = _Rule("It lets in more addresses.", direction=_Direction.OPENING)

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


def find_weakening(arm_type: str, pointer: str, old: Any, new: Any, *, is_gone: bool) -> str:
    """Say in a sentence why a change makes an estate weaker; "" if it does not, as far as the table knows.

    `pointer` is the place of the change in the ARM body; `old` and `new` are the values there, REMOVED or None for
    none. With `is_gone` the resource itself was deleted. Types and pointers are compared without case.
    """
    of_type = TYPES.get(arm_type.casefold())
    if is_gone:
        return of_type.why if of_type and of_type.direction is not _Direction.OPENING else ""
    for path, before, after in _split(pointer, old, new):
        steps = [str(step).casefold() for step in parse_pointer(path)]
        rule = next((FIELDS[step] for step in reversed(steps) if step in FIELDS), None)
        if rule is None and steps and steps[0] == "properties":
            rule = of_type
        if rule and _weakens(rule, steps, before, after):
            return rule.why
    return ""


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
        return after is None or (before is not None and after < before)
    if rule.direction is _Direction.OPENING:
        return _opens(steps, old, new)
    return True


def _read_number(value: Any) -> int | None:
    """Read a number, or a version of TLS as any type of Azure writes it: 1.2, TLS1_2, Tls12."""
    digits = "".join(re.findall(r"\d", str(value)))
    return int(digits) if digits else None


def _opens(steps: list[str], old: Any, new: Any) -> bool:
    """Tell whether more is let in: by an entry, by the denial that goes, or by a list that filters nothing any more."""
    if isinstance(old, list) or isinstance(new, list):
        before, after = ([_write(one) for one in side] if isinstance(side, list) else [] for side in (old, new))
        gone = [one for one in before if one not in after]
        return not after or any(one not in before for one in after) or any(map(_DENIAL.search, gone))
    if new is REMOVED or new is None:
        return bool(_DENIAL.search(_write(old)))
    try:
        before_ip, after_ip = int(ip_address(old)), int(ip_address(new))
    except ValueError:
        return True
    is_end = steps[-1].startswith("end")
    return after_ip > before_ip if is_end else after_ip < before_ip


def _write(value: Any) -> str:
    """Write a value so that equal ones, and references in any case, are equal."""
    return json.dumps(value, sort_keys=True, default=str).casefold()

"""What the name of a resource may be made of, by its type, where Microsoft publishes it and ASO's facts lack it or do
not hold it to the end of the name.

Source: "Naming rules and restrictions for Azure resources"
(learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules). A type whose rule is vague there, or
whose real names break it, has no row: a rule that is too wide costs a refusal by Azure, one that is too narrow rejects
a valid manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Alphabet:
    """A rule for names: an anchored pattern that RE2, Python and ECMAScript read alike, what it means in words, and the
    most characters (None if that is in the facts).
    """

    pattern: str
    words: str
    most: int | None

    def list_faults(self, name: str) -> Iterator[str]:
        """Describe how a name breaks the rule, without the name."""
        pattern = self.pattern[1:-1]
        if name.isascii():  # letters beyond ASCII then change nothing, and take 20 ms to compile
            pattern = pattern.replace(_LETTERS, "")
        if not re.fullmatch(pattern, name):
            yield f"must be made of {self.words}"
        if self.most is not None and len(name) > self.most:
            yield f"must have at most {self.most} characters, but has {len(name)}"


_LETTERS: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in (
    (0xAA, 0x1FFF), (0x2C00, 0x2FFF), (0x3005, 0xD7FF), (0xF900, 0xFFDC),
))  # fmt: skip
"""Letters and digits beyond ASCII, and a little more: patterns have no class for them that all engines read."""

_ANY: Final = f"a-zA-Z0-9{_LETTERS}"

BLANKS: Final = " \x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
"""Blanks, for a class of a pattern: what is seen neither at the start of a name nor at its end. Tabs and ends of lines
are among the control characters.
"""

_BOTH_ENDS: Final = "with a letter or digit at both ends"

_RULES: Final[tuple[tuple[str, str, Mapping[str, int | None]], ...]] = (
    (
        rf"^[-_.(){_ANY}]*$",
        "letters, digits, `_`, `-`, `.`, `(` and `)`",
        {"Microsoft.Resources/resourceGroups": None},  # the rest of its rule is in validation.name_rules
    ),
    (
        rf"^[{_ANY}]([-_.{_ANY}]*[_{_ANY}])?$",
        "letters, digits, `_`, `.` and `-`, with a letter or digit first, and a letter, digit or `_` last",
        {
            f"Microsoft.{type_}": 80
            for type_ in (
                "Compute/availabilitySets",
                "Compute/diskEncryptionSets",
                "Compute/disks",
                "Compute/images",
                "Compute/snapshots",
                "Network/applicationGateways",
                "Network/applicationSecurityGroups",
                "Network/azureFirewalls",
                "Network/bastionHosts",
                "Network/firewallPolicies",
                "Network/firewallPolicies/ruleCollectionGroups",
                "Network/loadBalancers",
                "Network/loadBalancers/inboundNatRules",
                "Network/natGateways",
                "Network/networkInterfaces",
                "Network/networkSecurityGroups",
                "Network/networkSecurityGroups/securityRules",
                "Network/networkWatchers",
                "Network/privateDnsZones/virtualNetworkLinks",
                "Network/privateEndpoints",
                "Network/privateLinkServices",
                "Network/publicIPAddresses",
                "Network/publicIPPrefixes",
                "Network/routeTables",
                "Network/routeTables/routes",
                "Network/virtualNetworkGateways",
                "Network/virtualNetworks",
                "Network/virtualNetworks/subnets",
                "Network/virtualNetworks/virtualNetworkPeerings",
            )
        },
    ),
    (
        rf"^[{_ANY}]([-_.{_ANY}]*[_{_ANY}])?$",
        "letters, digits, `_`, `.` and `-`, with a letter or digit first, and neither `.` nor `-` last",
        {"Microsoft.Compute/virtualMachines": 64, "Microsoft.Compute/virtualMachineScaleSets": 64},
    ),
    (
        r"^[-_a-zA-Z0-9]+(\.[-_a-zA-Z0-9]+)*$",
        "letters, digits, `-` and `_`, in labels with a `.` between them",
        {"Microsoft.Network/dnsZones": 253, "Microsoft.Network/privateDnsZones": 253},
    ),
    (
        rf"^[_{_ANY}]([-_{_ANY}]*[_{_ANY}])?$",
        "letters, digits, `_` and `-`, and no `-` at either end",
        {"Microsoft.Web/serverfarms": 60, "Microsoft.Web/sites": 60},
    ),
    (
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        f"lower-case letters, digits and `-`, {_BOTH_ENDS}",
        {
            "Microsoft.App/containerApps": 32,
            "Microsoft.ContainerInstance/containerGroups": 63,
            "Microsoft.DocumentDB/databaseAccounts": None,
            "Microsoft.DocumentDB/mongoClusters": None,
            "Microsoft.Search/searchServices": 60,
            "Microsoft.Sql/servers": 63,
            "Microsoft.Sql/servers/failoverGroups": 63,
            "Microsoft.Storage/storageAccounts/fileServices/shares": None,
            "Microsoft.Storage/storageAccounts/queueServices/queues": None,
            "Microsoft.Synapse/workspaces": 50,
        },
    ),
    (
        r"^(\$[a-z]+|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$",  # $root, $web and $logs are Azure's own containers
        f"lower-case letters, digits and `-`, {_BOTH_ENDS}",
        {"Microsoft.Storage/storageAccounts/blobServices/containers": None},
    ),
    (
        r"^[a-z0-9]+$",
        "lower-case letters and digits",
        {"Microsoft.Storage/storageAccounts": None},
    ),
    (
        r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        f"letters, digits and `-`, {_BOTH_ENDS}",
        {
            "Microsoft.App/managedEnvironments": 60,
            "Microsoft.Cache/redis": 63,
            "Microsoft.Cache/redisEnterprise": 63,
            "Microsoft.Cdn/profiles": 260,
            "Microsoft.Cdn/profiles/afdEndpoints": None,
            "Microsoft.Cdn/profiles/endpoints": 50,
            "Microsoft.DataProtection/backupVaults": 50,
            "Microsoft.DBforMariaDB/servers": 63,
            "Microsoft.DBforMySQL/flexibleServers": 63,
            "Microsoft.DBforPostgreSQL/flexibleServers": 63,
            "Microsoft.Devices/IotHubs": 50,
            "Microsoft.EventGrid/domains": 50,
            "Microsoft.EventGrid/topics": 50,
            "Microsoft.KeyVault/vaults": None,
            "Microsoft.ServiceBus/namespaces": 50,
            "Microsoft.SignalRService/signalR": 63,
        },
    ),
    (
        r"^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?$",
        f"letters, digits, `-` and `.`, {_BOTH_ENDS}",
        {"Microsoft.Network/trafficmanagerprofiles": 63},
    ),
    (
        r"^[a-zA-Z0-9][-_a-zA-Z0-9]*$",
        "letters, digits, `-` and `_`, with a letter or digit first",
        {"Microsoft.ManagedIdentity/userAssignedIdentities": 128},
    ),
    (
        # A slash of a queue is `~` in an id; $Default is made by Azure.
        r"^(\$[dD]efault|[a-zA-Z0-9_]([-_.~a-zA-Z0-9]*[a-zA-Z0-9_])?)$",
        "letters, digits, `.`, `-` and `_`, and neither `.` nor `-` at either end",
        {
            "Microsoft.EventHub/namespaces/eventhubs": None,
            "Microsoft.EventHub/namespaces/eventhubs/consumergroups": None,
            "Microsoft.ServiceBus/namespaces/queues": 260,
            "Microsoft.ServiceBus/namespaces/topics": 260,
            "Microsoft.ServiceBus/namespaces/topics/subscriptions": None,
        },
    ),
    (
        r"^[^<>*%&:\\/?\x00-\x1f]*[^<>*%&:\\/?\x00-\x1f. ]$",
        r"characters other than `< > * % & : \ / ?`, with neither a blank nor `.` last",
        {
            "Microsoft.Insights/actionGroups": 260,
            "Microsoft.Insights/activityLogAlerts": 260,
            "Microsoft.Insights/metricAlerts": 260,
            "Microsoft.Sql/servers/databases": 128,
            "Microsoft.Sql/servers/elasticPools": 128,
        },
    ),
    (
        r"^[^%&\\?/\x00-\x1f]*[^%&\\?/\x00-\x1f. ]$",
        r"characters other than `% & \ ? /`, with neither a blank nor `.` last",
        {"Microsoft.Insights/components": 260, "Microsoft.Insights/autoscalesettings": 260},
    ),
)  # fmt: skip

_BY_TYPE: Final[Mapping[str, Alphabet]] = {
    arm_type.casefold(): Alphabet(pattern=pattern, words=words, most=most)
    for pattern, words, types in _RULES
    for arm_type, most in types.items()
}


def find_alphabet(arm_type: str) -> Alphabet | None:
    """Find the rule of a type; None if it has no row."""
    return _BY_TYPE.get(arm_type.casefold())

"""Entries that Azure adds itself to a list that git fills. At first sight they are recognized, and are not drift.

With a baseline an entry that comes later is drift like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

from gitsync.desired.formats.json_pointer import ANY, JsonPath, generalize
from gitsync.planning.diff.hints import Hints


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntries:
    arm_type: str
    path: JsonPath  # of a list
    evidence: str  # where Microsoft describes it, or a recording that shows it
    is_one: Callable[[Any], bool]  # returns whether an entry is Azure's own, not one that somebody added


_INDEX_NAMES: Final = ("_id", "DocumentDBDefaultIndex")
_DEFAULT_INDEXES: Final = [{"key": {"keys": [name]}, "options": {}} for name in _INDEX_NAMES]
_EVERYTHING: Final = {"certificates": ["all"], "keys": ["all"], "secrets": ["all"], "storage": []}


def _is_off(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("enabled") is False


_PRIVATE_RANGES: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
_LAST_PRIORITY: Final = 2**31 - 1
_NEVER_PROXIED: Final = ("127.0.0.1", "168.63.129.16", "169.254.169.254", "konnectivity", "localhost")


def _is_never_proxied(entry: Any) -> bool:
    """An address that every node must reach, the cluster's API server, or a network of the cluster: no single host."""
    if not isinstance(entry, str):
        return False
    # A single address may be one that somebody added by hand, so only networks count.
    return entry in _NEVER_PROXIED or entry.endswith(".azmk8s.io") or ("/" in entry and _is_private_network(entry))


def _is_private_network(text: str) -> bool:
    try:
        network = IPv4Network(text)
    except ValueError:
        return False
    return any(network.subnet_of(IPv4Network(private)) for private in _PRIVATE_RANGES)


def _is_host_of_app(entry: Any) -> bool:
    return isinstance(entry, Mapping) and str(entry.get("name")).endswith(".azurewebsites.net")


OWN_ENTRIES: Final = (
    OwnEntries(
        arm_type="Microsoft.ApiManagement/service",
        path=("properties", "hostnameConfigurations"),
        evidence="API Management always lists the gateway's own name too (hashicorp/terraform-provider-azurerm, "
        "api_management_resource.go).",
        is_one=lambda entry: (
            isinstance(entry, Mapping)
            and entry.get("type") == "Proxy"
            and str(entry.get("hostName")).endswith(".azure-api.net")
            and entry.get("keyVaultId") is None
        ),
    ),
    OwnEntries(
        arm_type="Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers",
        path=("properties", "resource", "indexingPolicy", "excludedPaths"),
        evidence="Recorded six times, at two api-versions: the system property _etag is always left out of the index.",
        is_one=lambda entry: entry == {"path": '/"_etag"/?'},
    ),
    OwnEntries(
        arm_type="Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections",
        path=("properties", "resource", "indexes"),
        evidence="Recorded, and documented for API for MongoDB: each collection has an index of _id. "
        "'DocumentDBDefaultIndex' is that of the service.",
        is_one=lambda entry: entry in _DEFAULT_INDEXES,
    ),
    OwnEntries(
        arm_type="Microsoft.ContainerService/managedClusters",
        path=("properties", "httpProxyConfig", "noProxy"),
        evidence="AKS adds what every node must reach without a proxy, and the networks of the cluster "
        "(hashicorp/terraform-provider-azurerm#14177); the API specification calls that list effectiveNoProxy.",
        is_one=_is_never_proxied,
    ),
    *(
        OwnEntries(
            arm_type=arm_type,
            path=(*path, "nodeTaints"),
            evidence="AKS documents that it gives this taint to the nodes of every Spot pool.",
            is_one=lambda entry: entry == "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        )
        for arm_type, path in (
            ("Microsoft.ContainerService/managedClusters", ("properties", "agentPoolProfiles", ANY)),
            ("Microsoft.ContainerService/managedClusters/agentPools", ("properties",)),
        )
    ),
    OwnEntries(
        arm_type="Microsoft.ContainerService/managedClusters",
        path=("properties", "networkProfile", "loadBalancerProfile", "effectiveOutboundIPs"),
        evidence="The API specification: the addresses that the load balancer has. Since 2025 it calls them read-only.",
        is_one=lambda entry: isinstance(entry, Mapping) and entry.keys() == {"id"},
    ),
    OwnEntries(
        arm_type="Microsoft.Network/firewallPolicies",
        path=("properties", "snat", "privateRanges"),
        evidence="Azure Firewall's documentation: the ranges of RFC 1918 and RFC 6598 are private by default, and "
        "'IANAPrivateRanges' stands for them.",
        is_one=lambda entry: entry in (*_PRIVATE_RANGES, "IANAPrivateRanges"),
    ),
    OwnEntries(
        arm_type="Microsoft.KeyVault/vaults",
        path=("properties", "accessPolicies"),
        evidence="Recorded five times, at two api-versions, in vaults that other services use: an entry that no "
        "request asked for, with the permission 'all' three times and none for storage.",
        is_one=lambda entry: (
            isinstance(entry, Mapping)
            and entry.keys() == {"tenantId", "objectId", "permissions"}
            and entry["permissions"] == _EVERYTHING
        ),
    ),
    OwnEntries(
        arm_type="Microsoft.Insights/diagnosticSettings",
        path=("properties", "logs"),
        evidence="Azure lists categories without a destination as not enabled "
        "(hashicorp/terraform-provider-azurerm#10388).",
        is_one=_is_off,
    ),
    OwnEntries(
        arm_type="Microsoft.Insights/diagnosticSettings",
        path=("properties", "metrics"),
        evidence="As for logs.",
        is_one=_is_off,
    ),
    OwnEntries(
        arm_type="Microsoft.SignalRService/signalR",
        path=("properties", "features"),
        evidence="Azure lists flags that no request named (hashicorp/terraform-provider-azurerm#7677); by the API "
        "specification, those that a request leaves out are not changed.",
        is_one=lambda entry: isinstance(entry, Mapping) and "flag" in entry,
    ),
    *(
        OwnEntries(
            arm_type=arm_type,
            path=("properties", "siteConfig", name),
            evidence="App Service's documentation: where no rule is, it lists 'Allow all', with the last priority.",
            is_one=lambda entry: isinstance(entry, Mapping) and entry.get("priority") == _LAST_PRIORITY,
        )
        for arm_type in ("Microsoft.Web/sites", "Microsoft.Web/sites/slots")
        for name in ("ipSecurityRestrictions", "scmIpSecurityRestrictions")
    ),
    *(
        OwnEntries(
            arm_type=arm_type,
            path=("properties", "hostNameSslStates"),
            evidence="App Service's documentation: each app has a host of its own and one of its source control. "
            "Recorded twice of slots.",
            is_one=_is_host_of_app,
        )
        for arm_type in ("Microsoft.Web/sites", "Microsoft.Web/sites/slots")
    ),
    OwnEntries(
        arm_type="Microsoft.Network/networkWatchers/connectionMonitors",
        path=("properties", "outputs"),
        evidence="Recorded three times: without an output, Azure chooses a workspace.",
        is_one=lambda entry: isinstance(entry, Mapping) and entry.get("type") == "Workspace",
    ),
)


def is_own_entry(path: JsonPath, entry: Any, hints: Hints) -> bool:
    """Return whether an entry that git does not request is one of Azure's own."""
    path = generalize(path)
    return any(
        row.path == path and row.arm_type.casefold() == hints.arm_type.casefold() and row.is_one(entry)
        for row in OWN_ENTRIES
    )

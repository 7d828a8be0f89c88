"""How Azure rewrites values (`rewrite: true`): responses differ from requests.

Regions have their display names, words another case, ids lower case, lists another order, and defaults are added. All
of it was recorded; here it applies to every type, as a test of comparisons. The quirks of single types are a table with
a row per type. Steps of a path are names of members; `*` is every entry of a list or every member of an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring, indent, tostring

from gitsync.emulator.patch import GONE, ValueChange, change_at, merge_over

REGIONS: Mapping[str, str] = {
    "australiaeast": "Australia East",
    "centralus": "Central US",
    "eastus": "East US",
    "eastus2": "East US 2",
    "francecentral": "France Central",
    "germanywestcentral": "Germany West Central",
    "global": "Global",
    "italynorth": "Italy North",
    "japaneast": "Japan East",
    "northeurope": "North Europe",
    "norwayeast": "Norway East",
    "southcentralus": "South Central US",
    "southeastasia": "Southeast Asia",
    "swedencentral": "Sweden Central",
    "switzerlandnorth": "Switzerland North",
    "uksouth": "UK South",
    "ukwest": "UK West",
    "westcentralus": "West Central US",
    "westeurope": "West Europe",
    "westus": "West US",
    "westus2": "West US 2",
    "westus3": "West US 3",
}
_REGIONS = frozenset({"location", "locationname", "endpointlocation", "linkedrediscachelocation"})
_WORDS: Mapping[str, str] = {
    word.casefold(): word
    for word in (
        "Enabled",
        "Disabled",
        "Allow",
        "Deny",
        "Generic",
        "CustomRole",
        "Standard",
        "Premium",
        "Basic",
        "None",
    )
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "microsoft.keyvault/vaults": {"properties": {"enableSoftDelete": True, "softDeleteRetentionInDays": 90}},
    "microsoft.network/networksecuritygroups": {"properties": {"flushConnection": False}},
    "microsoft.network/publicipaddresses": {"properties": {"idleTimeoutInMinutes": 4, "ipTags": []}},
    "microsoft.network/virtualnetworks": {"properties": {"enableDdosProtection": False}},
    "microsoft.network/virtualnetworks/subnets": {
        "properties": {"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled"}
    },
    "microsoft.storage/storageaccounts": {
        "properties": {"supportsHttpsTrafficOnly": True, "encryption": {"keySource": "Microsoft.Storage"}}
    },
}


def rewrite_body(kind: str, body: Mapping[str, Any], subscription: str = "") -> dict[str, Any]:
    """Rewrite a body as Azure might return it; tags and member names stay. `subscription` is the resource's own."""
    defaults: dict[str, Any] = {"tags": {}} if "location" in body else {}
    defaults = merge_over(defaults, _DEFAULTS.get(kind.casefold(), {}))
    values = {name: value if name == "tags" else _rewrite_value(name, value) for name, value in body.items()}
    return apply_quirks(kind, merge_over(defaults, values), subscription)


def _rewrite_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {member: _rewrite_value(member, inner) for member, inner in value.items()}
    if isinstance(value, list):
        items = [_rewrite_value(name, item) for item in value]
        # Only a list whose entries all have a key can get another order.
        return sorted(items, key=_make_sort_key) if all(_make_sort_key(item) for item in items) else items
    return _rewrite_text(name, value) if isinstance(value, str) else value


def _make_sort_key(item: Any) -> str:
    """Make the sort key of an entry: a text, or a name (as recorded for the extensions of a scale set); "" for any
    other entry.
    """
    name = item.get("name") if isinstance(item, Mapping) else item
    return name if isinstance(name, str) else ""


def _rewrite_text(name: str, text: str) -> str:
    if name.casefold() in _REGIONS:
        return REGIONS.get(text.casefold().replace(" ", ""), text)
    if text.casefold().startswith("/subscriptions/"):  # an id: Azure changes the case of one word
        return text.replace("/resourceGroups/", "/resourcegroups/")
    return _WORDS.get(text.casefold(), text)


_EMPTY: tuple[Any, ...] = (None, [], {}, "")
_MINUTES = re.compile(r"PT(\d+)([MS])")
_LARGER = {"S": "M", "M": "H"}


def apply_quirks(kind: str, body: dict[str, Any], subscription: str) -> dict[str, Any]:
    """Change a body as its type would return it; `subscription` completes ids without one."""
    for path, change in _CHANGES.get(kind.casefold(), ()):
        body = change_at(body, tuple(path.split("/")), change)
    for path in _COMPLETED.get(kind.casefold(), ()):
        complete = _change_text(
            lambda text: f"/subscriptions/{subscription}{text}" if text.startswith("/providers/") else text
        )
        body = change_at(body, tuple(path.split("/")), complete)
    return body


def _change_text(change: Callable[[str], str]) -> ValueChange:
    """Make a change for texts only; any other value is kept."""
    return lambda original: change(original) if isinstance(original, str) else original


def _make_decimal(value: Any) -> Any:
    # In Python a truth value is a whole number too.
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _drop(_value: Any) -> Any:
    return GONE


def _drop_empty(value: Any) -> Any:
    """Drop the empty members of an object."""
    return {name: item for name, item in value.items() if item not in _EMPTY} if isinstance(value, Mapping) else value


def _add_defaults(defaults: Mapping[str, Any]) -> ValueChange:
    """Add members that Azure adds by itself."""
    return lambda original: merge_over(defaults, original) if isinstance(original, Mapping) else original


def _add_entry(entry: Any) -> ValueChange:
    # A client that sends back what it has read already has the entry.
    return lambda original: [*original, entry] if isinstance(original, list) and entry not in original else original


def _add_id(location: Any) -> Any:
    """Add the id of a location of an account."""
    if not isinstance(location, Mapping):
        return location
    name = str(location.get("locationName", "")).casefold().replace(" ", "")
    return merge_over({"id": f"account-{name}", "isZoneRedundant": False, "provisioningState": "Succeeded"}, location)


def _capitalize_group(arm_id: str) -> str:
    """Write only the name of the group in capitals."""
    words = arm_id.split("/")
    return "/".join([*words[:4], words[4].upper(), *words[5:]]) if len(words) > 4 else arm_id


def _indent(text: str) -> str:
    try:
        root: Element = fromstring(text)  # noqa: S314 - the policy is a test's own, and expat limits the expansion of entities
    # A policy with expressions in C# need not be well-formed XML.
    except ParseError:
        return text
    indent(root, space="\t")
    return tostring(root, encoding="unicode").replace("\n", "\r\n")


def _use_larger_units(text: str) -> str:
    """Convert 60 of a unit to one of the next, as .NET does in a TimeSpan."""
    match = _MINUTES.fullmatch(text)
    if match is None or int(match[1]) % 60 or match[1] == "0":
        return text
    return f"PT{int(match[1]) // 60}{_LARGER[match[2]]}"


_POLICY: tuple[tuple[str, ValueChange], ...] = (
    ("properties/value", _change_text(_indent)),
    ("properties", _add_defaults({"format": "xml"})),
)
_POOL = {"osDiskSizeGB": 128, "osDiskType": "Managed", "osSKU": "Ubuntu", "type": "VirtualMachineScaleSets"}
_KUSTOMIZATION = {"dependsOn": None, "force": False, "syncIntervalInSeconds": 600, "wait": True}
_COMPLETED: Mapping[str, tuple[str, ...]] = {
    # /providers/Microsoft.Authorization/… → /subscriptions/…/providers/Microsoft.Authorization/…
    "microsoft.authorization/roleassignments": ("properties/roleDefinitionId",),
}
_CHANGES: Mapping[str, tuple[tuple[str, ValueChange], ...]] = {
    # location Global → global, ids in lower case, empty members
    "microsoft.alertsmanagement/smartdetectoralertrules": (
        ("location", _change_text(str.lower)),
        ("properties/scope/*", _change_text(str.lower)),
        ("properties/actionGroups/groupIds/*", _change_text(str.lower)),
        ("properties/actionGroups", _add_defaults({"customEmailSubject": None, "customWebhookPayload": None})),
        ("properties/frequency", _change_text(_use_larger_units)),
    ),
    # apiRevision v1 → 1, path /account-api → account-api, type is not returned
    "microsoft.apimanagement/service/apis": (
        ("properties/apiRevision", _change_text(lambda text: text.removeprefix("v"))),
        ("properties/path", _change_text(lambda text: text.removeprefix("/"))),
        ("properties/type", _drop),
        ("properties", _add_defaults({"backendId": None, "isCurrent": True, "serviceUrl": None})),
    ),
    # <policies><inbound>… → one element a line, with tabs and CRLF
    "microsoft.apimanagement/service/apis/policies": _POLICY,
    "microsoft.apimanagement/service/policies": _POLICY,
    "microsoft.apimanagement/service/products/policies": _POLICY,
    # sampling.percentage 100 → 100.0
    "microsoft.apimanagement/service/diagnostics": (("properties/sampling/percentage", _make_decimal),),
    # maxmemory-delta 10 → 642 for any value, redisVersion 6 → 6.0
    "microsoft.cache/redis": (
        ("properties/redisConfiguration/maxmemory-delta", lambda _delta: "642"),
        ("properties/redisConfiguration", _add_defaults({"maxclients": "7500", "maxmemory-reserved": "642"})),
        ("properties/redisVersion", _change_text(lambda text: f"{text}.0" if text.isdigit() else text)),
        ("properties", _add_defaults({"accessKeys": None, "publicNetworkAccess": "Enabled"})),
    ),
    # diskAccessId: the group in capitals
    "microsoft.compute/disks": (("properties/diskAccessId", _change_text(_capitalize_group)),),
    # nodeLabels {}, nodeTaints [] and nulls are not returned; each pool gets defaults
    "microsoft.containerservice/managedclusters": (
        ("properties/agentPoolProfiles/*", _drop_empty),
        ("properties/agentPoolProfiles/*", _add_defaults(_POOL)),
        ("properties/networkProfile", _add_defaults({"loadBalancerSku": "standard", "outboundType": "loadBalancer"})),
        ("properties", _add_defaults({"enableRBAC": True})),
    ),
    "microsoft.containerservice/managedclusters/agentpools": (
        ("properties", _drop_empty),
        ("properties", _add_defaults(_POOL)),
    ),
    # defaults in objects that the request omitted
    "microsoft.dbforpostgresql/flexibleservers": (
        ("properties", _add_defaults({"backup": {"backupRetentionDays": 7, "geoRedundantBackup": "Disabled"}})),
        ("properties", _add_defaults({"highAvailability": {"mode": "Disabled", "state": "NotEnabled"}})),
    ),
    # charset utf8 → UTF8
    "microsoft.dbforpostgresql/flexibleservers/databases": (
        ("properties/charset", _change_text(str.upper)),
        ("properties", _add_defaults({"collation": "en_US.utf8"})),
    ),
    # every location gets an id and a state
    "microsoft.documentdb/databaseaccounts": (
        ("properties/locations/*", _add_id),
        ("properties/consistencyPolicy", _add_defaults({"maxIntervalInSeconds": 5, "maxStalenessPrefix": 100})),
    ),
    # location and options are not returned; excludedPaths gets an additional entry
    "microsoft.documentdb/databaseaccounts/sqldatabases": (
        ("location", _drop),
        ("properties/options", _drop),
        ("properties/resource", _add_defaults({"_colls": "colls/", "_ts": 1754358949})),
    ),
    "microsoft.documentdb/databaseaccounts/sqldatabases/containers": (
        ("location", _drop),
        ("properties/options", _drop),
        ("properties/resource/indexingPolicy", _add_defaults({"automatic": True, "fullTextIndexes": []})),
        ("properties/resource/indexingPolicy/excludedPaths", _add_entry({"path": '/"_etag"/?'})),
    ),
    # provider Generic → generic; a kustomization gets its name, its times, and nulls
    "microsoft.kubernetesconfiguration/fluxconfigurations": (
        ("properties/gitRepository/provider", _change_text(str.lower)),
        ("properties/kustomizations/*", _add_defaults(_KUSTOMIZATION)),
        ("properties/gitRepository", _add_defaults({"httpsUser": None, "syncIntervalInSeconds": 600})),
    ),
    # sku Standalone → PerGB2018
    "microsoft.operationalinsights/workspaces": (
        ("properties/sku/name", lambda name: "PerGB2018" if name == "Standalone" else name),
    ),
    # not recorded: durations as the service's own library for .NET writes them
    "microsoft.servicebus/namespaces/queues": (
        ("properties/lockDuration", _change_text(_use_larger_units)),
        ("properties", _add_defaults({"maxSizeInMegabytes": 1024, "status": "Active"})),
    ),
    # daysAfter… 30 → 30.0
    "microsoft.storage/storageaccounts/managementpolicies": (
        ("properties/policy/rules/*/definition/actions/*/*/*", _make_decimal),
    ),
}

"""How Azure rewrites values (`rewrite: true`): responses differ from what was sent.

Regions have their display names, words another case, ids lower case, lists another order, and defaults are added. All
of it was recorded; here it happens to every type, so that a comparison has to cope with it. The quirks of single types
are in `gitsync.emulator.types.quirks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.patch import merge_over
from gitsync.emulator.types.quirks import whimsical

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
_PLACES = frozenset({"location", "locationname", "endpointlocation", "linkedrediscachelocation"})
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


def rewritten(kind: str, body: Mapping[str, Any], subscription: str = "") -> dict[str, Any]:
    """A body as Azure might give it back; tags and names of members stay. `subscription` is the resource's own."""
    defaults: dict[str, Any] = {"tags": {}} if "location" in body else {}
    defaults = merge_over(defaults, _DEFAULTS.get(kind.casefold(), {}))
    values = {name: value if name == "tags" else _rewrite_value(name, value) for name, value in body.items()}
    return whimsical(kind, merge_over(defaults, values), subscription)


def _rewrite_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {member: _rewrite_value(member, inner) for member, inner in value.items()}
    if isinstance(value, list):
        items = [_rewrite_value(name, item) for item in value]
        return sorted(items, key=_find_sort_key) if all(_find_sort_key(item) for item in items) else items
    return _rewrite_text(name, value) if isinstance(value, str) else value


def _find_sort_key(item: Any) -> str:
    """The sort key of an entry: a text, or a name (the extensions of a scale set came back so); "" for all else."""
    name = item.get("name") if isinstance(item, Mapping) else item
    return name if isinstance(name, str) else ""


def _rewrite_text(name: str, text: str) -> str:
    if name.casefold() in _PLACES:
        return REGIONS.get(text.casefold().replace(" ", ""), text)
    if text.casefold().startswith("/subscriptions/"):
        return text.replace("/resourceGroups/", "/resourcegroups/")
    return _WORDS.get(text.casefold(), text)

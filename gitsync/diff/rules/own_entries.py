"""Entries that Azure adds itself to a list that git fills: at first sight they are recognised, and are no drift.

With a baseline an entry that comes later is drift like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.dataclasses import dataclass
from gitsync.diff.hints import Hints
from gitsync.formats.json_pointer import JsonPath


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntries:
    arm_type: str
    path: JsonPath
    evidence: str
    is_one: Callable[[Mapping[str, Any]], bool]


def _is_etag(entry: Mapping[str, Any]) -> bool:
    return entry == {"path": '/"_etag"/?'}


_EVERYTHING: Final = {"certificates": ["all"], "keys": ["all"], "secrets": ["all"], "storage": []}


def _is_service(entry: Mapping[str, Any]) -> bool:
    return entry.keys() == {"tenantId", "objectId", "permissions"} and entry["permissions"] == _EVERYTHING


def _is_off(entry: Mapping[str, Any]) -> bool:
    return entry.get("enabled") is False


OWN_ENTRIES: Final = (
    OwnEntries(
        arm_type="Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers",
        path=("properties", "resource", "indexingPolicy", "excludedPaths"),
        evidence="Recorded six times, at two api-versions: the system property _etag is always left out of the index.",
        is_one=_is_etag,
    ),
    OwnEntries(
        arm_type="Microsoft.KeyVault/vaults",
        path=("properties", "accessPolicies"),
        evidence="Recorded five times, at two api-versions, in vaults that other services use: an entry that no "
        "request asked for, with the permission 'all' three times and none for storage.",
        is_one=_is_service,
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
        is_one=lambda entry: "flag" in entry,
    ),
)


def is_own_entry(path: JsonPath, entry: Any, hints: Hints) -> bool:
    """Whether an entry that git does not ask for is one of Azure's own."""
    return isinstance(entry, Mapping) and any(
        row.path == path and row.arm_type.casefold() == hints.arm_type.casefold() and row.is_one(entry)
        for row in OWN_ENTRIES
    )

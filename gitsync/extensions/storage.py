"""storage.azure.com: the keys of an account, and where its services answer."""

from __future__ import annotations

from gitsync.extensions.keys import Action, Keys, Status, exporting
from gitsync.extensions.places import At, Entry
from gitsync.extensions.points import Extensions

GROUP = "storage.azure.com"

_KEYS = Action(
    "/listKeys",
    "2024-01-01",
    {name: Entry(among="keys", by="keyName", named=name, gives="value") for name in ("key1", "key2")},
)
_SERVICES = ("blob", "dfs", "file", "queue", "table", "web")
_ENDPOINTS = Status(
    {f"{service}Endpoint": At(f"properties/primaryEndpoints/{service}", optional=True) for service in _SERVICES}
)

EXTENSIONS: Extensions = exporting(GROUP, {"StorageAccount": Keys(_KEYS, _ENDPOINTS)})

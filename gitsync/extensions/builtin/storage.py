"""storage.azure.com: the keys of an account, and the endpoints of its services."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, StatusFields, make_exporters
from gitsync.extensions.factories.value_paths import At, ListMember

GROUP = "storage.azure.com"

_KEYS = SecretAction(
    "/listKeys",
    "2024-01-01",
    {
        name: ListMember(list_path="keys", match_member="keyName", match_value=name, member="value")
        for name in ("key1", "key2")
    },
)
_SERVICES = ("blob", "dfs", "file", "queue", "table", "web")
# As in ASO, an account that shows no endpoints exports none, and one that lacks only the wanted one is an error.
_ENDPOINTS = StatusFields(
    {f"{service}Endpoint": At(f"properties/primaryEndpoints/{service}", optional=True) for service in _SERVICES}
)

EXTENSIONS: Extensions = make_exporters(GROUP, {"StorageAccount": Keys(_KEYS, _ENDPOINTS)})

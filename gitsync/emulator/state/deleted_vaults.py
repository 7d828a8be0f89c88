"""Soft-deleted key vaults: their data, and how long they are kept.

They are notes of the store rather than resources: no list of a group shows one, and it has no
children.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gitsync.emulator.clock import format_time
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.store import Store, StoredResource

_NOTE = "deleted-vaults"
_TYPE = "microsoft.keyvault/vaults"
_USUAL_DAYS = 90

DeletedVault = Mapping[str, Any]
"""`id`, `body` and `api_version` of the vault as it was; `location` in lower case without blanks; `deleted` and
`purged`: the times of its deletion and of its purge.
"""


def keep_deleted_vault(store: Store, resource: StoredResource, now: float) -> None:
    """Keep a deleted resource if it is a vault; other types are removed completely. `now` is in seconds since 1970."""
    target = parse(resource.id)
    if target.type.casefold() != _TYPE:
        return
    days = find_value(resource.body, ("properties", "softDeleteRetentionInDays"))
    deleted = datetime.fromtimestamp(now, UTC)
    deleted_vault = {
        "id": resource.id,
        "body": dict(resource.body),
        "api_version": resource.api_version,
        "location": normalize_region(resource.body.get("location")),
        "deleted": format_time(deleted),
        "purged": format_time(deleted + timedelta(days=days if isinstance(days, int) else _USUAL_DAYS)),
    }
    store.put_note(_NOTE, {**_list_all(store), _make_key(target.subscription, target.name): deleted_vault})


def find_deleted_vault(store: Store, subscription: str, name: str) -> DeletedVault | None:
    """Find the deleted vault of a name."""
    return _list_all(store).get(_make_key(subscription, name))


def list_deleted_vaults(store: Store, subscription: str) -> list[DeletedVault]:
    """List the deleted vaults of a subscription, by name."""
    rows = sorted(_list_all(store).items())
    return [deleted_vault for key, deleted_vault in rows if key.startswith(_make_key(subscription, ""))]


def remove_deleted_vault(store: Store, subscription: str, name: str) -> None:
    """Purged or recovered: the name is free."""
    removed_key = _make_key(subscription, name)
    store.put_note(_NOTE, {key: deleted_vault for key, deleted_vault in _list_all(store).items() if key != removed_key})


def normalize_region(name: Any) -> str:
    """Return a region without the blanks and the case of its display name."""
    return str(name or "").replace(" ", "").casefold()


def show_deleted_vault(deleted_vault: DeletedVault, target: Target) -> StoredResource:
    """Show a deleted vault as a resource that can be read; `target` is the path that asks for it,
    or for a list of them.
    """
    vault = parse(deleted_vault["id"])
    location = target.names[0] if target.names else deleted_vault["location"]
    properties = {
        "vaultId": deleted_vault["id"],
        "location": deleted_vault["location"],
        "tags": deleted_vault["body"].get("tags") or {},
        "deletionDate": deleted_vault["deleted"],
        "scheduledPurgeDate": deleted_vault["purged"],
    }
    if find_value(deleted_vault["body"], ("properties", "enablePurgeProtection")):
        properties["purgeProtectionEnabled"] = True
    scope = f"/subscriptions/{vault.subscription}/providers/Microsoft.KeyVault/locations"
    return StoredResource(
        id=f"{scope}/{location}/deletedVaults/{vault.name}",
        body={"type": "Microsoft.KeyVault/deletedVaults", "properties": properties},
        api_version=deleted_vault["api_version"],
        number=0,
        created=deleted_vault["deleted"],
        changed=deleted_vault["deleted"],
    )


def _list_all(store: Store) -> Mapping[str, DeletedVault]:
    return store.note(_NOTE) or {}


def _make_key(subscription: str, name: str) -> str:
    return f"{subscription}/{name}".casefold()

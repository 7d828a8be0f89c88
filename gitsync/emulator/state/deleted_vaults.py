"""Soft-deleted key vaults: what is kept of them, and until when.

They are notes of the store rather than resources: no list of a group shows one, and it has no children.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gitsync.emulator.clock import format_time
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.store import Store
from gitsync.emulator.state.stored import StoredResource

_NOTE = "deleted-vaults"
_TYPE = "microsoft.keyvault/vaults"
_USUAL_DAYS = 90

DeletedVault = Mapping[str, Any]
"""`id`, `body` and `api_version` of the vault as it was; `location` in lower case without blanks; `deleted` and
`purged`: when it went, and when it goes for good.
"""


def keep_deleted(store: Store, resource: StoredResource, now: float) -> None:
    """Keep what is deleted, where it is a vault; every other type goes for good. `now` is in seconds since 1970."""
    target = parse(resource.id)
    if target.type.casefold() != _TYPE:
        return
    days = find_value(resource.body, ("properties", "softDeleteRetentionInDays"))
    deleted = datetime.fromtimestamp(now, UTC)
    grave = {
        "id": resource.id,
        "body": dict(resource.body),
        "api_version": resource.api_version,
        "location": normalize_region(resource.body.get("location")),
        "deleted": format_time(deleted),
        "purged": format_time(deleted + timedelta(days=days if isinstance(days, int) else _USUAL_DAYS)),
    }
    store.put_note(_NOTE, {**_all(store), _key(target.subscription, target.name): grave})


def find(store: Store, subscription: str, name: str) -> DeletedVault | None:
    """The deleted vault of a name."""
    return _all(store).get(_key(subscription, name))


def list_deleted(store: Store, subscription: str) -> list[DeletedVault]:
    """The deleted vaults of a subscription, by name."""
    rows = sorted(_all(store).items())
    return [grave for key, grave in rows if key.startswith(_key(subscription, ""))]


def remove_deleted(store: Store, subscription: str, name: str) -> None:
    """Purged or recovered: the name is free."""
    gone = _key(subscription, name)
    store.put_note(_NOTE, {key: grave for key, grave in _all(store).items() if key != gone})


def normalize_region(name: Any) -> str:
    """A region without the blanks and the case of its display name."""
    return str(name or "").replace(" ", "").casefold()


def show_deleted(grave: DeletedVault, target: Target) -> StoredResource:
    """A deleted vault as a resource that can be read; `target` is the path that asks for it, or for a list of them."""
    vault = parse(grave["id"])
    place = target.names[0] if target.names else grave["location"]
    properties = {
        "vaultId": grave["id"],
        "location": grave["location"],
        "tags": grave["body"].get("tags") or {},
        "deletionDate": grave["deleted"],
        "scheduledPurgeDate": grave["purged"],
    }
    if find_value(grave["body"], ("properties", "enablePurgeProtection")):
        properties["purgeProtectionEnabled"] = True
    scope = f"/subscriptions/{vault.subscription}/providers/Microsoft.KeyVault/locations"
    return StoredResource(
        id=f"{scope}/{place}/deletedVaults/{vault.name}",
        body={"properties": properties},
        api_version=grave["api_version"],
        number=0,
        created=grave["deleted"],
        changed=grave["deleted"],
    )


def _all(store: Store) -> Mapping[str, DeletedVault]:
    return store.note(_NOTE) or {}


def _key(subscription: str, name: str) -> str:
    return f"{subscription}/{name}".casefold()

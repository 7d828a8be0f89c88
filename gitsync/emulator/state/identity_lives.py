"""How often each managed identity was deleted: as in Azure, one that is created again has another principal."""

from __future__ import annotations

from gitsync.emulator.http.target import parse
from gitsync.emulator.state.store import Store, StoredResource

_IDENTITY = "microsoft.managedidentity/userassignedidentities"


def end_life(store: Store, resource: StoredResource) -> None:
    """Note the delete of a resource, if it is an identity."""
    target = parse(resource.id)
    if target.type.casefold() == _IDENTITY:
        store.put_note(_make_name(target.key), int(store.note(_make_name(target.key)) or 0) + 1)


def choose_seed(store: Store, path: str) -> str:
    """Choose the seed of a resource's ids: its own id, and for an identity the number of its deletions."""
    key = path.casefold()
    lives = int(store.note(_make_name(key)) or 0) if f"/{_IDENTITY}/" in key else 0
    return f"{key}#{lives}" if lives else key


def _make_name(key: str) -> str:
    return f"lives of {key}"

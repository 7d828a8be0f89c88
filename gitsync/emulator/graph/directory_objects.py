"""Finds, stores and deletes single objects of a directory collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator.graph.answers import refuse_missing
from gitsync.emulator.graph.directory_collections import DELETED_ITEMS, DirectoryCollection
from gitsync.emulator.graph.graph_delays import DELETED, compute_age, is_shown
from gitsync.emulator.graph.graph_rights import require_permission
from gitsync.emulator.http.messages import ServerRequest
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.provider_fields import make_uuid


def find_object(
    cloud: EmulatedCloud, collection: DirectoryCollection, object_id: str, delay: float = 0.0, *, is_write: bool = False
) -> StoredResource:
    """Find an object; refused if it does not exist, or not yet. A write never finds a deleted one."""
    stored = collection.look_up(cloud, object_id)
    can_be_seen = stored is not None and is_shown(cloud, stored) and compute_age(cloud, stored.created) >= delay
    if stored is None or not can_be_seen or (is_write and stored.state == DELETED):
        raise refuse_missing(object_id)
    return stored


def require_write(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection, stored: StoredResource
) -> None:
    """Refuse a write if the permissions for it are missing: some are for what the caller owns."""
    settings, rights = cloud.settings.graph, collection.rights
    is_owner = request.caller.object in stored.body.get("owners", ())
    require_permission(settings, rights.writes | rights.writes_owned if is_owner else rights.writes)


def put_new(
    cloud: EmulatedCloud, request: ServerRequest, path: str, id_name: str, body: Mapping[str, Any]
) -> StoredResource:
    """Store a new object below a path. Its id is the same in every repetition of the same events, and never that of an
    earlier object.
    """
    # Graph never gives an id twice, and a client that kept an old one must not meet a new object there.
    number = int(cloud.store.note(id_name) or 0) + 1
    cloud.store.put_note(id_name, number)
    object_path, now = f"{path}/{make_uuid(id_name, str(number))}", cloud.format_now()
    stored = StoredResource(
        id=object_path,
        body=body,
        api_version="v1.0",
        number=cloud.take_number(),
        created=now,
        changed=now,
        by=request.caller.actor,
    )
    cloud.store.put_resource(object_path.casefold(), stored)
    return stored


def remove_object(cloud: EmulatedCloud, collection: DirectoryCollection, stored: StoredResource) -> None:
    """Delete an object with what is below it, into the deleted items if Graph keeps it there."""
    key, below = stored.id.casefold(), cloud.store.below(f"{stored.id.casefold()}/")
    if collection.is_kept:
        kept_path = f"{DELETED_ITEMS}/{stored.id.rpartition('/')[2]}"
        body = {**stored.body, "@collection": collection.name}
        now = cloud.format_now()
        kept = replace(stored, id=kept_path, body=body, changed=now)
        cloud.store.put_resource(kept_path.casefold(), kept)
        _move(cloud, below, stored.id, kept_path)
    for part_key, _ in below:
        cloud.store.drop_resource(part_key)
    # Views that lag still show the object, so it stays; `is_shown` compares its age with the delay.
    if cloud.settings.graph.delays.gone:
        cloud.change(key, replace(stored, state=DELETED))
    else:
        cloud.store.drop_resource(key)


def restore_object(cloud: EmulatedCloud, collection: DirectoryCollection, kept: StoredResource) -> StoredResource:
    """Restore an object from the deleted items, with what was below it."""
    path = f"{collection.path}/{kept.id.rpartition('/')[2]}"
    below = cloud.store.below(f"{kept.id.casefold()}/")
    body = {name: value for name, value in kept.body.items() if name != "@collection"}
    restored = replace(kept, id=path, body=body, changed=cloud.format_now())
    cloud.store.put_resource(path.casefold(), restored)
    _move(cloud, below, kept.id, path)
    forget_object(cloud, kept)
    return restored


def forget_object(cloud: EmulatedCloud, kept: StoredResource) -> None:
    """Delete an object from the deleted items, so that it is gone for good."""
    for key, _ in cloud.store.below(f"{kept.id.casefold()}/"):
        cloud.store.drop_resource(key)
    cloud.store.drop_resource(kept.id.casefold())


def _move(cloud: EmulatedCloud, below: list[tuple[str, StoredResource]], before: str, path: str) -> None:
    for _, stored in below:
        moved_path = path + stored.id[len(before) :]
        cloud.store.put_resource(moved_path.casefold(), replace(stored, id=moved_path))

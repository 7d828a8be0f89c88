"""The deleted items of a directory, `/v1.0/directory/deletedItems`: applications and principals stay for 30 days."""

from __future__ import annotations

from gitsync.emulator.graph.answers import refuse_graph, refuse_missing
from gitsync.emulator.graph.directory_collections import (
    APPLICATIONS,
    COLLECTIONS,
    SERVICE_PRINCIPALS,
    DirectoryCollection,
    list_deleted,
    show_deleted,
)
from gitsync.emulator.graph.directory_objects import forget_object, require_write, restore_object
from gitsync.emulator.graph.graph_filters import make_list, read_filter, refuse_other_methods
from gitsync.emulator.graph.graph_rights import require_permission
from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource


def answer_deleted(cloud: EmulatedCloud, request: ServerRequest, words: tuple[str, ...]) -> ServerResponse:
    """Answer a request for what is below `/directory/deletedItems`. Raises `Refused` if Graph refuses it."""
    collection = _find_by_type(words[0]) if len(words) == 1 else None
    if collection is not None:
        return _list(cloud, request, collection)
    if not words or (len(words) > 1 and words[1:] != ("restore",)):
        raise refuse_graph(400, "BadRequest", f"Resource not found for the segment '{request.target.name}'.")
    return _answer_one(cloud, request, words)


def _list(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    refuse_other_methods(request, "GET")
    require_permission(cloud.settings.graph, collection.rights.reads)
    rows = list(list_deleted(cloud, collection))
    wanted = read_filter(request, collection.filtered)
    return make_list(cloud, request, rows, lambda stored: show_deleted(collection, stored), wanted)


def _answer_one(cloud: EmulatedCloud, request: ServerRequest, words: tuple[str, ...]) -> ServerResponse:
    collection, kept = _find_kept(cloud, words[0])
    if words[1:] == ("restore",):
        refuse_other_methods(request, "POST")
        require_write(cloud, request, collection, kept)
        restored = restore_object(cloud, collection, kept)
        return ServerResponse(200, collection.show(restored))
    refuse_other_methods(request, "GET", "DELETE")
    if request.method == "GET":
        require_permission(cloud.settings.graph, collection.rights.reads)
        return ServerResponse(200, show_deleted(collection, kept))
    require_write(cloud, request, collection, kept)
    forget_object(cloud, kept)
    return ServerResponse(204)


def _find_kept(cloud: EmulatedCloud, object_id: str) -> tuple[DirectoryCollection, StoredResource]:
    # Security groups are deleted for good at once.
    for collection in (APPLICATIONS, SERVICE_PRINCIPALS):
        for _, kept in list_deleted(cloud, collection):
            if kept.id.rpartition("/")[2].casefold() == object_id.casefold():
                return collection, kept
    raise refuse_missing(object_id)


def _find_by_type(word: str) -> DirectoryCollection | None:
    return next((row for row in COLLECTIONS.values() if row.type.casefold() == word.casefold()), None)

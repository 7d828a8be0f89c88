"""The owners and members of an object: ids of other objects, which a list of `$ref` adds and removes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.emulator.graph.answers import refuse_graph, refuse_missing, refuse_value
from gitsync.emulator.graph.directory_collections import COLLECTIONS, DirectoryCollection
from gitsync.emulator.graph.directory_objects import find_object, require_write
from gitsync.emulator.graph.graph_filters import refuse_other_methods
from gitsync.emulator.graph.graph_rights import OF_MEMBERS, require_permission
from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

_REF: Final = "$ref"
_ID: Final = "@odata.id"


def answer_links(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection, words: tuple[str, ...]
) -> ServerResponse:
    """Answer a request for the owners or the members of an object; `words` are those after the collection. Raises
    `Refused` if Graph refuses it.
    """
    object_id, name, *rest = words
    delays = cloud.settings.graph.delays
    if not rest:
        refuse_other_methods(request, "GET")
        rights = OF_MEMBERS if name == "members" else collection.rights
        require_permission(cloud.settings.graph, rights.reads)
        stored = find_object(cloud, collection, object_id, delays.read)
        return ServerResponse(200, {"value": [_show(cloud, linked) for linked in stored.body.get(name, [])]})
    stored = find_object(cloud, collection, object_id, delays.patch, is_write=True)
    if name == "members":
        require_permission(cloud.settings.graph, OF_MEMBERS.writes)
    else:
        require_write(cloud, request, collection, stored)
    if rest == [_REF]:
        refuse_other_methods(request, "POST")
        return _add(cloud, request, stored, name)
    refuse_other_methods(request, "DELETE")
    return _remove(cloud, stored, name, rest[0])


def _add(cloud: EmulatedCloud, request: ServerRequest, stored: StoredResource, name: str) -> ServerResponse:
    link = request.body.get(_ID) if isinstance(request.body, Mapping) else None
    linked = str(link).rpartition("/")[2]
    if not isinstance(link, str) or not linked:
        raise refuse_value(_ID, f"Invalid value specified for property '{_ID}'.")
    before = [str(entry) for entry in stored.body.get(name, [])]
    if linked.casefold() in {entry.casefold() for entry in before}:
        text = f"One or more added object references already exist for the following modified properties: '{name}'."
        raise refuse_graph(400, "Request_BadRequest", text)
    cloud.change(stored.id.casefold(), replace(stored, body={**stored.body, name: [*before, linked]}))
    return ServerResponse(204)


def _remove(cloud: EmulatedCloud, stored: StoredResource, name: str, linked: str) -> ServerResponse:
    before = [str(entry) for entry in stored.body.get(name, [])]
    after = [entry for entry in before if entry.casefold() != linked.casefold()]
    if len(after) == len(before):
        raise refuse_missing(linked)
    cloud.change(stored.id.casefold(), replace(stored, body={**stored.body, name: after}))
    return ServerResponse(204)


def _show(cloud: EmulatedCloud, linked: Any) -> dict[str, Any]:
    """Show an object that is linked. One that the emulator does not have is a principal or a user of somebody else."""
    for collection in COLLECTIONS.values():
        stored = collection.look_up(cloud, str(linked))
        if stored is not None:
            return {"@odata.type": f"#{collection.type}", **collection.show(stored)}
    return {"@odata.type": "#microsoft.graph.servicePrincipal", "id": linked}

"""The requests of Microsoft Graph that the emulator answers, and the verbs of its objects.

An object is stored as a resource below the path of its collection, so moves, faults and state files include it. A view
of it may lag behind: a new object is not found yet, and a deleted one is still shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.emulator.graph.answers import refuse_graph
from gitsync.emulator.graph.deleted_items import answer_deleted
from gitsync.emulator.graph.directory_collections import (
    APPLICATIONS,
    COLLECTIONS,
    GROUPS,
    SERVICE_PRINCIPALS,
    DirectoryCollection,
    find_application,
)
from gitsync.emulator.graph.directory_objects import find_object, put_new, remove_object, require_write
from gitsync.emulator.graph.graph_delays import compute_age
from gitsync.emulator.graph.graph_filters import make_list, read_filter
from gitsync.emulator.graph.graph_rights import ROLES_WRITE, require_permission
from gitsync.emulator.graph.links import answer_links, bind
from gitsync.emulator.graph.parts import (
    ASSIGNED_TO,
    ASSIGNMENTS,
    CREDENTIALS,
    answer_assignments,
    answer_credentials,
    answer_roles,
    list_roles,
)
from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

_Part = Callable[[EmulatedCloud, ServerRequest, tuple[str, ...]], ServerResponse]

_PARTS: Final[Mapping[tuple[str, str], _Part]] = {
    (APPLICATIONS.name, CREDENTIALS): answer_credentials,
    (SERVICE_PRINCIPALS.name, ASSIGNED_TO): answer_assignments,
    (SERVICE_PRINCIPALS.name, ASSIGNMENTS): answer_assignments,
    (SERVICE_PRINCIPALS.name, "appRoles"): answer_roles,
}
"""By the collection of an object, and the word after its id."""

_LINKS: Final = frozenset({(GROUPS.name, "members"), *((name, "owners") for name in COLLECTIONS)})


def answer_graph(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a request to Graph. Raises `Refused` if Graph refuses it."""
    first, *rest = request.target.path.split("/")[2:] or [""]
    words = tuple(rest)
    if first == "directory" and words[:1] == ("deletedItems",):
        return answer_deleted(cloud, request, words[1:])
    collection = COLLECTIONS.get(first)
    if collection is not None and len(words) > 1:
        if part := _PARTS.get((first, words[1])):
            return part(cloud, request, words)
        if (first, words[1]) in _LINKS:
            return answer_links(cloud, request, collection, words)
    verb = _VERBS.get((len(words), request.method)) if collection is not None else None
    if verb is None or collection is None:
        raise refuse_graph(400, "BadRequest", f"Resource not found for the segment '{request.target.name}'.")
    return verb(cloud, request, collection)


def _list(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    require_permission(cloud.settings.graph, collection.rights.reads)
    wanted = read_filter(request, collection.filtered)
    delay = cloud.settings.graph.delays.filter
    rows = collection.list_shown(cloud)
    # A filter reads an index that is later than the read of an object by its id.
    old_enough = [(key, stored) for key, stored in rows if compute_age(cloud, stored.created) >= delay]
    return make_list(cloud, request, old_enough, lambda stored: _show(cloud, collection, stored), wanted)


def _create(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    require_permission(cloud.settings.graph, collection.rights.creates)
    body = collection.check_new(request.body)
    if body.get("isAssignableToRole"):
        require_permission(cloud.settings.graph, ROLES_WRITE)
    collection.refuse_taken(cloud, body, "")
    if collection is SERVICE_PRINCIPALS and "displayName" not in body:
        application = find_application(cloud, body["appId"])
        body = {**body, "displayName": application.body["displayName"] if application else ""}
    # An application owns what it creates, except for groups.
    if request.caller.object and collection is not GROUPS:
        body = {**body, "owners": [request.caller.object]}
    stored = put_new(cloud, request, collection.path, collection.make_id_name(body), body)
    return ServerResponse(
        201, _show_one(cloud, request, collection, stored), {"Location": f"{request.base}{stored.id}"}
    )


def _read(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    require_permission(cloud.settings.graph, collection.rights.reads)
    stored = find_object(cloud, collection, request.target.name, cloud.settings.graph.delays.read)
    return ServerResponse(200, _show_one(cloud, request, collection, stored))


def _update(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    body = bind(cloud, request, collection)
    if isinstance(body, ServerResponse):
        return body
    stored = _find_for_write(cloud, request, collection, cloud.settings.graph.delays.patch)
    changes = collection.check_change(body, stored.body)
    # With what stays: a PATCH of one member may make another one a duplicate.
    collection.refuse_taken(cloud, {**stored.body, **changes}, stored.id)
    cloud.change(request.target.key, replace(stored, body={**stored.body, **changes}))
    return ServerResponse(204)


def _delete(cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection) -> ServerResponse:
    stored = _find_for_write(cloud, request, collection, cloud.settings.graph.delays.delete)
    if collection is APPLICATIONS:  # its principal in the tenant goes along
        shown = APPLICATIONS.show(stored)
        for _, principal in SERVICE_PRINCIPALS.list_shown(cloud):
            if principal.body.get("appId") == shown["appId"]:
                remove_object(cloud, SERVICE_PRINCIPALS, principal)
    remove_object(cloud, collection, stored)
    return ServerResponse(204)


_VERBS: Final[
    Mapping[tuple[int, str], Callable[[EmulatedCloud, ServerRequest, DirectoryCollection], ServerResponse]]
] = {
    (0, "GET"): _list,
    (0, "POST"): _create,
    (1, "GET"): _read,
    (1, "PATCH"): _update,
    (1, "DELETE"): _delete,
}
"""By the number of words after the collection, and by method."""


def _find_for_write(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection, delay: float
) -> StoredResource:
    """Find an object that a request may write."""
    settings, rights = cloud.settings.graph, collection.rights
    # Somebody without any of them does not learn whether the object exists.
    require_permission(settings, rights.writes | rights.writes_owned)
    stored = find_object(cloud, collection, request.target.name, delay, is_write=True)
    require_write(cloud, request, collection, stored)
    if stored.body.get("isAssignableToRole"):
        require_permission(settings, ROLES_WRITE)
    return stored


def _show(cloud: EmulatedCloud, collection: DirectoryCollection, stored: StoredResource) -> dict[str, Any]:
    shown = collection.show(stored)
    return {**shown, "appRoles": list_roles(cloud, stored)} if collection is SERVICE_PRINCIPALS else shown


def _show_one(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection, stored: StoredResource
) -> dict[str, Any]:
    context = f"{request.base}/v1.0/$metadata#{collection.name}/$entity"
    return {"@odata.context": context, **_show(cloud, collection, stored)}

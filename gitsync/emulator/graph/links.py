"""The owners and members of an object: ids of other objects, which a list of `$ref` adds and removes.

A list may lag behind: a change does not show at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitsync.emulator.graph.answers import refuse_graph, refuse_missing, refuse_value
from gitsync.emulator.graph.directory_collections import COLLECTIONS, DirectoryCollection
from gitsync.emulator.graph.directory_objects import find_object, require_write
from gitsync.emulator.graph.graph_bodies import LINK_CHANGES, LINKS
from gitsync.emulator.graph.graph_delays import compute_age
from gitsync.emulator.graph.graph_filters import refuse_other_methods
from gitsync.emulator.graph.graph_rights import OF_MEMBERS, ROLES_WRITE, require_permission
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, make_page
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

_REF: Final = "$ref"
_ID: Final = "@odata.id"
_BIND: Final = "@odata.bind"
# The limit of Microsoft Graph for one PATCH
_MOST_BOUND: Final = 20
_MEMBERS: Final = "members"


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
        rights = OF_MEMBERS if name == _MEMBERS else collection.rights
        require_permission(cloud.settings.graph, rights.reads)
        return _list(cloud, request, find_object(cloud, collection, object_id, delays.read), name)
    stored = find_object(cloud, collection, object_id, delays.patch, is_write=True)
    _require_write(cloud, request, collection, stored, name)
    if rest == [_REF]:
        refuse_other_methods(request, "POST")
        link = request.body.get(_ID) if isinstance(request.body, Mapping) else None
        _add(cloud, stored, name, [_read_id(link, _ID)])
        return ServerResponse(204)
    refuse_other_methods(request, "DELETE")
    return _remove(cloud, stored, name, rest[0])


def bind(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection
) -> Mapping[str, Any] | ServerResponse:
    """Add the objects that the body of a PATCH binds. Returns its other members, or the answer if there are none."""
    body = dict(request.body) if isinstance(request.body, Mapping) else {}
    bound = {name: body.pop(f"{name}{_BIND}") for name in LINKS if f"{name}{_BIND}" in body}
    for name, urls in bound.items():
        delay = cloud.settings.graph.delays.patch
        stored = find_object(cloud, collection, request.target.name, delay, is_write=True)
        _require_write(cloud, request, collection, stored, name)
        if not isinstance(urls, list) or not 0 < len(urls) <= _MOST_BOUND:
            raise refuse_value(f"{name}{_BIND}", f"At most {_MOST_BOUND} references are allowed.")
        _add(cloud, stored, name, [_read_id(url, name) for url in urls])
    return ServerResponse(204) if bound and not body else body


def _require_write(
    cloud: EmulatedCloud, request: ServerRequest, collection: DirectoryCollection, stored: StoredResource, name: str
) -> None:
    if name == _MEMBERS:
        require_permission(cloud.settings.graph, OF_MEMBERS.writes)
    else:
        require_write(cloud, request, collection, stored)
    if stored.body.get("isAssignableToRole"):
        require_permission(cloud.settings.graph, ROLES_WRITE)


def _list(cloud: EmulatedCloud, request: ServerRequest, stored: StoredResource, name: str) -> ServerResponse:
    """Make a page of the links, as they were before the changes that do not show yet."""
    shown, delay = (
        {str(entry).casefold(): str(entry) for entry in stored.body.get(name, [])},
        cloud.settings.graph.delays,
    )
    # The newest first: each step undoes one change, back to what a late view shows.
    for change in reversed(stored.body.get(LINK_CHANGES, [])):
        if change["name"] != name or compute_age(cloud, change["at"]) >= delay.links:
            continue
        if change["added"]:
            shown.pop(change["id"].casefold(), None)
        else:
            shown[change["id"].casefold()] = change["id"]
    rows = sorted(shown.items())
    answer = make_page(request, rows, lambda linked: _show(cloud, linked), cloud.settings.graph.page_size)
    next_link = answer.body.pop("nextLink", None)
    return ServerResponse(200, {**({"@odata.nextLink": next_link} if next_link else {}), **answer.body})


def _add(cloud: EmulatedCloud, stored: StoredResource, name: str, ids: Sequence[str]) -> None:
    before = [str(entry) for entry in stored.body.get(name, [])]
    for linked in ids:
        _require_visible(cloud, linked)
        if linked.casefold() in {entry.casefold() for entry in before}:
            text = f"One or more added object references already exist for the following modified properties: '{name}'."
            raise refuse_graph(400, "Request_BadRequest", text)
    _change(cloud, stored, name, [*before, *ids], dict.fromkeys(ids, True))


def _require_visible(cloud: EmulatedCloud, linked: str) -> None:
    """Refuse an object that is not shown yet, or no longer. One that the emulator does not have may be a user."""
    for collection in COLLECTIONS.values():
        if collection.look_up(cloud, linked) is not None:
            find_object(cloud, collection, linked, cloud.settings.graph.delays.read, is_write=True)


def _remove(cloud: EmulatedCloud, stored: StoredResource, name: str, linked: str) -> ServerResponse:
    before = [str(entry) for entry in stored.body.get(name, [])]
    after = [entry for entry in before if entry.casefold() != linked.casefold()]
    if len(after) == len(before):
        raise refuse_missing(linked)
    _change(cloud, stored, name, after, {linked: False})
    return ServerResponse(204)


def _change(
    cloud: EmulatedCloud, stored: StoredResource, name: str, after: Sequence[str], changed: Mapping[str, bool]
) -> None:
    """Store the links, and when each was changed if lists are to lag."""
    body = {**stored.body, name: list(after)}
    if cloud.settings.graph.delays.links:
        now = cloud.format_now()
        new = [{"name": name, "id": linked, "added": added, "at": now} for linked, added in changed.items()]
        body[LINK_CHANGES] = [*body.get(LINK_CHANGES, []), *new]
    cloud.change(stored.id.casefold(), replace(stored, body=body))


def _read_id(url: object, name: str) -> str:
    """Read the id in the URL of an object."""
    linked = str(url).rpartition("/")[2]
    if not isinstance(url, str) or not linked:
        raise refuse_value(name, f"Invalid value specified for property '{name}'.")
    return linked


def _show(cloud: EmulatedCloud, linked: str) -> dict[str, Any]:
    """Show an object that is linked. One that the emulator does not have is a principal or a user of somebody else."""
    for collection in COLLECTIONS.values():
        stored = collection.look_up(cloud, linked)
        if stored is not None:
            return {"@odata.type": f"#{collection.type}", **collection.show(stored)}
    return {"@odata.type": "#microsoft.graph.servicePrincipal", "id": linked}

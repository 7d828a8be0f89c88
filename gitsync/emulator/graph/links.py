"""The relations of a group: `/v1.0/groups/ID/members` and `owners`.

A link is stored as a resource at a path of its own, so that lists of groups do not have it. Ids of objects that the
emulator does not have, such as users, are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitsync.emulator.graph.answers import LINK_READS, LINK_WRITES, refuse_graph, refuse_missing, require_permission
from gitsync.emulator.graph.moments import compute_age
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, make_page
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

RELATIONS = ("members", "owners")
BINDING = "@odata.bind"
_REFERENCE = "$ref"
_LINKS = "/v1.0/directoryLinks"
_MOST_BOUND = 20
_DELETED = "Deleted"


def answer_link(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse | None:
    """Answer a request to a relation of an object that exists; None if the path is not one of these."""
    types, names = request.target.types, request.target.names
    is_relation = len(types) > 1 and types[1] in RELATIONS
    verb = _VERBS.get((names[1:2] == (_REFERENCE,), len(names), len(types), request.method)) if is_relation else None
    return verb(cloud, request) if verb else None


def bind(cloud: EmulatedCloud, request: ServerRequest, path: str) -> dict[str, Any]:
    """Add the objects that the body of a PATCH binds, and return its other members."""
    body = dict(request.body) if isinstance(request.body, Mapping) else {}
    for relation in RELATIONS:
        urls = body.pop(f"{relation}{BINDING}", None)
        if urls is None:
            continue
        require_permission(cloud.settings.graph, LINK_WRITES)
        if not isinstance(urls, list) or not 0 < len(urls) <= _MOST_BOUND:
            raise refuse_graph(400, "Request_BadRequest", f"At most {_MOST_BOUND} references are allowed.")
        _add(cloud, request, f"{path}/{relation}", [_read_id(url) for url in urls])
    return body


def _list(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, LINK_READS)
    rows = [(key, link) for key, link in cloud.store.below(f"{_LINKS}{request.target.key[5:]}/".casefold())]
    shown = [(key, link) for key, link in rows if _is_shown(cloud, link)]
    answer = make_page(request, shown, _show, cloud.settings.graph.page_size)
    next_link = answer.body.pop("nextLink", None)
    link = {"@odata.nextLink": next_link} if next_link else {}
    return ServerResponse(
        200, {"@odata.context": f"{request.base}/v1.0/$metadata#directoryObjects", **link, **answer.body}
    )


def _add_one(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, LINK_WRITES)
    url = request.body.get("@odata.id") if isinstance(request.body, Mapping) else None
    _add(cloud, request, request.target.path.rpartition("/")[0], [_read_id(url)])
    return ServerResponse(204)


def _add(cloud: EmulatedCloud, request: ServerRequest, path: str, ids: Sequence[str]) -> None:
    keys = {object_id: f"{_LINKS}{path[5:]}/{object_id}".casefold() for object_id in ids}
    for object_id, key in keys.items():
        _require_object(cloud, object_id)
        link = cloud.store.resource(key)
        if link is not None and link.state != _DELETED:
            message = "One or more added object references already exist for the following modified properties: "
            raise refuse_graph(400, "Request_BadRequest", f"{message}'{path.rpartition('/')[2]}'.")
    now = cloud.format_now()
    for key in keys.values():
        made = StoredResource(
            id=key,
            body={},
            api_version="v1.0",
            number=cloud.take_number(),
            created=now,
            changed=now,
            by=request.caller.actor,
        )
        cloud.store.put_resource(key, made)


def _require_object(cloud: EmulatedCloud, object_id: str) -> None:
    """Refuse the id of a group that is not shown yet; any other may be that of an object outside of the emulator."""
    group = cloud.store.resource(f"/v1.0/groups/{object_id}".casefold())
    is_new = group is not None and compute_age(cloud, group.created) < cloud.settings.graph.delays.read
    if is_new or (group is not None and group.state == _DELETED):
        raise refuse_missing(object_id)


def _remove(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, LINK_WRITES)
    key = f"{_LINKS}{request.target.key[5:]}".removesuffix(f"/{_REFERENCE}").casefold()
    link = cloud.store.resource(key)
    if link is None or link.state == _DELETED:
        raise refuse_missing(request.target.names[1])
    if cloud.settings.graph.delays.links:
        cloud.change(key, replace(link, state=_DELETED))
    else:
        cloud.store.drop_resource(key)
    return ServerResponse(204)


_VERBS: Mapping[tuple[bool, int, int, str], Callable[[EmulatedCloud, ServerRequest], ServerResponse]] = {
    (False, 1, 2, "GET"): _list,
    (True, 2, 2, "POST"): _add_one,
    (False, 2, 3, "DELETE"): _remove,
}
"""By whether the path ends in `$ref` below the relation, the numbers of its names and types, and the method."""


def _is_shown(cloud: EmulatedCloud, link: StoredResource) -> bool:
    delay = cloud.settings.graph.delays.links
    if link.state == _DELETED:
        return compute_age(cloud, link.changed) < delay
    return compute_age(cloud, link.created) >= delay


def _show(link: StoredResource) -> dict[str, Any]:
    return {"@odata.type": "#microsoft.graph.directoryObject", "id": link.id.rpartition("/")[2]}


def _read_id(url: object) -> str:
    """Read the id in the URL of an object."""
    before, _, object_id = str(url).rpartition("/")
    if not before.endswith("/directoryObjects") or not object_id:
        raise refuse_graph(400, "Request_BadRequest", "Invalid object identifier.")
    return object_id

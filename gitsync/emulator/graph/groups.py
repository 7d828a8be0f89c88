"""The verbs of `/v1.0/groups`.

A group is stored as a resource below that path, so moves, faults and state files include it. A view of it may lag
behind: a new group is not found yet, and a deleted one is still shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator.graph.answers import (
    CREATES,
    READS,
    WRITES,
    WRITES_ROLES,
    refuse_graph,
    refuse_missing,
    refuse_value,
    require_permission,
)
from gitsync.emulator.graph.group_bodies import UNIFIED, check_change, check_new_group, show_group
from gitsync.emulator.graph.links import answer_link, bind
from gitsync.emulator.graph.moments import compute_age
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, make_page
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.provider_fields import make_uuid

GROUPS = "/v1.0/groups"
_DELETED = "Deleted"
_CLAUSE = r"(\w+) eq ('(?:[^']|'')*'|true|false)"
_FILTER = re.compile(rf"{_CLAUSE}(?: and {_CLAUSE})*")
_FILTERED = frozenset({"displayName", "mailNickname", "securityEnabled", "uniqueName"})


def answer_graph(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a request to Graph. Raises `Refused` if Graph refuses it."""
    types, names = request.target.types, request.target.names
    verb = _VERBS.get((len(names), request.method)) if types == ("groups",) else None
    if verb is None and types[:1] == ("groups",) and len(types) > 1 and names:
        delays = cloud.settings.graph.delays
        is_read = request.method == "GET"
        _find_group(cloud, names[0], delays.read if is_read else delays.patch, is_write=not is_read)
        if answer := answer_link(cloud, request):
            return answer
    if verb is None:
        raise refuse_graph(400, "BadRequest", f"Resource not found for the segment '{request.target.name}'.")
    return verb(cloud, request)


def _list(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, READS)
    wanted = dict(_read_filter(request.query.get("$filter", "")))
    delay = cloud.settings.graph.delays.filter
    rows = [(key, stored) for key, stored in _list_shown(cloud) if compute_age(cloud, stored.created) >= delay]
    rows = [(key, stored) for key, stored in rows if _matches(show_group(stored), wanted)]
    answer = make_page(request, rows, show_group, cloud.settings.graph.page_size)
    next_link = answer.body.pop("nextLink", None)
    link = {"@odata.nextLink": next_link} if next_link else {}
    return ServerResponse(200, {"@odata.context": f"{request.base}/v1.0/$metadata#groups", **link, **answer.body})


def _create(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, CREATES)
    group = check_new_group(request.body)
    if group.get("isAssignableToRole"):
        require_permission(cloud.settings.graph, WRITES_ROLES)
    _refuse_taken(cloud, group, "")
    path = f"{GROUPS}/{_take_id(cloud, group)}"
    now = cloud.format_now()
    stored = StoredResource(
        id=path,
        body=group,
        api_version="v1.0",
        number=cloud.take_number(),
        created=now,
        changed=now,
        by=request.caller.actor,
    )
    cloud.store.put_resource(path.casefold(), stored)
    return ServerResponse(201, _show_one(request, stored), {"Location": f"{request.base}{path}"})


def _read(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, READS)
    stored = _find(cloud, request, cloud.settings.graph.delays.read)
    return ServerResponse(200, _show_one(request, stored))


def _update(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    stored = _find(cloud, request, cloud.settings.graph.delays.patch, is_write=True)
    body = bind(cloud, request, request.target.path)
    if not body and request.body:
        return ServerResponse(204)
    require_permission(cloud.settings.graph, WRITES)
    changes = check_change(body, stored.body)
    _refuse_taken(cloud, {**stored.body, **changes}, stored.id)
    cloud.change(request.target.key, replace(stored, body={**stored.body, **changes}))
    return ServerResponse(204)


def _delete(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    require_permission(cloud.settings.graph, WRITES)
    stored = _find(cloud, request, cloud.settings.graph.delays.delete, is_write=True)
    if cloud.settings.graph.delays.gone:
        cloud.change(request.target.key, replace(stored, state=_DELETED))
    else:
        cloud.store.drop_resource(request.target.key)
    return ServerResponse(204)


_VERBS: Mapping[tuple[int, str], Callable[[EmulatedCloud, ServerRequest], ServerResponse]] = {
    (0, "GET"): _list,
    (0, "POST"): _create,
    (1, "GET"): _read,
    (1, "PATCH"): _update,
    (1, "DELETE"): _delete,
}
"""By the number of names in the path, and by method."""


def _find(cloud: EmulatedCloud, request: ServerRequest, delay: float, *, is_write: bool = False) -> StoredResource:
    """Find a group; refused if it does not exist, or not yet. A write needs its permission, and never finds a deleted
    group.
    """
    return _find_group(cloud, request.target.name, delay, is_write=is_write)


def _find_group(cloud: EmulatedCloud, group_id: str, delay: float, *, is_write: bool = False) -> StoredResource:
    stored = cloud.store.resource(f"{GROUPS}/{group_id}".casefold())
    is_shown = stored is not None and _is_shown(cloud, stored) and compute_age(cloud, stored.created) >= delay
    if stored is None or not is_shown or (is_write and stored.state == _DELETED):
        raise refuse_missing(group_id)
    if is_write and stored.body.get("isAssignableToRole"):
        require_permission(cloud.settings.graph, WRITES_ROLES)
    return stored


def _list_shown(cloud: EmulatedCloud) -> Iterator[tuple[str, StoredResource]]:
    return ((key, stored) for key, stored in cloud.store.below(f"{GROUPS}/") if _is_shown(cloud, stored))


def _is_shown(cloud: EmulatedCloud, stored: StoredResource) -> bool:
    return stored.state != _DELETED or compute_age(cloud, stored.changed) < cloud.settings.graph.delays.gone


def _show_one(request: ServerRequest, stored: StoredResource) -> dict[str, Any]:
    return {"@odata.context": f"{request.base}/v1.0/$metadata#groups/$entity", **show_group(stored)}


def _take_id(cloud: EmulatedCloud, group: Mapping[str, Any]) -> str:
    """Make the id of a new group: the same in every repetition of the same events, and never that of an earlier
    group.
    """
    name = f"graph:{group['displayName']}:{group['mailNickname']}"
    number = int(cloud.store.note(name) or 0) + 1
    cloud.store.put_note(name, number)
    return make_uuid(name, str(number))


def _refuse_taken(cloud: EmulatedCloud, group: Mapping[str, Any], path: str) -> None:
    """Refuse the nickname of another Microsoft 365 group; names of security groups need not be unique."""
    if UNIFIED not in group.get("groupTypes", []):
        return
    nickname = str(group["mailNickname"]).casefold()
    others = (stored.body for _, stored in _list_shown(cloud) if stored.id != path)
    if any(UNIFIED in other.get("groupTypes", []) and other["mailNickname"].casefold() == nickname for other in others):
        text = "Another object with the same value for property mailNickname already exists."
        raise refuse_value("mailNickname", text, "ObjectConflict")


def _read_filter(text: str) -> Iterator[tuple[str, str | bool]]:
    """Yield the names and values of a filter; refused if Graph does not support it."""
    if not text:
        return
    if not _FILTER.fullmatch(text):
        raise refuse_graph(400, "BadRequest", f"Invalid filter clause: There is a syntax error in '{text}'.")
    for name, literal in re.findall(_CLAUSE, text):
        if name not in _FILTERED:
            raise refuse_graph(400, "Request_UnsupportedQuery", f"Unsupported property filter clause for '{name}'.")
        yield name, literal[1:-1].replace("''", "'") if literal[0] == "'" else literal == "true"


def _matches(group: Mapping[str, Any], wanted: Mapping[str, str | bool]) -> bool:
    """Return whether a group has the values of a filter; texts compare without case."""
    return all(
        group[name].casefold() == value.casefold()
        if isinstance(value, str) and isinstance(group[name], str)
        else group[name] == value
        for name, value in wanted.items()
    )

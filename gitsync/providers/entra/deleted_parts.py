"""What Entra ID deletes along with an application: its service principal, federated credentials and app role
assignments, also those that gitsync did not make.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from gitsync.providers.entra.directory_kind import ObjectSearch
from gitsync.providers.entra.graph_pages import iterate_entries
from gitsync.providers.entra.graph_requests import make_read, make_search, read_object
from gitsync.providers.entra.object_access import ObjectAccess
from gitsync.providers.entra.part_access import Entry, PartAccess
from gitsync.providers.entra.part_requests import (
    APPLICATIONS,
    ASSIGNED,
    ASSIGNMENTS,
    CREDENTIALS,
    PRINCIPALS,
    make_path,
)
from gitsync.providers.entra.principal_conversion import SERVICE_PRINCIPAL


class DeletedParts(NamedTuple):
    """What goes along, in texts for people."""

    principal_id: str = ""  # the object id of the service principal, "" without one
    principal: str = ""  # its name
    credentials: tuple[str, ...] = ()  # names
    roles: tuple[str, ...] = ()  # the APIs in which the principal has app roles, once for each role
    given: tuple[str, ...] = ()  # the principals that have app roles of the application, likewise


async def list_going_along(access: ObjectAccess) -> DeletedParts:
    """List what goes along with an application. Raises ArmError if Graph gives no usable answer."""
    object_id, part = access.known.object_id, PartAccess(access)
    request = make_read(access.kind, access.resource.arm_id, object_id)
    answer = await access.send(request)
    if answer.status == 404:
        return DeletedParts()
    application = read_object(access.kind, answer, request, object_id)
    credentials = await part.list_entries(make_path(APPLICATIONS, object_id, CREDENTIALS)) or []
    names = tuple(str(entry.get("name")) for entry in credentials)
    search = ObjectSearch("appId", str(application.get("appId")))
    found = iterate_entries(
        PRINCIPALS,
        partial(make_search, SERVICE_PRINCIPAL, access.resource.arm_id, search),
        access.send,
        access.graph.cloud,
    )
    principals = [entry async for entry, _, _ in found]
    if not principals:
        return DeletedParts(credentials=names)
    principal_id = str(principals[0].get("id"))
    roles = await part.list_entries(make_path(PRINCIPALS, principal_id, ASSIGNMENTS)) or []
    given = await part.list_entries(make_path(PRINCIPALS, principal_id, ASSIGNED)) or []
    return DeletedParts(
        principal_id,
        str(principals[0].get("displayName")),
        names,
        _name(roles, "resourceDisplayName", "resourceId"),
        _name(given, "principalDisplayName", "principalId"),
    )


def _name(entries: list[Entry], name: str, other: str) -> tuple[str, ...]:
    return tuple(str(entry.get(name) or entry.get(other)) for entry in entries)

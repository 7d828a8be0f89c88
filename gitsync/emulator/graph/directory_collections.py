"""The collections of directory objects: a row for each, with all that differs from one kind of objects to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitsync.emulator.graph.answers import refuse_graph, refuse_value
from gitsync.emulator.graph.application_bodies import (
    check_application_change,
    check_new_application,
    check_new_principal,
    check_principal_change,
    read_app_id,
    show_application,
    show_principal,
)
from gitsync.emulator.graph.first_party import FIRST_PARTY
from gitsync.emulator.graph.graph_delays import compute_age, is_shown
from gitsync.emulator.graph.graph_rights import OF_APPLICATIONS, OF_GROUPS, GraphRights
from gitsync.emulator.graph.group_bodies import UNIFIED, check_change, check_new_group, show_group
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

DELETED_ITEMS: Final = "/v1.0/directory/deletedItems"
KEPT_FOR: Final = 30 * 86400.0
"""Seconds after which a deleted object is gone for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryCollection:
    """A kind of directory objects."""

    name: str  # the word in the path
    rights: GraphRights  # the permissions for its requests
    check_new: Callable[[Any], dict[str, Any]]  # checks the body of a POST; `Refused` if Graph would refuse it
    check_change: Callable[[Any, Mapping[str, Any]], dict[str, Any]]  # the same for a PATCH, with the body before
    refuse_taken: Callable[[EmulatedCloud, Mapping[str, Any], str], None]
    """Raises `Refused` if another object than that at a path, "" for a new one, has a value that must be unique."""

    show: Callable[[StoredResource], dict[str, Any]]  # the object as Graph shows it
    make_id_name: Callable[[Mapping[str, Any]], str]  # what the id of a new object follows from
    filtered: frozenset[str]  # the members that a filter may name
    is_kept: bool = True  # a deleted object can be restored for 30 days

    @property
    def path(self) -> str:
        return f"/v1.0/{self.name}"

    @property
    def type(self) -> str:
        """The name of the type in Graph, such as `microsoft.graph.application`."""
        return f"microsoft.graph.{self.name.removesuffix('s')}"

    def list_shown(self, cloud: EmulatedCloud) -> list[tuple[str, StoredResource]]:
        """List the objects with their keys, sorted, and those that were deleted but are still shown."""
        prefix = f"{self.path}/".casefold()
        # Credentials and role assignments are stored below their object.
        rows = {key: stored for key, stored in cloud.store.below(prefix) if "/" not in key.removeprefix(prefix)}
        # A script may define a principal of Microsoft Graph itself, with other roles.
        app_ids = {stored.body.get("appId") for stored in rows.values()}
        rows |= {
            key: stored
            for key, stored in FIRST_PARTY.items()
            if key.startswith(prefix) and stored.body["appId"] not in app_ids
        }
        return [(key, stored) for key, stored in sorted(rows.items()) if is_shown(cloud, stored)]

    def look_up(self, cloud: EmulatedCloud, object_id: str) -> StoredResource | None:
        key = f"{self.path}/{object_id}".casefold()
        return cloud.store.resource(key) or FIRST_PARTY.get(key)


def list_deleted(cloud: EmulatedCloud, collection: DirectoryCollection) -> Iterator[tuple[str, StoredResource]]:
    """List the deleted objects of a collection that can still be restored."""
    prefix = f"{DELETED_ITEMS}/".casefold()
    for key, stored in cloud.store.below(prefix):
        is_own = stored.body.get("@collection") == collection.name and "/" not in key.removeprefix(prefix)
        if is_own and compute_age(cloud, stored.changed) < KEPT_FOR:
            yield key, stored


def show_deleted(collection: DirectoryCollection, stored: StoredResource) -> dict[str, Any]:
    body = {name: value for name, value in stored.body.items() if name != "@collection"}
    shown = collection.show(replace(stored, body=body))
    return {"@odata.type": f"#{collection.type}", **shown, "deletedDateTime": f"{stored.changed[:19]}Z"}


def find_application(cloud: EmulatedCloud, app_id: Any) -> StoredResource | None:
    """Find the application with a client id."""
    rows = APPLICATIONS.list_shown(cloud)
    wanted = str(app_id).casefold()
    return next((stored for _, stored in rows if read_app_id(stored).casefold() == wanted), None)


def _refuse_taken_nickname(cloud: EmulatedCloud, group: Mapping[str, Any], path: str) -> None:
    """Refuse the nickname of another Microsoft 365 group; names of security groups need not be unique."""
    if UNIFIED not in group.get("groupTypes", []):
        return
    nickname = str(group["mailNickname"]).casefold()
    others = (stored.body for _, stored in GROUPS.list_shown(cloud) if stored.id != path)
    if any(UNIFIED in other.get("groupTypes", []) and other["mailNickname"].casefold() == nickname for other in others):
        text = "Another object with the same value for property mailNickname already exists."
        raise refuse_value("mailNickname", text, "ObjectConflict")


def _refuse_taken_uris(cloud: EmulatedCloud, application: Mapping[str, Any], path: str) -> None:
    """Refuse a URI of another application, also of one that was deleted."""
    uris = {str(uri).casefold() for uri in application.get("identifierUris", [])}
    others = [*APPLICATIONS.list_shown(cloud), *list_deleted(cloud, APPLICATIONS)]
    taken = {
        str(uri).casefold()
        for _, stored in others
        if stored.id != path
        for uri in stored.body.get("identifierUris", [])
    }
    if uris & taken:
        text = "Another object with the same value for property identifierUris already exists."
        raise refuse_value("identifierUris", text, "ObjectConflict")


def _refuse_taken_app_id(cloud: EmulatedCloud, principal: Mapping[str, Any], path: str) -> None:
    """Refuse a second principal of an application, and one of no application."""
    app_id = str(principal.get("appId")).casefold()
    others = (stored for _, stored in SERVICE_PRINCIPALS.list_shown(cloud) if stored.id != path)
    if any(str(other.body.get("appId")).casefold() == app_id for other in others):
        text = f"The service principal cannot be created, since the service principal name {app_id} is already in use."
        raise refuse_graph(409, "Request_MultipleObjectsWithSameKeyValue", text)
    application = None if path else find_application(cloud, app_id)
    # Graph looks for it as a filter does, which may not show a new one yet.
    is_late = application is not None and compute_age(cloud, application.created) < cloud.settings.graph.delays.filter
    if not path and (application is None or is_late):
        text = f"The appId '{app_id}' of the service principal does not reference a valid application object."
        raise refuse_value("appId", text, "NoBackingApplicationObject")


GROUPS: Final = DirectoryCollection(
    name="groups",
    rights=OF_GROUPS,
    check_new=check_new_group,
    check_change=check_change,
    refuse_taken=_refuse_taken_nickname,
    show=show_group,
    make_id_name=lambda body: f"graph:{body['displayName']}:{body['mailNickname']}",
    filtered=frozenset({"displayName", "mailNickname", "securityEnabled", "uniqueName"}),
    is_kept=False,
)
APPLICATIONS: Final = DirectoryCollection(
    name="applications",
    rights=OF_APPLICATIONS,
    check_new=check_new_application,
    check_change=check_application_change,
    refuse_taken=_refuse_taken_uris,
    show=show_application,
    make_id_name=lambda body: f"graph:application:{body['displayName']}",
    filtered=frozenset({"displayName", "appId", "uniqueName"}),
)
SERVICE_PRINCIPALS: Final = DirectoryCollection(
    name="servicePrincipals",
    rights=OF_APPLICATIONS,
    check_new=check_new_principal,
    check_change=check_principal_change,
    refuse_taken=_refuse_taken_app_id,
    show=show_principal,
    make_id_name=lambda body: f"graph:servicePrincipal:{body['appId']}",
    filtered=frozenset({"displayName", "appId"}),
)
COLLECTIONS: Final[Mapping[str, DirectoryCollection]] = {
    row.name: row for row in (GROUPS, APPLICATIONS, SERVICE_PRINCIPALS)
}

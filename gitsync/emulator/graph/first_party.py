"""The service principals that every tenant has: that of Microsoft Graph itself, with some of its app roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.provider_fields import make_uuid

_GRAPH: Final = "00000003-0000-0000-c000-000000000000"

_ROLES: Final = {
    "Application.Read.All": "9a5d68dd-52b0-4cc2-bd40-abcf44ac3a30",
    "Application.ReadWrite.All": "1bfefb4e-e0b5-418b-a88f-73c46d2cc8e9",
    "Application.ReadWrite.OwnedBy": "18a4783c-866b-4cc7-a460-3d5e5662c884",
    "AppRoleAssignment.ReadWrite.All": "06b708a9-e830-4db3-a914-8e69da51d44f",
    "Directory.Read.All": "7ab1d382-f21e-4acd-a863-ba3e13f7da61",
    "Directory.ReadWrite.All": "19dbc75e-c2e2-444c-a770-ec69d8559fc7",
    "Group.Read.All": "5b567255-7703-4780-807c-7be8301ae99b",
    "Group.ReadWrite.All": "62a82d76-70ea-41e2-9197-370581804d09",
    "GroupMember.Read.All": "98830695-27a2-44f7-8c18-0c3ebc9698f6",
    "GroupMember.ReadWrite.All": "dbaae8cf-10b5-4b86-a4a1-f871c94c6695",
    "Mail.Send": "b633e1c5-b582-4048-a93e-9f11b44c7e96",
    "RoleManagement.ReadWrite.Directory": "9e3f62cf-ca93-4989-b6ce-bf83c28f9fe8",
    "User.Read.All": "df021288-bdef-4463-88db-98f22de89214",
}
"""Ids of app roles by value, the same in every tenant (https://learn.microsoft.com/graph/permissions-reference)."""


def find_role_id(value: str) -> str:
    """Find the id of an app role of Microsoft Graph by its value; "" for an unknown one."""
    return _ROLES.get(value, "")


def list_first_party_roles(app_id: object) -> list[Any]:
    """List the app roles of a service principal that every tenant has, by its client id."""
    found = (stored.body["appRoles"] for stored in FIRST_PARTY.values() if stored.body["appId"] == app_id)
    return next(found, [])


def _make_graph() -> StoredResource:
    roles = [
        {"id": role_id, "value": value, "displayName": value, "allowedMemberTypes": ["Application"], "isEnabled": True}
        for value, role_id in _ROLES.items()
    ]
    since = "2020-01-01T00:00:00+00:00"
    return StoredResource(
        id=f"/v1.0/servicePrincipals/{make_uuid('graph:first-party', _GRAPH)}",
        body={"appId": _GRAPH, "displayName": "Microsoft Graph", "appRoles": roles},
        api_version="v1.0",
        number=0,
        created=since,
        changed=since,
    )


FIRST_PARTY: Final[Mapping[str, StoredResource]] = {stored.id.casefold(): stored for stored in (_make_graph(),)}
"""By key. They cannot be changed."""

"""Reads and writes the assignment of one app role: what a principal may do in an API, by the name of the role.

Microsoft Graph has ids only. It fixes principal, resource and role when it creates an assignment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ArmError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import format_rfc3339
from gitsync.model.live import Absence, Live
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.entra.directory_kind import GUID
from gitsync.providers.entra.object_access import ObjectAccess
from gitsync.providers.entra.part_access import Entry, PartAccess, make_absence
from gitsync.providers.entra.part_requests import (
    ASSIGNED,
    PRINCIPALS,
    ROLES,
    make_part_delete,
    make_part_write,
    make_path,
)

_MOST_NAMED: Final = 10
_ABSENCE: Final = make_absence("app role assignment")


# ruff: noqa: ARG002 - the id and the version of ARM's readers and writers have no meaning here
class AssignmentReader:
    """Reads one assignment."""

    def __init__(self, access: ObjectAccess) -> None:
        self._part = PartAccess(access)
        self._wanted: Mapping[str, Any] | None = access.resource.body

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:
        """Return the assignment in the words of the manifest, or that it does not exist."""
        given = self._part.given
        if given.part_id:
            entry = await self._find_entry(given.object_id)
            # Without a manifest nothing is searched: a prune would delete an assignment that somebody else made.
            if entry is not None or self._wanted is None:
                return _ABSENCE if entry is None else await self._show(given.object_id, entry)
        resource = (self._wanted or {}).get("resourceId")
        principal = (self._wanted or {}).get("principalId")
        # What is still to be created has no assignments.
        if not isinstance(resource, str) or not isinstance(principal, str):
            return _ABSENCE
        entry = await self._find_match(resource.lower(), principal.lower())
        return _ABSENCE if entry is None else await self._show(resource.lower(), entry)

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:
        return live

    async def _find_entry(self, resource: str) -> Entry | None:
        """Find the assignment of the known id."""
        return await self._part.read(make_path(PRINCIPALS, resource, ASSIGNED, self._part.given.part_id))

    async def _find_match(self, resource: str, principal: str) -> Entry | None:
        """Find the assignment that git states, which somebody may have made."""
        role = await self._find_role(resource)
        for entry in await self._list(resource):
            if str(entry.get("principalId")).lower() == principal and str(entry.get("appRoleId")).lower() == role:
                return entry
        return None

    async def _list(self, resource: str) -> list[Entry]:
        return await self._part.list_entries(make_path(PRINCIPALS, resource, ASSIGNED)) or []

    async def _list_roles(self, resource: str) -> Mapping[str, str]:
        """List the ids of the roles of a resource by their values."""
        entries = await self._part.list_entries(make_path(PRINCIPALS, resource, ROLES)) or []
        return {str(entry.get("value") or ""): str(entry["id"]).lower() for entry in entries}

    async def _find_role(self, resource: str) -> str:
        """Find the id of the role that git names. Raises ArmError if the resource does not have it."""
        role = str((self._wanted or {}).get("role"))
        if GUID.fullmatch(role):
            return role.lower()
        roles = await self._list_roles(resource)
        if role in roles:
            return roles[role]
        access = self._part.access
        raise ArmError(
            f"The service principal {resource} has no app role {role!r}.",
            code="AppRoleNotFound",
            resource_id=access.resource.arm_id,
            method="GET",
            at=format_rfc3339(access.clock.now()),
            hint=f"Its roles: {name_first(sorted(roles), _MOST_NAMED)}." if roles else "It has no app roles.",
        )

    async def _show(self, resource: str, entry: Entry) -> Live:
        """Show an assignment with the name of its role; an id that git has stays one."""
        self._part.note(resource, entry)
        wanted, role_id = self._wanted or {}, str(entry.get("appRoleId")).lower()
        names = {found: name for name, found in (await self._list_roles(resource)).items()}
        is_same = str(wanted.get("role")).lower() == role_id
        return Live(
            body={
                "id": self._part.access.known.object_id,
                "principalId": _spell(wanted.get("principalId"), entry.get("principalId")),
                "resourceId": _spell(wanted.get("resourceId"), entry.get("resourceId")),
                "role": wanted["role"] if is_same else names.get(role_id) or role_id,
            }
        )


class AssignmentWriter(AssignmentReader):
    """What creates and deletes one assignment."""

    async def put(
        self, arm_id: ArmId, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite | None:
        """Create the assignment; nothing if there is one."""
        resource, principal = str(body["resourceId"]).lower(), str(body["principalId"]).lower()
        role = await self._find_role(resource)
        entry = await self._find_match(resource, principal)
        if entry is None:
            payload = {"principalId": principal, "resourceId": resource, "appRoleId": role}
            path = make_path(PRINCIPALS, resource, ASSIGNED)
            request = make_part_write("POST", self._part.resource_id, path, payload)
            entry = self._part.read_created(await self._part.write(request), request)
        self._part.note(resource, entry)
        return None

    async def delete(self, arm_id: ArmId, api_version: str, *, if_match: str | None = None) -> AcceptedWrite | None:
        """Delete the assignment; a missing one counts as deleted."""
        given = self._part.given
        if given.part_id:
            path = make_path(PRINCIPALS, given.object_id, ASSIGNED, given.part_id)
            await self._part.access.send(make_part_delete(self._part.resource_id, path))
            self._part.access.known.object_id = ""
        return None

    async def wait(self, reply: AcceptedWrite) -> bool:
        return True


def _spell(wanted: Any, live: Any) -> Any:
    """Return an id as git spells it: ids have no case."""
    return wanted if isinstance(wanted, str) and wanted.lower() == str(live).lower() else live

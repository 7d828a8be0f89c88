"""Reads and writes one federated credential of an application: the issuer and the subject of the tokens that Entra ID
exchanges for one of the application.

A credential has a name that is unique in its application, so that one without a known id is found by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.model.arm_id import ArmId
from gitsync.model.live import Absence, Live
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.entra.object_access import ObjectAccess
from gitsync.providers.entra.part_access import Entry, PartAccess, make_absence
from gitsync.providers.entra.part_requests import (
    APPLICATIONS,
    CREDENTIALS,
    make_part_delete,
    make_part_write,
    make_path,
)

_APPLICATION: Final = "applicationId"
_IDS: Final = (_APPLICATION, "appId")  # of the owner, which is found by them
_SENT: Final = ("issuer", "subject", "audiences", "description")
_ABSENCE: Final = make_absence("federated credential")


# ruff: noqa: ARG002 - the id and the version of ARM's readers and writers have no meaning here
class CredentialReader:
    """Reads one credential."""

    def __init__(self, access: ObjectAccess) -> None:
        self._part = PartAccess(access)
        self._wanted: Mapping[str, Any] | None = access.resource.body

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:
        """Return the credential in the words of the manifest, or that it does not exist."""
        application = self._find_application()
        entry = await self._find_entry(application) if application else None
        if entry is None:
            return _ABSENCE
        self._part.note(application, entry)
        wanted = self._wanted or {}
        ids = {name: wanted[name] for name in _IDS if name in wanted} or {_APPLICATION: application}
        return Live(body={"id": self._part.access.known.object_id, **ids, **_show(entry, wanted)})

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:
        return live

    def _find_application(self) -> str:
        """Find the object id of the application; "" in a plan that would create it."""
        if self._wanted is None:
            return self._part.given.object_id
        application = self._wanted.get(_APPLICATION)
        return application.lower() if isinstance(application, str) else ""

    async def _find_entry(self, application: str) -> Entry | None:
        """Find the credential by its id, or by its name: one that was recorded of another application went with it."""
        entries = await self._part.list_entries(make_path(APPLICATIONS, application, CREDENTIALS)) or []
        given, name = self._part.given, self._part.access.resource.name
        if given.object_id == application:
            found = next((entry for entry in entries if entry["id"] == given.part_id), None)
            if found or self._wanted is None:
                return found
        return next((entry for entry in entries if entry.get("name") == name), None) if self._wanted else None


class CredentialWriter(CredentialReader):
    """What creates, changes and deletes one credential."""

    async def put(
        self, arm_id: ArmId, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite | None:
        """Create the credential, or send what differs from it as it is just now."""
        application = str(body[_APPLICATION]).lower()
        entry, path = await self._find_entry(application), make_path(APPLICATIONS, application, CREDENTIALS)
        wanted = {name: body[name] for name in _SENT if body.get(name)}
        if entry is None:
            request = make_part_write(
                "POST", self._part.resource_id, path, {"name": self._part.access.resource.name, **wanted}
            )
            self._part.note(application, self._part.read_created(await self._part.write(request), request))
            return None
        applied = self._part.access.resource.applied or {}
        # A description that git gave up is removed. One that git never had is not git's.
        if "description" in applied and "description" not in wanted:
            wanted["description"] = None
        if changes := {name: value for name, value in wanted.items() if (entry.get(name) or None) != value}:
            path = make_path(APPLICATIONS, application, CREDENTIALS, str(entry["id"]))
            await self._part.write(make_part_write("PATCH", self._part.resource_id, path, changes))
        return None

    async def delete(self, arm_id: ArmId, api_version: str, *, if_match: str | None = None) -> AcceptedWrite | None:
        """Delete the credential; a missing one counts as deleted, and so does one of a deleted application."""
        given = self._part.given
        if given.part_id:
            path = make_path(APPLICATIONS, given.object_id, CREDENTIALS, given.part_id)
            await self._part.access.send(make_part_delete(self._part.resource_id, path))
            self._part.access.known.object_id = ""
        return None

    async def wait(self, reply: AcceptedWrite) -> bool:
        return True


def _show(entry: Entry, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Show what a manifest has of a credential. Of two ways to write that there is no description, git's is shown."""
    shown = {name: entry.get(name) for name in _SENT if entry.get(name)}
    return {**shown, **({"description": ""} if wanted.get("description") == "" and "description" not in shown else {})}

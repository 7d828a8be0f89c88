"""Access to what is below an Entra ID object: its lists and writes, which wait for an object that is new.

The id that a record keeps has two steps, that of the object and that of the part.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from gitsync.model.clock import format_rfc3339
from gitsync.model.live import Absence
from gitsync.providers.arm.http.failures import make_arm_error
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.entra.graph_pages import iterate_entries, make_idless_error
from gitsync.providers.entra.graph_requests import ABSENT, GraphRequest
from gitsync.providers.entra.object_access import ObjectAccess
from gitsync.providers.entra.part_requests import make_part_list, make_part_read

Entry = Mapping[str, Any]


class _AbsentError(Exception):
    """The object above a list is not there."""


class GivenId(NamedTuple):
    """The id of a part: "" for what is not known."""

    object_id: str = ""
    part_id: str = ""

    @classmethod
    def parse(cls, text: str) -> GivenId:
        object_id, _, part_id = text.partition("/")
        return cls(object_id, part_id)

    def __str__(self) -> str:
        return f"{self.object_id}/{self.part_id}"


class PartAccess:
    """One part, and the way to it."""

    def __init__(self, access: ObjectAccess) -> None:
        self.access = access

    @property
    def resource_id(self) -> str:
        return self.access.resource.arm_id

    @property
    def given(self) -> GivenId:
        return GivenId.parse(self.access.known.object_id)

    def note(self, object_id: str, entry: Entry) -> None:
        """Keep the id of a part that Graph shows."""
        self.access.known.object_id = str(GivenId(object_id, str(entry["id"])))

    async def list_entries(self, path: str) -> list[Entry] | None:
        """List all entries at a path; None if the object above is not there. Raises ArmError for a malformed list."""
        entries = iterate_entries(
            path, partial(make_part_list, self.resource_id, path), self._send_to_existing, self.access.graph.cloud
        )
        try:
            return [_check(entry, answer, request) async for entry, answer, request in entries]
        except _AbsentError:
            return None

    async def _send_to_existing(self, request: GraphRequest) -> Response:
        answer = await self.access.send(request)
        if answer.status == 404:
            raise _AbsentError
        return answer

    async def read(self, path: str) -> Entry | None:
        """Read one entry; None if it is not there. Raises ArmError for a malformed one."""
        request = make_part_read(self.resource_id, path)
        answer = await self.access.send(request)
        return None if answer.status == 404 else _check(answer.mapping(), answer, request)

    async def write(self, request: GraphRequest) -> Response:
        """Send a write, again for a minute while an object that it names is not there yet: it may be new."""
        answer = await self.access.send_until_found(request, f"what {request.path} names")
        if answer.status == 404:
            raise make_arm_error(answer, request, format_rfc3339(self.access.clock.now()))
        return answer

    def read_created(self, answer: Response, request: GraphRequest) -> Entry:
        return _check(answer.mapping(), answer, request)


def make_absence(noun: str) -> Absence:
    return Absence(code=ABSENT, message=f"There is no such {noun}.")


def _check(entry: Entry, answer: Response, request: GraphRequest) -> Entry:
    """Return an entry that has an id. Raises ArmError for any other: it must not count as absent."""
    if isinstance(entry.get("id"), str) and entry["id"]:
        return entry
    raise make_idless_error(answer, request)

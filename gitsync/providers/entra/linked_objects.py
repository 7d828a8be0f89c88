"""Reads and writes the relations of an Entra ID object that git sets: the members of a group, and owners.

Only objects that are missing are added, and only those that git does not want are removed, so that what another one
adds in between stays. Lists of Graph lag behind writes, so what this run has written counts for a while.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from gitsync.desired.catalog.directory_relations import RELATIONS, DirectoryRelation
from gitsync.errors import ArmError
from gitsync.model.clock import format_rfc3339
from gitsync.providers.arm.http.failures import make_arm_error
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.entra.graph_pages import iterate_entries, make_idless_error
from gitsync.providers.entra.graph_requests import GraphRequest
from gitsync.providers.entra.link_requests import MOST_ADDED, make_addition, make_list, make_removal, says_present
from gitsync.providers.entra.object_access import NEW, ObjectAccess
from gitsync.providers.entra.recent_links import RecentLinks

_ID: Final = "id"
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One relation, as a body has it."""

    relation: DirectoryRelation
    member: str  # of the body
    ids: Mapping[str, Any]  # by the names in git; a value that is not known yet is a placeholder
    applied: Mapping[str, Any]  # what was sent before

    @property
    def is_complete(self) -> bool:
        return self.member == self.relation.complete


class LinkedObjects:
    """The relations of one object, at a path of Graph."""

    def __init__(self, access: ObjectAccess, path: str, recent: RecentLinks) -> None:
        self._access = access
        self._path = path
        self._recent = recent

    async def show(self, body: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """Return the relations that a body has, as they are, in the words of the manifest."""
        # Of a relation that git only adds to, it is shown what git adds, or has added.
        return {wanted.member: _name(await self._list(wanted.relation), wanted) for wanted in self._list_wanted(body)}

    async def update(self, body: Mapping[str, Any]) -> None:
        """Add what is missing, and then remove what git does not want."""
        for wanted in self._list_wanted(body):
            live = await self._list(wanted.relation)
            ids = list(dict.fromkeys(str(object_id).lower() for object_id in wanted.ids.values()))
            await self._add(wanted.relation, [object_id for object_id in ids if object_id not in live])
            given_up = live if wanted.is_complete else live & set(map(str, wanted.applied.values()))
            for object_id in sorted(given_up.difference(ids)):
                await self._remove(wanted.relation, object_id)

    def _list_wanted(self, body: Mapping[str, Any]) -> Iterator[_Wanted]:
        applied = self._access.resource.applied or {}
        for relation in RELATIONS.values():
            for member in (relation.complete, relation.added):
                if member in body:
                    yield _Wanted(relation, member, body[member], applied.get(member) or {})

    async def _list(self, relation: DirectoryRelation) -> set[str]:
        access = self._access
        entries = iterate_entries(
            f"{self._path}/{relation.name}",
            partial(make_list, access.resource.arm_id, self._path, relation),
            self._send_to_existing,
            access.graph.cloud,
        )
        ids = {_read_id(entry, answer, request) async for entry, answer, request in entries}
        return self._recent.correct(relation, ids, access.clock.monotonic())

    async def _send_to_existing(self, request: GraphRequest) -> Response:
        answer = await self._access.send_patiently(request)
        if answer.status == 404:
            raise self._refuse(answer, request)
        return answer

    async def _add(self, relation: DirectoryRelation, ids: Sequence[str]) -> None:
        """Add objects: members by twenty, owners one by one."""
        most = MOST_ADDED if relation.name == "members" else 1
        for some in (ids[start : start + most] for start in range(0, len(ids), most)):
            answer = await self._send_addition(relation, some)
            if len(some) > 1 and says_present(answer):  # the list lagged behind: which one it is is not said
                for object_id in some:
                    await self._send_addition(relation, (object_id,))

    async def _send_addition(self, relation: DirectoryRelation, ids: Sequence[str]) -> Response:
        """Send an addition, and wait for objects that Graph does not have yet: an identity may be new."""
        access = self._access
        urls = [f"{access.graph.cloud.endpoint}/v1.0/directoryObjects/{object_id}" for object_id in ids]
        request = make_addition(access.resource.arm_id, self._path, relation, urls)
        answer = await access.send_until_found(request, f"one of {', '.join(ids)}")
        if answer.status not in {200, 204} and not says_present(answer):
            raise self._refuse(answer, request)
        if answer.status != 400 or len(ids) == 1:
            self._note(relation, ids, is_added=True)
        return answer

    async def _remove(self, relation: DirectoryRelation, object_id: str) -> None:
        await self._access.send_patiently(make_removal(self._access.resource.arm_id, self._path, relation, object_id))
        self._note(relation, (object_id,), is_added=False)

    def _note(self, relation: DirectoryRelation, ids: Sequence[str], *, is_added: bool) -> None:
        until = self._access.clock.monotonic() + NEW
        for object_id in ids:
            self._recent.note(relation, object_id, is_added=is_added, until=until)

    def _refuse(self, answer: Response, request: GraphRequest) -> ArmError:
        return make_arm_error(answer, request, format_rfc3339(self._access.clock.now()))


def _name(live: set[str], wanted: _Wanted) -> dict[str, str]:
    """Name the ids of a relation as git does, or did before; an id that git never named names itself."""
    names = {name: str(found).lower() for name, found in wanted.ids.items() if isinstance(found, str)}
    shown = {name: object_id for name, object_id in names.items() if object_id in live}
    before = {str(object_id): name for name, object_id in wanted.applied.items()}
    for object_id in sorted(live.difference(names.values())):
        if wanted.is_complete or object_id in before:
            name = before.get(object_id, object_id)
            shown[object_id if name in shown else name] = object_id
    return shown


def _read_id(entry: Mapping[str, Any], answer: Response, request: GraphRequest) -> str:
    """Read the id of an entry of a list. Raises ArmError if it has none: it must not count as absent."""
    object_id = entry.get(_ID)
    if isinstance(object_id, str) and _GUID.fullmatch(object_id):
        return object_id.lower()
    raise make_idless_error(answer, request)

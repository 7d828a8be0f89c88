"""Reads and writes Entra ID objects: the provider that a run uses for them.

An object has no name that is unique, so a run identifies it by the id that Graph gave it: from the record, from the
answer to its own POST, or, for a manifest that may adopt, from a search.

Graph is consistent only in the end: a new object may answer 404 for some seconds, and a search sees it later still. So
an id from a POST is never searched again, a 404 for a new object proves nothing, and after a POST without an answer the
search is repeated for a while before another POST. A read that does not find what was accepted is repeated by the
stages of the run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from gitsync.desired.catalog.directory_relations import BODY_NAMES
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.manifests.creation_mode import ADOPT_ONLY, ALWAYS_CREATE, read_creation_mode
from gitsync.errors import ArmError, ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.live import Absence, Live
from gitsync.model.provider import ProvidedResource
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import choose_graph
from gitsync.providers.arm.http.failures import make_arm_error, read_absence
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.app_role_assignments import AssignmentReader, AssignmentWriter
from gitsync.providers.entra.deleted_parts import DeletedParts, list_going_along
from gitsync.providers.entra.directory_kind import GraphObject, GraphRefusal, ObjectSearch
from gitsync.providers.entra.federated_credentials import CredentialReader, CredentialWriter
from gitsync.providers.entra.graph_pages import iterate_entries
from gitsync.providers.entra.graph_requests import (
    ABSENT,
    GraphRequest,
    check_object,
    make_create_request,
    make_delete,
    make_read,
    make_search,
    make_update,
    read_object,
)
from gitsync.providers.entra.linked_objects import LinkedObjects
from gitsync.providers.entra.object_access import NEW, GraphService, KnownObjects, ObjectAccess, read_time

_SKEW: Final = timedelta(minutes=5)  # between the clocks of Graph and of this machine
_INTERRUPTED_SINCE: Final = timedelta(days=1)
"""How old an object may be that counts as the one of an interrupted run."""

_MOST_NAMED: Final = 10  # ids in the message of an error


class EntraDirectory:
    """The objects of a run, with all its credentials."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._graphs: dict[Arm, GraphService] = {}
        self._known = KnownObjects()

    def reader(self, resource: ProvidedResource, arm: Arm, session: Session) -> DirectoryReader:
        """Return what reads an object as the principal of `arm`. Raises ArmError if Graph of its cloud is not known."""
        access = self._open(resource, arm, session)
        return _READERS.get(resource.key[:2], ObjectReader)(access)

    def writer(self, resource: ProvidedResource, arm: Arm, session: Session) -> DirectoryWriter:
        """Return the same for what writes as well."""
        access = self._open(resource, arm, session)
        return _WRITERS.get(resource.key[:2], ObjectWriter)(access)

    def find_given_id(self, arm_id: ArmId) -> str:
        """Return the id that Graph gave an object, as far as this run has it: it may have created one that it could not
        read yet. "" if there is none.
        """
        known = self._known.find(arm_id)
        return known.object_id if known else ""

    def _open(self, resource: ProvidedResource, arm: Arm, session: Session) -> ObjectAccess:
        known = self._known.take(resource)
        return ObjectAccess(resource, known, self._known, self._find_graph(arm), self._clock, session)

    def _find_graph(self, arm: Arm) -> GraphService:
        if arm not in self._graphs:
            try:
                cloud = choose_graph(arm.cloud)
            except ConfigError as error:  # the resources of other providers can be reconciled anyway
                raise ArmError(error.message, code="UnknownCloud", hint=error.hint) from error
            self._graphs[arm] = GraphService(cloud, arm.reach_service(cloud))
        return self._graphs[arm]


class ObjectReader:
    """Reads one object. Its methods take ids of ARM only for the likeness to ARM's reader, and ignore them."""

    def __init__(self, access: ObjectAccess) -> None:
        self._access = access
        self._wanted: Mapping[str, Any] = access.resource.body or {}

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:  # noqa: ARG002 - it is one object
        """Return the object in the words of the manifest, or that it does not exist.

        Raises ArmError if Graph gives no usable answer, or shows several objects that the manifest may mean.
        """
        access, known, kind = self._access, self._access.known, self._access.kind
        if known.object_id:
            shown = await self._read(known.object_id)
            if isinstance(shown, Live) or not known.is_gone or self._mode != ADOPT_ONLY:
                return shown
        # A prune would delete the match of a search. One that may only be adopted is never deleted.
        if (known.is_gone and self._mode != ADOPT_ONLY) or not self._may_search():
            return self._make_absence()
        found = await self._search()
        tries, until = 0, access.clock.monotonic() + NEW
        while not found and known.sent_at and access.clock.monotonic() < until:
            noun = kind.names.one
            await access.pause(tries, f"A POST of the {noun} got no response, and no search has found the {noun} yet.")
            found, tries = await self._search(), tries + 1
        if not found:
            known.sent_at = None  # it was not done
            if refusal := kind.refuse_create(self._wanted):
                raise self._make_refusal(refusal)
            return self._make_absence()
        access.require_own(str(found["id"]))
        access.note_object(found)
        return await self._show(found)

    async def list_going_along(self) -> DeletedParts:
        """List what Entra ID deletes along with an application. Raises ArmError if Graph gives no usable answer."""
        return await list_going_along(self._access)

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:  # noqa: ARG002 - it is one object
        """Return the object as it is: Graph has no operations."""
        return live

    async def _read(self, object_id: str) -> Live | Absence:
        kind = self._access.kind
        request = make_read(kind, self._access.resource.arm_id, object_id)
        answer = await self._access.send(request)
        if answer.status == 404:
            # Graph is consistent only in the end: a 404 for a new object proves nothing.
            if not (self._access.is_new or self._access.known.is_created):
                self._access.note_gone()
            return read_absence(answer)
        found = read_object(kind, answer, request, object_id)
        self._access.require_own(object_id)
        self._access.note_object(found)
        return await self._show(found)

    async def _show(self, found: GraphObject) -> Live:
        """Show an object in the words of the manifest, with what its annotations set: nothing else is read of it."""
        live = self._access.kind.show(found, self._wanted)
        if BODY_NAMES.isdisjoint(self._wanted):
            return live
        return replace(live, body={**live.body, **await self._open_links().show(self._wanted)})

    def _open_links(self) -> LinkedObjects:
        known = self._access.known
        return LinkedObjects(self._access, f"{self._access.kind.collection}/{known.object_id}", known.links)

    def _may_search(self) -> bool:
        """Return whether an object without a known id may exist."""
        # An object that is always created is searched only if a POST of it got no answer, in this run or an earlier
        # one.
        is_left = self._access.resource.is_expected or self._access.known.sent_at is not None
        return bool(self._access.kind.list_searches(self._wanted)) and (self._adopts() or is_left)

    @property
    def _mode(self) -> Any:
        """The creationMode of the manifest, None for the default."""
        return read_creation_mode(self._access.resource.spec)

    def _adopts(self) -> bool:
        return bool(self._mode != ALWAYS_CREATE)

    async def _search(self) -> GraphObject | None:
        """Search the object that the manifest means; None if there is none. Raises ArmError if there are several, or if
        the only one is another.
        """
        kind = self._access.kind
        for search in kind.list_searches(self._wanted):
            found = await self._list_meant(search)
            if len(found) > 1:
                raise self._make_ambiguity(search, found)
            if found and (refusal := kind.refuse_match(self._wanted, found[0])):
                raise self._make_refusal(refusal)
            if found:
                return found[0]
        return None

    async def _list_meant(self, search: ObjectSearch) -> list[GraphObject]:
        """List the objects of a search that the manifest may mean."""
        found = dict[str, GraphObject]()
        async for entry in self._list(search):
            # A deleted object stays in searches for a while.
            if not self._access.kind.is_meant(entry) or entry["id"] in self._access.all.deleted:
                continue
            # An object that is never adopted is the one of a POST without an answer: new, and as git states it.
            if self._adopts() or self._is_own(entry):
                found[str(entry["id"]).casefold()] = entry  # a list that changes while it is read may show it twice
        return list(found.values())

    def _is_own(self, entry: GraphObject) -> bool:
        created, sent_at = read_time(entry.get("createdDateTime")), self._access.known.sent_at
        # Graph writes the time by its own clock.
        since = sent_at - _SKEW if sent_at else self._access.clock.now() - _INTERRUPTED_SINCE
        kind, wanted = self._access.kind, self._wanted
        is_equal = not (kind.compute_changes(wanted, entry, None) or kind.compute_fixed_changes(wanted, entry))
        return is_equal and created is not None and created >= since

    async def _list(self, search: ObjectSearch) -> AsyncIterator[GraphObject]:
        access = self._access
        make_request = partial(make_search, access.kind, access.resource.arm_id, search)
        entries = iterate_entries(access.kind.collection, make_request, access.send, access.graph.cloud)
        async for entry, answer, request in entries:
            checked = check_object(access.kind, entry, answer, request)
            if str(checked[search.member]).casefold() == search.value.casefold():
                yield checked

    def _make_absence(self) -> Absence:
        return Absence(code=ABSENT, message=f"There is no such {self._access.kind.names.one}.")

    def _make_ambiguity(self, search: ObjectSearch, found: list[GraphObject]) -> ArmError:
        names, ids = self._access.kind.names, sorted(str(entry["id"]) for entry in found)
        return ArmError(
            f"{len(ids)} {names.several} have the {search.member} {search.value!r}: {name_first(ids, _MOST_NAMED)}.",
            code=names.ambiguous,
            resource_id=self._access.resource.arm_id,
            method="GET",
            at=format_rfc3339(self._access.clock.now()),
            hint=names.if_several,
        )

    def _make_refusal(self, refusal: GraphRefusal) -> ArmError:
        """Make the error for what Graph would refuse. Only a change of the manifest helps."""
        return ArmError(
            refusal.message,
            code=refusal.code,
            resource_id=self._access.resource.arm_id,
            method="PATCH",
            at=format_rfc3339(self._access.clock.now()),
            hint=refusal.hint,
        )


class ObjectWriter(ObjectReader):
    """What creates, changes and deletes one object. All is done when a method returns."""

    async def put(
        self,
        arm_id: ArmId,  # noqa: ARG002 - it is one object
        api_version: str,  # noqa: ARG002 - as above
        body: Mapping[str, Any],
        *,
        if_match: str | None = None,  # noqa: ARG002 - Graph has no ETags of objects
    ) -> AcceptedWrite | None:
        """Create the object, or send what differs from it as it is just now; nothing if that is nothing."""
        if self._access.known.object_id:
            await self._update(self._access.known.object_id, body)
        else:
            await self._create(body)
        if not BODY_NAMES.isdisjoint(body):
            await self._open_links().update(body)
        return None

    async def delete(
        self,
        arm_id: ArmId,  # noqa: ARG002 - it is one object
        api_version: str,  # noqa: ARG002 - as above
        *,
        if_match: str | None = None,  # noqa: ARG002 - as above
    ) -> AcceptedWrite | None:
        """Delete the object; a missing one counts as deleted."""
        access = self._access
        object_id = access.known.object_id
        # An object without a known id is skipped, and so is one that another manifest has adopted: it was renamed in
        # git.
        if object_id:
            access.require_own(object_id)
            await access.send_patiently(make_delete(access.kind, access.resource.arm_id, object_id))
            access.all.deleted.add(object_id)
            access.note_gone()
        return None

    async def wait(self, reply: AcceptedWrite) -> bool:  # noqa: ARG002 - no write leaves anything to wait for
        return True

    async def _create(self, body: Mapping[str, Any]) -> None:
        access, kind = self._access, self._access.kind
        if refusal := kind.refuse_create(body):
            raise self._make_refusal(refusal)
        # The first search is the one that names the object: a principal's displayName is also that of others.
        for search in kind.list_searches(body)[:1] if self._adopts() else ():
            access.claim(search)
        request = make_create_request(kind, access.resource.arm_id, kind.make_create(body))
        sent_at = access.clock.now()
        try:
            created = read_object(kind, await self._post_patiently(request), request)
        except ArmError as error:
            # The object may exist by now: a search must not find nothing too early, or a second one would be created.
            if error.outcome_unknown:
                access.known.sent_at = sent_at
            raise
        access.note_object(created)
        access.known.is_created = True
        access.known.new_until = access.clock.monotonic() + NEW  # whatever time Graph returns

    async def _post_patiently(self, request: GraphRequest) -> Response:
        """Send a POST, again while Graph does not show another new object that it needs."""
        access, tries = self._access, 0
        while True:
            try:
                return await access.send(request)
            except ArmError as error:
                if not (access.kind.may_be_late(error) and access.all.has_new(access.clock.monotonic())):
                    raise
                refusal = error.message
            await access.pause(tries, refusal)
            tries += 1

    async def _update(self, object_id: str, body: Mapping[str, Any]) -> None:
        access, kind, arm_id = self._access, self._access.kind, self._access.resource.arm_id
        read = make_read(kind, arm_id, object_id)
        current = read_object(kind, await self._send_to_existing(read), read, object_id)
        # Graph would accept the request and keep the old value.
        for name, (live, wanted) in kind.compute_fixed_changes(body, current).items():
            noun = kind.names.one
            raise self._make_refusal(
                GraphRefusal(
                    f"{name} of the {noun} {object_id} is {_spell(live)}, and git states {_spell(wanted)}: Microsoft "
                    f"Graph fixes it when it creates a {noun}.",
                    f"Restore the value in git. To create a new {noun}, give the manifest another name.",
                )
            )
        if changes := kind.compute_changes(body, current, access.resource.applied):
            await self._send_to_existing(make_update(kind, arm_id, current, changes))

    async def _send_to_existing(self, request: GraphRequest) -> Response:
        """Send a request to an object that was there. Raises ArmError if it is gone: the next run decides then."""
        answer = await self._access.send_patiently(request)
        if answer.status == 404:
            raise make_arm_error(answer, request, format_rfc3339(self._access.clock.now()))
        return answer


def _spell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


DirectoryReader = ObjectReader | CredentialReader | AssignmentReader
DirectoryWriter = ObjectWriter | CredentialWriter | AssignmentWriter

_READERS: Final[Mapping[tuple[str, str], type[CredentialReader | AssignmentReader]]] = {
    CREDENTIAL: CredentialReader,
    ASSIGNMENT: AssignmentReader,
}
_WRITERS: Final[Mapping[tuple[str, str], type[CredentialWriter | AssignmentWriter]]] = {
    CREDENTIAL: CredentialWriter,
    ASSIGNMENT: AssignmentWriter,
}
"""Of what is below an object, by the group and kind of manifests."""

"""Reads and writes Entra ID groups: the provider that a run uses for them.

A group has no name that is unique, so a run identifies it by the id that Graph gave it: from the record, from the
answer to its own POST, or, for a manifest that may adopt, from a search by displayName.

Graph is consistent only in the end: a new group may answer 404 for some seconds, and a search sees it later still. So
an id from a POST is never searched again, a 404 for a new group proves nothing, and after a POST without an answer the
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
from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ArmError, ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.live import Absence, Live
from gitsync.model.provider import ProvidedResource
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import choose_graph
from gitsync.providers.arm.http.failures import make_arm_error, read_absence
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.response_bodies import ListSource, PagesRead, read_page
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.graph_requests import (
    ABSENT,
    GROUPS,
    GraphRequest,
    check_group,
    make_create_request,
    make_delete,
    make_read,
    make_search,
    make_update,
    read_group,
)
from gitsync.providers.entra.group_access import NEW, GraphService, GroupAccess, KnownGroups, read_time
from gitsync.providers.entra.group_conversion import (
    compute_changes,
    compute_fixed_changes,
    is_for_roles,
    make_create,
    needs_rule,
    show_group,
)
from gitsync.providers.entra.linked_objects import LinkedObjects

_SKEW: Final = timedelta(minutes=5)  # between the clocks of Graph and of this machine
_INTERRUPTED_SINCE: Final = timedelta(days=1)
"""How old a group may be that counts as the one of an interrupted run."""

_ALWAYS_CREATE: Final = "AlwaysCreate"
_MOST_NAMED: Final = 10  # ids in the message of an error
_LINK: Final = "@odata.nextLink"


class EntraGroups:
    """The groups of a run, with all its credentials."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._graphs: dict[Arm, GraphService] = {}
        self._known = KnownGroups()

    def reader(self, resource: ProvidedResource, arm: Arm, session: Session) -> GroupReader:
        """Return what reads a group as the principal of `arm`. Raises ArmError if Graph of its cloud is not known."""
        return GroupReader(self._open(resource, arm, session))

    def writer(self, resource: ProvidedResource, arm: Arm, session: Session) -> GroupWriter:
        """Return the same for what writes as well."""
        return GroupWriter(self._open(resource, arm, session))

    def find_given_id(self, arm_id: ArmId) -> str:
        """Return the id that Graph gave a group, as far as this run has it: it may have created one that it could not
        read yet. "" if there is none.
        """
        known = self._known.find(arm_id)
        return known.group_id if known else ""

    def _open(self, resource: ProvidedResource, arm: Arm, session: Session) -> GroupAccess:
        known = self._known.take(resource)
        return GroupAccess(resource, known, self._known, self._find_graph(arm), self._clock, session)

    def _find_graph(self, arm: Arm) -> GraphService:
        if arm not in self._graphs:
            try:
                cloud = choose_graph(arm.cloud)
            except ConfigError as error:  # the resources of other providers can be reconciled anyway
                raise ArmError(error.message, code="UnknownCloud", hint=error.hint) from error
            self._graphs[arm] = GraphService(cloud, arm.reach_service(cloud))
        return self._graphs[arm]


class GroupReader:
    """Reads one group. Its methods take ids of ARM only for the likeness to ARM's reader, and ignore them."""

    def __init__(self, access: GroupAccess) -> None:
        self._access = access
        self._wanted: Mapping[str, Any] = access.resource.body or {}

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:  # noqa: ARG002 - it is one group
        """Return the group in the words of the manifest, or that it does not exist.

        Raises ArmError if Graph gives no usable answer, or shows several groups that the manifest may mean.
        """
        known = self._access.known
        if known.group_id:
            return await self._read(known.group_id)
        if known.is_gone or not self._may_search():
            return _ABSENCE
        groups = await self._search()
        tries, until = 0, self._access.clock.monotonic() + NEW
        while not groups and known.sent_at and self._access.clock.monotonic() < until:
            await self._access.pause(
                tries, "A POST of the group got no response, and no search has found the group yet."
            )
            groups, tries = await self._search(), tries + 1
        if not groups:
            known.sent_at = None  # it was not done
            return _ABSENCE
        if len(groups) > 1:
            raise self._make_ambiguity(groups)
        self._access.require_own(str(groups[0]["id"]))
        self._access.note_group(groups[0])
        return await self._show(groups[0])

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:  # noqa: ARG002 - it is one group
        """Return the group as it is: Graph has no operations."""
        return live

    async def _read(self, group_id: str) -> Live | Absence:
        request = make_read(self._access.resource.arm_id, group_id)
        answer = await self._access.send(request)
        if answer.status == 404:
            # Graph is consistent only in the end: a 404 for a new group proves nothing.
            if not (self._access.is_new or self._access.known.is_created):
                self._access.note_gone()
            return read_absence(answer)
        group = read_group(answer, request, group_id)
        self._access.note_group(group)
        return await self._show(group)

    async def _show(self, group: Mapping[str, Any]) -> Live:
        """Show a group in the words of the manifest, with what its annotations set: nothing else is read of it."""
        live = show_group(group, self._wanted)
        if BODY_NAMES.isdisjoint(self._wanted):
            return live
        return replace(live, body={**live.body, **await self._open_links().show(self._wanted)})

    def _open_links(self) -> LinkedObjects:
        known = self._access.known
        return LinkedObjects(self._access, f"{GROUPS}/{known.group_id}", known.links)

    def _may_search(self) -> bool:
        """Return whether a group without a known id may exist. One that is always created is searched only if a POST of
        it got no answer, in this run or an earlier one.
        """
        is_left = self._access.resource.is_expected or self._access.known.sent_at is not None
        return bool(self._wanted.get("displayName")) and (self._adopts() or is_left)

    def _adopts(self) -> bool:
        operator = self._access.resource.spec.get("operatorSpec")
        return not (isinstance(operator, Mapping) and operator.get("creationMode") == _ALWAYS_CREATE)

    async def _search(self) -> list[Mapping[str, Any]]:
        """Search the groups that the manifest may mean: those of its displayName, with any case, as Graph compares
        names. One that is never adopted is the one of a POST without an answer: new, and as git states it.
        """
        name, groups = str(self._wanted["displayName"]), dict[str, Mapping[str, Any]]()
        async for group in self._list_named(name):
            # A deleted group stays in searches for a while, and a manifest never means one that is not a security
            # group.
            if group.get("securityEnabled") is not True or group["id"] in self._access.all.deleted:
                continue
            if self._adopts() or self._is_own(group):
                groups[str(group["id"]).casefold()] = group  # a list that changes while it is read may show it twice
        return list(groups.values())

    def _is_own(self, group: Mapping[str, Any]) -> bool:
        created, sent_at = read_time(group.get("createdDateTime")), self._access.known.sent_at
        # Graph writes the time by its own clock.
        since = sent_at - _SKEW if sent_at else self._access.clock.now() - _INTERRUPTED_SINCE
        is_equal = not compute_changes(self._wanted, group, None) and not compute_fixed_changes(self._wanted, group)
        return is_equal and created is not None and created >= since

    async def _list_named(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        access, next_page = self._access, None
        source = ListSource(GROUPS, next_link=_LINK)
        so_far = PagesRead(source)
        while True:
            request = make_search(access.resource.arm_id, name, next_page)
            answer = await so_far.read(request.target, partial(self._send_bounded, request))
            page = read_page(answer, source, access.graph.cloud)
            for group in page.entries:
                if str(check_group(group, answer, request)["displayName"]).casefold() == name.casefold():
                    yield group
            if page.next_page is None:
                return
            next_page = page.next_page

    async def _send_bounded(self, request: GraphRequest, max_bytes: int) -> Response:
        return await self._access.send(replace(request, max_bytes=max_bytes))

    def _make_ambiguity(self, groups: list[Mapping[str, Any]]) -> ArmError:
        ids = sorted(str(group["id"]) for group in groups)
        return ArmError(
            f"{len(ids)} security groups have the displayName {self._wanted['displayName']!r}: "
            f"{name_first(ids, _MOST_NAMED)}.",
            code="AmbiguousGroup",
            resource_id=self._access.resource.arm_id,
            method="GET",
            at=format_rfc3339(self._access.clock.now()),
            hint="Rename or delete all but one of them, or give the manifest a unique displayName. "
            "Set operatorSpec.creationMode to AlwaysCreate to create another group of that name.",
        )


class GroupWriter(GroupReader):
    """What creates, changes and deletes one group. All is done when a method returns."""

    async def put(
        self,
        arm_id: ArmId,  # noqa: ARG002 - it is one group
        api_version: str,  # noqa: ARG002 - as above
        body: Mapping[str, Any],
        *,
        if_match: str | None = None,  # noqa: ARG002 - Graph has no ETags of groups
    ) -> AcceptedWrite | None:
        """Create the group, or send what differs from it as it is just now; nothing if that is nothing."""
        if self._access.known.group_id:
            await self._update(self._access.known.group_id, body)
        else:
            await self._create(body)
        if not BODY_NAMES.isdisjoint(body):
            await self._open_links().update(body)
        return None

    async def delete(
        self,
        arm_id: ArmId,  # noqa: ARG002 - it is one group
        api_version: str,  # noqa: ARG002 - as above
        *,
        if_match: str | None = None,  # noqa: ARG002 - as above
    ) -> AcceptedWrite | None:
        """Delete the group; a missing one counts as deleted. One without a known id is skipped, and so is one that
        another manifest has adopted: it was renamed in git.
        """
        access = self._access
        group_id = access.known.group_id
        if group_id:
            access.require_own(group_id)
            await access.send_patiently(make_delete(access.resource.arm_id, group_id))
            access.all.deleted.add(group_id)
            access.note_gone()
        return None

    async def wait(self, reply: AcceptedWrite) -> bool:  # noqa: ARG002 - no write leaves anything to wait for
        return True

    async def _create(self, body: Mapping[str, Any]) -> None:
        access = self._access
        if needs_rule(body):
            raise self._make_refusal(
                f"membershipType {body['membershipType']} needs a membership rule, which a manifest cannot contain.",
                hint="Set it to assigned or assignedm365, or create the group with its rule and let gitsync adopt it.",
            )
        request = make_create_request(access.resource.arm_id, make_create(body), for_roles=is_for_roles(body))
        sent_at = access.clock.now()
        try:
            group = read_group(await access.send(request), request)
        except ArmError as error:
            # The group may exist by now: a search must not find nothing too early, or a second one would be created.
            if error.outcome_unknown:
                access.known.sent_at = sent_at
            raise
        access.note_group(group)
        access.known.is_created = True
        access.known.new_until = access.clock.monotonic() + NEW  # whatever time Graph returns

    async def _update(self, group_id: str, body: Mapping[str, Any]) -> None:
        access, arm_id = self._access, self._access.resource.arm_id
        read = make_read(arm_id, group_id)
        group = read_group(await self._send_to_existing(read), read, group_id)
        # Graph would accept the request and keep the old value.
        for name, (live, wanted) in compute_fixed_changes(body, group).items():
            raise self._make_refusal(
                f"{name} of the group {group_id} is {_spell(live)}, and git states {_spell(wanted)}: Microsoft Graph "
                "fixes it when it creates a group.",
                hint="Restore the value in git. To create a new group, give the manifest another name.",
            )
        if changes := compute_changes(body, group, access.resource.applied):
            for_roles = is_for_roles(group)
            await self._send_to_existing(make_update(arm_id, group_id, changes, for_roles=for_roles))

    async def _send_to_existing(self, request: GraphRequest) -> Response:
        """Send a request to a group that was there. Raises ArmError if it is gone: the next run decides then."""
        answer = await self._access.send_patiently(request)
        if answer.status == 404:
            raise make_arm_error(answer, request, format_rfc3339(self._access.clock.now()))
        return answer

    def _make_refusal(self, message: str, hint: str) -> ArmError:
        """Make the error for what Graph would refuse. Only a change of the manifest helps."""
        return ArmError(
            message,
            code="PropertyChangeNotAllowed",
            resource_id=self._access.resource.arm_id,
            method="PATCH",
            at=format_rfc3339(self._access.clock.now()),
            hint=hint,
        )


_ABSENCE: Final = Absence(code=ABSENT, message="There is no such group.")


def _spell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

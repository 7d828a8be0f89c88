"""Read resources by lists, and one by one where a list does not do.

A list of a type is believed only if one of its entries, read by itself, shows the same: some providers leave out
properties in lists. Otherwise every resource of the type is read by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from gitsync.desired.catalog.collections import list_collections
from gitsync.errors import ArmError, RefusedListError, SourceError
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.facts import Kind, ListLevel
from gitsync.model.live import Live
from gitsync.providers.arm.http.response_bodies import is_refusal
from gitsync.workflows.imports.conversion.any_live_body import BodyContext, convert_any_body
from gitsync.workflows.imports.conversion.live_body import ConversionContext, convert_body

Body = Mapping[str, Any]

FORBIDDEN: Final = 403
ABSENT: Final = 404
NO_RIGHT: Final = "no right to read it"

MOST_GROUP_LISTS: Final = 3
"""How many lists of resource groups are read before one of the whole subscription takes their place."""


class ReadsLists(Protocol):
    """The calls to Azure: reads only."""

    async def get(self, arm_id: str, api_version: str) -> Live | None: ...

    async def list(self, path: str, api_version: str, query: Mapping[str, str] | None = None) -> list[Body]: ...


class ResourceReader:
    """All reads of one search. `count` receives how many reads began, and how many ended; `note` what was refused. With
    `trusts_lists` no entry is compared with what a read of the resource shows: who only needs to know that a resource
    exists does not miss the properties that a list leaves out.
    """

    def __init__(
        self,
        azure: ReadsLists,
        count: Callable[[int, int], None],
        note: Callable[[str], None],
        *,
        trusts_lists: bool = False,
    ) -> None:
        self._azure = azure
        self._count = count
        self._note = note
        self._trusts_lists = trusts_lists
        self._checks: dict[str, asyncio.Task[bool]] = {}
        self._refused: set[str] = set()

    async def read(self, arm_id: ArmId, api_version: str) -> Body | None:
        """Read a resource; None if it does not exist. Raises ArmError."""
        self._count(1, 0)
        live = await self._azure.get(arm_id, api_version)
        self._count(0, 1)
        return live.body if live else None

    async def try_read(self, arm_id: ArmId, api_version: str) -> Body | None:
        """Read a resource; None if it does not exist, and for a refusal, which is noted. Raises ArmError if there is no
        answer.
        """
        try:
            return await self.read(arm_id, api_version)
        except ArmError as error:
            if not is_refused(error):  # no answer is not the same as no resource
                raise
            self._note_refusal(arm_id, error)
            return None

    async def read_list(self, path: str, api_version: str, query: Mapping[str, str] | None = None) -> list[Body]:
        """Read the entries of a list. Raises RefusedListError if it is refused, and ArmError if there is no answer."""
        self._count(1, 0)
        try:
            return await self._azure.list(path, api_version, query)
        except ArmError as error:
            if is_refused(error):
                raise RefusedListError(path, error) from error
            raise
        finally:
            self._count(0, 1)

    async def try_list(self, path: str, kind: Kind, query: Mapping[str, str] | None = None) -> list[Body]:
        """Read the entries of a list. A refused list has none; it is noted unless nothing of the kind can be there."""
        try:
            return await self.read_list(path, kind.api_version, query)
        except RefusedListError as refused:
            # A missing right is one for this path alone: other lists of the type may be readable.
            if refused.error.status != FORBIDDEN:
                self._refused.add(kind.arm_type)
            self._note_refusal(path, refused.error)
            return []

    def is_refused(self, kind: Kind) -> bool:
        """Return whether Azure refused a list of a type, other than for a missing right."""
        return kind.arm_type in self._refused

    def _note_refusal(self, path: str, error: ArmError) -> None:
        if error.status == FORBIDDEN:
            self._note(f"{path}: {error.code}, {NO_RIGHT}")
        elif error.status != ABSENT:
            self._note(f"{path}: refused by Azure ({error.code})")

    async def read_all(self, kind: Kind, arm_ids: Sequence[ArmId]) -> dict[ArmId, Body]:
        """Read the resources of one kind by their ids, from as few requests as their lists allow."""
        listed: dict[IdKey, Body] = {}
        for path in _choose_lists(kind, arm_ids):
            try:
                entries = await self.read_list(path, kind.api_version)
            except RefusedListError:  # the others are read one by one
                break
            listed |= {ArmId(entry.get("id", "")).key: entry for entry in entries}
        known = {arm_id: listed[arm_id.key] for arm_id in arm_ids if arm_id.key in listed}
        return await self.complete(kind, known, [arm_id for arm_id in arm_ids if arm_id not in known])

    async def complete(
        self, kind: Kind, listed: Mapping[ArmId, Body], others: Iterable[ArmId] = ()
    ) -> dict[ArmId, Body]:
        """Complete listed resources, by their ids: with the bodies of the list, if it is complete. `others` are read
        one by one. Resources that are gone are left out.
        """
        # Providers differ by type, not by resource, so the first entry answers for all.
        is_complete = self._trusts_lists or not listed or await self._check(kind, *next(iter(listed.items())))
        wanted = [*others, *(() if is_complete else listed)]
        bodies = await asyncio.gather(*(self.try_read(arm_id, kind.api_version) for arm_id in wanted))
        read = {arm_id: body for arm_id, body in zip(wanted, bodies, strict=True) if body is not None}
        return {**(listed if is_complete else {}), **read}

    async def _check(self, kind: Kind, arm_id: ArmId, entry: Body) -> bool:
        """Return whether lists of a kind are complete: checked once for each kind, by its first resource."""
        # A task, since many lists of a type are read at the same time: all wait for the one answer.
        if kind.arm_type not in self._checks:
            self._checks[kind.arm_type] = asyncio.create_task(self._is_complete(kind, arm_id, entry))
        return await self._checks[kind.arm_type]

    async def _is_complete(self, kind: Kind, arm_id: ArmId, entry: Body) -> bool:
        body = await self.try_read(arm_id, kind.api_version)
        return body is not None and _list_settings(kind, body) == _list_settings(kind, entry)


def is_refused(error: ArmError) -> bool:
    """Return whether asking again would not help; services answer with various codes for what an account lacks."""
    return is_refusal(error) or 400 <= error.status < 500


def make_read_error(arm_id: ArmId, error: ArmError) -> SourceError:
    """Make the error of a resource that Azure refuses to show. Raises the ArmError if there is no answer."""
    if not is_refused(error):  # no answer is not the same as no resource
        raise error
    by_status = "Grant the role Reader." if error.status == FORBIDDEN else "Check the id."
    return SourceError(f"{arm_id} cannot be read: {error.code}: {error.message}", hint=error.hint or by_status)


def _list_settings(kind: Kind, body: Body) -> Mapping[str, Any]:
    """List what a manifest could set: read-only fields differ from one answer to the next."""
    if kind.is_any_type:
        context = BodyContext(refer=lambda _: None, secret="")
        return convert_any_body(kind, body, ArmId(body.get("id", "")).name, context).fields
    return convert_body(kind, body, ConversionContext(refer=lambda arm_id: {"armId": ArmId(arm_id).key})).fields


def _choose_lists(kind: Kind, arm_ids: Sequence[ArmId]) -> list[str]:
    """Choose the lists that show resources of a kind: of their groups if those are few, else of the subscription; none
    if reading them one by one takes no more requests.
    """
    groups = {(arm_id.resource_group or "").casefold(): arm_id for arm_id in arm_ids}
    lists = sorted(
        {collection for arm_id in groups.values() for collection in list_collections(kind, arm_id)},
        key=lambda collection: collection.path,
    )
    by_group = [collection.path for collection in lists if collection.level is ListLevel.GROUP]
    by_subscription = [collection.path for collection in lists if collection.level is ListLevel.SUBSCRIPTION]
    chosen = by_subscription if by_subscription and not 0 < len(by_group) <= MOST_GROUP_LISTS else by_group
    return chosen if len(chosen) < len(arm_ids) else []

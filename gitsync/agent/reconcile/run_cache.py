"""What one run read and wrote so far, for later resources.

Mutable, and made once a run. Nothing here has to be kept: it saves requests, and distinguishes waits from failures.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from gitsync.desired.formats.arm_path import name_lock
from gitsync.extensions.api import LookupRequest, LookupResult
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.model.verdict import Comparison
from gitsync.planning.managed_locks import NO_LOCKS
from gitsync.providers.arm.session import Session

_LARGEST_KEPT, _MOST_KEPT = 1 << 20, 32 << 20
"""Bytes of one response that is kept, and of all together; as objects they take several times that."""

_ROLE_ASSIGNMENT: Final = "/providers/microsoft.authorization/roleassignments/"

ReadSource = Callable[[Session], Awaitable[None]]
"""Reads a resource again, and makes known what it has."""


class RunCache:
    def __init__(self) -> None:
        self.lock_view = NO_LOCKS  # what stays locked in Azure now
        self.has_granted = False  # a role assignment was written: rights may take a while to spread
        self._created: set[IdKey] = set()
        self._writes: Counter[str] = Counter()
        self._sent: set[IdKey] = set()
        self._replaced: set[IdKey] = set()
        self._brought: dict[IdKey, Comparison] = {}
        self._read: dict[IdKey, Live] = {}
        self._kept_bytes = 0
        self._source_reads: dict[Key, ReadSource] = {}
        self._reading: dict[IdKey, asyncio.Lock] = {}
        self._answers: dict[LookupRequest, LookupResult] = {}
        self._lookups_under_way: dict[LookupRequest, asyncio.Lock] = {}

    def note_source(self, key: Key, read: ReadSource) -> None:
        """Note how to read a resource again that expressions of others need."""
        self._source_reads[key] = read

    async def read_source_again(self, key: Key, session: Session) -> None:
        """Read such a resource again, in the time of another one."""
        await self._source_reads[key](session)

    def note_write(self, arm_id: ArmId) -> None:
        """Forget what a write may have changed: the resource and its parents."""
        self._writes[name_lock(arm_id)] += 1
        for stale in arm_id.lineage:
            self._forget(stale)

    def take_back_write(self, arm_id: ArmId) -> None:
        """Forget a write that was begun, and refused for its condition."""
        self._writes[name_lock(arm_id)] -= 1

    def count_writes_near(self, arm_id: ArmId) -> int:
        """Count this run's writes under the write lock of a resource: each may have changed the ETags of all."""
        return self._writes[name_lock(arm_id)] if self._writes else 0

    def note_sent(self, arm_id: ArmId) -> None:
        """Note that a write of the resource was accepted, or may have been."""
        self._sent.add(arm_id.key)

    def has_sent(self, arm_id: ArmId) -> bool:
        return arm_id.key in self._sent

    def note_brought(self, comparisons: Mapping[IdKey, Comparison]) -> None:
        """Note that Azure accepted a PUT with children in it, by the keys of their ARM ids, and how each differed."""
        self._brought.update(comparisons)

    def find_brought(self, arm_id: ArmId) -> Comparison | None:
        """Return how a child differed before the PUT of its parent had it; None if no PUT did."""
        return self._brought.get(arm_id.key) if self._brought else None

    def note_replaced(self, arm_ids: Iterable[ArmId]) -> None:
        """Note that the run deletes resources to create them again."""
        self._replaced.update(arm_id.key for arm_id in arm_ids)

    def is_replaced(self, arm_id: ArmId) -> bool:
        return arm_id.key in self._replaced

    def note_applied(self, arm_id: ArmId, *, existed: bool) -> None:
        """Note that Azure accepted the write of a resource."""
        self.note_write(arm_id)
        self.note_sent(arm_id)
        if not existed:
            self._created.add(arm_id.key)
        self.has_granted = self.has_granted or _ROLE_ASSIGNMENT in arm_id.key

    def has_created(self, arm_ids: Iterable[ArmId]) -> bool:
        """Return whether this run created one of these resources."""
        return any(arm_id.key in self._created for arm_id in arm_ids)

    def has_created_any_in(self, text: str) -> bool:
        """Return whether a text in lower case names something that this run created, or a part of it. Every id names
        its group, so groups do not count.
        """
        # Every id names its group, so groups do not count.
        return any(arm_id in text for arm_id in self._created if "/providers/" in arm_id)

    def keep(self, arm_id: ArmId, live: Live) -> None:
        """Keep a resource as just read, for its children."""
        key = arm_id.key
        self._forget(key)
        # A resource that does not fit is read again when it is requested.
        if live.bytes_read <= _LARGEST_KEPT and self._kept_bytes + live.bytes_read <= _MOST_KEPT:
            self._read[key] = live
            self._kept_bytes += live.bytes_read

    def _forget(self, key: IdKey) -> None:
        if forgotten := self._read.pop(key, None):
            self._kept_bytes -= forgotten.bytes_read

    async def read_once(self, arm_id: ArmId, read: Callable[[], Awaitable[Live | None]]) -> Live | None:
        """Return the resource as read after this run's last write to it or below it. One read serves all callers."""
        async with self._reading.setdefault(arm_id.key, asyncio.Lock()):
            if arm_id.key not in self._read:
                # An absent resource is not kept: the run may create it for the next caller.
                live = await read()
                if live is not None:
                    self.keep(arm_id, live)
                return live
            return self._read[arm_id.key]

    async def look_up_once(self, lookup: LookupRequest, read: Callable[[], Awaitable[LookupResult]]) -> LookupResult:
        """Return the response to a check of several resources. One read serves all; an empty response is not kept."""
        async with self._lookups_under_way.setdefault(lookup, asyncio.Lock()):
            answer = self._answers.get(lookup) or await read()
            # This run may still create what an empty response lacks.
            if answer:
                self._answers[lookup] = answer
            return answer

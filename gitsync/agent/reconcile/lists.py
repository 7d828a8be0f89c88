"""The lists of a run: each is requested once, by the first resource that needs it, and serves all that wait for it.

Mutable, and made once a run. Entries of strangers are dropped page by page, and each other entry is handed out once, so
nothing is kept for longer than a resource waits.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from datetime import date
from typing import Any, TypeVar

from loguru import logger

from gitsync.desired.catalog.collections import list_embedded
from gitsync.errors import ArmError
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.model.problem import Level, Problem
from gitsync.planning.list_cover import ListCover, ResourceList, is_sampled
from gitsync.providers.arm.http.response_bodies import Entries, find_fault, is_refusal

T = TypeVar("T")
Entry = Mapping[str, Any]
Evaluate = Callable[[Entry], Awaitable[T | None]]
"""Makes something of an entry that approves its resource; None of one that does not."""

ReadPages = Callable[[Key, ResourceList], AsyncGenerator[Entries, None]]
"""Reads a list with the credential of a resource. Raises ArmError."""

_MOST_FAILURES = 3
"""Entries of a family that approve nothing, before one does: then its lists lack what is compared."""

_ABSENT_CONTAINERS = frozenset({"resourcegroupnotfound", "parentresourcenotfound", "resourcenotfound", "notfound"})
"""Refusals of one list, which do not concern others of its type."""


class Lists:
    """`cover` has the lists that may be requested; without one, every resource is read by itself. `day` chooses the
    sample of resources that are read though a list approves them.
    """

    def __init__(self, cover: ListCover | None = None, read: ReadPages | None = None, day: date = date.min) -> None:
        self._cover = cover or ListCover()
        self._read_pages = read
        self._day = day
        self._entries: dict[IdKey, Entry | None] = {}  # None: shown twice, and not alike
        self._children: dict[IdKey, Entry] = {}  # as their parents show them
        self._is_complete: dict[ResourceList, bool] = {}
        self._reading: defaultdict[ResourceList, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._is_useful: dict[Hashable, bool] = {}
        self._failures: Counter[Hashable] = Counter()
        self._first_uses: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._approved: dict[Key, str] = {}
        self._doubts: dict[str, Key] = {}

    def covers(self, key: Key) -> bool:
        """Return whether a list may approve a resource (`planning.list_cover.may_be_listed`)."""
        return key in self._cover.chains

    async def find_approval(self, key: Key, kind: Kind, arm_id: ArmId, evaluate: Evaluate[T]) -> T | None:
        """Return what `evaluate` makes of the entry of a resource in a list; None if the resource has to be read."""
        if kind.arm_type in self._doubts or key not in self._cover.chains:
            return None
        entry_id = arm_id.key
        # The body of the parent has shown it already, which saves the list too.
        if entry_id in self._children:
            return await evaluate(self._children.pop(entry_id))
        for resource_list in self._cover.chains[key]:
            is_found, approval = await self._evaluate_in_turn(resource_list, key, entry_id, evaluate)
            if is_found:
                return approval
        return None

    async def _evaluate_in_turn(
        self, resource_list: ResourceList, key: Key, entry_id: IdKey, evaluate: Evaluate[T]
    ) -> tuple[bool, T | None]:
        """As `_evaluate_listed`, for one resource of a family at a time until its lists are known to be of use."""
        # Until one entry has approved something, a list may be in vain: so one resource tries, and the others wait.
        if resource_list.family not in self._is_useful:
            async with self._first_uses[resource_list.family]:
                if resource_list.family not in self._is_useful:
                    return await self._evaluate_listed(resource_list, key, entry_id, evaluate)
        return await self._evaluate_listed(resource_list, key, entry_id, evaluate)

    async def _evaluate_listed(
        self, resource_list: ResourceList, key: Key, entry_id: IdKey, evaluate: Evaluate[T]
    ) -> tuple[bool, T | None]:
        """Return whether a list shows a resource or its absence, and what `evaluate` makes of that."""
        is_complete = self._is_useful.get(resource_list.family, True) and await self._request(resource_list, key)
        # A list that was given up may have shown this entry before.
        if not is_complete and entry_id not in self._entries:
            return False, None
        entry = self._entries.pop(entry_id, None)
        approval = await evaluate(entry) if entry is not None else None
        self._learn(resource_list.family, is_useful=approval is not None)
        return True, approval

    def offer_children(self, kind: Kind, api_version: str, body: Mapping[str, Any]) -> None:
        """Keep the children that the body of a resource shows, for nodes that need them later."""
        for entry in list_embedded(kind, body):
            entry_id = _find_id(entry)
            if self._cover.versions.get(entry_id) == api_version:
                self._children[entry_id] = entry

    def is_sampled(self, key: Key) -> bool:
        """Return whether a resource is in the sample of the day."""
        return is_sampled(key, self._day)

    def note_approved(self, key: Key, kind: Kind) -> None:
        """Note that a list has approved a resource, which is not read."""
        self._approved[key] = kind.arm_type

    def distrust(self, key: Key, kind: Kind) -> None:
        """Use no more lists of a type: one approved a resource that a read did not."""
        self._doubts.setdefault(kind.arm_type, key)

    def take_doubtful(self) -> frozenset[Key]:
        """The approved resources of the types that are not trusted any more, to be read now."""
        doubtful = frozenset(key for key, arm_type in self._approved.items() if arm_type in self._doubts)
        for key in doubtful:
            del self._approved[key]
        return doubtful

    def warn_distrusted(self) -> tuple[Problem, ...]:
        """A warning for each type whose lists are not trusted."""
        return tuple(_make_warning(arm_type, key) for arm_type, key in sorted(self._doubts.items()))

    def _learn(self, family: Hashable, *, is_useful: bool) -> None:
        """Count the first uses of a family. Lists that approve nothing are not requested again."""
        if is_useful:
            # The first verdict stays: after one approval, an entry that does not approve shows a change and not a bad
            # list.
            self._is_useful.setdefault(family, True)
            return
        self._failures[family] += 1
        if self._failures[family] >= _MOST_FAILURES:
            self._is_useful.setdefault(family, False)

    async def _request(self, resource_list: ResourceList, key: Key) -> bool:
        """Read a list, once. Returns whether it was read to its end, or until it had shown all that is wanted."""
        if resource_list in self._is_complete:
            return self._is_complete[resource_list]
        async with self._reading[resource_list]:
            if resource_list not in self._is_complete:
                self._is_complete[resource_list] = await self._read(resource_list, key)
        return self._is_complete[resource_list]

    async def _read(self, resource_list: ResourceList, key: Key) -> bool:
        if self._read_pages is None:
            raise AssertionError("a cover comes with a way to read it")
        try:
            async with aclosing(self._read_pages(key, resource_list)) as pages:
                return await self._keep_wanted(resource_list, pages)
        except ArmError as error:
            logger.bind(path=resource_list.path, status=error.status, code=error.code).debug("List cannot be used")
            # A refusal is about all lists of the type; an absent container is about this list alone.
            if is_refusal(error) and error.code.casefold() not in _ABSENT_CONTAINERS:
                self._is_useful[resource_list.family] = False
            return False

    async def _keep_wanted(self, resource_list: ResourceList, pages: AsyncGenerator[Entries, None]) -> bool:
        """Keep the wanted entries of a list. Returns False if it is given up, because its pages show mostly strangers:
        they replace fewer requests than they take.
        """
        wanted, shown, count = self._cover.wanted[resource_list], set[IdKey](), 0
        async for page in pages:
            count += 1
            for entry in page:
                entry_id = _find_id(entry)
                if entry_id in wanted:
                    self._keep(entry_id, entry, is_repeated=entry_id in shown)
                    shown.add(entry_id)
            if len(shown) == len(wanted):
                return True
            # Behind by one page may be chance; by more, reading one by one takes fewer requests.
            if count > len({wanted[entry_id] for entry_id in shown}) + 1:
                return False
        return True

    def _keep(self, entry_id: IdKey, entry: Entry, *, is_repeated: bool) -> None:
        # A page that changes while the list is read shows an entry twice. If they differ, neither is believed.
        is_changed = is_repeated and self._entries.get(entry_id) != entry
        self._entries[entry_id] = None if is_changed else entry


def is_settled(live: Live, arm_id: ArmId, rule_key: tuple[str, str], registry: Registry) -> bool:
    """Return whether an entry shows a resource whose last operation has succeeded, in a state that its checks allow."""
    is_shown = not find_fault(live.body, arm_id)
    return is_shown and live.has_succeeded and registry.allows_listed(*rule_key, live)


def _find_id(entry: Entry) -> IdKey:
    arm_id = entry.get("id")
    return ArmId(arm_id).key if isinstance(arm_id, str) else NO_ID.key


def _make_warning(arm_type: str, key: Key) -> Problem:
    return Problem(
        code="ListNotTrusted",
        level=Level.WARNING,
        message=f"A list of {arm_type} showed {key} as unchanged, but a read showed a change. This run read all "
        "resources of this type one by one.",
        hint="If this happens again, set --reads each.",
    )

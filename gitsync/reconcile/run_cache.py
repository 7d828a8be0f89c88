"""What one run did so far, for later nodes: all that nodes share except the client.

Mutable, and made once a run. Everything here can be lost without harm: it saves requests and distinguishes waits from
failures.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from gitsync.arm.http.address import find_lock_name
from gitsync.arm.http.conversation import LAST_ANSWER, Conversation
from gitsync.extensions.api import LookupRequest, LookupResult
from gitsync.formats.arm_path import iterate_ancestors
from gitsync.model.live import Live


class RunCache:
    def __init__(self) -> None:
        self.granted = False  # a role assignment was written: rights may take a while to spread
        self._created: set[str] = set()
        self._writes: Counter[str] = Counter()
        self._sent: set[str] = set()
        self._fresh: dict[str, Live] = {}
        self._reading: dict[str, asyncio.Lock] = {}
        self._told: dict[LookupRequest, LookupResult] = {}
        self._asking: dict[LookupRequest, asyncio.Lock] = {}
        self._conversations: list[Conversation] = []
        self._stopped_at: float | None = None

    def joins(self, conversation: Conversation) -> None:
        """Let a stop of the run reach a node that begins."""
        self._conversations.append(conversation)
        if self._stopped_at is not None:
            conversation.end(self._stopped_at)

    def last_words(self, deadline: float, now: float) -> Conversation:
        """A conversation for what is left to do after the nodes: some seconds remain for it even when the time is up
        or the run was stopped.
        """
        if self._stopped_at is not None:
            return Conversation(deadline=now + LAST_ANSWER)
        conversation = Conversation(deadline=max(deadline, now + LAST_ANSWER))
        self._conversations.append(conversation)
        return conversation

    def stop(self, now: float) -> None:
        """End every wait: what is under way is left to the next run. `now` is in monotonic seconds."""
        self._stopped_at = now
        for conversation in self._conversations:
            conversation.end(now)

    def wrote(self, arm_id: str) -> None:
        """Forget what a write may have changed: the resource and its parents."""
        self._writes[find_lock_name(arm_id)] += 1
        for stale in iterate_ancestors(arm_id):
            self._fresh.pop(stale, None)

    def moved_nothing(self, arm_id: str) -> None:
        """Take back a write that was begun, and refused for its condition."""
        self._writes[find_lock_name(arm_id)] -= 1

    def writes_near(self, arm_id: str) -> int:
        """Count this run's writes in a resource's lane, begun and done: each may have moved the ETag of all in it."""
        return self._writes[find_lock_name(arm_id)]

    def sent(self, arm_id: str) -> None:
        """Note that a write of the resource was accepted, or may have been."""
        self._sent.add(arm_id.casefold())

    def has_sent(self, arm_id: str) -> bool:
        return arm_id.casefold() in self._sent

    def created(self, arm_id: str) -> None:
        self._created.add(arm_id.casefold())

    def created_any(self, arm_ids: Iterable[str]) -> bool:
        """Tell whether this run created one of these resources."""
        return any(arm_id.casefold() in self._created for arm_id in arm_ids)

    def saw(self, arm_id: str, live: Live) -> None:
        """Keep what was just read, for those that this resource owns."""
        self._fresh[_known(arm_id)] = live

    async def fresh(self, arm_id: str, read: Callable[[], Awaitable[Live | None]]) -> Live | None:
        """Return what was read after this run's last write to the resource or below it; one read serves all."""
        known = _known(arm_id)
        async with self._reading.setdefault(known, asyncio.Lock()):
            if known not in self._fresh:
                live = await read()
                if live is None:
                    return None
                self._fresh[known] = live
            return self._fresh[known]

    async def told(self, question: LookupRequest, read: Callable[[], Awaitable[LookupResult]]) -> LookupResult:
        """Return the answer to a question that is the same for all; one read serves them. An empty one is not kept."""
        async with self._asking.setdefault(question, asyncio.Lock()):
            answer = self._told.get(question) or await read()
            if answer:
                self._told[question] = answer
            return answer


def _known(arm_id: str) -> str:
    """The id as it is looked up by."""
    return next(iterate_ancestors(arm_id), "")

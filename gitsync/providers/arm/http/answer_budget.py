"""Bounds the total size of the answers that are read at the same time: each has its own limit, and there may be dozens.

An answer counts from `FREE` bytes on, piece by piece: most are compressed, so the size is known at the end only. An
answer that does not fit waits with what it has. All could wait for each other, so the oldest never waits. The bound is
therefore the budget plus the rest of one answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FREE: Final = 1 << 18
"""Bytes of an answer that are not counted: nearly all Azure answers have fewer."""

MOST_TOGETHER: Final = 32 << 20
"""Bytes that the answers of a connection may have together while they are read."""


class AnswerBudget:
    """The bytes of all answers of a connection. Made inside of its event loop."""

    def __init__(self, most: int = MOST_TOGETHER) -> None:
        self._most = most
        self._holders: dict[AnswerShare, None] = {}  # the oldest first
        self._freed = asyncio.Event()
        self.used = 0

    @contextmanager
    def share(self) -> Iterator[AnswerShare]:
        """Count an answer until the context ends."""
        share = AnswerShare(self)
        try:
            yield share
        finally:
            if share in self._holders:
                self._give_back(share)

    async def take(self, share: AnswerShare, count: int) -> None:
        """Wait until `count` more bytes fit."""
        self._holders.setdefault(share)
        while self.used + count > self._most and next(iter(self._holders)) is not share:
            await self._freed.wait()
        self.used += count
        share.counted += count

    def _give_back(self, share: AnswerShare) -> None:
        self.used -= share.counted
        del self._holders[share]
        self._freed.set()  # those that wait check again for room and for the oldest
        self._freed = asyncio.Event()


class AnswerShare:
    """What one answer has of a budget."""

    def __init__(self, budget: AnswerBudget) -> None:
        self._budget = budget
        self.read = 0
        self.counted = 0

    async def note(self, count: int) -> None:
        """Note that `count` bytes were read; wait for room for the next ones."""
        self.read += count
        if self.read > FREE:
            await self._budget.take(self, self.read - self.counted)

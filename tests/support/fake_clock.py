"""A clock that moves when slept on, in order: of several sleepers the earliest wakes first."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


class FakeClock:
    """`slept` lists the requested waits. Real sockets get a moment of real time before the clock moves on."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int]] = []

    def now(self) -> datetime:
        return START + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return 1000.0 + self.elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        turn = (self.elapsed + seconds, len(self.slept))
        heapq.heappush(self._sleepers, turn)
        try:
            await asyncio.sleep(0.002)
            while self._sleepers[0] != turn:  # noqa: ASYNC110 - woken in order of time, which an event does not have
                await asyncio.sleep(0)
            self.elapsed = max(self.elapsed, turn[0])
        finally:
            self._sleepers.remove(turn)
            heapq.heapify(self._sleepers)

"""A clock without waits: when nothing else can go on, it jumps to the next timer. For simulations, not sockets."""

import asyncio
import heapq
import itertools
from collections.abc import Coroutine
from typing import Any

_ROUNDS = 8  # of the event loop, after which a woken task waits for the clock again


class VirtualClock:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.seconds + seconds, next(self._count), woken))
        await woken

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the work to its end, however many virtual seconds that takes."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            if self._sleepers:
                at, _, woken = heapq.heappop(self._sleepers)
                self.seconds = max(self.seconds, at)
                if not woken.done():
                    woken.set_result(None)
        await task

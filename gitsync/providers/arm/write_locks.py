"""Write locks: one write at a time if Azure would refuse a second one (docs/reference/design.md#write-locks).

`formats.arm_path.name_lock` defines which resources share a lock. A lock is acquired for the write, and released
when its operation has ended; reads need none.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from gitsync.desired.formats.arm_path import cut_to_top_resource, name_lock
from gitsync.model.result import Wait
from gitsync.providers.arm.session import Session


class WriteLocks:
    """Locks by name, served in the order of the calls; they live as long as the run."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def acquire(self, arm_id: str, session: Session) -> AsyncIterator[None]:
        """Wait for the lock of a resource, and release it after the body of the `async with`."""
        lock = self._locks[name_lock(arm_id)]
        # A free lock is the usual case, and shows nothing to wait for.
        with session.waiting(_make_wait(arm_id)) if lock.locked() else nullcontext():
            await lock.acquire()
        try:
            yield
        finally:
            lock.release()


def _make_wait(arm_id: str) -> Wait:
    *_, arm_type, name = cut_to_top_resource(arm_id).split("/")
    return Wait(f"waits for the write lock of {arm_type}/{name}")

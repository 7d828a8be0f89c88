"""Write locks: one write at a time if Azure would refuse the second (docs/reference/design.md#write-locks).

`address.find_lock_name` defines which resources share a lock. A lock is held from the write until its operation has
ended; reads need none.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gitsync.arm.http.address import find_lock_name


class WriteLocks:
    """Locks by name, served in the order of asking; they live as long as the run."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def hold(self, arm_id: str) -> AsyncIterator[None]:
        """Wait for the lock of a resource and keep it for the body of the `async with`."""
        async with self._locks[find_lock_name(arm_id)]:
            yield

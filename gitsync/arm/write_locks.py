"""Write locks: one write at a time if Azure would refuse the second
(docs/reference/design.md#write-locks).

`find_lock_name` defines which resources share a lock. A lock is held from the write until its
operation has ended; reads need none.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from gitsync.arm.session import Session
from gitsync.model.result import Wait

_CONTAINER = re.compile(
    r"^(/subscriptions/[^/]+(/resourceGroups/[^/]+)?|/providers/Microsoft\.Management/managementGroups/[^/]+)"
    r"(?=/providers/)",
    re.IGNORECASE,
)


def find_lock_name(arm_id: str) -> str:
    """Find the name of the write lock of a resource: its top-most ancestor that is a resource, or itself.

    So a virtual network and its subnets exclude each other, and so do sibling agent pools and their cluster, at any
    depth: providers lock the top resource while an operation runs below it (Network, Kusto, Cosmos DB, AKS) and answer
    409 or 429 to all others. A resource group, a subscription and a management group are containers, not resources:
    writes directly below one run in parallel. An extension resource (role assignment, flux configuration) shares
    the lock of the resource that it extends; at a container it has its own.
    """
    return _find_top(arm_id).casefold()


def _find_top(arm_id: str) -> str:
    container = _CONTAINER.match(arm_id)
    prefix = container[0] if container else ""
    segments = arm_id[len(prefix) :].strip("/").split("/")
    is_resource = segments[0].casefold() == "providers"
    kept = segments[:4] if is_resource else segments  # providers, namespace, type, name
    return "/".join((prefix, *kept))


class WriteLocks:
    """Locks by name, served in the order of asking; they live as long as the run."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def hold(self, arm_id: str, session: Session) -> AsyncIterator[None]:
        """Wait for the lock of a resource and keep it for the body of the `async with`."""
        lock = self._locks[find_lock_name(arm_id)]
        with session.waiting(_make_wait(arm_id)) if lock.locked() else nullcontext():
            await lock.acquire()
        try:
            yield
        finally:
            lock.release()


def _make_wait(arm_id: str) -> Wait:
    *_, arm_type, name = _find_top(arm_id).split("/")
    return Wait(f"waits for the write lock of {arm_type}/{name}")

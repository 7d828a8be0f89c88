"""Waits for secret sources before a run begins: no longer than the settings allow, and not once the run is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

TIMED_OUT = "Timed out waiting for secret sources."


async def wait_for_sources(work: Coroutine[Any, Any, T], *, patience: float, stop: asyncio.Event) -> T | None:
    """The result of a lookup; None if the sources do not answer within `patience` seconds, or the run is stopped."""
    lookup_task = asyncio.create_task(work)
    stop_task = asyncio.create_task(stop.wait())
    await asyncio.wait({lookup_task, stop_task}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    stop_task.cancel()
    if lookup_task.done():
        return lookup_task.result()
    lookup_task.cancel()
    await asyncio.wait({lookup_task})
    return None

"""What a client costs, measured by its own process: seconds, processor time, memory, requests."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable


def tell(run: Callable[[], Awaitable[int]]) -> None:
    """Run once, and print what it cost as a line of JSON; `run` gives the number of requests that it sent.

    `seconds` and `cpu` are of the run alone, git's processes with it; imports are measured as start-up. `memory` is the
    most that the process ever held, in MB.
    """
    started, before = time.perf_counter(), _cpu()
    requests = asyncio.run(_awaited(run))
    seconds, cpu = time.perf_counter() - started, _cpu() - before
    print(json.dumps({"seconds": seconds, "cpu": cpu, "memory": _peak(), "requests": requests}))


async def _awaited(run: Callable[[], Awaitable[int]]) -> int:
    return await run()


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _peak() -> float:
    """In MB; the kernel counts in KB, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6

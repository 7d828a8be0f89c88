"""`python -m bench.throttled`: reads from a server with a twentieth of ARM's buckets, as ratios of the least time.

Beside gitsync's client is one that sends without pacing and waits as each 429 states. Both read at once, each from an
emulator of its own. Exits 1 if gitsync's ratio is above `MOST`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import Bucket, EmulatorSettings, Limits
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session

READS = Bucket(size=12, per_second=1.25)
REQUESTS = 100
MOST = 1.05
API = "2024-05-01"
VNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/hub"

Client = Callable[[str], Awaitable[None]]


async def read_paced(url: str) -> None:
    """All requests at once, through gitsync's client."""
    clock = SystemClock()
    access = ArmAccess(cloud=make_cloud(url), sign_in=SignIn(method=Method.ANONYMOUS))
    async with open_arm(access, clock) as arm:
        talks = [Session(deadline=clock.monotonic() + 3600) for _ in range(REQUESTS)]
        await asyncio.gather(*(arm.reader(talk).get(VNET, API) for talk in talks))


async def read_unpaced(url: str) -> None:
    """The same, each tried again after the seconds that its 429 names."""
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(_insist(session, f"{url}{VNET}?api-version={API}") for _ in range(REQUESTS)))


async def _insist(session: aiohttp.ClientSession, url: str) -> None:
    while True:
        async with session.get(url) as answer:
            await answer.read()
            if answer.status != 429:
                return
        await asyncio.sleep(float(answer.headers["Retry-After"]))


async def measure(client: Client) -> tuple[float, int]:
    """The seconds of a client as a ratio of the least, and how often it was refused."""
    async with Emulator(EmulatorSettings(limits=Limits(reads=READS))) as azure:
        began = time.monotonic()
        await client(azure.url)
        seconds = time.monotonic() - began
        refused = sum(request.status == 429 for request in azure.requests)
    return seconds / ((REQUESTS - READS.size) / READS.per_second), refused


async def main() -> int:
    """Print a row for each client, and give the exit code."""
    paced, unpaced = await asyncio.gather(measure(read_paced), measure(read_unpaced))
    for name, (ratio, refused) in (("gitsync", paced), ("without pacing", unpaced)):
        print(f"{ratio:6.3f}  {refused:4} of {REQUESTS + refused} requests refused  {name}")
    return 1 if paced[0] > MOST else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

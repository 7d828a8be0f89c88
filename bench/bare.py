"""The client that gitsync is held against: aiohttp and json, the same requests, nothing else.

`python -m bench.bare URL REQUESTS first|second`; REQUESTS is a file with what `estate.requests_of` gives. It does not
compare, remember or record, and it sends again only what was throttled, after the time that the 429 names.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from bench.meter import tell

THROTTLED = 429

IN_FLIGHT = 32
"""As gitsync's own `--concurrency`."""


class Bare:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self.requests = 0

    async def send(self, method: str, at: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer's body. RuntimeError for an answer that was not asked for: what is measured must be the work."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        while True:
            self.requests += 1
            async with self._session.request(method, f"{self._url}{at}", data=content, headers=headers) as answer:
                found = json.loads(await answer.read())
                if answer.ok or answer.status == 404:
                    return found
                if answer.status != THROTTLED:
                    raise RuntimeError(f"{method} {at}: {answer.status} {found}")
            await asyncio.sleep(float(answer.headers["Retry-After"]))


async def first(client: Bare, resources: list[dict[str, Any]]) -> None:
    """Look whether what has no owner is there, create everything in the order of owners, and read it back."""
    created = {resource["key"]: asyncio.Event() for resource in resources}

    async def create(write: Mapping[str, Any]) -> None:
        for other in write["after"]:
            await created[other].wait()
        if not write["after"]:
            await client.send("GET", write["at"])
        await client.send("PUT", write["at"], write["body"])
        await client.send("GET", write["at"])
        created[write["key"]].set()

    await asyncio.gather(*(create(resource) for resource in resources))


async def second(client: Bare, resources: list[dict[str, Any]]) -> None:
    """Read everything."""
    await asyncio.gather(*(client.send("GET", resource["at"]) for resource in resources))


RUNS = {"first": first, "second": second}


async def run(url: str, resources: list[dict[str, Any]], which: str) -> int:
    """Send the requests of a first or a second run, and give their number."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        client = Bare(session, url)
        await RUNS[which](client, resources)
        return client.requests


if __name__ == "__main__":
    tell(partial(run, sys.argv[1], json.loads(Path(sys.argv[2]).read_bytes()), sys.argv[3]))

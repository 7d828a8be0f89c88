"""An HTTP(S) server on a real socket that answers by script, and remembers what it was sent."""

import asyncio
import json
import ssl
from collections import defaultdict, deque
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from aiohttp import web

from gitsync.emulator.http.listener import Listener

BREAK = "break the connection"
HANG = "never answer"


@dataclass(frozen=True)
class Seen:
    """One request: path and query as they came, headers with names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Say:
    """One answer. Its body is JSON, or text or bytes as they are."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


class ScriptedServer:
    """`script[(method, path)]` is a queue of answers; the last one is repeated. Paths compare unquoted and without
    case.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.connections: set[object] = set()
        self.most_at_once = 0
        self._under_way = 0
        self.url = ""
        self._script: defaultdict[tuple[str, str], deque[Say]] = defaultdict(deque)

    def on(self, method: str, path: str, *answers: Say) -> None:
        self._script[method, unquote(path).casefold()].extend(answers)

    def forget(self) -> None:
        """Script and memory, but not the connections."""
        self._script.clear()
        self.seen.clear()

    @property
    def lines(self) -> list[str]:
        return [seen.line for seen in self.seen]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            await asyncio.sleep(0)
            return await self._answer(request)
        finally:
            self._under_way -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.connections.add(request.transport)
        raw = await request.read()
        path, _, query = request.raw_path.partition("?")
        self.seen.append(
            Seen(
                method=request.method,
                path=path,
                query=query,
                headers={name.lower(): value for name, value in request.headers.items()},
                body=_read(raw, request.content_type),
            )
        )
        queue = self._script.get((request.method, unquote(path).casefold()))
        if not queue:
            return web.json_response({"error": {"code": "ResourceNotFound", "message": "not scripted"}}, status=404)
        say = queue.popleft() if len(queue) > 1 else queue[0]
        if say.fault == BREAK:
            request.transport.close()
            return web.Response()
        if say.fault == HANG:
            await asyncio.sleep(3600)
        return self._response(say)

    def _response(self, say: Say) -> web.Response:
        headers = {name: value.replace("{url}", self.url) for name, value in say.headers.items()}
        if say.body is None:
            return web.Response(status=say.status, headers=headers)
        if isinstance(say.body, str):
            return web.Response(status=say.status, text=say.body, headers=headers)
        if isinstance(say.body, bytes):
            return web.Response(status=say.status, body=say.body, headers=headers)
        text = json.dumps(say.body).replace("{url}", self.url)
        return web.Response(status=say.status, text=text, content_type="application/json", headers=headers)


def _read(raw: bytes, content_type: str) -> Any:
    if not raw:
        return None
    return json.loads(raw) if content_type == "application/json" else dict(parse_qsl(raw.decode()))


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None):
    """A server on a free port of 127.0.0.1 for the length of the block."""
    server = ScriptedServer()
    listener = Listener(server.answer, grace=0.1)
    server.url = await listener.open(tls=tls)
    try:
        yield server
    finally:
        await listener.close()

"""The emulator as a server: one socket, one Azure behind it, and methods that change its state directly."""

from __future__ import annotations

import asyncio
import copy
import json
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Self

from aiohttp import web

from gitsync.emulator.changes.moves import apply_moves, play_due_moves
from gitsync.emulator.clock import EmulatorClock
from gitsync.emulator.faults import Move
from gitsync.emulator.http.handler import MOST_BYTES, LoggedRequest, RequestHandler, RequestLog
from gitsync.emulator.http.listener import Listener
from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.http.target import parse
from gitsync.emulator.identity.tokens import Tokens
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.deleted_resources import keep_configured
from gitsync.emulator.state.store import MemoryStore, RememberingStore, Store
from gitsync.emulator.types.bodies import build_body
from gitsync.model.clock import Clock


class Emulator:
    """An Azure Resource Manager on a socket of this machine: `async with Emulator() as azure: azure.url`.

    `is_last` is called for each request once its work is done: after the last one, nothing is answered any more, as if
    the caller had died, and `is_over` is set. The methods after `__aexit__` read and change the state without a
    request, for tests and demonstrations; ids are case-insensitive.
    """

    def __init__(
        self,
        settings: EmulatorSettings | None = None,
        store: Store | None = None,
        clock: Clock | None = None,
        is_last: Callable[[LoggedRequest], bool] | None = None,
    ) -> None:
        settings, store, clock = settings or EmulatorSettings(), store or MemoryStore(), clock or EmulatorClock()
        if any(rule.list_fault and rule.list_fault.stale for rule in settings.rules):
            store = RememberingStore(store, clock)  # costs a copy of each change, so only if it is needed
        self.cloud = EmulatedCloud(store, settings, clock)
        if settings.deleted:
            with store.transaction():
                keep_configured(store, settings.deleted, clock.now().timestamp())
        # Those without a request to wait for: the methods below read the state directly.
        play_due_moves(self.cloud)
        self.url = ""
        self.is_over = asyncio.Event()
        self._is_last = is_last
        self._handler = RequestHandler(self.cloud)
        self._listener = Listener(self.handle)

    @property
    def requests(self) -> RequestLog:
        """The log of requests."""
        return self._handler.requests

    @property
    def tokens(self) -> Tokens:
        """The issuer of tokens."""
        return self._handler.tokens

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> str:
        """Listen, and return the URL; port 0 picks a free port."""
        self.url = await self._listener.open(host, port, tls)
        return self.url

    async def stop(self) -> None:
        """Close every connection, and the store's file."""
        await self._listener.close()
        self.cloud.store.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Handle a request of the socket. A subclass may watch requests and answers here."""
        content, base = await _read_content(request), f"{request.scheme}://{request.host}"
        # A killed process sends nothing, so what arrives now must have no effect.
        if self.is_over.is_set():
            return _break(request)
        own_answer = self._handler.answer_beside(request.path, request.method, content, base, request.remote or "")
        if own_answer is not None:
            return _make_response(own_answer)
        answer = await self._handler.answer(_read_request(request, base), content)
        if self._is_last is not None and self._is_last(self.requests[-1]):
            self.is_over.set()
        return _break(request) if answer is None or self.is_over.is_set() else _make_response(answer)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def resource(self, arm_id: str) -> dict[str, Any] | None:
        """Return the body that a GET would return, or None. Unlike a GET, it does not advance operations."""
        target = parse(arm_id)
        resource = self.cloud.store.resource(target.key)
        return build_body(self.cloud, target, resource) if resource is not None and resource.visible else None

    def received(self, arm_id: str) -> dict[str, Any] | None:
        """Return the body as it was sent, with the secrets that no GET shows."""
        resource = self.cloud.store.resource(parse(arm_id).key)
        return copy.deepcopy(dict(resource.body)) if resource is not None else None

    def ids(self, below: str = "/") -> list[str]:
        """Return the ids of all resources, sorted case-insensitively."""
        return [resource.id for _, resource in self.cloud.store.below(below.casefold())]

    def put(self, arm_id: str, body: Mapping[str, Any]) -> None:
        """Create or replace a resource without any check: its group and its parent need not exist."""
        self.move(arm_id, Move(create=body))

    def change(self, arm_id: str, pointer: str, value: Any) -> None:
        """Set one value of a resource, by JSON pointer (RFC 6901); KeyError if its parent does not exist.

        `/properties/provisioningState` sets the state that answers show.
        """
        self.move(arm_id, Move(set={pointer: value}))

    def remove(self, arm_id: str) -> None:
        """Delete a resource and everything below it; KeyError if it does not exist."""
        self.move(arm_id, Move(delete=True))

    def move(self, arm_id: str, move: Move) -> str:
        """Apply a move to a resource. Returns its correlation id in Azure's logs."""
        return apply_moves(self.cloud, parse(arm_id), [move])[0]


def _break(request: web.BaseRequest) -> web.Response:
    """Break the connection: the client gets no answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _read_request(request: web.BaseRequest, base: str) -> ServerRequest:
    return ServerRequest(
        method=request.method,
        # The raw path: a %2F inside of a name must not split it.
        target=parse(request.rel_url.raw_path),
        api_version=request.query.get("api-version", ""),
        base=base,
        query=request.query,
        headers=request.headers,
    )


async def _read_content(request: web.BaseRequest) -> bytes:
    """Read the body; reading stops soon after the limit."""
    content = bytearray()
    async for chunk in request.content.iter_any():
        content += chunk
        if len(content) > MOST_BYTES:
            break
    return bytes(content)


def _make_response(answer: ServerResponse) -> web.Response:
    headers = {"Cache-Control": "no-cache", **answer.headers}
    if answer.body is None:
        return web.Response(status=answer.status, headers=headers)
    # A script may answer as a proxy or a load balancer does, with a page.
    if isinstance(answer.body, str):
        return web.Response(status=answer.status, headers=headers, text=answer.body, content_type="text/html")
    # Microsoft Graph answers with a type of its own.
    headers.setdefault("Content-Type", "application/json; charset=utf-8")
    return web.Response(status=answer.status, headers=headers, body=json.dumps(answer.body).encode())

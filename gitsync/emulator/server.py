"""The emulator as a server: one socket, one Azure behind it.

A request is read, admitted, held against the script, answered from the state, and written down. The answer is found
without waiting, in one transaction; so requests never see each other's half-done work.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, Self
from urllib.parse import parse_qsl
from uuid import uuid4

from aiohttp import web

from gitsync.emulator import access, admin, operations, route
from gitsync.emulator.answers import Answer, Refused, refusal, refuse
from gitsync.emulator.call import Call, Caller, Course
from gitsync.emulator.clock import SystemClock
from gitsync.emulator.cloud import Cloud
from gitsync.emulator.faults import Drop, Rule, met
from gitsync.emulator.hand import Hand
from gitsync.emulator.record import LoggedRequest, Requests
from gitsync.emulator.settings import Settings
from gitsync.emulator.store import MemoryStore, Store
from gitsync.emulator.target import parse
from gitsync.emulator.throttle import Throttle
from gitsync.emulator.tokens import Tokens
from gitsync.model.clock import Clock

_MOST_BYTES = 4 * 1024 * 1024


class Emulator(Hand):
    """An Azure Resource Manager on a socket of this machine: `async with Emulator() as azure: azure.url`.

    `requests` is what was asked of it. What tests and demonstrations do behind its back is in `Hand`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        store: Store | None = None,
        clock: Clock | None = None,
    ) -> None:
        settings = settings or Settings()
        super().__init__(Cloud(store or MemoryStore(), settings, clock or SystemClock()))
        self.requests = Requests()
        self.tokens = Tokens(settings, self.cloud.store, self.cloud.clock)
        self.url = ""
        self._throttle = Throttle(settings.limits)
        self._ids = (f"{prefix}-{number:012x}" for prefix in [str(uuid4())[:23]] for number in count(1))
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> str:
        """Listen, and give the URL; port 0 takes a free one."""
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, ssl_context=tls).start()
        name = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{name}:{self._runner.addresses[0][1]}"
        return self.url

    async def stop(self) -> None:
        """Close every connection, and the store's file."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.cloud.store.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        sent = await _sent(request)
        own = self._own_answer(request, sent)
        if own is not None:
            return _response(own, {})
        call = _call(request)
        answer: Answer | None
        try:
            call, left = self._admit(call, sent)
            answer = await self._played(call)
            answer = answer.but(left) if answer is not None else None
        except Refused as no:
            answer = no.answer
        identity = {"x-ms-request-id": next(self._ids)}
        self._log(call, answer, identity["x-ms-request-id"])
        if answer is None:
            _hang_up(request)
            return web.Response()
        identity["x-ms-correlation-request-id"] = request.headers.get(
            "x-ms-correlation-request-id", identity["x-ms-request-id"]
        )
        return _response(answer, identity)

    def _own_answer(self, request: web.BaseRequest, sent: bytes) -> Answer | None:
        """The answer of paths that are not ARM's: the emulator's own, and the identity platform's."""
        path = request.path
        try:
            if path.startswith(admin.PREFIX):
                return admin.answer(self.cloud, self.requests, request.method, path, request.remote or "")
        except Refused as no:
            return no.answer
        if not path.endswith(("/token", "/openid-configuration")):
            return None
        return self.tokens.answer(path, dict(parse_qsl(sent.decode("utf-8", "replace"))), _base(request))

    def _admit(self, call: Call, sent: bytes) -> tuple[Call, dict[str, str]]:
        """Who it is, whether there is a version, whether there is a token left in the bucket; then the body."""
        caller = self.tokens.caller(call.headers.get("Authorization", ""), call.base)
        call = replace(call, caller=caller)
        access.check_version(call.api_version)
        left = self._throttle.take(call, self.cloud.clock.monotonic())
        return replace(call, body=_json(sent)) if sent else call, left

    async def _played(self, call: Call) -> Answer | None:
        """The answer as the script would have it; None where the connection breaks instead."""
        rules = self._met(call) if self.cloud.settings.rules else []
        if not rules:
            return self._answer(call)
        for rule in rules:
            await self.cloud.clock.sleep(rule.delay)
        drops = {rule.drop for rule in rules}
        if Drop.BEFORE in drops:
            return None
        canned = next((rule.answer for rule in rules if rule.answer), None)
        course = next((rule.course for rule in rules if rule.course), Course())
        answer = canned.answer(call) if canned else self._answer(replace(call, course=course))
        for rule in rules:
            with suppress(KeyError):  # a move of what is not there moves nothing
                self.move(call.target, rule.move)
        if Drop.AFTER in drops:
            return None
        if any(rule.timeout for rule in rules):
            return refusal("GatewayTimeout", namespace=call.target.namespace or "Microsoft.Resources")
        return answer

    def _met(self, call: Call) -> list[Rule]:
        kind, poll = self._about(call)
        with self.cloud.store.transaction():
            return met(self.cloud.settings.rules, self.cloud.store, call, kind, poll=poll)

    def _about(self, call: Call) -> tuple[str, bool]:
        """The ARM type that a request is about, and whether it asks for an operation on one."""
        asked = operations.asked_for(call.target.path)
        operation = self.cloud.store.operation(asked[1]) if asked else None
        return parse(operation.path).type if operation else call.target.type, asked is not None

    def _answer(self, call: Call) -> Answer:
        with self.cloud.store.transaction():
            try:
                return route.answer(self.cloud, call)
            except Refused as no:
                return no.answer  # inside, since what a refused request moved on stays so

    def _log(self, call: Call, answer: Answer | None, request_id: str) -> None:
        kind, poll = self._about(call)
        entry = LoggedRequest(
            method=call.method,
            path=call.target.path,
            type=kind,
            status=answer.status if answer is not None else 0,
            at=self.cloud.clock.now(),
            poll=poll,
            actor=call.caller.actor,
            request_id=request_id,
            body=call.body,
        )
        self.requests.add(entry)


def _call(request: web.BaseRequest) -> Call:
    query = request.query
    return Call(
        method=request.method,
        target=parse(request.rel_url.raw_path),
        api_version=query.get("api-version", ""),
        base=_base(request),
        query=query,
        headers=request.headers,
        caller=Caller(),
    )


async def _sent(request: web.BaseRequest) -> bytes:
    """The body, or a little more of it than is taken."""
    sent = bytearray()
    async for part in request.content.iter_any():
        sent += part
        if len(sent) > _MOST_BYTES:
            break
    return bytes(sent)


def _base(request: web.BaseRequest) -> str:
    return f"{request.scheme}://{request.host}"


def _json(sent: bytes) -> Any:
    if len(sent) > _MOST_BYTES:
        raise refuse("RequestContentTooLarge")
    try:
        return json.loads(sent)
    except ValueError as error:
        raise refuse("InvalidRequestContent", reason=str(error)) from error


def _response(answer: Answer, identity: Mapping[str, str]) -> web.Response:
    headers = {"Cache-Control": "no-cache", **identity, **answer.headers}
    if answer.body is None:
        return web.Response(status=answer.status, headers=headers)
    if isinstance(answer.body, str):
        return web.Response(status=answer.status, headers=headers, text=answer.body, content_type="text/html")
    headers["Content-Type"] = "application/json; charset=utf-8"
    return web.Response(status=answer.status, headers=headers, body=json.dumps(answer.body).encode())


def _hang_up(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()

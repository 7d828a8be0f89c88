"""Handles a request: admits it, applies the script, answers from the state, and logs it.

The answer is made without waiting, in one transaction, so requests never see each other's unfinished work. This module
does not know sockets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from gitsync.emulator.faults import Drop, FaultRule, Script
from gitsync.emulator.http import admin, route
from gitsync.emulator.http.answers import Refused, ServerResponse, make_refusal, refuse
from gitsync.emulator.http.call import Course, ListFault, ServerRequest
from gitsync.emulator.http.request_log import LoggedRequest, RequestLog
from gitsync.emulator.http.target import parse
from gitsync.emulator.identity import access
from gitsync.emulator.identity.tokens import Tokens
from gitsync.emulator.lro import operations
from gitsync.emulator.settings import Bucket, Limits
from gitsync.emulator.state import outside_changes as hand
from gitsync.emulator.state.cloud import EmulatedCloud

MOST_BYTES = 4 * 1024 * 1024
"""ARM takes no larger bodies."""


class Front:
    """Handles every request. `requests` is the log of requests."""

    def __init__(self, cloud: EmulatedCloud) -> None:
        self.requests = RequestLog()
        self.tokens = Tokens(cloud.settings, cloud.store, cloud.clock)
        self._cloud = cloud
        self._script = Script(cloud.settings.rules)
        self._throttle = EmulatedThrottle(cloud.settings.limits)
        self._request_ids = map(f"{str(uuid4())[:23]}-{{:012x}}".format, count(1))

    def beside(self, path: str, method: str, content: bytes, base: str, remote: str) -> ServerResponse | None:
        """The answer of a path that is not ARM's but the emulator's own, or the identity platform's; else None."""
        try:
            if path.startswith(admin.PREFIX):
                return admin.answer(self._cloud, self.requests, method, path, remote)
        except Refused as refused:
            return refused.answer
        if not path.endswith(("/token", "/openid-configuration")):
            return None
        return self.tokens.answer(path, dict(parse_qsl(content.decode("utf-8", "replace"))), base)

    async def answer(self, call: ServerRequest, content: bytes) -> ServerResponse | None:
        """The answer of ARM to a request with the body as it was sent; None if the connection breaks instead."""
        answer: ServerResponse | None
        try:
            call, headers = self._admit(call, content)
            answer = await self._run_script(call)
            answer = answer.but(headers) if answer is not None else None
        except Refused as refused:
            answer = refused.answer
        request_id = next(self._request_ids)
        self._log(call, answer, request_id)
        return _identify(answer, call, request_id) if answer is not None else None

    def _admit(self, call: ServerRequest, content: bytes) -> tuple[ServerRequest, dict[str, str]]:
        """Check the caller, the version and the rate limit; then read the body."""
        caller = self.tokens.caller(call.headers.get("Authorization", ""), call.base)
        call = replace(call, caller=caller)
        call = replace(call, api_version=access.find_version(self._cloud, call))
        headers = self._throttle.take(call, self._cloud.clock.monotonic())
        return replace(call, body=_parse_json(content)) if content else call, headers

    async def _run_script(self, call: ServerRequest) -> ServerResponse | None:
        """The answer after applying the script; None if the connection breaks instead."""
        rules = self._find_rules(call) if self._cloud.settings.rules else []
        if not rules:
            return self._route(call)
        for rule in rules:
            await self._cloud.clock.sleep(rule.delay)
        drops = {rule.drop for rule in rules}
        if Drop.BEFORE in drops:
            return None
        answer = self._answer_by_rules(call, rules)
        for rule in rules:
            with suppress(KeyError):  # a move of a missing resource does nothing
                hand.apply_moves(self._cloud, call.target, rule.move)
        if Drop.AFTER in drops:
            return None
        if any(rule.timeout for rule in rules):
            return make_refusal("GatewayTimeout", namespace=call.target.namespace or "Microsoft.Resources")
        return answer

    def _answer_by_rules(self, call: ServerRequest, rules: list[FaultRule]) -> ServerResponse:
        """The first answer of a rule, else the normal one, with the first course and list fault of a rule."""
        canned = next((rule.answer for rule in rules if rule.answer), None)
        if canned is not None:
            return canned.answer(call)
        course = next((rule.course for rule in rules if rule.course), Course())
        list_fault = next((rule.list_fault for rule in rules if rule.list_fault), ListFault())
        return self._route(replace(call, course=course, list_fault=list_fault))

    def _find_rules(self, call: ServerRequest) -> list[FaultRule]:
        kind, poll = self._find_type_and_poll(call)
        with self._cloud.store.transaction():
            return self._script.met(self._cloud.store, call, kind, poll=poll)

    def _find_type_and_poll(self, call: ServerRequest) -> tuple[str, bool]:
        """The ARM type of a request, and whether it polls an operation."""
        poll_path = operations.parse_operation_path(call.target.path)
        operation = self._cloud.store.operation(poll_path[1]) if poll_path else None
        return parse(operation.path).type if operation else call.target.type, poll_path is not None

    def _route(self, call: ServerRequest) -> ServerResponse:
        with self._cloud.store.transaction():
            try:
                return route.answer(self._cloud, call)
            except Refused as refused:
                return refused.answer  # inside the transaction, since changes of a refused request are kept

    def _log(self, call: ServerRequest, answer: ServerResponse | None, request_id: str) -> None:
        kind, poll = self._find_type_and_poll(call)
        entry = LoggedRequest(
            method=call.method,
            path=call.target.path,
            type=kind,
            status=answer.status if answer is not None else 0,
            at=self._cloud.clock.now(),
            poll=poll,
            actor=call.caller.actor,
            client=call.caller.client,
            tenant=call.caller.tenant,
            request_id=request_id,
            body=call.body,
        )
        self.requests.add(entry)


def _identify(answer: ServerResponse, call: ServerRequest, request_id: str) -> ServerResponse:
    """The answer with the ids of its request, unless a script gives others."""
    given = {name.casefold() for name in answer.headers}
    headers = _make_id_headers(call, request_id)
    return answer.but({name: value for name, value in headers.items() if name not in given})


def _make_id_headers(call: ServerRequest, request_id: str) -> Mapping[str, str]:
    correlation = call.headers.get("x-ms-correlation-request-id", request_id)
    return {"x-ms-request-id": request_id, "x-ms-correlation-request-id": correlation}


def _parse_json(content: bytes) -> Any:
    if len(content) > MOST_BYTES:
        raise refuse("RequestContentTooLarge")
    try:
        return json.loads(content)
    except ValueError as error:
        raise refuse("InvalidRequestContent", reason=str(error)) from error


# ARM's throttling: a token bucket for each principal, subscription and kind of request.
#
# Buckets are in memory: a process that restarts has full ones, as a client that waited a while does.


_KINDS = {"GET": "reads", "HEAD": "reads", "DELETE": "deletes"}


class EmulatedThrottle:
    """The state of every bucket. Times are monotonic seconds."""

    def __init__(self, limits: Limits | None) -> None:
        self._limits = limits
        self._buckets: dict[tuple[str, str, str], tuple[float, float]] = {}

    def take(self, call: ServerRequest, now: float) -> dict[str, str]:
        """Take one request out of its bucket; returns the headers with the remaining count. Refused if it is empty."""
        if self._limits is None:
            return {}
        kind = _KINDS.get(call.method, "writes")
        bucket: Bucket = getattr(self._limits, kind)
        key = (call.caller.actor, call.target.subscription.casefold(), kind)
        remaining, since = self._buckets.get(key, (float(bucket.size), now))
        remaining = min(float(bucket.size), remaining + (now - since) * bucket.per_second)
        scope = "subscription" if call.target.subscription else "tenant"
        name = f"x-ms-ratelimit-remaining-{scope}-{kind}"
        if remaining < 1:
            self._buckets[key] = (remaining, now)
            seconds = max(1, math.ceil((1 - remaining) / bucket.per_second)) if bucket.per_second else 60
            raise refuse(
                "SubscriptionRequestsThrottled" if call.target.subscription else "TooManyRequests",
                headers={"Retry-After": str(seconds), name: "0"},
                kind=kind.removesuffix("s"),
                subscription=call.target.subscription,
                actor=call.caller.actor,
                seconds=seconds,
            )
        self._buckets[key] = (remaining - 1, now)
        return {name: str(int(remaining - 1))}

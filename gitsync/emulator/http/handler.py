"""Handles a request: admits it, applies the script, answers from the state, and logs it.

The answer is made without waiting, in one transaction, so requests never see each other's unfinished work. This module
does not use sockets.
"""

from __future__ import annotations

import ipaddress
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from gitsync.emulator.changes.activity_log import list_events
from gitsync.emulator.changes.log import log_request, look_before
from gitsync.emulator.changes.moves import apply_moves, play_due_moves
from gitsync.emulator.changes.resource_graph import answer_query
from gitsync.emulator.faults import Drop, FaultRule, Script
from gitsync.emulator.governance.policy_tokens import acquire_policy_token
from gitsync.emulator.governance.write_checks import check_policy_restrictions, validate_resources
from gitsync.emulator.graph.answers import identify_answer
from gitsync.emulator.graph.directory import answer_graph
from gitsync.emulator.http.messages import (
    Course,
    ListFault,
    Refused,
    ServerRequest,
    ServerResponse,
    make_refusal,
    refuse,
)
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.identity.access import PERMISSIONS_TYPE, check_access, name_needed_action, read_version
from gitsync.emulator.identity.roles import list_permissions
from gitsync.emulator.identity.tokens import Tokens, require_mfa
from gitsync.emulator.lists import list_collection, list_groups, list_resources
from gitsync.emulator.lro.operations import (
    answer_location_poll,
    answer_status_poll,
    parse_operation_path,
    poll_operation,
)
from gitsync.emulator.resources import RESOURCE_VERBS
from gitsync.emulator.settings import Bucket, Limits
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import EmulatedOperation
from gitsync.emulator.state.subscriptions import list_providers, list_subscriptions, show_provider, show_subscription
from gitsync.emulator.types.actions import run_action
from gitsync.emulator.types.bodies import build_body
from gitsync.emulator.types.names import answer_database_account_name, answer_name_check
from gitsync.emulator.types.quotas import USAGE_NAMESPACES, list_skus, list_usages

_NEVER_LOGGED = {401, 429, *range(500, 600)}
"""Answers of the gateway itself, which are not in Azure's logs."""

_UNLOGGED = {PathShape.UNKNOWN, PathShape.DIRECTORY}
"""Shapes of paths that are not in ARM's logs."""

MOST_BYTES = 4 * 1024 * 1024
"""The largest body that ARM accepts."""


class RequestHandler:
    """Handles every request. `requests` is the log of requests."""

    def __init__(self, cloud: EmulatedCloud) -> None:
        self.requests = RequestLog()
        self.tokens = Tokens(cloud.settings, cloud.store, cloud.clock)
        self._cloud = cloud
        self._script = Script(cloud.settings.rules)
        self._throttle = EmulatedThrottle(cloud.settings.limits)
        graph = cloud.settings.graph.throttle
        bucket = Bucket(size=graph.size, per_second=graph.per_second) if graph else None
        self._graph_throttle = EmulatedThrottle(Limits(reads=bucket, writes=bucket, deletes=bucket) if bucket else None)
        self._request_ids = map(f"{str(uuid4())[:23]}-{{:012x}}".format, count(1))

    def answer_beside(self, path: str, method: str, content: bytes, base: str, remote: str) -> ServerResponse | None:
        """Answer the emulator's own paths and those of the identity platform; None for all others, which are ARM's."""
        try:
            if path.startswith(OWN_PREFIX):
                return answer_own_path(self._cloud, self.requests, method, path, remote)
        except Refused as refused:
            return refused.answer
        # Only the path distinguishes them, since the emulator has one address for both Azure hosts.
        if not path.endswith(("/token", "/openid-configuration")):
            return None
        return self.tokens.answer(path, dict(parse_qsl(content.decode("utf-8", "replace"))), base)

    async def answer(self, request: ServerRequest, content: bytes) -> ServerResponse | None:
        """Answer a request to ARM, with its body as sent; None if the connection breaks instead."""
        answer: ServerResponse | None
        request_id = next(self._request_ids)
        # A client may send its own id, by which it finds the request in Azure's logs.
        correlation = request.headers.get("x-ms-correlation-request-id", request_id)
        try:
            request, headers = self._admit(request, content, correlation)
            answer = await self._run_script(request)
            answer = answer.add_headers(headers) if answer is not None else None
        except Refused as refused:
            answer = refused.answer
        self._log(request, answer, request_id)
        if answer is not None and request.target.shape is PathShape.DIRECTORY:
            return identify_answer(answer, request, request_id, self._cloud.clock.now())
        return _identify(answer, correlation, request_id) if answer is not None else None

    def _admit(self, request: ServerRequest, content: bytes, correlation: str) -> tuple[ServerRequest, dict[str, str]]:
        """Check the caller, the version and the rate limit; then read the body."""
        caller = self.tokens.identify_caller(request.headers.get("Authorization", ""), request.base)
        request = replace(request, caller=caller, correlation=correlation)
        if request.target.shape is PathShape.DIRECTORY:  # Graph has no versions and not these buckets
            self._graph_throttle.take(request, self._cloud.clock.monotonic())
            return replace(request, body=_parse_json(content)) if content else request, {}
        require_mfa(request)
        # ARM checks in this order: a request without a valid token does not count against a limit.
        version = read_version(self._cloud, request)
        headers = self._throttle.take(request, self._cloud.clock.monotonic())
        return replace(request, api_version=version, body=_parse_json(content) if content else None), headers

    async def _run_script(self, request: ServerRequest) -> ServerResponse | None:
        """Apply the script, and answer; None if the connection breaks instead."""
        # Before the request: a move whose time has come was made before it.
        play_due_moves(self._cloud)
        rules = self._list_rules(request) if self._cloud.settings.rules else []
        if not rules:
            return self._route(request)
        for rule in rules:
            await self._cloud.clock.sleep(rule.delay)
        drops = {rule.drop for rule in rules}
        if Drop.BEFORE in drops:  # the request is lost: it has no effect
            return None
        answer = self._answer_by_rules(request, rules)
        # After the answer is made, like a person who changes something between two requests.
        for rule in rules:
            with suppress(KeyError):  # a move of a missing resource does nothing
                apply_moves(self._cloud, request.target, rule.move)
        if Drop.AFTER in drops:  # the answer is lost: the request has its effect, and the client gets no answer
            return None
        if any(rule.timeout for rule in rules):  # the request has its effect, and ARM stops waiting for it
            return make_refusal("GatewayTimeout", namespace=request.target.namespace or "Microsoft.Resources")
        return answer

    def _answer_by_rules(self, request: ServerRequest, rules: list[FaultRule]) -> ServerResponse:
        """Return the answer of the first rule that has one, else the usual one, with the first course and list fault of
        a rule.
        """
        # The answer of a rule replaces the work: the request has no effect.
        canned = next((rule.answer for rule in rules if rule.answer), None)
        if canned is not None:
            answer = canned.answer(request)
            # A refusal of the provider is in Azure's logs, although nothing was done.
            if request.verb != "read" and answer.status not in _NEVER_LOGGED:
                with self._cloud.store.transaction():
                    before = look_before(self._cloud, request.target, deletes=False)
                    log_request(self._cloud, request, before, answer)
            return answer
        course = next((rule.course for rule in rules if rule.course), Course())
        list_fault = next((rule.list_fault for rule in rules if rule.list_fault), ListFault())
        keep = tuple(pointer for rule in rules for pointer in rule.keep)
        return self._route(replace(request, course=course, list_fault=list_fault, keep=keep))

    def _list_rules(self, request: ServerRequest) -> list[FaultRule]:
        kind, poll = self._read_type_and_poll(request)
        with self._cloud.store.transaction():
            return self._script.list_applying(self._cloud.store, request, kind, poll=poll)

    def _read_type_and_poll(self, request: ServerRequest) -> tuple[str, bool]:
        """Read the ARM type of a request, and whether it polls an operation."""
        poll_path = parse_operation_path(request.target.path)
        operation = self._cloud.store.operation(poll_path[1]) if poll_path else None
        return parse(operation.path).type if operation else request.target.type, poll_path is not None

    def _route(self, request: ServerRequest) -> ServerResponse:
        with self._cloud.store.transaction():
            if request.verb == "read" or request.target.shape in _UNLOGGED:
                return self._answer_from_state(request)
            before = look_before(self._cloud, request.target, deletes=request.method == "DELETE")
            answer = self._answer_from_state(request)
            log_request(self._cloud, request, before, answer)
            return answer

    def _answer_from_state(self, request: ServerRequest) -> ServerResponse:
        try:
            return route_request(self._cloud, request)
        except Refused as refused:
            return refused.answer  # not raised, since the transaction keeps the changes of a refused request

    def _log(self, request: ServerRequest, answer: ServerResponse | None, request_id: str) -> None:
        kind, poll = self._read_type_and_poll(request)
        entry = LoggedRequest(
            method=request.method,
            path=request.target.path,
            type=kind,
            status=answer.status if answer is not None else 0,
            at=self._cloud.clock.now(),
            poll=poll,
            action="" if poll else name_needed_action(request),
            actor=request.caller.actor,
            client=request.caller.client,
            tenant=request.caller.tenant,
            request_id=request_id,
            body=request.body,
            api_version=request.api_version,
        )
        self.requests.add(entry)


def _identify(answer: ServerResponse, correlation: str, request_id: str) -> ServerResponse:
    """Add the ids of its request to an answer, unless a script gives others."""
    given = {name.casefold() for name in answer.headers}
    headers = {"x-ms-request-id": request_id, "x-ms-correlation-request-id": correlation}
    return answer.add_headers({name: value for name, value in headers.items() if name not in given})


def _parse_json(content: bytes) -> Any:
    if len(content) > MOST_BYTES:
        raise refuse("RequestContentTooLarge")
    try:
        return json.loads(content)
    except ValueError as error:
        raise refuse("InvalidRequestContent", reason=str(error)) from error


_Verb = Callable[[EmulatedCloud, ServerRequest], ServerResponse]

_TABLE: Mapping[tuple[PathShape, str], _Verb] = {
    (PathShape.SUBSCRIPTIONS, "GET"): list_subscriptions,
    (PathShape.SUBSCRIPTION, "GET"): show_subscription,
    (PathShape.GROUPS, "GET"): list_groups,
    (PathShape.RESOURCES, "GET"): list_resources,
    (PathShape.COLLECTION, "GET"): list_collection,
    (PathShape.COLLECTION, "POST"): run_action,
    (PathShape.PROVIDERS, "GET"): list_providers,
    (PathShape.PROVIDER, "GET"): show_provider,
    **{
        (shape, method): verb
        for shape in (PathShape.GROUP, PathShape.RESOURCE)
        for method, verb in RESOURCE_VERBS.items()
    },
}

_BY_TYPE: Mapping[tuple[str, str], _Verb] = {
    (PERMISSIONS_TYPE, "GET"): list_permissions,
    ("microsoft.authorization/acquirepolicytoken", "POST"): acquire_policy_token,
    ("microsoft.policyinsights/checkpolicyrestrictions", "POST"): check_policy_restrictions,
    ("microsoft.resources/validateresources", "POST"): validate_resources,
    ("microsoft.resourcegraph/resources", "POST"): answer_query,
    ("microsoft.documentdb/databaseaccountnames", "HEAD"): answer_database_account_name,
    ("microsoft.network/locations/checkdnsnameavailability", "GET"): answer_name_check,
    ("microsoft.compute/skus", "GET"): list_skus,
    ("microsoft.insights/eventtypes/values", "GET"): list_events,
    **{(f"{namespace}/locations/usages", "GET"): list_usages for namespace in USAGE_NAMESPACES},
}
"""The functions that answer the paths of single types, with any shape."""


def route_request(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Handle the request; raises `Refused` if ARM or Graph refuses it."""
    if request.target.shape is PathShape.DIRECTORY:
        return answer_graph(cloud, request)
    poll = parse_operation_path(request.target.path)
    # A poll needs no permission: its URL is signed.
    if poll is not None and request.method == "GET":
        return _poll(cloud, request, *poll)
    check_access(cloud, request)
    shape_verb = _TABLE.get((request.target.shape, request.method))
    verb = _BY_TYPE.get((request.target.type.casefold(), request.method), shape_verb)
    if verb is None:
        if request.target.shape is PathShape.UNKNOWN:
            raise refuse("NotFound", path=request.target.path)
        raise refuse("MethodNotAllowed", type=request.target.type or request.target.shape.value, method=request.method)
    return verb(cloud, request)


def _poll(cloud: EmulatedCloud, request: ServerRequest, as_operation: bool, name: str) -> ServerResponse:  # noqa: FBT001 - the pair of a parsed path
    operation = cloud.store.operation(name)
    if operation is None:
        raise refuse("OperationNotFound", operation=name)
    operation = poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
    if as_operation:
        return answer_status_poll(operation, request.base)
    return answer_location_poll(operation, request.base, _make_result(cloud, operation))


def _make_result(cloud: EmulatedCloud, operation: EmulatedOperation) -> Any:
    """Make the answer of a finished operation's request."""
    if operation.verb == "POST":  # an action has no resource to read at its end
        return operation.answer
    target = parse(operation.path)
    resource = cloud.find(target) if operation.over and operation.verb != "DELETE" else None
    return build_body(cloud, target, resource) if resource else None


# The emulator's own paths, below /_emulator: its requests and its resources, for other processes.
#
# For callers on this machine only. Bodies of requests and secrets are not shown.


OWN_PREFIX = "/_emulator/"


def answer_own_path(cloud: EmulatedCloud, requests: RequestLog, method: str, path: str, remote: str) -> ServerResponse:
    """Answer a GET or DELETE of /_emulator/requests, or a GET of /_emulator/resources."""
    if not _is_loopback(remote):  # as if the path did not exist
        raise refuse("NotFound", path=path)
    match method, path.removeprefix(OWN_PREFIX):
        case "GET", "requests":
            return ServerResponse(
                200, {"counts": requests.counts(), "requests": [entry.summary() for entry in requests]}
            )
        case "DELETE", "requests":
            requests.clear()
            return ServerResponse(204)
        case "GET", "resources":
            return ServerResponse(
                200, {"value": [build_body(cloud, parse(entry.id), entry) for _, entry in cloud.store.below("/")]}
            )
        case _:
            raise refuse("NotFound", path=path)


def _is_loopback(remote: str) -> bool:
    try:
        # Not every connection has an address, and one without it is not trusted.
        return ipaddress.ip_address(remote).is_loopback
    except ValueError:
        return False


_MOST = 100_000
"""The maximum number of entries; the newest are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One request that the emulator got."""

    method: str
    path: str  # without the query
    type: str  # the ARM type of the path
    status: int  # 0 if no answer was sent
    at: datetime
    poll: bool = False  # the request is for an operation, not a resource
    action: str = ""  # the permission for it, "" for a poll
    actor: str = ""  # the object id of the caller
    client: str = ""  # the token was issued for this client
    tenant: str = ""  # the token was issued for this tenant
    request_id: str = ""
    body: Any = None  # what was sent, including secrets
    api_version: str = ""

    def summary(self) -> dict[str, Any]:
        """Return the entry as JSON, without the body."""
        return {
            "method": self.method,
            "path": self.path,
            "type": self.type,
            "status": self.status,
            "at": self.at.isoformat(),
            "poll": self.poll,
            "action": self.action,
            "actor": self.actor,
            "client": self.client,
            "tenant": self.tenant,
        }


class RequestLog(list[LoggedRequest]):
    """The log, in the order of the answers."""

    def add(self, request: LoggedRequest) -> None:
        self.append(request)
        if len(self) > _MOST:  # a tenth at once: dropping one entry moves all others
            del self[: _MOST // 10]

    def counts(self) -> dict[str, int]:
        """Count the requests by method; requests for operations count as POLL."""
        counter = Counter("POLL" if request.poll else request.method for request in self)
        return dict(sorted(counter.items()))

    def writes(self) -> list[LoggedRequest]:
        """List the requests that change something."""
        return [request for request in self if request.method in {"PUT", "PATCH", "DELETE", "POST"}]


# ARM's throttling: a token bucket for each principal, subscription and kind of request. Buckets are in memory: after a
# restart they are full, as after a while without requests.


_KINDS = {"GET": "reads", "HEAD": "reads", "DELETE": "deletes"}
_BUSY_JOBS = (
    "The request for subscription '{}' could not be processed due to an excessive volume of traffic. Please try again "
    "later."
)
"""Microsoft documents this text alone (request-limits-and-throttling); code and status are those of other limits."""


class EmulatedThrottle:
    """The state of every bucket. Times are monotonic seconds."""

    def __init__(self, limits: Limits | None) -> None:
        self._limits = limits
        self._buckets: dict[tuple[str, str, str], tuple[float, float]] = {}

    def take(self, request: ServerRequest, now: float) -> dict[str, str]:
        """Take one request out of its bucket; returns the headers with the remaining count. Refused if it is empty."""
        if self._limits is None:
            return {}
        kind = _KINDS.get(request.method, "writes")
        bucket: Bucket = getattr(self._limits, kind)
        key = (request.caller.actor, request.target.subscription.casefold(), kind)
        remaining, since = self._buckets.get(key, (float(bucket.size), now))
        # The refill since the last request, up to a full bucket.
        remaining = min(float(bucket.size), remaining + (now - since) * bucket.per_second)
        scope = "subscription" if request.target.subscription else "tenant"
        name = f"x-ms-ratelimit-remaining-{scope}-{kind}"
        if remaining < 1:
            self._buckets[key] = (remaining, now)
            # Without a refill no later try succeeds, so any time is as good as another.
            seconds = max(1, math.ceil((1 - remaining) / bucket.per_second)) if bucket.per_second else 60
            raise refuse(
                "SubscriptionRequestsThrottled" if request.target.subscription else "TooManyRequests",
                headers={"Retry-After": str(seconds), name: "0"},
                kind=kind.removesuffix("s"),
                subscription=request.target.subscription,
                actor=request.caller.actor,
                seconds=seconds,
            )
        # Before the bucket is charged: a request that is refused for its job uses none of it.
        self._take_job(request, kind, now)
        self._buckets[key] = (remaining - 1, now)
        return {name: str(int(remaining - 1))}

    def _take_job(self, request: ServerRequest, kind: str, now: float) -> None:
        """Take a background job of the subscription, which all principals share. Refused if there is none."""
        bucket = self._limits.jobs if self._limits else None
        subscription = request.target.subscription
        if bucket is None or kind == "reads" or not subscription:
            return
        key = ("", subscription.casefold(), "jobs")
        remaining, since = self._buckets.get(key, (float(bucket.size), now))
        remaining = min(float(bucket.size), remaining + (now - since) * bucket.per_second)
        self._buckets[key] = (remaining - 1 if remaining >= 1 else remaining, now)
        if remaining < 1:
            raise Refused(make_refusal("TooManyRequests", message=_BUSY_JOBS.format(subscription)))

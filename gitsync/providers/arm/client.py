"""The requests that a node may send to Azure: an `Arm` for the run, a `Reader` or `Writer` for each node.

Extensions and plans get readers, so nothing there can write; an extension that has to act gets an `ExtensionClient`
(`extension_client`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from gitsync.errors import ArmError, PolicyTokenMissingError
from gitsync.model.clock import Clock
from gitsync.model.live import Absence, Live
from gitsync.model.report import LimitUse, RequestCounts, RequestUse
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.arm_access import ArmAccess, TokenCredential
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.failures import read_absence
from gitsync.providers.arm.http.messages import ArmRequest, Response, encode_payload, format_target
from gitsync.providers.arm.http.response_bodies import (
    Entries,
    ListSource,
    Page,
    PagesRead,
    parse_page,
    read_object,
    read_page,
    read_shown_resource,
)
from gitsync.providers.arm.http.retries import AuthenticatedTransport, Retrier, Traffic, make_first_contact
from gitsync.providers.arm.lro.operations import Operations
from gitsync.providers.arm.lro.poll import AcceptedWrite, accept_write
from gitsync.providers.arm.policy_tokens import PolicyTokens
from gitsync.providers.arm.registration import Registrations
from gitsync.providers.arm.session import Pace, Session

_GET = frozenset({200, 404})
_HEAD = frozenset({200, 204, 404})
_LIST = frozenset({200})
_ABSENT = frozenset({404, 409})  # of the answers that a read accepts
_ACCEPTS = {
    "PUT": frozenset({200, 201, 202}),
    "PATCH": frozenset({200, 201, 202}),
    "DELETE": frozenset({200, 202, 204, 404}),
    "POST": frozenset({200, 201, 202, 204}),
}

_JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def open_arm(access: ArmAccess, clock: Clock, credential: TokenCredential | None = None) -> AsyncIterator[Arm]:
    """Open an `Arm` for the length of a run. `credential` replaces the one of `access.sign_in`.

    Raises ConfigError if the settings cannot work, before anything is sent.
    """
    from gitsync.providers.arm.http.transport import open_transport  # noqa: PLC0415 - azure and aiohttp take a fifth of a second to import

    async with open_transport(access, clock, credential) as transport:
        yield Arm(transport, access, clock)


class Arm:
    """Azure Resource Manager for one run, as one principal. The run's credentials share `traffic`."""

    def __init__(
        self, transport: AuthenticatedTransport, access: ArmAccess, clock: Clock, traffic: Traffic | None = None
    ) -> None:
        self._transport = transport
        self._access = access
        self._clock = clock
        self._traffic = traffic = traffic or Traffic(clock, access)
        pace = Pace(clock, access.poll_interval)

        async def satisfy(request: ArmRequest, refusal: PolicyTokenMissingError, session: Session) -> Response:
            return await tokens.satisfy(request, refusal, session)  # which sends with the same retrier

        retrier = Retrier(transport, access, clock, traffic=traffic, satisfy=satisfy)
        operations = Operations(retrier, access.cloud, pace)
        tokens = PolicyTokens(retrier, operations, pace, access.cloud, access.redactions)
        self._parts = _Parts(
            cloud=access.cloud,
            retrier=retrier,
            operations=operations,
            registrations=Registrations(retrier, pace),
        )

    async def sign_in(self, deadline: float = float("inf")) -> Principal | None:
        """Get a token now, so that a run without one is refused before it begins. None for anonymous access.

        Raises ConfigError: which credential failed, why, and how to fix it.
        """
        return await make_first_contact(self._transport.sign_in, "to sign in", self._parts.retrier, deadline)

    async def reach(self, deadline: float = float("inf")) -> None:
        """Connect to the endpoint now, so that a run with a wrong one is refused before it begins. No request is sent.

        Raises ConfigError: at once if the host cannot be resolved or trusted, after some seconds if it refuses.
        """
        await make_first_contact(self._transport.connect, "to connect", self._parts.retrier, deadline)
        # The connection works, so a later failure is an outage and not a mistake in the settings.
        self._parts.retrier.host.note_answer()

    async def read_subscription_name(self, subscription: str, deadline: float = float("inf")) -> str:
        """Read the display name of a subscription; "" if it cannot be read. One request without retries."""
        return await read_subscription_name(self._parts.retrier, subscription, deadline)

    def reader(self, session: Session) -> Reader:
        return Reader(self._parts, session)

    def writer(self, session: Session) -> Writer:
        return Writer(self._parts, session)

    @property
    def cloud(self) -> Cloud:
        return self._access.cloud

    def reach_service(self, cloud: Cloud) -> Retrier:
        """Return what sends requests to another Azure service, as the same principal. Nothing is sent yet; a token goes
        to the endpoint of `cloud` and to no other host.
        """
        transport, access = self._transport.reach(cloud), replace(self._access, cloud=cloud)
        return Retrier(transport, access, self._clock, traffic=self._traffic)

    async def get_token(self, scope: str, session: Session) -> Secret:
        """Get a token of the same principal for another service, with the retries of a read. Raises CredentialError if
        there is none.
        """
        return await self._parts.retrier.request_patiently(
            partial(self._transport.get_token, scope), "to get a token", session
        )

    @property
    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._clock.now()

    @property
    def requests(self) -> RequestCounts:
        """The requests of the run so far, with all its credentials."""
        return self._traffic.requests

    @property
    def use(self) -> RequestUse:
        """The purpose of these requests."""
        return self._traffic.use

    def divide_limits(self, workers: Mapping[str, int]) -> None:
        """Leave the other workers of the run their part of Azure's limits, from the first request to a subscription on.
        `workers` counts the workers that send requests to a subscription, by its id in lower case.
        """
        self._traffic.workers.update(workers)

    def list_limits(self) -> list[LimitUse]:
        """List how the run currently uses Azure's limits."""
        return self._traffic.list_limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    cloud: Cloud
    retrier: Retrier
    operations: Operations
    registrations: Registrations


class Reader:
    """Requests that change nothing. Every method raises ArmError if Azure gave no usable answer."""

    def __init__(self, parts: _Parts, session: Session) -> None:
        self._parts = parts
        self._session = session

    @property
    def session(self) -> Session:
        """The session that counts the requests' time and failures."""
        return self._session

    async def get(self, arm_id: str, api_version: str) -> Live | None:
        """Return the resource; None if it does not exist in Azure.

        Raises ArmError (code MalformedResource) if the response is not that resource.
        """
        shown = await self.find(arm_id, api_version)
        return shown if isinstance(shown, Live) else None

    async def find(self, arm_id: str, api_version: str) -> Live | Absence:
        """Return the same, or the answer that the resource does not exist: its code may name a missing parent."""
        answer = await self._read(arm_id, format_target(arm_id, api_version), _GET)
        return read_absence(answer) if answer.status in _ABSENT else read_shown_resource(answer, arm_id)

    async def exists(self, arm_id: str, api_version: str) -> bool:
        """For kinds that only support HEAD: 2xx is yes, 404 is no."""
        answer = await self._read(arm_id, format_target(arm_id, api_version), _HEAD, method="HEAD")
        return answer.status not in _ABSENT

    async def list(self, path: str, api_version: str, query: Mapping[str, str] | None = None) -> Entries:
        """List all entries of a collection. A page may be empty and still not be the last (resource-provider contract).

        Raises ArmError (code MalformedList) if one page is not valid: a malformed list is not an empty one.
        """
        return [entry async for page in self.pages(path, api_version, query) for entry in page]

    async def pages(
        self, path: str, api_version: str, query: Mapping[str, str] | None = None, *, is_optional: bool = False
    ) -> AsyncGenerator[Entries, None]:
        """Yield the same page by page, each read on demand, so that a caller keeps what it needs and may stop.

        An optional list has a substitute, such as single reads, so only a 429 is retried. Raises ArmError as `list`
        does, after the earlier pages; `is_refusal` detects that Azure does not offer the list.
        """
        first, source = format_target(path, api_version, query), ListSource(path)
        read, so_far = partial(self._read_page, path, is_optional=is_optional), PagesRead(source)
        # The first page is read by itself: whether Azure offers the list shows in it.
        page = read_page(await so_far.read(first, partial(read, first)), source, self._parts.cloud)
        # A caller that stops early closes this generator; left to the event loop, the inner one costs its own task.
        async with aclosing(self._follow_pages(page, source, so_far, read)) as pages:
            async for entries in pages:
                yield entries

    async def read_document(
        self, path: str, api_version: str, query: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """Return a JSON object that is not a resource, such as a provider's metadata.

        Raises ArmError, also for an answer that is not a JSON object (code UnusableAnswer).
        """
        # There is a substitute ("not checked"), so only a 429 is retried.
        answer = await self._read(path, format_target(path, api_version, query), _LIST, is_optional=True)
        return read_object(answer, path, "GET")

    async def check(self, path: str, api_version: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a check, a POST that changes nothing: one of the table `CHECK_PATHS`. Only a 429 is retried.

        Raises ArmError as `read_document` does. For many of these checks a refusal is an answer: its `details` are
        Azure's.
        """
        if not is_check(path):
            raise AssertionError(f"{path} is not a check: a reader sends no other POST")
        request = ArmRequest(
            method="POST",
            path=path,
            target=format_target(path, api_version),
            resource_id=path,
            accepts=_LIST,
            headers=_JSON,
            payload=encode_payload(body),
            is_optional=True,
            is_check=True,
        )
        return read_object(await self._parts.retrier.send(request, self._session), path, "POST")

    async def settle(self, arm_id: str, api_version: str, live: Live) -> Live | None:
        """Poll a resource that an earlier operation still changes, until the operation ends or the deadline passes.

        Returns the resource as last seen (still changing at the deadline), None if it disappeared.
        """
        return await self._parts.operations.settle(arm_id, api_version, live, self._session)

    async def _follow_pages(
        self, page: Page, source: ListSource, so_far: PagesRead, read: Callable[..., Awaitable[Response]]
    ) -> AsyncGenerator[Entries, None]:
        """Yield the entries of a page and of all that follow it."""
        yield page.entries
        while page.next_page is not None:
            page = read_page(
                await so_far.read(page.next_page, partial(read, page.next_page)), source, self._parts.cloud
            )
            yield page.entries

    async def _read(
        self, path: str, target: str, accepts: frozenset[int], *, method: str = "GET", is_optional: bool = False
    ) -> Response:
        request = ArmRequest(
            method=method,
            path=path,
            target=target,
            resource_id=path,
            accepts=accepts,
            is_list=accepts is _LIST,
            is_optional=is_optional,
        )
        return await self._parts.retrier.send(request, self._session)

    async def _read_page(
        self, path: str, target: str, max_bytes: int, *, is_private: bool = False, is_optional: bool = False
    ) -> Response:
        request = ArmRequest(
            method="GET",
            path=path,
            target=target,
            resource_id=path,
            accepts=_LIST,
            is_list=True,
            is_private=is_private,
            is_optional=is_optional,
            max_bytes=max_bytes,
        )
        return await self._parts.retrier.send(request, self._session)


class Writer(Reader):
    """Requests that change Azure. Hold the resource's write lock until the operation of a write has ended.

    An ArmError with `outcome_unknown` means that the write may have been done: read before writing again.
    """

    async def put(
        self, arm_id: str, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite:
        """Send the complete resource. Even a 200 may only begin the work: hand the reply to `wait`."""
        request = _make_write("PUT", arm_id, api_version, body, if_match=if_match)
        return accept_write(request, api_version, await self._parts.retrier.send(request, self._session))

    async def patch(
        self, arm_id: str, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite:
        """Send a merge patch (RFC 7396)."""
        request = _make_write("PATCH", arm_id, api_version, body, if_match=if_match)
        return accept_write(request, api_version, await self._parts.retrier.send(request, self._session))

    async def delete(
        self, arm_id: str, api_version: str, *, if_match: str | None = None, query: Mapping[str, str] | None = None
    ) -> AcceptedWrite:
        """Delete a resource; one that does not exist counts as deleted."""
        request = _make_write("DELETE", arm_id, api_version, if_match=if_match, query=query)
        return accept_write(request, api_version, await self._parts.retrier.send(request, self._session))

    async def post(
        self,
        path: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> AcceptedWrite:
        """Call an action: the id of a resource and the action's name. `result` has its response."""
        request = _make_write("POST", path, api_version, body, query=query)
        return accept_write(request, api_version, await self._parts.retrier.send(request, self._session))

    async def result(self, reply: AcceptedWrite) -> Response | None:
        """Follow an action to its end and return its response, None if the deadline passed first.

        Raises ArmError if it failed.
        """
        return await self._parts.operations.result(reply, self._session)

    async def pages_from(self, page: Mapping[str, Any], path: str) -> Entries:
        """Return all entries of a page that an action returned, and of the pages that follow, which are read with GET.

        Raises ArmError (code MalformedList) if one page is not valid.
        """
        source = ListSource(path, method="POST")
        read, so_far = partial(self._read_page, path, is_private=True), PagesRead(source)
        first = parse_page(page, source, self._parts.cloud)
        return [entry async for entries in self._follow_pages(first, source, so_far, read) for entry in entries]

    async def wait(self, reply: AcceptedWrite) -> bool:
        """Follow the operation of a write to its end: True when it is done, False if the deadline passed first.

        Raises ArmError if it failed, with the operation's own code and message.
        """
        return await self._parts.operations.follow(reply, self._session)

    async def register(self, namespace: str, subscription: str) -> bool:
        """Register a resource provider and wait for it: one POST a run, however many nodes call this. False at the
        deadline.
        """
        return await self._parts.registrations.register(namespace, subscription, self._session)


def _make_write(
    method: str,
    path: str,
    api_version: str,
    body: Mapping[str, Any] | None = None,
    *,
    if_match: str | None = None,
    query: Mapping[str, str] | None = None,
) -> ArmRequest:
    payload = None if body is None else encode_payload(body)
    headers = {"If-Match": if_match} if if_match is not None else {}
    return ArmRequest(
        method=method,
        path=path,
        target=format_target(path, api_version, query),
        resource_id=path,
        accepts=_ACCEPTS[method],
        headers={**headers, **({} if payload is None else _JSON)},
        payload=payload,
        # The answer of an action may be a list of keys.
        is_private=method == "POST",
    )


_SUBSCRIPTION: Final = "/subscriptions/[^/]+"
_PROVIDERS: Final = f"{_SUBSCRIPTION}/providers"

CHECK_PATHS: Final = (
    "/providers/microsoft.resources/validateresources",
    f"{_SUBSCRIPTION}(/resourcegroups/[^/]+)?/providers/microsoft.policyinsights/checkpolicyrestrictions",
    f"{_PROVIDERS}/[^/]+(/locations/[^/]+)?/check(mhsm)?nameavailability",
    "/providers/microsoft.resourcegraph/resources",
)
"""The POST requests that a plan may send, as patterns of paths in lower case: each is a check that changes nothing. ARM
has some checks as a POST, since they have a body; a reader sends no other (docs/security.md).
"""

_CHECK_PATH = re.compile("|".join(CHECK_PATHS))


def is_check(path: str) -> bool:
    """Return whether a POST to a path changes nothing."""
    return _CHECK_PATH.fullmatch(path.casefold()) is not None


API_VERSION = "2022-12-01"
PATIENCE = 10.0
"""Seconds; a run does not wait longer for a name."""

_LONGEST = 200  # characters; Azure allows 64


async def read_subscription_name(retrier: Retrier, subscription: str, deadline: float) -> str:
    """Send one request. "" if Azure refuses, does not respond in time, or returns no name.

    `deadline` is in the clock's monotonic seconds.
    """
    path = f"/subscriptions/{subscription}"
    request = ArmRequest(
        method="GET",
        path=path,
        target=format_target(path, API_VERSION),
        resource_id=path,
        accepts=frozenset({200}),
    )
    session = Session(deadline=min(deadline, retrier.clock.monotonic() + PATIENCE))
    try:
        answer = await retrier.send_once(request, session)
    except ArmError:
        return ""
    name = answer.mapping().get("displayName")
    return name[:_LONGEST] if isinstance(name, str) else ""

"""One request to Azure with everything that belongs to it: its turn, its count, its tries, its
failure.

The only place that retries (docs/reference/design.md#requests). Reads are tried until the
deadline; a write is sent again only if it surely was not done: a 429, or a connection that never
stood. Any request is sent once more with a new token if Azure did not accept its token. The
deadline bounds each try as a whole, from its turn and its token to the last byte of its answer.

A `Retrier` serves one credential. `Traffic` is what the credentials of one run share, since Azure
limits a principal, whichever Secret names it: slots, counts, the buckets of each principal, and
whether a host has answered at all.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from uuid import uuid5

from loguru import logger

from gitsync.arm.auth.access import ArmAccess
from gitsync.arm.auth.principal import Principal
from gitsync.arm.cloud import Cloud
from gitsync.arm.http.failures import make_arm_error, read_error
from gitsync.arm.http.messages import CORRELATION_ID, ArmRequest, Response
from gitsync.arm.http.throttle import HeldTime, RequestTally, Throttle
from gitsync.arm.session import THROTTLED, Session
from gitsync.errors import ArmError, AuthorityError, ConfigError, DeadlineError, TokenRefusedError, TransportError
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.record import LastWrite
from gitsync.model.report import LimitUse, RequestCounts, RequestUse
from gitsync.model.result import Attempt, Wait
from gitsync.model.secret import Secret

T = TypeVar("T")


class Transport(Protocol):
    """Sends one request."""

    async def send(self, request: ArmRequest, *, read_timeout: float) -> Response:
        """Raises TransportError if no answer came, CredentialError if there is no token, ArmError for an answer
        that is too large.
        """
        ...


class AuthenticatedTransport(Transport, Protocol):
    """A transport that has a credential."""

    async def sign_in(self) -> Principal | None: ...

    async def connect(self) -> None: ...

    async def get_token(self, scope: str) -> Secret:
        """Get a token for a scope. Raises CredentialError if there is none."""
        ...

    def reach(self, cloud: Cloud) -> AuthenticatedTransport:
        """Return a transport to another service, with the same credential."""
        ...


FIRST_PATIENCE = 60.0
"""Seconds that a run waits for an authority or an endpoint that does not answer."""


class Retrier:
    """Sends the requests of all nodes of one credential. The limit is on requests in flight, not on nodes."""

    def __init__(self, transport: Transport, access: ArmAccess, clock: Clock, *, traffic: Traffic) -> None:
        self._transport = transport
        self._throttle = traffic.find_throttle(access)
        self.host = traffic.find_host(access)
        self._authority = HostState(clock, access.network.patience)
        self.clock = clock
        self._traffic = traffic
        self._tally = traffic.tally
        self._held = traffic.held
        self._read_timeout = access.network.read_timeout

    async def send(self, request: ArmRequest, session: Session) -> Response:
        """Send until there is an expected answer, the failure is final, or the deadline is too near.

        A write is sent again only if it surely was not done. `ArmError.outcome_unknown`: read before writing again.
        All tries of a write have one correlation id. The session keeps that of a write that was done or may have been.
        """
        if not request.is_write:
            return await self._send(request, session)
        sent_id = self._traffic.make_correlation_id(request)
        request = replace(request, headers={**request.headers, CORRELATION_ID: sent_id})
        sent_at = format_rfc3339(self.clock.now())
        try:
            answer = await self._send(request, session)
        except ArmError as error:
            if error.outcome_unknown:
                session.note_write(request.method, LastWrite(correlation_id=sent_id, at=sent_at), is_accepted=False)
            raise
        # Azure nearly always returns the id that was sent: then a record says it once.
        returned_id = answer.correlation_id if answer.correlation_id != sent_id else ""
        write = LastWrite(correlation_id=sent_id, returned_id=returned_id, at=sent_at)
        session.note_write(request.method, write, is_accepted=True)
        return answer

    async def _send(self, request: ArmRequest, session: Session) -> Response:
        may_try_again = may_write_again if request.is_write else may_read_again
        if request.is_optional:  # an optional read has a substitute: only a limit is worth waiting for
            may_try_again = is_throttled
        tries, has_new_token = 0, False
        while True:
            try:
                return await self._try(request, session, attempt=tries + 1)
            except TokenRefusedError:
                if has_new_token:
                    raise
                has_new_token = True  # the refused one is forgotten; this does not count as a failed try
                continue
            except ArmError as error:
                if not may_try_again(error):
                    raise
                await self._pause(error, tries, session)
            tries += 1

    async def send_once(self, request: ArmRequest, session: Session) -> Response:
        """One try, and another with a new token if Azure did not accept the first one's."""
        with suppress(TokenRefusedError):
            return await self._try(request, session)
        return await self._try(request, session)

    async def ask_patiently(self, ask: Callable[[], Awaitable[T]], doing: str, session: Session) -> T:
        """Do something else that changes nothing, with the patience of a read. `doing` names it: "to sign in"."""
        tries = 0
        while True:
            try:
                return await self._ask_once(ask, doing, session)
            except ArmError as error:
                if not may_read_again(error):
                    raise
                await self._pause(error, tries, session)
            tries += 1

    async def _ask_once(self, ask: Callable[[], Awaitable[T]], doing: str, session: Session) -> T:
        try:
            async with session.in_time(self.clock):
                return await ask()
        except TimeoutError as error:
            raise DeadlineError(
                _format_deadline_message(doing, session), **self._list_deadline_fields(None, session)
            ) from error
        except ArmError as error:
            self.remember(error, session)
            raise

    async def _pause(self, error: ArmError, tries: int, session: Session) -> None:
        """Wait before another try. Raises the error if its host will not answer, or the deadline comes first; of a run
        that was stopped a DeadlineError, since the error did not decide.
        """
        # The authority and the endpoint fail apart: one may be reached while the other is down.
        host = self._authority if isinstance(error, AuthorityError) else self.host
        if isinstance(error, AuthorityError) and error.has_answered:
            host.note_answer()
        # 1, 2, 4 … 60 seconds, and up to one more, so that those who failed together part.
        seconds = error.retry_after or min(60.0, 2.0 ** min(tries, 6) + random.random())  # noqa: S311 - no secret
        is_too_late = self.clock.monotonic() + seconds > session.deadline
        if is_too_late and session.is_ended:
            message = f"{session.end_reason} before another try. {session.last_error()}"
            raise DeadlineError(message.rstrip(), **self._list_deadline_fields(None, session)) from error
        if is_too_late or not host.may_answer(error):
            raise error
        self.note_repeated(error, session)
        reason = "throttled" if is_throttled(error) else " ".join(filter(None, (str(error.status or ""), error.code)))
        wait = Wait(reason, self.clock.monotonic() + seconds, tries + 2)
        with self._held.holding() if is_throttled(error) else nullcontext(), session.waiting(wait):
            await self.clock.sleep(seconds)

    def note_repeated(self, error: ArmError, session: Session) -> None:
        """The last try is repeated: one that was throttled is then a figure, and not reported as a failed attempt."""
        if session.pass_throttled(error.status):
            self._tally.totals["throttled"] += 1

    async def _try(self, request: ArmRequest, session: Session, *, attempt: int = 1) -> Response:
        """One try. A failed one is kept in the session, and raised. `attempt` is its number, for the log."""
        may_be_done, answer = False, None
        try:
            async with session.in_time(self.clock):
                sent_at = session.sent_at = await self._take_turn(request, session)
                try:
                    may_be_done = request.is_write
                    self._tally.count(request)
                    session.requests += 1
                    answer = await self._transport.send(request, read_timeout=self._read_timeout)
                finally:
                    # The slot is freed whatever happened, a deadline or a stop of the run included.
                    self._throttle.release(request.method, request.path)
                    _log_request(request, answer, attempt, self.clock.monotonic() - sent_at)
            self._learn(request, answer, sent_at)
        except TimeoutError as error:
            failure = self._make_deadline_error(request, session, may_be_done=may_be_done)
            self.remember(failure, session)
            raise failure from error
        except ArmError as error:
            error.at = error.at or format_rfc3339(self.clock.now())
            self.remember(error, session)
            raise
        return answer

    async def _take_turn(self, request: ArmRequest, session: Session) -> float:
        """Wait for the request's turn, which has to be released; returns the time when it came. TimeoutError if that
        would be too late.
        """
        if not await self._throttle.admit(request.method, request.path, session):
            raise TimeoutError
        return self.clock.monotonic()

    def _learn(self, request: ArmRequest, answer: Response, sent_at: float) -> None:
        """Take in what an answer says. Raises ArmError if it is not an expected one."""
        self.host.note_answer()
        self._authority.note_answer()
        self._throttle.learn(request.method, request.path, answer)
        self._raise_for(answer, request, sent_at)

    def _make_deadline_error(self, request: ArmRequest, session: Session, *, may_be_done: bool) -> ArmError:
        """Make the error of a deadline. Whether a write that it cut off was done is not known."""
        doing = f"to {'send' if request.is_write else 'read'} {request.resource_id}"
        message, fields = _format_deadline_message(doing, session), self._list_deadline_fields(request, session)
        if not may_be_done:
            return DeadlineError(message, **fields)
        return TransportError(message, was_sent=True, outcome_unknown=True, **fields)

    def _list_deadline_fields(self, request: ArmRequest | None, session: Session) -> dict[str, Any]:
        """List the members of a deadline error other than its message."""
        about = {"resource_id": request.resource_id, "method": request.method} if request else {}
        return {"code": session.end_code, "at": format_rfc3339(self.clock.now()), **about}

    def _raise_for(self, answer: Response, request: ArmRequest, sent_at: float) -> None:
        code, message, _ = read_error(answer) if answer.status >= 400 else ("", "", ())
        if request.takes(answer, code, message):
            return
        now = self.clock.now()
        retry_after = answer.read_retry_after(now)
        if answer.status == 429 and retry_after:
            self._throttle.hold(request.method, request.path, answer, code, retry_after, sent_at)
        error = make_arm_error(answer, request, format_rfc3339(now), retry_after)
        error.outcome_unknown |= request.is_write and answer.status < 300  # accepted, but by whom?
        raise error

    def remember(self, error: ArmError, session: Session) -> None:
        """Keep a failed try in the session, so that it shows even if a later one succeeds."""
        session.attempts.append(
            Attempt(
                at=error.at,
                stage=session.stage,
                status=error.status,
                code=error.code,
                message=error.message,
                request_id=error.request_id,
            )
        )
        log = logger.bind(status=error.status, code=error.code, method=error.method, resource=error.resource_id)
        log.debug("Azure refused the request or did not respond")


async def make_first_contact(ask: Callable[[], Awaitable[T]], doing: str, retrier: Retrier, deadline: float) -> T:
    """Make contact; retry passing failures until the deadline or the patience ends.

    Raises ConfigError if it fails.
    """
    session = Session(deadline=min(deadline, retrier.clock.monotonic() + FIRST_PATIENCE))
    try:
        return await retrier.ask_patiently(ask, doing, session)
    except ArmError as error:
        raise ConfigError(error.message, hint=error.hint) from error


def _log_request(request: ArmRequest, answer: Response | None, attempt: int, seconds: float) -> None:
    """Log a request at its end, with the time that it took; `answer` is None if there was none.

    Neither bodies nor the query are logged: a query may be signed.
    """
    logger.debug(  # bind() costs more than an unwritten line
        "Request to Azure",
        method=request.method,
        path=request.path,
        status=answer.status if answer else 0,
        milliseconds=round(seconds * 1000),
        request_id=answer.request_id if answer else "",
        attempt=attempt,
    )


def is_throttled(error: ArmError) -> bool:
    return error.status == THROTTLED


def may_read_again(error: ArmError) -> bool:
    """Transport, 408, 429 and 5xx may pass; a refusal does not."""
    if isinstance(error, TransportError):
        return True
    return error.status in {408, 429} or error.status >= 500


def may_write_again(error: ArmError) -> bool:
    """Only a write that surely was not done. Not every 429 is a quota, but all mean that nothing was begun."""
    if isinstance(error, TransportError):
        return not error.was_sent
    return is_throttled(error)


def _format_deadline_message(doing: str, session: Session) -> str:
    """Format the message of a deadline, with the last cause."""
    text = f"{session.end_reason} before Azure responded to the request {doing}. {session.last_error()}"
    return text.rstrip()


class HostState:
    """Whether a host has answered in this run: it decides when a retry stops making sense.

    A name that cannot be resolved, a certificate that is not trusted and a port that refuses are mistakes of the
    settings or the network, unless the host has answered in this run: then they are outages, and pass.
    """

    def __init__(self, clock: Clock, patience: float) -> None:
        """`patience` is in seconds: how long it may refuse connections before it has answered anything."""
        self._clock = clock
        self._patience = patience
        self._has_answered = False
        self._silent_since: float | None = None

    def note_answer(self) -> None:
        self._has_answered = True

    def may_answer(self, error: BaseException) -> bool:
        """Tell whether a retry makes sense after an error."""
        if self._has_answered or not isinstance(error, TransportError) or error.was_sent:
            return True
        if error.is_wrong_host:
            return False
        now = self._clock.monotonic()
        self._silent_since = now if self._silent_since is None else self._silent_since
        return now - self._silent_since < self._patience


_Principal = tuple[object, ...]


class Traffic:
    """Made once a run, inside its event loop."""

    def __init__(self, clock: Clock, access: ArmAccess) -> None:
        self._slots = asyncio.Semaphore(access.network.concurrency)
        self.tally = RequestTally()
        self.held = HeldTime(clock)
        self._clock = clock
        self._limits = access.limits
        self._request_share = access.request_share
        self.workers: dict[str, int] = {}  # that divide the limits, by subscription in lower case
        self._run_id = access.run_id
        self._operations: Counter[tuple[str, str]] = Counter()
        self._throttles: dict[_Principal, Throttle] = {}
        self._hosts: dict[str, HostState] = {}

    @property
    def requests(self) -> RequestCounts:
        """What the run has sent so far, with all its credentials."""
        return RequestCounts(**self.tally.totals)

    @property
    def use(self) -> RequestUse:
        """What it was for, and what it used up of the limits."""
        shares = [share for throttle in self._throttles.values() for share in throttle.list_hour_shares()]
        return RequestUse(
            by_type=self.tally.by_type,
            hour_shares={kind.value: max(share for of, share in shares if of is kind) for kind, _ in sorted(shares)},
            throttled_seconds=self.held.seconds,
        )

    def list_limits(self) -> list[LimitUse]:
        """List how each limit is used just now, those that were met first at the top."""
        return [use for throttle in tuple(self._throttles.values()) for use in throttle.list_limits()]

    def make_correlation_id(self, request: ArmRequest) -> str:
        """Make the correlation id of one operation; no other operation of any run has it. A provider has answered a
        DELETE with the stored result of the PUT before it, which had the same (docs/decisions/attribution.md).
        """
        operation = request.method, request.path
        self._operations[operation] += 1
        return str(uuid5(self._run_id, " ".join((*operation, str(self._operations[operation])))))

    def find_throttle(self, access: ArmAccess) -> Throttle:
        """Return the buckets of the principal that signs in."""
        principal = _find_principal(access)
        if principal not in self._throttles:
            self._throttles[principal] = Throttle(
                self._clock, self._slots, self._limits, self._request_share, self.held, self.workers
            )
        return self._throttles[principal]

    def find_host(self, access: ArmAccess) -> HostState:
        """Return what is known of the endpoint, for every identity."""
        return self._hosts.setdefault(access.cloud.endpoint, HostState(self._clock, access.network.patience))


def _find_principal(access: ArmAccess) -> _Principal:
    """Name the principal of an access: a client of a tenant is one, however it proves itself;
    without a client, the method is all that is known.
    """
    sign_in = access.sign_in
    identity = (sign_in.tenant_id.casefold(), sign_in.client_id.casefold()) if sign_in.client_id else (sign_in.method,)
    return (access.cloud.origin, *identity)

"""One request to Azure with everything that belongs to it: its turn, its count, its attempts, its failure.

Nothing else sends a request to Azure again as it is (docs/reference/design.md#requests). Reads are retried until the
deadline; a write is sent again only if it was certainly not done: a 429, a connection that was never established, or
a policy token that Azure demands (`policy_tokens`).
After any other refusal of a write, agent/reconcile/reconcile.py begins with a read. Any request is sent once more
with a new token if Azure rejected its token. The deadline bounds each attempt, from its turn and its token to the
last byte of its answer.

A `Retrier` serves one credential. The credentials of one run share `Traffic` (slots, counts, the buckets of each
principal, and whether a host has responded), since Azure limits a principal, whichever Secret names it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid5

from loguru import logger

from gitsync.errors import (
    ArmError,
    AuthorityError,
    ConfigError,
    DeadlineError,
    PolicyTokenMissingError,
    TokenRefusedError,
    TransportError,
)
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.limits import describes_busy_jobs
from gitsync.model.record import LastWrite
from gitsync.model.report import LimitUse, RequestCounts, RequestUse
from gitsync.model.result import FailedRequest, Wait
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.failures import make_arm_error, read_error
from gitsync.providers.arm.http.messages import CORRELATION_ID, EXTERNAL_EVALUATIONS, ArmRequest, Response
from gitsync.providers.arm.http.throttle import PausedTime, RequestTally, Throttle
from gitsync.providers.arm.session import THROTTLED, Session
from gitsync.settings.backoff import Backoff

T = TypeVar("T")


class Transport(Protocol):
    """Sends one request."""

    async def send(self, request: ArmRequest, *, read_timeout: float) -> Response:
        """Raises TransportError if no answer came, CredentialError if there is no token, ArmError for an answer that is
        too large.
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
"""Seconds that a run waits for an authority or an endpoint that does not respond."""

_BACKOFF: Final = Backoff(first=1.25, most=50.0, jitter=0.2)
"""Without a Retry-After: 1 to 1.5 seconds, 2 to 3, 4 to 6 … 40 to 60. The deadline of the session ends it."""


SatisfyDemand = Callable[[ArmRequest, PolicyTokenMissingError, Session], Awaitable[Response]]
"""Sends a write again that needs a policy token, with one."""


class Retrier:
    """Sends the requests of all nodes of one credential. The limit is on requests in flight, not on nodes."""

    def __init__(
        self,
        transport: Transport,
        access: ArmAccess,
        clock: Clock,
        *,
        traffic: Traffic,
        satisfy: SatisfyDemand | None = None,
    ) -> None:
        """Without `satisfy`, a write that needs a policy token stays refused."""
        self._satisfy = satisfy
        self._transport = transport
        self._throttle = traffic.choose_throttle(access)
        self.host = traffic.find_host(access)
        self._authority = HostState(clock, access.network.patience)
        self.clock = clock
        self._traffic = traffic
        self._tally = traffic.tally
        self._paused = traffic.paused
        self._read_timeout = access.network.read_timeout

    async def send(self, request: ArmRequest, session: Session) -> Response:
        """Send until there is an expected answer, a final failure, or no time left for another attempt.

        A write is sent again only if it was certainly not done. `ArmError.outcome_unknown`: read before writing again.
        All attempts of a write have one correlation id. The session keeps it if the write was done or may have been
        done.
        """
        if not request.is_write:
            # An optional read has a substitute, so only throttling is worth a wait.
            may_try_again = is_throttled if request.is_optional else may_read_again
            return await self._repeat(partial(self._try, request, session), may_try_again, session)
        # One id for all tries, also with a policy token, so that Azure's log shows them as one operation.
        sent_id = request.headers.get(CORRELATION_ID) or self._traffic.make_correlation_id(request)
        request = replace(request, headers={**request.headers, CORRELATION_ID: sent_id})
        sent_at = format_rfc3339(self.clock.now())
        try:
            answer = await self._repeat(partial(self._try, request, session), may_write_again, session)
        except PolicyTokenMissingError as refusal:
            # Azure did nothing, so the same write may be sent again; this one was, if it has a token.
            if self._satisfy is None or EXTERNAL_EVALUATIONS in request.headers:
                raise
            return await self._satisfy(request, refusal, session)
        except ArmError as error:
            # The write may be in Azure's log, so the record keeps its id to find it by.
            if error.outcome_unknown:
                session.note_write(request.method, LastWrite(correlation_id=sent_id, at=sent_at), is_accepted=False)
            raise
        # Azure nearly always returns the id that was sent: a record then has it once.
        returned_id = answer.correlation_id if answer.correlation_id != sent_id else ""
        write = LastWrite(correlation_id=sent_id, returned_id=returned_id, at=sent_at)
        session.note_write(request.method, write, is_accepted=True)
        return answer

    async def _repeat(
        self, once: Callable[[int], Awaitable[T]], may_try_again: Callable[[ArmError], bool], session: Session
    ) -> T:
        """Do something until it succeeds, or fails in a way that another try would not change. `once` gets its number.

        This is not `backoff.retry`: a new token costs no try, the host and the end of the session decide about a wait,
        and each request of a run passes here, nearly all of them once.
        """
        tries, has_new_token = 0, False
        while True:
            try:
                return await once(tries + 1)
            except TokenRefusedError:
                # A token that is refused right after it was issued is not an old one, so a third would be refused as
                # well.
                if has_new_token:
                    raise
                has_new_token = True  # the refused one is forgotten; this is not a failed attempt
                continue
            except ArmError as error:
                if not may_try_again(error):
                    raise
                await self._pause(error, tries, session)
            tries += 1

    async def send_once(self, request: ArmRequest, session: Session) -> Response:
        """Send once, and once more with a new token if Azure rejected the first one."""
        with suppress(TokenRefusedError):
            return await self._try(request, session)
        return await self._try(request, session)

    async def request_patiently(self, send: Callable[[], Awaitable[T]], doing: str, session: Session) -> T:
        """Do something else that changes nothing, with the retries of a read. `doing` names it: "to sign in"."""
        return await self._repeat(lambda _number: self._request_once(send, doing, session), may_read_again, session)

    async def _request_once(self, send: Callable[[], Awaitable[T]], doing: str, session: Session) -> T:
        try:
            async with session.in_time(self.clock):
                return await send()
        except TimeoutError as error:
            raise DeadlineError(
                _format_deadline_message(doing, session), **self._list_deadline_fields(None, session)
            ) from error
        except ArmError as error:
            self.remember(error, session)
            raise

    async def _pause(self, error: ArmError, tries: int, session: Session) -> None:
        """Wait before another attempt. Raises the error if its host will not respond, or the deadline comes first; if
        the run was stopped, a DeadlineError, since the error is not the reason.
        """
        # The authority and the endpoint fail independently: one may be reachable while the other is down.
        host = self._authority if isinstance(error, AuthorityError) else self.host
        if isinstance(error, AuthorityError) and error.has_answered:
            host.note_answer()
        seconds = error.retry_after or _BACKOFF.compute_wait(tries)
        is_too_late = self.clock.monotonic() + seconds > session.deadline
        if is_too_late and session.is_ended:
            message = f"{session.end_reason} before another try. {session.last_error()}"
            raise DeadlineError(message.rstrip(), **self._list_deadline_fields(None, session)) from error
        if is_too_late or not host.may_answer(error):
            raise error
        self.note_repeated(error, session)
        reason = "throttled" if is_throttled(error) else " ".join(filter(None, (str(error.status or ""), error.code)))
        wait = Wait(reason, self.clock.monotonic() + seconds, tries + 2)
        with self._paused.pausing() if is_throttled(error) else nullcontext(), session.waiting(wait):
            await self.clock.sleep(seconds)

    def note_repeated(self, error: ArmError, session: Session) -> None:
        """Note that the last attempt is repeated: if it was throttled it is counted, and not reported as failed."""
        if session.pass_repeated(is_throttled=is_throttled(error)):
            self._tally.totals["throttled"] += 1

    async def _try(self, request: ArmRequest, session: Session, attempt: int = 1) -> Response:
        """Send once. A failure is kept in the session, and raised. `attempt` is its number, for the log."""
        may_be_done, answer = False, None
        try:
            async with session.in_time(self.clock):
                sent_at = session.sent_at = await self._take_turn(request, session)
                try:
                    may_be_done = request.is_write  # from here on, a timeout leaves the outcome unknown
                    self._tally.count(request)
                    session.requests += 1
                    answer = await self._transport.send(request, read_timeout=self._read_timeout)
                finally:
                    # The slot is freed in any case, also at a deadline or when the run is stopped.
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
        """Wait for the request's turn, which must be released, and return the time of it. TimeoutError if it would come
        too late.
        """
        if not await self._throttle.admit(request.method, request.path, session):
            raise TimeoutError
        return self.clock.monotonic()

    def _learn(self, request: ArmRequest, answer: Response, sent_at: float) -> None:
        """Update limits and counts from an answer. Raises ArmError if it is not an expected one."""
        # Any answer shows that the settings are right, so later silence is an outage.
        self.host.note_answer()
        self._authority.note_answer()
        self._throttle.learn(request.method, request.path, answer)
        self._raise_for(answer, request, sent_at)

    def _make_deadline_error(self, request: ArmRequest, session: Session, *, may_be_done: bool) -> ArmError:
        """Make the error of a deadline."""
        doing = f"to {'send' if request.is_write else 'read'} {request.resource_id}"
        message, fields = _format_deadline_message(doing, session), self._list_deadline_fields(request, session)
        if not may_be_done:
            return DeadlineError(message, **fields)
        # The outcome of an interrupted write is unknown.
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
        # Other requests of the bucket wait too: each of them would be refused as well.
        error = make_arm_error(answer, request, format_rfc3339(now), retry_after)
        if is_throttled(error) and retry_after:
            self._throttle.pause(request.method, request.path, answer, code, retry_after, sent_at)
        error.outcome_unknown |= request.is_write and answer.status < 300  # accepted, but perhaps by a proxy
        raise error

    def remember(self, error: ArmError, session: Session) -> None:
        """Keep a failed attempt in the session, so that it is shown even if a later one succeeds."""
        session.failures.append(
            FailedRequest(
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


async def make_first_contact(send: Callable[[], Awaitable[T]], doing: str, retrier: Retrier, deadline: float) -> T:
    """Make contact; retry temporary failures until the deadline or for `FIRST_PATIENCE`.

    Raises ConfigError if it fails.
    """
    session = Session(deadline=min(deadline, retrier.clock.monotonic() + FIRST_PATIENCE))
    try:
        return await retrier.request_patiently(send, doing, session)
    except ArmError as error:
        raise ConfigError(error.message, hint=error.hint) from error


def _log_request(request: ArmRequest, answer: Response | None, attempt: int, seconds: float) -> None:
    """Log a request at its end, with the time that it took; `answer` is None if there was none."""
    # Neither bodies nor the query are logged: a query may be signed.
    logger.debug(  # bind() costs more than a line that is not written
        "Request to Azure",
        method=request.method,
        path=request.path,
        status=answer.status if answer else 0,
        milliseconds=round(seconds * 1000),
        request_id=answer.request_id if answer else "",
        attempt=attempt,
    )


def is_throttled(error: ArmError) -> bool:
    """Return whether a limit refused the request: nothing was begun."""
    # After a 5xx a write may have been done anyway.
    return error.status == THROTTLED or (400 <= error.status < 500 and describes_busy_jobs(error.message))


def may_read_again(error: ArmError) -> bool:
    """Return whether a failure may be temporary: transport, 408, 429 and 5xx, not a refusal."""
    if isinstance(error, TransportError):
        return True
    return error.status == 408 or error.status >= 500 or is_throttled(error)


def may_write_again(error: ArmError) -> bool:
    """Return whether a write was certainly not done."""
    if isinstance(error, TransportError):
        return not error.was_sent
    # Not every 429 is a quota, but after each of them nothing was begun.
    return is_throttled(error)


def _format_deadline_message(doing: str, session: Session) -> str:
    """Format the message of a deadline, with the last cause."""
    text = f"{session.end_reason} before Azure responded to the request {doing}. {session.last_error()}"
    return text.rstrip()


class HostState:
    """Whether a host has responded in this run, which decides whether a retry makes sense.

    A name that cannot be resolved, an untrusted certificate and a refused connection are mistakes in the settings or
    the network, unless the host has responded in this run: then they are outages, and temporary.
    """

    def __init__(self, clock: Clock, patience: float) -> None:
        """`patience`: seconds in which the host may refuse connections before its first response."""
        self._clock = clock
        self._patience = patience
        self._has_answered = False
        self._silent_since: float | None = None

    def note_answer(self) -> None:
        self._has_answered = True

    def may_answer(self, error: BaseException) -> bool:
        """Return whether a retry makes sense after an error."""
        if self._has_answered or not isinstance(error, TransportError) or error.was_sent:
            return True
        # A wrong name or an untrusted certificate stays wrong: waiting would only delay the message.
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
        self.paused = PausedTime(clock)
        self._clock = clock
        self._limits = access.limits
        self._request_share = access.request_share
        self.workers: dict[str, int] = {}  # the number that share the limits, by subscription in lower case
        self._run_id = access.run_id
        self._operations: Counter[tuple[str, str]] = Counter()
        self._throttles: dict[_Principal, Throttle] = {}
        self._hosts: dict[str, HostState] = {}

    @property
    def requests(self) -> RequestCounts:
        """The requests of the run so far, with all its credentials."""
        return RequestCounts(**self.tally.totals)

    @property
    def use(self) -> RequestUse:
        """The purpose of the requests, and their part of the limits."""
        shares = [share for throttle in self._throttles.values() for share in throttle.list_hour_shares()]
        return RequestUse(
            by_type=self.tally.by_type,
            hour_shares={kind.value: max(share for of, share in shares if of is kind) for kind, _ in sorted(shares)},
            throttled_seconds=self.paused.seconds,
        )

    def list_limits(self) -> list[LimitUse]:
        """List how each limit is currently used, in the order of their first use."""
        return [use for throttle in tuple(self._throttles.values()) for use in throttle.list_limits()]

    def make_correlation_id(self, request: ArmRequest) -> str:
        """Make the correlation id of one operation; no other operation of any run has it."""
        # With an id that operations share, a provider has answered a DELETE with the stored result of the PUT before it
        # (docs/decisions/attribution.md).
        operation = request.method, request.path
        self._operations[operation] += 1
        return str(uuid5(self._run_id, " ".join((*operation, str(self._operations[operation])))))

    def choose_throttle(self, access: ArmAccess) -> Throttle:
        """Return the buckets of the principal that signs in."""
        principal = _name_principal(access)
        if principal not in self._throttles:
            self._throttles[principal] = Throttle(
                self._clock, self._slots, self._limits, self._request_share, self.paused, self.workers
            )
        return self._throttles[principal]

    def find_host(self, access: ArmAccess) -> HostState:
        """Return the state of the endpoint, which all identities share."""
        return self._hosts.setdefault(access.cloud.endpoint, HostState(self._clock, access.network.patience))


def _name_principal(access: ArmAccess) -> _Principal:
    """Name the principal of an access: the client in its tenant, with any method; without a client, the method."""
    sign_in = access.sign_in
    identity = (sign_in.tenant_id.casefold(), sign_in.client_id.casefold()) if sign_in.client_id else (sign_in.method,)
    return (access.cloud.origin, *identity)

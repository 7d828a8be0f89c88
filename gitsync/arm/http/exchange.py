"""One question to Azure with everything that belongs to it: its turn, its count, its tries, its failure.

The only place that retries (docs/reference/design.md#requests). Reads are tried until the deadline; a write is sent
again only where it surely was not done: a 429, or a connection that never stood. The deadline bounds each try as a
whole, from its turn and its token to the last byte of its answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from gitsync.arm.auth.access import ArmAccess
from gitsync.arm.http.answer import Response
from gitsync.arm.http.call import ArmRequest
from gitsync.arm.http.conversation import DEADLINE, Conversation
from gitsync.arm.http.failures import AuthorityError, DeadlineError, TransportError, make_arm_error, read_error
from gitsync.arm.http.host_state import Host
from gitsync.arm.http.throttle import classify_method
from gitsync.arm.http.traffic import Traffic
from gitsync.errors import ArmError
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.result import Attempt

_BACK_OFF = wait_exponential_jitter(initial=1, max=60, jitter=1)


T = TypeVar("T")


class Carrier(Protocol):
    """Whatever brings one request over the wire."""

    async def send(self, call: ArmRequest, *, read_timeout: float) -> Response:
        """Raises TransportError where no answer came, CredentialError where there is no token, ArmError for an answer
        that is too large.
        """
        ...


class Exchange:
    """Sends the calls of all nodes of one credential. What is limited is requests in flight, not nodes."""

    def __init__(self, carrier: Carrier, access: ArmAccess, clock: Clock, *, traffic: Traffic) -> None:
        self._carrier = carrier
        self._throttle = traffic.throttle(access)
        self.host = traffic.host(access)
        self._authority = Host(clock)
        self.clock = clock
        self._slots = traffic.slots
        self._counts = traffic.counts
        self._read_timeout = access.network.read_timeout

    async def read(self, call: ArmRequest, conversation: Conversation) -> Response:
        """Ask until there is an answer that was asked for, the failure is final, or the deadline is too near."""
        return await self._try(lambda: self.once(call, conversation), may_read_again, conversation)

    async def write(self, call: ArmRequest, conversation: Conversation) -> Response:
        """Send, and again only if it surely was not done. `ArmError.outcome_unknown`: read before writing again."""
        return await self._try(lambda: self.once(call, conversation), may_write_again, conversation)

    async def patiently(self, ask: Callable[[], Awaitable[T]], doing: str, conversation: Conversation) -> T:
        """Do something else that changes nothing, with the patience of a read. `doing` names it: "to sign in"."""

        async def once() -> T:
            try:
                async with conversation.in_time(self.clock):
                    return await ask()
            except TimeoutError as error:
                raise DeadlineError(_too_late(doing, conversation), **self._known(None)) from error
            except ArmError as error:
                self.remember(error, conversation)
                raise

        return await self._try(once, may_read_again, conversation)

    async def once(self, call: ArmRequest, conversation: Conversation) -> Response:
        """One try. A failed one is kept in the conversation, and raised."""
        try:
            async with self._turn(call, conversation):
                answer = await self._send(call, conversation)
            self.host.answered()
            self._authority.answered()
            self._throttle.learn(call.method, call.path, answer)
            self._raise_for(answer, call)
        except ArmError as error:
            error.at = error.at or format_rfc3339(self.clock.now())
            self.remember(error, conversation)
            raise
        return answer

    @asynccontextmanager
    async def _turn(self, call: ArmRequest, conversation: Conversation) -> AsyncIterator[None]:
        """Wait for the request's turn, and keep it; DeadlineError where that would be too late."""
        try:
            async with conversation.in_time(self.clock):
                is_my_turn = await self._throttle.admit(call.method, call.path, conversation)
                if is_my_turn:
                    await self._slots.acquire()
        except TimeoutError:
            is_my_turn = False
        if not is_my_turn:
            raise DeadlineError(_too_late(_asking(call), conversation), **self._known(call))
        try:
            yield
        finally:
            self._slots.release()

    async def _send(self, call: ArmRequest, conversation: Conversation) -> Response:
        """Send, and wait for the answer until the deadline. Whether a write was done that it cut off is not known."""
        may_be_done = False
        try:
            async with conversation.in_time(self.clock):
                may_be_done = call.is_write
                self._counts["polls" if call.is_poll else classify_method(call.method)] += 1
                conversation.requests += 1
                return await self._carrier.send(call, read_timeout=self._read_timeout)
        except TimeoutError as error:
            message, known = _too_late(_asking(call), conversation), self._known(call)
            if not may_be_done:
                raise DeadlineError(message, **known) from error
            raise TransportError(message, was_sent=True, outcome_unknown=True, **known) from error

    def _known(self, call: ArmRequest | None) -> dict[str, Any]:
        """The members of a deadline error other than its message."""
        about = {"resource_id": call.resource_id, "method": call.method} if call else {}
        return {"code": DEADLINE, "at": format_rfc3339(self.clock.now()), **about}

    def _raise_for(self, answer: Response, call: ArmRequest) -> None:
        code, _, _ = read_error(answer) if answer.status >= 400 else ("", "", ())
        if call.takes(answer, code):
            return
        now = self.clock.now()
        retry_after = answer.retry_after(now)
        if answer.status == 429 and retry_after:
            self._throttle.hold(call.method, call.path, answer, code, retry_after)
        error = make_arm_error(answer, call, format_rfc3339(now), retry_after)
        error.outcome_unknown |= call.is_write and answer.status < 300  # accepted, but by whom?
        raise error

    def remember(self, error: ArmError, conversation: Conversation) -> None:
        """Keep a failed try in the conversation, so that it shows even if a later one succeeds."""
        conversation.attempts.append(
            Attempt(
                at=error.at,
                stage=conversation.stage,
                status=error.status,
                code=error.code,
                message=error.message,
                request_id=error.request_id,
            )
        )
        seen = logger.bind(status=error.status, code=error.code, method=error.method, resource=error.resource_id)
        seen.debug("Azure refused the request or did not respond")

    async def _try(self, ask: Callable[[], Awaitable[T]], may_try_again: MayTryAgain, conversation: Conversation) -> T:
        """Once, and then as tenacity says; only after a failure, for it costs a quarter of what a request does."""

        def is_worth_it(error: BaseException) -> bool:
            host = self._authority if isinstance(error, AuthorityError) else self.host
            return may_try_again(error) and host.may_answer(error)

        try:
            return await ask()
        except ArmError as error:
            if not is_worth_it(error):
                raise
            failed = [error]

        async def again() -> T:
            if failed:
                raise failed.pop()
            return await ask()

        def is_too_late(state: RetryCallState) -> bool:
            return self.clock.monotonic() + state.upcoming_sleep > conversation.deadline

        return await AsyncRetrying(
            retry=retry_if_exception(is_worth_it),
            wait=_wait,
            stop=is_too_late,
            sleep=self.clock.sleep,
            reraise=True,
        )(again)


MayTryAgain = Callable[[BaseException], bool]


def may_read_again(error: BaseException) -> bool:
    """Transport, 408, 429 and 5xx may pass; a refusal does not."""
    if isinstance(error, TransportError):
        return True
    return isinstance(error, ArmError) and (error.status in {408, 429} or error.status >= 500)


def may_write_again(error: BaseException) -> bool:
    """Only what surely was not done. Not every 429 is a quota; all of them say that nothing was begun."""
    if isinstance(error, TransportError):
        return not error.was_sent
    return isinstance(error, ArmError) and error.status == 429


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ArmError) else None
    return asked or _BACK_OFF(state)


def _asking(call: ArmRequest) -> str:
    return f"to {'send' if call.is_write else 'read'} {call.resource_id}"


def _too_late(doing: str, conversation: Conversation) -> str:
    """The message of a deadline, with the last cause."""
    ended = "The run was stopped" if conversation.is_ended else "Deadline exceeded"
    return f"{ended} before Azure responded to the request {doing}. {conversation.last_error()}".rstrip()

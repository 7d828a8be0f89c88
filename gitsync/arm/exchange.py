"""One question to Azure with everything that belongs to it: its turn, its count, its tries, its failure.

The only place that retries (DESIGN §4, Requests: one retry owner). Reads are tried until the deadline; a write is sent
again only where it surely was not done: a 429, or a connection that never stood.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from gitsync.arm.answer import Answer
from gitsync.arm.call import Call
from gitsync.arm.conversation import Conversation
from gitsync.arm.failures import DeadlineError, TransportError, failure_of, read_error
from gitsync.arm.throttle import Throttle, kind_of
from gitsync.arm.traffic import Traffic
from gitsync.errors import ArmError
from gitsync.model.clock import Clock, rfc3339
from gitsync.model.result import Attempt

_BACK_OFF = wait_exponential_jitter(initial=1, max=60, jitter=1)


T = TypeVar("T")


class Carrier(Protocol):
    """Whatever brings one request over the wire."""

    async def send(self, call: Call, *, read_timeout: float) -> Answer:
        """Raises TransportError where no answer came, CredentialError where there is no token."""
        ...


class Exchange:
    """Sends the calls of all nodes of one credential. What is limited is requests in flight, not nodes."""

    def __init__(
        self, carrier: Carrier, throttle: Throttle, clock: Clock, *, traffic: Traffic, read_timeout: float
    ) -> None:
        self._carrier = carrier
        self._throttle = throttle
        self._clock = clock
        self._slots = traffic.slots
        self._counts = traffic.counts
        self._read_timeout = read_timeout

    async def read(self, call: Call, conversation: Conversation) -> Answer:
        """Ask until there is an answer that was asked for, the failure is final, or the deadline is too near."""
        return await self._try(lambda: self.once(call, conversation), may_read_again, conversation)

    async def write(self, call: Call, conversation: Conversation) -> Answer:
        """Send, and again only if it surely was not done. `ArmError.outcome_unknown`: read before writing again."""
        return await self._try(lambda: self.once(call, conversation), may_write_again, conversation)

    async def patiently(self, ask: Callable[[], Awaitable[T]], conversation: Conversation) -> T:
        """Do something else that changes nothing, with the patience of a read."""
        return await self._try(ask, may_read_again, conversation)

    async def once(self, call: Call, conversation: Conversation) -> Answer:
        """One try. A failed one is kept in the conversation, and raised."""
        await self._admit(call, conversation)
        try:
            answer = await self._send(call, conversation)
            self._raise_for(answer, call)
        except ArmError as error:
            self.remember(error, conversation)
            raise
        return answer

    async def _admit(self, call: Call, conversation: Conversation) -> None:
        """Wait for the request's turn; DeadlineError where that would be too late."""
        if conversation.deadline > self._clock.monotonic() and await self._throttle.admit(
            call.method, call.path, conversation
        ):
            return
        raise DeadlineError(
            f"No time was left to ask Azure about {call.resource_id}.",
            code="DeadlineExceeded",
            resource_id=call.resource_id,
            method=call.method,
            at=rfc3339(self._clock.now()),
        )

    async def _send(self, call: Call, conversation: Conversation) -> Answer:
        async with self._slots:
            self._counts["polls" if call.is_poll else kind_of(call.method)] += 1
            conversation.requests += 1
            timeout = min(self._read_timeout, max(1.0, conversation.deadline - self._clock.monotonic()))
            try:
                answer = await self._answer(call, conversation, timeout)
            except ArmError as error:
                error.at = rfc3339(self._clock.now())
                raise
        self._throttle.learn(call.method, call.path, answer)
        return answer

    async def _answer(self, call: Call, conversation: Conversation, read_timeout: float) -> Answer:
        """Wait for the answer, until the conversation is ended."""
        try:
            async with asyncio.timeout(None) as conversation.limit:
                return await self._carrier.send(call, read_timeout=read_timeout)
        except TimeoutError as error:
            raise TransportError(
                "The run was told to end before Azure answered.",
                was_sent=True,
                resource_id=call.resource_id,
                method=call.method,
                outcome_unknown=call.is_write,
            ) from error
        finally:
            conversation.limit = None

    def _raise_for(self, answer: Answer, call: Call) -> None:
        code, _, _ = read_error(answer) if answer.status >= 400 else ("", "", ())
        if call.takes(answer, code):
            return
        now = self._clock.now()
        retry_after = answer.retry_after(now)
        if answer.status == 429 and retry_after:
            self._throttle.hold(call.method, call.path, answer, code, retry_after)
        error = failure_of(answer, call, rfc3339(now), retry_after)
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
        seen.debug("Azure refused or did not answer")

    async def _try(self, ask: Callable[[], Awaitable[T]], may_try_again: MayTryAgain, conversation: Conversation) -> T:
        """Once, and then as tenacity says; only after a failure, for it costs a quarter of what a request does."""
        try:
            return await ask()
        except ArmError as error:
            if not may_try_again(error):
                raise
            failed = [error]

        async def again() -> T:
            if failed:
                raise failed.pop()
            return await ask()

        def is_too_late(state: RetryCallState) -> bool:
            return self._clock.monotonic() + state.upcoming_sleep > conversation.deadline

        return await AsyncRetrying(
            retry=retry_if_exception(may_try_again),
            wait=_wait,
            stop=is_too_late,
            sleep=self._clock.sleep,
            reraise=True,
        )(again)


MayTryAgain = Callable[[BaseException], bool]


def may_read_again(error: BaseException) -> bool:
    """Transport, 408, 429 and 5xx mend by themselves; a wrong certificate or a refusal does not."""
    if isinstance(error, TransportError):
        return error.may_mend
    return isinstance(error, ArmError) and (error.status in {408, 429} or error.status >= 500)


def may_write_again(error: BaseException) -> bool:
    """Only what surely was not done. Not every 429 is a quota; all of them say that nothing was begun."""
    if isinstance(error, TransportError):
        return error.may_mend and not error.was_sent
    return isinstance(error, ArmError) and error.status == 429


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ArmError) else None
    return asked or _BACK_OFF(state)

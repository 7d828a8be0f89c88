"""Retries requests to remote sources and sinks if their refusal may pass: a few times, and not for long.

Separate from the sources and sinks, since all wait alike: as long as the answer asks for (`Retry-After`), else twice as
long each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from gitsync.model.clock import Clock
from gitsync.secrets.protocols import VaultError

if TYPE_CHECKING:
    from tenacity import RetryCallState

LONGEST_WAIT = 60.0
"""Seconds. If a service asks to wait longer, the next run tries again."""

LONGEST_REQUEST = 60.0
"""Seconds for one request, from its token to the last byte of its answer."""

PATIENT_ATTEMPTS = 7
"""Attempts in all for what may pass, with 1, 2, 4, 8 and twice 16 seconds between them: a service that restarts, or a
Key Vault that recovers a secret, needs up to a minute.
"""

_SLOW_ATTEMPTS = 2

_Answer = TypeVar("_Answer")
_LONGEST_PAUSE = 16.0  # seconds


class PassingError(VaultError):
    """A refusal that may pass: try `attempts` times in all, `retry_after` seconds apart if it is set."""

    def __init__(self, message: str, *, attempts: int, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.attempts = attempts
        self.retry_after = retry_after


@asynccontextmanager
async def answered(message: str) -> AsyncIterator[None]:
    """Bound one request as a whole, however slowly its answer drips. Raises PassingError with the message."""
    try:
        async with asyncio.timeout(LONGEST_REQUEST):
            yield
    except TimeoutError as error:
        raise PassingError(f"{message} within {LONGEST_REQUEST:g} seconds.", attempts=_SLOW_ATTEMPTS) from error


async def retry_passing(ask: Callable[[], Awaitable[_Answer]], clock: Clock) -> _Answer:
    """Return the answer of `ask`; repeat it while it raises PassingError and has attempts left."""
    from tenacity import AsyncRetrying, retry_if_exception  # noqa: PLC0415 - offline commands ask no source

    async def once() -> _Answer:  # tenacity awaits nothing but coroutine functions
        return await ask()

    return await AsyncRetrying(
        sleep=clock.sleep, wait=_wait, stop=_stop, retry=retry_if_exception(_may_pass), reraise=True
    )(once)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait; None if it does not say so in seconds."""
    text = headers.get("Retry-After", "").strip()
    return float(text) if text.isascii() and text.isdigit() else None


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, PassingError) and (error.retry_after or 0) <= LONGEST_WAIT


def _find_error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _stop(state: RetryCallState) -> bool:
    error = _find_error(state)
    return isinstance(error, PassingError) and state.attempt_number >= error.attempts


def _wait(state: RetryCallState) -> float:
    error = _find_error(state)
    retry_after = error.retry_after if isinstance(error, PassingError) else None
    doubled = min(2.0 ** (state.attempt_number - 1), _LONGEST_PAUSE)
    return doubled if retry_after is None else retry_after

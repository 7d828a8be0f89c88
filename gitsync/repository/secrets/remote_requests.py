"""Requests to Key Vault and to the cluster: how long each may take, when it is tried again, and what of an error is
shown.

Both services wait alike: as long as the response specifies (`Retry-After`), else twice as long each time. A service
that still fails is not tried again in the run: a run has many requests, and each would wait as long. A certificate that
is not accepted stays so, and is not waited for.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, TypeVar

from gitsync.errors import TransientStoreError
from gitsync.model.clock import Clock
from gitsync.model.secret import MASKED, Secret, truncate
from gitsync.settings.backoff import Backoff, retry

LONGEST_REQUEST = 60.0
"""Seconds for one request, from its token to the last byte of its answer."""

_BACKOFF: Final = Backoff(most=16.0, tries=7, seconds=60.0)
"""A service that restarts, or a Key Vault that recovers a secret, needs up to a minute. So the waits are 1, 2, 4, 8 and
twice 16 seconds. If the service requests to wait longer, the next run tries again.
"""

_SLOW_ATTEMPTS = 2

_Answer = TypeVar("_Answer")


@asynccontextmanager
async def limit_request_time(message: str) -> AsyncIterator[None]:
    """Bound one request as a whole, however slowly its answer drips. Raises TransientStoreError with the message."""
    try:
        async with asyncio.timeout(LONGEST_REQUEST):
            yield
    except TimeoutError as error:
        raise TransientStoreError(
            f"{message} within {LONGEST_REQUEST:g} seconds.", attempts=_SLOW_ATTEMPTS, is_of_all=True
        ) from error


class Retries:
    """The requests to one service in one run."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failure: TransientStoreError | None = None

    async def request(self, request: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Return the answer to `request`; repeat it while it raises TransientStoreError, has attempts left, and for
        about a minute. Raises what it raises last; without a request, if the service has failed before.
        """
        if before := self._failure:
            message = f"{before.message} It is skipped for the rest of this run."
            raise TransientStoreError(message, attempts=1, is_of_all=True, hint=before.hint)
        try:
            return await retry(request, _find_backoff, self._clock)
        except TransientStoreError as error:
            if error.is_of_all:  # not only of the requested object
                self._failure = error
            raise


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a response requests to wait; None if it does not give seconds."""
    text = headers.get("Retry-After", "").strip()
    return float(text) if text.isascii() and text.isdigit() else None


def _find_backoff(failure: BaseException) -> Backoff | None:
    if not isinstance(failure, TransientStoreError):
        return None
    backoff = replace(_BACKOFF, tries=failure.attempts or _BACKOFF.tries)
    requested = failure.retry_after
    return backoff if requested is None else replace(backoff, first=requested, most=requested)


def find_certificate_error(error: BaseException | None) -> str:
    """Find OpenSSL's reason why a certificate was not accepted; "" if the error has another cause."""
    seen: set[int] = set()  # causes can go in circles
    while error is not None and id(error) not in seen:
        reason = getattr(error, "verify_message", "")  # aiohttp's error of this type has none; its cause does
        if isinstance(error, ssl.SSLCertVerificationError) and reason:
            return str(reason)
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return ""


_LONGEST = 500  # characters


def format_complaint(message: object, hidden_values: Iterable[Secret]) -> str:
    """Format the text of a refusal without its full stop; "" if there is none."""
    text = " ".join(str(message or "").split())
    for secret in hidden_values:  # a service may quote what it was sent
        # An empty secret would match between any two letters.
        if secret.reveal():
            text = text.replace(secret.reveal(), MASKED)
    return truncate(text, _LONGEST).rstrip(".")

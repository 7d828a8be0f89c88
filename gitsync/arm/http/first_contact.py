"""The first contact of a run with Azure, before anything is touched: a failure here refuses the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from gitsync.arm.auth.principal import Principal
from gitsync.arm.http.retries import Retrier, Transport
from gitsync.arm.session import Session
from gitsync.errors import ArmError, ConfigError

FIRST_PATIENCE = 60.0
"""Seconds that a run waits for an authority or an endpoint that does not answer."""

T = TypeVar("T")


class AuthenticatedTransport(Transport, Protocol):
    """A transport that has a credential."""

    async def sign_in(self) -> Principal | None: ...

    async def connect(self) -> None: ...


async def make_first_contact(ask: Callable[[], Awaitable[T]], doing: str, retrier: Retrier, deadline: float) -> T:
    """Make contact; retry passing failures until the deadline or the patience ends.

    Raises ConfigError if it fails.
    """
    session = Session(deadline=min(deadline, retrier.clock.monotonic() + FIRST_PATIENCE))
    try:
        return await retrier.ask_patiently(ask, doing, session)
    except ArmError as error:
        raise ConfigError(error.message, hint=error.hint) from error

"""The first contact of a run with Azure, before anything is touched: a failure here refuses the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from gitsync.arm.auth.principal import Principal
from gitsync.arm.http.exchange import Carrier, Exchange
from gitsync.arm.session import Session
from gitsync.errors import ArmError, ConfigError

FIRST_PATIENCE = 60.0
"""Seconds that a run waits for an authority or an endpoint that does not answer."""

T = TypeVar("T")


class SignedCarrier(Carrier, Protocol):
    """A carrier that has a credential."""

    async def sign_in(self) -> Principal | None: ...

    async def connect(self) -> None: ...


async def make_first_contact(ask: Callable[[], Awaitable[T]], doing: str, exchange: Exchange, deadline: float) -> T:
    """Make contact; retry passing failures until the deadline or the patience ends.

    Raises ConfigError if it fails.
    """
    session = Session(deadline=min(deadline, exchange.clock.monotonic() + FIRST_PATIENCE))
    try:
        return await exchange.ask_patiently(ask, doing, session)
    except ArmError as error:
        raise ConfigError(error.message, hint=error.hint) from error

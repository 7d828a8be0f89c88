"""One `Arm` for each credential of a run, over one way to Azure.

Separate from the client, which has one principal: this module decides which sign-ins share one, and closes all at the
end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.model.signin import SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Trust, read_trust
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.messages import ArmRequest, Response
from gitsync.providers.arm.http.retries import AuthenticatedTransport, Traffic

if TYPE_CHECKING:
    from gitsync.providers.arm.http.connection import HttpConnection


@asynccontextmanager
async def open_arms(access: ArmAccess, clock: Clock) -> AsyncIterator[Arms]:
    """Open the `Arm`s of a run, which are closed at the end in any case. Raises ConfigError for a CA bundle that cannot
    be read. `access.sign_in` is not opened by this.
    """
    trust = read_trust(access.network.ca_bundle)
    async with AsyncExitStack() as stack:
        yield Arms(access, clock, stack, trust)


class Arms:
    """Opens an `Arm` on demand, and shares it between equal sign-ins.

    So there is one token for each credential and audience: the client keeps it.
    """

    def __init__(self, access: ArmAccess, clock: Clock, stack: AsyncExitStack, trust: Trust) -> None:
        self._access = access
        self._trust = trust
        self._clock = clock
        self._stack = stack
        self._traffic = Traffic(clock, access)
        self._arms: list[tuple[ArmAccess, Arm]] = []
        self._opening = asyncio.Lock()
        self._http: HttpConnection | None = None

    async def open(self, sign_in: SignIn, cloud: Cloud | None = None) -> Arm:
        """Open the `Arm` of a sign-in, at the run's cloud or another. Raises ConfigError if the settings cannot work;
        the `Arm` of the run's own credential raises it when it is first used.

        No token is requested yet.
        """
        access = replace(self._access, sign_in=sign_in, cloud=cloud or self._access.cloud)
        # Few Secrets have an identity of their own, so a list is searched and nothing is hashed.
        for other, arm in self._arms:
            if other == access:
                return arm
        transport = await self._make_transport(access)
        arm = Arm(transport, access, self._clock, self._traffic)
        self._arms.append((access, arm))
        return arm

    async def _make_transport(self, access: ArmAccess) -> AuthenticatedTransport:
        """Return a transport: the run's own opens when it is used; that of a Secret at once, since its error stops only
        the resources that use the Secret.
        """
        if access == self._access:
            return LazyTransport(partial(self._open_transport, access))
        return await self._open_transport(access)

    async def _open_transport(self, access: ArmAccess) -> AuthenticatedTransport:
        from gitsync.providers.arm.http.connection import open_connection  # noqa: PLC0415 - as above
        from gitsync.providers.arm.http.transport import open_transport  # noqa: PLC0415 - azure and aiohttp are slow to import

        async with self._opening:  # resources open their credentials at the same time
            if self._http is None:
                self._http = await self._stack.enter_async_context(open_connection(access.network, self._trust))
            return await self._stack.enter_async_context(open_transport(access, self._clock, http=self._http))


class LazyTransport:
    """Opens the transport with `open_transport` on first use, and hands everything to it.

    The libraries of a transport are slow to import, and a run that is refused before its first request needs none of
    them. The first use raises the ConfigError of `open_transport`.
    """

    def __init__(self, open_transport: Callable[[], Awaitable[AuthenticatedTransport]]) -> None:
        self._open_transport = open_transport
        self._opening = asyncio.Lock()
        self._opened: AuthenticatedTransport | None = None

    async def send(self, request: ArmRequest, *, read_timeout: float) -> Response:
        """Send one request. Raises as the transport does."""
        return await (await self._ensure_open()).send(request, read_timeout=read_timeout)

    async def connect(self) -> None:
        """Open a connection to the endpoint. Raises as the transport does."""
        await (await self._ensure_open()).connect()

    async def sign_in(self) -> Principal | None:
        """Get a token; None for anonymous access. Raises as the transport does."""
        return await (await self._ensure_open()).sign_in()

    async def get_token(self, scope: str) -> Secret:
        """Get a token for a scope. Raises as the transport does."""
        return await (await self._ensure_open()).get_token(scope)

    def reach(self, cloud: Cloud) -> LazyTransport:
        """Return a transport to another service, which opens when it is used. Its credential is that of this one."""

        async def open_there() -> AuthenticatedTransport:
            return (await self._ensure_open()).reach(cloud)

        return LazyTransport(open_there)

    async def _ensure_open(self) -> AuthenticatedTransport:
        if self._opened is not None:
            return self._opened
        async with self._opening:  # many requests may come first at the same time
            if self._opened is None:
                self._opened = await self._open_transport()
        return self._opened

"""A transport that is opened by the first thing asked of it, since its libraries are slow to
import: what is refused before Azure is asked needs none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from gitsync.arm.auth.principal import Principal
from gitsync.arm.http.messages import ArmRequest, Response
from gitsync.arm.http.retries import AuthenticatedTransport


class LazyTransport:
    """Hands everything to the transport that `open_transport` gives. Its ConfigError comes from whatever asks first."""

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

    async def _ensure_open(self) -> AuthenticatedTransport:
        if self._opened is not None:
            return self._opened
        async with self._opening:  # many requests may be first
            if self._opened is None:
                self._opened = await self._open_transport()
        return self._opened

"""A server on a socket of this machine, closed with every connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_STEPS_OF_ACCEPT: Final = 5
"""Turns of the loop from the accept of a connection until its server has it, and some more."""


class Listener:
    """`grace`: seconds that `close` gives a request to end; 0 for as long as it takes."""

    def __init__(self, handle: Handle, grace: float = 1) -> None:
        self._handle = handle
        self._grace = grace
        self._open: tuple[asyncio.Server, web.Server] | None = None

    async def open(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> str:
        """Listen, and return the URL; port 0 picks a free port. OSError if the port is used."""
        requests = web.Server(self._handle, access_log=None)
        loop = asyncio.get_running_loop()
        sockets = await loop.create_server(requests, host, port, ssl=tls, backlog=128)
        self._open = sockets, requests
        name = f"[{host}]" if ":" in host else host
        return f"{'https' if tls else 'http'}://{name}:{sockets.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Close every connection; nothing if it is not open."""
        if self._open is None:
            return
        (sockets, requests), self._open = self._open, None
        await close_server(sockets)
        transports = [connection.transport for connection in requests.connections]
        requests.pre_shutdown()
        await requests.shutdown(timeout=self._grace)
        for transport in filter(None, transports):
            # One that is only closed waits until its client has read all of a response.
            transport.abort()
        await asyncio.sleep(0)  # a transport closes its socket in the next turn


async def close_server(server: asyncio.Server) -> None:
    """Accept no connection any more. Those that were accepted stay open."""
    # asyncio loses the socket of a connection that it accepts while its server closes, so first it accepts no more.
    loop = asyncio.get_running_loop()
    for socket in server.sockets:
        loop.remove_reader(socket.fileno())
    for _ in range(_STEPS_OF_ACCEPT):
        await asyncio.sleep(0)
    server.close()

"""A server whose connections are streams of bytes. When it ends, no connection stays open."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from gitsync.emulator.http.listener import close_server

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]]


@asynccontextmanager
async def stream_server(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server on 127.0.0.1. A connection ends with its handler, and with one that breaks."""
    tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await handle(reader, writer)
        writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks[asyncio.ensure_future(answer(reader, writer))] = writer

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await close_server(server)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in tasks.values():
            with suppress(AttributeError):  # one that wrote its last bytes after `close` has no loop
                writer.transport.abort()
        await asyncio.sleep(0)  # aborted transports close then

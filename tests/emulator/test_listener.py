"""A listener that closes while somebody connects."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from collections.abc import Coroutine

import pytest
from aiohttp import web

from gitsync.emulator.http.listener import Listener

STEPS = range(8)
"""Turns of the loop in which asyncio accepts a connection, and some more."""


async def connect_and_close(steps: int) -> None:
    async def answer(_request: web.BaseRequest) -> web.StreamResponse:
        return web.Response()

    listener = Listener(answer)
    url = await listener.open()
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))):
        for _ in range(steps):
            await asyncio.sleep(0)
        await listener.close()


@pytest.mark.parametrize("steps", STEPS)
def test_no_socket_stays_open_whenever_a_connection_comes(steps):
    assert list_leaks(connect_and_close(steps)) == []


def test_no_socket_stays_open_for_a_client_that_reads_nothing():
    with socket.socket() as client:
        assert list_leaks(close_while_it_reads_nothing(client)) == []


def list_leaks(work: Coroutine[object, object, None]) -> list[str]:
    """What stays open after some work."""
    gc.freeze()  # what other tests have left is not looked through
    asyncio.run(work)
    with warnings.catch_warnings(record=True) as leaks:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    return [str(leak.message) for leak in leaks]


async def close_while_it_reads_nothing(client: socket.socket) -> None:
    async def answer(_request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=bytes(1 << 24))  # more than the kernel buffers

    listener = Listener(answer, grace=0.01)
    url = await listener.open()
    client.connect(("127.0.0.1", int(url.rpartition(":")[2])))
    client.sendall(b"GET / HTTP/1.1\r\nHost: emulator\r\n\r\n")
    client.setblocking(False)
    await asyncio.get_running_loop().sock_recv(client, 1)
    await listener.close()


def test_closing_twice_is_closing_once():
    async def close_twice() -> None:
        listener = Listener(lambda _request: asyncio.sleep(0, web.Response()))
        await listener.open()
        await listener.close()
        await listener.close()

    asyncio.run(close_twice())

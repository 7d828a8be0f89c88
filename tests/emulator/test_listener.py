"""A listener that closes while somebody connects."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings

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
    gc.freeze()  # what other tests have left is not looked through
    asyncio.run(connect_and_close(steps))
    with warnings.catch_warnings(record=True) as leaks:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    assert [str(leak.message) for leak in leaks] == []


def test_closing_twice_is_closing_once():
    async def close_twice() -> None:
        listener = Listener(lambda _request: asyncio.sleep(0, web.Response()))
        await listener.open()
        await listener.close()
        await listener.close()

    asyncio.run(close_twice())

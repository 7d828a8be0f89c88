"""A server that writes bytes as they are: answers that drip, never end, or burst when they are unpacked."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.support.stream_server import stream_server

Answer = Callable[[str], AsyncIterator[bytes]]
"""Makes the bytes of an answer from the first line of a request."""


@asynccontextmanager
async def raw_server(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The URL of a server on this machine. It answers one request a connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        async for piece in answer(head.split(b"\r\n", 1)[0].decode()):
            writer.write(piece)
            await writer.drain()

    async with stream_server(serve, tls) as port:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"


def complete(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer in one piece."""
    return head(f"Content-Length: {len(body)}", *headers, status=status) + body


def head(*headers: str, status: str = "200 OK") -> bytes:
    lines = (f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers)
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def dripping(answer: bytes, pause: float = 0.05) -> AsyncIterator[bytes]:
    """A byte at a time."""
    for at in range(len(answer)):
        yield answer[at : at + 1]
        await asyncio.sleep(pause)


_GZIP = b"\x1f\x8b\x08" + bytes(6) + b"\xff"


def bomb(megabytes: int) -> bytes:
    """A gzip of so many megabytes of blanks behind a brace, a thousandth as large. It ends too early, at a point that
    no reader reaches.
    """
    return _GZIP + _pack(b"{", megabytes)


def deflate(text: bytes, megabytes: int) -> bytes:
    """A text with so many megabytes of blanks behind it, packed without a checksum."""
    return _pack(text, megabytes) + zlib.compressobj(wbits=-zlib.MAX_WBITS).flush()


def _pack(text: bytes, megabytes: int) -> bytes:
    """One megabyte of blanks is packed, and repeated."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    begin = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    blanks = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + blanks * megabytes

"""Lines to a server that fail: silent, cut in the middle, and a MySQL that offers no TLS or requests a token."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pymysql.constants import CLIENT

from gitsync.providers.databases.address import ServerAddress
from tests.support.database_servers import Server, connect_owner
from tests.support.stream_server import stream_server


@asynccontextmanager
async def silent_server() -> AsyncIterator[ServerAddress]:
    """It takes connections, and never sends a byte."""
    async with stream_server(lambda _reader, _writer: asyncio.Event().wait()) as port:
        yield ServerAddress("localhost", port)


@asynccontextmanager
async def cutting_proxy(server: Server, pieces: int, *, passes_last: bool) -> AsyncIterator[ServerAddress]:
    """A way to a server that breaks with the n-th piece that the client sends; `passes_last` lets the server still do
    what it has.
    """

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("localhost", server.port)
        back = asyncio.ensure_future(_copy(from_server, writer))
        try:
            for number in range(1, pieces + 1):
                piece = await reader.read(1 << 16)
                if number == pieces:
                    back.cancel()
                if not piece or (number == pieces and not passes_last):
                    break
                to_server.write(piece)
                await to_server.drain()
                if number == pieces:
                    await from_server.read(1)
        except ConnectionError:
            pass
        finally:
            back.cancel()
            to_server.transport.abort()
            writer.transport.abort()  # what it still holds must not arrive

    async with stream_server(relay) as port:
        yield ServerAddress("localhost", port)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)


@contextmanager
def accepting(handle: Callable[[socket.socket], None]) -> Iterator[ServerAddress]:
    """A server on a thread that handles one line after another; a line that ends is not an error."""

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            with line, suppress(OSError, EOFError):
                handle(line)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, args=(listener,), daemon=True)
        thread.start()
        try:
            yield ServerAddress("localhost", listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@dataclass
class EntraMysql:
    """A MySQL that requests a password in plain text, as Azure's does for a token, and has MariaDB do the rest."""

    server: Server
    offers_tls: bool = True  # without TLS, it takes nothing
    secrets: list[tuple[str, str]] = field(default_factory=list)  # the names and passwords that came inside of TLS
    statements: list[str] = field(default_factory=list)  # what was sent

    def run(self) -> AbstractContextManager[ServerAddress]:
        return accepting(self._handle)

    def _handle(self, line: socket.socket) -> None:
        flags = CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH | CLIENT.CONNECT_WITH_DB
        flags |= CLIENT.SSL if self.offers_tls else 0
        salt = b"a" * 8, b"b" * 12 + b"\0"
        greeting = b"\x0a8.0.40-azure\0" + struct.pack("<I", 7) + salt[0] + b"\0" + struct.pack("<H", flags & 0xFFFF)
        greeting += struct.pack("<BHHB", 45, 2, flags >> 16, 21) + bytes(10) + salt[1] + b"mysql_native_password\0"
        _send_packet(line, 0, greeting)
        _, first = _read_packet(line)
        if not struct.unpack("<I", first[:4])[0] & CLIENT.SSL:
            return
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.server.folder / "server.pem")
        with tls.wrap_socket(line, server_side=True) as private:
            self._sign_in(private)
            with connect_owner(self.server) as rest:
                while True:
                    self._answer(private, rest)

    def _sign_in(self, line: socket.socket) -> None:
        number, first = _read_packet(line)
        user = first[32:].split(b"\0", 1)[0].decode()
        _send_packet(line, number + 1, b"\xfemysql_clear_password\0")
        number, secret = _read_packet(line)
        self.secrets.append((user, secret.rstrip(b"\0").decode()))
        _send_packet(line, number + 1, b"\0\0\0\2\0\0\0")

    def _answer(self, line: socket.socket, rest: Any) -> None:
        _, command = _read_packet(line)
        if command[:1] == b"\1":
            raise EOFError
        statement = command[1:].decode()
        self.statements.append(statement)
        if statement.startswith("CREATE AADUSER"):
            command = b"\3CREATE USER " + statement.rpartition(" AS ")[2].encode()
        _send_packet(rest._sock, 0, command)
        ends = 0
        while True:
            number, packet = _read_packet(rest._sock)
            _send_packet(line, number, packet)
            is_end = packet[:1] == b"\xfe" and len(packet) < 9
            ends += is_end
            if ends == 2 or packet[:1] == b"\xff" or (packet[:1] == b"\0" and not ends):
                return


def _send_packet(line: socket.socket, number: int, payload: bytes) -> None:
    line.sendall(struct.pack("<I", len(payload))[:3] + bytes([number % 256]) + payload)


def _read_packet(line: socket.socket) -> tuple[int, bytes]:
    head = _read_bytes(line, 4)
    return head[3], _read_bytes(line, int.from_bytes(head[:3], "little"))


def _read_bytes(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = line.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data

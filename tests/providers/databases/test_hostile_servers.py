"""Servers that do not speak their protocol, behind a certificate that is trusted: any bytes become an error of the
provider, soon, and without a secret.
"""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymysql.constants import CLIENT

from gitsync.errors import ProviderError
from gitsync.model.provider import Provider
from gitsync.providers.databases.address import ServerAddress
from tests.providers.databases.lines import accepting
from tests.providers.databases.rig import PASSWORD, Rig
from tests.providers.databases.test_database_failures import assert_nothing_told
from tests.support import private_ca
from tests.support.database_servers import ADMIN_PASSWORD
from tests.support.hypothesis_profile import scale

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"), name="localhost")


class HostileServer:
    """It begins TLS as its service does, and then sends some bytes, whatever it gets."""

    def __init__(self, service: Provider, tls: ssl.SSLContext, words: bytes) -> None:
        self._service = service
        self._tls = tls
        self._words = words

    def run(self) -> AbstractContextManager[ServerAddress]:
        return accepting(self._handle)

    def _handle(self, line: socket.socket) -> None:
        line.settimeout(5)
        self._offer_tls(line)
        with self._tls.wrap_socket(line, server_side=True) as private:
            self._speak(private)

    def _speak(self, private: ssl.SSLSocket) -> None:
        private.recv(1 << 16)
        private.sendall(self._words)
        private.recv(1 << 16)

    def _offer_tls(self, line: socket.socket) -> None:
        if self._service is Provider.POSTGRESQL:
            line.recv(8)
            line.sendall(b"S")
            return
        flags = CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH | CLIENT.CONNECT_WITH_DB | CLIENT.SSL
        greeting = b"\x0a8.0.40\0" + struct.pack("<I", 7) + b"a" * 8 + b"\0" + struct.pack("<H", flags & 0xFFFF)
        greeting += struct.pack("<BHHB", 45, 2, flags >> 16, 21) + bytes(10) + b"b" * 12 + b"\0mysql_native_password\0"
        line.sendall(struct.pack("<I", len(greeting))[:3] + b"\0" + greeting)
        line.recv(36)


def message(kind: bytes, payload: bytes = b"") -> bytes:
    """A message of PostgreSQL."""
    return kind + struct.pack(">I", len(payload) + 4) + payload


def packet(number: int, payload: bytes) -> bytes:
    """A packet of MySQL."""
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


LET_IN = message(b"R", struct.pack(">I", 0)) + message(b"S", b"server_version\x0016.4\0") + message(b"Z", b"I")
OK = packet(3, b"\0\0\0\2\0\0\0")
HUGE = 0x7FFFFFFF

CASES = {
    Provider.POSTGRESQL: [
        (b"", "a line that closes"),
        (message(b"R", struct.pack(">I", 99)), "a way to sign in that nobody knows"),
        (message(b"R"), "a way to sign in that is cut off"),
        (message(b"R", struct.pack(">I", 10) + b"SCRAM-SHA-256\0"), "a list of ways without its end"),
        (b"R" + struct.pack(">I", HUGE), "a message longer than memory"),
        (b"R" + struct.pack(">I", 0), "a message shorter than its length"),
        (message(b"E", b"Sx"), "an error without its end"),
        (message(b"E", b"SFATAL\0C28P01\0M\xff\xfe\0\0"), "an error that is no UTF-8"),
        (message(b"S", b"client_encoding\0nonsense\0") + LET_IN, "an encoding that nobody knows"),
        (message(b"S", b"\xff\xfe\0\xff\0") + LET_IN, "a setting that is no text"),
        (LET_IN + message(b"T", struct.pack(">H", 60_000)), "a table without its columns"),
        (LET_IN + message(b"1") + message(b"t", struct.pack(">H", 9)), "a statement with other parameters"),
        (LET_IN + message(b"D", struct.pack(">HI", 1, HUGE)), "a cell longer than its row"),
        (LET_IN + LET_IN + LET_IN, "too many answers"),
    ],
    Provider.MYSQL: [
        (b"", "a line that closes"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "another protocol"),
        (packet(3, b""), "an empty packet"),
        (packet(9, b"\0\0\0\2\0\0\0"), "a packet out of order"),
        (packet(3, b"\0"), "an OK that is cut off"),
        (packet(3, b"\xff"), "an error that is cut off"),
        (packet(3, b"\xff\x15\x04#28000\xff\xfe"), "an error that is no UTF-8"),
        (packet(3, b"\xfenonsense\0abc"), "a way to sign in that nobody knows"),
        (packet(3, b"\xfe\xff\xfe\0"), "a way to sign in that is no text"),
        (packet(3, b"\xfecaching_sha2_password\0") + packet(5, b"\1\4") + packet(7, b"no key"), "no public key"),
        (b"\xff\xff\xff\3", "a packet that never ends"),
        (OK + packet(1, b"\xfe\xff"), "a number that is cut off"),
        (OK + packet(1, b"\xfb/etc/passwd"), "a wish for a file"),
        (OK + packet(1, b"\1") + packet(2, b"\3def"), "a column that is cut off"),
        (OK + packet(1, b"\1") + packet(2, b"\3def" + b"\0" * 5 + b"\x0c\xff\xff" + b"\0" * 10), "an odd charset"),
        (OK + packet(1, b"\0\0\0\2\0\0\0") * 3, "no table at all"),
    ],
}
ROWS = [(service, words, why) for service, cases in CASES.items() for words, why in cases]


async def attack(service, words, ca, act, server=HostileServer):
    with server(service, ca.tls, words).run() as address:
        rig = Rig(service, address, ca=ca.bundle, timeout=0.3, seconds=3.0)
        with pytest.raises(ProviderError) as failure:
            await (rig.find if act == "read" else rig.put)(rig.user("joe"))
    assert_nothing_told(failure.value)
    assert failure.value.message
    return failure.value


@pytest.mark.parametrize("act", ["read", "write"])
@pytest.mark.parametrize(("service", "words", "why"), ROWS, ids=[f"{row[0].value} {row[2]}" for row in ROWS])
async def test_what_is_not_its_protocol_is_an_error_of_the_server(service, words, why, ca, act):
    failure = await attack(service, words, ca, act)
    assert failure.code.startswith(("Database", "Deadline")), why


class AgreeingServer(HostileServer):
    """A MySQL server that lets everybody in, and answers every statement with the same bytes."""

    def _speak(self, private: ssl.SSLSocket) -> None:
        private.recv(1 << 16)
        private.sendall(OK)
        while private.recv(1 << 16):
            private.sendall(self._words)


@pytest.mark.parametrize("act", ["read", "write"])
async def test_a_query_without_a_table_does_not_show_that_a_user_is_absent(ca, act):
    failure = await attack(Provider.MYSQL, packet(1, b"\0\0\0\2\0\0\0"), ca, act, AgreeingServer)
    assert failure.code == "DatabaseAnswerMalformed"


@given(
    is_let_in=st.booleans(),
    pieces=st.lists(
        st.builds(packet, st.integers(1, 6), st.binary(max_size=200)) | st.binary(max_size=200), max_size=5
    ),
    act=st.sampled_from(["read", "write"]),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=scale(25),
)
async def test_any_bytes_of_a_mysql_are_an_error_of_the_server(ca, is_let_in, pieces, act):
    await attack(Provider.MYSQL, b"".join([OK if is_let_in else b"", *pieces]), ca, act)


SIGN_IN = st.builds(
    lambda way, rest: message(b"R", struct.pack(">I", way) + rest),
    st.sampled_from([0, 2, 3, 5, 7, 8, 9, 10, 99]),
    st.binary(max_size=60),
)
"""A demand to sign in. Not 11 and 12: a challenge of SASL that was not asked for ends the process."""

ANSWERS = st.builds(
    message, st.sampled_from([bytes([kind]) for kind in b"STZEDC123nKNAtIGHWs"]), st.binary(max_size=60)
)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the driver's half-made connections
@given(
    is_let_in=st.booleans(),
    messages=st.lists(SIGN_IN | ANSWERS, max_size=5),
    act=st.sampled_from(["read", "write"]),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=scale(25),
    derandomize=True,
)
async def test_any_messages_of_a_postgresql_are_an_error_of_the_server(ca, is_let_in, messages, act):
    """The driver reads messages in C, where a malformed one may end the process. So the examples are always the same."""
    await attack(Provider.POSTGRESQL, b"".join([LET_IN if is_let_in else b"", *messages]), ca, act)


UNASKED = message(b"R", struct.pack(">I", 11) + b"r=nonce,s=c2FsdA==,i=4096")


def test_a_server_that_ends_the_process_learns_and_reports_nothing(ca):
    """gitsync's code cannot catch a crash of the driver. The run ends as if it was killed, and the next one goes on
    (tests/agent/run/test_killed.py).
    """
    with HostileServer(Provider.POSTGRESQL, ca.tls, UNASKED).run() as address:
        script = (
            "import asyncio\n"
            "from pathlib import Path\n"
            "from gitsync.providers.databases.address import ServerAddress\n"
            "from gitsync.model.provider import Provider\n"
            "from tests.providers.databases.rig import Rig\n"
            f"address, ca = ServerAddress({address.host!r}, {address.port}), Path({str(ca.bundle)!r})\n"
            "rig = Rig(Provider.POSTGRESQL, address, ca=ca, timeout=0.3, seconds=3.0)\n"
            "asyncio.run(rig.put(rig.user('joe')))\n"
        )
        run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode != 0, "a signal today; an error once the driver checks it"
    assert ADMIN_PASSWORD not in run.stdout + run.stderr
    assert PASSWORD not in run.stdout + run.stderr

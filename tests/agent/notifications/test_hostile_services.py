"""Services that answer anything or nothing, and texts that mean something to a service, through the real apprise."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from json import loads

import pytest

from gitsync.agent.notifications.message import Message
from gitsync.agent.notifications.services import send
from tests.agent.notifications.test_services import MESSAGE, TOKEN, read, server
from tests.support.hostile_texts import HOSTILE


@contextmanager
def hostile(*pieces: bytes, drips: bool = False):
    """A local service that sends these bytes to each client, and then a byte at a time if it `drips`; yields its
    port.
    """
    over = threading.Event()

    def handle(line: socket.socket) -> None:
        with line, suppress(OSError):
            line.recv(1 << 16)
            for piece in pieces:
                line.sendall(piece)
            while drips and not over.wait(0.01):
                line.sendall(b"a")

    def accept() -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                threading.Thread(target=handle, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWERS = [
    ([b""], "a line that closes"),
    ([b"\x00\xff" * 1000], "no HTTP"),
    ([b"HTTP/1.1 999 \xff\xfe\r\n\r\n"], "a status that nobody knows"),
    ([b"HTTP/1.1 500 No\r\nContent-Length: -1\r\n\r\n"], "a length below nothing"),
    ([b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"], "a file"),
    ([HEAD + b"X: " + b"a" * 100_000 + b"\r\n\r\n"], "a long header"),
    ([HEAD + b"a: b\r\n" * 1000 + b"\r\n"], "many headers"),
    ([HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"], "chunks that are none"),
    ([HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"], "a body that is not packed"),
]


@pytest.mark.parametrize(("pieces", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
def test_any_answer_ends_no_run_and_shows_no_address(pieces, why, capfd):
    with hostile(*pieces) as port, server() as (good, got):
        addresses, _ = read(f"json://127.0.0.1:{port}/{TOKEN} json://127.0.0.1:{good}/a")
        assert [sent_message.number for sent_message in send(MESSAGE, addresses)] == [1], why
    assert len(got) == 1
    assert TOKEN not in "".join(capfd.readouterr())


ENDLESS = {"a status": [], "headers": [HEAD], "a body": [HEAD + b"\r\n"]}
"""What never ends, and what is sent before it."""


def test_services_that_never_end_are_given_up_and_keep_no_other_waiting():
    before = threading.enumerate()
    with ExitStack() as opened:
        ports = [opened.enter_context(hostile(*pieces, drips=True)) for pieces in ENDLESS.values()]
        good, got = opened.enter_context(server())
        addresses, _ = read(" ".join(f"json://127.0.0.1:{port}/{TOKEN}" for port in (*ports, good)))
        # A busy machine may need a second for the one that answers.
        failed = send(MESSAGE, addresses, patience=5.0)
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(10)  # it logs how its service ended, which the next test would see
    assert [address.number for address in failed] == [1, 2, 3], list(ENDLESS)
    assert len(got) == 1


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_arrives_as_text_and_nothing_is_loaded(text, capfd):
    message = Message("gitsync: drifted", "".join(char for char in text if char.isprintable())[:300] or "x")
    with server() as (port, got):
        addresses, _ = read(f"json://127.0.0.1:{port}/{TOKEN}")
        assert send(message, addresses) == []
    ((_, body),) = got
    shown = loads(body)
    assert (shown["title"], shown["message"].strip(), shown["attachments"]) == (message.title, message.body.strip(), [])
    assert capfd.readouterr() == ("", "")

"""Addresses of notifications: which are taken, what becomes of a message, and that no address shows."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from json import loads

import pytest

from gitsync.agent.notifications.message import Message
from gitsync.agent.notifications.services import SERVICES, read_addresses, send
from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions

MESSAGE = Message("gitsync: drifted", "resources had drifted. <b>*bold*</b>\nSubscription: 0")
TOKEN = "hunter2hunter2"


@contextmanager
def server(status=200, headers=()):
    """A local service that answers so; yields its port and the requests that it got."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST  # noqa: N815 - the name of the library

        def log_message(self, *_):
            pass

    served = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    try:
        yield served.server_port, got
    finally:
        served.shutdown()
        served.server_close()


def read(text, **more):
    redactions = Redactions()
    return read_addresses(Config(source=".", notify=Secret(text), **more), redactions.add), redactions


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_services_with_https_are_taken(service):
    (address,), _ = read(f"{service}://{TOKEN}@host/{TOKEN}")
    assert address.service == service


REFUSED = {
    "http": f"http://127.0.0.1/{TOKEN}",
    "no https": f"json://example.com/{TOKEN}",
    "no https, and a name like that of this machine": f"json://localhost.example.com/{TOKEN}",
    "a program": f"exec://{TOKEN}",
    "mail": f"mailto://{TOKEN}@example.com",
    "a file": "file:///etc/passwd",
    "unencrypted": f"ntfy://example.com/{TOKEN}",
    "no address": TOKEN,
    "no certificate": f"jsons://example.com/{TOKEN}?verify=no",
    "redirects": f"slack://{TOKEN}/b/c?Redirect=yes",
    "a broken one": f"jsons://[{TOKEN}",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_may_lead_elsewhere_is_refused_and_not_shown(text):
    with pytest.raises(ConfigError) as refused:
        read(f"discord://1/2 {text}")
    shown = f"{refused.value}{refused.value.message}{refused.value.hint}"
    assert refused.value.message.startswith("Address 2 of GITSYNC_NOTIFY or --notify-file")
    assert TOKEN not in shown
    assert "passwd" not in shown


def test_a_file_has_one_address_a_line(tmp_path):
    (tmp_path / "addresses").write_text(f"# the channel\nslack://{TOKEN}/b/c\n\ndiscord://1/{TOKEN}\n")
    addresses, _ = read("gotifys://h/t slack://again", notify_file=str(tmp_path / "addresses"))
    assert [address.service for address in addresses] == ["gotifys", "slack", "slack", "discord"]


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="FileNotFoundError"):
        read("", notify_file=str(tmp_path / "none"))


def test_an_address_and_its_parts_are_masked():
    (address,), redactions = read(f"jsons://user:{TOKEN}@hooks.example/{TOKEN}x?key={TOKEN}y")
    for text in (address.text, f"failed: {TOKEN}", f"/{TOKEN}x", f"{TOKEN}y"):
        assert TOKEN not in redactions.mask(text)
    assert TOKEN not in repr(address)


def test_a_message_arrives_as_it_is():
    with server() as (port, got):
        addresses, _ = read(f"json://127.0.0.1:{port}/{TOKEN}")
        assert send(MESSAGE, addresses) == []
    ((path, body),) = got
    assert path == f"/{TOKEN}"
    assert (loads(body)["title"], loads(body)["message"]) == (MESSAGE.title, MESSAGE.body)


def test_one_that_fails_does_not_stop_the_others(capfd):
    with server() as (port, got), server(status=500) as (broken, _):
        texts = (
            f"json://127.0.0.1:{broken}/{TOKEN} json://127.0.0.1:1/{TOKEN} json://127.0.0.1:{port}/a slack://{TOKEN}"
        )
        addresses, _ = read(texts)
        assert [sent_message.number for sent_message in send(MESSAGE, addresses)] == [1, 2, 4]
    assert len(got) == 1
    assert capfd.readouterr() == ("", "")


def test_no_message_follows_a_redirect():
    with server() as (elsewhere, got):
        with server(status=307, headers=[("Location", f"http://127.0.0.1:{elsewhere}/")]) as (port, first):
            addresses, _ = read(f"json://127.0.0.1:{port}/{TOKEN}")
            assert len(send(MESSAGE, addresses)) == 1
        assert len(first) == 1
    assert got == []

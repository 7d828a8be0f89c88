"""A run ends: in time, after SIGTERM within 25 seconds, and at once where Azure cannot be reached at all."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
import world
from command_line import LONG, ended, gitsync, start, variables

PROMISE = 25
"""Seconds from SIGTERM to the end of the process."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "all.yaml").write_text("---\n".join(dedent(one) for one in (world.GROUP, world.VNET)))
    return manifests


def at(url: str) -> dict[str, str]:
    return {
        "AZURE_RESOURCE_MANAGER_ENDPOINT": url,
        "AZURE_SUBSCRIPTION_ID": world.SUBSCRIPTION,
        "GITSYNC_CREDENTIAL": "anonymous",
    }


@contextmanager
def dripping() -> Iterator[tuple[str, threading.Event]]:
    """A server that begins to answer, and then sends a byte every tenth of a second for ever: its URL, and what is set
    once it was asked.
    """
    asked, over = threading.Event(), threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection:
            connection.recv(1)
            asked.set()
            try:
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n{"
                )
                while not over.wait(0.1):
                    connection.sendall(b" ")
            except OSError:
                pass

    def serve() -> None:
        while not over.is_set():
            try:
                threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            over.set()


def status(folder: Path, name: str) -> str:
    return next((folder / ".gitsync").rglob(f"{name}.yaml")).read_text()


def test_a_server_that_drips_does_not_outlast_the_time_of_the_run(folder):
    with dripping() as (url, _):
        end = gitsync("sync", "--run-timeout", "2s", "--output", "json", folder=folder, **at(url))
    group = next(one for one in json.loads(end.out)["resources"] if one["name"] == "core")
    assert (end.code, group["verdict"]) == (1, "unknown")
    assert "Deadline exceeded before Azure responded to the request to read /subscriptions/" in group["message"]
    assert "Deadline exceeded" in status(folder, "core")


def test_a_server_that_drips_does_not_outlast_sigterm(folder):
    with dripping() as (url, asked):
        process = start("sync", "--output", "json", folder=folder, **at(url))
        assert asked.wait(LONG)
        process.send_signal(signal.SIGTERM)
        since = time.monotonic()
        end = ended(process)
    assert time.monotonic() - since < PROMISE
    assert end.code == 1
    assert "The run was stopped before Azure responded to" in status(folder, "core")
    assert json.loads(end.out)["resources"]


def test_a_git_server_that_hangs_does_not_outlast_sigterm(folder, tmp_path):
    """The push of the status is broken off; what may have been begun is on the branch since before the first write."""
    bare, hangs = tmp_path / "origin.git", tmp_path / "hangs"
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f'#!/bin/sh\nif [ -e "{hangs}" ]; then exec sleep 3600; fi\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    named = {"GIT_SSH_COMMAND": str(ssh), "GIT_SSH_VARIANT": "simple"}

    def git(*words: str) -> str:
        identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
        return subprocess.run(
            ["git", *identity, *words], cwd=folder, env=variables(**named), check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q", "-b", "main")
    git("init", "-q", "--bare", str(bare))
    git("remote", "add", "origin", f"somebody@git.example.com:{bare}")
    git("add", "-A")
    git("commit", "-q", "-m", "Say it")
    git("push", "-q", "origin", "main")
    with dripping() as (url, asked):
        process = start("sync", folder=folder, **at(url), **named)
        assert asked.wait(LONG), ended(process)
        hangs.touch()
        process.send_signal(signal.SIGTERM)
        since = time.monotonic()
        end = ended(process)
    assert time.monotonic() - since < PROMISE
    assert end.code == 1
    assert "Interrupted" in end.out
    assert "StatusNotWritten" in end.out
    shown = subprocess.run(
        ["git", "-C", str(bare), "grep", "-h", "claim:", "gitsync/status"], check=True, capture_output=True, text=True
    )
    assert "claim: expected" in shown.stdout


UNKNOWN = ("https://arm.invalid", "Cannot connect to host arm.invalid:443", "Check the name of the host")
REFUSING = ("http://127.0.0.1:9", "Cannot connect to host 127.0.0.1:9", "Check the address")


@pytest.mark.parametrize(
    ("command", "url", "cause", "hint"),
    [("sync", *UNKNOWN), ("plan", *UNKNOWN), ("sync", *REFUSING)],
    ids=["sync-unknown", "plan-unknown", "sync-refusing"],
)
def test_an_azure_that_cannot_be_reached_refuses_the_run_and_leaves_the_status(folder, command, url, cause, hint):
    loopback = url.startswith("http:")
    named = at(url) | {
        "AZURE_AUTHORITY_HOST": "https://login.invalid",
        "AZURE_RESOURCE_MANAGER_AUDIENCE": "https://arm.invalid",
    }
    signed = {
        "GITSYNC_CREDENTIAL": "client-secret",
        "AZURE_TENANT_ID": "t",
        "AZURE_CLIENT_ID": "c",
        "AZURE_CLIENT_SECRET": "s",
    }
    end = gitsync(command, folder=folder, **(at(url) if loopback else named | signed), NO_PROXY="*")
    assert (end.code, end.out) == (2, "")
    assert cause in end.err
    assert hint in end.err
    assert not (folder / ".gitsync").exists(), "nothing was touched"

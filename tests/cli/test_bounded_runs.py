"""A run ends: in time, after SIGTERM within 25 seconds, and at once where Azure cannot be reached at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from tests.support import world
from tests.support.command_line import LONG, Ended, Moment, azure, ended, gitsync, start, variables
from tests.support.warm_process import find_door

PROMISE = 25
"""Seconds from SIGTERM to the end of the process: schedulers kill what does not end within half a minute."""

MANIFESTS = "---\n".join(dedent(manifest) for manifest in (world.GROUP, world.VNET, world.SUBNET))


def make_folder(outside: Path) -> Path:
    manifests = outside / "manifests"
    manifests.mkdir()
    (manifests / "all.yaml").write_text(MANIFESTS)
    return manifests


def at(url: str) -> dict[str, str]:
    return {
        "AZURE_RESOURCE_MANAGER_ENDPOINT": url,
        "AZURE_SUBSCRIPTION_ID": world.SUBSCRIPTION,
        "GITSYNC_CREDENTIAL": "anonymous",
    }


@contextmanager
def dripping() -> Iterator[tuple[str, threading.Event]]:
    """A server that begins to answer, and then sends a byte every tenth of a second: its URL, and what is set once it
    was reached.
    """
    requested, over = threading.Event(), threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection:
            connection.recv(1)
            requested.set()
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
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", requested
        finally:
            over.set()
            # A thread that still waits would take connections of the next socket with this number.
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


HANGING: dict[str, Callable[[Path], None]] = {}


def beside_others(check: Callable[[Path], None]) -> Callable[[Any], None]:
    """Make a test of a check in which something hangs for up to 18 seconds: all of these wait at once."""

    def test(under_way: dict[str, Future[None]]) -> None:
        under_way[check.__name__].result()

    HANGING[check.__name__] = check
    return test


@pytest.fixture(scope="module")
def under_way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[None]]]:
    """The checks, each with a folder of manifests."""
    find_door()  # once, rather than by the first command of each thread
    with ThreadPoolExecutor(len(HANGING)) as pool:
        yield {
            name: pool.submit(check, make_folder(tmp_path_factory.mktemp("hanging"))) for name, check in HANGING.items()
        }


def resources(end: Ended) -> dict[str, dict[str, Any]]:
    return {resource["name"]: resource for resource in json.loads(end.out)["resources"]}


def status(folder: Path, name: str) -> str:
    return next((folder / ".gitsync").rglob(f"{name}.json")).read_text()


def git(folder: Path, *words: str, **more: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, env=variables(**more), check=True, capture_output=True, text=True
    ).stdout


def make_remote(folder: Path, url: str, **more: str) -> Path:
    """Commit the manifests, and push them to a new repository beside them, which `url` leads to."""
    bare = folder.with_name("origin.git")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "init", "-q", "--bare", str(bare))
    git(folder, "remote", "add", "origin", f"{url}{bare}")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Say it")
    git(folder, "push", "-q", "origin", "main", **more)
    return bare


def write_program(file: Path, script: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def end_by_sigterm(process: Any) -> Ended:
    """The end of a command that is stopped, as it promises."""
    process.send_signal(signal.SIGTERM)
    since = time.monotonic()
    end = ended(process)
    assert time.monotonic() - since < PROMISE
    return end


@beside_others
def test_a_server_that_drips_does_not_outlast_the_time_of_the_run(folder: Path) -> None:
    with dripping() as (url, _):
        end = gitsync("sync", "--run-timeout", "2s", "--output", "json", folder=folder, **at(url))
    group = resources(end)["core"]
    assert (end.code, group["verdict"]) == (1, "unknown")
    assert "Deadline exceeded before Azure responded to the request to read /subscriptions/" in group["message"]
    assert "Deadline exceeded" in status(folder, "core")


@beside_others
def test_a_server_that_drips_does_not_outlast_sigterm(folder: Path) -> None:
    with dripping() as (url, requested):
        # A run that is still in its checks has not begun, and ends at once without a report.
        process = start("sync", "--output", "json", "--checks=none", folder=folder, **at(url))
        assert requested.wait(LONG)
        end = end_by_sigterm(process)
    assert end.code == 143
    assert "The run was stopped before Azure responded to" in status(folder, "core")
    assert resources(end)


@beside_others
def test_a_write_that_was_done_and_is_not_answered_is_not_waited_for(folder: Path) -> None:
    check_that_no_answer_is_waited_for(folder, done=True)


@beside_others
def test_a_write_that_was_not_done_and_is_not_answered_is_not_waited_for(folder: Path) -> None:
    check_that_no_answer_is_waited_for(folder, done=False)


def check_that_no_answer_is_waited_for(folder: Path, *, done: bool) -> None:
    """Whether the write was done, the next run finds out."""
    heard = threading.Event()
    with azure(operations=Timing(style=Style.DONE)) as served:

        def watch(moment: Moment) -> bool:
            mute = moment.method == "PUT" and moment.path.endswith("/hub") and moment.done is done
            if mute:
                process.send_signal(signal.SIGTERM)
                assert heard.wait(LONG)
            return mute

        served.watch = watch
        process = start("sync", "--output", "json", folder=folder, **served.variables)
        first = process.stderr.readline()
        process.wait(LONG)
        heard.set()
        end = ended(process)
        assert (end.code, "finishing open requests and writing status" in first) == (143, True)
        told = resources(end)["hub"]
        assert (told["verdict"], told["ready"]) == ("create", "False")
        assert "The run was stopped before Azure responded to" in told["message"]
        assert '"claim": "expected"' in status(folder, "hub")
        served.watch = lambda _: False
        assert gitsync("sync", folder=folder, **served.variables).code == 0
        created = [path.rpartition("/")[2] for _, path, code in served.sent("PUT") if code == 201]
        assert created == ["core", "hub", "one"]
        assert '"claim": "created"' in status(folder, "hub")


@beside_others
def test_a_push_that_hangs_does_not_outlast_sigterm(folder: Path) -> None:
    """The run is stopped while git pushes, and a slow server has some time to answer."""
    hangs, first = folder.with_name("hangs"), folder.with_name("first")
    program = folder.with_name("bin") / "git"
    write_program(
        program,
        f"""\
if [ "$1" = push ] && [ "$3" != --dry-run ]; then
  if [ -e {first} ]; then touch {hangs}; sleep 300; fi
  touch {first}
fi
exec {shutil.which("git")} "$@\"""",
    )
    make_remote(folder, "")
    with azure(operations=Timing(style=Style.DONE)) as served:
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        process = start("sync", "--output", "json", folder=folder, PATH=path, **served.variables)
        while not hangs.exists():
            with suppress(subprocess.TimeoutExpired):
                assert process.wait(0.02) is None, ended(process)
        began = time.monotonic()
        end = end_by_sigterm(process)
    assert (end.code, "was stopped because the run was stopped" in end.out) == (143, True)
    assert time.monotonic() - began > 15


@beside_others
def test_a_git_server_that_hangs_does_not_outlast_sigterm(folder: Path) -> None:
    """The push of the status is aborted; what may have been begun is on the branch since before the first write."""
    hangs, ssh = folder.with_name("hangs"), folder.with_name("ssh")
    write_program(ssh, f'if [ -e "{hangs}" ]; then exec sleep 3600; fi\nfor last; do :; done\nexec sh -c "$last"')
    named = {"GIT_SSH_COMMAND": str(ssh), "GIT_SSH_VARIANT": "simple"}
    bare = make_remote(folder, "somebody@git.example.com:", **named)
    with dripping() as (url, requested):
        process = start("sync", "--checks=none", folder=folder, **at(url), **named)
        assert requested.wait(LONG), ended(process)
        hangs.touch()
        end = end_by_sigterm(process)
    assert end.code == 143
    assert "Interrupted" in end.out
    assert "StatusNotWritten" in end.out
    assert '"claim": "expected"' in git(bare, "grep", "-h", "claim", "gitsync/status")


UNKNOWN = ("https://arm.invalid", "Cannot connect to host arm.invalid:443", "Check the host name")
REFUSING = ("http://127.0.0.1:9", "Cannot connect to host 127.0.0.1:9", "Check the address")


@pytest.mark.parametrize(
    ("arguments", "url", "cause", "hint"),
    [(["sync"], *UNKNOWN), (["plan"], *UNKNOWN), (["sync", "--run-timeout", "1s"], *REFUSING)],
    ids=["sync-unknown", "plan-unknown", "sync-refusing"],
)
def test_an_azure_that_cannot_be_reached_refuses_the_run_and_leaves_the_status(tmp_path, arguments, url, cause, hint):
    """One that refuses is tried for a quarter of a minute, or as long as the run may take."""
    folder = make_folder(tmp_path)
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
    end = gitsync(*arguments, folder=folder, **(at(url) if loopback else named | signed), NO_PROXY="*")
    assert (end.code, end.out) == (75, "")
    assert cause in end.err
    assert hint in end.err
    assert not (folder / ".gitsync").exists(), "nothing was touched"

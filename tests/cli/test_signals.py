"""A run that is stopped: SIGTERM as a scheduler sends it, Ctrl-C as a person does.

What hangs then, and is given up after some seconds, is in `test_bounded_runs`.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gitsync.cli.interruption import Interruption
from gitsync.emulator.settings import Timing, read_settings
from gitsync.emulator.types.behaviour import Style
from tests.support import world
from tests.support.command_line import LONG, Azure, Ended, azure, ended, run_here, start
from tests.support.fake_clock import FakeClock

MANIFESTS = "---\n".join(dedent(manifest) for manifest in (world.GROUP, world.VNET, world.SUBNET))
NAMES = ("core", "hub", "one")
VNETS = "Microsoft.Network/virtualNetworks"
FOR_PEOPLE = ("--log-format", "text", "--log-level", "warning")
SIGNALS = [
    pytest.param(signal.SIGTERM, 143, id="SIGTERM"),
    pytest.param(signal.SIGHUP, 129, id="SIGHUP"),
    pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "all.yaml").write_text(MANIFESTS)
    return manifests


def sync(folder: Path, served: Azure) -> subprocess.Popen[str]:
    return start("sync", "--output", "json", folder=folder, **served.variables)


def told(process: subprocess.Popen[str], served: Azure, by: signal.Signals, when: str) -> Ended:
    """Let a command run until it requests what has `when` in its path, and send it a signal then."""

    def watch(moment: Any) -> bool:
        if when in moment.path and not moment.done:
            process.send_signal(by)
            served.watch = lambda _: False
        return False

    served.watch = watch
    return ended(process)


def resources(end: Ended) -> dict[str, dict[str, Any]]:
    return {resource["name"]: resource for resource in json.loads(end.out)["resources"]}


def kept(folder: Path, name: str) -> str:
    return next((folder / ".gitsync").rglob(f"{name}.json")).read_text()


def created(served: Azure) -> list[str]:
    return [path.rpartition("/")[2] for _, path, status in served.sent("PUT") if status == 201]


def scripted(folder: Path, rule: str) -> dict[str, Any]:
    """Settings of an emulator that plays one rule, and does at once what that skips."""
    script = folder.with_name("script.yaml")
    script.write_text(f"rules:\n  - {rule}\n")
    return {"rules": read_settings(script).rules, "operations": Timing(style=Style.DONE)}


@pytest.mark.parametrize(("by", "code"), SIGNALS)
def test_what_is_under_way_is_left_to_the_next_run(folder, by, code):
    clock = FakeClock()
    slow = scripted(folder, f"{{match: {{method: PUT, type: {VNETS}}}, operation: {{seconds: 3600}}}}")
    with azure(clock=clock, **slow) as served:
        end = told(sync(folder, served), served, by, when="/operations/")
        assert end.code == code
        reasons = {name: resource["reason"] for name, resource in resources(end).items()}
        assert reasons == {"core": "Succeeded", "hub": "Interrupted", "one": "NotReached"}
        hub = resources(end)["hub"]
        assert (hub["outcome"], hub["message"]) == ("blocked", "The run was stopped while Azure works on it.")
        assert '"reason": "Interrupted"' in kept(folder, "hub")
        assert "finishing open requests and writing status" in end.err
        assert created(served) == ["core", "hub"], "nothing new was begun"
        assert '"kind": "create"' in kept(folder, "hub").partition('"operation": {')[2]
        assert '"claim": "created"' in kept(folder, "hub")
        clock.elapsed += 3600
        again = run_here("sync", "--output", "json", folder=folder, **served.variables)
        assert (again.code, {resource["ready"] for resource in resources(again).values()}) == (0, {"True"})
        assert created(served) == ["core", "hub", "one"], "nothing is created twice"
        assert len(served.sent("PUT")) == 3
        assert '"operation":' not in kept(folder, "hub")


@pytest.mark.parametrize(
    ("by", "first", "last"),
    [
        (signal.SIGINT, "Stopped by Ctrl-C: 1 unfinished, 1 not begun. ", " Press Ctrl-C again to abort."),
        (signal.SIGTERM, "Stopped by SIGTERM: 1 unfinished, 1 not begun. ", " Send SIGTERM again to abort."),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_person_reads_at_once_what_is_unfinished(folder, by, first, last):
    slow = scripted(folder, f"{{match: {{method: PUT, type: {VNETS}}}, operation: {{seconds: 3600}}}}")
    with azure(clock=FakeClock(), **slow) as served:
        process = start("sync", *FOR_PEOPLE, folder=folder, **served.variables)
        created_group, head, row = told(process, served, by, when="/operations/").err.splitlines()
    assert created_group.startswith("created ResourceGroup/core in ")
    assert head.startswith(first)
    assert head.endswith(last)
    assert row.startswith("  VirtualNetwork/hub (")
    assert row.endswith("Azure works; 1 waits for it)")


@pytest.mark.parametrize(("by", "code"), SIGNALS)
def test_a_wait_that_azure_asked_for_ends_too(folder, by, code):
    """What Azure would return in ten minutes is left to the next run; it may have been on the way."""
    busy = scripted(folder, "{answer: {status: 503, code: ServerBusy, headers: {Retry-After: 600}}}")
    with azure(**busy) as served:
        end = told(sync(folder, served), served, by, when="/resourceGroups/core")
        assert end.code == code
        assert {name: resource["verdict"] for name, resource in resources(end).items()} == dict.fromkeys(
            NAMES, "unknown"
        )
        assert [attempt["code"] for attempt in resources(end)["core"]["attempts"]] == ["ServerBusy"]
        assert (resources(end)["core"]["reason"], resources(end)["core"]["outcome"]) == ("Interrupted", "blocked")
        assert created(served) == []
    assert '"claim": "expected"' in kept(folder, "core")


@pytest.mark.parametrize(("by", "code"), SIGNALS)
def test_a_plan_ends_too_and_writes_nothing(folder, by, code):
    with azure() as served:
        process = start("plan", folder=folder, **served.variables)
        end = told(process, served, by, when="/resourceGroups/core")
        assert end.code == code
        assert "Interrupted: the next run continues with the resources that were not reached." in end.out
    assert not (folder / ".gitsync").exists()


@contextmanager
def silence() -> Iterator[tuple[str, Callable[[], None]]]:
    """A server that takes a request and never answers: its URL, and what waits until it was sent."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as taken:
        server.settimeout(LONG)

        def requested() -> None:
            connection = taken.enter_context(server.accept()[0])
            assert connection.recv(1)

        yield f"http://127.0.0.1:{server.getsockname()[1]}", requested


@pytest.mark.parametrize(("by", "code"), SIGNALS)
def test_a_second_signal_aborts(folder, by, code):
    """No one waits for an Azure that never answers after a second signal."""
    with silence() as (url, requested):
        named = {
            "GITSYNC_CHECKS": "none",  # before its first write, a run ends at the first signal
            "AZURE_RESOURCE_MANAGER_ENDPOINT": url,
            "AZURE_SUBSCRIPTION_ID": world.SUBSCRIPTION,
            "GITSYNC_CREDENTIAL": "anonymous",
        }
        process = start("sync", folder=folder, **named)
        requested()
        process.send_signal(by)
        first = process.stderr.readline()
        process.send_signal(by)
        end = ended(process)
    assert "Send it again to abort" in first
    assert (end.code, end.out) == (code, "")
    assert end.err == ("gitsync: interrupted.\n" if by is signal.SIGINT else f"gitsync: aborted by {by.name}.\n")
    assert '"claim": "expected"' in kept(folder, "core"), "what may have been begun is on record"


@pytest.mark.parametrize(("by", "code"), SIGNALS)
def test_what_has_not_begun_is_aborted_at_once(folder, by, code):
    """A git server that never answers holds no one up, though git is not ended by what ends a terminal's programs."""
    with silence() as (url, requested):
        process = start("sync", f"{url}/manifests.git", "--subscription", world.SUBSCRIPTION, folder=folder)
        requested()
        process.send_signal(by)
        end = ended(process)
    assert (end.code, end.out) == (code, "")
    assert end.err == ("gitsync: interrupted.\n" if by is signal.SIGINT else f"gitsync: aborted by {by.name}.\n")


@pytest.mark.parametrize(("ignored", "is_heard"), [(False, True), (True, False)], ids=["a terminal", "nohup"])
def test_a_run_that_nohup_started_outlives_its_terminal(ignored, is_heard):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    loop = asyncio.new_event_loop()
    try:
        with Interruption().heard(loop):
            assert callable(signal.getsignal(signal.SIGHUP)) is is_heard
    finally:
        loop.close()
        signal.signal(signal.SIGHUP, before)

"""A run that is killed at any point and started again ends as an undisturbed one.

The command is a process of its own that gets SIGKILL: at each of its requests, at each touch of the status folder, in
each push to the status branch. Nothing that it does at its end can help it then. The run after it does the rest.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.record import Claim, Durations, Record
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.command_line import Azure, Moment, azure, ended, gitsync, start
from tests.support.git_repositories import add_remote, init_bare, push_main
from tests.support.hypothesis_profile import sample
from tests.support.parts import change
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, annotated, of

NETWORK = f"{GROUP_ID}/providers/Microsoft.Network"
OLD_ID, SPOKE_ID = f"{NETWORK}/virtualNetworks/old", f"{NETWORK}/virtualNetworks/spoke"
SOMEBODYS_ID, FRONT_ID = f"{NETWORK}/publicIPAddresses/somebodys", f"{NETWORK}/publicIPAddresses/front"

OLD = VNET.replace("name: hub", "name: old").replace("10.0.", "10.9.")
SPOKE = VNET.replace("name: hub", "name: spoke").replace("10.0.", "10.1.")
LARGER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
FRONT = """\
    apiVersion: network.azure.com/v1api20240301
    kind: PublicIPAddress
    metadata:
      name: front
    spec:
      location: westeurope
      owner:
        name: core
      publicIPAllocationMethod: Static
    """

PRUNING = {"prune": True, "max_deletes": 5}
AT_ONCE = Timing(style=Style.DONE)
FLAGS = ("--prune", "--max-deletes", "5", "--checks", "none")
"""Without checks, as the runs of a `World`: what they ask is nothing that a kill could break."""
REQUESTS = 11
"""Made by the run that is killed, where operations are done at once."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One resource adopted and others made by a run; then a commit that adds one, changes one and removes one."""
    world = World(tmp_path_factory.mktemp("before"))
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    for there in (SOMEBODYS_ID, FRONT_ID):
        body = {"location": "westeurope", "properties": {"publicIPAllocationMethod": "Static"}}
        world.outside("PUT", there, body, api_version="2024-03-01")
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET, old=OLD, front=FRONT).sync()
    assert of(report, "PublicIPAddress").record.claim is Claim.ADOPTED
    return world.says(group=GROUP, vnet=LARGER, subnet=SUBNET, spoke=SPOKE, front=FRONT)


@pytest.fixture(scope="module")
def undisturbed(before: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same world after a run that nothing disturbed."""
    world = before.copy(tmp_path_factory.mktemp("undisturbed"))
    report = world.sync(**PRUNING)
    done = {(result.key.name, result.action) for result in report.results if result.action is not Action.NONE}
    assert done == {("spoke", Action.CREATE), ("hub", Action.UPDATE), ("old", Action.DELETE)}
    return world


@pytest.fixture
def world(before: World, tmp_path: Path) -> World:
    return before.copy(tmp_path)


def command(world: World, served: Azure, **variables: str) -> subprocess.Popen[str]:
    options = ("--status-dir", str(world.state), *FLAGS)
    return start("sync", *options, folder=world.folder, **served.variables, **variables)


def in_azure(world: World) -> dict[str, Any]:
    """What there is, without what reports when it was made and in how many steps."""
    return {key: (stored.id, stored.body, stored.api_version, stored.state) for key, stored in world.store.below("/")}


def recorded(state: Path) -> tuple[dict[str, Record], str | None]:
    """What the status reports, without times, and without how many writes were answered, and which was the last."""
    with StatusFolder(state) as store:
        kept = store.load()
    return {str(key): timeless(record) for key, record in kept.records.items()}, kept.revision


def timeless(record: Record) -> Record:
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    return change(record, condition=condition, count=0, last=None, durations=Durations())


def files(state: Path) -> dict[str, bytes]:
    """The names of all files, and the contents of those that have no times; report.json is of the last run alone."""
    found = {path.relative_to(state).as_posix(): path for path in sorted(state.rglob("*")) if path.is_file()}
    timeless = {"inventory.json", "SUMMARY.md"}
    return {
        name: re.sub(rb"(?m)^- (Source|Endpoint): .*\n", b"", path.read_bytes()) if name in timeless else b""
        for name, path in found.items()
        if name != ".lock"
    }


def check_the_end(world: World, undisturbed: World) -> None:
    assert in_azure(world) == in_azure(undisturbed)
    assert recorded(world.state) == recorded(undisturbed.state)
    assert files(world.state) == files(undisturbed.state)


def check_writes(sent: list[tuple[str, str, int]]) -> None:
    """Over both runs together: every write once, nothing created twice, nothing deleted but what was removed from git."""
    writes = sorted((method, path, status) for method, path, status in sent if method not in {"GET", "HEAD"})
    deleted = 200 if ("DELETE", OLD_ID, 200) in writes else 202
    assert writes == [("DELETE", OLD_ID, deleted), ("PUT", VNET_ID, 200), ("PUT", SPOKE_ID, 201)]


def killed(world: World, served: Azure, dies: Callable[[Moment], bool]) -> bool:
    """Run the command and kill it at the first moment of a request that `dies` reports; whether there was a kill."""
    process = command(world, served)

    def watch(moment: Moment) -> bool:
        if not dies(moment):
            return False
        process.kill()
        return True

    served.watch = watch
    return ended(process).code == -signal.SIGKILL


def run_again(world: World) -> list[tuple[str, str, int]]:
    """The run after the kill; what it sent."""
    report = world.sync(**PRUNING)
    assert report.exit_code == 0, [(str(r.key), r.condition) for r in report.results]
    return [(r.method, r.path, r.status) for r in world.requests]


def test_the_run_that_is_killed_makes_so_many_requests(world, undisturbed):
    """Else some of its requests would never be the last."""
    with azure(world.store, operations=AT_ONCE) as served:
        assert not killed(world, served, lambda _: False)
        assert served.count == REQUESTS
        check_writes(served.sent())
    check_the_end(world, undisturbed)


WRITES = [("PUT", VNET_ID), ("PUT", SPOKE_ID), ("DELETE", OLD_ID)]
MOMENTS = [
    *(pytest.param(lambda m, n=n: (m.number, m.done) == (n, False), id=f"before {n}") for n in range(1, REQUESTS + 1)),
    *(
        pytest.param(
            lambda m, write=write: ((m.method, m.path), m.done) == (write, True), id=f"after {' '.join(write)}"
        )
        for write in WRITES
    ),
]
"""Before each request, and after each write: the work of a read changes nothing."""


@pytest.mark.parametrize("dies", sample(MOMENTS))
def test_killed_at_a_request_before_its_work_is_done_or_after(dies, world, undisturbed):
    with azure(world.store, operations=AT_ONCE) as served:
        assert killed(world, served, dies)
    check_writes(served.sent() + run_again(world))  # once the server is gone: what was on its way has come through
    check_the_end(world, undisturbed)


UNDER_WAY = [
    pytest.param("PUT", VNET_ID, True, id="an update was accepted, and nobody heard"),
    pytest.param("PUT", SPOKE_ID, True, id="a create was accepted, and nobody heard"),
    pytest.param("GET", "/operations/", False, id="a create or an update is under way"),
    pytest.param("DELETE", OLD_ID, True, id="a delete was accepted, and nobody heard"),
]


@pytest.mark.parametrize(("method", "part", "done"), sample(UNDER_WAY))
def test_killed_while_an_operation_is_under_way(method, part, done, world, undisturbed):
    with azure(world.store, world.clock, operations=Timing(polls=1)) as served:
        assert killed(world, served, lambda m: m.method == method and part in m.path and m.done is done)
    check_writes(served.sent() + run_again(world))  # once the server is gone: what was on its way has come through
    check_the_end(world, undisturbed)


TOUCHES = 16
"""Of the status folder, by the run that is killed: files that get their name, hidden ones too, and that go."""

DIES_AT_A_TOUCH = """\
    import os, signal, sys

    def count(event, arguments, touches=[]):
        if event not in {"os.rename", "os.remove"}:
            return
        at = 1 if event == "os.rename" else 0
        file, folder = str(arguments[at]), arguments[at + (2 if event == "os.rename" else 1)]
        if folder >= 0:  # a relative name is one in an open folder
            file = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), file)
        if file.startswith(os.environ["FOLDER"]):
            touches.append(event)
            with open(os.environ["COUNTED"], "w") as file:
                print(len(touches), file=file)
            if len(touches) == int(os.environ["DIES_AT"]):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    """


def killed_at_a_touch(world: World, served: Azure, at: int) -> bool:
    """Run the command and kill it before its `at`th touch of the status folder; whether there was a kill."""
    hooks, counted = world.folder.parent / "hooks", world.folder.parent / "counted"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(textwrap.dedent(DIES_AT_A_TOUCH))
    dying = {"PYTHONPATH": str(hooks), "FOLDER": str(world.state), "COUNTED": str(counted), "DIES_AT": str(at)}
    code = ended(command(world, served, **dying)).code
    assert int(counted.read_text()) == (at or TOUCHES)
    return code == -signal.SIGKILL


def test_the_run_that_is_killed_touches_its_status_so_many_times(world, undisturbed):
    with azure(world.store, operations=AT_ONCE) as served:
        assert not killed_at_a_touch(world, served, 0)
    check_the_end(world, undisturbed)


@pytest.mark.parametrize("touch", sample(range(1, TOUCHES + 1)))
def test_killed_while_status_is_written_to_a_folder(touch, world, undisturbed):
    with azure(world.store, operations=AT_ONCE) as served:
        assert killed_at_a_touch(world, served, touch)
    check_writes(served.sent() + run_again(world))  # once the server is gone: what was on its way has come through
    check_the_end(world, undisturbed)


DIES_IN_A_PUSH = """\
    #!/bin/sh
    echo >> {counted}
    [ $(wc -l < {counted}) = {push} ] || exit 0
    kill -KILL $(cat {victim})
    exit {code}
    """

PUSHES = [
    pytest.param(1, "pre-receive", 1, id="before what is expected has arrived"),
    pytest.param(1, "post-receive", 0, id="when what is expected has arrived, and nobody heard"),
    pytest.param(2, "pre-receive", 1, id="before what came of it has arrived"),
    pytest.param(2, "post-receive", 0, id="when what came of it has arrived, and nobody heard"),
]


@pytest.mark.parametrize(("push", "hook", "code"), sample(PUSHES))
def test_killed_in_a_push_to_the_status_branch(push, hook, code, world, undisturbed, tmp_path):
    bare = with_a_branch(world, tmp_path / "bare.git")
    named = {"counted": tmp_path / "counted", "victim": tmp_path / "victim", "push": push, "code": code}
    (bare / "hooks" / hook).write_text(textwrap.dedent(DIES_IN_A_PUSH).format(**named))
    (bare / "hooks" / hook).chmod(0o755)
    with azure(world.store, operations=AT_ONCE) as served:
        process = start("sync", *FLAGS, folder=world.folder, **served.variables)
        (tmp_path / "victim").write_text(str(process.pid))
        assert ended(process).code == -signal.SIGKILL
        (bare / "hooks" / hook).unlink()
        assert list(world.folder.parent.glob("gitsync-run-*")), "a killed run leaves its temporary folders"
        again = gitsync("sync", *FLAGS, folder=world.folder, **served.variables)
        assert not list(world.folder.parent.glob("gitsync-run-*")), "the next one removes them"
        assert (again.code, again.err) == (0, "")
        check_writes(served.sent())
    shutil.rmtree(world.state)
    world.git("fetch", "-q", "origin", "gitsync/status")
    world.git("worktree", "add", "-q", "--detach", str(world.state), "FETCH_HEAD")
    (world.state / ".git").unlink()
    check_the_end(world, undisturbed)


def with_a_branch(world: World, bare: Path) -> Path:
    """Move the world's state from the folder to the branch of a bare repository, and return that."""
    init_bare(bare)
    (bare / "hooks").mkdir()
    add_remote(world.folder, bare)
    push_main(world.folder, bare)
    (world.state / ".lock").unlink()
    tree = ("-c", "user.name=T", "-c", "user.email=t@x", "--git-dir", str(bare), "--work-tree", str(world.state))
    world.git(*tree, "add", "--all")
    commit = world.git(*tree, "commit-tree", world.git(*tree, "write-tree"), "-m", "Status")
    world.git("--git-dir", str(bare), "update-ref", "refs/heads/gitsync/status", commit)
    return bare


def test_what_was_to_stay_when_it_was_removed_stays_after_a_kill(tmp_path):
    """The policy that was stated last counts, though the run that would have seen it was killed."""
    world = World(tmp_path, operations=AT_ONCE)
    world.synced(group=GROUP, vnet=VNET, old=OLD)
    world.says(group=GROUP, vnet=VNET, old=annotated(OLD, reconcile_policy="detach-on-delete"))
    world.says(group=GROUP, vnet=VNET, spoke=SPOKE)
    with azure(world.store, operations=AT_ONCE) as served:
        assert killed(world, served, lambda moment: moment.method == "PUT")
    found = of(world.sync(**PRUNING), "VirtualNetwork", "old")
    assert (found.verdict, found.action) == (Verdict.DETACH, Action.DETACH)
    assert OLD_ID.casefold() in in_azure(world)

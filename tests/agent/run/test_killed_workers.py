"""A worker that is killed at any point harms no other: what those did stays, and the next run does what is left.

At a request the worker is killed in its process: Azure answers it nothing any more. In a push it is a process of its
own that gets SIGKILL, before the push has arrived, or after.
"""

from __future__ import annotations

import asyncio
import signal
import textwrap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import ConfigError
from gitsync.model.record import Record
from gitsync.model.secret import Secret
from tests.agent.run.test_workers import Site, Writes, kill, list_workers, make_group, make_nsg, sync, sync_together
from tests.support.command_line import azure, ended, start
from tests.support.hypothesis_profile import sample

ESTATE = {name: "---\n".join([make_group(name), make_nsg(f"{name}-nsg", name)]) for name in "ab"}
VICTIM, OTHER = list_workers(2)
VICTIMS, OTHERS = ("a", "a-nsg"), ("b", "b-nsg")
REQUESTS = 7
"""Made by the worker that is killed."""

METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE"})


End = tuple[dict[str, Any], dict[str, Record]]
"""What Azure has, and what is recorded."""


def find_end(site: Site) -> End:
    return site.list_bodies(), site.load()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> End:
    """The end of a run of one worker that nothing disturbs."""
    site = Site.begin(tmp_path_factory.mktemp("undisturbed") / "site").says(ESTATE)
    asyncio.run(sync(site))
    return find_end(site)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.begin(tmp_path / "site").says(ESTATE)


@pytest.fixture(scope="module")
def of_victim(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, int]:
    """The repository after the worker that others kill has ended alone, and how many requests it made."""
    site = Site.begin(tmp_path_factory.mktemp("of-victim") / "site").says(ESTATE)
    return site, asyncio.run(count_requests(site, VICTIM))


async def count_requests(site: Site, run: Mapping[str, Any]) -> int:
    async with Emulator(EmulatorSettings(limits=None), site.store) as azure:
        await execute(site.config(azure, **run), writes=True)
        return sum(request.method in METHODS for request in azure.requests)


def name_resources(sent: Writes) -> set[str]:
    return {path.rpartition("/")[2] for _, path, _ in sent}


async def check_the_end(site: Site, undisturbed: End, sent: Writes) -> None:
    """The other worker, then the next run: each does its part of what is left, and creates nothing again."""
    (report,), others = await sync_together(site, [OTHER])
    assert report.exit_code == 0
    assert name_resources(others) == {*OTHERS}, "nothing of another shard is touched"
    last, rest = await sync(site)
    assert last.exit_code == 0
    assert name_resources(rest) <= {*VICTIMS}, "what the other worker did stays"
    created = Counter(path for _, path, status in (*sent, *others, *rest) if status == 201)
    assert sorted(created.values()) == [1] * 4, "nothing is created twice"
    assert find_end(site) == undisturbed


@pytest.mark.parametrize("request_number", sample(range(1, REQUESTS + 1)))
async def test_a_worker_is_killed_at_a_request(request_number: int, site: Site, undisturbed: End) -> None:
    sent = await kill(site, VICTIM, request_number, METHODS)
    assert site.list_worker_branches() == ["1/1"]
    assert name_resources(sent) <= {*VICTIMS}
    await check_the_end(site, undisturbed, sent)


DIES_IN_A_PUSH = """\
    #!/bin/sh
    grep -q {ref} || exit 0
    echo >> {folder}/counted
    [ $(wc -l < {folder}/counted) = {push} ] || exit 0
    kill -KILL $(cat {folder}/victim)
    exit {code}
    """

PUSHES = [
    ("gitsync/runs/1", 1, "the pin"),
    ("gitsync/status-shards/1/1", 1, "what it expects"),
    ("gitsync/status-shards/1/1", 2, "what came of it"),
]
HOOKS = [
    ("pre-receive", 1, "before it has arrived"),
    ("post-receive", 0, "when it has arrived, and nobody heard"),
]
MOMENTS = [
    pytest.param(ref, push, hook, code, id=f"{what}, {when}")
    for ref, push, what in PUSHES
    for hook, code, when in HOOKS
]


@pytest.mark.parametrize(("ref", "push", "hook", "code"), sample(MOMENTS))
def test_a_worker_is_killed_in_a_push(ref: str, push: int, hook: str, code: int, site: Site, undisturbed: End) -> None:
    script = site.folder / "remote.git" / "hooks" / hook
    script.parent.mkdir(exist_ok=True)
    script.write_text(textwrap.dedent(DIES_IN_A_PUSH).format(ref=ref, push=push, folder=site.folder, code=code))
    script.chmod(0o755)
    with azure(site.store) as served:
        flags = ("--prune", "--max-deletes=50", "--checks=none", "--who=off", "--shard=1/2", "--run-id=1")
        process = start("sync", *flags, folder=site.folder / "work", **served.variables)
        (site.folder / "victim").write_text(str(process.pid))
        assert ended(process).code == -signal.SIGKILL
        sent = [request for request in served.sent() if request[0] == "PUT"]
    script.unlink()
    assert name_resources(sent) <= {*VICTIMS}
    asyncio.run(check_the_end(site, undisturbed, sent))


def test_the_worker_that_is_killed_makes_so_many_requests(of_victim: tuple[Site, int]) -> None:
    """Else some of its requests would never be the last."""
    assert of_victim[1] == REQUESTS


async def test_two_runs_that_overlap_end_as_one(site: Site, undisturbed: End) -> None:
    """Each has a cut of its own, so workers of both have the same resources. Then comes the next run."""
    runs: list[dict[str, Any]] = [*list_workers(2, "1"), *list_workers(1, "2")]
    reports, sent = await sync_together(site, runs)
    assert {report.exit_code for report in reports} <= {0, 1}
    assert name_resources(sent) == {*VICTIMS, *OTHERS}
    last, rest = await sync(site)
    assert last.exit_code == 0
    assert {status for _, _, status in rest} <= {200}, "nothing is created again"
    assert find_end(site) == undisturbed
    assert site.list_worker_branches() == []


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ({"shard": "3/3"}, "it is for 2 workers, and this run has 3"),
        ({"digest_key": Secret("k" * 32)}, "its seal was not made with the digest key"),
        ({"agent": "blue"}, "it is for the agent gitsync"),
    ],
    ids=["another number of workers", "forged", "another agent"],
)
async def test_a_worker_of_another_run_ends_before_it_touches_anything(
    run: dict[str, Any], why: str, of_victim: tuple[Site, int], tmp_path: Path
) -> None:
    site = of_victim[0].copy(tmp_path / "site")
    with pytest.raises(ConfigError, match=why):
        await sync(site, **{**OTHER, **run})
    assert {arm_id.rpartition("/")[2] for arm_id in site.list_bodies()} == {*VICTIMS}
    assert site.list_worker_branches() == ["1/1"]

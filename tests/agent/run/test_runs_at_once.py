"""Several runs of one branch at the same time: each resource is created once."""

from __future__ import annotations

import asyncio
import subprocess
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.settings.config.config import Config
from tests.support.world import GROUP, SUBNET, SUBSCRIPTION, VNET

RUNS = 3


def git(*arguments: str, folder: Path) -> None:
    names = ("-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone with a remote, which has the status branch."""
    git("init", "--quiet", "--bare", "bare.git", folder=tmp_path)
    git("clone", "--quiet", "bare.git", "work", folder=tmp_path)
    work = tmp_path / "work"
    (work / "all.yaml").write_text("---\n".join(map(textwrap.dedent, (GROUP, VNET, SUBNET))))
    git("add", ".", folder=work)
    git("commit", "--quiet", "-m", "Begin", folder=work)
    git("push", "--quiet", "origin", "HEAD:main", folder=work)
    return work


async def test_each_resource_is_created_by_one_run(repository):
    async with Emulator(EmulatorSettings(limits=None), MemoryStore()) as azure:
        config = Config(source=str(repository), subscription=SUBSCRIPTION, endpoint=azure.url, credential="anonymous")
        reports = await asyncio.gather(*(execute(config, writes=True) for _ in range(RUNS)))
        after = await execute(config, writes=True)
        puts = Counter(r.path for r in azure.requests if r.method == "PUT")
    assert set(puts.values()) == {1}, puts
    assert len(puts) == 3
    assert (after.exit_code, [result.record.claim.value for result in after.results]) == (0, ["created"] * 3)
    left = [result.condition.reason for report in reports for result in report.results if not result.is_fine]
    assert set(left) <= {"RecordedByAnotherRun", "WaitingForOwner"}

"""Several runs of one branch at the same time: each resource is created once."""

from __future__ import annotations

import asyncio
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.settings.config.config import Config
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.world import GROUP, SUBNET, SUBSCRIPTION, VNET

RUNS = 3


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a remote, which has the status branch."""
    bare, work = tmp_path / "bare.git", tmp_path / "work"
    init_bare(bare)
    init_repository(work)
    add_remote(work, bare)
    (work / "all.yaml").write_text("---\n".join(map(textwrap.dedent, (GROUP, VNET, SUBNET))))
    commit_all(work)
    push_main(work, bare)
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

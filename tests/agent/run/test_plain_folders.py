"""A source that is not in git, such as an unpacked archive: records in it may have come with it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.state.store import MemoryStore
from gitsync.emulator.types.behaviour import Style
from gitsync.model.secret import Secret
from gitsync.settings.config.config import Config
from tests.support.world import GROUP, SUBSCRIPTION, VNET, of

KEY = Secret("k" * 32)
AT_ONCE = EmulatorSettings(limits=None, operations=Timing(style=Style.DONE))


@pytest.mark.parametrize(
    ("settings", "is_deleted", "why"),
    [
        ({}, False, "the record may have come with the folder"),
        ({"digest_key": KEY}, True, "the record is signed"),
        ({"status_dir": "state"}, True, "the operator says where the records are"),
    ],
)
async def test_a_record_that_came_with_a_folder_deletes_nothing(tmp_path: Path, settings, is_deleted, why):
    source = tmp_path / "source"
    source.mkdir()
    if "status_dir" in settings:
        settings = {"status_dir": str(tmp_path / "state")}
    async with Emulator(AT_ONCE, MemoryStore()) as azure:
        config = Config(
            source=str(source),
            subscription=SUBSCRIPTION,
            endpoint=azure.url,
            credential="anonymous",
            prune=True,
            **settings,
        )
        (source / "group.yaml").write_text(textwrap.dedent(GROUP))
        (source / "hub.yaml").write_text(textwrap.dedent(VNET))
        await execute(config, writes=True)
        (source / "hub.yaml").unlink()
        report = await execute(config, writes=True)
        deleted = [r.path for r in azure.requests if r.method == "DELETE"]
    assert bool(deleted) is is_deleted, why
    if not is_deleted:
        assert "Set --status-dir, or sign records" in of(report, "VirtualNetwork").condition.message

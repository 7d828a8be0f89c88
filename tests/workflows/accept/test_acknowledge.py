"""The records of acknowledged changes: one commit, of just these resources, and none that a run wrote in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.model.secret import Secret
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.workflows.accept.acknowledge import format_changes, format_end, list_changed, record_changes
from tests.support.world import GROUP, GROUP_ID, VNET, VNET_ID, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.synced(group=GROUP, network=VNET)
    for arm_id in (GROUP_ID, VNET_ID):
        world.somebody_changes(arm_id, {"/tags": {"owner": "eve"}})
    return world


def changed(world: World) -> Iterator[str]:
    yield from (result.key.name for result in world.plan().results if result.comparison.outside)


def test_what_a_run_has_recorded_in_between_is_skipped(world: World) -> None:
    report = world.plan(outside_use=OutsideUse.ACKNOWLEDGE)
    results = list_changed(report)
    assert len(results) == 2
    world.says(group=GROUP, network=VNET.replace("10.0.0.0/16", "10.0.0.0/15")).sync()
    world.somebody_changes(VNET_ID, {"/tags": {"owner": "eve"}})
    with StatusFolder(world.state) as store:
        left = record_changes(results, report, store)
    assert [(each.key.name, each.reason[:25]) for each in left] == [("hub", "A run has recorded it sin")]
    assert "Acknowledged 1 change outside of git of 1 resource." in list(format_end(results, left))
    assert list(changed(world)) == ["hub"]


def test_a_sync_that_recorded_nothing_new_stops_nothing(world: World) -> None:
    report = world.plan(outside_use=OutsideUse.ACKNOWLEDGE)
    world.sync()
    with StatusFolder(world.state) as store:
        assert record_changes(list_changed(report), report, store) == []
    assert not list(changed(world))


def test_records_stay_signed(tmp_path: Path) -> None:
    world, key = World(tmp_path), Secret("a" * 64)
    world.says(group=GROUP).sync(digest_key=key)
    world.somebody_changes(GROUP_ID, {"/tags": {"owner": "eve"}})
    report = world.plan(digest_key=key, outside_use=OutsideUse.ACKNOWLEDGE)
    with StatusFolder(world.state, RecordSeals(DEFAULT_AGENT, key)) as store:
        record_changes(list_changed(report), report, store)
    again = world.plan(digest_key=key)
    assert not [result for result in again.results if result.comparison.outside]
    assert not [problem.code for problem in again.problems]


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.says(group=GROUP).sync(digest_key=Secret("a" * 64))
    world.somebody_changes(GROUP_ID, {"/tags": {"apiSecret": "Not-really-1"}})
    report = world.plan(digest_key=Secret("a" * 64), outside_use=OutsideUse.ACKNOWLEDGE)
    lines = list(format_changes(list_changed(report), names=False))
    assert '  + spec.tags.apiSecret: "<secret>"' in lines
    assert "Not-really" not in repr(report.results[0].record)

"""Each write has a correlation id of its own, and the record keeps that of the last one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.world import GROUP, VNET, World, key, read_status

CORE = key("ResourceGroup", "resources.azure.com", "core")
HUB = key("VirtualNetwork", "network.azure.com", "hub")
TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: a}")


def read_last_writes(world):
    with StatusFolder(world.state) as store:
        return {key: record.writes.last for key, record in store.load().records.items()}


def test_a_record_keeps_the_last_write_and_the_commit_of_its_run(tmp_path):
    world = World(tmp_path)
    world.says(core=GROUP, hub=VNET).sync()
    revision, first = world.git("rev-parse", "HEAD"), read_last_writes(world)
    assert {record.revision for record in first.values()} == {revision}
    assert not any(record.returned_id for record in first.values()), (
        "the emulator returns what was sent: it is kept once"
    )
    assert first[CORE].correlation_id != first[HUB].correlation_id
    before = read_status(world)
    world.says(core=GROUP, hub=VNET, other="# another commit\n").sync()
    assert not world.writes
    unchanged = {path: text for path, text in read_status(world).items() if path != "inventory.json"}
    assert unchanged == {path: before[path] for path in unchanged}, "a run that writes nothing leaves the records"
    world.says(core=TAGGED, hub=VNET).sync()
    last = read_last_writes(world)
    assert last[HUB] == first[HUB]
    assert last[CORE].revision == world.git("rev-parse", "HEAD") != revision
    assert last[CORE].correlation_id != first[CORE].correlation_id


@pytest.mark.parametrize(
    ("rule", "is_kept", "why"),
    [
        ({"answer": Canned(status=400, code="InvalidParameter")}, False, "refused: nothing was written"),
        ({"timeout": True}, True, "it was done, though the answer was lost"),
    ],
)
def test_only_a_write_that_may_have_been_done_is_kept(tmp_path, rule, is_kept, why):
    world = World(tmp_path)
    world.synced(core=GROUP)
    before = read_last_writes(world)[CORE]
    world.settings = replace(world.settings, rules=(FaultRule(match=Match(methods=frozenset({"PUT"})), **rule),))
    world.says(core=TAGGED).sync()
    assert (read_last_writes(world)[CORE] != before) == is_kept, why

"""A record keeps for how long Azure worked on the last create and update of its resource."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.git.state.folder import StatusFolder
from gitsync.model.gvk import Key
from gitsync.model.record import Durations
from tests.support.world import GROUP, SUBNET, VNET, World, key, read_status

CORE = key("ResourceGroup", "resources.azure.com", "core")
HUB = key("VirtualNetwork", "network.azure.com", "hub")
LARGER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
OTHER_SUBNET = SUBNET.replace("name: one", "name: two").replace("10.0.1.0/24", "10.0.2.0/24")


def read_durations(world: World) -> dict[Key, Durations]:
    with StatusFolder(world.state) as store:
        return {key: record.durations for key, record in store.load().records.items()}


def set_pace(world: World, seconds: float) -> World:
    world.settings = EmulatorSettings(
        limits=None, operations=Timing(style=Style.ASYNC, seconds=seconds, retry_after=10)
    )
    return world


def test_creates_and_updates_have_durations_of_their_own(tmp_path):
    world = set_pace(World(tmp_path), 120)
    world.says(core=GROUP, hub=VNET).sync()
    assert read_durations(world)[HUB] == Durations(create=120)

    set_pace(world, 40).says(core=GROUP, hub=LARGER).sync()

    assert read_durations(world)[HUB] == Durations(create=120, update=40)


def test_what_azure_does_at_once_takes_a_second(tmp_path):
    world = World(tmp_path)
    world.synced(core=GROUP)

    assert read_durations(world) == {CORE: Durations(create=1)}


def test_a_run_without_writes_leaves_the_records_as_they_are(tmp_path):
    world = set_pace(World(tmp_path), 120)
    world.says(core=GROUP, hub=VNET).sync()
    before = read_status(world)

    set_pace(world, 5).sync()

    assert not world.writes
    assert read_status(world) == before


@pytest.mark.parametrize(
    ("seconds", "recorded"),
    [
        pytest.param(130, 100, id="as long as before, or nearly: the record says the same"),
        pytest.param(160, 160, id="half as long again"),
        pytest.param(50, 50, id="half as long"),
    ],
)
def test_a_duration_changes_only_with_a_change_by_half(tmp_path, seconds, recorded):
    world = set_pace(World(tmp_path), 100)
    for number, pace in enumerate((100, 100, seconds)):
        set_pace(world, pace).says(core=GROUP, hub=VNET.replace("10.0.0.0/16", f"10.{number}.0.0/16")).sync()

    assert read_durations(world)[HUB] == Durations(create=100, update=recorded)


def test_the_wait_for_a_lock_does_not_count(tmp_path):
    world = set_pace(World(tmp_path), 100)
    begun = world.clock.elapsed

    world.says(core=GROUP, hub=VNET, one=SUBNET, two=OTHER_SUBNET).sync()

    assert world.clock.elapsed - begun >= 300, "the network and its subnets, one after the other"
    assert {durations.create for key, durations in read_durations(world).items() if key != CORE} == {100}


def test_an_end_that_no_run_has_seen_is_not_recorded(tmp_path):
    world = World(tmp_path)
    world.synced(core=GROUP)
    set_pace(world, 600).says(core=GROUP, hub=VNET).sync(run_timeout=30.0)
    assert read_durations(world)[HUB] == Durations()

    world.sync()

    assert not world.writes, "it waits for what the run before began"
    assert read_durations(world)[HUB] == Durations()


def test_a_refused_write_is_not_recorded(tmp_path):
    world = World(tmp_path)
    world.synced(core=GROUP, hub=VNET)
    before = read_durations(world)
    refuse = FaultRule(match=Match(methods=frozenset({"PUT"})), answer=Canned(status=400, code="InvalidParameter"))
    world.settings = replace(world.settings, rules=(refuse,))

    world.says(core=GROUP, hub=LARGER).sync()

    assert read_durations(world) == before

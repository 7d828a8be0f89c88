"""A record keeps for how long Azure worked on the last create and update of its resource."""

from __future__ import annotations

from dataclasses import replace

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.gvk import Key
from gitsync.model.record import Durations
from gitsync.model.schedule import Estimate, Schedule
from gitsync.model.verdict import Action
from gitsync.report.json import build_document
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.fault_rules import rules
from tests.support.world import GROUP, SUBNET, VNET, World, annotated, key, read_status

CORE = key("ResourceGroup", "resources.azure.com", "core")
HUB = key("VirtualNetwork", "network.azure.com", "hub")
LARGER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
OTHER_SUBNET = SUBNET.replace("name: one", "name: two").replace("10.0.0.0", "10.0.128.0")


def read_durations(world: World) -> dict[Key, Durations]:
    with StatusFolder(world.state) as store:
        return {key: record.writes.durations for key, record in store.load().records.items()}


def set_pace(world: World, seconds: float) -> World:
    """Let the emulator work as long as Azure does, at an endpoint that is not on this machine."""
    world.is_local = False
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
    world = set_pace(World(tmp_path), 0)
    world.says(core=GROUP).sync()

    assert read_durations(world) == {CORE: Durations(create=1)}


def test_durations_of_an_emulator_on_this_machine_are_not_recorded(tmp_path):
    world = set_pace(World(tmp_path), 120)
    world.is_local = True
    world.says(core=GROUP, hub=VNET).sync()
    world.says(core=GROUP, hub=LARGER).sync()

    assert set(read_durations(world).values()) == {Durations()}


def test_a_plan_on_this_machine_does_not_use_what_is_on_record(tmp_path):
    """A record may have the pace of an emulator, since older versions recorded it."""
    world = set_pace(World(tmp_path), 120)
    world.says(core=GROUP, hub=VNET).sync()
    world.says(core=GROUP, hub=LARGER).sync()
    world.says(core=GROUP, hub=VNET)

    assert world.plan().plan.schedule.count_estimates()[Estimate.RECORD] == 1
    world.is_local = True

    assert world.plan().plan.schedule.count_estimates()[Estimate.RECORD] == 0
    assert read_durations(world)[HUB] == Durations(create=120, update=120), "a plan forgets nothing"


def test_a_run_without_writes_leaves_the_records_as_they_are(tmp_path):
    world = set_pace(World(tmp_path), 120)
    world.says(core=GROUP, hub=VNET).sync()
    before = read_status(world)

    set_pace(world, 5).sync()

    assert not world.writes
    assert read_status(world) == before


PACES = [
    (130, 100, "as long as before, or nearly: the record says the same"),
    (160, 160, "half as long again"),
    (50, 50, "half as long"),
]


def test_a_duration_changes_only_with_a_change_by_half(tmp_path):
    """Each row is a network of its own."""
    world = set_pace(World(tmp_path), 100)
    slower = rules(
        *(
            f"{{match: {{method: PUT, path: '*/virtualnetworks/hub{row}'}}, operation: {{style: async, seconds: {seconds}}}}}"
            for row, (seconds, _, _) in enumerate(PACES)
        )
    )
    for number, faults in enumerate(((), (), slower)):
        world.settings = replace(world.settings, rules=faults)
        texts = {f"hub{row}": VNET.replace("name: hub", f"name: hub{row}") for row in range(len(PACES))}
        moved = {name: text.replace("10.0.0.0/16", f"10.{number}.0.0/16") for name, text in texts.items()}
        world.says(core=GROUP, **moved).sync()
    durations = read_durations(world)
    for row, (_, recorded, why) in enumerate(PACES):
        found = durations[key("VirtualNetwork", "network.azure.com", f"hub{row}")]
        assert found == Durations(create=100, update=recorded), why


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


def tag(document: str, value: int) -> str:
    return document.replace("location: westeurope", f"location: westeurope\n      tags: {{n: '{value}'}}")


def move(document: str, value: int) -> str:
    return document.replace("10.0.0.", f"10.0.{value}.")


def test_a_plan_foresees_the_time_that_its_sync_takes(tmp_path):
    """Two networks, one of them with two subnets, which have one lock with it. They are patched, so none goes along."""
    world = set_pace(World(tmp_path), 40)
    patched = {"gitsync/update-method": "patch"}
    spoke = VNET.replace("name: hub", "name: spoke")
    for number in (1, 2, 3):
        world.says(
            core=tag(GROUP, number),
            hub=tag(VNET, number),
            spoke=tag(spoke, number),
            one=annotated(move(SUBNET, number), **patched),
            two=annotated(OTHER_SUBNET.replace("10.0.128.", f"10.0.{128 + number}."), **patched),
        )
        plan = world.plan()
        begun = world.clock.elapsed
        world.sync()
        taken = world.clock.elapsed - begun

    assert len(plan.plan.schedule.bars) == 5
    assert plan.plan.schedule.count_estimates()[Estimate.RECORD] == 5
    assert (plan.plan.schedule.waves, taken) == (3, 120)
    assert plan.plan.schedule.seconds == taken + 1, "the group has its second, and the emulator none"
    assert {bar.key.kind for bar in plan.plan.schedule.bars if bar.is_critical} == {
        "ResourceGroup",
        "VirtualNetwork",
        "VirtualNetworksSubnet",
    }


def test_a_plan_without_writes_and_a_sync_foresee_nothing(tmp_path):
    world = World(tmp_path)
    world.synced(core=GROUP)

    assert world.plan().plan.schedule == Schedule()
    assert world.says(core=GROUP, hub=VNET).sync().plan.schedule == Schedule()


def test_a_plan_takes_azure_recordings_for_what_it_has_never_written(tmp_path):
    plan = World(tmp_path).says(core=GROUP, hub=VNET).plan()

    assert [(bar.key, bar.estimate, bar.end) for bar in plan.plan.schedule.bars] == [
        (CORE, Estimate.TYPE, 1),
        (HUB, Estimate.TYPE, 1 + 3),
    ]
    needs = build_document(plan)["syncNeeds"]
    assert needs["seconds"] == 4
    assert needs["durations"] == {"record": 0, "type": 2, "published": 0, "default": 0}


def test_what_is_deleted_with_its_group_takes_no_time_of_its_own(tmp_path):
    world = World(tmp_path)
    world.synced(core=GROUP, hub=VNET)

    plan = world.says(nothing="# nothing is left\n").plan(prune=True)

    assert [(bar.key, bar.action) for bar in plan.plan.schedule.bars] == [(CORE, Action.DELETE)]

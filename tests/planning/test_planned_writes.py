"""The writes of a run, from its results: their order, their locks, and how long each is expected to take."""

from dataclasses import replace

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.record import Durations, Record
from gitsync.model.result import Replacement, Result
from gitsync.model.schedule import Estimate, PlannedWrite, TypicalDuration
from gitsync.model.verdict import Action
from gitsync.planning.planned_writes import DEFAULT_SECONDS, make_writes
from tests.support.builders import group_id, record, result, rg, subnet, vnet, vnet_id

GROUP, HUB, SUBNET = group_id(), vnet_id(), f"{vnet_id()}/subnets/one"
IDS = {rg(): GROUP, vnet(): HUB, vnet("spoke"): vnet_id("spoke"), subnet(): SUBNET, subnet("two"): f"{HUB}/subnets/two"}


def make_result(key: Key, action: Action, *depends_on: Key, **more) -> Result:
    return replace(result(key, action=action, depends_on=depends_on, **more), arm_id=ArmId(IDS[key]))


def read(writes: tuple[PlannedWrite, ...]) -> list[tuple[Key, Action, tuple[Key, ...]]]:
    return [(write.key, write.action, write.after) for write in writes]


NONE, CREATE, UPDATE, DELETE, REPLACE = Action.NONE, Action.CREATE, Action.UPDATE, Action.DELETE, Action.REPLACE


@pytest.mark.parametrize(
    ("results", "writes"),
    [
        pytest.param([make_result(rg(), NONE)], [], id="what does not change is no write"),
        pytest.param([make_result(rg(), Action.DETACH)], [], id="nor is what is only forgotten"),
        pytest.param(
            [make_result(rg(), CREATE), make_result(vnet(), UPDATE, rg())],
            [(vnet(), UPDATE, (rg(),)), (rg(), CREATE, ())],
            id="a dependency comes first",
        ),
        pytest.param(
            [make_result(rg(), CREATE), make_result(vnet(), CREATE, owner=rg())],
            [(vnet(), CREATE, (rg(),)), (rg(), CREATE, ())],
            id="and so does an owner",
        ),
        pytest.param(
            [make_result(rg(), CREATE), make_result(vnet(), NONE, rg()), make_result(subnet(), CREATE, vnet())],
            [(subnet(), CREATE, (rg(),)), (rg(), CREATE, ())],
            id="what depends on something unchanged waits for what that waits for",
        ),
        pytest.param(
            [make_result(vnet(), CREATE, rg("elsewhere"))],
            [(vnet(), CREATE, ())],
            id="what is not in the run is not waited for",
        ),
        pytest.param(
            [make_result(vnet(), DELETE, rg()), make_result(rg(), DELETE)],
            [(vnet(), DELETE, ()), (rg(), DELETE, (vnet(),))],
            id="deletes go the other way",
        ),
        pytest.param(
            [make_result(subnet(), DELETE), make_result(vnet(), DELETE)],
            [(vnet(), DELETE, (subnet(),)), (subnet(), DELETE, ())],
            id="what is below goes first",
        ),
        pytest.param(
            [make_result(vnet(), DELETE, rg(), deleted_with=rg()), make_result(rg(), DELETE)],
            [(rg(), DELETE, ())],
            id="what goes with its group is no delete of its own",
        ),
        pytest.param(
            [
                make_result(vnet(), REPLACE, replacement=Replacement(reason="It must.", takes=(subnet(),))),
                make_result(subnet(), NONE, vnet()),
                make_result(vnet("spoke"), UPDATE, subnet()),
            ],
            [
                (vnet(), REPLACE, ()),
                (vnet("spoke"), UPDATE, (subnet(),)),
                (subnet(), REPLACE, (vnet(),)),
                (vnet(), DELETE, (subnet(),)),
                (subnet(), DELETE, ()),
            ],
            id="a replaced resource is deleted and created, with all that is below it",
        ),
    ],
)
def test_what_is_written_after_what(results: list[Result], writes: list[tuple[Key, Action, tuple[Key, ...]]]):
    assert read(make_writes(results, {}, {})) == writes
    assert read(make_writes(reversed(results), {}, {})) == writes


VNETS = "microsoft.network/virtualnetworks"
TYPICAL = {VNETS: TypicalDuration(create=11, delete=13)}


@pytest.mark.parametrize(
    ("action", "durations", "expected"),
    [
        pytest.param(CREATE, Durations(create=5), (5, Estimate.RECORD), id="the last create"),
        pytest.param(UPDATE, Durations(create=5, update=7), (7, Estimate.RECORD), id="the last update"),
        pytest.param(CREATE, Durations(update=7), (11, Estimate.TYPE), id="an update says nothing of a create"),
        pytest.param(UPDATE, Durations(create=5), (DEFAULT_SECONDS, Estimate.DEFAULT), id="nor a create of an update"),
        pytest.param(DELETE, Durations(5, 7), (13, Estimate.TYPE), id="a delete is that of the type"),
    ],
)
def test_how_long_a_write_takes(action: Action, durations: Durations, expected: tuple[float, Estimate]):
    records: dict[Key, Record] = {vnet(): record(vnet(), HUB, durations=durations)}

    (write,) = make_writes([make_result(vnet(), action)], records, TYPICAL)

    assert (write.seconds, write.estimate) == expected


@pytest.mark.parametrize(
    ("action", "durations", "typical", "expected"),
    [
        (CREATE, Durations(), TypicalDuration(published=600), (600, Estimate.PUBLISHED)),
        (CREATE, Durations(), TypicalDuration(create=11, published=600), (11, Estimate.TYPE)),
        (CREATE, Durations(create=90), TypicalDuration(published=600), (90, Estimate.RECORD)),
        (CREATE, Durations(create=1), TypicalDuration(published=600), (600, Estimate.PUBLISHED)),
        (REPLACE, Durations(create=1), TypicalDuration(published=600), (600, Estimate.PUBLISHED)),
        (UPDATE, Durations(update=1), TypicalDuration(published=600), (1, Estimate.RECORD)),
        (DELETE, Durations(), TypicalDuration(published=600), (DEFAULT_SECONDS, Estimate.DEFAULT)),
    ],
    ids=[
        "a published figure stands in for a recording",
        "a recording counts first",
        "and so does a record, as long as Azure could be that fast",
        "a record that only an emulator can have made does not",
        "nor for the create of a replacement",
        "the figure is that of a create, and says nothing of an update",
        "nor of a delete",
    ],
)
def test_a_slow_type(action: Action, durations: Durations, typical: TypicalDuration, expected: tuple[float, Estimate]):
    records: dict[Key, Record] = {vnet(): record(vnet(), HUB, durations=durations)}

    write, *_ = make_writes([make_result(vnet(), action)], records, {VNETS: typical})

    assert (write.seconds, write.estimate) == expected


def test_both_halves_of_a_replacement_have_their_own_duration():
    records = {vnet(): record(vnet(), HUB, durations=Durations(create=5, update=7))}

    created, deleted = make_writes([make_result(vnet(), REPLACE)], records, TYPICAL)

    assert (created.seconds, deleted.seconds) == (5, 13)


@pytest.mark.parametrize(
    ("left", "right", "is_shared"),
    [
        pytest.param(subnet(), subnet("two"), True, id="subnets of one network"),
        pytest.param(vnet(), vnet("spoke"), False, id="two networks"),
    ],
)
def test_which_writes_have_a_lock_in_common(left: Key, right: Key, is_shared: bool):
    one, other = make_writes([make_result(left, CREATE), make_result(right, CREATE)], {}, {})

    assert (one.lock == other.lock) is is_shared


def test_an_unknown_id_is_that_on_record_or_none():
    (recorded,) = make_writes([result(vnet(), action=CREATE)], {vnet(): record(vnet(), HUB)}, TYPICAL)
    (unknown,) = make_writes([result(vnet(), action=CREATE)], {}, TYPICAL)

    assert (recorded.lock, recorded.seconds) == (HUB.casefold(), 11)
    assert (unknown.lock, unknown.estimate) == ("", Estimate.DEFAULT)

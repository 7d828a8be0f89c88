"""A rehearsed sync that is killed after each of its writes: the next one ends as if nothing had happened."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.rehearsal import Interrupt
from gitsync.workflows.rehearsal.interrupts import MOST, choose
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World
from tests.workflows.rehearsal.pieces import PIECES, document, make_world, rehearse_world

CHOICES = [
    pytest.param(0, [], id="no writes, no kills"),
    pytest.param(3, [1, 2, 3], id="after each of a few"),
    pytest.param(MOST, list(range(1, MOST + 1)), id="after each of as many as are killed"),
]


@pytest.mark.parametrize(("writes", "expected"), CHOICES)
def test_which_writes_are_the_last(writes, expected):
    assert choose(writes) == expected


def test_of_many_writes_an_even_sample_is_taken():
    chosen = choose(1000)
    assert (len(chosen), len(set(chosen)), chosen[0], chosen[-1]) == (MOST, MOST, 1, 1000)
    gaps = {after - before for before, after in pairwise(chosen)}
    assert max(gaps) - min(gaps) == 1


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def script(world: World, text: str) -> str:
    file = world.folder.parent / "faults.yaml"
    file.write_text(text)
    return str(file)


TIMINGS = [
    pytest.param("{style: done}", id="done at once"),
    pytest.param("{polls: 1}", id="as recorded, with a poll"),
    pytest.param("{style: accepted, polls: 2}", id="accepted, and not shown before the end"),
]


ESTATES = [
    pytest.param(("a", "rules", "ssh", "hub", "one", "two"), id="a network, one part of which refers to another"),
    pytest.param(("a", "lake", "service", "blobs"), id="children of children, and a Secret that is exported"),
    pytest.param(("b", "robot", "server"), id="an exported config map, and a secret of a vault"),
]
"""A kill after each write costs the square of the writes, so what has nothing to do with each other is apart."""


def test_all_pieces_are_in_an_estate():
    assert {name for estate in ESTATES for name in estate.values[0]} == PIECES.keys()


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("estate", ESTATES)
def test_an_estate_from_nothing_survives_each_kill(estate, timing, world):
    world.says(**{name: document(name, 0) for name in estate})
    text = f"settings: {{operations: {timing}, throttle: off}}\n"
    rehearsal = rehearse_world(world, interrupts=True, emulator_script=script(world, text))
    assert len(rehearsal.writes) == len(estate)
    assert [interrupt.number for interrupt in rehearsal.interrupts] == list(range(1, len(estate) + 1))
    assert {interrupt.arm_id for interrupt in rehearsal.interrupts} == {write.arm_id for write in rehearsal.writes}
    assert [interrupt for interrupt in rehearsal.interrupts if not interrupt.is_fine] == []
    assert rehearsal.exit_code == 0


@pytest.mark.parametrize("estate", ESTATES)
def test_a_commit_of_creates_updates_and_deletes_survives_each_kill(estate, world):
    before = {name: document(name, 0) for name in estate if name not in {"two", "blobs"}}
    world.says(**before).sync()
    after = {name: document(name, 1) for name in estate if name not in {"one", "ssh"}}
    rehearsal = rehearse_world(world.says(**after), interrupts=True, prune=True, max_deletes=9)
    changed = {name for name in after if document(name, 1) != before.get(name)}
    assert Counter(write.method for write in rehearsal.writes) == Counter(
        PUT=len(changed), DELETE=len(before.keys() - after.keys())
    )
    assert len(rehearsal.interrupts) == len(rehearsal.writes)
    assert [interrupt for interrupt in rehearsal.interrupts if not interrupt.is_fine] == []


def test_without_writes_nothing_is_killed(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP)
    assert rehearse_world(world, interrupts=True).interrupts == ()


def test_what_the_next_sync_cannot_repair_is_a_finding(world):
    """Azure refuses the second PUT of the network, which only comes after a kill."""
    text = (
        "settings: {operations: {style: accepted}, throttle: off}\n"
        "rules:\n- match: {method: PUT, type: '*/virtualNetworks', after: 1}\n  answer: {code: RequestDisallowedByPolicy}\n"
    )
    world.says(group=GROUP, vnet=VNET, subnet=SUBNET)
    rehearsal = rehearse_world(world, interrupts=True, emulator_script=script(world, text))
    assert rehearsal.first.exit_code == 0
    found = {interrupt.arm_id: interrupt for interrupt in rehearsal.interrupts}
    assert (found[GROUP_ID].is_fine, found[VNET_ID].is_fine, rehearsal.exit_code) == (True, False, 1)
    refused, lost, *records = found[VNET_ID].differences
    assert refused.startswith("VirtualNetwork.network.azure.com/default/hub is not ready after the next sync: ")
    assert "VirtualNetworksSubnet.network.azure.com/default/one is missing in Azure." in found[VNET_ID].differences, (
        lost
    )
    assert "The record of VirtualNetwork.network.azure.com/default/hub differs in claim, " in " ".join(records)


def test_a_create_that_is_sent_twice_is_a_finding(world):
    """Azure does not show what it has created, and answered with 201."""
    text = (
        "settings: {operations: {style: done}, throttle: off}\n"
        "rules:\n- match: {method: PUT, type: '*/virtualNetworks', times: 1}\n  hide: 1\n"
    )
    world.says(group=GROUP, vnet=VNET)
    rehearsal = rehearse_world(world, interrupts=True, emulator_script=script(world, text))
    twice = [interrupt for interrupt in rehearsal.interrupts if interrupt.sent_twice]
    assert twice == [Interrupt(number=2, arm_id=ArmId(VNET_ID), sent_twice=(VNET_ID.casefold(),))]
    assert rehearsal.exit_code == 1

"""Values of expressions in a rehearsal, which lacks what only Azure has."""

from __future__ import annotations

import pytest

from gitsync.emulator.faults import Move
from gitsync.model.rehearsal import Blank
from gitsync.model.verdict import Action
from tests.agent.run.test_knowledge_of_values import ACCOUNT_ID, ADDRESS, EGRESS, EGRESS_ID, IP, PROD, STAGED, setting
from tests.support.world import ACCOUNT, GROUP, World
from tests.workflows.rehearsal.test_rehearse import find, rehearse_world, writes

ADDRESSED = setting(ACCOUNT, f"spec.tags.ip: {ADDRESS}")
DYNAMIC = IP.replace("Static", "Dynamic")


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def test_what_azure_gave_before_is_unchanged(world):
    world.says(group=GROUP, ip=IP, account=ADDRESSED).sync()
    world.somebody_moves(EGRESS, Move(show={"/properties/ipAddress": "20.9.8.7"}))
    world.sync()
    rehearsal = rehearse_world(world)
    assert (writes(rehearsal), rehearsal.exit_code, find(rehearsal, Blank.VALUES)) == ([], 0, None)


def test_what_git_changes_flows(world):
    world.says(group=GROUP, ip=IP, account=STAGED).sync()
    rehearsal = rehearse_world(world.says(group=GROUP, ip=PROD, account=STAGED))
    assert writes(rehearsal) == [("PUT", EGRESS_ID), ("PUT", ACCOUNT_ID)]
    assert (rehearsal.exit_code, find(rehearsal, Blank.VALUES)) == (0, None)
    assert {result.action for result in rehearsal.second.results} == {Action.NONE}


def test_what_only_azure_has_is_made_up(world):
    """The emulator gives no dynamic address."""
    rehearsal = rehearse_world(world.says(group=GROUP, ip=DYNAMIC, account=ADDRESSED))
    assert rehearsal.exit_code == 0
    found = find(rehearsal, Blank.VALUES)
    assert (found.count, found.names) == (1, ("spec.tags.ip",))
    assert found.sentence == "1 value of expressions is made up: only Azure has what a resource shows after its create."
    assert {result.action for result in rehearsal.second.results} == {Action.NONE}


TYPES = [
    ("a text", "spec.tags.x", '.status.ipAddress + "!"'),
    ("a number", "spec.tags.x", ".status.publicIPPrefix.id.size() > 3 ? 'a' : 'b'"),
    ("a boolean", "spec.allowBlobPublicAccess", ".status.ipAddress == '198.51.100.7'"),
]


@pytest.mark.parametrize(("why", "field", "path"), TYPES, ids=[row[0] for row in TYPES])
def test_a_made_up_value_has_the_type_of_the_expression(world, why, field, path):
    expression = f'resource("PublicIPAddress/egress"){path}'.replace("'", "''")
    rehearsal = rehearse_world(
        world.says(group=GROUP, ip=DYNAMIC, account=setting(ACCOUNT, f"{field}: '{expression}'"))
    )
    assert (rehearsal.exit_code, find(rehearsal, Blank.VALUES).names) == (0, (field,)), why

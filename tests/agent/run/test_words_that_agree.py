"""What the headline, the counts, the conditions and the status say of one run does not contradict itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import text
from gitsync.report.headline import format_headline
from gitsync.report.records import describe_last_run
from gitsync.report.wording import format_found
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.fault_rules import rules
from tests.support.world import GROUP, SUBNET, VNET, World, of

PUT = "match: {method: PUT, type: Microsoft.Network/virtualNetworks}"
LARGER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def said_by_status(world: World) -> str:
    with StatusFolder(world.state) as store:
        store.load()
        last_run = store.read_last_run()
    assert last_run is not None
    return describe_last_run(last_run, ["gitsync"], world.clock.now() + timedelta(seconds=2))[0]


def test_a_sync_of_a_new_commit_that_changes_nothing_is_not_a_run_that_changed_something(world):
    world.synced(group=GROUP, vnet=VNET)
    assert said_by_status(world).startswith("Last run that changed something: sync of ")
    world.says(group=GROUP, moved=VNET)
    assert format_headline(world.sync()) == "Nothing changed"
    assert said_by_status(world).startswith("Last run on record: sync of ")
    assert "nothing changed; exit code 0." in said_by_status(world)


FAULTS = [
    ("answer: {status: 400, code: Broken, message: It broke.}", "Azure refused the write"),
    ("drop: before", "the write got no answer"),
]


@pytest.mark.parametrize(("fault", "why"), FAULTS, ids=[row[-1] for row in FAULTS])
def test_a_failure_of_the_last_run_is_not_said_of_what_git_has_reverted(world, fault, why):
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(limits=None, rules=rules(f"{{{PUT}, {fault}}}"))
    world.says(group=GROUP, vnet=LARGER).sync(resource_timeout=60)
    planned = of(world.says(group=GROUP, vnet=VNET).plan(), "VirtualNetwork")
    assert (planned.verdict, planned.outcome) == (Verdict.IN_SYNC, Outcome.UNCHANGED), why
    assert (planned.condition.reason, planned.condition.message) == ("Planned", ""), why
    assert "Last run" not in text.render(world.plan())


def test_what_could_not_be_read_then_and_can_now_is_fine(world):
    world.synced(group=GROUP, vnet=VNET)
    rule = "{match: {method: GET, path: '*/virtualNetworks*'}, answer: {status: 403, code: AuthorizationFailed}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(rule))
    assert of(world.sync(), "VirtualNetwork").outcome is Outcome.FAILED
    world.settings = EmulatorSettings(limits=None)
    assert of(world.plan(), "VirtualNetwork").message == ""


def test_a_failure_that_a_plan_does_not_look_at_again_is_still_said(world):
    from gitsync.extensions.api import Extension, failure
    from gitsync.extensions.registry import BUILT_IN

    async def refuses(about, azure, next):
        return failure("Wants approval.")

    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetwork", post_check=refuses))
    world.says(group=GROUP, vnet=VNET).sync(resource_timeout=5)
    assert of(world.plan(), "VirtualNetwork").message == "Last run: Wants approval."


def test_what_was_removed_from_git_and_stays_is_not_a_delete(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    world.says(group=GROUP, vnet=VNET)
    for report in (world.plan(), world.sync()):
        assert "hange" in format_headline(report)
        assert "delete" not in format_found(report)
        assert "1 removed from git" in format_found(report)
    assert "1 delete" in format_found(world.plan(prune=True))


@pytest.mark.parametrize("made", ["in the portal", "by a failed sync"])
def test_git_that_follows_azure_finds_no_drift(world, made):
    world.synced(group=GROUP, vnet=VNET)
    world.says(group=GROUP, vnet=LARGER).sync()
    if made == "in the portal":
        vnet = of(world.plan(), "VirtualNetwork").key
        world.somebody_changes(vnet, {"/properties/addressSpace/addressPrefixes": ["10.0.0.0/16"]})
    else:
        operation = "operation: {style: async, result: Failed, error: {code: Broken, message: It broke.}}"
        world.settings = replace(world.settings, rules=rules(f"{{{PUT}, {operation}}}"))
        world.says(group=GROUP, vnet=VNET).sync()
        world.settings = replace(world.settings, rules=())
    planned = world.says(group=GROUP, vnet=VNET).plan()
    assert "drifted" not in format_found(planned)
    assert world.sync().exit_code == 0
    assert of(world.plan(), "VirtualNetwork").action is Action.NONE

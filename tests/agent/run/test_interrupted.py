"""What a run that a person or a scheduler stopped reports of what it was doing: `Interrupted`, unless it had an end."""

from __future__ import annotations

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.extensions.api import Extension, failure, success
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.condition import ConditionStatus
from gitsync.model.record import Claim
from gitsync.model.result import Outcome
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.fake_clock import FakeClock
from tests.support.fault_rules import rules
from tests.support.world import GROUP, SUBNET, VNET, World, of

PUT = "match: {method: PUT, type: Microsoft.Network/virtualNetworks}"


class StopsAt(FakeClock):
    """A clock that has the run stopped in its first sleep of that length or more."""

    def __init__(self, world: World, least: float) -> None:
        super().__init__()
        self.world, self.least = world, least

    async def sleep(self, seconds: float) -> None:
        if seconds >= self.least and not self.world.stop.is_set():
            self.world.stop.set()
            await super().sleep(0)
            return
        await super().sleep(seconds)


@pytest.mark.parametrize(
    ("rule", "least", "reason", "message", "why"),
    [
        (
            f"{{{PUT}, operation: {{style: async, seconds: 600}}}}",
            1,
            "Interrupted",
            "The run was stopped while Azure works on it.",
            "the operation goes on in Azure",
        ),
        (
            f"{{{PUT}, answer: {{status: 429, code: TooManyRequests, message: Slowly., headers: {{Retry-After: 64}}}}}}",
            60,
            "Interrupted",
            (
                "The run was stopped before Azure responded to the request to send {id}. "
                "Last error: 429 TooManyRequests: Slowly."
            ),
            "it waited for its next try",
        ),
        (
            f"{{{PUT}, answer: {{status: 409, code: AnotherOperationInProgress, message: Busy.}}}}",
            4,
            "Interrupted",
            "The run was stopped before another try. Last error: AnotherOperationInProgress: Busy.",
            "it would have been tried again",
        ),
        (
            f"{{{PUT}, answer: {{status: 400, code: Broken, message: It broke.}}}}",
            1e9,
            "Broken",
            "It broke.",
            "it ended",
        ),
    ],
)
def test_what_was_under_way(tmp_path, rule, least, reason, message, why):
    world = World(tmp_path)
    world.clock = StopsAt(world, least)
    world.settings = EmulatorSettings(limits=None, rules=rules(rule))
    report = world.says(group=GROUP, vnet=VNET).sync()
    found = of(report, "VirtualNetwork")
    assert (found.condition.reason, found.condition.message) == (reason, message.format(id=found.arm_id)), why
    assert found.outcome is (Outcome.BLOCKED if reason == "Interrupted" else Outcome.FAILED), why
    assert report.exit_code == 1
    assert found.record is not None
    assert found.record.condition is not None
    assert (found.record.condition.reason, found.record.condition.status) == (reason, ConditionStatus.FALSE), why
    world.clock.least = 1e9
    world.settings = EmulatorSettings(limits=None)
    world.clock.elapsed += 600
    assert world.sync().exit_code == 0, "the next run goes on"


def test_the_time_of_a_resource_is_not_an_interruption(tmp_path):
    world = World(tmp_path)
    world.settings = EmulatorSettings(limits=None, rules=rules(f"{{{PUT}, operation: {{style: async, seconds: 600}}}}"))
    found = of(world.says(group=GROUP, vnet=VNET).sync(resource_timeout=30.0), "VirtualNetwork")
    assert found.condition.reason == "Reconciling"


@pytest.mark.parametrize(("agrees", "reason"), [(True, "Succeeded"), (False, "Interrupted")])
def test_what_ends_in_the_seconds_after_the_stop_has_its_own_end(tmp_path, agrees, reason):
    world = World(tmp_path)

    async def stops(about, azure, next):
        world.stop.set()
        await world.clock.sleep(0)
        return success() if agrees else failure("Wants approval.")

    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetwork", post_check=stops))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync()
    assert of(report, "VirtualNetwork").condition.reason == reason
    assert of(report, "VirtualNetworksSubnet").condition.reason == "NotReached"


def test_what_was_not_reached_is_on_record_and_reports_it(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync()
    world.clock = StopsAt(world, 1)
    world.settings = EmulatorSettings(limits=None, rules=rules(f"{{{PUT}, operation: {{style: async, seconds: 600}}}}"))
    changed = VNET.replace("10.0.0.0/16", "10.0.0.0/15"), SUBNET.replace("10.0.0.0/24", "10.0.2.0/24")
    new = SUBNET.replace("name: one", "name: two").replace("10.0.0.0/24", "10.0.3.0/24")
    stopped = world.says(group=GROUP, vnet=changed[0], subnet=changed[1], new=new).sync()
    assert of(stopped, "VirtualNetwork").condition.reason == "Interrupted"
    with StatusFolder(world.state) as store:
        records = {key.name: record for key, record in store.load().records.items()}
        last_run = store.read_last_run()
    one, two = records["one"], records["two"]
    assert (one.condition.reason, one.spec.generation, one.claim) == ("NotReached", 2, Claim.CREATED), "git changed it"
    assert (two.condition.reason, two.spec.generation, two.claim) == ("NotReached", 1, Claim.NONE), "it claims nothing"
    assert [key.name for key in last_run.not_reached] == ["one", "two"]
    assert (last_run.command, last_run.exit_code, last_run.revision) == ("sync", 1, world.git("rev-parse", "HEAD"))
    world.settings, world.clock.least = EmulatorSettings(limits=None), 1e9
    world.clock.elapsed += 600
    done = world.sync()
    assert (done.exit_code, of(done, "VirtualNetworksSubnet", "two").record.claim) == (0, Claim.CREATED)


def test_what_was_not_reached_and_is_removed_from_git_is_forgotten_and_not_deleted(tmp_path):
    world = World(tmp_path)
    world.clock = StopsAt(world, 1)
    world.settings = EmulatorSettings(limits=None, rules=rules(f"{{{PUT}, operation: {{style: async, seconds: 600}}}}"))
    world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync()
    world.settings, world.clock.least = EmulatorSettings(limits=None), 1e9
    world.clock.elapsed += 600
    report = world.says(group=GROUP, vnet=VNET).sync(prune=True)
    assert (report.exit_code, world.sent("DELETE")) == (0, [])
    with StatusFolder(world.state) as store:
        assert {key.kind for key in store.load().records} == {"ResourceGroup", "VirtualNetwork"}

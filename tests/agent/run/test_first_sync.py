"""The target of a run, the check before the first sync of one, and what the log reports of a run."""

from __future__ import annotations

import io
import json

import pytest
from loguru import logger

from gitsync.agent.run.guards import ChangeCounts
from gitsync.errors import DeclinedError
from gitsync.model.result import Outcome
from gitsync.settings.logging import set_up
from tests.support.fault_rules import rules
from tests.support.world import GROUP, SUBNET, SUBSCRIPTION, VNET, World, of


class Answer:
    """A person who gives one answer, and remembers what was requested."""

    def __init__(self, yes: bool) -> None:
        self.yes = yes
        self.requested = []

    def __call__(self, target, counts):
        self.requested.append((target, counts))
        return self.yes


@pytest.fixture
def world(tmp_path):
    return World(tmp_path).says(group=GROUP, network=VNET, subnet=SUBNET)


@pytest.fixture
def log():
    """The JSON lines that a run logs at DEBUG."""
    stream = io.StringIO()
    set_up(level="debug", form="json", colour=False, mask=str, stream=lambda: stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.remove()
    logger.disable("gitsync")


def test_no_ends_the_run_with_nothing_written(world):
    world.confirm, world.is_local = Answer(yes=False), False
    with pytest.raises(DeclinedError) as refused:
        world.sync()
    assert refused.value.exit_code == 2
    assert world.writes == []
    assert not list(world.state.rglob("*.json"))


def test_yes_goes_on_and_is_not_asked_again(world):
    world.confirm, world.is_local = Answer(yes=True), False
    report = world.sync()
    assert {result.outcome for result in report.results} == {Outcome.CHANGED}
    ((target, counts),) = world.confirm.requested
    assert counts == ChangeCounts(creates=3, updates=0, deletes=0, hindered=0)
    assert (target.subscription, target.agent) == (SUBSCRIPTION, "gitsync")
    world.sync()
    assert len(world.confirm.requested) == 1, "something is recorded now"


def test_the_counts_are_those_that_azure_has(world):
    """What exists already is adopted: this is what reports a wrong subscription."""
    world.sync()
    world.state = world.state.with_name("another")
    world.confirm, world.is_local = Answer(yes=False), False
    with pytest.raises(DeclinedError):
        world.sync()
    assert world.confirm.requested[0][1] == ChangeCounts(creates=0, updates=3, deletes=0, hindered=0)


@pytest.mark.parametrize(("writes", "is_local", "why"), [(False, False, "a plan"), (True, True, "an emulator")])
def test_no_one_is_prompted(world, writes, is_local, why):
    world.confirm, world.is_local = Answer(yes=False), is_local
    (world.sync if writes else world.plan)()
    assert world.confirm.requested == [], why


def test_the_name_of_the_subscription_is_read_once(world):
    world.is_local = False
    report = world.sync()
    assert report.target.subscription_name == f"Emulated subscription {SUBSCRIPTION}"
    assert world.sent("GET").count(f"/subscriptions/{SUBSCRIPTION}") == 1


def test_a_name_that_may_not_be_read_is_not_an_error(tmp_path):
    fault = rules(
        f"{{match: {{method: GET, path: '/subscriptions/{SUBSCRIPTION}'}}, answer: {{code: Busy, status: 503}}}}"
    )
    world = World(tmp_path, rules=fault).says(group=GROUP)
    world.is_local = False
    report = world.sync()
    assert (report.exit_code, report.target.subscription_name) == (0, "")
    assert world.sent("GET").count(f"/subscriptions/{SUBSCRIPTION}") == 1, "it is not asked again"


def test_the_log_reports_what_the_run_did(world, log):
    world.sync()
    lines = log()
    told = [line["message"] for line in lines if line["level"] == "info"]
    assert told == ["Run started", *["Resource changed"] * 3]
    assert (lines[0]["subscription"], lines[0]["agent"]) == (SUBSCRIPTION, "gitsync")


def test_the_log_has_each_request_and_stage(world, log):
    world.sync()
    lines = [line for line in log() if line["level"] == "debug"]
    sent = [line for line in lines if line["message"] == "Request to Azure"]
    assert len(sent) == len(world.requests)
    put = next(line for line in sent if line["method"] == "PUT")
    assert {"method", "path", "status", "milliseconds", "request_id", "attempt"} <= put.keys()
    assert not [line for line in sent if "?" in line["path"]], "a query may be signed"
    assert {line["stage"] for line in lines if "stage" in line} >= {"policy", "observe", "act", "poll"}


def test_a_failed_resource_and_its_victims(tmp_path, log):
    fault = rules("{match: {method: PUT, type: microsoft.network/virtualnetworks}, answer: {code: Odd, status: 400}}")
    world = World(tmp_path, rules=fault).says(group=GROUP, network=VNET, subnet=SUBNET)
    report = world.sync()
    network, subnet = of(report, "VirtualNetwork"), of(report, "VirtualNetworksSubnet")
    assert (network.outcome, subnet.outcome) == (Outcome.FAILED, Outcome.BLOCKED)
    assert subnet.ending.blocked_by == network.key
    (line,) = [line for line in log() if line["message"] == "Resource failed"]
    assert (line["resource"], line["reason"]) == (str(network.key), "Odd")

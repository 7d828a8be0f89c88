"""Refusals because of something else going on: waited for in the run, read again before they are sent again."""

from __future__ import annotations

from itertools import chain, pairwise

from gitsync.emulator.settings import EmulatorSettings
from gitsync.planning.status.advice import find_condition_advice
from tests.support.fault_rules import rules
from tests.support.world import GROUP, VNET, World, of

CHANGED = VNET.replace("10.0.0.0/16", "10.1.0.0/16")


def refusing(method, status, code, message, times=1, about="type: Microsoft.Network/virtualNetworks"):
    match = f"{{method: {method}, {about}, times: {times}}}"
    return rules(f'{{match: {match}, answer: {{status: {status}, code: {code}, message: "{message}"}}}}')


def refused_world(path, *refusal, **more):
    world = World(path)
    world.synced(group=GROUP, net=VNET)
    world.settings = EmulatorSettings(limits=None, rules=refusing(*refusal, **more))
    return world


PASSING = [
    (409, "EtagMismatch", "Operation is not allowed: Another operation is in progress"),
    (409, "OperationNotAllowed", "Another operation (Updating) is in progress."),
    (409, "SomethingNew", "Writes of this kind are not supported concurrently: it is being updated."),
    (412, "PreconditionFailed", "There is another user operation in progress which requires an exclusive lock."),
    (423, "Locked", "The server is busy."),
]


def test_it_is_read_and_sent_again(tmp_path):
    """The network of each row is refused in its own way."""
    names = [f"hub{row}" for row in range(len(PASSING))]
    world = World(tmp_path)
    world.synced(group=GROUP, **{name: VNET.replace("hub", name) for name in names})
    refusals = (
        refusing("PUT", *row, times=3, about=f"path: '*/{name}'") for name, row in zip(names, PASSING, strict=True)
    )
    world.settings = EmulatorSettings(limits=None, rules=tuple(chain(*refusals)))
    report = world.says(group=GROUP, **{name: CHANGED.replace("hub", name) for name in names}).sync()
    assert report.exit_code == 0
    for name, row in zip(names, PASSING, strict=True):
        requests = [request for request in world.requests if request.path.endswith(f"/{name}")]
        requested = [request.method for request in requests if request.method in {"GET", "PUT"}]
        puts = [at for at, method in enumerate(requested) if method == "PUT"]
        assert len(puts) == 4, row
        assert all("GET" in requested[first:second] for first, second in pairwise(puts)), row


def test_what_lasts_keeps_the_azure_answer_and_has_advice(tmp_path):
    world = refused_world(tmp_path, "PUT", 409, "OperationNotAllowed", "Another operation is in progress.", times=9999)
    report = world.says(group=GROUP, net=CHANGED).sync(resource_timeout=600)
    net = of(report, "VirtualNetwork")
    assert (net.condition.reason, net.condition.message) == ("OperationNotAllowed", "Another operation is in progress.")
    assert "activity log" in find_condition_advice(net.condition, net.arm_id)
    assert world.clock.elapsed > 500


def test_what_stays_is_sent_once(tmp_path):
    world = refused_world(tmp_path, "PUT", 409, "OperationNotAllowed", "It exceeds the approved quota.", times=9999)
    net = of(world.says(group=GROUP, net=CHANGED).sync(), "VirtualNetwork")
    assert len(world.sent("PUT")) == 1
    assert "quota" in find_condition_advice(net.condition, net.arm_id)


def test_a_delete_waits_too(tmp_path):
    world = refused_world(
        tmp_path, "DELETE", 409, "InUse", "A concurrent update of the network is in progress.", times=2
    )
    report = world.says(group=GROUP).sync(prune=True)
    assert report.exit_code == 0
    assert len(world.sent("DELETE")) == 3


def test_an_operation_that_fails_so_is_sent_again(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, net=VNET)
    error = "{code: CanceledAndSupersededDueToAnotherOperation, message: It was superseded.}"
    match = "{method: PUT, type: Microsoft.Network/virtualNetworks, times: 1}"
    failing = rules(f"{{match: {match}, operation: {{style: async, result: Failed, error: {error}}}}}")
    world.settings = EmulatorSettings(limits=None, rules=failing)
    assert world.says(group=GROUP, net=CHANGED).sync().exit_code == 0
    assert len(world.sent("PUT")) == 2

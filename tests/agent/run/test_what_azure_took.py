"""Whatever Azure took of a run is reported: in the headline, the results and the status, also after a stop, an answer
was lost, or Azure refused the next step. The next run recovers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gitsync.emulator.settings import Timing
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.verdict import Action, Written
from gitsync.report import json as report_json
from gitsync.report import summary, text
from gitsync.report.headline import format_headline
from gitsync.report.records import list_operations
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.fault_rules import rules
from tests.support.hypothesis_profile import sample
from tests.support.json_schemas import list_faults
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, KilledError, World, annotated, of

PRUNING = {"prune": True, "max_deletes": 40}
SUBNET_ID = f"{VNET_ID}/subnets/one"
NETWORKS = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks"
AGREED = annotated(VNET.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})


def network(name: str, prefix: str = "10.1.0.0/16", owner: str = "core") -> str:
    text = VNET.replace("name: hub", f"name: {name}").replace("10.0.0.0/16", prefix)
    return text.replace("name: core", f"name: {owner}")


DOOMED = GROUP.replace("name: core", "name: doomed")


@pytest.fixture(scope="module")
def before(tmp_path_factory) -> World:
    """A commit that creates, updates, deletes, deletes a group with its content, and replaces a network with a subnet."""
    world = World(tmp_path_factory.mktemp("before"), operations=Timing(polls=1))
    same = {"group": GROUP, "subnet": SUBNET}
    inside = network("inside", owner="doomed")
    report = world.says(
        **same, network=VNET, spoke=network("spoke"), old=network("old"), doomed=DOOMED, inside=inside
    ).sync()
    assert report.exit_code == 0
    return world.says(**same, network=AGREED, spoke=network("spoke", "10.1.0.0/15"), new=network("new"))


@pytest.fixture(scope="module")
def undisturbed(before, tmp_path_factory) -> World:
    world = before.copy(tmp_path_factory.mktemp("undisturbed"))
    assert world.sync(**PRUNING).exit_code == 0
    return world


def in_azure(world: World) -> dict[str, Any]:
    return {key: (stored.id, stored.body, stored.state) for key, stored in world.store.below("/")}


def recorded(world: World) -> dict[str, Record]:
    with StatusFolder(world.state) as store:
        return {record.arm_id.casefold(): record for record in store.load().records.values()}


def list_taken(world: World) -> set[str]:
    """The ids in small letters of what Azure took in the last run: it began to work, whether or not anybody heard."""
    return {
        r.path.casefold()
        for r in world.requests
        if r.method in {"PUT", "DELETE"} and r.status in {200, 201, 202, 204, 504}
    }


def check_told(world: World, report: Report, taken: set[str]) -> None:
    """Each write that Azure took is in the results and the headline; no record has Ready for what is not there."""
    headline = format_headline(report)
    assert ("othing changed" in headline) is (not taken), (headline, taken)
    by_id = {result.arm_id.casefold(): result for result in report.results if result.arm_id}
    for arm_id in taken:
        assert by_id[arm_id].action is not Action.NONE or by_id[arm_id].ending.written is not Written.NOTHING, (
            arm_id,
            headline,
        )
    there, records = in_azure(world), recorded(world)
    for arm_id, record in records.items():
        if record.claim.is_ours and record.condition.is_ready:
            assert arm_id in there, f"{arm_id} is Ready on record, and gone"
    for arm_id, result in by_id.items():
        was_deleted = (
            any(arm_id.startswith(prefix) for prefix in taken) and arm_id not in there and arm_id in before_ids(world)
        )
        assert not was_deleted or result.action is Action.DELETE, (arm_id, result.action)
    page = summary.render(records.values(), revision=None)
    replacing = sum(record.is_replacing for record in records.values())
    assert (f"{replacing} being replaced" in page) is (replacing > 0)


def before_ids(world: World) -> set[str]:
    return {
        path.casefold() for path in (VNET_ID, SUBNET_ID, f"{NETWORKS}/old", f"{NETWORKS}/spoke", DOOMED_ID, INSIDE_ID)
    }


DOOMED_ID = GROUP_ID.replace("/core", "/doomed")
INSIDE_ID = f"{DOOMED_ID}/providers/Microsoft.Network/virtualNetworks/inside"


def check_recovery(world: World, undisturbed: World) -> None:
    world.stop_after, world.settings = None, replace(world.settings, rules=())
    report = world.sync(**PRUNING)
    assert report.exit_code == 0, [(str(r.key), r.condition.message) for r in report.results if not r.is_fine]
    assert {k: v[:2] for k, v in in_azure(world).items()} == {k: v[:2] for k, v in in_azure(undisturbed).items()}
    assert not any(record.writes.operation for record in recorded(world).values())


def test_stopped_at_any_request(before, undisturbed, tmp_path):
    for count in sample(range(1, len(undisturbed.requests))):
        folder = tmp_path / str(count)
        folder.mkdir()
        world = before.copy(folder)
        world.stop_after = count
        report = world.sync(**PRUNING)
        assert report.interrupted
        check_told(world, report, list_taken(world))
        check_recovery(world, undisturbed)


FAULTS = {
    "the answer is lost": "drop: after",
    "a gateway has no answer": "timeout: true",
    "Azure refuses it": "answer: {status: 400, code: Broken, message: It broke.}",
    "its operation fails": "operation: {style: async, result: Failed, error: {code: Broken, message: It broke.}}",
    "its operation goes on": "operation: {style: async, seconds: 100000}",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_each_write(before, undisturbed, tmp_path, fault):
    for number, write in enumerate(sample([*dict.fromkeys(undisturbed.writes)])):
        method, _, path = write.partition(" ")
        folder = tmp_path / str(number)
        folder.mkdir()
        world = before.copy(folder)
        rule = f"{{match: {{method: {method}, path: '{path}'}}, {FAULTS[fault]}}}"
        world.settings = replace(world.settings, rules=rules(rule))
        report = world.sync(**PRUNING, resource_timeout=20)
        taken = list_taken(world)
        check_told(world, report, taken)
        world.clock.elapsed += 200_000
        check_recovery(world, undisturbed)


def test_what_a_stopped_replacement_reports(before, tmp_path):
    """A person reads what is gone, why, and what comes next: in the report, the summary and the records."""
    world = before.copy(tmp_path)
    rule = f"{{match: {{method: PUT, path: '{VNET_ID}'}}, answer: {{status: 400, code: Broken, message: It broke.}}}}"
    world.settings = replace(world.settings, rules=rules(rule))
    report = world.sync(**PRUNING)
    hub, one = of(report, "VirtualNetwork", "hub"), of(report, "VirtualNetworksSubnet")
    assert (hub.action, hub.ending.written, one.action, one.ending.written) == (Action.DELETE, Written.DELETED) * 2
    assert hub.condition.message == "It broke. It was deleted to be replaced: the next run creates it."
    assert "deleted 2 to be created again" in format_headline(report)
    assert "It was deleted to be replaced" in text.render(report)
    assert "ReplaceConsentUnused" not in {problem.code for problem in report.problems}
    assert "; 2 being replaced" in (world.state / "SUMMARY.md").read_text().splitlines()[0]
    document = json.loads(report_json.render(report))
    assert list_faults("report", document) == []
    shown = {
        (resource["name"], resource["action"], resource.get("written"))
        for resource in document["resources"]
        if "written" in resource
    }
    assert shown == {("hub", "delete", "deleted"), ("one", "delete", "deleted")}
    world.settings = replace(world.settings, rules=())
    assert world.sync(**PRUNING).exit_code == 0


def test_a_run_that_is_killed_between_delete_and_create_leaves_no_ready(before, undisturbed, tmp_path):
    world = before.copy(tmp_path)
    world.kill_after = [f"{request.method} {request.path}" for request in undisturbed.requests].index(
        f"DELETE {VNET_ID}"
    ) + 1
    with pytest.raises(KilledError):
        world.sync(**PRUNING)
    records = recorded(world)
    for arm_id in (VNET_ID, SUBNET_ID):
        record = records[arm_id.casefold()]
        assert (record.condition.reason, record.is_replacing) == ("Replacing", True)
    assert [line.split(",")[0] for line in list_operations(list(records.values()), world.clock.now())] == [
        "2 operations without an end on record:",
        "  replace VirtualNetwork/hub",
        "  replace VirtualNetworksSubnet/one",
    ]


def test_a_plain_sync_that_is_stopped_counts_its_writes(tmp_path):
    world = World(tmp_path, operations=Timing(polls=1))
    world.says(group=GROUP, **{f"n{n}": network(f"n{n}", f"10.{n}.0.0/16") for n in range(1, 6)})
    world.stop_after = 12
    report = world.sync()
    taken = list_taken(world)
    assert len(taken) > 3
    assert "nothing changed" not in format_headline(report)
    told = [
        result
        for result in report.results
        if result.action is not Action.NONE or result.ending.written is not Written.NOTHING
    ]
    assert len(told) == len(taken)

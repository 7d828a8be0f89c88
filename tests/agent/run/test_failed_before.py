"""What a run that failed leaves, and what the next plan reports of it: tried again, and no drift."""

from __future__ import annotations

from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.verdict import Action, Verdict
from gitsync.report.json import build_document
from tests.support.fault_rules import rules
from tests.support.world import GROUP, VNET, VNET_ID, World, of

TYPE = "Microsoft.Network/virtualNetworks"
REFUSED = f"{{match: {{method: PUT, type: {TYPE}}}, answer: {{status: 400, code: Broken, message: It broke.}}}}"
FAILED = (
    f"{{match: {{method: PUT, type: {TYPE}}}, "
    "operation: {style: async, result: Failed, error: {code: Broken, message: It broke.}}}"
)
CHANGED = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
ELSEWHERE = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}


def break_writes(world: World, rule: str) -> None:
    world.settings = EmulatorSettings(limits=None, rules=rules(rule))


def mend(world: World) -> None:
    world.settings = EmulatorSettings(limits=None)


FAILURES = [
    (False, REFUSED, Action.CREATE, [], "Azure refused the create"),
    (False, FAILED, Action.UPDATE, [], "the create was accepted, and its operation failed"),
    (
        True,
        REFUSED,
        Action.UPDATE,
        ["/properties/addressSpace/addressPrefixes"],
        "Azure refused the update: the plan shows what is still to be written",
    ),
    (True, FAILED, Action.UPDATE, [], "the update was accepted, and its operation failed when the value was there"),
]
"""Whether the network was there before; what Azure does; what the next plan shows; why."""


def test_the_next_plan_reports_what_failed_and_since_when(tmp_path):
    """Each row is a network of its own."""
    world = World(tmp_path)
    names = [f"hub{row}" for row in range(len(FAILURES))]
    before = [name for name, (is_there, *_) in zip(names, FAILURES, strict=True) if is_there]
    world.synced(group=GROUP, **{name: VNET.replace("name: hub", f"name: {name}") for name in before})
    own = (
        rule.replace(f"type: {TYPE}", f"path: '*/{name}'") for name, (_, rule, *_) in zip(names, FAILURES, strict=True)
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(*own))
    world.says(group=GROUP, **{name: CHANGED.replace("name: hub", f"name: {name}") for name in names})
    assert world.sync().exit_code == 1
    failed = world.clock.now()
    mend(world)
    report = world.plan(detailed_exitcode=True)
    shown = build_document(report)["resources"]
    done, after = world.sync(), world.plan()
    for name, (_, _, action, paths, why) in zip(names, FAILURES, strict=True):
        found = of(report, "VirtualNetwork", name)
        assert (found.verdict, found.action) == (Verdict.FAILED_BEFORE, action), why
        assert [difference.path for difference in found.differences] == paths, why
        assert found.condition.reason == "Broken", why
        assert found.condition.message == (
            f"Failed since {found.ending.failed_since}; a sync tries again. Last run: Broken: It broke."
        ), why
        assert found.ending.failed_since <= f"{failed:%Y-%m-%dT%H:%M:%SZ}", why
        (own_part,) = (resource for resource in shown if resource["name"] == name)
        assert (own_part["verdict"], own_part["failedSince"]) == ("failed-before", found.ending.failed_since), why
        assert of(done, "VirtualNetwork", name).verdict is Verdict.FAILED_BEFORE, why
        assert of(after, "VirtualNetwork", name).verdict is Verdict.IN_SYNC, "nothing is left of it: " + why
    assert (report.exit_code, done.exit_code) == (3, 0)


def test_a_second_failure_keeps_the_time_of_the_first_and_changes_no_record(tmp_path):
    world = World(tmp_path)
    break_writes(world, REFUSED)
    world.synced(group=GROUP, vnet=VNET)
    first = of(world.plan(), "VirtualNetwork").ending.failed_since
    files = {path: path.read_bytes() for path in world.state.rglob("*.json")}
    report = world.sync()
    assert of(report, "VirtualNetwork").ending.failed_since == first
    assert {path: path.read_bytes() for path in world.state.rglob("*.json")} == files


def test_a_change_in_git_is_not_a_second_try(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    break_writes(world, FAILED)
    world.says(group=GROUP, vnet=CHANGED).sync()
    world.says(group=GROUP, vnet=VNET.replace("10.0.0.0/16", "10.0.0.0/14"))
    found = of(world.plan(), "VirtualNetwork")
    assert found.verdict is Verdict.PENDING, "the failed update left its value: that is no change in Azure"
    world.says(group=GROUP, vnet=VNET)
    found = of(world.plan(), "VirtualNetwork")
    assert (found.verdict, len(found.differences)) == (Verdict.PENDING, 1), "the old value is to be written again"
    mend(world)
    world.sync()
    assert of(world.plan(), "VirtualNetwork").verdict is Verdict.IN_SYNC


def test_drift_of_what_failed_before_is_drift(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.outside("PUT", VNET_ID, ELSEWHERE, "2024-03-01")
    break_writes(world, REFUSED)
    assert of(world.sync(), "VirtualNetwork").verdict is Verdict.DRIFTED
    report = world.plan(detailed_exitcode=True)
    found = of(report, "VirtualNetwork")
    assert (found.verdict, report.exit_code) == (Verdict.DRIFTED, 4), "nothing but a person has changed it"
    assert [(difference.live, difference.desired) for difference in found.differences] == [
        (["10.0.0.0/8"], ["10.0.0.0/16"])
    ]


def test_what_was_deleted_after_an_update_failed_is_missing(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    break_writes(world, REFUSED)
    world.says(group=GROUP, vnet=CHANGED).sync()
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    report = world.plan(detailed_exitcode=True)
    assert (of(report, "VirtualNetwork").verdict, report.exit_code) == (Verdict.MISSING, 4)


def test_a_failure_that_is_not_of_gitsync_is_drift_with_its_reason(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    body = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}
    world.outside("PUT", VNET_ID, body, "2024-03-01", rules=rules(FAILED))
    found = of(world.plan(), "VirtualNetwork")
    assert (found.verdict, found.differences) == (Verdict.DRIFTED, ())
    assert found.condition.message == "Its last operation failed in Azure; gitsync did not start that operation."


def test_a_create_that_met_another_one_of_the_same_resource_is_not_a_failure(tmp_path):
    """A killed run had sent it, and Azure showed nothing yet: the refused one waits, and finds the resource."""
    world = World(tmp_path, operations=Timing(style=Style.ACCEPTED, polls=2))
    world.synced(group=GROUP)
    body = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}
    world.outside("PUT", VNET_ID, body, "2024-03-01", operations=world.settings.operations)
    report = world.says(group=GROUP, vnet=VNET).sync()
    assert [r.status for r in world.requests if r.method == "PUT" and r.path == VNET_ID] == [409]
    assert (report.exit_code, of(report, "VirtualNetwork").record.writes.failure) == (0, None)

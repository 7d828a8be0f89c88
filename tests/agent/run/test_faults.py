"""What Azure does in addition answering 200: whole runs through the faults that it is known for."""

from __future__ import annotations

import asyncio

import pytest

from gitsync.emulator.settings import Denial, EmulatorSettings, ManagementLock, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.extensions.api import Extension, failure, success
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.record import Claim
from gitsync.model.result import Stage
from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World, annotated, of

VNETS = "Microsoft.Network/virtualNetworks"


def made(path, *lines, **settings):
    return World(path, rules=rules(*lines), **settings)


def ready(report) -> bool:
    return all(result.condition.is_ready for result in report.results)


PASSING = [
    ("answer: {code: AnotherOperationInProgress, status: 409}", "AnotherOperationInProgress", "it ends by itself"),
    ("answer: {code: Conflict, status: 409}", "Conflict", "it ends by itself"),
    ("answer: {code: TooManyRequests, status: 429, headers: {Retry-After: 7}}", "", "asked to come back"),
    ("answer: {code: InternalServerError, status: 500}", "InternalServerError", "looked again, and it was not done"),
    ("drop: before", None, "looked again, and it was not done"),
    ("answer: {code: ParentResourceNotFound, status: 404}", "ParentResourceNotFound", "we made the parent just now"),
]
"""What becomes of the first write of a network; the code of the attempt that is reported, "" for none."""


def made_with_networks(path, *outcomes, **settings):
    """A world that declares a network for each of these outcomes of its first write."""
    first = "match: {{method: PUT, path: '*/virtualnetworks/hub{0}', nth: 1}}"
    lines = (f"{{{first.format(number)}, {outcome}}}" for number, outcome in enumerate(outcomes))
    networks = {f"hub{number}": VNET.replace("name: hub", f"name: hub{number}") for number in range(len(outcomes))}
    return made(path, *lines, **settings).says(group=GROUP, **networks)


def test_what_fixes_itself_is_waited_for_and_reported(tmp_path):
    world = made_with_networks(tmp_path, *(line for line, _, _ in PASSING))
    report = world.sync()
    for number, (line, code, why) in enumerate(PASSING):
        found = of(report, "VirtualNetwork", f"hub{number}")
        assert found.condition.is_ready, (line, why)
        assert (found.verdict, found.action, found.record.claim) == (Verdict.CREATE, Action.CREATE, Claim.CREATED)
        assert world.sent("PUT").count(f"{VNET_ID}{number}") == 2, line
        if code is not None:
            assert [attempt.code for attempt in found.attempts] == [code] * bool(code), line
    assert report.requests.throttled == 1


def test_a_write_whose_answer_was_lost_is_not_sent_again_when_it_was_done(tmp_path):
    lines = ("timeout: true", "drop: after")
    world = made_with_networks(tmp_path, *lines)
    report = world.sync()
    for number, line in enumerate(lines):
        found = of(report, "VirtualNetwork", f"hub{number}")
        assert found.condition.is_ready, (line, found.condition)
        assert (found.action, found.record.claim) == (Action.CREATE, Claim.CREATED), line
        assert world.sent("PUT").count(f"{VNET_ID}{number}") == 1, line
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}


def test_a_lost_answer_to_an_update_is_read_before_it_is_sent_again(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(
        limits=None, rules=rules(f"{{match: {{method: PUT, type: {VNETS}, nth: 1}}, drop: after}}")
    )
    found = of(world.says(group=GROUP, vnet=VNET.replace("10.0.0.0/16", "10.0.0.0/15")).sync(), "VirtualNetwork")
    assert (found.action, found.verdict, found.condition.is_ready) == (Action.UPDATE, Verdict.PENDING, True)
    assert world.sent("PUT") == [VNET_ID]


def test_what_is_not_visible_at_once_is_waited_for(tmp_path):
    lines = ("hide: 1", "hide: 3")
    world = made_with_networks(tmp_path, *lines, operations=Timing(polls=0))
    report = world.sync()
    for number, line in enumerate(lines):
        found = of(report, "VirtualNetwork", f"hub{number}")
        assert (found.condition.is_ready, found.record.claim) == (True, Claim.CREATED), (line, found.condition)
        assert world.sent("PUT").count(f"{VNET_ID}{number}") == 1, line


def test_what_cannot_be_read_is_unknown_and_never_absent(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(limits=None, denied=(Denial(action="*virtualNetworks/read"),))
    found = of(world.sync(), "VirtualNetwork")
    assert (found.verdict, found.action, world.writes) == (Verdict.UNKNOWN, Action.NONE, [])
    assert "AuthorizationFailed" in found.condition.message
    assert found.record.claim is Claim.CREATED, "nothing of the record is lost"
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(), "VirtualNetwork").verdict is Verdict.IN_SYNC


def test_a_denied_write_names_the_action_and_is_tried_once(tmp_path):
    world = World(tmp_path, denied=(Denial(action="*virtualNetworks/write"),))
    report = world.says(group=GROUP, vnet=VNET).sync()
    found = of(report, "VirtualNetwork")
    assert found.condition.reason == "AuthorizationFailed"
    assert "Microsoft.Network/virtualNetworks/write" in found.condition.message
    assert world.sent("PUT").count(VNET_ID) == 1
    assert report.exit_code == 1


def test_a_locked_scope_refuses_writes(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP)
    world.settings = EmulatorSettings(limits=None, locks=(ManagementLock(scope=GROUP_ID, read_only=True),))
    found = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork")
    assert (found.condition.reason, found.ending.is_retryable) == ("ScopeLocked", True)


def test_a_provider_is_registered_once_for_all_that_need_it(tmp_path):
    world = World(tmp_path, unregistered=("Microsoft.Network",))
    second = VNET.replace("name: hub", "name: spoke").replace("10.0", "10.1")
    report = world.says(group=GROUP, one=VNET, two=second).sync()
    assert ready(report), [result.condition for result in report.results]
    assert len(world.sent("POST")) == 1


def test_a_provider_is_not_registered_where_that_is_forbidden(tmp_path):
    world = World(tmp_path, unregistered=("Microsoft.Network",))
    found = of(world.says(group=GROUP, vnet=VNET).sync(register_providers=False), "VirtualNetwork")
    assert found.condition.reason == "MissingSubscriptionRegistration"
    assert world.sent("POST") == []


@pytest.mark.parametrize("register_providers", [True, False])
def test_what_a_subscription_is_not_registered_with_is_the_headline(tmp_path, register_providers):
    """The right to register is one way out of two, and no cause."""
    denied = (Denial(action="*register/action"),)
    world = World(tmp_path, unregistered=("Microsoft.Network",), denied=denied)
    second = VNET.replace("name: hub", "name: spoke").replace("10.0", "10.1")
    report = world.says(group=GROUP, one=VNET, two=second).sync(register_providers=register_providers)
    failed = [result for result in report.results if result.key.kind == "VirtualNetwork"]
    assert len(failed) == 2
    for found in failed:
        assert (found.condition.reason, found.ending.is_retryable) == ("MissingSubscriptionRegistration", True)
        command = f"az provider register --namespace Microsoft.Network --subscription {SUBSCRIPTION}"
        assert command in found.condition.advice
        assert f"Microsoft.Network/register/action on /subscriptions/{SUBSCRIPTION}" in found.condition.advice
    assert len(world.sent("POST")) == register_providers


def test_a_registration_that_fails_otherwise_reports_it(tmp_path):
    """Only a refusal of the right is about rights."""
    busy = '{match: {method: POST, path: "*/register"}, answer: {status: 400, code: BadRequest, message: "Not now."}}'
    world = made(tmp_path, busy, unregistered=("Microsoft.Network",))
    found = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork")
    assert found.condition.reason == "BadRequest"
    assert "register/action" not in found.condition.advice


def test_a_plan_registers_nothing_and_writes_nothing(tmp_path):
    world = World(tmp_path, unregistered=("Microsoft.Network",))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).plan(detailed_exitcode=True)
    assert ([result.action for result in report.results], report.exit_code) == ([Action.CREATE] * 3, 3)
    assert world.writes == []
    assert not world.state.exists()


def test_a_parents_write_keeps_its_children(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    world.outside("PUT", f"{VNET_ID}/subnets/by-hand", {"properties": {"addressPrefix": "10.0.9.0/24"}}, "2024-03-01")
    report = world.says(
        group=GROUP, vnet=VNET.replace("10.0.0.0/16]", "10.0.0.0/16, 10.9.0.0/16]"), subnet=SUBNET
    ).sync()
    assert (of(report, "VirtualNetwork").verdict, ready(report)) == (Verdict.PENDING, True)
    subnets = world.read(VNET_ID, "2024-03-01")["properties"]["subnets"]
    assert sorted(subnet["name"] for subnet in subnets) == ["by-hand", "one"]


def test_an_operation_that_outlasts_the_run_is_picked_up_without_a_second_write(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP)
    world.settings = EmulatorSettings(limits=None, operations=Timing(seconds=100, retry_after=20))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync(run_timeout=60.0)
    assert (report.exit_code, of(report, "VirtualNetworksSubnet").verdict) == (1, Verdict.BLOCKED)
    assert of(report, "VirtualNetwork").record.writes.operation is not None
    world.settings = EmulatorSettings(limits=None, operations=Timing(seconds=100, retry_after=20))
    report = world.sync()
    assert world.sent("PUT") == [SUBNET_ID]
    assert ready(report), [result.condition for result in report.results]
    assert of(report, "VirtualNetwork").record.writes.operation is None
    assert [result.verdict for result in world.sync().results] == [Verdict.IN_SYNC] * 3


def test_what_does_not_show_before_its_operation_ends_is_picked_up_too(tmp_path):
    world = made(tmp_path, f"{{match: {{method: PUT, type: {VNETS}}}, operation: {{style: location, seconds: 100}}}}")
    world.says(group=GROUP, vnet=VNET).sync(run_timeout=60.0)
    report = world.sync()
    assert ready(report), of(report, "VirtualNetwork").condition
    assert world.sent("PUT") == []


VNET_BODY = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


def test_nothing_is_sent_to_what_somebody_else_is_changing(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.outside("PUT", VNET_ID, VNET_BODY, "2024-03-01", operations=Timing(style=Style.ASYNC, seconds=300))
    report = world.says(group=GROUP, vnet=VNET.replace("10.0.0.0/16", "10.0.0.0/15")).sync()
    order = [request.method for request in world.requests if request.path == VNET_ID]
    assert ready(report)
    assert order.count("PUT") == 1
    assert order.index("PUT") > 2, "it was looked at until it stood still"


def test_a_failed_resource_is_written_once_a_run(tmp_path):
    failing = rules(
        "{match: {method: PUT}, operation: {style: async, result: Failed, error: {code: Broken, message: It broke.}}}"
    )
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.outside("PUT", VNET_ID, VNET_BODY, "2024-03-01", rules=failing)
    world.settings = EmulatorSettings(limits=None, rules=failing)
    report = world.sync()
    assert world.sent("PUT") == [VNET_ID]
    assert (of(report, "VirtualNetwork").condition.reason, report.exit_code) == ("Broken", 1)
    world.settings = EmulatorSettings(limits=None)
    assert ready(world.sync())
    assert world.sent("PUT") == [VNET_ID]


def test_a_change_behind_gits_back_is_named_and_fixed(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    moved = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}
    world.outside("PUT", VNET_ID, moved, "2024-03-01")
    report = world.plan(detailed_exitcode=True)
    found = of(report, "VirtualNetwork")
    assert (found.verdict, report.exit_code) == (Verdict.DRIFTED, 4)
    assert [(d.path, d.desired, d.live) for d in found.differences] == [
        ("/properties/addressSpace/addressPrefixes", ["10.0.0.0/16"], ["10.0.0.0/8"])
    ]
    assert ready(world.sync())
    assert world.read(VNET_ID, "2024-03-01")["properties"]["addressSpace"]["addressPrefixes"] == ["10.0.0.0/16"]


def test_what_is_gone_is_missing_and_made_again(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    found = of(world.sync(), "VirtualNetwork")
    assert (found.verdict, found.action, found.condition.is_ready) == (Verdict.MISSING, Action.CREATE, True)


def test_an_adoption_may_be_reported_only(tmp_path):
    world = World(tmp_path)
    world.outside("PUT", GROUP_ID, {"location": "northeurope"})
    report = world.says(group=GROUP).sync(adopt="report")
    found = of(report, "ResourceGroup")
    assert (found.verdict, found.condition.reason, found.record.claim) == (Verdict.ADOPT, "NotAdopted", Claim.EXPECTED)
    assert [difference.path for difference in found.differences] == ["/location"]
    assert (world.writes, report.exit_code) == ([], 1)
    assert of(world.says().sync(prune=True), "ResourceGroup").verdict is Verdict.DETACH, "it is not ours"


def test_as_azure_service_operator_does_every_resource_is_written(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    report = world.sync(always_put=True)
    assert world.sent("PUT") == [GROUP_ID, VNET_ID]
    assert ready(report)


def test_a_patch_sends_the_differences_alone(tmp_path):
    world = World(tmp_path)
    document = annotated(VNET, **{"gitsync/update-method": "patch"})
    world.synced(group=GROUP, vnet=document)
    world.synced(group=GROUP, vnet=document.replace("10.0.0.0/16", "10.0.0.0/15"))
    (patch,) = [request for request in world.requests if request.method == "PATCH"]
    assert patch.body == {"properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/15"]}}}


CLUSTER = """\
    apiVersion: kusto.azure.com/v1api20230815
    kind: Cluster
    metadata:
      name: warehouse
    spec:
      location: westeurope
      owner:
        name: core
      sku: {name: Standard_D11_v2, tier: Standard, capacity: 2}
    """
DATABASE = """\
    apiVersion: kusto.azure.com/v1api20230815
    kind: Database
    metadata:
      name: orders
    spec:
      owner:
        name: warehouse
      readWriteDatabase:
        kind: ReadWrite
        location: westeurope
    """
CLUSTER_BODY = {"location": "westeurope", "sku": {"name": "Standard_D11_v2", "tier": "Standard", "capacity": 2}}
CLUSTER_ID = f"{GROUP_ID}/providers/Microsoft.Kusto/clusters/warehouse"


def test_a_database_waits_while_its_cluster_is_not_running(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, cluster=CLUSTER)
    world.outside("PUT", CLUSTER_ID, CLUSTER_BODY, "2023-08-15", operations=Timing(seconds=9000))
    report = world.says(group=GROUP, cluster=CLUSTER, database=DATABASE).sync(run_timeout=600.0)
    found = of(report, "Database")
    assert (found.condition.reason, found.verdict) == ("WaitingForOwner", Verdict.BLOCKED)
    assert of(report, "Cluster").condition.message == 'Cluster is in provisioning state "Accepted"'
    assert world.writes == []


def test_a_database_that_is_ours_is_blocked_by_the_check_of_its_owner(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, cluster=CLUSTER, database=DATABASE)
    world.outside("PUT", CLUSTER_ID, CLUSTER_BODY, "2023-08-15", operations=Timing(seconds=9000))
    report = world.sync(resource_timeout=60.0)
    found = of(report, "Database")
    assert found.condition.reason == "ReconciliationBlocked"
    assert found.condition.message == 'Owning cluster is in provisioning state "Accepted"'
    requested = [request for request in world.requests if request.path == CLUSTER_ID]
    assert len(requested) > 2, "it was looked at again as long as there was time"


def test_a_post_check_runs_again_until_it_agrees(tmp_path):
    seen = []

    async def approved(about, azure, next):
        seen.append(about.live.body["name"])
        return success() if len(seen) > 2 else failure("Wants approval.")

    world = World(tmp_path)
    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetwork", post_check=approved))
    report = world.says(group=GROUP, vnet=VNET).sync()
    assert ready(report)
    assert world.sent("PUT").count(VNET_ID) == 1
    seen.clear()
    found = of(world.sync(resource_timeout=2.0), "VirtualNetwork")
    assert (found.condition.reason, found.condition.message) == ("PostReconciliationFailure", "Wants approval.")


def test_a_run_that_is_stopped_begins_nothing_more_and_records_what_was_done(tmp_path):
    world = World(tmp_path)

    async def stops(about, azure, next):
        world.stop.set()
        await asyncio.sleep(0.01)
        return success()

    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetwork", post_check=stops))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync()
    assert (of(report, "VirtualNetworksSubnet").condition.reason, report.interrupted) == ("NotReached", True)
    assert report.exit_code == 1
    world.extensions = BUILT_IN
    report = world.sync()
    assert [of(report, kind).verdict for kind in ("ResourceGroup", "VirtualNetwork", "VirtualNetworksSubnet")] == [
        Verdict.IN_SYNC,
        Verdict.IN_SYNC,
        Verdict.CREATE,
    ]


def test_only_what_is_named_is_written(tmp_path):
    world = World(tmp_path)
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync(only=("ResourceGroup/*",))
    assert world.writes == [f"PUT {GROUP_ID}"]
    assert len(report.results) == 1
    report = world.sync(only=("VirtualNetwork/hub",))
    assert world.writes == [f"PUT {VNET_ID}"]
    assert [result.key.kind for result in report.results] == ["VirtualNetwork"]


def test_failures_before_a_success_show_with_their_stage(tmp_path):
    world = made(
        tmp_path,
        f"{{match: {{method: GET, type: {VNETS}, nth: 1}}, answer: {{code: ServiceUnavailable, status: 503}}}}",
    )
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    found = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork")
    (attempt,) = found.attempts
    assert (attempt.stage, attempt.status, attempt.code) == (Stage.OBSERVE, 503, "ServiceUnavailable")
    assert attempt.request_id
    assert found.condition.is_ready


def test_a_manifest_that_breaks_loses_nothing_of_the_record(tmp_path):
    world = World(tmp_path)
    before = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork").record
    report = world.says(group=GROUP, vnet=VNET.replace("name: core", "name: nowhere")).sync()
    after = of(report, "VirtualNetwork").record
    assert (after.arm_id, after.claim, after.spec.applied, after.spec.baseline) == (
        before.arm_id,
        before.claim,
        before.spec.applied,
        before.spec.baseline,
    )
    assert [result.verdict for result in world.says(group=GROUP, vnet=VNET).sync().results] == [Verdict.IN_SYNC] * 2


def test_somebody_elses_operation_is_not_taken_for_ours(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    moved = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}
    world.outside("PUT", VNET_ID, moved, "2024-03-01", operations=Timing(style=Style.ASYNC, seconds=900))
    found = of(world.sync(run_timeout=60.0), "VirtualNetwork")
    assert (found.condition.reason, found.record.writes.operation) == ("Reconciling", None)
    found = of(world.sync(), "VirtualNetwork")
    assert (found.verdict, found.action) == (Verdict.DRIFTED, Action.UPDATE)


def test_a_create_that_a_whole_further_run_did_not_see_is_sent_again(tmp_path):
    world = made(
        tmp_path,
        f"{{match: {{method: PUT, type: {VNETS}, nth: 1}}, hide: 1000, operation: {{style: accepted, seconds: 90000, retryAfter: 20}}}}",
    )
    world.says(group=GROUP, vnet=VNET).sync(run_timeout=60.0)
    found = of(world.sync(run_timeout=60.0), "VirtualNetwork")
    assert (world.sent("PUT"), found.record.writes.operation) == ([], None)
    world.sync(run_timeout=60.0)
    assert set(world.sent("PUT")) == {VNET_ID}


@pytest.mark.parametrize("style", ["done", "async"])
def test_a_create_that_came_to_nothing_is_sent_again(tmp_path, style):
    rest = f"operation: {{style: {style}}}, move: [{{delete: true}}]"
    world = made(tmp_path, f"{{match: {{method: PUT, type: {VNETS}, nth: 1}}, {rest}}}", operations=Timing(polls=0))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync()
    found = of(report, "VirtualNetwork")
    assert ready(report), found.condition
    assert (found.verdict, found.action, found.record.claim) == (Verdict.CREATE, Action.CREATE, Claim.CREATED)
    assert world.sent("PUT").count(VNET_ID) == 2
    assert [result.verdict for result in world.sync().results] == [Verdict.IN_SYNC] * 3


def test_a_create_that_comes_to_nothing_again_is_a_failure(tmp_path):
    rest = "operation: {style: done}, move: [{delete: true}]"
    world = made(tmp_path, f"{{match: {{method: PUT, type: {VNETS}}}, {rest}}}")
    report = world.says(group=GROUP, vnet=VNET).sync()
    found = of(report, "VirtualNetwork")
    assert (found.condition.reason, found.action, found.ending.is_retryable) == (
        "AzureResourceNotFound",
        Action.NONE,
        True,
    )
    assert "twice" in found.condition.message
    assert (found.record.claim, found.record.writes.operation) == (Claim.EXPECTED, None)
    assert world.sent("PUT").count(VNET_ID) == 2
    world.settings = EmulatorSettings(limits=None)
    assert ready(world.sync())
    assert world.sent("PUT") == [VNET_ID], "the next run sends it at once"

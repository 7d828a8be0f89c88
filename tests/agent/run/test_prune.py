"""What was removed from git: deleted in order, held back, or forgotten (docs/reference/design.md#prune)."""

from __future__ import annotations

import re

import pytest

from gitsync.emulator.settings import Denial, EmulatorSettings, Timing
from gitsync.errors import ConfigError, UnsafePlanError
from gitsync.model.verdict import Action, Verdict
from gitsync.report.nextsteps import list_next_steps
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

ACCOUNT = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: files
    spec:
      location: westeurope
      owner:
        name: core
      kind: StorageV2
      sku: {name: Standard_LRS}
    """
BLOBS = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccountsBlobService
    metadata:
      name: blobs
    spec:
      owner:
        name: files
    """
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/files"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_nothing_is_deleted_without_being_asked_to(world):
    world.synced(group=GROUP, vnet=VNET)
    found = of(world.says(group=GROUP).sync(), "VirtualNetwork")
    assert (found.verdict, found.action, world.writes) == (Verdict.DELETE, Action.NONE, [])
    assert of(world.plan(), "VirtualNetwork").verdict is Verdict.DELETE


def test_children_go_first(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    report = world.says(group=GROUP).sync(prune=True, max_deletes=2)
    assert world.sent("DELETE") == [SUBNET_ID, VNET_ID]
    assert report.exit_code == 0
    assert [result.key.kind for result in world.sync(prune=True).results] == ["ResourceGroup"]


def test_a_group_that_holds_only_ours_goes_at_once_with_all_of_it(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    report = world.says().sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == [GROUP_ID]
    assert [result.action for result in report.results] == [Action.DELETE] * 3
    assert world.sync(prune=True).results == ()


def test_a_group_that_holds_a_stranger_stays(world):
    world.synced(group=GROUP, vnet=VNET)
    world.outside("PUT", ACCOUNT_ID, {"location": "westeurope", "sku": {"name": "Standard_LRS"}}, "2023-01-01")
    planned = of(world.says().plan(prune=True, max_deletes=3), "ResourceGroup")
    report = world.sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == [VNET_ID]
    found = of(report, "ResourceGroup")
    assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "PruneHeld")
    assert "storageAccounts/files" in found.condition.message
    assert (planned.verdict, planned.message) == (found.verdict, found.message)
    assert world.read(ACCOUNT_ID, "2023-01-01")["name"] == "files"
    world.outside("DELETE", ACCOUNT_ID, api_version="2023-01-01")
    assert of(world.sync(prune=True, max_deletes=1), "ResourceGroup").action is Action.DELETE


def test_contained_resources_count_against_the_limit(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET, other=GROUP.replace("name: core", "name: other"))
    with pytest.raises(UnsafePlanError, match="would delete 3 of 4 resources, and the limit is 1"):
        world.says(other=GROUP.replace("name: core", "name: other")).sync(prune=True)
    assert world.requests == []


def test_what_was_adopted_may_go_and_what_is_another_ones_may_not(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    world.synced(group=GROUP)
    assert of(world.says().sync(prune=True, max_deletes=1), "ResourceGroup").action is Action.DELETE


def test_what_was_never_written_is_forgotten(tmp_path):
    world = World(tmp_path, denied=(Denial(action="*/write"),))
    world.synced(group=GROUP)
    report = world.says().sync(prune=True)
    assert (of(report, "ResourceGroup").action, world.sent("DELETE")) == (Action.DETACH, [])


def test_a_renamed_resource_may_need_the_old_one_gone(world):
    """Azure refuses a subnet whose range overlaps another's, so the new one is tried again after the prune."""
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    overlap = "{match: {method: PUT, path: '*/subnets/two', times: 1}, answer: {code: NetcfgSubnetRangesOverlap, status: 400}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(overlap))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET.replace("name: one", "name: two")).sync(prune=True)
    found = of(report, "VirtualNetworksSubnet", "two")
    assert found.condition.is_ready, found.condition
    assert world.sent("DELETE") == [SUBNET_ID]
    assert world.sent("PUT") == [f"{VNET_ID}/subnets/two"] * 2


def test_what_a_failed_resource_used_to_need_is_held(world):
    nsg = """\
        apiVersion: network.azure.com/v1api20240301
        kind: NetworkSecurityGroup
        metadata:
          name: rules
        spec:
          location: westeurope
          owner:
            name: core
        """
    reference = "addressPrefix: 10.0.0.0/24\n      networkSecurityGroup:\n        reference: {group: network.azure.com, kind: NetworkSecurityGroup, name: rules}"
    guarded = SUBNET.replace("addressPrefix: 10.0.0.0/24", reference)
    world.synced(group=GROUP, vnet=VNET, subnet=guarded, nsg=nsg)
    world.settings = EmulatorSettings(limits=None, denied=(Denial(action="*subnets/write"),))
    report = world.says(group=GROUP, vnet=VNET, subnet=SUBNET).sync(prune=True)
    found = of(report, "NetworkSecurityGroup")
    assert (found.condition.reason, world.sent("DELETE")) == ("PruneHeld", [])
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(prune=True), "NetworkSecurityGroup").action is Action.DELETE


def test_nothing_goes_while_a_manifest_cannot_be_read(world):
    world.synced(group=GROUP, vnet=VNET)
    report = world.says(group=GROUP, broken="apiVersion: network.azure.com/v1\nkind: [").sync(prune=True)
    found = of(report, "VirtualNetwork")
    assert (found.condition.reason, world.sent("DELETE"), report.exit_code) == ("PruneHeld", [], 1)


def test_yaml_without_any_sign_fails_no_run_and_holds_deletes(world):
    world.synced(group=GROUP, vnet=VNET)
    report = world.says(group=GROUP, broken="[").sync(prune=True)
    assert (of(report, "VirtualNetwork").condition.reason, world.sent("DELETE")) == ("PruneHeld", [])
    assert report.exit_code == 0


def test_a_kind_that_azure_cannot_delete_is_reported_as_asos_words_it(world):
    world.synced(group=GROUP, account=ACCOUNT, blobs=BLOBS)
    planned = of(world.says(group=GROUP, account=ACCOUNT).plan(prune=True), "StorageAccountsBlobService")
    found = of(world.sync(prune=True), "StorageAccountsBlobService")
    assert (found.condition.reason, world.sent("DELETE")) == ("DeletionNotSupportedInAzure", [])
    assert (planned.verdict, planned.action, planned.message) == (found.verdict, found.action, found.message)
    assert "detach-on-delete" in found.condition.message
    assert found.record is not None
    report = world.says(group=GROUP).sync(prune=True, max_deletes=2)
    assert world.sent("DELETE") == [ACCOUNT_ID]
    assert [result.record for result in report.results if result.key.kind.startswith("StorageAccount")] == [None, None]


def test_what_azure_cannot_delete_does_not_count_for_the_limit(world):
    world.synced(group=GROUP, vnet=VNET, account=ACCOUNT, blobs=BLOBS)
    world.says(group=GROUP, account=ACCOUNT)
    report = world.sync(prune=True, max_deletes=1)
    assert (world.sent("DELETE"), report.exit_code) == ([VNET_ID], 0)
    assert world.sync(prune=True, max_deletes=0).exit_code == 0, "said again, and refused by nothing"
    world.says(group=GROUP)
    with pytest.raises(UnsafePlanError, match="would delete 2 of 3"):
        world.sync(prune=True, max_deletes=1)  # it goes with its parent now
    assert world.sync(prune=True, max_deletes=2).exit_code == 0
    assert world.sent("DELETE") == [ACCOUNT_ID]


def test_what_azure_cannot_delete_is_forgotten_by_its_name(world):
    """Its manifest is gone, so the advice is a flag, and no annotation."""
    world.synced(group=GROUP, account=ACCOUNT, blobs=BLOBS)
    found = of(world.says(group=GROUP, account=ACCOUNT).sync(prune=True), "StorageAccountsBlobService")
    name = "StorageAccountsBlobService.storage.azure.com/default/blobs"
    assert f"run `gitsync sync --prune --release {name}`" in found.condition.advice
    planned = of(world.plan(prune=True, release=(name,)), "StorageAccountsBlobService")
    assert planned.verdict is Verdict.DETACH
    report = world.sync(prune=True, release=(name,))
    assert (report.exit_code, world.writes) == (0, [])
    assert of(report, "StorageAccountsBlobService").action is Action.DETACH
    assert len(world.sync(prune=True).results) == 2


@pytest.mark.parametrize(
    "name", ["StorageAccountsBlobService/blob", "StorageAccount/files", "nothing", "*"], ids=lambda name: name
)
def test_a_release_names_what_was_removed_and_abbreviates_nothing(world, name):
    world.synced(group=GROUP, account=ACCOUNT, blobs=BLOBS)
    world.says(group=GROUP, account=ACCOUNT)
    with pytest.raises(ConfigError, match="no resource of this name was removed from git") as refusal:
        world.sync(prune=True, release=(name,))
    assert "gitsync plan" in refusal.value.hint
    assert world.requests == []


def test_a_release_of_a_child_whose_parent_goes_lets_both_go(world):
    world.synced(group=GROUP, account=ACCOUNT, blobs=BLOBS)
    world.says(group=GROUP).sync(prune=True, max_deletes=2, release=("blobs",))
    assert world.sent("DELETE") == [ACCOUNT_ID]


def test_what_is_gone_already_is_done(world):
    world.synced(group=GROUP, vnet=VNET)
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    assert of(world.says(group=GROUP).sync(prune=True), "VirtualNetwork").action is Action.DELETE
    assert world.sent("DELETE") == []


def test_without_prune_what_azure_has_no_more_is_forgotten(world):
    world.synced(group=GROUP, vnet=VNET)
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    world.says(group=GROUP)
    plan = world.plan()
    assert (of(plan, "VirtualNetwork").verdict, plan.summary) == (Verdict.IN_SYNC, {"in-sync": 2})
    assert of(world.plan(), "VirtualNetwork").record is not None, "a plan forgets nothing"
    assert of(world.sync(), "VirtualNetwork").record is None
    assert world.writes == []
    assert [result.key.kind for result in world.sync().results] == ["ResourceGroup"]


def test_without_prune_what_azure_does_not_answer_for_is_remembered(world):
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(limits=None, denied=(Denial(action="*virtualNetworks/read"),))
    report = world.says(group=GROUP).sync()
    found = of(report, "VirtualNetwork")
    assert (found.verdict, found.action, report.exit_code) == (Verdict.DELETE, Action.NONE, 0)
    assert found.record is not None


def test_a_refused_delete_is_a_warning_and_stays_on_record(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(
        limits=None,
        rules=rules("{match: {method: DELETE, nth: 1}, answer: {code: InUseSubnetCannotBeDeleted, status: 400}}"),
    )
    report = world.says(group=GROUP).sync(prune=True)
    found = of(report, "VirtualNetwork")
    assert (found.condition.reason, found.condition.severity, report.exit_code) == (
        "InUseSubnetCannotBeDeleted",
        "Warning",
        1,
    )
    assert found.record.condition.reason == "InUseSubnetCannotBeDeleted", "status tells it, too"
    assert of(world.sync(prune=True), "VirtualNetwork").action is Action.DELETE


def test_a_delete_that_outlasts_the_run_is_picked_up(world):
    world.synced(group=GROUP, vnet=VNET)
    world.settings = EmulatorSettings(limits=None, operations=Timing(seconds=100))
    found = of(world.says(group=GROUP).sync(prune=True, run_timeout=6.0), "VirtualNetwork")
    assert (found.condition.reason, found.record.writes.operation.kind) == ("Deleting", "delete")
    assert of(world.sync(prune=True), "VirtualNetwork").action is Action.DELETE
    assert world.sent("DELETE") == []


def test_a_parent_of_something_detached_stays(world):
    world.synced(group=GROUP, vnet=VNET, subnet=annotated(SUBNET, reconcile_policy="detach-on-delete"))
    report = world.says(group=GROUP).sync(prune=True, max_deletes=5)
    assert of(report, "VirtualNetwork").condition.reason == "PruneHeld"
    assert world.sent("DELETE") == []
    for _ in range(2):
        report = world.sync(prune=True, max_deletes=5)
        assert of(report, "VirtualNetworksSubnet").verdict is Verdict.DETACH, "it is remembered as something that stays"
        assert world.sent("DELETE") == []
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    world.sync(prune=True, max_deletes=5)


def test_a_new_name_for_the_same_resource_takes_it_over(world):
    world.synced(group=GROUP)
    renamed = GROUP.replace("name: core", "name: new").replace("spec:", "spec:\n      azureName: core")
    report = world.says(group=renamed).sync(prune=True)
    assert of(report, "ResourceGroup", "core").action is Action.DETACH
    assert of(report, "ResourceGroup", "new").condition.is_ready
    assert world.writes == []


@pytest.mark.parametrize(
    ("answer", "status", "says", "why"),
    [
        ("status: 400, code: InvalidResourceGroup", 400, "neither|did not see it created", "its name is refused"),
        ("status: 403, code: AuthorizationFailed", 403, "neither|did not see it created", "it may not be read"),
    ],
)
def test_what_was_never_created_is_not_said_to_stay(world, answer, status, says, why):
    world.settings = EmulatorSettings(limits=None, rules=rules(f'{{match: {{path: "*other*"}}, answer: {{{answer}}}}}'))
    report = world.says(group=GROUP, other=GROUP.replace("core", "other")).sync()
    assert of(report, "ResourceGroup", "other").attempts[-1].status == status
    assert any("Grant the identity read access" in step for step in list_next_steps(report)) is (status == 403), why
    world.says(group=GROUP)
    for settings in ({}, {"prune": True}):
        found = of(world.sync(**settings), "ResourceGroup", "other")
        assert found.verdict is Verdict.DETACH
        assert "It stays in Azure" not in found.condition.message, why
        assert re.search(says, found.condition.message), why


def test_what_was_created_stays(world):
    world.synced(group=annotated(GROUP, reconcile_policy="detach-on-delete"))
    found = of(world.says(vnet=VNET).sync(prune=True), "ResourceGroup")
    assert found.condition.message.endswith("It stays in Azure.")

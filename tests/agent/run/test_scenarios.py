"""What Azure Service Operator's own tests pin down, as it reads here (tests/scenarios.md)."""

from __future__ import annotations

import json

import pytest

from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.record import Claim
from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBSCRIPTION, VNET, VNET_ID, World, annotated, of


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def said(result):
    return (result.condition.status, result.condition.severity, result.condition.reason)


READY = (ConditionStatus.TRUE, Severity.NONE, "Succeeded")


def test_01_a_child_before_its_group_waits_and_then_succeeds_without_edits(world):
    world.says(vnet=VNET)
    found = of(world.sync(), "VirtualNetwork")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "WaitingForOwner")
    assert found.condition.message == (
        'Owner "core, Group/Kind: resources.azure.com/ResourceGroup" cannot be found. '
        "Progress is blocked until the owner is created."
    )
    assert world.writes == []
    assert said(of(world.says(vnet=VNET, group=GROUP).sync(), "VirtualNetwork")) == READY


def test_02_a_child_and_its_owner_together_succeed(world):
    report = world.says(vnet=VNET, group=GROUP, subnet=SUBNET).sync()
    assert [said(result) for result in report.results] == [READY] * 3
    assert world.writes == [f"PUT {GROUP_ID}", f"PUT {VNET_ID}", f"PUT {VNET_ID}/subnets/one"]


def test_03_a_group_that_exists_is_written_only_where_something_differs(world):
    world.outside("PUT", GROUP_ID, {"location": "West Europe"})
    report = world.says(group=GROUP).sync()
    assert (said(of(report, "ResourceGroup")), of(report, "ResourceGroup").verdict) == (READY, Verdict.ADOPT)
    assert world.writes == []
    tagged = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {a: b}")
    assert said(of(world.says(group=tagged).sync(), "ResourceGroup")) == READY
    assert world.read(GROUP_ID)["tags"] == {"a": "b"}


def test_04_two_manifests_for_one_resource_with_different_bodies_are_a_problem_of_both(world):
    twin = GROUP.replace("name: core", "name: twin").replace(
        "spec:", "spec:\n      azureName: core\n      tags: {a: b}"
    )
    report = world.says(group=GROUP, twin=twin).sync()
    assert [result.verdict for result in report.results] == [Verdict.INVALID] * 2
    assert {problem.code for problem in report.problems} == {"ArmIdTwice"}
    assert report.exit_code == 1
    assert world.writes == []


def test_05_a_name_cannot_change_once_azure_has_the_resource(world):
    world.synced(group=GROUP)
    renamed = GROUP.replace("spec:", "spec:\n      azureName: other")
    found = of(world.says(group=renamed).sync(), "ResourceGroup")
    assert said(found) == (ConditionStatus.FALSE, Severity.ERROR, "Failed")
    assert found.condition.message.startswith("updating 'spec.azureName' is not allowed for '")
    assert world.writes == []


def test_05_a_name_that_azure_refused_may_change(tmp_path):
    world = World(
        tmp_path,
        rules=rules("{match: {method: PUT, nth: 1}, answer: {code: InvalidResourceGroupLocation, status: 400}}"),
    )
    assert of(world.says(group=GROUP).sync(), "ResourceGroup").condition.reason == "InvalidResourceGroupLocation"
    renamed = GROUP.replace("spec:", "spec:\n      azureName: other")
    assert said(of(world.says(group=renamed).sync(), "ResourceGroup")) == READY


def test_what_is_below_a_missing_owner_waits_for_its_own_owner(world):
    peered = """\
        apiVersion: network.azure.com/v1api20240301
        kind: VirtualNetworksVirtualNetworkPeering
        metadata:
          name: away
        spec:
          owner:
            armId: ARM_ID
          remoteVirtualNetwork:
            reference:
              group: network.azure.com
              kind: VirtualNetwork
              name: hub
        """.replace("ARM_ID", VNET_ID)
    report = world.says(vnet=VNET, subnet=SUBNET, peered=peered).sync()
    waiting = 'Owner "{}" cannot be found. Progress is blocked until the owner is created.'
    for kind, owner in (
        ("VirtualNetwork", "core, Group/Kind: resources.azure.com/ResourceGroup"),
        ("VirtualNetworksSubnet", "hub, Group/Kind: network.azure.com/VirtualNetwork"),
    ):
        found = of(report, kind)
        assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "WaitingForOwner"), kind
        assert found.condition.message == waiting.format(owner)
    peering = of(report, "VirtualNetworksVirtualNetworkPeering")
    assert said(peering) == (ConditionStatus.FALSE, Severity.WARNING, "ReferenceNotFound")
    assert peering.condition.message == (
        "failed resolving ARM IDs for references: ref hub, Group/Kind: network.azure.com/VirtualNetwork doesn't have an "
        "assigned ARM ID"
    )
    assert world.writes == []


OTHER_GROUP = GROUP.replace("name: core", "name: other")


OTHER_OWNERS = [
    ("name: other", "updating 'spec.owner.name' is not allowed for '"),
    (f"armId: /subscriptions/{SUBSCRIPTION}/resourceGroups/other", "updating 'spec.owner.armId' is not allowed for '"),
]


def test_06_an_owner_cannot_change_once_azure_has_the_resource(world):
    """Each row is a network of its own."""
    networks = {f"hub{row}": VNET.replace("name: hub", f"name: hub{row}") for row in range(len(OTHER_OWNERS))}
    world.synced(group=GROUP, **networks)
    rows = zip(networks.items(), OTHER_OWNERS, strict=True)
    moved = {name: text.replace("name: core", owner) for (name, text), (owner, _) in rows}
    report = world.says(group=GROUP, other=OTHER_GROUP, **moved).sync()
    for name, (_, text) in zip(networks, OTHER_OWNERS, strict=True):
        found = of(report, "VirtualNetwork", name)
        assert said(found) == (ConditionStatus.FALSE, Severity.ERROR, "Failed")
        assert found.condition.message.startswith(text)


def test_07_an_owner_may_change_while_it_was_never_there(world):
    world.synced(vnet=VNET)
    moved = VNET.replace("name: core", "name: other")
    assert said(of(world.says(other=OTHER_GROUP, vnet=moved).sync(), "VirtualNetwork")) == READY


@pytest.mark.parametrize(
    ("owner", "text", "scenario"),
    [
        (f"name: core\n        armId: {GROUP_ID}", "mutually exclusive", "08: a name and an id"),
        (
            f"armId: {GROUP_ID}/providers/Microsoft.Compute/virtualMachines/vm",
            'expected owner ARM ID to be for a resource group, but was "Microsoft.Compute/virtualMachines"',
            "09: the id of another type",
        ),
    ],
)
def test_08_09_an_owner_that_cannot_be_is_refused(world, owner, text, scenario):
    report = world.says(group=GROUP, vnet=VNET.replace("name: core", owner)).sync()
    assert of(report, "VirtualNetwork").verdict is Verdict.INVALID, scenario
    assert any(text in problem.message for problem in report.problems), [p.message for p in report.problems]


def test_10_owners_may_be_given_by_id(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    vnet = VNET.replace("name: core", f"armId: {GROUP_ID}")
    lock = SUBNET.replace("name: hub", f"armId: {VNET_ID}")
    report = world.says(vnet=vnet, subnet=lock).sync()
    assert [said(result) for result in report.results] == [READY] * 2
    assert world.writes == [f"PUT {VNET_ID}", f"PUT {VNET_ID}/subnets/one"]


CLUSTER_ID = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/aks"
POOL = f"""\
    apiVersion: containerservice.azure.com/v1api20240901
    kind: ManagedClustersAgentPool
    metadata:
      name: pool
    spec:
      owner:
        armId: {CLUSTER_ID}
      count: 1
      mode: User
      vmSize: Standard_DS2_v2
    """


def test_10_an_owner_check_works_with_an_owner_given_by_id(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    world.outside("PUT", CLUSTER_ID, {"location": "westeurope", "properties": {}}, api_version="2024-09-01")
    assert said(of(world.says(pool=POOL).sync(), "ManagedClustersAgentPool")) == READY


def test_11_another_subscription_than_the_credentials_is_refused(world):
    elsewhere = GROUP_ID.replace(SUBSCRIPTION, "11111111-1111-1111-1111-111111111111")
    found = of(world.says(vnet=VNET.replace("name: core", f"armId: {elsewhere}")).sync(), "VirtualNetwork")
    assert said(found) == (ConditionStatus.FALSE, Severity.ERROR, "SubscriptionMismatch")
    assert "does not match with Client Credential" in found.condition.message
    assert world.requests == []


def test_12_a_reference_to_nothing_is_a_problem(world):
    peering = """\
        apiVersion: network.azure.com/v1api20240301
        kind: VirtualNetworksVirtualNetworkPeering
        metadata:
          name: away
        spec:
          owner:
            name: hub
          remoteVirtualNetwork:
            reference:
              group: network.azure.com
              kind: VirtualNetwork
              name: spoke
        """
    report = world.says(group=GROUP, vnet=VNET, peering=peering).sync()
    found = of(report, "VirtualNetworksVirtualNetworkPeering")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "ReferenceNotFound")
    assert found.condition.message == (
        "failed resolving ARM IDs for references: couldn't resolve reference default/spoke: default/spoke does not "
        'exist (VirtualNetwork.network.azure.com "spoke" not found)'
    )
    assert "VirtualNetwork/spoke" in found.condition.advice
    assert said(of(report, "VirtualNetwork")) == READY, "the rest goes on"


IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: me
    spec:
      location: westeurope
      owner:
        name: core
      operatorSpec:
        configMaps:
          principalId: {name: me, key: principal}
    """
ASSIGNMENT = f"""\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata:
      name: reader
    spec:
      owner:
        group: resources.azure.com
        kind: ResourceGroup
        name: core
      principalIdFromConfig: {{name: me, key: principal}}
      principalType: ServicePrincipal
      roleDefinitionReference:
        armId: /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7
    """


def test_15_a_config_map_that_nothing_makes_is_reported(world):
    found = of(world.says(group=GROUP, assignment=ASSIGNMENT).sync(), "RoleAssignment")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "ConfigMapNotFound")
    assert "default/me does not exist" in found.condition.message


CONFIG = """\
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: me
    data:
      principal: {principal}
    """


def test_16_an_edited_config_map_is_written(world):
    one, two = (f"{n}{n}{n}{n}{n}{n}{n}{n}-0000-0000-0000-000000000000" for n in (1, 2))
    world.synced(group=GROUP, assignment=ASSIGNMENT, config=CONFIG.format(principal=one))
    found = of(
        world.says(group=GROUP, assignment=ASSIGNMENT, config=CONFIG.format(principal=two)).plan(), "RoleAssignment"
    )
    assert (found.verdict, found.differences[0].desired) == (Verdict.PENDING, two)


def test_an_export_feeds_an_import_of_the_same_run(world):
    report = world.says(assignment=ASSIGNMENT, group=GROUP, identity=IDENTITY).sync()
    assert said(of(report, "RoleAssignment")) == READY, of(report, "RoleAssignment").condition
    identity = world.read(f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me", "2023-01-31")
    assert world.sent("PUT")[-1].endswith(of(report, "RoleAssignment").arm_id.rsplit("/", 1)[1])
    assert world.requests[-2].body["properties"]["principalId"] == identity["properties"]["principalId"] or any(
        request.body and request.body.get("properties", {}).get("principalId") == identity["properties"]["principalId"]
        for request in world.requests
    )
    assert [result.verdict for result in world.sync().results] == [Verdict.IN_SYNC] * 3


def test_17_an_operation_that_azure_ends_as_invalid_is_an_error_until_the_manifest_changes(tmp_path):
    failing = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks, nth: 1}, operation: {result: Failed, error: {code: InvalidValuesForRequestParameters, message: Values are wrong.}}}"
    world = World(tmp_path, rules=rules(failing))
    found = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork")
    assert said(found) == (ConditionStatus.FALSE, Severity.ERROR, "InvalidValuesForRequestParameters")
    assert found.condition.message == "Values are wrong."
    fixed = of(world.says(group=GROUP, vnet=VNET.replace("10.0.0.0/16", "10.0.0.0/17")).sync(), "VirtualNetwork")
    assert said(fixed) == READY
    assert fixed.condition.message == ""


def test_18_a_refused_parameter_is_a_warning_and_tried_once_a_run(tmp_path):
    refusing = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks, nth: 1}, answer: {code: InvalidParameter, status: 400, message: Not that.}}"
    world = World(tmp_path, rules=rules(refusing))
    found = of(world.says(group=GROUP, vnet=VNET).sync(), "VirtualNetwork")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "InvalidParameter")
    assert world.sent("PUT").count(VNET_ID) == 1
    assert said(of(world.sync(), "VirtualNetwork")) == READY


def test_19_edits_during_an_operation_are_applied_after_it(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP)
    world.settings = EmulatorSettings(limits=None, operations=Timing(seconds=600, polls=1))
    found = of(world.says(group=GROUP, vnet=VNET).sync(run_timeout=6.0), "VirtualNetwork")
    assert said(found) == (ConditionStatus.FALSE, Severity.INFO, "Reconciling")
    assert found.record.writes.operation.kind == "create"
    edited = VNET.replace("10.0.0.0/16", "10.1.0.0/16")
    found = of(world.says(group=GROUP, vnet=edited).sync(), "VirtualNetwork")
    assert said(found) == READY
    assert world.sent("PUT") == [VNET_ID]
    assert world.read(VNET_ID, "2024-03-01")["properties"]["addressSpace"]["addressPrefixes"] == ["10.1.0.0/16"]


SKIPPED = annotated(GROUP, reconcile_policy="skip")


def test_20_a_skipped_resource_that_is_not_there_is_a_warning(world):
    found = of(world.says(group=SKIPPED).sync(), "ResourceGroup")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "AzureResourceNotFound")
    assert "ResourceGroupNotFound" in found.condition.message
    assert (world.writes, found.record.arm_id) == ([], GROUP_ID)
    assert said(of(world.says(group=GROUP).sync(), "ResourceGroup")) == READY


def test_21_a_change_beside_skip_is_not_sent_before_skip_goes(world):
    world.synced(group=GROUP)
    tags = "location: westeurope\n      tags: {a: b}"
    report = world.says(group=SKIPPED.replace("location: westeurope", tags)).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.SKIP, [])
    assert said(of(report, "ResourceGroup")) == READY
    world.synced(group=GROUP.replace("location: westeurope", tags))
    assert world.read(GROUP_ID)["tags"] == {"a": "b"}


def test_22_an_unknown_policy_is_refused(world):
    report = world.says(group=annotated(GROUP, reconcile_policy="mange")).sync()
    assert of(report, "ResourceGroup").verdict is Verdict.INVALID
    assert world.writes == []


def test_23_what_is_not_to_be_deleted_stays(world):
    policies = ("skip", "detach-on-delete")
    groups = {policy: GROUP.replace("name: core", f"name: {policy}") for policy in policies}
    world.synced(**groups)
    world.synced(**{policy: annotated(group, reconcile_policy=policy) for policy, group in groups.items()})
    report = world.says().sync(prune=True)
    for policy in policies:
        found = of(report, "ResourceGroup", policy)
        assert (found.verdict, found.action) == (Verdict.DETACH, Action.DETACH), policy
    assert world.requests == []
    assert {arm_id.rpartition("/")[2] for arm_id in world.azure().ids()} == set(policies)
    assert world.sync(prune=True).results == ()


def test_23_the_policy_of_the_last_manifest_counts_though_no_run_saw_it(world):
    world.synced(group=GROUP)
    world.says(group=annotated(GROUP, reconcile_policy="detach-on-delete"))
    assert of(world.says().sync(prune=True), "ResourceGroup").verdict is Verdict.DETACH
    assert world.read(GROUP_ID)["name"] == "core"


NAMESPACE = """\
    apiVersion: v1
    kind: Namespace
    metadata:
      name: default
    """


def test_24_a_policy_of_the_namespace_counts_unless_the_resource_has_its_own(world):
    space = annotated(NAMESPACE, reconcile_policy="skip")
    report = world.says(space=space, group=annotated(GROUP, reconcile_policy="manage"), vnet=VNET).sync()
    assert said(of(report, "ResourceGroup")) == READY
    assert of(report, "VirtualNetwork").condition.reason == "AzureResourceNotFound"
    assert world.writes == [f"PUT {GROUP_ID}"]


def test_25_a_child_goes_though_its_skipped_parent_stays(world):
    world.synced(group=GROUP, vnet=VNET)
    world.synced(group=SKIPPED, vnet=VNET)
    report = world.says().sync(prune=True, max_deletes=5)
    assert of(report, "VirtualNetwork").action is Action.DELETE
    assert world.sent("DELETE") == [VNET_ID]
    assert world.read(GROUP_ID)["name"] == "core"


def test_26_a_skipped_resource_exports(world):
    world.synced(group=GROUP, identity=IDENTITY)
    skipped = annotated(IDENTITY, reconcile_policy="skip")
    report = world.says(group=GROUP, identity=skipped, assignment=ASSIGNMENT).sync()
    assert said(of(report, "RoleAssignment")) == READY


def test_36_what_another_agent_keeps_is_skipped(world):
    world.says(group=GROUP).sync(agent="one")
    tagged = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {a: b}")
    other = GROUP.replace("name: core", "name: other")
    world.says(group=other).sync(agent="two")
    report = world.says(group=tagged, other=other).sync(agent="two", only=("ResourceGroup/core",))
    found = of(report, "ResourceGroup")
    assert (found.condition.reason, world.requests, report.exit_code) == ("Overlap", [], 1)
    assert found.condition.message == 'Operators in "two" and "one" are both configured to manage this resource'
    assert found.record.agent == "one"
    left = world.says(other=other).sync(agent="two", prune=True).results
    assert [result.key.name for result in left] == ["other"], "what another agent keeps did not leave git"
    world.says()
    assert of(world.sync(agent="one", prune=True, max_deletes=1), "ResourceGroup").action is Action.DELETE


def test_37_other_namespaces_are_not_looked_at(world):
    there = GROUP.replace("name: core", "name: core\n      namespace: there").replace(
        "spec:", "spec:\n      azureName: there"
    )
    report = world.says(group=GROUP, there=there).sync(target_namespaces=("default",))
    assert [result.key.namespace for result in report.results] == ["default"]
    world.sync()
    report = world.says(group=GROUP).sync(target_namespaces=("default",), prune=True)
    assert len(report.results) == 1, "nor pruned"


def test_38_the_owner_is_a_label_of_what_is_claimed(world):
    world.synced(group=GROUP, vnet=VNET)
    status = (world.state / "default/network.azure.com/VirtualNetwork/hub.json").read_text()
    assert '"serviceoperator.azure.com/owner-name": "core"' in status
    assert '"serviceoperator.azure.com/owner-group-kind": "ResourceGroup.resources.azure.com"' in status
    assert f'"serviceoperator.azure.com/resource-id": "{VNET_ID}"' in status


def read_annotations(world, location):
    return json.loads((world.state / f"default/{location}.json").read_text())["metadata"]["annotations"]


def test_the_annotations_of_the_operator_are_those_of_aso(world):
    location, prefix = "resources.azure.com/ResourceGroup/core", "serviceoperator.azure.com/"
    generation, operator = f"{prefix}latest-reconciled-generation", f"{prefix}operator-namespace"
    world.says(group=SKIPPED).sync(agent="ours")
    assert read_annotations(world, location) == {operator: "ours"}, "skip sends nothing"
    world.says(group=GROUP).sync(agent="ours")
    assert read_annotations(world, location) == {generation: "1", operator: "ours", f"{prefix}resource-id": GROUP_ID}
    changed = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {a: b}")
    world.says(group=annotated(changed, reconcile_policy="skip")).sync(agent="ours")
    assert read_annotations(world, location)[generation] == "1", "and the change is not sent"
    world.says(group=changed).sync(agent="ours")
    assert read_annotations(world, location)[generation] == "2"
    world.sync(agent="ours")
    assert read_annotations(world, location)[generation] == "2", "nothing changed"


def test_a_claim_is_recorded(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    report = world.says(group=GROUP, vnet=VNET).sync()
    assert of(report, "ResourceGroup").record.claim is Claim.ADOPTED
    assert of(report, "VirtualNetwork").record.claim is Claim.CREATED

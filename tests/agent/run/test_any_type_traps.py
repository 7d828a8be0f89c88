"""What Azure does with bodies of any type that a comparison or a write must not fall for."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.agent.run.test_any_types import GROUP, IN_GROUP, NETWORK, find
from tests.support.fault_rules import rules
from tests.support.world import World, of

IDENTITY = "/subscriptions/0/resourceGroups/shop/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
FLOW_ID = f"{IN_GROUP}/providers/Microsoft.Logic/workflows/orders"
JOBS_ID = f"{IN_GROUP}/providers/Microsoft.Automation/automationAccounts/jobs"
NETWORK_ID = f"{IN_GROUP}/providers/Microsoft.Network/virtualNetworks/net"


def write(type_: str, body: str, name: str = "orders") -> str:
    return f"""
        apiVersion: azure.gitsync/v1
        kind: AzureResource
        metadata: {{name: {name}}}
        spec:
          type: {type_}
          owner: {{group: resources.azure.com, kind: ResourceGroup, name: shop}}
          body: {body}
    """


def write_flow(body: str, name: str = "orders") -> str:
    return write("Microsoft.Logic/workflows@2019-05-01", body, name)


JOBS = write(
    "Microsoft.Automation/automationAccounts@2023-11-01",
    "{location: westeurope, properties: {sku: {name: Free}}}",
    "jobs",
)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def resets(result):
    return {reset.path: reset.live for reset in result.change.resets}


def test_the_first_write_names_what_it_may_reset(world):
    world.synced(group=GROUP)
    properties = {"sku": {"name": "Basic"}, "disableLocalAuth": True, "publicNetworkAccess": False}
    world.outside(
        "PUT", JOBS_ID, {"location": "westeurope", "tags": {"a": "b"}, "properties": properties}, "2023-11-01"
    )
    planned = find(world.says(group=GROUP, jobs=JOBS).plan())
    assert planned.verdict is Verdict.ADOPT
    assert resets(planned) == {"/properties/disableLocalAuth": True, "/tags/a": "b"}
    world.sync()
    assert resets(find(world.plan())) == {}


def test_the_first_write_after_an_adoption_names_what_it_may_reset(world):
    """The adoption wrote nothing, so a PUT has not yet taken anything away."""
    world.synced(group=GROUP)
    properties = {"sku": {"name": "Free"}, "disableLocalAuth": True}
    world.outside(
        "PUT", JOBS_ID, {"location": "westeurope", "tags": {"a": "b"}, "properties": properties}, "2023-11-01"
    )
    adopted = find(world.says(group=GROUP, jobs=JOBS).sync())
    assert (adopted.action, resets(adopted)) == (Action.NONE, {})
    assert resets(find(world.plan())) == {}
    changed = JOBS.replace("name: Free", "name: Basic")
    planned = find(world.says(group=GROUP, jobs=changed).plan())
    assert resets(planned) == {"/properties/disableLocalAuth": True, "/tags/a": "b"}
    world.sync()
    assert resets(find(world.says(group=GROUP, jobs=JOBS).plan())) == {}


def test_the_children_that_a_write_keeps_are_not_named(world):
    world.synced(group=GROUP)
    properties = {
        "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
        "subnets": [{"name": "one", "properties": {"addressPrefix": "10.0.1.0/24"}}],
    }
    world.outside("PUT", NETWORK_ID, {"location": "westeurope", "properties": properties}, "2024-01-01")
    planned = find(world.says(group=GROUP, net=NETWORK).plan())
    assert (planned.verdict, resets(planned)) == (Verdict.ADOPT, {})
    world.sync()
    assert [subnet["name"] for subnet in world.read(NETWORK_ID, "2024-01-01")["properties"]["subnets"]] == ["one"]


def test_a_patch_removes_nothing_so_nothing_is_named(world):
    world.synced(group=GROUP)
    world.outside("PUT", JOBS_ID, {"location": "westeurope", "tags": {"a": "b"}, "properties": {}}, "2023-11-01")
    patched = JOBS.replace("{name: jobs}", "{name: jobs, annotations: {gitsync/update-method: patch}}")
    assert resets(find(world.says(group=GROUP, jobs=patched).plan())) == {}
    world.sync()
    assert world.read(JOBS_ID, "2023-11-01")["tags"] == {"a": "b"}


def test_what_only_azure_sets_is_sent_if_it_is_written(world):
    flow = write_flow("{location: westeurope, properties: {state: Enabled, version: '08585', definition: {}}}")
    report = world.says(group=GROUP, flow=flow).sync()
    assert report.exit_code == 0
    (put,) = (request for request in world.requests if (request.method, request.path) == ("PUT", FLOW_ID))
    assert put.body["properties"] == {"state": "Enabled", "version": "08585", "definition": {}}
    assert [problem.code for problem in report.problems] == ["ReadOnlyField"]
    # The emulator took it, as Azure does where the type is wrong.
    world.somebody_changes(FLOW_ID, {"/properties/version": "08586"})
    assert (find(world.sync()).verdict, world.writes) == (Verdict.DRIFTED, [f"PUT {FLOW_ID}"])
    assert (find(world.sync()).verdict, world.writes) == (Verdict.IN_SYNC, [])


SPELLINGS = [
    (
        "{parameters: {a: {value: null}, b: {}, c: {value: ''}}, definition: {x: {y: null}}}",
        {},
        ["/properties/parameters/a/value", "/properties/definition/x"],
        "an object of nulls comes back as absent",
    ),
    ("{definition: {x: null, triggers: {}}}", {"/properties/definition/x": {}}, [], "or a null as an empty object"),
    (
        "{definition: {}}",
        {
            "/identity/userAssignedIdentities": {
                IDENTITY.replace("resourceGroups", "resourcegroups"): {"clientId": "1", "principalId": "2"}
            }
        },
        [],
        "an identity comes back with its ids, and in another case",
    ),
    ("{state: enabled}", {"/properties/state": "Enabled"}, [], "a choice comes back in another case"),
    ("{definition: {}}", {"/location": "West Europe"}, [], "a region comes back by its display name"),
]


def test_another_spelling_of_the_same_is_not_drift(tmp_path):
    """Each row is a workflow of its own."""
    world = World(tmp_path)
    identity = f"{{type: UserAssigned, userAssignedIdentities: {{{IDENTITY}: {{}}}}}}"
    bodies = (f"{{location: westeurope, identity: {identity}, properties: {sent}}}" for sent, *_ in SPELLINGS)
    flows = {f"flow{row}": write_flow(body, f"flow{row}") for row, body in enumerate(bodies)}
    assert world.says(group=GROUP, **flows).sync().exit_code == 0
    for row, (_, changed, removed, _) in enumerate(SPELLINGS):
        world.somebody_changes(FLOW_ID.replace("orders", f"flow{row}"), changed, remove=removed)
    report = world.sync()
    for row, (*_, why) in enumerate(SPELLINGS):
        assert of(report, "AzureResource", f"flow{row}").verdict is Verdict.IN_SYNC, why
    assert world.writes == []


def test_a_list_that_azure_refuses_is_requested_once_and_decides_nothing(tmp_path):
    refusal = "answer: {status: 400, code: BadRequest, message: There is no list.}"
    world = World(tmp_path, rules=rules(f"{{match: {{method: GET, path: '*/Microsoft.Logic/workflows'}}, {refusal}}}"))
    flows = {f"flow{number}": write_flow("{location: westeurope}", f"flow{number}") for number in range(12)}
    world.synced(group=GROUP, **flows)
    report = world.sync()
    assert {result.verdict for result in report.results} == {Verdict.IN_SYNC}
    assert world.writes == []
    assert len([path for path in world.sent("GET") if path.endswith("/workflows")]) == 1


def test_an_entry_that_a_list_lacks_is_read_before_it_counts_as_gone(tmp_path):
    empty = "answer: {status: 200, body: {value: []}}"
    world = World(tmp_path, rules=rules(f"{{match: {{method: GET, path: '*/Microsoft.Logic/workflows'}}, {empty}}}"))
    flows = {f"flow{number}": write_flow("{location: westeurope}", f"flow{number}") for number in range(12)}
    world.synced(group=GROUP, **flows)
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}
    assert world.writes == []

"""Resources that are deleted and created again: with consent, in one run, and in the next one if that is killed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import json as report_json
from gitsync.report import markdown, sarif, text
from gitsync.report.html import page
from gitsync.repository.git.state.plan_file import decode_plan, encode_plan
from tests.support.fault_rules import rules
from tests.support.hypothesis_profile import sample
from tests.support.json_schemas import list_faults
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, KilledError, World, annotated, of

FAR = VNET.replace("westeurope", "northeurope")
AGREED = annotated(FAR, **{"gitsync/replace": "location=northeurope"})
SUBNET_ID = f"{VNET_ID}/subnets/one"
PEERING_ID = f"{VNET_ID}/virtualNetworkPeerings/other"
ASSIGNMENT_ID = f"{VNET_ID}/providers/Microsoft.Authorization/roleAssignments/11111111-1111-4111-8111-111111111111"
ASSIGNMENT = {
    "properties": {
        "roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/11111111-1111-4111-8111-111111111112",
        "principalId": "11111111-1111-4111-8111-111111111113",
    }
}
PRUNING = {"prune": True, "max_deletes": 40}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def agreed(world):
    """A network with a subnet, and a commit that moves it and consents to its replacement."""
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    return world.says(group=GROUP, network=AGREED, subnet=SUBNET)


class Replaced(NamedTuple):
    """A world in which a network was replaced: the reports of the plan and of the sync, and what that sent."""

    world: World
    planned: Report
    done: Report
    writes: list[str]


@pytest.fixture(scope="module")
def replaced(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("replaced"))
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, network=AGREED, subnet=SUBNET)
    return Replaced(world, world.plan(**PRUNING), world.sync(**PRUNING), world.writes)


def test_a_sync_deletes_children_first_and_creates_all_again(replaced):
    planned = of(replaced.planned, "VirtualNetwork")
    assert (planned.action, planned.outcome, planned.is_fine) == (Action.REPLACE, Outcome.CHANGED, True)
    report, network = replaced.done, of(replaced.done, "VirtualNetwork")
    assert replaced.writes == [f"DELETE {SUBNET_ID}", f"DELETE {VNET_ID}", f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"]
    assert (report.exit_code, network.action, network.verdict) == (0, Action.REPLACE, Verdict.PENDING)
    assert network.change.replacement.away is not None
    assert network.record.writes.operation is None
    assert of(report, "VirtualNetworksSubnet").action is Action.CREATE


def test_the_next_run_is_silent_and_reports_a_consent_that_is_used_up_at_its_line(replaced, tmp_path):
    world = replaced.world.copy(tmp_path)
    again = world.sync(**PRUNING)
    assert (again.exit_code, world.writes) == (0, [])
    problem = again.problems[0]
    assert (problem.code, problem.path, problem.line) == ("ReplaceConsentUnused", "network.yaml", 5)


WITHOUT = [
    (FAR, PRUNING, "set the annotation `gitsync/replace: location=northeurope`", "git does not consent"),
    (AGREED, {}, "Run with --prune", "the operator does not"),
    (
        annotated(FAR, **{"gitsync/replace": "location=eastus"}),
        PRUNING,
        "It now consents to",
        "it was for another change",
    ),
    (
        annotated(FAR, **{"gitsync/replace": "loses-data"}),
        PRUNING,
        "location=northeurope",
        "a word alone names no change",
    ),
    (AGREED, {"prune": True}, "run again with --max-deletes 2", "the limit of deletes counts it"),
]


def of_row(text, row):
    """A document or an id for a row of a table, which has a network and a subnet of its own: hub0 and one0, hub1…"""
    return re.sub(r"\b(hub|one)\b", rf"\g<1>{row}", text)


def make_rows(*tables):
    """The documents of rows: the first of each table for the first row, and so on."""
    return {"group": GROUP} | {
        f"d{number}-{row}": of_row(document, row)
        for number, documents in enumerate(tables)
        for row, document in enumerate(documents)
    }


@pytest.mark.parametrize("settings", [PRUNING, {}, {"prune": True}], ids=str)
def test_without_both_consents_nothing_is_sent(world, settings):
    rows = [row for row in WITHOUT if row[1] == settings]
    subnets = [SUBNET] * len(rows)
    world.synced(**make_rows([VNET] * len(rows), subnets))
    world.says(**make_rows([network for network, _, _, _ in rows], subnets))
    planned, done = world.plan(**settings), world.sync(**settings)
    assert world.writes == []
    for row, (_, _, advice, why) in enumerate(rows):
        for report in (planned, done):
            found = of(report, "VirtualNetwork", f"hub{row}")
            seen = (found.action, found.outcome, found.condition.reason)
            assert seen == (Action.NONE, Outcome.BLOCKED, "ReplaceNeeded"), why
            assert advice in found.change.replacement.kept_because == found.condition.advice, why


STRANGERS = [
    (f"{VNET_ID}/subnets/stranger", {"properties": {"addressPrefix": "10.0.9.0/24"}}, "2024-03-01"),
    (PEERING_ID, {"properties": {}}, "2024-03-01"),
    (ASSIGNMENT_ID, ASSIGNMENT, "2022-04-01"),
]


def test_what_git_does_not_have_below_it_holds_it(world):
    subnets = [SUBNET] * len(STRANGERS)
    world.synced(**make_rows([VNET] * len(STRANGERS), subnets))
    world.says(**make_rows([AGREED] * len(STRANGERS), subnets))
    for row, (arm_id, body, api_version) in enumerate(STRANGERS):
        world.outside("PUT", of_row(arm_id, row), body, api_version=api_version)
    done, planned = world.sync(**PRUNING), world.plan(**PRUNING)
    assert world.writes == []
    for row, (arm_id, _, _) in enumerate(STRANGERS):
        kept, planned_to_keep = (
            of(report, "VirtualNetwork", f"hub{row}").change.replacement.kept_because for report in (done, planned)
        )
        assert f"Its delete would also delete {of_row(arm_id, row)}" in kept
        assert planned_to_keep == kept, arm_id


def test_a_kind_whose_name_stays_held_is_not_deleted(world):
    """Whatever the checks say: the create after the delete would be refused, and the vault would be gone."""
    fields = "properties: {tenantId: 00000000-0000-0000-0000-000000000001, sku: {family: A, name: standard}}"
    vault, consent = ("keyvault.azure.com/v1api20230701", "Vault", "vault0gitsync"), "location=northeurope,loses-data"
    world.synced(group=GROUP, vault=manifest(*vault, "annotations: {}", "location: westeurope", "core", fields))
    metadata = f"annotations: {{gitsync/replace: '{consent}'}}"
    world.says(group=GROUP, vault=manifest(*vault, metadata, "location: northeurope", "core", fields))
    found = of(world.sync(**PRUNING), "Vault")
    assert (world.writes, "keeps the name of a deleted key vault" in found.change.replacement.kept_because) == (
        [],
        True,
    )


def test_a_child_that_must_stay_holds_it(world):
    policies = ["skip", "detach-on-delete"]
    subnets = [annotated(SUBNET, reconcile_policy=policy) for policy in policies]
    world.synced(**make_rows([VNET] * 2, [SUBNET] * 2))
    world.says(**make_rows([AGREED] * 2, subnets))
    report = world.sync(**PRUNING)
    assert world.writes == []
    for row, policy in enumerate(policies):
        found = of(report, "VirtualNetwork", f"hub{row}")
        assert f"its policy is {policy}." in found.change.replacement.kept_because


def test_what_does_not_wait_for_it_goes_on_and_what_is_not_reached_is_left(agreed):
    """A stop before the deletes begins none of them."""
    agreed.says(group=GROUP, network=AGREED, subnet=SUBNET, spoke=VNET.replace("name: hub", "name: spoke"))
    report = agreed.sync(**PRUNING)
    assert of(report, "VirtualNetwork", "spoke").action is Action.CREATE
    assert of(report, "VirtualNetwork", "hub").action is Action.REPLACE


def test_a_delete_that_azure_refuses_leaves_all_as_it_was(agreed):
    world = agreed
    refusal = f"{{match: {{method: DELETE, path: '{VNET_ID}'}}, answer: {{status: 409, code: InUse}}}}"
    world.settings = replace(world.settings, rules=rules(refusal))
    report = world.sync(**PRUNING, resource_timeout=60)
    network = of(report, "VirtualNetwork")
    assert (report.exit_code, network.action, "InUse" in network.condition.message + network.condition.reason) == (
        1,
        Action.NONE,
        True,
    )
    assert world.read(VNET_ID, "2024-03-01")["location"] == "westeurope"
    assert world.read(SUBNET_ID, "2024-03-01")["name"] == "one", "its children are there again"
    world.settings = replace(world.settings, rules=())
    assert of(world.sync(**PRUNING), "VirtualNetwork").action is Action.REPLACE


def test_a_create_that_fails_reports_that_the_resource_is_gone(agreed):
    refusal = f"{{match: {{method: PUT, path: '{VNET_ID}'}}, answer: {{status: 400, code: InvalidSomething}}}}"
    agreed.settings = replace(agreed.settings, rules=rules(refusal))
    network = of(agreed.sync(**PRUNING), "VirtualNetwork")
    assert network.outcome is Outcome.FAILED
    assert "It was deleted to be replaced: the next run creates it." in network.condition.message
    agreed.settings = replace(agreed.settings, rules=())
    planned = of(agreed.plan(**PRUNING), "VirtualNetwork")
    assert (planned.verdict, planned.action) == (Verdict.FAILED_BEFORE, Action.CREATE), "it is no drift"
    assert agreed.sync(**PRUNING).exit_code == 0


BUS_ID = f"{GROUP_ID}/providers/Microsoft.ServiceBus/namespaces/bus-x1"
BUS = "apiVersion: servicebus.azure.com/v1api20240101\nkind: Namespace\n"
TOPICS = {
    "topic": "apiVersion: servicebus.azure.com/v1api20240101\nkind: NamespacesTopic\n"
    "metadata: {name: topic}\nspec: {owner: {name: bus-x1}}\n",
    "subscription": "apiVersion: servicebus.azure.com/v1api20240101\nkind: NamespacesTopicsSubscription\n"
    "metadata: {name: mail}\nspec: {owner: {name: topic}}\n",
    "rule": "apiVersion: servicebus.azure.com/v1api20240101\nkind: NamespacesTopicsSubscriptionsRule\n"
    "metadata: {name: all}\nspec: {owner: {name: mail}, filterType: SqlFilter}\n",
}


def test_what_is_below_a_resource_that_is_not_created_again_waits_at_any_depth(world):
    spec = "spec: {{owner: {{name: core}}, location: {}, sku: {{name: Standard}}}}\n"
    consent = "metadata: {name: bus-x1, annotations: {gitsync/replace: 'location=northeurope,loses-data'}}\n"
    old = f"{BUS}metadata: {{name: bus-x1}}\n{spec.format('westeurope')}"
    new = f"{BUS}{consent}{spec.format('northeurope')}"
    world.synced(group=GROUP, bus=old, **TOPICS)
    refusal = f"{{match: {{method: PUT, path: '{BUS_ID}'}}, answer: {{status: 400, code: InvalidSomething}}}}"
    world.settings = replace(world.settings, rules=rules(refusal))
    world.says(group=GROUP, bus=new, **TOPICS)
    for _ in range(2):  # the run that deletes, and the next run
        report = world.sync(**PRUNING)
        assert [line for line in world.writes if line.startswith("PUT")] == [f"PUT {BUS_ID}"]
        below = [result for result in report.results if result.key.kind.startswith("NamespacesTopic")]
        assert {(result.condition.reason, result.ending.exists) for result in below} == {("WaitingForOwner", False)}
    world.settings = replace(world.settings, rules=())
    assert world.sync(**PRUNING).exit_code == 0


def test_a_reviewed_plan_has_the_replacement(agreed):
    planned = agreed.plan(**PRUNING, plan_out="plan.json")
    review = decode_plan(encode_plan(planned.plan.review).encode())
    actions = {key.name: node.action for key, node in review.nodes.items()}
    assert actions == {"core": Action.NONE, "hub": Action.REPLACE, "one": Action.NONE}
    path = agreed.folder.parent / "plan.json"
    path.write_text(encode_plan(planned.plan.review))
    report = agreed.sync(**PRUNING, plan_file=str(path))
    assert (report.exit_code, of(report, "VirtualNetwork").action) == (0, Action.REPLACE)


def test_a_reviewed_plan_without_it_holds_it(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, network=FAR, subnet=SUBNET)
    path = world.folder.parent / "plan.json"
    path.write_text(encode_plan(world.plan(**PRUNING, plan_out="plan.json").plan.review).replace('"none"', '"none"'))
    world.outside("DELETE", SUBNET_ID, api_version="2024-03-01")
    report = world.sync(**PRUNING, plan_file=str(path))
    assert world.writes == []
    assert report.exit_code == 1


def test_killed_at_any_request_it_ends_in_the_next_run(agreed, tmp_path):
    """Never two, never none: whatever was sent before, the next run leaves one network with its subnet."""
    check_kills(agreed, tmp_path, every=2)


KINDS = [
    ("network.azure.com/v1api20240301", "VirtualNetwork", "addressSpace: {addressPrefixes: [10.0.0.0/16]}", "", [
        ("VirtualNetworksSubnet", "addressPrefix: 10.0.1.0/24"),
    ]),
    ("network.azure.com/v1api20240301", "NetworkSecurityGroup", "", "", [
        ("NetworkSecurityGroupsSecurityRule", "access: Deny, direction: Inbound, priority: 200, protocol: Tcp"),
    ]),
    ("network.azure.com/v1api20240301", "RouteTable", "", "", [("RouteTablesRoute", "addressPrefix: 10.1.0.0/16, nextHopType: None")]),
    ("network.azure.com/v1api20240301", "PublicIPAddress", "publicIPAllocationMethod: Static", "", []),
    ("network.azure.com/v1api20240301", "NatGateway", "sku: {name: Standard}", "", []),
    ("managedidentity.azure.com/v1api20230131", "UserAssignedIdentity", "operatorSpec: {configMaps: {clientId: {name: identity, key: client}}}", "", [
        ("FederatedIdentityCredential", "audiences: [api], issuer: 'https://example.com', subject: job"),
    ]),
    ("compute.azure.com/v1api20240302", "Disk", "creationData: {createOption: Empty}, diskSizeGB: 32", "loses-data", []),
    ("servicebus.azure.com/v1api20240101", "Namespace", "sku: {name: Standard}", "loses-data", [("NamespacesQueue", "")]),
    ("eventhub.azure.com/v1api20240101", "Namespace", "sku: {name: Standard}", "loses-data", [("NamespacesEventhub", "")]),
    ("storage.azure.com/v1api20230101", "StorageAccount", "kind: StorageV2, sku: {name: Standard_LRS}, accessTier: Hot", "loses-data", [("StorageAccountsBlobService", "isVersioningEnabled: true")]),
    ("insights.azure.com/v1api20200202", "Component", "Application_Type: web, kind: web", "", []),
    ("cache.azure.com/v1api20241101", "Redis", "sku: {capacity: 1, family: C, name: Basic}", "loses-data", []),
]  # fmt: skip
"""Kinds with a field of the region: api-version, kind, fields, the word for data, and children with their fields."""


def estate(location: str, *, consents: bool) -> dict[str, str]:
    """The manifests of all kinds in one region."""
    documents = {"group": GROUP}
    for number, (api_version, kind, fields, word, children) in enumerate(KINDS):
        name = f"parent0account{number}"
        consent = ",".join(filter(None, (f"location={location}", word)))
        annotations = f"annotations: {{gitsync/replace: '{consent}'}}" if consents else "annotations: {}"
        documents[name] = manifest(api_version, kind, name, annotations, f"location: {location}", "core", fields)
        for child, more in children:
            documents[f"{name}-{child}"] = manifest(api_version, child, f"child{number}", "labels: {}", "", name, more)
    return documents


def manifest(api_version: str, kind: str, name: str, metadata: str, location: str, owner: str, fields: str) -> str:
    spec = ", ".join(filter(None, (location, f"owner: {{name: {owner}}}", fields)))
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, {metadata}}}\nspec: {{{spec}}}\n"


def test_twelve_kinds_with_their_children_are_replaced_however_often_it_is_killed(tmp_path):
    world = World(make(tmp_path, "before"))
    assert world.says(**estate("westeurope", consents=False)).sync().exit_code == 0
    world.says(**estate("northeurope", consents=True))
    check_kills(world, tmp_path, every=37)


def check_kills(before: World, tmp_path: Path, every: int) -> None:
    """Kill the sync of a world after numbers of requests that are a multiple, and compare the end."""
    undisturbed = before.copy(make(tmp_path, "undisturbed"))
    report = undisturbed.sync(**PRUNING)
    assert report.exit_code == 0, [(str(r.key), r.condition.message) for r in report.results if not r.is_fine]
    assert any(result.action is Action.REPLACE for result in report.results)
    assert stale_exports(undisturbed) == []
    sent = [f"{request.method} {request.path}" for request in undisturbed.requests]
    first = next(index for index, path in enumerate(sent) if path.startswith("DELETE"))
    for count in sample(range(first, len(sent), every)):
        world = before.copy(make(tmp_path, str(count)))
        world.kill_after = count
        with pytest.raises(KilledError):
            world.sync(**PRUNING)
        world.kill_after = None
        report = world.sync(**PRUNING)
        verdicts = {result.verdict for result in report.results}
        assert verdicts <= {Verdict.IN_SYNC, Verdict.PENDING}, f"Azure is as gitsync left it after {sent[count - 1]}"
        assert report.exit_code == 0, (count, [(str(r.key), r.condition.message) for r in report.results])
        assert in_azure(world) == in_azure(undisturbed)
        assert stale_exports(world) == []
        assert (world.sync(**PRUNING).exit_code, world.writes) == (0, [])


def make(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def in_azure(world: World) -> dict[str, Any]:
    """What there is, without what Azure makes again with each create."""
    return {
        key: (stored.id, stored.body.get("location"), sorted(stored.body), stored.state)
        for key, stored in world.store.below("/")
    }


def stale_exports(world: World) -> list[str]:
    """The identities whose exported client id is not that of the resource which is there now."""
    text = "".join(path.read_text() for path in world.state.rglob("ConfigMap/*.json"))
    there = [stored.id for _, stored in world.store.below("/") if "/userAssignedIdentities/" in stored.id]
    identities = [arm_id for arm_id in there if arm_id.count("/") == 8]
    return [
        identity for identity in identities if world.read(identity, "2023-01-31")["properties"]["clientId"] not in text
    ]


def test_a_consent_is_not_used_up_while_its_field_differs(agreed, tmp_path):
    """A run that is stopped before the delete, or a field that nothing is known of: Azure may refuse it in place."""
    agreed.stop_after = 8
    report = agreed.sync(**PRUNING)
    network = of(report, "VirtualNetwork")
    assert (report.interrupted, network.action, len(agreed.writes)) == (True, Action.NONE, 1)
    assert "ReplaceConsentUnused" not in {problem.code for problem in report.problems}
    other = World(make(tmp_path, "other"))
    other.synced(group=GROUP, network=VNET)
    wider = annotated(VNET.replace("0.0/16", "0.0/15"), **{"gitsync/replace": "addressSpace=10.0.0.0/15"})
    report = other.says(group=GROUP, network=wider).plan()
    assert of(report, "VirtualNetwork").action is Action.UPDATE
    assert [problem.code for problem in report.problems] == []
    other.sync()
    assert [problem.code for problem in other.plan().problems] == ["ReplaceConsentUnused"]


def test_all_forms_of_a_report_show_what_is_replaced(replaced):
    """A plan shows what a sync would do with which flags, and a sync for how long the resource was away."""
    planned, done = replaced.planned, replaced.done
    takes = "A sync deletes it and creates it again, with VirtualNetworksSubnet/one."
    for render in (text.render, markdown.render, page.render):
        assert takes in render(planned)
        assert "To replace" in render(planned)
        assert "Replaced" in render(done)
        assert "away for" in render(done)
        assert "Replace needed" not in render(planned) + render(done)
    assert "Run `gitsync sync` with the flags of this plan" in text.render(planned)
    alert = json.loads(sarif.render(planned))["runs"][0]["results"][0]
    assert (alert["ruleId"], alert["level"]) == ("replace", "warning")
    for report, members in ((planned, {"reason", "takes"}), (done, {"reason", "takes", "awaySeconds"})):
        document = json.loads(report_json.render(report))
        assert list_faults("report", document) == []
        network = next(resource for resource in document["resources"] if resource["kind"] == "VirtualNetwork")
        assert (network["action"], set(network["replacement"])) == ("replace", members)

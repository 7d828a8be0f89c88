"""Unexpected answers where a list or a look decides, in whole runs: nothing is deleted or written because of one."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World, of

STRANGER_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/files"
STRANGER = {"location": "westeurope", "sku": {"name": "Standard_LRS"}}
NEXT = f"http://127.0.0.1:1{GROUP_ID}/resources"

MALFORMED = [
    (None, "an empty body"),
    ({}, "no list"),
    ([], "no page around the entries"),
    ("", "a text"),
    (5, "a number"),
    ({"value": None}, "null for a list"),
    ({"value": 5}, "a number for a list"),
    ({"value": ""}, "a text for a list"),
    ({"value": {}}, "an object for a list"),
    ({"value": {"id": VNET_ID}}, "one entry for a list"),
    ({"value": [VNET_ID]}, "texts for entries"),
    ({"value": [None]}, "null for an entry"),
    ({"value": [{}]}, "an entry without an id"),
    ({"value": [{"id": None}]}, "null for an id"),
    ({"value": [{"id": 5}]}, "a number for an id"),
    ({"value": [{"name": "hub"}]}, "a name for an id"),
    ({"error": {"code": "ServerBusy", "message": "Later."}}, "an error that comes as a success"),
    ({"value": [], "error": {"code": "ServerBusy", "message": "Later."}}, "an error besides a list"),
    ({"value": [], "nextLink": 5}, "a number for a link"),
    ({"value": [], "nextLink": {}}, "an object for a link"),
    ({"value": [], "nextLink": "more"}, "a word for a link"),
    ({"value": [], "nextLink": NEXT}, "a link to another host"),
    ({"value": [], "nextLink": "{base}" + f"{GROUP_ID}/resources?api-version=2021-04-01"}, "a link to itself"),
]


def play(world, method, path, body, *, status=200, **match):
    """Let the emulator answer some requests with this body."""
    rule = {"match": {"method": method, "path": path, **match}, "answer": {"status": status, "body": body}}
    world.settings = replace(world.settings, rules=rules(json.dumps(rule)))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def with_stranger(world):
    world.outside("PUT", STRANGER_ID, STRANGER, "2023-01-01")
    return world


def is_there(world, path, api_version):
    return "error" not in (world.read(path, api_version) or {"error": None})


NAMES = re.compile(r"\b(core|hub|one|vault-of-ours)\b")


def of_row(text, row):
    """A document, an id or a rule for a row of a table, which has resources of its own: core0 and hub0, core1…"""
    return NAMES.sub(rf"\g<1>{row}", text)


def make_rows(table, *documents):
    """A copy of these documents for each row of a table."""
    return {
        f"d{row}-{location}": of_row(document, row)
        for row in range(len(table))
        for location, document in enumerate(documents)
    }


def play_rows(world, path, bodies, *, status=200, **when):
    """Let the emulator answer some reads of the resources of each row with its body."""
    rows = [
        json.dumps({"match": {"method": "GET", "path": path, **when}, "answer": {"status": status, "body": body}})
        for body in bodies
    ]
    played = rules(*(of_row(text, row) for row, text in enumerate(rows)))
    world.settings = replace(world.settings, rules=played, operations=Timing(style=Style.DONE))


def play_malformed(world, **when):
    """Put something foreign into each group, and answer its list as its row describes."""
    for row in range(len(MALFORMED)):
        world.somebody_creates(of_row(STRANGER_ID, row), STRANGER)
    play_rows(world, "*/resourcegroups/core/resources", [body for body, _ in MALFORMED], **when)


@pytest.mark.parametrize("when", [{}, {"nth": [1]}, {"nth": [2]}], ids=["each time", "first", "second"])
def test_groups_with_something_foreign_in_them_outlast_unexpected_lists(world, when):
    world.synced(**make_rows(MALFORMED, GROUP, VNET))
    play_malformed(world, **when)
    report = world.says().sync(prune=True, max_deletes=2 * len(MALFORMED))
    deleted = set(world.sent("DELETE"))
    there = world.azure().ids()
    for row, (_, why) in enumerate(MALFORMED):
        assert of_row(GROUP_ID, row) not in deleted, why
        assert of(report, "ResourceGroup", f"core{row}").record is not None, why
        assert of_row(STRANGER_ID, row) in there, why
        deleted.discard(of_row(VNET_ID, row))
    assert not deleted, "only what is on record goes, each by itself"
    assert report.exit_code in {0, 1}


def test_empty_groups_outlast_unexpected_lists(world):
    world.synced(**make_rows(MALFORMED, GROUP))
    play_malformed(world)
    report = world.says().sync(prune=True, max_deletes=len(MALFORMED))
    assert (world.sent("DELETE"), report.exit_code) == ([], 1)
    for row, (_, why) in enumerate(MALFORMED):
        assert of(report, "ResourceGroup", f"core{row}").verdict is Verdict.UNKNOWN, why
    world.settings = EmulatorSettings(limits=None)
    report = world.sync(prune=True, max_deletes=len(MALFORMED))
    verdicts = {result.verdict for result in report.results}
    assert verdicts == {Verdict.BLOCKED}, "the next run reads the lists"


def test_a_list_that_is_refused_is_not_empty(world):
    statuses = [403, 404, 409, 500]
    world.synced(**make_rows(statuses, GROUP, VNET))
    for row in range(len(statuses)):
        world.somebody_creates(of_row(STRANGER_ID, row), STRANGER)
    lists = (
        json.dumps(
            {
                "match": {"method": "GET", "path": "*/resourcegroups/core/resources"},
                "answer": {"status": status, "body": {"value": []}},
            }
        )
        for status in statuses
    )
    world.settings = replace(world.settings, rules=rules(*(of_row(text, row) for row, text in enumerate(lists))))
    world.says().sync(prune=True, max_deletes=8, resource_timeout=60.0)
    assert sorted(world.sent("DELETE")) == [of_row(VNET_ID, row) for row in range(len(statuses))]


def test_an_empty_list_lets_no_group_go_before_what_is_on_record(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    play(world, "GET", "*/resourcegroups/core/resources", {"value": []})
    report = world.says().sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == [SUBNET_ID, VNET_ID, GROUP_ID]
    assert report.exit_code == 0


def test_an_empty_list_is_held_against_the_one_that_follows(world):
    world.synced(group=GROUP, vnet=VNET)
    play(with_stranger(world), "GET", "*/resourcegroups/core/resources", {"value": []}, nth=[1])
    report = world.says().sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == [VNET_ID]
    assert "storageAccounts/files" in of(report, "ResourceGroup").condition.message


def test_a_list_that_leaves_out_what_is_there_is_not_relied_on(world):
    """The first one shows the network, the next one does not: who knows what else it leaves out."""
    world.synced(group=GROUP, vnet=VNET)
    play(world, "GET", "*/resourcegroups/core/resources", {"value": []}, after=1)
    report = world.says().sync(prune=True, max_deletes=3, resource_timeout=60.0)
    found = of(report, "ResourceGroup")
    assert (world.sent("DELETE"), found.verdict, found.condition.reason) == ([], Verdict.BLOCKED, "PruneHeld")
    assert VNET_ID in found.condition.message


def test_what_was_deleted_may_still_show_in_a_list(world):
    """Azure's lists lag behind: what this run deleted does not hold its group."""
    world.synced(group=GROUP, vnet=VNET)
    network = {"value": [{"id": VNET_ID, "name": "hub", "type": "Microsoft.Network/virtualNetworks"}]}
    empty = {"match": {"path": "*/resources", "nth": [1]}, "answer": {"status": 200, "body": {"value": []}}}
    lagging = {"match": {"path": "*/resources"}, "answer": {"status": 200, "body": network}}
    world.settings = replace(world.settings, rules=rules(json.dumps(empty), json.dumps(lagging)))
    world.says().sync(prune=True, max_deletes=3)
    assert world.sent("DELETE") == [VNET_ID, GROUP_ID]


MALFORMED_RESOURCES = [
    (None, "an empty body"),
    ({}, "nothing in it"),
    ({"value": []}, "an empty list"),
    ({"id": VNET_ID.replace("/hub", "/other"), "name": "other", "properties": {}}, "another resource"),
    ({"id": VNET_ID, "properties": []}, "properties that are a list"),
    ({"error": {"code": "ResourceNotFound", "message": "Gone."}}, "an error that comes as a success"),
]


@pytest.fixture
def misread(world):
    """A network for each row, which is read wrongly."""
    world.synced(**make_rows(MALFORMED_RESOURCES, GROUP, VNET))
    play_rows(world, "*/virtualnetworks/hub", [body for body, _ in MALFORMED_RESOURCES])
    return world


def test_what_is_read_wrongly_is_neither_deleted_nor_forgotten(misread):
    report = misread.says(**make_rows(MALFORMED_RESOURCES, GROUP)).sync(prune=True, max_deletes=9)
    for row, (_, why) in enumerate(MALFORMED_RESOURCES):
        found = of(report, "VirtualNetwork", f"hub{row}")
        assert (found.verdict, found.record is not None) == (Verdict.UNKNOWN, True), why
    assert misread.writes == []


def test_what_is_read_wrongly_is_neither_written_nor_created(misread):
    report = misread.says(**make_rows(MALFORMED_RESOURCES, GROUP, VNET.replace("10.0", "10.1"))).sync()
    assert misread.writes == []
    planned = misread.says(**make_rows(MALFORMED_RESOURCES, GROUP, VNET)).plan()
    for row, (_, why) in enumerate(MALFORMED_RESOURCES):
        assert of(report, "VirtualNetwork", f"hub{row}").verdict is Verdict.UNKNOWN, why
        assert of(planned, "VirtualNetwork", f"hub{row}").verdict is Verdict.UNKNOWN, why
    assert planned.exit_code == 1


def test_a_404_that_is_not_azures_reports_nothing(world):
    """It is neither created again nor forgotten."""
    bodies = [{}, {"value": []}, {"message": "no route"}]
    world.synced(**make_rows(bodies, GROUP, VNET))
    play_rows(world, "*/virtualnetworks/hub", bodies, status=404)
    report = world.sync(reads="each")  # no list of networks
    assert world.writes == []
    removed = world.says(**make_rows(bodies, GROUP)).sync(prune=True, max_deletes=3)
    assert world.writes == []
    for row, body in enumerate(bodies):
        assert of(report, "VirtualNetwork", f"hub{row}").verdict is Verdict.UNKNOWN, body
        assert of(removed, "VirtualNetwork", f"hub{row}").record is not None, body


ASSIGNMENT = """\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata:
      name: reads
    spec:
      owner: {name: core, group: resources.azure.com, kind: ResourceGroup}
      principalId: 5a9ad4b2-3f0c-4d6b-9c3e-2f6f6f6f6f6f
      roleDefinitionReference: {wellKnownName: Reader}
    """
ROLES = "*/roledefinitions"


UNEXPECTED_ROLES = [
    *[row for row in MALFORMED if "entry" not in row[1] and "id" not in row[1].split()],
    ({"value": [{}]}, "a role without anything"),
    ({"value": [{"name": "x", "properties": {"type": "BuiltInRole", "roleName": 5}}]}, "a number for a name"),
    ({"value": [{"name": 5, "properties": {"type": "BuiltInRole", "roleName": "Reader"}}]}, "a number for an id"),
    ({"value": [{"name": "x", "properties": ["Reader"]}]}, "a list for properties"),
]


def test_no_role_is_assigned_by_an_unexpected_list_of_roles(world):
    world.synced(group=GROUP)
    world.says(group=GROUP, role=ASSIGNMENT)
    for body, why in UNEXPECTED_ROLES:
        play(world, "GET", ROLES, body)
        report = world.sync()
        found = of(report, "RoleAssignment")
        assert (report.exit_code, found.ending.fault, found.condition.is_ready) == (1, None, False), why
        assert world.writes == [], why
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(), "RoleAssignment").condition.is_ready, "the next run reads the list"


VAULT = """\
    apiVersion: keyvault.azure.com/v1api20210401preview
    kind: Vault
    metadata:
      name: vault-of-ours
    spec:
      location: westeurope
      owner: {name: core}
      properties:
        createMode: MODE
        tenantId: 11111111-1111-1111-1111-111111111111
        sku: {family: A, name: standard}
        accessPolicies: []
    """
DELETED_ID = (
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/vault-of-ours"
)


UNEXPECTED_VAULTS = [
    (None, "an empty body"),
    ({}, "nothing in it"),
    ({"value": []}, "a list"),
    ({"id": DELETED_ID.replace("vault-of-ours", "other"), "properties": {}}, "another vault"),
    ({"id": DELETED_ID, "properties": {"vaultId": 5}}, "a number for what it was"),
    ({"id": DELETED_ID, "properties": {"vaultId": f"{GROUP_ID}/providers/x/vaults/other"}}, "it was another one"),
    ({"error": {"code": "NotFound", "message": "No."}}, "an error that comes as a success"),
]


@pytest.mark.parametrize("mode", ["createOrRecover", "purgeThenCreate"])
def test_no_vault_is_purged_or_made_by_an_unexpected_answer(world, mode):
    world.synced(**make_rows(UNEXPECTED_VAULTS, GROUP))
    play_rows(world, "*/deletedvaults/vault-of-ours", [body for body, _ in UNEXPECTED_VAULTS])
    report = world.says(**make_rows(UNEXPECTED_VAULTS, GROUP, VAULT.replace("MODE", mode))).sync()
    for row, (_, why) in enumerate(UNEXPECTED_VAULTS):
        found = of(report, "Vault", f"vault-of-ours{row}")
        assert (found.condition.is_ready, found.ending.fault, found.action) == (False, None, Action.NONE), why
    assert (world.writes, report.exit_code) == ([], 1)


UNEXPECTED_SUBNETS = [
    (None, "no list"),
    ({}, "an object for a list"),
    ("", "a text for a list"),
    ([None], "null for a subnet"),
    (["one"], "a name for a subnet"),
    ([{}], "a subnet without anything"),
    ([{"name": "one"}], "a subnet without properties"),
    ([{"name": 5, "properties": {}}], "a number for a name"),
    ([{"name": "one", "properties": "x"}], "a text for properties"),
    ([{"name": "one", "properties": {"delegations": 5}}], "a number for a list in it"),
    ([{"name": "one", "properties": {"natGateway": "x"}}], "a text for an object in it"),
]


def test_no_network_is_written_by_an_unexpected_list_of_its_subnets(world):
    world.synced(**make_rows(UNEXPECTED_SUBNETS, GROUP, VNET, SUBNET))
    body = {"id": VNET_ID, "name": "hub", "location": "westeurope"}
    space = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    bodies = [{**body, "properties": {**space, "subnets": subnets}} for subnets, _ in UNEXPECTED_SUBNETS]
    play_rows(world, "*/virtualnetworks/hub", bodies)
    wider = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
    report = world.says(**make_rows(UNEXPECTED_SUBNETS, GROUP, wider, SUBNET)).sync()
    for row, (_, why) in enumerate(UNEXPECTED_SUBNETS):
        found = of(report, "VirtualNetwork", f"hub{row}")
        assert (found.action, found.is_fine, found.ending.fault) == (Action.NONE, False, None), why
    assert (world.writes, report.exit_code) == ([], 1)


@pytest.mark.parametrize("polled", [{"error": {"code": "Busy"}}, {"status": 5}, {}, [], None])
def test_a_delete_is_not_done_by_an_unexpected_poll(world, polled):
    world.synced(group=GROUP, vnet=VNET)
    rule = {"match": {"poll": True}, "answer": {"status": 200, "body": polled}}
    world.settings = replace(world.settings, rules=rules(json.dumps(rule)))
    found = of(world.says(group=GROUP).sync(prune=True, resource_timeout=60.0), "VirtualNetwork")
    gone = not is_there(world, VNET_ID, "2024-03-01")
    assert (found.record is None) <= gone

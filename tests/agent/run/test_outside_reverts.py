"""A revert restores what changed outside of git's fields by a PATCH of just that, after git's own values."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.removed_values import KEPT
from gitsync.repository.git.state.plan_file import encode_plan
from gitsync.repository.git.state.plan_seal import seal_plan
from tests.support.fault_rules import rules
from tests.support.hypothesis_profile import sample
from tests.support.world import ACCOUNT as BARE_ACCOUNT
from tests.support.world import GROUP, GROUP_ID, KilledError, World, annotated, of

ACCOUNT = BARE_ACCOUNT.replace("Standard_LRS}", "Standard_LRS}\n      tags: {team: shop}")
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/data"
OPENED, SKU = "/properties/publicNetworkAccess", "/sku/name"
RULES = [{"value": "1.2.3.4", "action": "Allow"}, {"value": "5.6.7.8", "action": "Allow"}]
BEFORE = {
    "location": "westeurope",
    "kind": "StorageV2",
    "sku": {"name": "Standard_LRS"},
    "tags": {"team": "shop", "owner": "rob"},
    "properties": {
        "publicNetworkAccess": "Disabled",
        "networkAcls": {"defaultAction": "Deny", "ipRules": RULES},
    },
}
REVERT = {"outside_use": OutsideUse.RESTORE}


def adopt(folder, *names):
    """Accounts that were adopted with more values than git has."""
    world = World(folder)
    world.synced(group=GROUP)
    for name in names:
        world.somebody_creates(id_of(name), BEFORE)
    world.says(group=GROUP, **{name: called(name) for name in names}).sync()
    assert not world.writes
    return world


def called(name, text=ACCOUNT):
    return text.replace("name: data", f"name: {name}")


def id_of(name):
    return ACCOUNT_ID.replace("/data", f"/{name}")


@pytest.fixture(scope="module")
def adopted(tmp_path_factory):
    return adopt(tmp_path_factory.mktemp("adopted"), "data")


@pytest.fixture
def world(adopted, tmp_path):
    return adopted.copy(tmp_path)


def change(world, values, name="data", **settings):
    return world.somebody_changes(id_of(name), values, **settings)


def read(world, name="data"):
    return world.read(id_of(name), api_version="2023-01-01")


def outside(report, name="data"):
    return {each.path: (each.before, each.now) for each in of(report, "StorageAccount", name).comparison.outside}


def bodies(world, method):
    return [request.body for request in world.requests if request.method == method]


CHANGES = [
    ({OPENED: "Enabled"}, (), {"properties": {"publicNetworkAccess": "Disabled"}}, "a value"),
    (
        {"/properties/isSftpEnabled": True},
        (),
        {"properties": {"isSftpEnabled": None}},
        "a new member",
    ),
    ({}, ("/tags/owner",), {"tags": {"team": "shop", "owner": "rob"}}, "a tag that is gone, beside one of git"),
    ({"/tags/new": "x"}, (), {"tags": {"team": "shop", "owner": "rob"}}, "a new tag"),
    (
        {},
        ("/properties/networkAcls/ipRules/0",),
        {"properties": {"networkAcls": {"ipRules": [RULES[1], RULES[0]]}}},
        "an entry of a list",
    ),
]


def test_a_patch_restores_just_what_changed(tmp_path):
    """The account of each row is changed in its own way."""
    rows = {f"data{row}": changed for row, changed in enumerate(CHANGES)}
    world = adopt(tmp_path, *rows)
    before = {name: read(world, name) for name in rows}
    for name, (values, remove, _, _) in rows.items():
        change(world, values, name, remove=remove)
    plan, report = world.plan(**REVERT), world.sync(**REVERT)
    assert sorted(world.writes) == [f"PATCH {id_of(name)}" for name in rows]
    sent = {request.path: request.body for request in world.requests if request.method == "PATCH"}
    again = world.sync()
    assert not world.writes
    for name, (_, _, patch, why) in rows.items():
        planned, result = of(plan, "StorageAccount", name), of(report, "StorageAccount", name)
        assert (planned.verdict, planned.action) == (Verdict.IN_SYNC, Action.UPDATE), why
        assert planned.change.restores == planned.comparison.outside, why
        assert planned.condition.message.startswith("The revert restores "), planned.condition
        assert sent[id_of(name)] == patch, why
        assert (result.action, result.condition.is_ready) == (Action.UPDATE, True), why
        live = read(world, name)
        assert sort_rules(live["properties"]) == sort_rules(before[name]["properties"]), why
        assert live["tags"] == before[name]["tags"], why
        assert not outside(again, name), why


def sort_rules(properties):
    """Sort the rules: a restored one is the last of its list."""
    acls = properties["networkAcls"]
    return {**properties, "networkAcls": {**acls, "ipRules": sorted(acls["ipRules"], key=lambda rule: rule["value"])}}


KEEPS = "{match: {method: PUT, type: Microsoft.Storage/storageAccounts}, keep: [/properties, /tags]}"
KEPT_AS_IT_IS = [
    ("answer: {status: 405}", "it refused the PATCH (", {}, "a refusal alone"),
    ("answer: {status: 405}", "it refused the PATCH (", {SKU: "Premium_LRS"}, "a refusal after drift"),
    ("answer: {status: 200, body: {}}", "it ignored the PATCH", {}, "a PATCH that does nothing"),
    (
        "answer: {status: 200, body: {}}",
        "it ignored the PATCH",
        {SKU: "Premium_LRS"},
        "one that does nothing after drift",
    ),
]


def script(world, *lines):
    world.settings = replace(world.settings, rules=rules(*lines))


def test_drift_is_written_first_and_then_what_is_still_changed(world):
    change(world, {SKU: "Premium_LRS", OPENED: "Enabled"})
    script(world, KEEPS)
    result = of(world.sync(**REVERT), "StorageAccount")
    assert [line.split()[0] for line in world.writes] == ["PUT", "PATCH"]
    assert bodies(world, "PATCH") == [{"properties": {"publicNetworkAccess": "Disabled"}}]
    assert (result.verdict, result.action, result.condition.is_ready) == (Verdict.DRIFTED, Action.UPDATE, True)
    live = read(world)
    assert (live["sku"]["name"], live["properties"]["publicNetworkAccess"]) == ("Standard_LRS", "Disabled")
    assert not outside(world.plan())


def test_what_azure_keeps_is_an_error_and_is_found_again(tmp_path):
    rows = {f"data{row}": kept for row, kept in enumerate(KEPT_AS_IT_IS)}
    world = adopt(tmp_path, *rows)
    for name, (_, _, drift, _) in rows.items():
        change(world, {OPENED: "Enabled", **drift}, name)
    script(world, KEEPS, *(f"{{match: {{method: PATCH, path: '*/{name}'}}, {rows[name][0]}}}" for name in rows))
    report = world.sync(**REVERT)
    assert sorted(world.sent("PATCH")) == [id_of(name) for name in rows], "each is sent once"
    later = world.sync()
    assert not world.writes
    for name, (_, said, _, why) in rows.items():
        result, again = of(report, "StorageAccount", name), of(later, "StorageAccount", name)
        assert (result.condition.reason, result.is_fine) == (KEPT, False), why
        assert result.condition.message.startswith("Azure kept spec.publicNetworkAccess as changed outside of git: ")
        assert said in result.condition.message, why
        assert f"gitsync acknowledge StorageAccount/{name}" in result.condition.advice, why
        assert [each.path for each in again.comparison.outside] == [OPENED], why
        assert again.condition.is_ready, why


def test_an_operation_that_outlasts_the_run_keeps_the_recorded_values(world):
    change(world, {OPENED: "Enabled"})
    script(world, "{match: {method: PATCH}, operation: {style: async, seconds: 900}}")
    result = of(world.sync(resource_timeout=6.0, **REVERT), "StorageAccount")
    assert result.condition.reason == "Reconciling"
    world.settings = replace(world.settings, rules=())
    asyncio.run(world.clock.sleep(1000))
    assert not outside(world.plan(reads="each"))
    change(world, {OPENED: "Enabled"})
    assert outside(world.sync()) == {OPENED: ("Disabled", "Enabled")}
    assert outside(world.plan()) == {OPENED: ("Disabled", "Enabled")}


FLOW_ID = f"{GROUP_ID}/providers/Microsoft.Logic/workflows/orders"
FLOW = """\
    apiVersion: azure.gitsync/v1
    kind: AzureResource
    metadata: {name: orders}
    spec:
      type: Microsoft.Logic/workflows@2019-05-01
      owner: {group: resources.azure.com, kind: ResourceGroup, name: core}
      body: {location: westeurope, properties: {definition: {}}}
    """


def test_an_azure_resource_is_restored_alike(world):
    world.says(group=GROUP, account=ACCOUNT, flow=FLOW).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    planned = of(world.plan(**REVERT), "AzureResource")
    assert "The revert restores spec.body.properties.state," in planned.condition.message
    world.sync(**REVERT)
    assert bodies(world, "PATCH") == [{"properties": {"state": None}}]
    assert not of(world.plan(), "AzureResource").comparison.outside


def test_a_digest_is_not_restored_and_stays_a_change(world, tmp_path):
    key = {"digest_key": Secret("a" * 64)}
    folder = tmp_path / "keyed"
    folder.mkdir()
    other = World(folder)
    other.says(group=GROUP).sync(**key)
    other.somebody_creates(ACCOUNT_ID, {**BEFORE, "tags": {"team": "shop", "note": "long " * 300}})
    other.says(group=GROUP, account=ACCOUNT).sync(**key)
    change(other, {"/tags/note": "short", OPENED: "Enabled"})
    planned = of(other.plan(**key, **REVERT), "StorageAccount")
    assert [each.path for each in planned.change.restores] == [OPENED]
    assert "It does not restore spec.tags.note, since the record has only a digest" in planned.condition.message
    other.sync(**key, **REVERT)
    assert bodies(other, "PATCH") == [{"properties": {"publicNetworkAccess": "Disabled"}}]
    assert list(outside(other.plan(**key))) == ["/tags/note"]


def test_what_is_restored_to_a_weaker_value_is_named(world):
    change(world, {"/properties/networkAcls/ipRules": RULES[:1]})
    message = of(world.plan(**REVERT), "StorageAccount").condition.message
    assert "This may make the resource weaker: " in message, message


def test_only_what_was_reviewed_is_restored(world, tmp_path):
    change(world, {OPENED: "Enabled"})
    file = tmp_path / "plan.json"
    review = world.plan(plan_out=str(file), **REVERT).plan.review
    file.write_text(encode_plan(seal_plan(review, None)))
    change(world, {"/tags/owner": "eve"})
    result = of(world.sync(plan_file=str(file), **REVERT), "StorageAccount")
    assert (result.condition.reason, world.writes) == ("PlanOutdated", [])
    review = world.plan(plan_out=str(file), **REVERT).plan.review
    file.write_text(encode_plan(seal_plan(review, None)))
    result = of(world.sync(plan_file=str(file), **REVERT), "StorageAccount")
    assert world.writes == [f"PATCH {ACCOUNT_ID}"]
    assert read(world)["tags"] == {"team": "shop", "owner": "rob"}


LEFT = [
    (ACCOUNT.replace("Standard_LRS", "Standard_GRS"), Verdict.PENDING, "what git changed has to be written first"),
    (annotated(ACCOUNT, **{"gitsync/ignore": "[spec.publicNetworkAccess]"}), Verdict.IN_SYNC, "what git ignores"),
    (
        annotated(ACCOUNT, **{"gitsync/hold": "until 2026-03-20, incident 4711"}),
        Verdict.HELD,
        "what somebody holds",
    ),
]


def test_what_is_skipped(tmp_path):
    rows = {f"data{row}": left for row, left in enumerate(LEFT)}
    world = adopt(tmp_path, *rows)
    for name in rows:
        change(world, {OPENED: "Enabled"}, name)
    report = world.says(group=GROUP, **{name: called(name, text) for name, (text, _, _) in rows.items()}).plan(**REVERT)
    for name, (_, verdict, why) in rows.items():
        result = of(report, "StorageAccount", name)
        assert (result.verdict, result.change.restores) == (verdict, ()), why


def test_a_run_that_is_killed_anywhere_loses_no_change(world, tmp_path):
    change(world, {SKU: "Premium_LRS", OPENED: "Enabled"})
    script(world, KEEPS)
    undisturbed = copy(world, tmp_path, "undisturbed")
    undisturbed.sync(**REVERT)
    sent = [request.method for request in undisturbed.requests]
    assert "PATCH" in sent
    for count in sample(range(1, len(sent))):
        other = copy(world, tmp_path, str(count))
        other.kill_after = count
        with pytest.raises(KilledError):
            other.sync(**REVERT)
        other.kill_after = None
        is_restored = read(other)["properties"]["publicNetworkAccess"] == "Disabled"
        assert is_restored is not bool(outside(other.plan())), f"after {sent[:count]}"
        other.sync(**REVERT)
        assert read(other) == read(undisturbed)
        assert not outside(other.plan())


def copy(world, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    return world.copy(folder)

"""What a plan has of a value that flows, and when its resource waits (docs/values.md)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.emulator.faults import Move
from gitsync.model.record import Claim
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.unknown_values import NOT_KNOWN
from gitsync.repository.git.state.plan_file import encode_plan
from tests.support.fault_rules import rules
from tests.support.world import ACCOUNT, GROUP, GROUP_ID, World, annotated, key, of

EGRESS = key("PublicIPAddress", "network.azure.com", "egress")
EGRESS_ID = f"{GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/egress"
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/data"
IP = """\
    apiVersion: network.azure.com/v1api20201101
    kind: PublicIPAddress
    metadata:
      name: egress
    spec:
      owner: {name: core}
      location: westeurope
      sku: {name: Standard}
      publicIPAllocationMethod: Static
      tags: {stage: test}
    """
STAGE = 'resource("PublicIPAddress/egress").status.tags["stage"]'
ADDRESS = 'resource("PublicIPAddress/egress").status.ipAddress'
PROD, TIMEOUT = (
    IP.replace("stage: test", "stage: prod"),
    IP.replace("      tags", "      idleTimeoutInMinutes: 9\n      tags"),
)
HELD = {"gitsync/hold": "until 2026-03-02, incident 4711"}
PRUNING = {"prune": True, "max_deletes": 10}


def setting(document: str, *entries: str) -> str:
    """A document with expressions for fields."""
    lines = "".join(f"          {entry}\n" for entry in entries)
    return document.replace("    metadata:\n", f"    metadata:\n      annotations:\n        gitsync/set: |\n{lines}", 1)


STAGED = setting(ACCOUNT, f"spec.tags.stage: {STAGE}")
ADDRESSED = setting(ACCOUNT, f"spec.tags.ip: {ADDRESS}")


@pytest.fixture
def world(tmp_path) -> World:
    world = World(tmp_path)
    world.synced(group=GROUP, ip=IP, account=STAGED)
    return world


def planned(world: World, **settings) -> Path:
    file = world.folder.parent / "plan.json"
    file.write_text(encode_plan(world.plan(plan_out=str(file), **settings).plan.review))
    return file


def told(result):
    return (result.verdict, result.action, result.condition.reason, [d.rule for d in result.differences])


NONE, UPDATE = Action.NONE, Action.UPDATE
UNKNOWN = (Verdict.PENDING, UPDATE, "Planned", [NOT_KNOWN])
IN_SYNC = (Verdict.IN_SYNC, NONE, "Succeeded", [])
WAITS = (Verdict.BLOCKED, NONE, "WaitingForValue", [])
PLANS = [
    ("git changes what the field reads", STAGED, PROD, UNKNOWN),
    ("git changes something else", STAGED, TIMEOUT, IN_SYNC),
    ("a held source stays as it is", STAGED, annotated(PROD, **HELD), IN_SYNC),
    ("so does one that git only reads", STAGED, annotated(PROD, reconcile_policy="skip"), IN_SYNC),
    ("one that cannot be changed in place has failed", STAGED, PROD.replace("westeurope", "northeurope"), WAITS),
    ("one that is replaced is created anew", STAGED, annotated(PROD.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"}), UNKNOWN),
    ("an id stays the same then", setting(ACCOUNT, 'spec.tags.stage: resource("PublicIPAddress/egress").id'), annotated(PROD.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"}), (Verdict.PENDING, UPDATE, "Planned", ["changed in git"])),
    ("a wrong source has failed", STAGED, PROD.replace("sku:", "skew:"), WAITS),
    ("an id does not wait for it", setting(ACCOUNT, 'spec.tags.stage: resource("PublicIPAddress/egress").name'), PROD.replace("sku:", "skew:"), (Verdict.PENDING, UPDATE, "Planned", ["changed in git"])),
]  # fmt: skip


NAMES = re.compile(r"\b(egress|data)\b")


def of_row(text, row):
    """A document, an id or a rule for a row of a table, which has an address and an account of its own."""
    return NAMES.sub(rf"\g<1>{row}", text)


def make_pairs(pairs):
    """The manifests of the address and the account of each row."""
    documents = {"group": GROUP}
    for row, (ip, account) in enumerate(pairs):
        documents |= {f"ip{row}": of_row(ip, row), f"account{row}": of_row(account, row)}
    return documents


def read_azure(world, arm_id, row):
    return world.azure().resource(of_row(arm_id, row))


def test_a_plan_shows_what_a_sync_then_does(tmp_path):
    world = World(tmp_path)
    world.synced(**make_pairs([(IP, STAGED)] * len(PLANS)))
    world.says(**make_pairs([(ip, account) for _, account, ip, _ in PLANS]))
    planned = world.plan(**PRUNING)
    before = [read_azure(world, ACCOUNT_ID, row) for row in range(len(PLANS))]
    synced = world.sync(**PRUNING)
    for row, (why, account, _, expected) in enumerate(PLANS):
        found = of(planned, "StorageAccount", f"data{row}")
        assert told(found) == expected, (why, found.condition)
        after, egress = read_azure(world, ACCOUNT_ID, row), read_azure(world, EGRESS_ID, row)
        assert of(synced, "StorageAccount", f"data{row}").action is expected[1], why
        assert (after["tags"] == before[row]["tags"]) is (expected[1] is NONE), why
        if account == STAGED and expected != WAITS:
            assert after["tags"]["stage"] == egress["tags"]["stage"], why
    world.sync(**PRUNING)
    assert world.writes == [], "the next run is silent"


NEXT = [
    ("a text like a path", PROD, ACCOUNT.rstrip() + "\n      tags: {stage: /old}\n", "prod"),
    ("the id of something else", PROD, setting(ACCOUNT, 'spec.tags.stage: resource("PublicIPAddress/egress").id'), "prod"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "ip", "before", "expected"), NEXT, ids=[row[0] for row in NEXT])
def test_no_value_in_azure_hides_one_that_a_sync_changes(tmp_path, why, ip, before, expected):
    world = World(tmp_path)
    world.says(group=GROUP, ip=IP, account=before).sync()
    world.says(group=GROUP, ip=ip, account=STAGED)
    assert told(of(world.plan(), "StorageAccount")) == UNKNOWN, why
    world.sync()
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": expected}, why


def test_a_value_that_git_removes_is_known_after_the_sync(world):
    world.says(group=GROUP, ip=IP.replace("      tags: {stage: test}\n", ""), account=STAGED)
    assert told(of(world.plan(), "StorageAccount")) == UNKNOWN, "Azure may keep it"
    found = of(world.sync(), "StorageAccount")
    assert (found.condition.reason, world.sent("PUT")) == ("WaitingForValue", [EGRESS_ID])
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "test"}, "it is never sent empty"


def test_the_source_of_a_source_is_known_after_the_sync_too(world):
    chain = STAGED.replace("name: data", "name: more").replace("PublicIPAddress/egress", "StorageAccount/data")
    world.says(group=GROUP, ip=IP, account=STAGED, more=chain).sync()
    world.says(group=GROUP, ip=PROD, account=STAGED, more=chain)
    found = of(world.plan(), "StorageAccount", "more")
    assert told(found) == UNKNOWN
    assert all(result.is_fine for result in world.sync().results)
    assert world.azure().resource(ACCOUNT_ID.replace("data", "more"))["tags"] == {"stage": "prod"}


def test_drift_of_the_field_itself_has_another_cause(world):
    world.somebody_changes(key("StorageAccount", "storage.azure.com", "data"), {"/tags/stage": "odd"})
    found = of(world.plan(), "StorageAccount")
    assert (found.verdict, found.differences[0].desired, found.differences[0].live) == (Verdict.DRIFTED, "test", "odd")
    assert "follows" not in found.condition.message
    world.sync()
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "test"}


def test_drift_of_the_source_that_a_sync_undoes_does_not_flow(world):
    world.somebody_changes(EGRESS, {"/tags/stage": "odd"})
    assert told(of(world.plan(), "StorageAccount")) == UNKNOWN
    assert of(world.sync(), "StorageAccount").action is NONE
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "test"}


MOVING = setting(
    ACCOUNT.replace("      location: westeurope\n", ""),
    f'spec.location: \'{STAGE} == "prod" ? "northeurope" : "westeurope"\'',
)


def test_a_fixed_field_may_need_a_replacement(world):
    world.says(group=GROUP, ip=IP, account=MOVING).sync()
    world.says(group=GROUP, ip=PROD, account=MOVING)
    found = of(world.plan(), "StorageAccount")
    assert (found.action, found.condition.reason) == (NONE, "ReplaceNeeded")
    assert "Or sync first: the next plan has the new value" in found.condition.advice
    found = of(world.sync(), "StorageAccount")
    assert (found.condition.reason, ACCOUNT_ID in world.sent("PUT")) == ("ReplaceNeeded", False)
    assert "gitsync/replace: location=northeurope" in found.condition.advice


def test_a_source_of_another_agent_is_read(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, ip=IP).sync(agent="one")
    plain = ACCOUNT.replace("owner: {name: core}", f"owner: {{armId: {GROUP_ID}}}")
    world.says(account=plain).sync(agent="two")
    report = world.says(group=GROUP, ip=IP, account=setting(plain, f"spec.tags.stage: {STAGE}")).sync(agent="two")
    assert of(report, "PublicIPAddress").verdict is Verdict.SKIP
    assert of(report, "StorageAccount").is_fine
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "test"}


REFUSED = f"{{match: {{method: GET, path: '{EGRESS_ID.lower()}'}}, answer: {{status: 403, code: AuthorizationFailed}}}}"
GONE = f"{{match: {{method: GET, path: '{EGRESS_ID.lower()}'}}, answer: {{status: 404, code: ResourceNotFound}}}}"
MAYBE = [
    ("an optional member", 'resource("PublicIPAddress/egress").status.?tags.?stage'),
    ("has", 'has(resource("PublicIPAddress/egress").status.tags) ? "tagged" : null'),
]
UNREAD = [
    (f"{why} of a source that {what}", expression, rule, said)
    for why, expression in MAYBE
    for what, rule, said in [
        ("cannot be read", REFUSED, "PublicIPAddress/egress could not be read"),
        ("is gone", GONE, "PublicIPAddress/egress does not exist in Azure"),
    ]
]


def test_what_was_not_read_is_not_absent(tmp_path):
    world, plain = World(tmp_path), ACCOUNT.replace("owner: {name: core}", f"owner: {{armId: {GROUP_ID}}}")
    pairs = make_pairs([(IP, plain)] * len(UNREAD))
    accounts = {name: text for name, text in pairs.items() if name.startswith("account")}
    world.says(**{name: text for name, text in pairs.items() if name not in accounts}).sync(agent="one")
    world.says(**accounts).sync(agent="two")
    said = [(IP, setting(plain, f"spec.tags.stage: {json.dumps(expression)}")) for _, expression, _, _ in UNREAD]
    world.says(**make_pairs(said)).sync(agent="two")
    before = [read_azure(world, ACCOUNT_ID, row)["tags"] for row in range(len(UNREAD))]
    assert all(before)
    unreadable = (of_row(rule, row) for row, (_, _, rule, _) in enumerate(UNREAD))
    world.settings = replace(world.settings, rules=rules(*unreadable))
    for report in (world.plan(agent="two"), world.sync(agent="two")):
        for row, (why, _, _, message) in enumerate(UNREAD):
            found = of(report, "StorageAccount", f"data{row}")
            assert (*told(found)[:3], of_row(message, row) in found.condition.message) == (
                *WAITS[:3],
                True,
            ), (why, found.condition)
            assert read_azure(world, ACCOUNT_ID, row)["tags"] == before[row], why


def test_a_source_outside_the_run_is_read(world):
    world.says(group=GROUP, ip=PROD, account=STAGED)
    report = world.sync(only=("StorageAccount/data",))
    assert [result.action for result in report.results] == [NONE] * len(report.results)
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "test"}, "as Azure shows the source"


LATE = [
    ("a value that Azure sets later is waited for", 3, True),
    ("but not for longer than a minute", 20, False),
]


@pytest.mark.parametrize(("why", "reads", "comes"), LATE, ids=[row[0] for row in LATE])
def test_a_value_may_come_after_the_write(tmp_path, why, reads, comes):
    late = rules(
        f"{{match: {{method: GET, path: '{EGRESS_ID.lower()}', nth: [{reads}]}}, "
        "move: [{show: {/properties/ipAddress: 198.51.100.7}}]}"
    )
    world = World(tmp_path, rules=late)
    world.says(group=GROUP, ip=IP.replace("Static", "Dynamic"), account=ADDRESSED)
    began = world.clock.monotonic()
    found = of(world.sync(), "StorageAccount")
    assert found.is_fine is comes, (why, found.condition)
    if comes:
        assert world.azure().resource(ACCOUNT_ID)["tags"] == {"ip": "198.51.100.7"}
    else:
        assert (found.condition.reason, found.ending.exists) == ("WaitingForValue", False)
        assert 30 < world.clock.monotonic() - began < 120
        assert ACCOUNT_ID not in world.sent("PUT")
        began = world.clock.monotonic()
        assert not of(world.sync(), "StorageAccount").is_fine
        assert world.clock.monotonic() - began < 30, "a run that did not write the source does not wait for it"


def test_a_failed_update_of_the_source_holds_its_values(world):
    refused = rules(
        f"{{match: {{method: PUT, path: '{EGRESS_ID.lower()}'}}, answer: {{status: 403, code: AuthorizationFailed}}}}"
    )
    world.settings = replace(world.settings, rules=refused)
    found = of(world.says(group=GROUP, ip=PROD, account=STAGED).sync(), "StorageAccount")
    assert (found.verdict, found.condition.reason, found.ending.blocked_by) == (
        Verdict.BLOCKED,
        "WaitingForValue",
        EGRESS,
    )
    assert found.condition.message.startswith("spec.tags.stage needs PublicIPAddress/egress, which is not ready (")
    world.settings = replace(world.settings, rules=())
    assert of(world.sync(), "StorageAccount").is_fine
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "prod"}


def test_an_unknown_value_is_left_out_of_a_review(world):
    file = planned(world.says(group=GROUP, ip=PROD, account=STAGED))
    assert world.sync(plan_file=str(file)).exit_code == 0
    assert world.azure().resource(ACCOUNT_ID)["tags"] == {"stage": "prod"}


def test_a_known_value_is_a_part_of_a_review(world):
    file = planned(world.says(group=GROUP, ip=IP, account=setting(ACCOUNT, f"spec.tags.ip: {ADDRESS}")))
    world.somebody_moves(EGRESS, Move(show={"/properties/ipAddress": "198.51.100.7"}))
    found = of(world.sync(plan_file=str(file)), "StorageAccount")
    assert (found.condition.reason, world.writes) == ("PlanOutdated", [])


def test_what_takes_a_value_exports_its_own(world):
    exports = "      operatorSpec:\n        configMaps: {blobEndpoint: {name: where, key: blob}}\n"
    report = world.says(group=GROUP, ip=IP, account=STAGED.rstrip() + "\n" + exports).sync()
    assert of(report, "StorageAccount").is_fine
    assert of(report, "StorageAccount").record.exports


def test_a_record_keeps_what_a_resource_depends_on(world):
    found = of(world.sync(), "StorageAccount").record
    assert EGRESS in found.manifest.depends_on
    assert found.claim is Claim.CREATED

"""What a complete run reports of values that git does not set: by the fields of the manifests, and without secrets."""

from __future__ import annotations

import json
import re

import pytest

from gitsync.errors import ExitCode
from gitsync.model.secret import Secret
from gitsync.report import text
from gitsync.report.json import build_document
from tests.support.world import ACCOUNT, GROUP, VNET, World, annotated, of

FLOW = """\
    apiVersion: azure.gitsync/v1
    kind: AzureResource
    metadata: {name: flow}
    spec:
      type: Microsoft.Logic/workflows@2019-05-01
      owner: {group: resources.azure.com, kind: ResourceGroup, name: core}
      body: {location: westeurope, properties: {definition: {}}}
    """
DATA, FLOW_ID = ("Microsoft.Storage/storageAccounts/data", "Microsoft.Logic/workflows/flow")
OPENED = {"/properties/publicNetworkAccess": "Enabled"}


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, account=ACCOUNT, flow=FLOW, vnet=VNET)
    return world


def change(world, name, values):
    world.somebody_changes(next(arm_id for arm_id in world.azure().ids() if arm_id.endswith(name)), values)


FIELDS = [
    (DATA, OPENED, "spec.publicNetworkAccess", "a field of an ASO kind"),
    (DATA, {"/tags": {"owner": "ops"}}, "spec.tags.owner", "a tag"),
    (DATA, {"/tags": {"cost.center": "7"}}, 'spec.tags["cost.center"]', "a tag with a dot"),
    (DATA, {"/properties/networkAcls": {"defaultAction": "Deny"}}, "spec.networkAcls.defaultAction",
        "a member of an object"),
    (FLOW_ID, {"/properties/state": "Disabled"}, "spec.body.properties.state", "an AzureResource"),
    (FLOW_ID, {"/tags": {"owner": "ops"}}, "spec.body.tags.owner", "its tags"),
]  # fmt: skip


def test_a_change_has_the_field_of_the_manifest(tmp_path):
    """The resource of each row is changed in its own way."""
    world = World(tmp_path)
    documents = {DATA: ACCOUNT.replace("name: data", "name: ROW"), FLOW_ID: FLOW.replace("name: flow", "name: ROW")}
    names = [f"row{row}" for row in range(len(FIELDS))]
    world.synced(
        group=GROUP, **{name: documents[row[0]].replace("ROW", name) for name, row in zip(names, FIELDS, strict=True)}
    )
    for name, (_, values, _, _) in zip(names, FIELDS, strict=True):
        change(world, f"/{name}", values)
    report = world.plan(who="auto")
    shown, done = text.render(report, names=True), text.render(world.sync())
    assert shown.startswith("A sync would change nothing; 6 changed outside of git\n")
    assert "Changed by rob@contoso.com" in shown
    authors = {result.key.name: [change.name for change in result.changed_by] for result in report.results}
    outside = {row["name"]: row["outside"] for row in build_document(report)["resources"] if "outside" in row}
    for name, (_, _, field, why) in zip(names, FIELDS, strict=True):
        assert f"    + {field}: " in shown, why
        assert [entry["field"] for entry in outside[name]] == [field], why
        assert authors[name] == ["rob@contoso.com"], why
        assert f"    + {field}: " in done, f"{why}: a sync reports it too"


def test_an_entry_of_a_list_is_named_by_its_key(world):
    rules = [{"value": f"10.0.0.{number}", "action": "Allow"} for number in range(3)]
    (path,) = world.state.rglob("StorageAccount/data.json")
    record = json.loads(path.read_text())
    record["gitsync"]["outside"]["values"] = {"properties": {"networkAcls": {"ipRules": rules[:2]}}}
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    change(world, DATA, {"/properties/networkAcls": {"ipRules": rules[1:]}})
    shown = text.render(world.plan())
    assert "    + spec.networkAcls.ipRules[value=10.0.0.2]" in shown
    assert "    - spec.networkAcls.ipRules[value=10.0.0.0]" in shown
    assert "10.0.0.1" not in shown


def test_it_is_listed_once_and_after_drift(world):
    change(world, DATA, {"/sku/name": "Standard_GRS", **OPENED})
    shown = text.render(world.plan())
    assert shown.index("spec.sku.name") < shown.index("Changed outside of git (before") < shown.index("publicNetwork")
    assert shown.count("publicNetworkAccess: ") == 1


@pytest.mark.parametrize(
    ("fail_on", "hold", "code", "why"),
    [
        (("outside",), "", ExitCode.FAILED, "it is named"),
        (("drift",), "", ExitCode.FINE, "it is no drift"),
        ((), "", ExitCode.FINE, "it changes no exit code by itself"),
        (("outside",), "until 2026-03-02, a freeze", ExitCode.FINE, "a hold holds"),
    ],
)
def test_the_exit_code_of_a_run(world, fail_on, hold, code, why):
    if hold:
        world.says(group=GROUP, account=annotated(ACCOUNT, **{"gitsync/hold": hold}), flow=FLOW, vnet=VNET).sync()
    change(world, DATA, OPENED)
    assert world.plan(fail_on=fail_on, detailed_exitcode=True).exit_code is code, why
    assert world.sync(fail_on=fail_on).exit_code is code, why


def test_the_status_names_fields_and_the_report_has_values(world):
    change(world, DATA, OPENED)
    world.sync()
    summary = (world.state / "SUMMARY.md").read_text()
    assert summary.startswith("# 4 of 4 resources Ready; 1 changed outside of git\n")
    assert "- <code>StorageAccount/data</code>: <code>publicNetworkAccess</code>\n" in summary
    report = json.loads((world.state / "report.json").read_text())
    assert report["headline"] == "Nothing changed; 1 changed outside of git"
    assert [row["outside"][0]["now"] for row in report["resources"] if "outside" in row] == ["Enabled"]


def test_a_secret_and_a_person_are_hidden(tmp_path):
    world, key = World(tmp_path), Secret("a key of digests")
    world.says(group=GROUP, account=ACCOUNT).sync(digest_key=key)
    change(world, DATA, {"/tags": {"passphrase": "hunter2", "contact": "eve@contoso.com"}})
    report = world.sync(digest_key=key)
    shown = text.render(report)
    assert '+ spec.tags.passphrase: "<secret>"' in shown
    assert '+ spec.tags.contact: "a person"' in shown
    assert "hunter2" not in repr(of(report, "StorageAccount").comparison.outside)
    stored = "".join(path.read_text() for path in world.state.rglob("*") if path.is_file())
    assert "hunter2" not in stored
    assert "eve@contoso.com" not in (world.state / "report.json").read_text()


def test_a_silent_estate_reports_nothing(world):
    shown = text.render(world.plan())
    assert shown.startswith("A sync would change nothing\n")
    assert "outside" not in shown


def test_an_unrelated_write_names_what_it_may_reset(world):
    change(world, DATA, {"/tags": {"owner": "ops"}, **OPENED})
    changed = world.says(group=GROUP, account=ACCOUNT.replace("_LRS", "_ZRS"), flow=FLOW, vnet=VNET)
    planned = text.render(changed.plan())
    assert planned.startswith("A sync would update 1; 2 values may be reset; 2 changed outside of git\n")
    (line,) = re.findall(r"^ +this write may reset: (.*)$", planned, re.MULTILINE)
    assert sorted(line.split(", ")) == ["publicNetworkAccess Enabled", "tags.owner"]
    assert "`gitsync/update-method: patch`" in planned
    done = text.render(changed.sync())
    assert done.startswith("Updated 1; 2 values may have been reset; 2 changed outside of git\n")
    assert f"this write may have reset: {line}\n" in done
    assert text.render(changed.plan()).startswith("A sync would change nothing\n")


def test_a_patch_resets_nothing(world):
    patched = annotated(ACCOUNT, **{"gitsync/update-method": "patch"})
    world.says(group=GROUP, account=patched, flow=FLOW, vnet=VNET).sync()
    change(world, DATA, OPENED)
    world.says(group=GROUP, account=patched.replace("_LRS", "_ZRS"), flow=FLOW, vnet=VNET)
    assert text.render(world.plan()).startswith("A sync would update 1; 1 changed outside of git\n")

"""Changes that Azure refuses in place: marked in plans and reports, and never tried."""

from __future__ import annotations

import json

import pytest

from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import json as report_json
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from tests.support.fault_rules import rules
from tests.support.json_schemas import list_faults
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, of

FAR = VNET.replace("westeurope", "northeurope")
REGION = "Azure cannot move a resource to another region."


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_plan_marks_it_and_keeps_its_exit_code(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, network=FAR, subnet=SUBNET)
    report = world.plan(detailed_exitcode=True)
    found = of(report, "VirtualNetwork")
    assert (found.verdict, found.action, found.outcome) == (Verdict.PENDING, Action.NONE, Outcome.BLOCKED)
    assert (found.change.replacement.reason, [key.name for key in found.change.replacement.takes]) == (REGION, ["one"])
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.IN_SYNC, "nothing that depends on it waits"
    assert (report.exit_code, world.plan().exit_code) == (3, 0)


def test_a_sync_sends_no_put_and_fails(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    report = world.says(group=GROUP, network=FAR, subnet=SUBNET).sync()
    found = of(report, "VirtualNetwork")
    assert (report.exit_code, world.writes) == (1, [])
    assert (found.condition.reason, found.condition.message, found.outcome) == (
        "ReplaceNeeded",
        REGION,
        Outcome.BLOCKED,
    )
    assert "gitsync/replace: location=northeurope" in found.condition.advice
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    repaired = world.sync()
    assert (repaired.exit_code, of(repaired, "VirtualNetwork").action) == (0, Action.CREATE), (
        "a person may delete it, too"
    )


def test_restoring_the_old_value_ends_it(world):
    world.synced(group=GROUP, network=VNET)
    world.says(group=GROUP, network=FAR).sync()
    report = world.says(group=GROUP, network=VNET).sync()
    assert (report.exit_code, of(report, "VirtualNetwork").condition.is_ready, world.writes) == (0, True, [])


def test_all_forms_of_a_report_have_the_mark(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    report = world.says(group=GROUP, network=FAR, subnet=SUBNET).plan()
    takes = "A delete would also delete VirtualNetworksSubnet/one."
    assert "A sync would change nothing; cannot replace 1" in text.render(report)
    assert f"    {REGION} {takes}" in text.render(report)
    assert "#### Replace needed (1)" in markdown.render(report)
    assert takes in markdown.render(report)
    assert takes in page.render(report)
    assert takes in junit.render(report)
    alert = json.loads(sarif.render(report))["runs"][0]["results"][0]
    assert (alert["ruleId"], alert["level"]) == ("replace-needed", "warning")
    document = json.loads(report_json.render(report))
    assert list_faults("report", document) == []
    network = next(resource for resource in document["resources"] if resource["kind"] == "VirtualNetwork")
    assert network["replaceNeeded"] == {
        "reason": REGION,
        "takes": ["VirtualNetworksSubnet.network.azure.com/default/one"],
    }


def test_another_name_in_azure_is_a_delete_and_a_create(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    moved = VNET.replace("spec:\n", "spec:\n      azureName: spoke\n")
    found = of(world.says(group=GROUP, network=moved, subnet=SUBNET).plan(), "VirtualNetwork")
    assert found.verdict is Verdict.BLOCKED
    assert found.change.replacement.reason.startswith(f"Azure cannot rename or move {VNET_ID} to ")
    assert [key.name for key in found.change.replacement.takes] == ["one"]


def test_a_resource_that_was_moved_is_adopted_at_its_new_location(world):
    other = GROUP.replace("name: core", "name: other")
    world.synced(group=GROUP, other=other, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, other=other, network=VNET.replace("name: core", "name: other"), subnet=SUBNET)
    report = world.sync(prune=True)
    assert f"`az resource move --ids {VNET_ID} --destination-group other`" in (
        of(report, "VirtualNetwork").change.replacement.reason
    )
    assert "It moves with its parent resource." in of(report, "VirtualNetworksSubnet").change.replacement.reason
    assert world.writes == []
    live, inner, new_id = (
        world.read(VNET_ID),
        world.read(f"{VNET_ID}/subnets/one"),
        VNET_ID.replace("/core/", "/other/"),
    )
    world.outside("PUT", new_id, {name: live[name] for name in ("location", "properties")})
    world.outside(
        "PUT", f"{new_id}/subnets/one", {"properties": {"addressPrefix": inner["properties"]["addressPrefix"]}}
    )
    world.outside("DELETE", VNET_ID)
    report = world.sync(prune=True)
    found = [of(report, kind) for kind in ("VirtualNetwork", "VirtualNetworksSubnet")]
    assert [(result.verdict, result.action) for result in found] == [(Verdict.ADOPT, Action.NONE)] * 2
    assert [replacement.record.arm_id for replacement in found] == [new_id, f"{new_id}/subnets/one"]
    assert (world.writes, report.exit_code) == ([], 0)
    assert {result.verdict for result in world.sync(prune=True).results} == {Verdict.IN_SYNC}, "one record for each"


def test_a_rename_is_one_thing(world):
    world.synced(group=GROUP, network=VNET)
    report = world.says(group=GROUP, network=VNET.replace("name: hub", "name: office")).plan(prune=True)
    old, new = of(report, "VirtualNetwork", "hub"), of(report, "VirtualNetwork", "office")
    assert (old.change.renamed, new.change.renamed) == (new.key, old.key)
    assert (old.action, new.action, report.exit_code) == (Action.DELETE, Action.CREATE, 0)
    assert "Renamed to VirtualNetwork/office" in old.condition.message
    assert "Renamed from VirtualNetwork/hub" in new.condition.message
    document = json.loads(report_json.render(report))
    assert list_faults("report", document) == []
    assert {resource["renamed"] for resource in document["resources"] if "renamed" in resource} == {
        str(old.key),
        str(new.key),
    }


def test_what_azure_refuses_by_name_is_not_tried_again(tmp_path):
    """Nothing is known of tags, so the first run tries."""
    refusal = "Changing property 'tags.a' is not allowed."
    answer = f'answer: {{status: 409, code: PropertyChangeNotAllowed, message: "{refusal}"}}'
    world = World(tmp_path, rules=rules(f"{{match: {{method: PUT, path: '{VNET_ID}', nth: [2, 3]}}, {answer}}}"))
    tagged = VNET.replace("spec:\n", "spec:\n      tags: {a: old}\n")
    world.says(group=GROUP, network=tagged).sync()
    world.says(group=GROUP, network=tagged.replace("old", "new"))
    assert of(world.plan(), "VirtualNetwork").change.replacement is None
    refused = of(world.sync(), "VirtualNetwork")
    assert world.writes == [f"PUT {VNET_ID}"]
    assert (refused.condition.reason, refused.change.replacement.reason) == (
        "PropertyChangeNotAllowed",
        "Azure has refused to change /tags/a.",
    )
    for _ in range(2):
        again = of(world.sync(), "VirtualNetwork")
        assert (again.condition.message, again.change.replacement, world.writes) == (
            refusal,
            refused.change.replacement,
            [],
        )
    restored = world.says(group=GROUP, network=tagged).sync()
    assert (restored.exit_code, world.writes) == (0, [])


def test_an_ignored_field_needs_no_replacement(world):
    world.synced(group=GROUP, network=VNET)
    ignoring = FAR.replace("name: hub", "name: hub\n      annotations: {gitsync/ignore: /location}")
    report = world.says(group=GROUP, network=ignoring).plan()
    assert of(report, "VirtualNetwork").change.replacement is None

"""What checks found in a run, as its reports show it: at the field of the manifest, and in a sync as in its plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitsync.errors import ExitCode
from gitsync.model.check import CheckVerdict
from gitsync.report import json as json_report
from gitsync.report import sarif, text
from gitsync.report.run_facts import estimate_sync
from tests.agent.run.test_refused import ALL, DENY_HUB, LOCK, govern
from tests.support.world import GROUP, GROUP_ID, VNET, World, of

ONLY_NORTH = {
    "name": "only-north",
    "scope": GROUP_ID,
    "effect": "deny",
    "message": "Use northeurope.",
    "if": {"type": "Microsoft.Network/virtualNetworks", "field": "location", "notIn": ["northeurope"]},
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.synced(group=GROUP)
    return world.says(group=GROUP, network=VNET)


def test_a_refusal_is_an_alert_at_the_field_that_it_is_about(world: World):
    report = govern(world, policies=[ONLY_NORTH]).plan(checks=("policy",))
    (found,) = [
        result for result in sarif.build_log(report)["runs"][0]["results"] if result["ruleId"] == "check-policy"
    ]
    location = found["locations"][0]["physicalLocation"]
    line = next(number for number, row in enumerate(VNET.strip().splitlines(), 1) if "location:" in row)
    assert (found["level"], location["artifactLocation"]["uri"]) == ("error", "network.yaml")
    assert location["region"]["startLine"] == line
    assert f"(spec.location, network.yaml:{line})" in text.render(report)


@pytest.mark.parametrize(("detailed", "code"), [(False, ExitCode.FINE), (True, ExitCode.PENDING)])
def test_a_check_does_not_change_how_a_plan_ends(world: World, detailed: bool, code: ExitCode):
    govern(world, policies=[DENY_HUB])
    for checks in (("none",), ALL):
        report = world.plan(checks=checks, detailed_exitcode=detailed)
        assert report.exit_code == code
    assert of(report, "VirtualNetwork").is_refused


def test_a_sync_reports_what_its_plan_reported(world: World):
    govern(world, policies=[DENY_HUB])
    planned, synced = world.plan(checks=("preflight",)), world.sync(checks=("preflight",))
    (refusal,) = of(planned, "VirtualNetwork").list_found(CheckVerdict.REFUSED)
    for shown in (text.render(planned), text.render(synced)):
        assert f"Refused by preflight: {refusal.statement}" in shown
        assert refusal.advice in shown
        assert refusal.contact in shown
        assert "`--checks=none`" in shown
    assert text.render(synced).startswith("1 failed; ")
    summary = (world.state / "SUMMARY.md").read_text()
    assert "## Failed (1)" in summary
    assert refusal.contact.split('"')[0] in summary
    again = text.render(world.plan(checks=("preflight",)))
    assert again.count(refusal.advice) == 1, "the record of the last run repeats nothing"


def test_a_lock_holds_a_delete_in_all_words(world: World):
    world.sync()
    govern(world.says(group=GROUP), locks=[{**LOCK, "scope": GROUP_ID, "notes": "Ask the platform team."}])
    shown = text.render(world.plan(prune=True, max_deletes=5, checks=ALL))
    assert shown.startswith("1 would be refused; a sync would delete 1")
    assert "Azure would refuse (1)\n  delete   VirtualNetwork/hub" in shown
    assert "Ask the platform team." in shown


def test_a_plan_foresees_the_requests_of_its_sync(world: World):
    govern(world)
    needed = estimate_sync(world.plan(checks=ALL))
    sent = world.sync(checks=ALL).requests
    assert needed is not None
    assert (needed.reads, needed.checks, needed.writes) == (sent.reads, sent.checks, sent.writes)
    assert sent.checks > 0
    world.says(group=GROUP, network=VNET.replace("10.0.0.0/16", "10.1.0.0/16"))
    plan = world.plan(checks=ALL)
    needed = estimate_sync(plan)
    sent = world.sync(checks=ALL).requests
    assert plan.requests.checks > 0, "a plan asks about updates"
    assert needed is not None
    assert (needed.reads, needed.checks, needed.writes) == (sent.reads, 0, sent.writes), "a sync does not"


def test_json_has_what_was_found(world: World):
    govern(world, policies=[DENY_HUB])
    (hub,) = [
        resource
        for resource in json.loads(json_report.render(world.plan(checks=ALL)))["resources"]
        if resource["kind"] == "VirtualNetwork"
    ]
    verdicts = {check["check"]: check["verdict"] for check in reversed(hub["checks"])}
    assert verdicts["policy"] == verdicts["preflight"] == "refused"
    assert verdicts["locks"] == "fine"

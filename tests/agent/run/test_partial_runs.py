"""Runs that are about a part of the resources, and what they leave to those that are about all."""

from __future__ import annotations

from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, SUBNET, VNET, World, annotated, of

OLD = VNET.replace("name: hub", "name: old").replace("10.0.", "10.9.")


def test_what_was_to_stay_when_it_was_removed_stays_after_a_run_that_did_not_look_at_it(tmp_path):
    world = World(tmp_path)
    first = world.says(group=GROUP, old=OLD).sync().revision
    world.says(group=GROUP, old=annotated(OLD, reconcile_policy="detach-on-delete"))
    world.says(group=GROUP, vnet=VNET).sync(only=("VirtualNetwork/hub",), prune=True)
    assert f'"revision": "{first}"' in (world.state / "inventory.json").read_text(), "of which all records speak"
    found = of(world.sync(prune=True), "VirtualNetwork", "old")
    assert (found.verdict, found.action) == (Verdict.DETACH, Action.DETACH)
    assert world.sync().revision in (world.state / "inventory.json").read_text()


def test_a_run_over_uncommitted_changes_reports_it(tmp_path):
    world = World(tmp_path)
    revision = world.says(group=GROUP).plan().revision
    assert [problem.code for problem in world.plan().problems] == []
    (world.folder / "vnet.yaml").write_text(VNET)
    report = world.plan()
    (problem,) = report.problems
    assert (problem.code, report.exit_code) == ("Uncommitted", 0)
    assert revision[:12] in problem.message


def test_a_plan_for_a_child_alone_reports_what_the_sync_will_report(tmp_path):
    """Its owner is not there, and a run that is not about the owner does not make it."""
    world = World(tmp_path).says(group=GROUP, vnet=VNET, subnet=SUBNET)
    only = ("VirtualNetworksSubnet/*",)
    planned, synced = world.plan(only=only), world.sync(only=only)
    for report in (planned, synced):
        (found,) = report.results
        assert (found.verdict, report.exit_code) == (Verdict.BLOCKED, 1)
        assert "cannot be found. Progress is blocked until the owner is created" in found.condition.message
    world.sync(only=("resource/co", "VirtualNetwork/*"))  # an abbreviation and a pattern
    assert world.plan(only=only).results[0].action is Action.CREATE

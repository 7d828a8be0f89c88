"""What is removed from git by a slip is held by its unit, and what is removed elsewhere is deleted: whole runs with
--prune.
"""

from __future__ import annotations

import json
import re
import textwrap
from datetime import UTC, datetime

import pytest

from gitsync.agent.reconcile.result_builder import build_unattempted
from gitsync.agent.run.removals import Reading, collect_removals
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import UnsafePlanError
from gitsync.model.plan import Apply
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.claims import expect_records
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.settings.config.config import Config
from tests.support.builders import prepared, record, vnet, vnet_id
from tests.support.fault_rules import rules
from tests.support.parts import change
from tests.support.programs import needs_build_tool
from tests.support.world import CATALOG, GROUP, GROUP_ID, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World, of

BROKEN = "apiVersion: network.azure.com/v1\nkind: [\n"
OTHER = VNET.replace("name: hub", "name: mesh").replace("10.0.", "10.7.")
OTHER_ID = VNET_ID.replace("hub", "mesh")
GROUP_FILE = {"group.yaml": GROUP}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture(scope="module")
def synced(tmp_path_factory):
    """A group, and a network in a folder of its own, to copy."""
    world = World(tmp_path_factory.mktemp("synced"))
    assert world.says_files(GROUP_FILE | {"net/hub.yaml": VNET}).sync().exit_code == 0
    return world


@pytest.fixture
def with_hub(synced, tmp_path):
    return synced.copy(tmp_path)


def unit_on_record(world, kind="VirtualNetwork"):
    (file,) = world.state.rglob(f"{kind}/*.json")
    return [json.loads(file.read_text())["gitsync"]["unit"]]


def test_in_a_tree_with_a_folder_that_stays_broken_what_is_removed_elsewhere_is_deleted(world):
    files = GROUP_FILE | {"net/hub.yaml": VNET, "mesh/mesh.yaml": OTHER, "broken/b.yaml": BROKEN}
    assert world.says_files(files).sync(prune=True).exit_code == 1
    report = world.says_files({path: text for path, text in files.items() if path != "net/hub.yaml"}).sync(prune=True)
    assert (world.sent("DELETE"), report.exit_code) == ([VNET_ID], 1)
    assert of(report, "VirtualNetwork", "hub").action is Action.DELETE
    report = world.says_files(GROUP_FILE | {"mesh/b.yaml": BROKEN, "broken/b.yaml": BROKEN}).sync(prune=True)
    assert world.sent("DELETE") == [], "what is broken now is its own folder"
    held = of(report, "VirtualNetwork", "mesh")
    assert (held.verdict, held.condition.reason) == (Verdict.BLOCKED, "PruneHeld")
    assert "mesh/b.yaml:3 cannot be read" in held.condition.message


SLIPS = [
    ("apiVersion: network", "apiversion: network", "a key in another case"),
    ("apiVersion: network.azure.com", "apiVersion: network.azure.cm", "a group that is not there"),
    ("apiVersion: network", "#apiVersion: network", "a line that became a comment"),
    ("kind: VirtualNetwork", "Kind: VirtualNetwork", "another key in another case"),
    ("kind: VirtualNetwork", "kind: VirtualNetwrok", "a kind that is not there"),
    ("metadata:\n", "metdata:\n", "metadata that is not there"),
    ("  name: hub", "name: hub", "a name that does not stand in metadata"),
    ("  name: hub", "  nme: hub", "no name"),
    ("  name: hub", "  name: hbu", "another name"),
    ("  name: hub", "  name hub", "a text that does not parse"),
]


def test_a_slip_deletes_nothing_and_costs_no_record(world):
    """Each row has a folder with a network, whose name differs from the others by more than one letter."""
    names = {why: f"-{letter * 3}" for letter, (_, _, why) in zip("abcdefghij", SLIPS, strict=True)}
    meant, slipped = dict(GROUP_FILE), dict(GROUP_FILE)
    for text, slip, why in SLIPS:
        network = textwrap.dedent(VNET)
        assert text in network, why
        for files, manifest in ((meant, network), (slipped, network.replace(text, slip, 1))):
            files[f"net{names[why]}/hub.yaml"] = re.sub(r"\b(hub|hbu)\b", rf"\g<1>{names[why]}", manifest)
    world.says_files(meant).sync(prune=True)
    world.says_files(slipped)
    planned, synced = world.plan(prune=True), world.sync(prune=True, max_deletes=99)
    assert world.sent("DELETE") == []
    report = world.says_files(meant).sync()
    assert world.sent("PUT") == []
    for _, _, why in SLIPS:
        for found in (of(each, "VirtualNetwork", f"hub{names[why]}") for each in (planned, synced)):
            assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "PruneHeld"), why
            assert found.condition.message.startswith("Held"), why
        assert of(report, "VirtualNetwork", f"hub{names[why]}").verdict is Verdict.IN_SYNC, why


def test_a_rename_by_one_letter_takes_two_runs_also_where_the_new_one_needs_the_old_one_gone(world):
    """Azure refuses the new subnet as long as the old one is there, so the first run cannot make it."""
    network = GROUP_FILE | {"hub.yaml": VNET}
    world.says_files(network | {"subnet.yaml": SUBNET}).sync()
    world.says_files(network | {"subnet.yaml": SUBNET.replace("name: one", "name: one2")})
    overlap = "{match: {method: PUT, path: '*/subnets/one2'}, answer: {code: NetcfgSubnetRangesOverlap, status: 400}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(overlap))
    report = world.sync(prune=True)
    held = of(report, "VirtualNetworksSubnet", "one")
    assert "one2 was added in the same change and its name differs by one letter" in held.condition.message
    assert "The next run deletes it." in held.condition.message
    assert (world.sent("DELETE"), of(report, "VirtualNetworksSubnet", "one2").condition.is_ready) == ([], False)

    once = overlap.replace("'*/subnets/one2'", "'*/subnets/one2', times: 1")
    world.settings = EmulatorSettings(limits=None, rules=rules(once))
    report = world.sync(prune=True)
    assert world.sent("DELETE") == [SUBNET_ID]
    assert of(report, "VirtualNetworksSubnet", "one2").condition.is_ready
    assert report.exit_code == 0


def test_what_is_held_does_not_count_against_the_limit(world):
    both = GROUP_FILE | {"net/hub.yaml": VNET, "mesh/mesh.yaml": OTHER}
    world.says_files(both).sync()
    world.says_files(GROUP_FILE | {"net/b.yaml": BROKEN}).sync(prune=True, max_deletes=1)
    assert world.sent("DELETE") == [OTHER_ID]
    world.says_files(both).sync()
    with pytest.raises(UnsafePlanError, match="would delete 2 of 3"):
        world.says_files(GROUP_FILE).sync(prune=True, max_deletes=1)


def test_the_record_moves_with_its_manifest_though_nothing_else_changes(with_hub):
    assert (unit_on_record(with_hub), unit_on_record(with_hub, "ResourceGroup")) == (["net"], ["."])
    with_hub.says_files(GROUP_FILE | {"platform/net/hub.yaml": VNET}).sync(prune=True)
    assert (with_hub.writes, unit_on_record(with_hub)) == ([], ["platform/net"])
    with_hub.says_files(GROUP_FILE | {"platform/net/hub.yaml": BROKEN}).sync(prune=True)
    assert with_hub.sent("DELETE") == []


def test_a_manifest_that_moves_and_breaks_between_two_runs_is_held_where_it_stood_last(with_hub):
    with_hub.says_files(GROUP_FILE | {"platform/hub.yaml": VNET})
    found = of(with_hub.says_files(GROUP_FILE | {"platform/hub.yaml": BROKEN}).sync(prune=True), "VirtualNetwork")
    assert (found.condition.reason, with_hub.sent("DELETE")) == ("PruneHeld", [])


def test_a_run_that_has_no_time_left_moves_the_record_and_leaves_that_of_another_agent():
    network = prepared(vnet(), vnet_id())
    for agent, unit in (("ours", "."), ("theirs", "net"), ("", ".")):
        apply = Apply(prepared=network, record=record(vnet(), vnet_id(), unit="net", agent=agent))
        kept = build_unattempted(apply, "ours", datetime(2026, 1, 2, tzinfo=UTC)).record
        assert kept is not None
        assert kept.manifest.unit == unit, agent


def test_what_may_be_created_has_a_unit_before_the_first_write():
    manifests = read_manifests(
        {"net/hub.yaml": textwrap.dedent(VNET).encode(), "group.yaml": textwrap.dedent(GROUP).encode()}
    )
    found = prepare(manifests, catalog=CATALOG, subscription=SUBSCRIPTION)
    applies = [Apply(prepared=resource) for resource in found]
    assert {key.kind: result.manifest.unit for key, result in expect_records(applies, "us").items()} == {
        "VirtualNetwork": "net",
        "ResourceGroup": ".",
    }


def test_records_of_before_units_were_kept_are_held_while_anything_is_broken(with_hub):
    for file in with_hub.state.rglob("*.json"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if not line.strip().startswith('"unit":')))
    found = of(with_hub.says_files(GROUP_FILE | {"broken/b.yaml": BROKEN}).sync(prune=True), "VirtualNetwork")
    assert "does not show which folder declared this resource" in found.condition.message
    assert of(with_hub.says_files(GROUP_FILE).sync(prune=True), "VirtualNetwork").action is Action.DELETE


LEAVINGS = [
    ({}, "its file net/hub.yaml is gone", "the file is removed"),
    ({"net/hub.yaml": OTHER}, "net/hub.yaml no longer declares it", "the file says something else"),
    (
        {"net/hub.yaml": VNET, ".gitsyncignore": "net/\n"},
        "its file net/hub.yaml is now ignored by .gitsyncignore",
        "the file is ignored on purpose",
    ),
]


@pytest.mark.parametrize(("files", "said", "why"), LEAVINGS, ids=[row[-1] for row in LEAVINGS])
def test_what_was_removed_from_git_is_deleted_and_the_plan_reports_how_it_left(with_hub, files, said, why):
    with_hub.says_files(GROUP_FILE | files)
    for settings in ({"prune": True}, {}):
        found = of(with_hub.plan(**settings), "VirtualNetwork", "hub")
        assert (found.verdict, found.condition.message.startswith(f"Removed from git: {said}.")) == (
            Verdict.DELETE,
            True,
        ), found.condition
    with_hub.sync(prune=True)
    assert with_hub.sent("DELETE") == [VNET_ID], why


def test_a_folder_outside_of_the_path_counts_as_removed(world):
    world.says_files(GROUP_FILE | {"net/hub.yaml": VNET, "apps/mesh.yaml": OTHER})
    gone = record(vnet(), VNET_ID, unit="net")
    with open_checkout(str(world.folder), path="apps") as source:
        (found,) = collect_removals(
            source, {gone.key: gone}, source.revision, Config(), Reading("default")
        ).by_key.values()
    assert found.reason == "Removed from git: its folder net is not in --path apps."


def test_ignored_files_are_named_by_their_folder_where_history_reports_nothing(world):
    world.says_files({"net/hub.yaml": VNET, ".gitsyncignore": "net/\n"})
    gone = record(vnet(), VNET_ID, unit="net")
    with open_checkout(str(world.folder)) as source:
        (ignored,) = collect_removals(source, {gone.key: gone}, None, Config(), Reading("default")).by_key.values()
        (plain,) = collect_removals(
            source, {gone.key: change(gone, unit="")}, None, Config(), Reading("default")
        ).by_key.values()
    assert ignored.reason == "Removed from git: the files of its folder net are now ignored."
    assert plain.reason == "Removed from git."


@pytest.mark.parametrize(
    "part",
    [{"only": ("ResourceGroup/*",)}, {"target_namespaces": ("elsewhere",)}],
    ids=["--only", "--target-namespaces"],
)
def test_a_run_that_is_about_a_part_prunes_nothing_else(with_hub, part):
    there = {"there.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n"}
    report = with_hub.says_files(GROUP_FILE | there).sync(prune=True, **part)
    assert (
        with_hub.sent("DELETE"),
        [result.key.kind for result in report.results if result.key.kind != "ResourceGroup"],
    ) == (
        [],
        [],
    )


def test_a_run_about_a_part_sees_the_slip_in_the_rest(with_hub):
    """The run is about the old name alone, and the manifest that may be the same one is not part of it."""
    with_hub.says_files(GROUP_FILE | {"net/hub.yaml": VNET.replace("name: hub", "name: hubb")})
    found = of(with_hub.sync(prune=True, only=("VirtualNetwork/hub",)), "VirtualNetwork")
    assert (found.condition.reason, with_hub.sent("DELETE")) == ("PruneHeld", [])


@needs_build_tool
def test_a_kustomization_that_fails_holds_its_own_unit_and_the_rest_goes_on(world):
    built = {"net/kustomization.yaml": "resources: [hub.yaml]\n", "net/hub.yaml": VNET}
    world.says_files(GROUP_FILE | built | {"mesh/mesh.yaml": OTHER}).sync()
    broken = GROUP_FILE | built | {"net/kustomization.yaml": "resources: [hbu.yaml]\n"}
    report = world.says_files(broken).sync(prune=True, max_deletes=5)
    moved = of(report, "VirtualNetwork", "mesh")
    assert (world.sent("DELETE"), report.exit_code) == ([], 1)
    assert "the unit of net/kustomization.yaml:1 is not built and has changed since" in moved.condition.message

    world.says_files(broken | {"mesh/mesh.yaml": OTHER}).sync()
    report = world.says_files(broken).sync(prune=True, max_deletes=5)
    assert (world.sent("DELETE"), report.exit_code) == ([OTHER_ID], 1), "it does not change any more"
    assert "KustomizationFailed" in {problem.code for problem in report.problems}
    held = of(report, "VirtualNetwork", "hub")
    assert "net/kustomization.yaml:1 cannot be read" in held.condition.message


def test_a_group_stays_with_what_is_held_in_it(world):
    world.says_files({"core/group.yaml": GROUP, "net/hub.yaml": VNET}).sync()
    report = world.says_files({"net/hub.yaml": BROKEN}).sync(prune=True, max_deletes=5)
    assert world.sent("DELETE") == []
    assert {result.condition.reason for result in report.results} == {"PruneHeld"}
    assert world.read(GROUP_ID)["name"] == "core"

"""`gitsync accept` over a table of drifts: the files to the byte, the next plan, and every other request."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import DRIFTED, Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.workflows.accept.accept import accept_drift
from gitsync.workflows.accept.drift import Accepted
from gitsync.workflows.accept.edit_proof import Tree, find_request, open_tree
from tests.support.world import BUILDS, GROUP, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World
from tests.workflows.accept.drift_table import ALL, AROUND, DELETES, Drift


@dataclass(frozen=True)
class Story:
    """All drifts of the table in one estate: accepted in bulk, and then by name."""

    folder: Path
    found: Report
    tree: Tree
    bulk: Accepted
    by_name: Accepted
    edited: Tree
    after: Report


def open_world_tree(world: World) -> Tree:
    config = Config(source=str(world.folder), subscription=SUBSCRIPTION)
    return open_tree(config, world.clock, world.redactions, builds=BUILDS)


def accept(world: World, report: Report, names: tuple[str, ...] = (), pointers: tuple[str, ...] = ()) -> Accepted:
    """Accept what a plan found, and write it."""
    accepted = accept_drift(report, open_world_tree(world), names, pointers)
    for path, text in accepted.texts.items():
        if text is None:
            (world.folder / path).unlink()
        else:
            (world.folder / path).write_bytes(text)
    return accepted


def find_key(drift: Drift, tree: Tree) -> Key:
    name = drift.name.rpartition("/")[2]
    return next(key for key in tree.prepared if key.name == name)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    world = World(tmp_path_factory.mktemp("drifts"))
    texts = {drift.path: drift.text.encode(drift.encoding) for drift in ALL} | {
        p: t.encode() for p, t in AROUND.items()
    }
    write(world, texts)
    report = world.sync()
    assert not [str(result.key) + result.message for result in report.results if not result.is_fine]
    for drift in ALL:
        arm_id = next(arm_id for arm_id in world.azure().ids() if arm_id.endswith(f"/{drift.name.rpartition('/')[2]}"))
        if drift.deletes:
            world.somebody_deletes(arm_id)
        else:
            world.somebody_changes(arm_id, drift.changes, remove=drift.remove)
    write(world, {drift.path: drift.before for drift in ALL})
    tree = open_world_tree(world)
    assert tree.prepared, "it is read before anything is edited"
    found = world.plan()
    bulk = accept(world, found)
    named = tuple(name for drift in ALL if drift.is_named for name in (drift.name, *drift.others))
    found_by_name = world.plan(only=named)
    by_pattern = accept(world, found_by_name, tuple(f"*/{name}" for name in named))
    assert not by_pattern.resources, "a pattern is no name"
    by_name = accept(world, found_by_name, named)
    return Story(world.folder, found, tree, bulk, by_name, open_world_tree(world), world.plan())


def write(world: World, texts: dict[str, bytes]) -> None:
    for path, text in texts.items():
        (world.folder / path).parent.mkdir(exist_ok=True)
        (world.folder / path).write_bytes(text)
    world.git("add", "-A")
    world.git("commit", "-qm", "say it", "--allow-empty")


def result_of(report: Report, key: Key) -> Result | None:
    return next((result for result in report.results if result.key == key), None)


@pytest.mark.parametrize("drift", ALL, ids=lambda case: case.name)
def test_the_file_changes_only_where_it_must(story: Story, drift: Drift) -> None:
    file = story.folder / drift.path
    assert (file.read_bytes() if file.exists() else None) == drift.after, drift.why


@pytest.mark.parametrize("drift", ALL, ids=lambda case: case.name)
def test_what_is_left_is_named_with_its_location(story: Story, drift: Drift) -> None:
    accepted = story.by_name if drift.is_named else story.bulk
    key = find_key(drift, story.tree)
    left = {refusal.field: refusal for refusal in accepted.left if refusal.key == key}
    assert left.keys() == drift.left.keys(), [refusal.reason for refusal in left.values()]
    for field, reason in drift.left.items():
        assert reason in left[field].reason
        assert left[field].advice
        assert [location for location in left[field].locations if location.line]


@pytest.mark.parametrize("drift", DELETES, ids=lambda case: case.name)
def test_what_would_remove_a_manifest_takes_its_name(story: Story, drift: Drift) -> None:
    left = next(refusal for refusal in story.bulk.left if refusal.key == find_key(drift, story.tree))
    assert left.reason == "It was deleted in Azure, so its manifest would be removed."
    assert left.advice == f"To accept it anyway, run gitsync accept {left.key.kind}/{left.key.name}"
    assert not any(resource.is_gone for resource in story.bulk.resources)


def test_an_item_of_a_list_and_an_owner_without_its_child_stay_without_their_names(tmp_path: Path) -> None:
    world = World(tmp_path)
    item = textwrap.indent(textwrap.dedent(VNET), "  ").replace("  apiVersion", "- apiVersion", 1)
    world.says(group=GROUP, hub=f"apiVersion: v1\nkind: List\nitems:\n{item}", one=SUBNET).sync()
    for arm_id in (SUBNET_ID, VNET_ID):
        world.somebody_deletes(arm_id)
    found, before = world.plan(), {file.name: file.read_text() for file in world.folder.glob("*.yaml")}
    for names in ((), ("*",), ("VirtualNetwork*/*",), ("VirtualNetwork/hub", "VirtualNetworksSubnet/*")):
        accepted = accept(world, found, names)
        assert not accepted.resources, names
        assert len(accepted.left) == 2, names
        assert {file.name: file.read_text() for file in world.folder.glob("*.yaml")} == before, names
    accepted = accept(world, found, ("VirtualNetwork/hub", "VirtualNetworksSubnet/one"))
    assert [(resource.key.name, resource.is_gone) for resource in accepted.resources] == [("hub", True), ("one", True)]


@pytest.mark.parametrize("drift", ALL, ids=lambda case: case.name)
def test_the_next_plan_reports_nothing_of_what_was_accepted(story: Story, drift: Drift) -> None:
    key = find_key(drift, story.tree)
    before = result_of(story.found, key)
    assert before
    assert before.found in DRIFTED
    after = result_of(story.after, key)
    if drift.deletes and not drift.left:
        assert after
        assert (after.verdict, after.action) == (Verdict.IN_SYNC, Action.NONE), "neither git nor Azure has it"
        return
    assert after
    taken = {
        field.pointer
        for resource in (*story.bulk.resources, *story.by_name.resources)
        if resource.key == key
        for field in resource.fields
    }
    assert not taken & {difference.path for difference in after.differences}
    assert (after.found not in DRIFTED) is drift.silent, after.differences


def test_no_other_request_has_changed(story: Story) -> None:
    taken = {resource.key for resource in (*story.bulk.resources, *story.by_name.resources)}
    before = {key: repr(find_request(resource)) for key, resource in story.tree.prepared.items() if key not in taken}
    after = {key: repr(find_request(resource)) for key, resource in story.edited.prepared.items() if key not in taken}
    assert before == after


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(ALL) >= 40
    assert sum(bool(drift.left) for drift in ALL) >= 8


def test_no_secret_is_accepted(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: shop}\nstringData: {password: Not-really-1}\n"
    group = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: shop}\n"
    world = World(tmp_path)
    world.says(secret=secret, group=f"{group}spec: {{location: westeurope, tags: {{env: dev}}}}\n").sync()
    world.somebody_changes(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop", {"/tags/env": "x Not-really-1"})
    accepted = accept(world, world.plan())
    assert [(refusal.field, refusal.reason) for refusal in accepted.left] == [
        ("spec.tags.env", "Its value has a secret in it.")
    ]
    assert accepted.texts == {}
    assert "Not-really" not in repr(accepted)


def test_what_cannot_be_compared_is_not_skipped(tmp_path: Path) -> None:
    group = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: shop}\n"
    world = World(tmp_path)
    world.says(group=f"{group}spec: {{location: 5}}\n")
    accepted = accept(world, world.plan())
    assert [(str(refusal.key), refusal.reason[:31]) for refusal in accepted.left] == [
        ("ResourceGroup.resources.azure.com/default/shop", "It was not compared with Azure:")
    ]


def test_of_a_conflict_only_named_fields_go_and_none_that_git_alone_changed(tmp_path: Path) -> None:
    group = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: shop}\n"
    spec = "spec: {location: westeurope, tags: {both: a, git: a, azure: a}}\n"
    world = World(tmp_path)
    world.says(group=group + spec).sync()
    changes = {"/tags/both": "of azure", "/tags/azure": "of azure"}
    world.somebody_changes(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop", changes)
    edited = spec.replace("both: a", "both: of git").replace("git: a", "git: of git")
    world.says(group=group + edited)
    report = world.plan()
    tree = open_world_tree(world)
    bulk = accept_drift(report, tree)
    assert [field.pointer for resource in bulk.resources for field in resource.fields] == ["/tags/azure"]
    assert [refusal.field for refusal in bulk.left] == ["spec.tags.both"]
    accept(world, report, ("shop",), ("/tags",))
    after = edited.replace("both: of git", "both: of azure").replace("azure: a", "azure: of azure")
    assert (world.folder / "group.yaml").read_text() == group + after, "what git alone changed is not taken back"


def test_what_git_has_removed_and_a_run_keeps_is_not_drift(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    world.says(subnet=SUBNET)  # its owner is gone from git, so the delete of that is held
    accepted = accept(world, world.plan(prune=True))
    assert {refusal.key.name for refusal in accepted.left} <= {"one"}, "only what git has can be left alone"

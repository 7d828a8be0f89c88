"""What was removed from git is shown with the last commit that had it, in plans, syncs and plans of two revisions."""

from __future__ import annotations

import json
import subprocess
import textwrap

import pytest

from gitsync.agent.run.removals import Reading, collect_removals
from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.model.problem import SourceLocation
from gitsync.model.result import Result
from gitsync.model.secret import Secret
from gitsync.report import json as report_json
from gitsync.report import markdown, text
from gitsync.report.html.page import render as render_page
from gitsync.report.pipelines import annotate_github
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.builders import record, vnet
from tests.support.git_repositories import amend
from tests.support.programs import needs_build_tool
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, of

HUB = {"group.yaml": GROUP, "net/hub.yaml": VNET}
HOSTILE = "Eve\x1b[2J<script>`|@team <eve@example.com>"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def commit(world: World, files: dict[str, str], author: str, subject: str) -> str:
    """Make git have exactly this, as a person; the id of the commit."""
    world.says_files(files)
    return amend(world.folder, author, subject)


def shown(result: Result) -> tuple[str, str]:
    assert result.manifest.last_commit is not None
    return (
        result.manifest.last_commit.commit,
        f"{result.manifest.last_commit.author}: {result.manifest.last_commit.subject}",
    )


CHANGES = [
    ({"group.yaml": GROUP}, "its file is removed"),
    ({**HUB, "net/hub.yaml": VNET.replace("name: hub", "name: mesh").replace("10.0.", "10.7.")}, "its file stays"),
    ({**HUB, ".gitsyncignore": "net/\n"}, "its file is ignored"),
]


@pytest.mark.parametrize(("files", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_the_commit_that_changed_the_manifest_last_is_shown(world, files, why):
    commit(world, HUB, "Ada", "Add the hub")
    world.sync()
    widened = commit(world, {**HUB, "net/hub.yaml": VNET.replace("/16", "/15")}, "Bo", "Widen the hub")
    commit(world, {**HUB, "net/hub.yaml": VNET.replace("/16", "/15"), "README.md": "x"}, "Cy", "Write a README")
    commit(world, files, "Cy", "Clean up")
    assert shown(of(world.plan(), "VirtualNetwork", "hub")) == (widened, "Bo: Widen the hub"), why
    synced = of(world.sync(prune=True), "VirtualNetwork", "hub")
    assert (synced.action.value, shown(synced)) == ("delete", (widened, "Bo: Widen the hub"))


def test_a_manifest_that_is_removed_and_not_committed_is_in_the_last_commit(world):
    commit(world, {"group.yaml": GROUP}, "Ada", "Add the group")
    world.sync()
    commit(world, HUB, "Ada", "Add the hub")
    world.sync()
    latest = commit(world, {**HUB, "net/hub.yaml": VNET.replace("/16", "/15")}, "Bo", "Widen the hub")
    (world.folder / "net/hub.yaml").unlink()
    assert shown(of(world.plan(), "VirtualNetwork")) == (latest, "Bo: Widen the hub")


def test_what_is_held_and_what_goes_with_its_parent_is_shown_too(world):
    commit(world, {**HUB, "net/subnet.yaml": SUBNET}, "Ada", "Add the network")
    world.sync()
    commit(world, {"group.yaml": GROUP, "net/hub.yaml": "kind: ["}, "Bo", "Break it")
    planned = world.plan(prune=True)
    assert {r.verdict.value for r in planned.results if r.manifest.last_commit} == {"blocked"}
    assert {shown(r)[1] for r in planned.results if r.manifest.last_commit} == {"Ada: Add the network"}
    assert of(planned, "ResourceGroup").manifest.last_commit is None, "it is in git"


def test_a_delete_is_shown_where_its_manifest_was_last(world):
    both = textwrap.dedent(GROUP) + "---\n" + textwrap.dedent(VNET)
    commit(world, {"all.yaml": both}, "Ada", "Add everything")
    world.sync()
    commit(world, {"all.yaml": "# moved\n---\n" + both}, "Bo", "Move it down")
    commit(world, {"group.yaml": GROUP}, "Cy", "Drop the hub")
    line = ("# moved\n---\n" + both).splitlines().index("kind: VirtualNetwork")  # a line before, counted from 1
    planned = of(world.plan(prune=True), "VirtualNetwork")
    assert (planned.manifest.source, planned.manifest.last_source) == (None, SourceLocation("all.yaml", line))
    report = plan_revisions(Config(source=str(world.folder), from_revision="HEAD~1"), world.clock, Redactions())
    assert of(report, "VirtualNetwork").manifest.last_source == planned.manifest.last_source
    _headline, annotation = annotate_github(report)
    begin = f"::warning file=all.yaml,line={line},title=VirtualNetwork/hub is no longer in git::"
    assert annotation.startswith(f"{begin}Removed from git. Only a sync with --prune deletes it.%0A")


@needs_build_tool
def test_for_a_rendered_unit_it_is_the_last_commit_below_the_unit(world):
    base = {
        "base/kustomization.yaml": "resources: [group.yaml, hub.yaml]\n",
        "base/group.yaml": GROUP,
        "base/hub.yaml": VNET,
    }
    overlay = {"prod/kustomization.yaml": "resources: [../base]\n"}
    commit(world, base | overlay, "Ada", "Add everything")
    world.sync()
    labelled = overlay | {"prod/kustomization.yaml": "resources: [../base]\nnamePrefix: ''\n"}
    configured = commit(world, base | labelled, "Bo", "Configure prod")
    commit(world, base | labelled | {"README.md": "x"}, "Cy", "Write a README")
    commit(world, base | labelled | {"base/kustomization.yaml": "resources: [group.yaml]\n"}, "Cy", "Drop the hub")
    assert shown(of(world.plan(), "VirtualNetwork")) == (configured, "Bo: Configure prod")


def test_a_plan_of_two_revisions_shows_it(world):
    added = commit(world, HUB, "Ada", "Add the hub")
    commit(world, HUB | {"README.md": "x"}, "Cy", "Write a README")
    commit(world, {"group.yaml": GROUP}, "Cy", "Clean up")
    report = plan_revisions(Config(source=str(world.folder), from_revision="HEAD~1"), world.clock, Redactions())
    assert shown(of(report, "VirtualNetwork")) == (added, "Ada: Add the hub")


def test_a_commit_that_is_not_known_is_not_absent(world, tmp_path):
    commit(world, HUB, "Ada", "Add the hub")
    world.sync()
    commit(world, {"group.yaml": GROUP}, "Cy", "Clean up")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{world.folder}", str(tmp_path / "copy")], check=True)
    gone = {(one := record(vnet(), VNET_ID, unit="net")).key: one}
    since = world.git("rev-parse", "HEAD~1")
    doubts = {}
    unknown = {(one := record(vnet(name="mesh"), VNET_ID, unit="net")).key: one}
    with open_checkout(str(world.folder)) as source:
        (found,) = collect_removals(source, unknown, since, Config(), Reading("default")).by_key.values()
    assert found.last_commit.doubt == f"no commit since {since[:12]} has its manifest in the source"
    (world.folder / ".git").rename(tmp_path / "moved")
    for start in (since, None):
        with open_checkout(str(tmp_path / "copy"), access=GitAccess()) as source:
            (found,) = collect_removals(source, gone, start, Config(), Reading("default")).by_key.values()
        doubts[start] = found.last_commit.doubt
    assert doubts == {
        since: f"the history since {since[:12]} is not in this clone (fetch-depth: 0)",
        None: "the records name no revision",
    }
    with open_checkout(str(world.folder)) as source:
        (found,) = collect_removals(source, gone, since, Config(), Reading("default")).by_key.values()
    assert found.last_commit is None, "a folder without git has no commits"


def test_every_form_of_a_report_shows_it_and_none_obeys_it(world):
    subject = "::error::x ]]> | `rm` \u202e hunter2-hunter2"
    world.says_files(HUB).git("commit", "-q", "--amend", "--author", HOSTILE, "-m", subject)
    added = world.git("rev-parse", "HEAD")
    world.sync()
    commit(world, {"group.yaml": GROUP}, "Cy", "Clean up")
    world.redactions.add(Secret("hunter2-hunter2"))
    report = world.plan()
    page, table = render_page(report), markdown.render(report)
    document = json.loads(report_json.render(report))
    (one,) = [resource["lastCommit"] for resource in document["resources"] if "lastCommit" in resource]
    assert one["commit"] == added
    everything = "".join((page, table, text.render(report), report_json.render(report)))
    assert "example.com" not in everything
    assert "hunter2" not in everything
    assert "\x1b" not in text.render(report) + table + page
    assert f"last commit: {added[:12]} by Eve" in text.render(report)
    assert "<script>`" not in page + table
    assert "Last commit: <code>" in table
    assert "<dt>Last commit</dt>" in page

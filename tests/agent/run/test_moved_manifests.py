"""Not read is not gone: a manifest that moved to a location which a run does not read is not deleted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.cli.main import run
from gitsync.model.verdict import Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.git_repositories import commit_all
from tests.support.hypothesis_profile import scale
from tests.support.loose_git import LooseAccess
from tests.support.programs import needs_build_tool
from tests.support.world import World, of

HUB = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: hub}
spec: {location: westeurope}
"""
OTHER = HUB.replace("hub", "other")
SUBMODULE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k, namespace: flux-system}
spec: {path: ./k, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def write(world: World, files: dict[str, str | None]) -> None:
    """Write files, remove those with None, and commit all of that."""
    for path, text in files.items():
        file = world.folder / path
        if text is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    commit_all(world.folder)


def add_submodule(world: World, path: str, commit: str = SUBMODULE) -> None:
    """Commit a submodule that is not checked out, as a clone of a pipeline has it."""
    (world.folder / ".gitmodules").write_text(f'[submodule "{path}"]\n\tpath = {path}\n\turl = ../{path}\n')
    world.git("add", "-A")
    world.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    world.git("commit", "-qm", "Add a submodule")
    (world.folder / path).mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("synced"))
    write(world, {"net/hub.yaml": HUB, "other.yaml": OTHER})
    assert world.sync(prune=True).exit_code == 0
    return world


@pytest.fixture
def started(synced: World, tmp_path: Path) -> World:
    """Two groups that a run has synced."""
    return synced.copy(tmp_path)


READABLE: list[tuple[dict[str, str], str, str]] = [
    ({"net/hub.YAML": HUB}, "net/hub.YAML", "an ending in capitals"),
    ({"net/hub.Yml": HUB.replace("westeurope", "northeurope")}, "net/hub.Yml", "another ending, and another text"),
    ({"net/hub.yaml.txt": HUB}, "net/hub.yaml.txt", "the same text under any name"),
    ({"k/kustomization.yaml": "resources: [o.yaml]\n", "k/o.yaml": OTHER.replace("other", "o"), "k/hub.yaml": HUB}, "k/hub.yaml", "beside a kustomization"),
    ({"c/Chart.yaml": CHART, "c/templates/hub.yaml": HUB}, "c/templates/hub.yaml", "a chart that nothing releases"),
    ({"c/Chart.yaml": CHART, "c/templates/hub.yaml": HUB.replace("westeurope", "{{ .Values.place }}")}, "c/templates/hub.yaml", "a template that does not parse"),
    ({"k/kustomization.yaml": "resources: [hub.yaml, lost.yaml]\n", "k/hub.yaml": HUB}, "k/hub.yaml", "a kustomization that fails"),
    ({"f.yaml": FLUX, "k/kustomization.yaml": "resources: [hub.yaml, lost.yaml]\n", "k/hub.yaml": HUB}, "k/hub.yaml", "one of Flux that fails"),
    ({"new/hub.yaml": HUB + "  x: [\n"}, "new/hub.yaml", "a file that does not parse"),
]  # fmt: skip
"""A group for each row: the files that it moves to, and the one that names it."""

UNNAMED: list[tuple[dict[str, str], str, str]] = [
    ({"c/Chart.yaml": CHART, "c/templates/hub.yaml": HUB.replace("name: hub", "name: {{ .Release.Name }}")}, "c/templates/hub.yaml", "a template of a name"),
    ({"new/hub.yaml": HUB.replace("name: hub", "name: '<hub>'")}, "new/hub.yaml", "a template"),
]  # fmt: skip
"""Files that may declare any group, so each row is alone."""


@needs_build_tool
def test_files_that_are_not_used_hold_what_they_name(world):
    names = [f"hub{row}" for row in range(len(READABLE))]
    write(world, {f"row{row}/net/hub.yaml": HUB.replace("hub", name) for row, name in enumerate(names)})
    world.sync(prune=True)
    moved = {}
    for row, (files, _, _) in enumerate(READABLE):
        moved |= {f"row{row}/net/hub.yaml": None} | {
            f"row{row}/{path}": of_row(text, row) for path, text in files.items()
        }
    check_held(
        world, moved, {name: (f"row{row}/{READABLE[row][1]}", READABLE[row][2]) for row, name in enumerate(names)}
    )


def of_row(text: str, row: int) -> str:
    """A file as the row has it: in a folder of its own, with a group of its own."""
    return text.replace("name: hub", f"name: hub{row}").replace("path: ./k", f"path: ./row{row}/k")


@needs_build_tool
@pytest.mark.parametrize(("files", "named", "why"), UNNAMED, ids=[row[-1] for row in UNNAMED])
def test_a_file_that_may_name_it_holds_it(started, files, named, why):
    check_held(started, {"net/hub.yaml": None, **files}, {"hub": (named, why)})


def check_held(world: World, moved: dict[str, str | None], files: dict[str, tuple[str, str]]) -> None:
    """Move manifests, and check that the groups are held for these files until somebody releases them."""
    write(world, moved)
    for _ in range(3):  # later runs no longer find the manifest in the history
        report = world.sync(prune=True, max_deletes=20)
        assert world.sent("DELETE") == []
        for name, (path, why) in files.items():
            found = of(report, "ResourceGroup", name)
            assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "PruneHeld"), why
            assert f"Held: {path} is not read, since " in found.condition.message, why
            assert f"--release ResourceGroup.resources.azure.com/default/{name}`" in found.condition.message, why
    config = Config(source=str(world.folder), from_revision="HEAD~1", prune=True)
    planned = plan_revisions(config, world.clock, Redactions(), LooseAccess())
    report = world.sync(prune=True, max_deletes=20, release=tuple(f"ResourceGroup/{name}" for name in files))
    for name, (_, why) in files.items():
        found = of(planned, "ResourceGroup", name)
        assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "PruneHeld"), f"{why}: of two revisions"
        assert of(report, "ResourceGroup", name).action is Action.DELETE, f"{why}: by its name"


UNREADABLE: list[tuple[Callable[[World], None], str, str]] = [
    (lambda world: add_submodule(world, "vendor/infra"), "vendor/infra is a nested repository", "a submodule"),
    (lambda world: (world.folder / "more").symlink_to("/nowhere"), "more is a symbolic link", "a link"),
    (lambda world: write(world, {"k/kustomization.yaml": "resources: [hub.yaml]\n"}), "the unit of k/kustomization.yaml:1 is not built", "a file that nobody added"),
    (lambda world: write(world, {"data/lfs.yaml": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n"}), "data/lfs.yaml cannot be read", "a pointer"),
]  # fmt: skip


@needs_build_tool
@pytest.mark.parametrize(("make", "named", "why"), UNREADABLE, ids=[row[-1] for row in UNREADABLE])
def test_a_location_that_cannot_be_read_holds_what_was_removed_when_it_came(started, make, named, why):
    (started.folder / "net" / "hub.yaml").unlink()
    make(started)
    commit_all(started.folder)
    for _ in range(2):  # the later one no longer finds the manifest in the history
        found = of(started.sync(prune=True, max_deletes=9, allow_dirty=True), "ResourceGroup", "hub")
        assert (found.condition.reason, started.sent("DELETE")) == ("PruneHeld", []), why
        assert f"Held: {named}" in found.condition.message
        assert "has changed since" in found.condition.message

    write(started, {"other.yaml": None, "last.yaml": OTHER.replace("other", "last")})
    report = started.sync(prune=True, max_deletes=9, allow_dirty=True)
    assert of(report, "ResourceGroup", "other").action is Action.DELETE, "it stays as it is, and ends no other delete"
    assert of(report, "ResourceGroup", "hub").condition.reason == "PruneHeld"


def test_a_folder_that_becomes_a_submodule_is_not_gone(started, capsys):
    (started.folder / "net" / "hub.yaml").unlink()
    add_submodule(started, "net")
    found = of(started.plan(prune=True, max_deletes=9), "ResourceGroup", "hub")
    assert found.condition.reason == "PruneHeld"
    assert run(["validate", str(started.folder)]) == 0
    assert "net is a nested repository; gitsync does not read it." in capsys.readouterr().out


def test_an_ending_in_capitals_is_a_warning(world, capsys):
    write(world, {"hub.YAML": HUB, "theirs.YML": "apiVersion: v1\nkind: Service\n"})
    assert run(["validate", str(world.folder)]) == 0
    told = capsys.readouterr().out
    assert "hub.YAML is not read: its file extension is not in lower case." in told
    assert "Rename it to hub.yaml." in told
    assert "theirs.YML" not in told


def test_what_a_sparse_checkout_leaves_out_is_not_gone(started):
    write(started, {"net/hub.yaml": None, "far/hub.yaml": HUB.replace("westeurope", "northeurope")})
    started.git("sparse-checkout", "set", "net")
    found = of(started.plan(prune=True, max_deletes=9), "ResourceGroup", "hub")
    assert "Held: far/hub.yaml is not read, since it is not checked out" in found.condition.message


def test_what_a_partial_clone_lacks_is_not_gone(started, tmp_path):
    write(started, {"net/hub.yaml": None, "far/deep/hub.yaml": HUB.replace("westeurope", "northeurope")})
    started.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    url = started.folder.as_uri()
    subprocess.run(["git", "clone", "-q", "--filter=blob:none", "--sparse", url, str(clone)], check=True)
    subprocess.run(["git", "remote", "remove", "origin"], cwd=clone, check=True)
    started.folder = clone
    found = of(started.plan(prune=True, max_deletes=9), "ResourceGroup", "hub")
    assert "far/deep/hub.yaml" in found.condition.message
    assert found.condition.reason == "PruneHeld"


def test_a_file_outside_of_the_path_holds_what_moved_there_and_no_other_environment(world):
    write(world, {"dev/hub.yaml": HUB, "dev/o.yaml": OTHER, "prod/o.yaml": OTHER})
    world.sync(prune=True, path="dev")
    write(
        world,
        {
            "dev/hub.yaml": None,
            "dev/o.yaml": None,
            "prod/hub.yaml": HUB,
            "dev/last.yaml": OTHER.replace("other", "last"),
        },
    )
    report = world.sync(prune=True, path="dev", max_deletes=9)
    assert (
        "prod/hub.yaml is not read, since it is not in --path dev"
        in of(report, "ResourceGroup", "hub").condition.message
    )
    assert of(report, "ResourceGroup", "other").action is Action.DELETE, "that of prod was there before"


@needs_build_tool
def test_a_kustomization_that_drops_a_file_deletes_what_it_declares(world):
    named = {
        "k/kustomization.yaml": "resources: [hub.yaml, o.yaml]\npatches: [{path: p.yaml}]\n",
        "k/p.yaml": HUB,
        "k/hub.yaml": HUB,
        "k/o.yaml": OTHER,
    }
    write(world, named)
    world.sync()
    write(world, {"k/kustomization.yaml": "resources: [o.yaml]\n"})
    assert of(world.sync(), "ResourceGroup", "hub").verdict is Verdict.DELETE
    world.sync(prune=True)
    assert len(world.sent("DELETE")) == 1, "also in a run that no longer finds it in the history"


@needs_build_tool
def test_a_folder_that_gets_a_kustomization_which_forgets_a_file_deletes_nothing(world):
    write(world, {"k/hub.yaml": HUB, "k/o.yaml": OTHER})
    world.sync()
    write(world, {"k/kustomization.yaml": "resources: [o.yaml]\n"})
    assert of(world.sync(prune=True), "ResourceGroup", "hub").condition.reason == "PruneHeld"


def test_what_is_ignored_holds_nothing(started):
    write(started, {"net/hub.yaml": None, "old/hub.YAML": HUB, ".gitsyncignore": "old/\n"})
    assert of(started.sync(prune=True), "ResourceGroup", "hub").action is Action.DELETE


# ---- laws ----

LOCATIONS: dict[str, Callable[[str, str], dict[str, str]]] = {
    "read": lambda name, text: {f"read/{name}.yaml": text},
    "capitals": lambda name, text: {f"read/{name}.YAML": text},
    "beside": lambda name, text: {f"beside/{name}.yaml": text},
    "chart": lambda name, text: {f"chart/templates/{name}.yaml": text},
    "unbuilt": lambda name, text: {f"unbuilt/{name}.yaml": text},
    "broken": lambda name, text: {f"broken/{name}.yaml": text + "  x: [\n"},
    "gone": lambda name, text: {},
}
FIXED = {
    "beside/kustomization.yaml": "resources: [kept.yaml]\n",
    "beside/kept.yaml": HUB.replace("hub", "kept"),
    "chart/Chart.yaml": CHART,
    "unbuilt/kustomization.yaml": "resources: [lost.yaml]\n",
    "broken/b.yaml": HUB + "  x: [\n",
}
UNREADABLE = {"unbuilt", "broken"}
NAMES = ("one-group", "second-one", "the-third")
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(sorted(LOCATIONS))), min_size=1, max_size=5)


@needs_build_tool
@settings(max_examples=scale(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
@example(steps=[("second-one", "beside"), ("one-group", "unbuilt"), ("second-one", "gone")])
def test_only_what_is_missing_is_deleted_and_prune_never_stops(steps):
    """Manifests move between locations at random; some locations are unreadable in every run. One that is not read
    while a unit that cannot be read changes may be in there from then on.
    """
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        at = dict.fromkeys(NAMES, "read")
        say_all(world, at)
        world.sync(prune=True, max_deletes=9)
        exists, hidden = set(NAMES), set()
        for name, location in steps:
            was_gone = at[name] == "gone"
            if {at[name], location} & UNREADABLE:
                hidden |= {other for other in NAMES if other != name and at[other] != "read"}
            hidden -= {name} if location == "read" else set()
            at[name] = location
            say_all(world, at)
            world.sync(prune=True, max_deletes=9)
            deleted = {arm_id.rpartition("/")[2] for arm_id in world.sent("DELETE")}
            assert deleted <= {name for name, location in at.items() if location == "gone"}, (steps, at)
            exists = (exists - deleted) | ({name} if location == "read" else set())
            if location == "gone" and not was_gone and name not in hidden:
                assert name not in exists, (steps, at)


def say_all(world: World, at: dict[str, str]) -> None:
    files = dict(FIXED)
    for name, location in at.items():
        files |= LOCATIONS[location](name, HUB.replace("hub", name))
    for old in world.folder.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for path, text in files.items():
        file = world.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    commit_all(world.folder)

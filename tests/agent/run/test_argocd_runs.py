"""Trees of Argo CD in whole runs: an Application of Applications, what is removed from it, and slips."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from gitsync.model.verdict import Action
from tests.support.git_repositories import add_remote, commit_all
from tests.support.world import SUBSCRIPTION, World, of

HERE = "https://github.com/acme/estate"
START = "clusters/prod"
FINALIZER = {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}
GROUP = {"apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup"}


def application(name: str, path: str, *, source: Mapping[str, Any] | None = None, **metadata: Any) -> str:
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", **FINALIZER, **metadata},
        "spec": {
            "source": {"repoURL": HERE, "path": path, **(source or {})},
            "destination": {"namespace": "platform"},
            "syncPolicy": {"automated": {"prune": True}},
        },
    }
    return f"---\n{json.dumps(document)}\n"


def make_set(*generators: Mapping[str, Any]) -> str:
    document = json.loads(application("{{path.basename}}", "{{path}}").partition("\n")[2])
    template = {"metadata": {"name": document["metadata"]["name"]}, "spec": document["spec"]}
    spec = {"generators": generators, "template": template}
    kind = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "teams"}}
    return f"---\n{json.dumps({**kind, 'spec': spec})}\n"


def group(name: str, tag: str = "", **annotations: str) -> str:
    named = {f"argocd.argoproj.io/{key.replace('_', '-')}": text for key, text in annotations.items()}
    spec = {"location": "westeurope", **({"tags": {"of": tag}} if tag else {})}
    return f"---\n{json.dumps({**GROUP, 'metadata': {'name': name, 'annotations': named}, 'spec': spec})}\n"


FOLDERS = make_set({"git": {"repoURL": HERE, "revision": "HEAD", "directories": [{"path": "teams/*"}]}})
TREE = {
    f"{START}/root.yaml": application("root", "apps", source={"directory": {"recurse": True}}),
    "apps/infra/network.yaml": application(
        "network",
        "network",
        annotations={"argocd.argoproj.io/sync-wave": "-1"},
        source={"directory": {"recurse": True}},
    ),
    "apps/core.yaml": application("core", "core"),
    "apps/teams.yaml": FOLDERS,
    "network/hub.yaml": group("a-late", sync_wave="5") + group("z-early", sync_wave="-5") + group("m-between"),
    "core/core.yaml": group("core") + group("job", hook="PreSync"),
    "core/notes/other.yaml": group("unread"),
    "teams/blue/group.yaml": group("blue"),
    "teams/red/group.yaml": group("red"),
}


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    add_remote(made.folder, f"{HERE}.git")
    return made


def id_of(name: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"


def test_an_application_of_applications_is_built_in_its_order_and_pruned(world):
    report = world.says_files(TREE).sync(prune=True, path=START)
    puts = [path.rpartition("/")[2] for path in world.sent("PUT")]
    assert puts[:3] == ["z-early", "m-between", "a-late"], "waves inside of an Application"
    assert sorted(puts[3:]) == ["blue", "core", "red"], "the others come after the wave -1"
    found = of(report, "ResourceGroup", "core")
    assert (found.key.namespace, str(found.manifest.source)) == ("platform", "core/core.yaml:2")
    assert [(problem.code, str(problem.level), problem.path, problem.line) for problem in report.problems] == [
        ("ArgoHook", "warning", "core/core.yaml", 4)
    ]
    assert report.exit_code == 0

    assert (world.sync(prune=True, path=START).exit_code, world.writes) == (0, []), "the second run is silent"

    tree = dict(TREE)
    tree["network/hub.yaml"] = group("z-early") + group("m-between")
    del tree["apps/core.yaml"], tree["teams/red/group.yaml"]
    planned = world.says_files(tree).plan(prune=True, path=START, max_deletes=5)
    because = {result.key.name: result.condition.message for result in planned.results}
    assert "the unit clusters/prod/argocd/network no longer contains it" in because["a-late"]
    assert (
        "the Application clusters/prod/argocd/core is no longer built (it was declared in apps/core.yaml)"
        in (because["core"])
    )
    world.sync(prune=True, path=START, max_deletes=5)
    assert sorted(world.writes) == [f"DELETE {id_of(name)}" for name in ("a-late", "core", "red")]


def test_what_argo_cd_keeps_is_kept(world):
    """What is marked, what an Application does not prune, and what one leaves that has no finalizer."""
    unpruned = application("unpruned", "unpruned").replace('"prune": true', '"prune": false')
    tree = {
        f"{START}/marked.yaml": application("marked", "marked"),
        f"{START}/unpruned.yaml": unpruned,
        f"{START}/open.yaml": application("open", "open", finalizers=[]),
        f"{START}/stopped.yaml": application("stopped", "stopped"),
        "marked/a.yaml": group("marked", sync_options="Replace=true, Prune=false")
        + group("asked", sync_options="Delete=confirm"),
        "marked/b.yaml": group("pruned"),
        "marked/c.yaml": group("rest"),
        "unpruned/a.yaml": group("unpruned"),
        "unpruned/b.yaml": group("unpruned-rest"),
        "open/a.yaml": group("open"),
        "stopped/a.yaml": group("stopped") + group("stopped-rest"),
    }
    world.says_files(tree).sync(prune=True, path=START)
    assert len(world.sent("PUT")) == 9

    for path in ("marked/a.yaml", "marked/b.yaml", "unpruned/a.yaml", f"{START}/open.yaml"):
        del tree[path]
    tree["stopped/a.yaml"] = group("stopped", tag="new")
    skipped = {"argocd.argoproj.io/skip-reconcile": "true"}
    tree[f"{START}/stopped.yaml"] = application("stopped", "stopped", annotations=skipped)
    report = world.says_files(tree).sync(prune=True, path=START, max_deletes=9)
    assert world.writes == [f"DELETE {id_of('pruned')}"]
    detached = sorted(result.key.name for result in report.results if result.action is Action.DETACH)
    assert detached == ["asked", "marked", "open", "stopped-rest", "unpruned"]
    assert "Suspended" in [problem.code for problem in report.problems]


@pytest.mark.parametrize("is_shallow", [True, False], ids=["shallow", "full"])
def test_what_an_application_leaves_is_held_if_history_does_not_report_whether_it_had_the_finalizer(
    world, tmp_path, is_shallow
):
    tree = {
        f"{START}/gone.yaml": application("gone", "gone"),
        f"{START}/open.yaml": application("open", "open", finalizers=[]),
        f"{START}/kept.yaml": application("kept", "kept"),
        "gone/a.yaml": group("gone"),
        "open/a.yaml": group("open"),
        "kept/a.yaml": group("kept"),
        "kept/b.yaml": group("dropped"),
        f"{START}/plain/a.yaml": group("plain"),
        f"{START}/plain/b.yaml": group("plain-rest"),
    }
    world.says_files(tree).sync(prune=True, path=START)
    for path in (f"{START}/gone.yaml", f"{START}/open.yaml", "kept/b.yaml", f"{START}/plain/a.yaml"):
        del tree[path]
    world.says_files(tree)
    if is_shallow:
        subprocess.run(
            ["git", "clone", "-q", "--depth=1", f"file://{world.folder}", str(tmp_path / "copy")], check=True
        )
        world.folder.rename(tmp_path / "moved")
        world.folder = tmp_path / "copy"
        world.git("remote", "set-url", "origin", f"{HERE}.git")
    report = world.sync(prune=True, path=START, max_deletes=9)
    actions = {result.key.name: result.action for result in report.results if result.action is not Action.NONE}
    always = {"dropped": Action.DELETE, "plain": Action.DELETE}
    if not is_shallow:
        assert actions == always | {"gone": Action.DELETE, "open": Action.DETACH}
        return
    assert actions == always, "what is not of a removed Application needs no history"
    said = of(report, "ResourceGroup", "gone").condition.message
    assert "the Application clusters/prod/argocd/gone is no longer built, and the history in this clone" in said
    assert "finalizer resources-finalizer.argocd.argoproj.io. Fetch the full history (fetch-depth: 0)" in said


SLIPS = {
    "the root's path has a typo": {f"{START}/root.yaml": application("root", "aps")},
    "the root's file does not parse": {f"{START}/root.yaml": application("root", "apps") + "]\n"},
    "an Application does not parse": {"apps/core.yaml": application("core", "core") + "]\n"},
    "the path of one leads out": {"apps/core.yaml": application("core", "../core")},
    "the repository of one has a typo": {
        "apps/core.yaml": application("core", "core", source={"repoURL": "https://github.com/acme/estat"})
    },
    "another revision": {"apps/core.yaml": application("core", "core", source={"targetRevision": "v1"})},
    "its folder is empty": {"apps/core.yaml": application("core", "cores")},
    "its files are excluded by an odd glob": {
        "apps/core.yaml": application("core", "core", source={"directory": {"include": "{core.yaml"}})
    },
    "a set has a generator that is not followed": {"apps/teams.yaml": make_set({"clusters": {}})},
    "a set has a template that is not rendered": {
        "apps/teams.yaml": FOLDERS.replace('"spec": {', '"spec": {"goTemplate": true, ', 1)
    },
    "the folder of a set has a typo": {"apps/teams.yaml": FOLDERS.replace("teams/*", "../teams/*")},
}


def test_a_slip_in_argo_cd_deletes_nothing(world, tmp_path):
    world.says_files(TREE).sync(prune=True, path=START)
    for number, (slip, files) in enumerate(SLIPS.items()):
        report = world.copy(tmp_path / str(number)).says_files(TREE | files).plan(prune=True, path=START, max_deletes=9)
        deleted = sorted(
            result.key.name for result in report.results if result.action in {Action.DELETE, Action.DETACH}
        )
        assert (slip, deleted) == (slip, [])
        assert len(report.problems) > 1, f"{slip}: it is named"


def test_from_a_cluster_to_gitsync_alone_without_a_write(world):
    """The steps of docs/from-aso.md beside Argo CD."""
    body = {"location": "westeurope"}
    for name in ("core", "blue"):
        world.outside("PUT", id_of(name), body)
    tree = {
        f"{START}/root.yaml": application("root", "apps"),
        "apps/core.yaml": application("core", "core") + application("blue", "teams/blue"),
        "core/core.yaml": group("core"),
        "teams/blue/group.yaml": group("blue"),
    }
    planned = world.says_files(tree).plan(prune=True, path=START)
    assert (planned.exit_code, planned.problems, world.writes) == (0, (), []), "the first plan has no writes"
    assert (world.sync(prune=True, path=START).exit_code, world.writes) == (0, [])

    tree["azure/prod/root.yaml"] = tree.pop(f"{START}/root.yaml")
    moved = world.says_files(tree).sync(prune=True, path="azure/prod")
    assert (moved.exit_code, len(moved.results), world.writes) == (0, 2, []), "Argo CD no longer has the object"

    tree["core/core.yaml"] = group("core", tag="new")
    world.says_files(tree).sync(prune=True, path="azure/prod")
    assert world.sent("PUT") == [id_of("core")], "from now on, gitsync writes"


def test_a_link_in_a_folder_of_an_application_is_not_followed(world, tmp_path):
    outside = tmp_path / "outside.yaml"
    outside.write_text(group("outside"))
    world.says_files(TREE)
    (world.folder / "core" / "link.yaml").symlink_to(outside)
    (world.folder / "teams" / "linked").symlink_to(tmp_path)
    commit_all(world.folder)
    report = world.plan(path=START)
    assert sorted(result.key.name for result in report.results) == [
        "a-late",
        "blue",
        "core",
        "m-between",
        "red",
        "z-early",
    ]

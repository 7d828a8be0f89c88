"""A file that became something else than a manifest deletes nothing: pointers, ciphers, archives, links, any bytes."""

from __future__ import annotations

import json
import shutil

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.model.verdict import Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.agent.run.test_argocd_runs import application
from tests.agent.run.test_flux_runs import flux
from tests.agent.run.test_helm_runs import RELEASE
from tests.support.git_repositories import commit_all, init_repository
from tests.support.loose_git import LooseAccess
from tests.support.programs import needs_build_tool, needs_helm
from tests.support.replaced_files import (
    ANNEX,
    FORMS,
    HUB,
    LFS,
    LOCATIONS,
    REMOVALS,
    SOPS,
    plan_after,
    spread,
)
from tests.support.world import GROUP, VNET, VNET_ID, World, of

OTHER = HUB.replace(b"hub", b"other").decode()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def replace_file(world: World, path: str, content: bytes | None) -> World:
    """Commit other bytes in the place of a file; None for a link as git-annex makes them."""
    file = world.folder / path
    file.unlink()
    if content is None:
        file.symlink_to("../.git/annex/objects/Wx/33/SHA256E-s31--5ab5/SHA256E-s31--5ab5")
    else:
        file.write_bytes(content)
    commit_all(world.folder)
    return world


def add_another(world: World) -> None:
    """Sync a commit that is about something else: afterwards no revision in reach has the former manifest."""
    (world.folder / "other.yaml").write_text(OTHER)
    commit_all(world.folder)
    assert world.sync(prune=True).exit_code == 0


# ---- every form, in every location that needs no tool ----


@pytest.mark.parametrize("location", LOCATIONS)
def test_what_is_not_a_document_any_more_deletes_nothing(tmp_path, location):
    files, paths = spread_rows(location, len(FORMS))
    contents = {path: make(files[path]) for path, make in zip(paths, FORMS.values(), strict=True)}
    kept = plan_after(tmp_path, files, contents)
    for row, (form, path) in enumerate(zip(FORMS, paths, strict=True)):
        held = f"Held: {path} declared this resource, and cannot be read now."
        assert kept[f"hub{row}"].startswith(held), form
    assert all(kept.values())


@pytest.mark.parametrize("location", ["a file", "a file of JSON", "a folder with options"])
def test_what_is_read_and_does_not_have_it_deletes_it(tmp_path, location):
    removals = JSON_REMOVALS if location == "a file of JSON" else REMOVALS
    files, paths = spread_rows(location, len(removals))
    kept = plan_after(tmp_path, files, dict(zip(paths, removals.values(), strict=True)))
    for row, removal in enumerate(removals):
        assert kept[f"hub{row}"] == "", removal


JSON_REMOVALS = {name: REMOVALS[name] for name in ("nothing", "null", "an empty mapping", "an empty list")}


def spread_rows(location, rows):
    """The files of so many rows, and the path of the manifest of each."""
    files, path = LOCATIONS[location]
    return spread(files, rows), [f"row{row}/{path}" for row in range(rows)]


# ---- whole runs ----


def test_a_pointer_holds_what_its_file_declared_for_as_long_as_it_is_one(world):
    """Also in runs that no longer find the last manifest in the history, after a run that was about something else."""
    files = {"group.yaml": GROUP, "net/hub.yaml": VNET}
    world.says_files(files).sync(prune=True)
    replace_file(world, "net/hub.yaml", LFS)
    report = world.sync(prune=True)
    found = of(report, "VirtualNetwork")
    assert (found.verdict, found.condition.reason, world.writes) == (Verdict.BLOCKED, "PruneHeld", [])
    assert found.condition.message == (
        "Held: net/hub.yaml declared this resource, and cannot be read now. This is a git LFS pointer, not YAML. "
        "Run `git lfs pull`. To delete the resource, remove the file."
    )
    assert ("InvalidText", "net/hub.yaml") in [(problem.code, problem.path) for problem in report.problems]

    add_another(world)
    assert of(world.sync(prune=True), "VirtualNetwork").condition.reason == "PruneHeld"
    assert world.sent("DELETE") == []

    replace_file(world, "net/hub.yaml", REMOVALS["a comment"])
    assert of(world.sync(prune=True), "VirtualNetwork").condition.is_ready
    assert world.sent("DELETE") == [VNET_ID]


def test_a_manifest_that_moves_and_becomes_a_pointer_between_two_runs_stays_held(world):
    world.says_files({"group.yaml": GROUP, "net/hub.json": json.dumps({})}).sync()
    world.says_files({"group.yaml": GROUP, "net/hub.yaml": VNET}).sync()
    world.says_files({"group.yaml": GROUP, "data/hub.yaml": VNET})
    replace_file(world, "data/hub.yaml", FORMS["base64"](b"x"))
    assert of(world.sync(prune=True), "VirtualNetwork").condition.reason == "PruneHeld"
    add_another(world)
    for _ in range(2):
        found = of(world.sync(prune=True), "VirtualNetwork")
        assert (found.condition.reason, world.sent("DELETE")) == ("PruneHeld", [])
        assert found.condition.message.startswith("Held: data/hub.yaml declared this resource")


def test_a_file_that_is_ignored_is_removed_whatever_it_is(world):
    world.says_files({"group.yaml": GROUP, "net/hub.yaml": VNET}).sync(prune=True)
    replace_file(world, "net/hub.yaml", None)
    assert of(world.sync(prune=True), "VirtualNetwork").condition.reason == "PruneHeld"
    (world.folder / ".gitsyncignore").write_text("net/hub.yaml\n")
    commit_all(world.folder)
    world.sync(prune=True)
    assert world.sent("DELETE") == [VNET_ID]


def test_a_plan_of_two_revisions_holds_it_too(world):
    world.says_files({"group.yaml": GROUP, "net/hub.json": json.dumps({})})
    world.says_files({"group.yaml": GROUP, "net/hub.yaml": VNET})
    replace_file(world, "net/hub.yaml", ANNEX)
    for after in (None, "HEAD"):
        config = Config(source=str(world.folder), from_revision="HEAD~1", to_revision=after, prune=True)
        found = of(plan_revisions(config, world.clock, Redactions(), LooseAccess()), "VirtualNetwork")
        assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "PruneHeld")
        assert "This is a git-annex pointer" in found.condition.message


CLUSTER = "clusters/prod"
CHART = {
    "charts/app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\n",
    "charts/app/values.yaml": "name: hub\n",
    "charts/app/templates/hub.yaml": HUB.decode().replace("{name: hub}", "{name: {{ .Values.name }}}"),
    "gitsync.yaml": "units:\n- {path: charts/app}\n",
}
API = HUB.decode().partition("\n")[0]
HELPER = "charts/app/templates/_api.tpl"
HELPED = {
    **CHART,
    HELPER: '{{- define "api" }}' + API + "{{ end }}\n",
    "charts/app/templates/hub.yaml": CHART["charts/app/templates/hub.yaml"].replace(API, '{{ include "api" . }}'),
}
NAMED = {
    **CHART,
    "charts/app/values.yaml": "name: ''\n",
    "charts/app/prod.yaml": "name: hub\n",
    "charts/app/templates/hub.yaml": "{{- if .Values.name }}\n"
    + CHART["charts/app/templates/hub.yaml"]
    + "{{- end }}\n",
    "gitsync.yaml": "units:\n- {path: charts/app, values: [prod.yaml]}\n",
}
RELEASED = {
    **CHART,
    "gitsync.yaml": "{}\n",
    "release.yaml": RELEASE.partition("  targetNamespace")[0].replace("charts/team", "charts/app"),
}
BASE = {
    "base/kustomization.yaml": "resources: [hub.yaml, other.yaml]\n",
    "base/hub.yaml": HUB.decode(),
    "base/other.yaml": OTHER,
    "prod/kustomization.yaml": "resources: [../base]\nnamePrefix: my-\n",
}
FLUX = {f"{CLUSTER}/infra.yaml": flux("infra", "./infra"), "infra/hub.yaml": HUB.decode(), "infra/other.yaml": OTHER}
ARGO = {f"{CLUSTER}/app.yaml": application("net", "net"), "net/hub.yaml": HUB.decode(), "net/other.yaml": OTHER}

UNITS = [
    pytest.param(BASE, "base/hub.yaml", id="a file of a base", marks=needs_build_tool),
    pytest.param(BASE, "prod/kustomization.yaml", id="a kustomization", marks=needs_build_tool),
    pytest.param(FLUX, "infra/hub.yaml", id="a file in a folder of Flux", marks=needs_build_tool),
    pytest.param(ARGO, "net/hub.yaml", id="a file in a folder of Argo CD"),
    pytest.param(CHART, "charts/app/templates/hub.yaml", id="the template of a chart", marks=needs_helm),
    pytest.param(CHART, "charts/app/Chart.yaml", id="the description of a chart", marks=needs_helm),
    pytest.param(HELPED, HELPER, id="what a template includes", marks=needs_helm),
    pytest.param(NAMED, "charts/app/prod.yaml", id="values of a chart", marks=needs_helm),
    pytest.param(RELEASED, "charts/app/templates/hub.yaml", id="the template of a release", marks=needs_helm),
]


@pytest.mark.parametrize(("files", "path"), UNITS)
def test_what_units_are_built_of_deletes_nothing_either(world, files, path):
    """Without a history, so that only the record shows which file it was."""
    report = world.says_files({"keep.yaml": OTHER.replace("other", "keep"), **files}).sync(prune=True)
    (name,) = [
        result.key.name for result in report.results if result.key.name.endswith("hub") and result.condition.is_ready
    ]
    shutil.rmtree(world.folder / ".git")
    init_repository(world.folder)
    for content in (LFS, SOPS, None):
        replace_file(world, path, content)
        report = world.plan(prune=True, max_deletes=9)
        assert not [result for result in report.results if result.verdict is Verdict.DELETE], content
        assert of(report, "ResourceGroup", name).condition.reason == "PruneHeld", content


@needs_helm
def test_a_release_that_is_removed_goes_though_its_template_stays(world):
    world.says_files({"keep.yaml": OTHER, **RELEASED}).sync(prune=True)
    without = {path: text for path, text in RELEASED.items() if path != "release.yaml"}
    report = world.says_files({"keep.yaml": OTHER, **without}).plan(prune=True)
    assert of(report, "ResourceGroup", "hub").verdict is Verdict.DELETE

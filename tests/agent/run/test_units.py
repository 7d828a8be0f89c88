"""Units in whole runs: the shapes of real repositories, each beside a neighbour that stays broken."""

from __future__ import annotations

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.model.problem import Level
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.loose_git import LooseAccess
from tests.support.programs import needs_build_tool
from tests.support.world import GROUP_ID, VNET_ID, World, of

pytestmark = needs_build_tool

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
VNET = """\
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {name: hub}
spec:
  location: westeurope
  owner: {name: core}
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
"""
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n"

NEIGHBOURS = {
    "apps/identity/kustomization.yaml": "resources:\n- https://example.com/identity.yaml\n",
    "apps/syntax/kustomization.yaml": "resources: [a.yaml\nnamePrefix: x\n",
    "apps/lost/kustomization.yaml": "resources:\n- ../nowhere\n",
    "apps/web/deployment.yaml": DEPLOYMENT,
}
"""Three kustomizations that cannot be built, and no ASO manifest in any of them."""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def collect_units(world):
    """The units on record."""
    lines = (line for file in world.state.rglob("ResourceGroup/*.json") for line in file.read_text().splitlines())
    return [line.split()[1].strip('",') for line in lines if line.strip().startswith('"unit":')]


def test_files_beside_the_root_and_neighbours_that_stay_broken(world):
    """Built, planned, synced twice, one removed and pruned; the neighbours are named each time, and block nothing."""
    tree = NEIGHBOURS | {
        "gitsync.yaml": "units:\n- path: services\n  loadRestrictor: none\n",
        "platform/group.yaml": GROUP,
        "services/environments/dev/01/kustomization.yaml": "resources: [../../../../platform/group.yaml, hub.yaml]\n",
        "services/environments/dev/01/hub.yaml": VNET,
    }
    report = world.says_files(tree).sync(prune=True)
    assert (sorted(world.sent("PUT")), report.exit_code) == ([GROUP_ID, VNET_ID], 0)
    assert {(problem.path, problem.line, problem.level) for problem in report.problems} == {
        ("apps/identity/kustomization.yaml", 2, Level.WARNING),
        ("apps/lost/kustomization.yaml", 2, Level.WARNING),
        ("apps/syntax/kustomization.yaml", 2, Level.WARNING),
    }
    found = of(report, "ResourceGroup")
    assert str(found.manifest.source) == "platform/group.yaml:1", "the file that a person edits"

    report = world.says_files(tree).sync(prune=True)
    assert (world.writes, report.exit_code) == ([], 0)

    tree["services/environments/dev/01/kustomization.yaml"] = "resources: [../../../../platform/group.yaml]\n"
    planned = of(world.says_files(tree).plan(prune=True), "VirtualNetwork")
    assert "the unit services/environments/dev/01 no longer contains it" in planned.condition.message
    report = world.sync(prune=True, max_deletes=5)
    assert (world.sent("DELETE"), of(report, "VirtualNetwork").action) == ([VNET_ID], Action.DELETE)


def only(name):
    return f"resources: [{name}]\n"


K = "kustomization.yaml"
REMOVALS = {
    "an overlay that is gone, and a base outside of the path": (
        {f"apps/one/{K}": only("../../base"), f"base/{K}": only("rg.yaml"), "base/rg.yaml": GROUP},
        {f"apps/one/{K}": None},
        "the unit apps/one is no longer built. Its file base/rg.yaml is still there, and nothing includes it.",
    ),
    "an overlay and its base that are gone": (
        {f"apps/one/{K}": only("../../base"), f"base/{K}": only("rg.yaml"), "base/rg.yaml": GROUP},
        {f"apps/one/{K}": None, f"base/{K}": None, "base/rg.yaml": None},
        "its file base/rg.yaml is gone.",
    ),
    "a kustomization that is gone, below another that does not name its files": (
        {f"apps/one/{K}": "{}", f"apps/one/deep/{K}": only("rg.yaml"), "apps/one/deep/rg.yaml": GROUP},
        {f"apps/one/deep/{K}": None, f"apps/one/{K}": only("cm.yaml"), "apps/one/cm.yaml": DEPLOYMENT},
        "its file apps/one/deep/rg.yaml is still there, and nothing includes it.",
    ),
}


@pytest.mark.parametrize(("before", "change", "said"), REMOVALS.values(), ids=REMOVALS)
def test_a_removal_reports_what_became_of_the_file(world, before, change, said):
    world.says_files(before | {"apps/plain/a.yaml": DEPLOYMENT}).sync(path="apps")
    after = {name: text for name, text in (before | change).items() if text is not None}
    planned = of(world.says_files(after | {"apps/plain/a.yaml": DEPLOYMENT}).plan(path="apps"), "ResourceGroup")
    assert f"Removed from git: {said}" in planned.condition.message


def test_environments_are_ambiguous_and_the_rest_runs(world):
    patch = "patches:\n- target: {{kind: VirtualNetwork}}\n  patch: |\n    - {{op: add, path: /spec/tags, value: {{env: {0}}}}}\n"
    tree = {
        "base/kustomization.yaml": "resources: [hub.yaml]\n",
        "base/hub.yaml": VNET,
        "overlays/dev/kustomization.yaml": "resources: [../../base]\n" + patch.format("dev"),
        "overlays/prod/kustomization.yaml": "resources: [../../base]\n" + patch.format("prod"),
        "group.yaml": GROUP,
    }
    report = world.says_files(tree).sync(prune=True)
    assert (world.sent("PUT"), report.exit_code) == ([GROUP_ID], 1)
    assert [(problem.code, problem.unit) for problem in report.problems] == [
        ("UnitsConflict", "overlays/dev"),
        ("UnitsConflict", "overlays/prod"),
    ]

    report = world.says_files(tree | {"gitsync.yaml": "units: [{path: overlays/prod}]\n"}).sync(prune=True)
    assert (world.sent("PUT"), report.exit_code) == ([VNET_ID], 0)
    assert world.read(VNET_ID)["tags"]["env"] == "prod"

    report = world.says_files(tree).sync(prune=True, max_deletes=5)
    held = of(report, "VirtualNetwork")
    assert (world.sent("DELETE"), held.verdict, held.condition.reason) == ([], Verdict.BLOCKED, "PruneHeld")
    assert "so none of them is applied." in held.condition.message


def test_a_unit_that_cannot_be_built_holds_its_own_deletes_and_no_others(world):
    tree = {
        "a/kustomization.yaml": "resources: [hub.yaml]\n",
        "a/hub.yaml": VNET,
        "a/nested/kustomization.yaml": "resources: [group.yaml]\n",
        "a/nested/group.yaml": GROUP + "---\n" + GROUP.replace("core", "spare"),
    }
    world.says_files(tree).sync(prune=True)
    tree |= {"a/kustomization.yaml": "resources: [hub.yaml, ../nowhere]\n"}
    world.says_files(tree).sync(prune=True)
    report = world.says_files(tree | {"a/nested/group.yaml": GROUP}).sync(prune=True, max_deletes=5)
    assert world.sent("DELETE") == [GROUP_ID.replace("core", "spare")]
    held = of(report, "VirtualNetwork")
    assert "a/kustomization.yaml:1 cannot be read" in held.condition.message


NAMED = """\
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata:
  name: spoke
  annotations:
    gitsync/set: |
      spec.tags.hub: resource("VirtualNetwork/hub").status.location
spec:
  location: westeurope
  owner: {name: core}
  addressSpace: {addressPrefixes: [10.1.0.0/16]}
"""


def test_what_reads_a_resource_of_a_unit_that_cannot_be_built_waits(world):
    tree = {
        "a/kustomization.yaml": "resources: [hub.yaml]\n",
        "a/hub.yaml": VNET,
        "b/kustomization.yaml": "resources: [rest.yaml]\n",
        "b/rest.yaml": f"{GROUP}---\n{NAMED}",
    }
    assert world.says_files(tree).sync().exit_code == 0
    world.says_files(tree | {"a/kustomization.yaml": "resources: [hub.yaml, ../nowhere]\n"})
    for report in (world.plan(), world.sync()):
        waits = next(result for result in report.results if result.key.name == "spoke")
        assert (waits.verdict, waits.outcome) == (Verdict.BLOCKED, Outcome.BLOCKED)
        assert waits.condition.reason == "WaitingForValue"
        assert "The unit a (a/kustomization.yaml:1) cannot be built, and may declare it." in waits.condition.message
        assert waits.condition.advice == "Fix a/kustomization.yaml:1: this resource follows."
        assert [problem.code for problem in report.problems if problem.is_error] == ["KustomizationFailed"]
        assert report.exit_code == 1
    assert world.writes == []
    report = world.says_files(tree).sync()
    assert (report.exit_code, world.writes) == (0, []), "and is as it was once the unit can be built"


def test_a_slip_in_an_overlay_does_not_apply_its_base(world):
    tree = {
        "base/kustomization.yaml": "resources: [group.yaml]\n",
        "base/group.yaml": GROUP,
        "prod/kustomization.yaml": "resources: [../base]\nnamePrefix: prod-\n",
    }
    world.says_files(tree).sync(prune=True)
    assert world.sent("PUT") == [GROUP_ID.replace("core", "prod-core")]
    report = world.says_files(tree | {"prod/kustomization.yaml": "resources: [../bsae]\nnamePrefix: prod-\n"}).sync(
        prune=True, max_deletes=5
    )
    assert (world.writes, report.exit_code) == ([], 1)
    assert of(report, "ResourceGroup").condition.reason == "PruneHeld"


def test_a_manifest_of_two_units_moves_from_one_to_the_other_without_a_write(world):
    tree = {
        "base/kustomization.yaml": "resources: [group.yaml]\n",
        "base/group.yaml": GROUP,
        "x/kustomization.yaml": "resources: [../base]\n",
        "y/kustomization.yaml": "resources: [../base]\n",
    }
    report = world.says_files(tree).sync(prune=True)
    assert (world.sent("PUT"), report.exit_code, report.problems) == ([GROUP_ID], 0, ())
    assert collect_units(world) == ["x"]
    report = world.says_files(tree | {"x/kustomization.yaml": "resources: []\nnamePrefix: a\n"}).sync(prune=True)
    assert (world.writes, collect_units(world)) == ([], ["y"])


def test_a_manifest_of_two_units_is_held_if_one_drops_it_and_the_other_breaks(world):
    tree = {
        "base/kustomization.yaml": "resources: [group.yaml]\n",
        "base/group.yaml": GROUP,
        "x/kustomization.yaml": "resources: [../base]\n",
        "y/kustomization.yaml": "resources: [../base]\n",
    }
    world.says_files(tree).sync(prune=True)
    tree |= {"x/kustomization.yaml": "resources: []\nnamePrefix: a\n", "y/kustomization.yaml": "resources: [../base\n"}
    found = of(world.says_files(tree).sync(prune=True, max_deletes=5), "ResourceGroup")
    assert (world.sent("DELETE"), found.condition.reason) == ([], "PruneHeld")


def test_a_plan_of_two_revisions_builds_each_base_once_and_refuses_environments(world):
    before = {"base/kustomization.yaml": "resources: [hub.yaml]\n", "base/hub.yaml": VNET, "group.yaml": GROUP}
    overlay = "resources: [../base]\ncommonLabels: {{env: {0}}}\n"
    world.says_files(before)
    world.says_files(before | {env + "/kustomization.yaml": overlay.format(env) for env in ("dev", "prod")})
    config = Config(source=str(world.folder), from_revision="HEAD~1", to_revision="HEAD", prune=True)
    report = plan_revisions(config, world.clock, Redactions(), LooseAccess())
    assert [(problem.code, problem.unit) for problem in report.problems] == [
        ("UnitsConflict", "dev"),
        ("UnitsConflict", "prod"),
    ]
    assert of(report, "VirtualNetwork").verdict is Verdict.BLOCKED, "both may be built on the former unit"

"""Trees of Flux in whole runs: one cluster of two, what is removed from it, and slips that must delete nothing."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.cli.offline import read_offline
from gitsync.model.problem import Level
from gitsync.model.verdict import Action
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.loose_git import LooseAccess
from tests.support.programs import needs_build_tool
from tests.support.world import SUBSCRIPTION, World, of

pytestmark = needs_build_tool

PROD = "clusters/prod"


def flux(name: str, path: str, *, more: str = "", source: str = "flux-system") -> str:
    head = f"""\
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {{name: {name}, namespace: flux-system}}
        spec:
          interval: 10m
          path: {path}
          sourceRef: {{kind: GitRepository, name: {source}}}
        """
    return textwrap.dedent(head) + textwrap.indent(textwrap.dedent(more or "prune: true\n"), "  ") + "---\n"


def group(name: str, **tags: str) -> str:
    spec = {"location": "westeurope", "tags": tags} if tags else {"location": "westeurope"}
    head = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
    return f"{head}metadata: {{name: {name}}}\nspec: {spec}\n---\n"


def make_cluster(env: str) -> dict[str, str]:
    """A cluster that `flux bootstrap` made: a foundation, and what comes after it, from a base of all clusters."""
    more = f"""\
        prune: true
        targetNamespace: platform
        dependsOn: [{{name: network}}]
        postBuild:
          substitute: {{env: {env}}}
          substituteFrom: [{{kind: ConfigMap, name: cluster-vars}}]
        """
    variables = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-vars, namespace: flux-system}\n"
    return {
        f"clusters/{env}/flux-system/gotk-sync.yaml": flux("flux-system", f"./clusters/{env}"),
        f"clusters/{env}/cluster-vars.yaml": f"{variables}data: {{tier: {env}-tier}}\n",
        f"clusters/{env}/infra.yaml": flux("infra", f"./infra/{env}", more=more),
        f"clusters/{env}/network.yaml": flux("network", f"./network/{env}"),
        f"infra/{env}/kustomization.yaml": "resources: [../base]\n",
        f"network/{env}/net.yaml": group("net", env=env),
    }


TREE = {
    **make_cluster("dev"),
    **make_cluster("prod"),
    "infra/base/kustomization.yaml": "resources: [core.yaml, spare.yaml]\n",
    "infra/base/core.yaml": group("core", env="${env}", tier="${tier}"),
    "infra/base/spare.yaml": group("spare", env="${env}"),
}

NEIGHBOURS = {
    f"{PROD}/neighbours.yaml": flux("identity", "./apps/identity") + flux("charts", "./charts", source="other"),
    "apps/identity/kustomization.yaml": "resources:\n- https://example.com/identity.yaml\n",
}
"""One that can never be built here, and one of another repository."""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def id_of(name: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"


def test_one_cluster_is_built_with_its_values_beside_a_neighbour_that_stays_broken(world):
    """Built, synced twice, one resource removed and pruned, and with it a whole Kustomization."""
    tree = TREE | NEIGHBOURS
    report = world.says_files(tree).sync(prune=True, path=PROD)
    puts = world.sent("PUT")
    assert (sorted(puts), puts[0]) == ([id_of("core"), id_of("net"), id_of("spare")], id_of("net")), "in their order"
    assert (report.exit_code, world.read(id_of("core"))["tags"]) == (0, {"env": "prod", "tier": "prod-tier"})
    found = of(report, "ResourceGroup", "core")
    assert (found.key.namespace, str(found.manifest.source)) == ("platform", "infra/base/core.yaml:1")
    assert [(problem.code, problem.level, problem.path, problem.line) for problem in report.problems] == [
        ("KustomizationFailed", Level.WARNING, "apps/identity/kustomization.yaml", 2),
        ("OtherSource", Level.WARNING, f"{PROD}/neighbours.yaml", 10),
    ]

    assert (world.sync(prune=True, path=PROD).exit_code, world.writes) == (0, []), "the second run is silent"

    tree["infra/base/kustomization.yaml"] = "resources: [core.yaml]\n"
    del tree[f"{PROD}/network.yaml"]
    planned = world.says_files(tree).plan(prune=True, path=PROD)
    because = {result.key.name: result.condition.message for result in planned.results}
    assert "the unit clusters/prod/flux-system/infra no longer contains it" in because["spare"]
    assert "the Kustomization clusters/prod/flux-system/network is no longer built" in because["net"]
    config = Config(source=str(world.folder), path=PROD, from_revision="HEAD~1", to_revision="HEAD", prune=True)
    config = replace(config, max_deletes=5)
    revised = plan_revisions(config, world.clock, Redactions(), LooseAccess())
    deleted = {result.key.name for result in revised.results if result.action is Action.DELETE}
    assert (deleted, revised.exit_code) == ({"net", "spare"}, 0)
    world.sync(prune=True, path=PROD, max_deletes=5)
    assert sorted(world.writes) == [f"DELETE {id_of('net')}", f"DELETE {id_of('spare')}"]


def test_two_clusters_at_once_are_ambiguous(world):
    report = world.says_files(TREE).sync(prune=True)
    assert (world.writes, report.exit_code) == ([], 1)
    requested = [(problem.unit, problem.hint) for problem in report.problems if problem.code == "UnitsConflict"]
    assert [unit for unit, _ in requested] == [
        "clusters/dev/flux-system/infra",
        "clusters/dev/flux-system/network",
        "clusters/prod/flux-system/infra",
        "clusters/prod/flux-system/network",
    ]
    assert requested[-1][1].startswith("Set --path clusters/prod")

    alone = read_offline(Config(source=str(world.folder), path=PROD), Redactions())
    assert (alone.problems, {resource.key.name for resource in alone.prepared}) == ((), {"core", "net", "spare"})
    both = read_offline(Config(source=str(world.folder)), Redactions())
    assert both.problems == ()
    found = {(resource.resource.rendered_by, resource.key.name): resource.resource.spec for resource in both.prepared}
    prod, dev = (found[f"clusters/{cluster}/flux-system/infra", "core"] for cluster in ("prod", "dev"))
    assert prod != dev, "no cluster gets the values of the other"


def test_what_flux_keeps_is_kept(world):
    """A Kustomization that does not prune detaches, and a suspended one is neither written nor deleted."""
    names = ("kept", "left", "stopped")
    tree = {f"{PROD}/{name}.yaml": flux(name, f"./{name}") for name in names}
    tree |= {f"{name}/group.yaml": group(name) + group(f"{name}-too") for name in names}
    tree[f"{PROD}/kept.yaml"] = flux("kept", "./kept", more="prune: false\n")
    tree[f"{PROD}/README.md"] = "The folder stays."
    world.says_files(tree).sync(prune=True, path=PROD)
    assert len(world.sent("PUT")) == 6

    del tree[f"{PROD}/left.yaml"]
    tree["kept/group.yaml"] = group("kept")
    tree[f"{PROD}/stopped.yaml"] = flux("stopped", "./stopped", more="prune: true\nsuspend: true\n")
    tree["stopped/group.yaml"] = group("stopped", env="prod")
    report = world.says_files(tree).sync(prune=True, path=PROD, max_deletes=5)
    assert sorted(world.writes) == [f"DELETE {id_of('left')}", f"DELETE {id_of('left-too')}"]
    assert [problem.unit or problem.path for problem in report.problems if problem.code == "Suspended"] == [
        f"{PROD}/stopped.yaml"
    ]

    del tree[f"{PROD}/kept.yaml"], tree[f"{PROD}/stopped.yaml"]
    assert (world.says_files(tree).sync(prune=True, path=PROD, max_deletes=5).exit_code, world.writes) == (0, [])


SLIPS = {
    "the cluster's own folder does not build": {f"{PROD}/infra.yaml": "apiVersion: [\n"},
    "the cluster's own path has a typo": {f"{PROD}/flux-system/gotk-sync.yaml": flux("flux-system", "./clusters/prd")},
    "its file does not parse": {f"{PROD}/flux-system/gotk-sync.yaml": flux("flux-system", PROD) + "]\n"},
    "the path of one leads out": {f"{PROD}/network.yaml": flux("network", "../network")},
    "the source of one is another": {f"{PROD}/network.yaml": flux("network", "./network/prod", source="other")},
    "a variable of one has no value": {
        f"{PROD}/flux-system/gotk-sync.yaml": flux(
            "flux-system", PROD, more="prune: true\npostBuild: {substitute: {a: b}}\n"
        ),
        f"{PROD}/network.yaml": flux("network", "./network/${enw}"),
    },
    "its folder is empty": {f"{PROD}/network.yaml": flux("network", "./network/prd")},
}


def test_a_slip_in_flux_deletes_nothing(world, tmp_path):
    world.says_files(TREE).sync(prune=True, path=PROD)
    for number, (slip, files) in enumerate(SLIPS.items()):
        report = world.copy(tmp_path / str(number)).says_files(TREE | files).plan(prune=True, path=PROD, max_deletes=5)
        deleted = [str(result.key) for result in report.results if result.action is Action.DELETE]
        assert (slip, deleted) == (slip, [])
        assert report.problems, f"{slip}: it is named"


ROOT = {
    f"{PROD}/flux-system/gotk-sync.yaml": flux(
        "flux-system", PROD, more="prune: true\npostBuild: {substitute: {a: b}}\n"
    ),
    f"{PROD}/infra.yaml": flux(
        "infra", "./infra/prod", more="prune: true\npostBuild: {substitute: {env: e, tier: t}}\n"
    ),
}
"""Objects of the cluster that have variables."""

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ingress, namespace: ingress}
spec:
  chart: {spec: {chart: ingress, sourceRef: {kind: HelmRepository, name: ingress}}}
"""
PATCH = """\
prune: true
postBuild: {substitute: {env: e, tier: t}}
patches:
- target: {kind: HelmRelease}
  patch: '[{"op": "add", "path": "/spec/values", "value": {"host": "${none}"}}]'
"""
COUNTED = {
    "a patch of a HelmRelease": ("VariableNotSet", "spare", {f"{PROD}/infra.yaml": flux("infra", "./infra/prod", more=PATCH)}),
    "values of a chart elsewhere": ("VariableNotSet", "net", {f"{PROD}/release.yaml": f"{RELEASE}  values: {{host: '${{none}}'}}\n"}),
    "values that are none": ("InvalidFluxObject", "net", {f"{PROD}/release.yaml": f"{RELEASE}  values: [a]\n"}),
    "a text that is no expansion": ("InvalidVariable", "net", {f"{PROD}/release.yaml": f"{RELEASE}  values: {{host: '${{a.b}}'}}\n"}),
    "a Kustomization of another repository": ("VariableNotSet", "net", {f"{PROD}/other.yaml": flux("other", "./${none}", source="other")}),
}  # fmt: skip


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A world in which the tree was synced whose own objects have variables."""
    world = World(tmp_path_factory.mktemp("counted"))
    assert world.says_files(TREE | ROOT).sync(prune=True, path=PROD).exit_code == 0
    return world


def remove_manifest(name):
    """The tree without a resource: `spare`, which a unit no longer contains, or the whole unit of `net`."""
    tree = TREE | ROOT
    if name == "spare":
        return tree | {"infra/base/kustomization.yaml": "resources: [core.yaml]\n"}
    return {path: text for path, text in tree.items() if path != f"{PROD}/network.yaml"}


@pytest.mark.parametrize(("code", "name", "files"), COUNTED.values(), ids=COUNTED)
def test_what_is_counted_ends_no_run_with_an_error_and_holds_what_it_may_hide(counted, tmp_path, code, name, files):
    world = counted.copy(tmp_path)
    report = world.says_files(remove_manifest(name) | files).sync(prune=True, path=PROD, max_deletes=5)
    errors = [problem.code for problem in report.problems if problem.is_error]
    assert (report.exit_code, errors, world.sent("DELETE")) == (0, [], [])
    assert code in {note.code for note in report.source.coverage.notes}
    assert of(report, "ResourceGroup", name).condition.reason == "PruneHeld"


@pytest.mark.parametrize("name", ["spare", "net"])
def test_where_nothing_is_counted_it_is_deleted(counted, tmp_path, name):
    world = counted.copy(tmp_path)
    world.says_files(remove_manifest(name)).sync(prune=True, path=PROD, max_deletes=5)
    assert world.sent("DELETE") == [id_of(name)]

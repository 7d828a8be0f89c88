"""`validate` and `render` on repositories in the shapes of real ones: what is rendered, named with a reason, refused."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from gitsync.cli.main import run
from gitsync.cli.offline import read_offline
from gitsync.desired.request.placeholders import show
from gitsync.model.verdict import Verdict
from gitsync.planning.run_problems import fail_unread
from gitsync.report.json import build_problem
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.cli import wild_shapes as wild
from tests.support.git_repositories import add_remote, commit_all, init_repository
from tests.support.programs import needs_build_tool, needs_helm
from tests.support.sops_rig import rig
from tests.support.world import World

pytestmark = needs_build_tool


class Expected(NamedTuple):
    """The resources of a shape. Those without a request are named by problems."""

    rendered: int  # those with a request
    resources: int
    errors: tuple[str, ...] = ()  # codes
    warnings: tuple[str, ...] = ()  # codes


SHAPES = {
    "flux": (wild.flux_tree, "", (), Expected(6, 6)),
    "one cluster of flux": (wild.flux_tree, "clusters/prod", (), Expected(3, 3)),
    "flux, with variables that only the cluster gives": (wild.unset_variables, "clusters/prod", (), Expected(2, 3, ("VariableNotSet",), ("VariableNotSet",))),
    "the same, with the value that the hint asks for": (lambda: {**wild.unset_variables(), "clusters/prod/cluster-vars.yaml": wild.WITH_VALUES}, "", (), Expected(3, 3, (), ("VariableNotSet",))),
    "flux, with a bootstrap by overlay": (wild.bootstrap_by_overlay, "", (), Expected(4, 4)),
    "one cluster of it": (wild.bootstrap_by_overlay, "clusters/prod", (), Expected(2, 2)),
    "files beside the root": (wild.files_beside_the_root, "", (), Expected(2, 2, (), ("OutsideFolder",))),
    "the same, built as Flux does": (wild.files_beside_the_root_as_flux, "", (), Expected(2, 2)),
    "the same, built as kustomize does": (wild.files_beside_the_root_as_kustomize, "", (), Expected(0, 0, ("KustomizationFailed",), ("PassedOver",))),
    "broken neighbours": (wild.broken_neighbours, "", (), Expected(25, 25, (), ("KustomizationFailed",))),
    "one group in many namespaces": (wild.one_group_in_many_namespaces, "", (), Expected(6, 6)),
    "variables for a script": (wild.plain_variables, "", (), Expected(0, 1, ("OwnerNotFound", "VariableNotReplaced", "VariableWithoutBraces"))),
    "the same, read as envsubst does": (wild.variables_of_envsubst, "", ("LOCATION=westeurope", "RESOURCE_GROUP=shop"), Expected(17, 17)),
    "the same, with values": (wild.braced_variables, "", ("LOCATION=westeurope", "RESOURCE_GROUP=shop"), Expected(2, 2)),
    "templates of clusterctl": (wild.clusterctl_templates, "", (), Expected(0, 0, ("VariableNotReplaced",))),
    "the same, with values ": (wild.clusterctl_templates, "", wild.CLUSTERCTL_VALUES, Expected(3, 3, (), ("ValueNotFound", "VersionMigrated"))),
    "objects of CAPZ": (wild.capz_objects, "", (), Expected(4, 4, (), ("EmbeddedObjects", "ValueNotFound", "VersionMigrated"))),
    "a library chart": pytest.param(wild.library_chart, "", (), Expected(3, 3, (), ("HelmChart",)), marks=needs_helm),
    "Argo CD": pytest.param(wild.argocd_tree, "", (), Expected(8, 8, (), ("OtherSource",)), marks=needs_helm),
    "an owner elsewhere": (wild.owner_elsewhere, "", (), Expected(0, 1, (), ("OwnerNotFound",))),
    "old versions": (wild.old_versions, "", (), Expected(3, 3, (), ("VersionMigrated",))),
    "look-alikes": (lambda: wild.LOOK_ALIKES, "", (), Expected(1, 1, (), ("EmbeddedObjects", "UnknownRegion"))),
}  # fmt: skip


def write(shape, folder):
    """Write a shape into a repository."""
    for name, text in shape.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    init_repository(folder)
    add_remote(folder, wild.REMOTE)


def list_codes(problems):
    """The codes of errors, and those of warnings."""
    codes = {(problem["severity"], problem["code"]) for problem in problems}
    return [tuple(sorted(code for own, code in codes if own == severity)) for severity in ("error", "warning")]


@pytest.mark.parametrize(("make", "path", "given", "expected"), SHAPES.values(), ids=SHAPES)
def test_every_document_is_rendered_or_named_with_a_reason(make, path, given, expected, tmp_path):
    """As `validate` and `render` do it, in one reading of the files."""
    write(make(), tmp_path)
    values = tuple(tuple(name.split("=", 1)) for name in given)
    offline = read_offline(
        Config(source=str(tmp_path), path=path, variables=values), Redactions(), looks_for_values=True
    )
    shown = [
        rendered
        for environment in offline.environments
        for rendered in show(environment.prepared, environment.manifests.objects.config_maps)
    ]
    requests = sum(rendered.request is not None for rendered in shown)
    codes = list_codes(map(build_problem, fail_unread(offline.problems)))
    assert Expected(requests, len(offline.prepared), *codes) == expected


def test_validate_and_render_print_so_many(tmp_path, capsys):
    make, path, _, expected = SHAPES["flux, with variables that only the cluster gives"]
    write(make(), tmp_path)
    run(["validate", "--output=json", str(tmp_path), f"--path={path}"])
    validated = json.loads(capsys.readouterr().out)
    run(["render", "--output=json", str(tmp_path), f"--path={path}"])
    rendered = json.loads(capsys.readouterr().out)["resources"]
    requests = sum("body" in resource for resource in rendered)
    assert Expected(requests, validated["resources"], *list_codes(validated["problems"])) == expected


@dataclass(frozen=True)
class Run:
    """What people do with a repository."""

    resources: int
    given: tuple[tuple[str, str], ...] = ()  # values of variables
    hints: tuple[str, ...] = ()  # what the first plan reports
    steps: wild.Shape = field(default_factory=dict)  # files that people add as the first plan suggests
    logins: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The login and the password of each server, as they are sent to Azure."""


def find_logins(world):
    azure = world.azure()
    found = (arm_id for arm_id in azure.ids() if "flexibleServers" in arm_id)
    bodies = {arm_id.rpartition("/")[2]: azure.received(arm_id)["properties"] for arm_id in found}
    return {name: (body["administratorLogin"], body["administratorLoginPassword"]) for name, body in bodies.items()}


RUNS = {
    "variables that only the cluster gives": (
        lambda _: wild.unset_variables(),
        Run(
            3,
            hints=(
                "Add SUFFIX to spec.postBuild.substitute of the Kustomization clusters/prod/flux-system/apps in",
                "or to ConfigMap flux-system/cluster-vars in clusters/prod/cluster-vars.yaml.",
            ),
            steps={"clusters/prod/cluster-vars.yaml": wild.WITH_VALUES},
        ),
    ),
    "a bootstrap by overlay": (lambda _: wild.bootstrap_by_overlay(), Run(4)),
    "a chart that nothing releases": pytest.param(
        lambda _: wild.library_chart(),
        Run(
            4,
            hints=("fleet is a Helm chart with ASO kinds", "`units: [{path: fleet, values: FILE}]` in gitsync.yaml"),
            steps={
                "gitsync.yaml": "units: [{path: fleet, values: prod.yaml, capz: manage}]\n",
                "fleet/prod.yaml": "group: prod\n",
            },
        ),
        marks=needs_helm,
    ),
    "charts that are published to a registry": pytest.param(
        lambda _: wild.published_charts(),
        Run(
            6,
            hints=("charts/team is a Helm chart with ASO kinds", "write `published: true` in place of the values"),
            steps={"gitsync.yaml": "units: [{path: charts, published: true}]\n"},
        ),
        marks=needs_helm,
    ),
    "secrets of SOPS": pytest.param(
        wild.sealed_tree,
        Run(
            5,
            given=(("TIER", "web"),),
            logins={
                "prod-flux": ("boss", "of--db"),
                "charted": ("of-db-values", "of-chart-db"),
                "plain-web": ("boss", "of-plain"),
            },
        ),
        marks=needs_helm,
    ),
}


@pytest.mark.parametrize(("make", "expected"), RUNS.values(), ids=RUNS)
def test_a_tree_is_planned_in_the_steps_that_are_named_and_the_second_sync_is_silent(make, expected, tmp_path):
    sops = rig("double", tmp_path)
    world = World(tmp_path)
    world.secret_stores = SecretStores(environment=sops.environment)
    add_remote(world.folder, wild.REMOTE)
    files = make(sops.encrypted)
    first = world.says_files(files).plan(variables=expected.given)
    suggested = " ".join(f"{problem.message} {problem.hint}" for problem in first.problems)
    assert [hint for hint in expected.hints if hint not in suggested] == []
    if expected.steps:
        world.says_files({**files, **expected.steps})
    synced = world.sync(variables=expected.given)
    created = [result for result in synced.results if result.verdict is Verdict.CREATE]
    assert (synced.exit_code, len(created)) == (0, expected.resources), synced.problems
    assert len(world.sent("PUT")) == expected.resources
    assert find_logins(world) == expected.logins
    assert world.sync(variables=expected.given).exit_code == 0
    assert world.writes == []


def test_a_file_that_a_kustomization_leaves_out_is_named(tmp_path, capsys):
    write(wild.owner_left_out(), tmp_path)
    commit_all(tmp_path)
    for more in ([], ["--path=prod"], ["--ref=HEAD"]):
        assert run(["validate", str(tmp_path), *more]) == 1
        assert "prod/core.yaml:1 declares it, but its kustomization leaves that file out." in capsys.readouterr().out
    (tmp_path / "prod/core.yaml").unlink()
    assert run(["validate", str(tmp_path)]) == 1
    assert "Add its manifest" in capsys.readouterr().out

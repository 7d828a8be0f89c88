"""What is built for a Flux Kustomization: its changes over the kustomization of its folder, or over all manifests."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_values import make_variables
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import ObjectSettings, Unit, UnitEntry, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.all_units import AllUnits, FollowContext, build_all
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.discovery import collect_units
from gitsync.repository.units.flux_build import lay_out, lay_over, make_metadata_fields
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.unit_builds import build_units
from tests.repository.units.trees import GROUP, MemoryTree
from tests.support.programs import needs_build_tool

HEAD = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
SOURCE = "sourceRef: {kind: GitRepository, name: flux-system}"


def make_unit(**changes: Any) -> Unit:
    return Unit(
        name="prod/flux-system/app",
        path="app",
        kind=UnitKind.FLUX,
        file="prod/app.yaml",
        line=7,
        settings=ObjectSettings(changes=changes),
    )


def read(tree: MemoryTree, unit: Unit) -> tuple[str, Any]:
    """The path and the content of the kustomization to build."""
    path, reader = lay_out(unit, KustomizationReader(tree))
    return path, yaml.safe_load(reader.tree.read([path])[path])


LAID: Mapping[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "texts replace those of the folder": (
        {"targetNamespace": "b", "namePrefix": "x-", "nameSuffix": "-y"},
        {"namespace": "a", "namePrefix": "z-"},
        {"namespace": "b", "namePrefix": "x-", "nameSuffix": "-y"},
    ),
    "patches come after those of the folder": (
        {"patches": [{"patch": "second"}]},
        {"patches": [{"patch": "first"}]},
        {"patches": [{"patch": "first"}, {"patch": "second"}]},
    ),
    "components come after those of the folder": (
        {"components": ["../two"]},
        {"components": ["../one"]},
        {"components": ["../one", "../two"]},
    ),
    "an image replaces the one of its name": (
        {"images": [{"name": "a", "newTag": "2"}]},
        {"images": [{"name": "a", "newTag": "1"}, {"name": "b", "newTag": "1"}]},
        {"images": [{"name": "b", "newTag": "1"}, {"name": "a", "newTag": "2"}]},
    ),
    "a name that is no text is left to kustomize": (
        {"images": [{"name": ["a"]}]},
        {"images": [{"name": {}}]},
        {"images": [{"name": {}}, {"name": ["a"]}]},
    ),
    "other fields stay": ({"namePrefix": "x-"}, {"resources": ["a"]}, {"resources": ["a"], "namePrefix": "x-"}),
}


@pytest.mark.parametrize(("changes", "own", "laid"), LAID.values(), ids=LAID)
def test_changes_go_over_the_kustomization_of_the_folder(
    changes: dict[str, Any], own: dict[str, Any], laid: dict[str, Any]
) -> None:
    assert lay_over(changes, own) == laid


def test_common_metadata_is_laid_around_everything_else() -> None:
    unit = make_unit(commonMetadata={"labels": {"team": "a"}, "annotations": {"note": "b"}})
    assert make_metadata_fields(unit) == {
        "labels": [{"pairs": {"team": "a"}}],
        "commonAnnotations": {"note": "b"},
    }
    assert make_metadata_fields(make_unit()) == {}


def test_a_folder_without_a_kustomization_has_all_manifests_below_it() -> None:
    files = {
        "app/one.yaml": GROUP,
        "app/deep/two.yml": GROUP,
        "app/values.yaml": "a: b\n",
        "app/readme.md": "kind: of\n",
        "app/three.json": '{"kind": "ResourceGroup"}',
        "app/five.yaml": '{\n  "kind": "ResourceGroup"\n}\n',
        "app/six.yaml": "{{ if .Values.on }}\n  kind: ResourceGroup\n",
        "app/own/kustomization.yaml": "resources: [a.yaml]\n",
        "app/own/a.yaml": GROUP,
        "app/own/inner/kustomization.yaml": "resources: []\n",
        "apple/four.yaml": GROUP,
    }
    path, content = read(MemoryTree(files), make_unit(namePrefix="x-"))
    assert path == "app/kustomization.yaml"
    assert content == {"resources": ["deep/two.yml", "five.yaml", "one.yaml", "own"], "namePrefix": "x-"}, (
        "as Flux: YAML with a kind"
    )


def test_a_kustomization_that_repeats_itself_with_aliases_is_not_written_out() -> None:
    levels = "".join(f"l{n + 1}: &l{n + 1} [{', '.join([f'*l{n}'] * 9)}]\n" for n in range(12))
    tree = MemoryTree({"app/kustomization.yaml": f"l0: &l0 [x]\n{levels}"})
    path, reader = lay_out(make_unit(namePrefix="x-"), KustomizationReader(tree))
    assert len(reader.tree.read([path])[path]) < 10_000


FAULTS: Mapping[str, tuple[dict[str, str], dict[str, Any], str, int, str]] = {
    "an empty folder is a fault of the object": ({"other/a.yaml": ""}, {}, "prod/app.yaml", 7, "app has no files"),
    "a fault of the folder has its own line": (
        {"app/kustomization.yaml": "namePrefix: x-\nresources:\n- ../nowhere\n"},
        {"namePrefix": "y-"},
        "app/kustomization.yaml",
        3,
        "../nowhere",
    ),
    "what only the object names is a fault of the object": (
        {"app/kustomization.yaml": "resources: []\n"},
        {"components": ["../nowhere"]},
        "prod/app.yaml",
        7,
        "../nowhere",
    ),
    "a path out of the source is refused": (
        {"app/a.yaml": GROUP.decode()},
        {"components": ["../../etc"]},
        "prod/app.yaml",
        7,
        "outside this source",
    ),
    "a key that is a list is no kustomization": (
        {"app/kustomization.yaml": "resources: []\n? [a]\n: b\n"},
        {"namePrefix": "y-"},
        "app/kustomization.yaml",
        1,
        "not valid YAML",
    ),
}


@pytest.mark.parametrize(("files", "changes", "path", "line", "text"), FAULTS.values(), ids=FAULTS)
def test_a_unit_that_cannot_be_built_names_the_location_to_fix(
    files: dict[str, str], changes: dict[str, Any], path: str, line: int, text: str
) -> None:
    built = build_units([make_unit(**changes)], KustomizationReader(MemoryTree(files)), Builds())
    assert [(problem.path, problem.line, problem.code) for problem in built.problems] == [
        (path, line, "KustomizationFailed")
    ]
    assert text in built.problems[0].message


def test_the_paths_of_a_source_are_not_copied_for_each_unit() -> None:
    class Paths(dict[str, bytes]):
        """Paths that refuse to be listed."""

        def __iter__(self) -> Any:
            raise AssertionError("all paths were listed")

    tree = MemoryTree({"app/kustomization.yaml": "resources: [a.yaml]\n", "app/a.yaml": GROUP})
    tree._files = Paths(tree._files)
    path, reader = lay_out(make_unit(namePrefix="x-"), KustomizationReader(tree))
    assert (path in reader.tree.paths, "app/b.yaml" in reader.tree.paths) == (True, False)


ENTRIES = (UnitEntry(path="apps", options=UnitOptions(is_restricted=True, waits_for_owners=True)),)


def build(files: Mapping[str, str], path: str = "prod", **given: str) -> AllUnits:
    tree = MemoryTree(files)
    below = [file for file in files if file.startswith(f"{path}/")]
    found = collect_units(below, KustomizationReader(tree), path=path, entries=ENTRIES)
    plain = {path: files[path].encode() for path in found.plain}
    return build_all(found, plain, KustomizationReader(tree), Builds(), FollowContext(variables=tuple(given.items())))


def list_problems(built: AllUnits) -> list[Problem]:
    return [problem for problem in built.problems if problem.is_error]


NESTED = {
    "prod/all.yaml": f"""\
{HEAD}metadata: {{name: all, namespace: flux-system}}
spec:
  path: ./all
  prune: true
  {SOURCE}
  targetNamespace: flux-system
  postBuild:
    substitute: {{cluster: eu}}
    substituteFrom: [{{kind: ConfigMap, name: later}}]
""",
    "all/apps.yaml": f"""\
{HEAD}metadata: {{name: apps}}
spec:
  path: ./apps/${{cluster}}
  prune: true
  {SOURCE}
  targetNamespace: apps
  namePrefix: ${{cluster}}-
  nameSuffix: -${{ring}}
  commonMetadata: {{labels: {{team: a}}, annotations: {{note: b}}}}
  patches:
  - target: {{kind: ResourceGroup}}
    patch: |
      - {{op: add, path: /spec/tags, value: {{ring: "${{ring}}"}}}}
  components: [../../tagged]
---
{HEAD}metadata: {{name: values}}
spec:
  path: ./values
  prune: true
  {SOURCE}
""",
    "values/later.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: later, namespace: flux-system}\ndata: {ring: one}\n"
    ),
    "apps/eu/group.yaml": GROUP.decode(),
    "tagged/kustomization.yaml": (
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: tagged-\n"
    ),
}
"""A Kustomization in the output of another one, with variables, one of which a third one declares."""


@needs_build_tool
def test_everything_that_a_kustomization_changes_in_a_real_build() -> None:
    built = build(NESTED)
    assert list_problems(built) == []
    assert {unit.name: unit.path for unit in built.declared} == {
        "prod/flux-system/all": "all",
        "prod/flux-system/apps": "apps/eu",
        "prod/flux-system/values": "values",
    }
    group = yaml.safe_load(built.files["prod/flux-system/apps.yaml"])
    metadata = group["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("eu-tagged-rg-one", "apps")
    assert (metadata["labels"], metadata["annotations"]["note"]) == ({"team": "a"}, "b")
    assert group["spec"]["tags"] == {"ring": "one"}
    unit = built.units["prod/flux-system/apps.yaml"]
    assert unit.contents.keys() == {"apps/eu/group.yaml", "tagged/kustomization.yaml"}, (
        "what people edit, not what is made"
    )
    assert (unit.options.waits_for_owners, unit.options.is_restricted) == (True, False), "of gitsync.yaml, and of Flux"


ROOT = f"""\
{HEAD}metadata: {{name: all, namespace: flux-system}}
spec:
  path: ./apps/${{region}}
  {SOURCE}
  patches:
  - target: {{kind: ResourceGroup}}
    patch: |
      - {{op: add, path: /spec/tags, value: {{ring: "${{ring}}", note: "${{note:-none}} $${{x}}"}}}}
  postBuild: {{substitute: {{ring: one}}}}
"""


@needs_build_tool
def test_what_the_operator_gives_changes_nothing_else_in_the_object_at_the_root() -> None:
    """Flux is given that object as it is: its other variables are those of the folder that it builds."""
    built = build({"prod/all.yaml": ROOT, "apps/eu/group.yaml": GROUP.decode()}, region="eu")
    assert (list_problems(built), [unit.path for unit in built.declared]) == ([], ["apps/eu"])
    (group,) = (yaml.safe_load(built.files[path]) for path in built.units)
    assert group["spec"]["tags"] == {"ring": "${ring}", "note": "${note:-none} $${x}"}


def bootstrap(*clusters: str, more: str = "") -> dict[str, str]:
    """A base for the objects of all clusters, and an overlay for each, which sets the path and the variables."""
    files = {
        "fleet/base/kustomization.yaml": "resources: [sync.yaml]\n",
        "fleet/base/sync.yaml": f"""\
{HEAD}metadata: {{name: flux-system, namespace: flux-system}}
spec: {{path: ./placeholder, {SOURCE}}}
---
{HEAD}metadata: {{name: infra, namespace: flux-system}}
spec:
  path: ./infra/${{ENV}}
  {SOURCE}
  {more}
""",
    }
    for name in clusters:
        files |= {
            f"fleet/{name}/kustomization.yaml": f"""\
resources: [../base]
patches:
- target: {{kind: Kustomization, name: flux-system}}
  patch: |
    - {{op: replace, path: /spec/path, value: ./fleet/{name}}}
    - {{op: add, path: /spec/postBuild, value: {{substitute: {{ENV: {name}}}}}}}
""",
            f"infra/{name}/group.yaml": GROUP.decode().replace("rg", name),
        }
    return files


@needs_build_tool
@pytest.mark.parametrize("clusters", [["prod"], ["dev", "prod"]])
def test_an_object_that_an_overlay_builds_is_in_the_folder_of_the_overlay(clusters: list[str]) -> None:
    """What that folder declares is found once, with the variables of the object."""
    built = build(bootstrap(*clusters), path="fleet")
    assert list_problems(built) == []
    assert {unit.name: unit.path for unit in built.declared} == {
        f"fleet/{name}/flux-system/{unit}": path
        for name in clusters
        for unit, path in (("flux-system", f"fleet/{name}"), ("infra", f"infra/{name}"))
    }


@needs_build_tool
def test_a_fault_in_the_base_of_an_overlay_may_hide_any_unit_of_its_folder() -> None:
    files = bootstrap("prod", more="prune: maybe")
    files["fleet/prod/kustomization.yaml"] = "resources: [../base]\n"
    (problem,) = (
        problem for problem in list_problems(build(files, path="fleet")) if problem.code == "InvalidFluxObject"
    )
    assert (problem.path, problem.unit) == ("fleet/base/sync.yaml", "fleet/prod")


MERGE = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: rg}\nspec:\n"
HELM = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ingress}\nspec:\n"


def patched(patch: str, group: str = "tags: {a: b}", more: str = "") -> dict[str, str]:
    """A Kustomization with a patch that its own one builds, and replaces variables in."""
    return {
        "prod/all.yaml": f"""\
{HEAD}metadata: {{name: all, namespace: flux-system}}
spec: {{path: ./all, {SOURCE}, postBuild: {{substitute: {{known: one}}}}}}
""",
        "all/app.yaml": f"""\
{HEAD}metadata: {{name: app, namespace: flux-system}}
spec:
  path: ./app
  {SOURCE}
  {more}
  patches:
  - patch: |
{textwrap.indent(patch, "      ")}
""",
        "app/group.yaml": f"{MERGE}  location: westus\n  {group}\n",
        "app/ingress.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ingress}\nspec: {interval: 5m, chartRef: {kind: OCIRepository, name: ingress}}\n",
    }


WARNING, ERROR = ("VariableNotSet", Level.WARNING), ("VariableNotSet", Level.ERROR)

PATCHES: Mapping[str, tuple[dict[str, str], Any, list[Any]]] = {
    "of a HelmRelease": (patched(f"{HELM}  values: {{host: '${{none}}'}}"), {"a": "b"}, []),
    "of a tag": (patched(f"{MERGE}  tags: {{c: ${{none}}, d: '${{none}}-${{known}}'}}"), {"a": "b", "c": None, "d": "-one"}, [WARNING]),
    "of a location": (patched(f"{MERGE}  location: ${{none}}"), {"a": "b"}, [ERROR]),
    "of an Azure name, in part": (patched(f"{MERGE}  azureName: rg-${{none}}"), {"a": "b"}, [ERROR]),
    "of a tag, in a unit with variables": (
        patched(f"{MERGE}  tags: {{c: '${{none}}', d: '$${{own}}'}}", more="postBuild: {substitute: {own: x}}"),
        {"a": "b", "c": None, "d": "x"},
        [WARNING],
    ),
    "of a value of a variable, for a tag": (
        patched(f"{HELM}  interval: 1m", "tags: {a: '${full}'}", "postBuild: {substitute: {full: '${none}-${known}'}}"),
        {"a": "-one"},
        [WARNING],
    ),
    "of a value of a variable, for an owner": (
        patched(f"{HELM}  interval: 1m", "owner: {name: 'a${full}'}", "postBuild: {substitute: {full: '${none}-${known}'}}"), None, [ERROR],
    ),
    "of a value of a variable that is not used": (
        patched(f"{HELM}  interval: 1m", more="postBuild: {substitute: {full: '${none}', other: x}}"), {"a": "b"}, [],
    ),
    "of a default": (patched(f"{MERGE}  tags: {{c: '${{none:=d}}'}}"), {"a": "b", "c": "d"}, []),
    "of common labels": (patched(f"{HELM}  interval: 1m", more="commonMetadata: {labels: {ring: '${none}'}}"), {"a": "b"}, [WARNING]),
    "of a common annotation that decides what is done": (
        patched(f"{HELM}  interval: 1m", more="commonMetadata: {annotations: {serviceoperator.azure.com/reconcile-policy: '${none}'}}"),
        {"a": "b"},
        [ERROR],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_patches() -> tuple[AllUnits, Mapping[str, Any]]:
    """What is built of all of them, whose objects the same Kustomization builds, and the resources by their names."""
    files: dict[str, str] = {}
    for number, (own, _, _) in enumerate(PATCHES.values()):
        files |= {
            path.replace("app", f"app{number}"): text.replace("app", f"app{number}").replace(
                "{name: rg}", f"{{name: rg{number}}}"
            )
            for path, text in own.items()
        }
    built = build(files)
    assert list_problems(built) == []
    variables = make_variables(built.units.values(), ())
    manifests = read_manifests(built.files, units=built.units, variables=variables)
    return built, {resource.key.name: resource for resource in manifests.resources}


@needs_build_tool
@pytest.mark.parametrize(
    ("number", "files", "tags", "problems"),
    [(number, *row) for number, row in enumerate(PATCHES.values())],
    ids=PATCHES,
)
def test_a_variable_without_a_value_matters_where_its_text_ends_up(
    of_patches: tuple[AllUnits, Mapping[str, Any]], number: int, files: dict[str, str], tags: Any, problems: list[Any]
) -> None:
    built, groups = of_patches
    notes = {(problem.code, problem.path, problem.unit) for problem in built.problems if problem.level is Level.NOTE}
    is_missing = "${none}" in files["all/app.yaml"]
    note = ("VariableNotSet", f"all/app{number}.yaml", f"prod/flux-system/app{number}")
    assert (note in notes) == is_missing, "its deletes are held"
    group = groups[f"rg{number}"]
    assert [(problem.code, problem.level) for problem in group.problems] == problems
    assert group.spec.get("tags") == tags
    assert all(
        "none" in problem.message and "Kustomization prod/flux-system/all in prod/all.yaml" in problem.hint
        for problem in group.problems
    )
    assert "gitsync_missing" not in repr(group.spec) + repr(group.problems)


@needs_build_tool
def test_a_patch_that_is_one_only_with_its_value_is_an_error() -> None:
    (error,) = list_problems(build(patched(f"{MERGE}  tags: {{c: d}}\n${{none}}")))
    assert (error.code, error.field) == ("VariableNotSet", "spec.patches[0].patch")


def test_a_path_with_a_variable_needs_its_value() -> None:
    built = build({"prod/app.yaml": f"{HEAD}metadata: {{name: app}}\nspec: {{path: './app/${{ENV}}', {SOURCE}}}\n"})
    assert [problem.hint for problem in built.problems] == [
        "Use --set ENV=VALUE, or set --path to where an object that builds prod/app.yaml is."
    ]

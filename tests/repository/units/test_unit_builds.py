"""What becomes of units: files with their units, and a problem for each that is not built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from gitsync.errors import SourceError
from gitsync.model.problem import Level
from gitsync.model.unit import Unit, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import Builds, ChartError, UnbuildableError
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize import KustomizeJob
from gitsync.repository.units.unit_builds import build_units, list_inputs
from tests.repository.units.trees import GROUP, MemoryTree
from tests.support.programs import needs_build_tool

GOOD = {"a/kustomization.yaml": "resources: [g.yaml]", "a/g.yaml": GROUP}
PLAIN = {"a/kustomization.yaml": "resources: [g.yaml]", "a/g.yaml": b"kind: A\n"}
COUNT = 'for last; do :; done\ncd "$last"\necho x >> "$COUNTED"\ncat ../source/a/g.yaml\n'
SHOWS_RESTRICTOR = 'echo "kind: $3"\n'
FAILS = "echo 'Error: {}' >&2; exit 1\n"


def unit(file, **options):
    folder = file.rpartition("/")[0]
    return Unit(name=folder or ".", path=folder, kind=UnitKind.KUSTOMIZATION, file=file, options=UnitOptions(**options))


def built(files, *units, builds=None, refused=()):
    return build_units(units, KustomizationReader(MemoryTree(files, refused)), builds or Builds())


def test_a_unit_that_is_built(tool):
    tool("kustomize", 'printf "metadata:\\n  annotations:\\n    x: |\\n      path: ../source/a/g.yaml\\n"')
    found = built(PLAIN, unit("a/kustomization.yaml"))
    assert list(found.files) == ["a/kustomization.yaml"]
    assert found.units["a/kustomization.yaml"].contents == {"a/g.yaml": b"kind: A\n"}, "the files that origins name"
    assert found.used == {"a/kustomization.yaml", "a/g.yaml"}
    assert not found.problems


def test_a_result_has_the_suffix_of_a_manifest(tool):
    tool("kustomize", "echo 'kind: A'")
    assert list(built({"a/Kustomization": "{}"}, unit("a/Kustomization")).files) == ["a/Kustomization.yaml"]


def test_the_restrictor_is_an_option(tool):
    tool("kustomize", SHOWS_RESTRICTOR)
    found = built(GOOD, unit("a/kustomization.yaml", is_restricted=False))
    assert found.files["a/kustomization.yaml"] == b"kind: LoadRestrictionsNone\n"


OUTSIDE = {
    "a/kustomization.yaml": "resources:\n- ../b/g.yaml\n- ../base\n",
    "b/g.yaml": "kind: A\n",
    "base/kustomization.yaml": "resources: [g.yaml]\nconfigMapGenerator:\n- files: [x=../b/one, ../b/two]\n  name: c\n",
    "base/g.yaml": "kind: A\n",
    "b/one": "1",
    "b/two": "2",
}


def test_a_file_outside_of_the_folder_is_read_with_one_warning_for_the_kustomization_that_names_it(tool):
    tool("kustomize", SHOWS_RESTRICTOR)
    both = {**OUTSIDE, "other/kustomization.yaml": "resources: [../base]"}
    found = built(both, unit("a/kustomization.yaml"), unit("other/kustomization.yaml"))
    assert set(found.files.values()) == {b"kind: LoadRestrictionsNone\n"}
    assert [(problem.code, problem.level, problem.path, problem.line) for problem in found.problems] == [
        ("OutsideFolder", Level.WARNING, "a/kustomization.yaml", 2),
        ("OutsideFolder", Level.WARNING, "base/kustomization.yaml", 3),
    ]
    assert found.problems[0].message == (
        "a/kustomization.yaml names b/g.yaml outside of its folder; kustomize rejects that by default."
    )
    assert "names b/one and 1 more outside" in found.problems[1].message


@pytest.mark.parametrize(("is_restricted", "restrictor"), [(True, b"RootOnly"), (False, b"None")])
def test_settings_for_files_outside_need_no_warning(tool, is_restricted, restrictor):
    tool("kustomize", SHOWS_RESTRICTOR)
    found = built(OUTSIDE, unit("a/kustomization.yaml", is_restricted=is_restricted))
    assert (found.files, found.problems) == (
        {"a/kustomization.yaml": b"kind: LoadRestrictions" + restrictor + b"\n"},
        (),
    )


def test_without_files_outside_kustomize_keeps_its_restrictor(tool):
    tool("kustomize", SHOWS_RESTRICTOR)
    found = built(PLAIN, unit("a/kustomization.yaml"))
    assert (found.files, found.problems) == ({"a/kustomization.yaml": b"kind: LoadRestrictionsRootOnly\n"}, ())


def test_a_component_is_not_built_by_itself(tool):
    tool("kustomize", "echo 'kind: A'")
    found = built({"a/kustomization.yaml": "kind: Component"}, unit("a/kustomization.yaml"))
    assert (found.files, found.problems) == ({}, ())


@pytest.mark.parametrize(
    ("files", "level", "why"),
    [
        ({"a/kustomization.yaml": "["}, Level.WARNING, "nothing of ASO"),
        ({"a/kustomization.yaml": "[", "a/g.yaml": GROUP}, Level.ERROR, "a manifest of ASO below it"),
        ({"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [g.yaml, ../nowhere]", "b/g.yaml": GROUP}, Level.ERROR, "a manifest of a base, though another part of that is missing"),
        ({"a/kustomization.yaml": "[", "a/x.yaml": "# https://portal.azure.com/x"}, Level.WARNING, "an address is no group"),
        ({"a/kustomization.yaml": "patches: [{target: {group: network.azure.com}, path: https://x}]"}, Level.ERROR, "a patch for one"),
        ({"a/kustomization.yaml": "[", "a/x.json": '{"apiVersion": "network.azure.com/v1api20201101"}'}, Level.ERROR, "in JSON"),
        ({"a/kustomization.yaml": GROUP}, Level.WARNING, "a manifest of ASO itself, which is read as one"),
        ({"a/kustomization.yaml": GROUP + b"---\n" + GROUP}, Level.WARNING, "several of them"),
        ({"a/kustomization.yaml": "apiVersion: v1\nkind: ConfigMap", "a/g.yaml": GROUP}, Level.WARNING, "an object of another tool"),
        ({"a/kustomization.yaml": GROUP + b"resources: [g.yaml]", "a/g.yaml": GROUP}, Level.ERROR, "a kustomization with a wrong header"),
        ({"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": GROUP}, Level.ERROR, "a kustomization that is built on a manifest"),
        ({"a/kustomization.yaml": "[", "ab/g.yaml": GROUP}, Level.WARNING, "a folder whose name begins alike"),
    ],
)  # fmt: skip
def test_a_unit_that_cannot_be_read_is_an_error_only_if_it_may_have_aso_manifests(tool, files, level, why):
    tool("kustomize", "exit 1")
    (problem,) = built(files, unit("a/kustomization.yaml")).problems
    assert (problem.code, problem.unit, problem.level) == ("KustomizationFailed", "a", level), why


def test_files_that_are_too_much_are_a_problem_of_their_unit(tool):
    tool("kustomize", "cat ../source/a/g.yaml")
    files = {**GOOD, "b/kustomization.yaml": "resources: [big.yaml]", "b/big.yaml": "x"}
    found = built(files, unit("a/kustomization.yaml"), unit("b/kustomization.yaml"), refused=["b/big.yaml"])
    assert list(found.files) == ["a/kustomization.yaml"]
    assert [(problem.unit, problem.message) for problem in found.problems] == [("b", "b/big.yaml is too large.")]


COMPLAINTS = [
    ("in File: g.yaml", "a/g.yaml", 3, "a file beside"),
    ("recursed accumulation of path 'base': MalformedYAMLError: yaml: line 1: x in File: b.yaml", "base/b.yaml", 2, "a file of a base"),
    ("in File: unknown.yaml", "a/kustomization.yaml", 1, "a file that is not there"),
    ("unable to parse SM or JSON patch", "a/kustomization.yaml", 6, "a patch in the kustomization"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "path", "line", "why"), COMPLAINTS, ids=[row[-1] for row in COMPLAINTS])
def test_a_complaint_is_placed_where_its_cause_is(tool, said, path, line, why):
    tool("kustomize", FAILS.format(said.replace("'", '"') if "base" not in said else said.replace("'", "'\\''")))
    files = {
        "a/kustomization.yaml": "resources: [g.yaml, ../base]\npatches:\n- patch: |\n    kind: A\n    spec:\n     b: c: d\n",
        "a/g.yaml": "kind: A\nmetadata:\n  a: b: c\n",
        "base/kustomization.yaml": "resources: [b.yaml]",
        "base/b.yaml": "kind: B\n- x\n",
    }
    (problem,) = built(files, unit("a/kustomization.yaml")).problems
    assert (problem.path, problem.line) == (path, line), why
    assert "a/kustomization.yaml cannot be built" in problem.message


def test_without_a_tool_a_unit_of_others_is_a_warning(tool):
    files = {"a/kustomization.yaml": "resources: [d.yaml]", "a/d.yaml": "kind: Deployment"}
    (problem,) = built(files, unit("a/kustomization.yaml")).problems
    assert (problem.level, "neither kustomize nor kubectl" in problem.message) == (Level.WARNING, True)
    with pytest.raises(SourceError, match="neither kustomize nor kubectl"):
        built(GOOD, unit("a/kustomization.yaml"))


def test_the_same_inputs_are_built_once(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    counted = tmp_path / "counted"
    tool("kustomize", COUNT.replace("$COUNTED", str(counted)))
    builds = Builds()
    for _ in range(3):
        assert built(GOOD, unit("a/kustomization.yaml"), builds=builds).files["a/kustomization.yaml"] == GROUP
    assert counted.read_text() == "x\n"
    built({**GOOD, "a/g.yaml": GROUP + b"\n"}, unit("a/kustomization.yaml"), builds=builds)
    built(GOOD, unit("a/kustomization.yaml", is_restricted=False), builds=builds)
    assert counted.read_text() == "x\n" * 3, "another content and another option are other builds"


def test_builds_end_when_their_time_is_over(tool):
    tool("kustomize", "echo 'kind: A'")
    builds = Builds(seconds=0.0)
    (problem,) = built(GOOD, unit("a/kustomization.yaml"), builds=builds).problems
    assert "the builds of this source take too long" in problem.message


@dataclass
class OtherJob:
    failure: ClassVar = ChartError
    path: str = "a"
    files: Mapping[str, bytes] = field(default_factory=dict)
    digest: str = ""


def test_a_build_without_time_fails_as_what_it_builds():
    (error,) = Builds(seconds=0.0).run([OtherJob()])
    assert (type(error), error.problem.code) == (ChartError, "ChartFailed")
    assert error.problem.hint.endswith("or exclude charts with .gitsyncignore.")


def test_an_error_names_what_is_built():
    """So a new kind, which needs an error of its own, cannot report the failure of another one."""
    with pytest.raises(AttributeError):
        UnbuildableError("m", path="a")


def test_a_failure_is_kept_too(tool):
    tool("kustomize", FAILS.format("no"))
    builds = Builds()
    job = KustomizeJob(path="a/kustomization.yaml", files={"a/kustomization.yaml": b"{}"})
    (first,) = builds.run([job])
    (second,) = builds.run([job])
    assert isinstance(first, UnbuildableError)
    assert second is first


def test_inputs_of_what_cannot_be_read_are_all_of_its_folder():
    files = {**GOOD, "b/kustomization.yaml": "[", "b/x.txt": "", "c/y": ""}
    units = [unit("a/kustomization.yaml"), unit("b/kustomization.yaml")]
    assert list_inputs(units, KustomizationReader(MemoryTree(files))) == {*files} - {"c/y"}


@needs_build_tool
def test_a_secret_in_a_patch_is_not_shown():
    patch = "patches:\n- patch: |\n    kind: Secret\n    stringData: {password: s3cr3t-word}\n    x: [\n"
    (problem,) = built({"a/kustomization.yaml": patch}, unit("a/kustomization.yaml")).problems
    assert "s3cr3t-word" not in problem.message
    assert "cannot be built" in problem.message

"""A kustomization stands for its folder, in a folder, a revision and an earlier revision alike."""

from pathlib import Path

import pytest

from gitsync.errors import ConfigError, SourceError
from gitsync.model.problem import Level
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.contents import SourcePart, read_contents
from gitsync.repository.git.source.worktree import FolderListing


@pytest.fixture(autouse=True)
def _kustomize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A tool that has no origins, and prints every file below the folder that it builds, and of its base."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = 'for last; do :; done\ncd "$last"\ngrep -q buildMetadata *.yaml && exit 1\ncat *.yaml ../base/*.yaml .env 2>/dev/null\nexit 0\n'
    (folder / "kustomize").write_text(f"#!/bin/sh\n{script}")
    (folder / "kustomize").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.fixture
def tree(cloned, prepare):
    prepare(plant_tree)
    return cloned


def plant_tree(cloned):
    cloned.put("apps/.gitsyncignore", "base/\n")
    cloned.put("apps/base/kustomization.yaml", "resources: [b.yaml]\n")
    cloned.put("apps/base/b.yaml", "of: base\n")
    cloned.put("apps/prod/kustomization.yaml", "resources: [../base, p.yaml]\nx: .env\n")
    cloned.put("apps/prod/p.yaml", "of: prod\n")
    cloned.put("apps/prod/.env", "of=env\n")
    cloned.put("apps/plain/m.yaml", "of: plain\n")
    cloned.commit()
    cloned.git("push", "--quiet", "origin", "main")


BUILT = b"resources: [../base, p.yaml]\nx: .env\nof: prod\nof: base\nresources: [b.yaml]\nof=env\n"


@pytest.mark.parametrize("how", ["folder", "ref", "url"])
def test_a_kustomization_deeper_down_is_a_unit_among_manifests(tree, bare, how):
    location, ref = {"folder": (tree.path, None), "ref": (tree.path, "main"), "url": (bare.url, None)}[how]
    with open_checkout(str(location), ref=ref, path="apps") as found:
        assert list(found.contents.files) == ["apps/plain/m.yaml", "apps/prod/kustomization.yaml", "apps/rg.yaml"]
        assert found.contents.files["apps/prod/kustomization.yaml"] == BUILT
        assert not found.dirty


@pytest.mark.parametrize("how", ["folder", "ref", "url"])
def test_a_kustomization_at_the_path_is_all_that_is_read(tree, bare, how):
    location, ref = {"folder": (tree.path, None), "ref": (tree.path, "main"), "url": (bare.url, None)}[how]
    with open_checkout(str(location), ref=ref, path="apps/prod") as found:
        assert found.contents.files == {"apps/prod/kustomization.yaml": BUILT}


@pytest.mark.parametrize(
    ("path", "dirty", "why"),
    [
        ("apps/prod/p.yaml", True, "a file of the unit"),
        ("apps/prod/.env", True, "a file that is no manifest, and may be used"),
        ("apps/prod/new.txt", False, "a new file that the unit does not name"),
        ("apps/base/b.yaml", True, "a file of its base, though the base is ignored"),
        ("notes.txt", False, "nothing of the unit's"),
        (".github/w.yaml", False, "in a dot folder"),
    ],
)
def test_dirty_looks_at_all_that_a_build_takes_in(tree, path, dirty, why):
    tree.put(path, "changed: 1\n")
    with open_checkout(str(tree.path), path="apps/prod") as found:
        assert found.dirty is dirty, why


def test_earlier_revisions_are_built_too(tree, bare):
    earlier = tree.git("rev-parse", "HEAD")
    tree.put("apps/prod/p.yaml", "of: later\n")
    tree.commit()
    tree.git("push", "--quiet", "origin", "main")
    with open_checkout(bare.url, path="apps/prod") as found:
        before = found.contents_at(earlier)
        assert before is not None
        assert before.files == {"apps/prod/kustomization.yaml": BUILT}
        assert before.units["apps/prod/kustomization.yaml"].name == "apps/prod"
        assert found.contents.files != before.files


UNBUILDABLE = {
    "elsewhere": ("resources: [../../../outside]\n", "outside", 1),
    "remote": ("namePrefix: x\nresources: [https://example.com/base]\n", "gitsync does not fetch remote files", 2),
    "missing": ("resources: [../nowhere]\n", "neither a file nor a kustomization", 1),
    "unparsed": ("resources: [", "not valid YAML", 1),
}
"""Kustomizations by their folders, the message about each, and its line."""


@pytest.mark.parametrize("ref", [None, "main"])
def test_a_kustomization_that_cannot_be_built_is_a_problem_and_the_rest_is_read(tree, ref):
    for folder, (text, *_) in UNBUILDABLE.items():
        tree.put(f"apps/{folder}/kustomization.yaml", text)
    tree.commit()
    with open_checkout(str(tree.path), ref=ref, path="apps") as found:
        problems = {each.unit: each for each in found.contents.problems if each.code == "KustomizationFailed"}
        assert {unit: (each.path, each.line) for unit, each in problems.items()} == {
            f"apps/{folder}": (f"apps/{folder}/kustomization.yaml", line)
            for folder, (_, _, line) in UNBUILDABLE.items()
        }
        assert [
            folder for folder, (_, said, _) in UNBUILDABLE.items() if said not in problems[f"apps/{folder}"].message
        ] == []
        assert {each.level for each in problems.values()} == {Level.WARNING}, "no file below mentions a group of ASO"
        assert list(found.contents.files) == ["apps/plain/m.yaml", "apps/prod/kustomization.yaml", "apps/rg.yaml"]
        assert not found.dirty


def test_one_with_aso_manifests_is_an_error(tree):
    tree.put("apps/prod/kustomization.yaml", "resources: [p.yaml, ../nowhere]\n")
    tree.put("apps/prod/p.yaml", "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n")
    with open_checkout(str(tree.path), path="apps") as found:
        assert [problem.is_error for problem in found.contents.problems] == [True]


@pytest.mark.parametrize("mentions", [True, False])
def test_without_a_tool_only_aso_manifests_matter(tree, monkeypatch, mentions):
    """The machine is wrong then, not the source: it would be the same for every kustomization."""
    if mentions:
        tree.put("apps/prod/p.yaml", "apiVersion: network.azure.com/v1api20201101\nkind: VirtualNetwork\n")
    monkeypatch.setenv("PATH", str(tree.path))
    if mentions:
        with pytest.raises(SourceError, match="neither kustomize nor kubectl is installed"):
            read_contents(FolderListing(root=tree.path), SourcePart(path="apps"))
        return
    contents = read_contents(FolderListing(root=tree.path), SourcePart(path="apps"))
    assert [(problem.code, problem.level) for problem in contents.problems] == [("KustomizationFailed", Level.WARNING)]
    assert list(contents.files) == ["apps/plain/m.yaml", "apps/rg.yaml"]


def test_a_file_that_an_ignore_file_names_is_known(tree):
    with open_checkout(str(tree.path), path="apps") as found:
        assert found.contents.ignored == ("apps/base/b.yaml", "apps/base/kustomization.yaml")


UNITS = """\
namespace: team
units:
- {path: apps/plain}
- {path: apps/nowhere}
- {path: apps/other, kind: kustomization}
"""


@pytest.mark.parametrize("ref", [None, "main"])
def test_a_unit_of_gitsync_yaml_that_is_not_there_is_an_error(tree, ref):
    tree.put("apps/other/o.yaml", "of: other\n")
    tree.put("gitsync.yaml", UNITS)
    tree.commit()
    with open_checkout(str(tree.path), ref=ref, path="apps") as found:
        nowhere, other = found.contents.problems
    for problem, line in ((nowhere, 4), (other, 5)):
        assert (problem.code, problem.path, problem.line) == ("UnitNotFound", "gitsync.yaml", line)
    assert "the source has no folder apps/nowhere" in nowhere.message
    assert "the source has no kustomization in the folder apps/other" in other.message


def test_units_are_those_of_the_revision(tree):
    before = tree.git("rev-parse", "HEAD")
    tree.put("gitsync.yaml", "units:\n- {path: apps/prod, kind: folder}\n")
    tree.commit()
    with open_checkout(str(tree.path), path="apps") as found:
        assert list(found.contents.files) == [
            "apps/plain/m.yaml",
            "apps/prod/kustomization.yaml",
            "apps/prod/p.yaml",
            "apps/rg.yaml",
        ]
        earlier = found.contents_at(before)
        assert earlier is not None
        assert list(earlier.files) == ["apps/plain/m.yaml", "apps/prod/kustomization.yaml", "apps/rg.yaml"]
        tree.put("gitsync.yaml", "units: [a]\n")
        broken = tree.commit()
        without_units = found.contents_at(broken)
        assert without_units is not None
        assert without_units.files == earlier.files, "settings that are not valid name no units"
    with pytest.raises(ConfigError, match=r"gitsync\.yaml:1: units\[0\]"):
        open_checkout(str(tree.path))

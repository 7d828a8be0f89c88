"""Which files the build of a kustomization needs."""

import pytest

from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_all_inputs
from tests.repository.units.trees import MemoryTree

SOURCE = {
    "README.md": "not a manifest",
    "base/kustomization.yaml": "resources: [group.yaml]\n",
    "base/group.yaml": "kind: A",
    "base/other.yaml": "kind: B",
    "overlays/prod/kustomization.yaml": "resources: [../../base]\nnamePrefix: prod-\n",
}


def inputs(start, files):
    return list_all_inputs(start, KustomizationReader(MemoryTree(files)))


def one(text, **others):
    return inputs("a/kustomization.yaml", {"a/kustomization.yaml": text, **others})


def test_a_build_needs_what_is_named():
    assert inputs("overlays/prod/kustomization.yaml", SOURCE) == (
        "base/group.yaml",
        "base/kustomization.yaml",
        "overlays/prod/kustomization.yaml",
    )


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("resources: [../shared/b.yaml]", "shared/b.yaml", "a file beside the folder"),
        ("patches: [{path: p.yaml}]", "a/p.yaml", "a patch"),
        ("patchesStrategicMerge: [p.yaml]", "a/p.yaml", "a patch in the old way"),
        ("configMapGenerator: [{name: x, files: [k=c.json]}]", "a/c.json", "a file after its key"),
        ("secretGenerator: [{name: x, envs: [.env]}]", "a/.env", "a file of variables"),
        ("replacements: [{path: r.yaml}]", "a/r.yaml", "replacements in a file"),
        ("openapi: {path: o.json}", "a/o.json", "a schema"),
        ("transformers: [t.yaml]", "a/hidden.txt", "objects that may name further files: the whole folder"),
    ],
)
def test_every_file_that_a_field_names_is_needed(text, path, why):
    files = {"a/t.yaml": "kind: T", "a/unused.md": "x", path: "x"}
    needed = one(text, **files)
    assert path in needed, why
    assert ("a/unused.md" in needed) is text.startswith("transformers")


def test_bases_that_name_each_other_end():
    files = {"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]"}
    assert inputs("a/kustomization.yaml", files) == tuple(sorted(files))


def test_a_second_kustomization_in_a_folder_is_not_hidden_from_the_tool():
    assert len(one("resources: []", **{"a/Kustomization": "resources: []"})) == 2


def test_a_file_is_read_once():
    tree = MemoryTree(SOURCE)
    reader = KustomizationReader(tree)
    for _ in range(3):
        list_all_inputs("overlays/prod/kustomization.yaml", reader)
    assert sorted(tree.was_read) == ["base/kustomization.yaml", "overlays/prod/kustomization.yaml"]


def test_a_file_that_is_too_much_is_a_problem_of_its_kustomization():
    tree = MemoryTree(SOURCE, refused=["base/kustomization.yaml"])
    with pytest.raises(UnbuildableError, match="too large"):
        list_all_inputs("overlays/prod/kustomization.yaml", KustomizationReader(tree))


def test_the_files_in_a_folder_are_not_those_of_one_whose_name_begins_alike():
    reader = KustomizationReader(MemoryTree(dict.fromkeys(["a/x", "a/b/y", "a-b/x", "a0", "ab/x", "z"], "")))
    assert reader.list_below("a") == ["a/b/y", "a/x"]
    assert len(reader.list_below("")) == 6

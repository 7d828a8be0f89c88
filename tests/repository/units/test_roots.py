"""Which kustomizations are built: those that no other one is built on."""

import pytest

from gitsync.repository.units.discovery import list_roots
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_kustomizations
from tests.repository.units.trees import MemoryTree

K = "kustomization.yaml"


def roots(files):
    tree = MemoryTree({f"{folder}/{K}".lstrip("/"): text for folder, text in files.items()})
    found = list_roots(list_kustomizations(tree.paths), KustomizationReader(tree))
    return [path.removesuffix(K).rstrip("/") for path in found]


@pytest.mark.parametrize(
    ("files", "expected", "why"),
    [
        ({}, [], "no kustomization, nothing to build"),
        ({"a": "", "b": ""}, ["a", "b"], "each is a unit, also one that cannot be read"),
        ({"base": "{}", "prod": "resources: [../base]"}, ["prod"], "a base is part of its overlay"),
        ({"part": "kind: Component", "prod": "components: [../part]"}, ["prod"], "so is a component"),
        ({"app": "{}", "app/prod": "resources: [..]"}, ["app/prod"], "also if the base is above"),
        ({"app": "{}", "app/sub": "{}"}, ["app", "app/sub"], "one below another that does not name it is a root"),
        ({"base": "{}", "dev": "resources: [../base]", "prod": "resources: [../base]"}, ["dev", "prod"], "two overlays"),
        ({"a": "resources: [../b]", "b": "resources: [../a]"}, ["a"], "of a circle, the first: its build says so"),
        ({"a": "resources: [.]"}, ["a"], "one that names itself"),
        ({"base": "{}", "prod": "resources: [../bsae]"}, ["prod"], "a slip does not make its base a root"),
        ({"base": "{}", "prod": "resources:\n- ../base\n  namePrefix: ["}, ["prod"], "nor does a syntax error"),
        ({"base": "{}", "prod": "resources: [../base"}, ["prod"], "in any style"),
        ({"base": "{}", "prod": "resources: [../base, 'https://x/y']"}, ["prod"], "nor a remote file") ,
        ({"base": "{}", "prod": "resources: [../elsewhere]"}, ["base", "prod"], "another name is no slip"),
    ],
)  # fmt: skip
def test_roots(files, expected, why):
    assert roots(files) == expected, why


def test_a_base_of_a_base_that_is_not_looked_at_is_part_of_it_too():
    """`.gitsyncignore` may exclude a base, which does not make what that is built on a root."""
    files = {"prod/" + K: "resources: [../hidden]", "hidden/" + K: "resources: [../base]", "base/" + K: "{}"}
    reader = KustomizationReader(MemoryTree(files))
    assert list_roots(["base/" + K, "prod/" + K], reader) == ("prod/" + K,)


@pytest.mark.parametrize(
    ("paths", "expected", "why"),
    [
        (["a.yaml", "a/kustomization.yaml.bak"], [], "only the names that kustomize knows"),
        (["a/Kustomization", "b/kustomization.yml"], ["a/Kustomization", "b/kustomization.yml"], "all of them"),
        (["a/Kustomization", "a/kustomization.yaml"], ["a/kustomization.yaml"], "one a folder"),
    ],
)
def test_names(paths, expected, why):
    assert list(list_kustomizations(paths)) == expected, why

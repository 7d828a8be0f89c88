"""Kustomizations under names that kustomize does not read."""

from __future__ import annotations

import pytest

from gitsync.repository.units.discovery import collect_units
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.misspelt_names import list_misspelt
from tests.repository.units.trees import GROUP as ASO
from tests.repository.units.trees import MemoryTree
from tests.support.programs import needs_build_tool
from tests.support.world import GROUP, World

HEADER = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
PREFIX = f"{HEADER}namePrefix: dev-\nresources: [rg.yaml]\n"
FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./a}\n"


def find(files, known=()):
    return [*list_misspelt(files, KustomizationReader(MemoryTree(files)), known)]


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("kustomisation.yaml", True),
        ("kustomisation.yml", True),
        ("Kustomization.yaml", True),
        ("Kustomization.yml", True),
        ("KUSTOMIZATION", True),
        ("kustomization", True),
        ("kustomizaton.yaml", True),
        ("kustomizations.yaml", True),
        ("kustomization.json", True),
        ("kustomization.yaml.txt", True),
        ("kustomize.yml", True),
        ("kustomize.yaml", True),
        ("customization.yaml", True),
        ("kustomization.yaml", False),  # right
        ("kustomization.yml", False),
        ("Kustomization", False),
        ("kustomization.yaml.bak", False),  # left out on purpose
        ("kustomization.yaml.example", False),
        ("kustomizeconfig.yaml", False),  # of other use
        ("flux-kustomization.yaml", False),
    ],
)
def test_names_near_to_those_of_kustomize(name, is_found):
    assert find({f"dev/{name}": PREFIX, "dev/rg.yaml": ASO}) == ([f"dev/{name}"] if is_found else [])


@pytest.mark.parametrize(
    ("text", "is_found", "why"),
    [
        (PREFIX, True, "it has the header of kustomize"),
        ("namePrefix: dev-\n", True, "a kustomization needs no header"),
        ("resources: [rg.yaml]\n", True, "its resources alone tell it"),
        (HEADER.replace("Kustomization", "Component"), True, "a component"),
        ("kind: Kustomization\n", True, "kustomize needs no apiVersion"),
        (FLUX, False, "an object of Flux"),
        (f"{FLUX}---\n{FLUX}", False, "several objects of Flux"),
        ("a: 1\n", False, "settings of another tool"),
        ("apiVersion: v1\nkind: ConfigMap\nresources: []\n", False, "an object of Kubernetes"),
        ("resources: [", False, "no YAML, which the reader of manifests reports"),
        ("", False, "nothing"),
    ],
)
def test_the_content_must_be_a_kustomization(text, is_found, why):
    assert bool(find({"dev/kustomisation.yaml": text, "dev/rg.yaml": ASO})) == is_found, why


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("files", "is_found", "why"),
    [
        ({"dev/rg.yaml": ASO}, True, "an object of ASO beside it"),
        ({"dev/inner/rg.yaml": ASO}, True, "below it"),
        ({"base/kustomization.yaml": "resources: [rg.yaml]", "base/rg.yaml": ASO}, True, "in its base"),
        ({"dev/rg.yaml": DEPLOYMENT}, False, "the folder of another tool"),
        ({"other/rg.yaml": ASO}, False, "another folder"),
        ({}, False, "nothing"),
    ],
)
def test_the_folders_of_other_tools_make_no_noise(files, is_found, why):
    text = f"{HEADER}resources: [rg.yaml, ../base]\n"
    assert bool(find({"dev/kustomisation.yaml": text, **files})) == is_found, why


def test_a_patch_of_an_aso_object_is_one_too():
    text = f"{HEADER}patches: [{{target: {{kind: A}}, patch: 'apiVersion: resources.azure.com/v1api20200601'}}]\n"
    assert find({"dev/kustomisation.yaml": text})


def test_beside_a_right_name_another_one_is_nothing():
    files = {"dev/kustomisation.yaml": PREFIX, "dev/kustomization.yaml": PREFIX, "dev/rg.yaml": ASO}
    assert find(files, ["dev/kustomization.yaml"]) == []


def test_what_cannot_be_read_may_have_aso_objects():
    tree = MemoryTree({"dev/kustomisation.yaml": PREFIX, "dev/rg.yaml": ASO}, refused=["dev/rg.yaml"])
    assert [*list_misspelt(tree.paths, KustomizationReader(tree), ())] == ["dev/kustomisation.yaml"]


@pytest.mark.parametrize("path", ["", "dev"])
def test_the_files_of_its_folder_are_not_read_as_they_are(path):
    tree = MemoryTree({"dev/kustomisation.yaml": PREFIX, "dev/rg.yaml": ASO, "dev/sub/rg.yaml": ASO})
    units = collect_units([*tree.paths], KustomizationReader(tree), path=path)
    assert ([unit.file for unit in units.built], units.plain) == (["dev/kustomisation.yaml"], ())


@needs_build_tool
def test_a_run_creates_nothing_without_the_prefix_and_holds_deletes(tmp_path):
    built = {"dev/rg.yaml": GROUP, "dev/kustomization.yaml": PREFIX}
    world = World(tmp_path).says_files(built)
    assert [result.key.name for result in world.sync().results] == ["dev-core"]
    report = world.says_files({"dev/rg.yaml": GROUP, "dev/kustomisation.yaml": PREFIX}).sync(prune=True)
    assert (report.exit_code, world.writes) == (1, [])
    (problem,) = [problem for problem in report.problems if problem.code == "KustomizationFailed"]
    assert (problem.is_error, problem.path) == (True, "dev/kustomisation.yaml")
    assert "dev/kustomization.yaml" in problem.hint
    report = world.says_files(built).sync(prune=True)
    assert (report.exit_code, world.writes) == (0, [])

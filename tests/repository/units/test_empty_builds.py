"""Builds that have nothing of what they name."""

from __future__ import annotations

import pytest

from gitsync.model.problem import Level
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.unit_builds import build_units
from tests.repository.units.trees import GROUP, MemoryTree
from tests.support.programs import needs_build_tool

pytestmark = needs_build_tool

TEXT = GROUP.decode()
LOCAL = "{config.kubernetes.io/local-config: 'true'}"
MARKED = TEXT.replace("{name: rg}", f"{{name: rg, annotations: {LOCAL}}}")
PATCH = TEXT.replace("apiVersion", "$patch: delete\napiVersion", 1)
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"
ROOT, BASE = "a/kustomization.yaml", "b/kustomization.yaml"
BECAUSE_LOCAL = ": kustomize leaves out what has the annotation config.kubernetes.io/local-config."


def warn(files):
    unit = Unit(name="a", path="a", kind=UnitKind.KUSTOMIZATION, file=ROOT)
    found = build_units([unit], KustomizationReader(MemoryTree(files)), Builds())
    assert len(found.files) == 1, found.problems
    return [
        (problem.message, problem.path, problem.line)
        for problem in found.problems
        if problem.code == "KustomizationEmpty"
    ]


@pytest.mark.parametrize(
    ("files", "message", "path", "line", "why"),
    [
        (
            {ROOT: f"resources: [g.yaml]\ncommonAnnotations: {LOCAL}\n", "a/g.yaml": TEXT},
            f"1 ASO object, but its build has none{BECAUSE_LOCAL}", ROOT, 2, "an annotation of all",
        ),
        (
            {ROOT: "resources: [g.yaml]\n", "a/g.yaml": f"{MARKED}---\n{MARKED.replace('name: rg', 'name: b')}"},
            f"2 ASO objects, but its build has none{BECAUSE_LOCAL}", "a/g.yaml", 3, "annotations of each",
        ),
        (
            {ROOT: f"resources: [../b]\ncommonAnnotations: {LOCAL}\n", BASE: "resources: [g.yaml]\n", "b/g.yaml": TEXT},
            f"1 ASO object, but its build has none{BECAUSE_LOCAL}", ROOT, 2, "of a base",
        ),
        (
            {ROOT: "resources: [../b]\npatches:\n- path: p.yaml\n", "a/p.yaml": PATCH, BASE: "resources: [g.yaml]\n", "b/g.yaml": TEXT},
            "1 ASO object, but its build has none: patches delete them.", "a/p.yaml", 1, "a patch removes it",
        ),
        (
            {ROOT: "resources: [g.yaml, m.yaml]\n", "a/g.yaml": MARKED, "a/m.yaml": MAP},
            f"1 ASO object, but its build has none{BECAUSE_LOCAL}", "a/g.yaml", 3, "what is left is of another tool",
        ),
    ],
)  # fmt: skip
def test_a_build_that_has_none_of_what_it_names_is_a_warning(files, message, path, line, why):
    assert warn(files) == [(f"{ROOT} names {message}", path, line)], why


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({ROOT: "resources: [g.yaml]\n", "a/g.yaml": TEXT}, "it has them"),
        ({ROOT: "resources: [g.yaml]\n", "a/g.yaml": f"{TEXT}---\n{MARKED.replace('rg', 'b')}"}, "it has one of them"),
        ({ROOT: "resources: [m.yaml]\n", "a/m.yaml": MAP}, "it names none"),
        ({ROOT: "resources: [m.yaml]\n", "a/m.yaml": MAP, "a/g.yaml": TEXT}, "nothing names the file"),
        (
            {ROOT: "resources: [m.yaml]\npatches:\n- target: {group: resources.azure.com}\n  path: p.yaml\n", "a/m.yaml": MAP, "a/p.yaml": TEXT},
            "a patch of what another overlay has",
        ),
        (
            {ROOT: "configMapGenerator: [{name: a, files: [g.txt]}]\n", "a/g.txt": TEXT.replace("apiVersion", "x")},
            "a text in a ConfigMap is no manifest",
        ),
    ],
)  # fmt: skip
def test_a_build_that_has_what_it_names_is_none(files, why):
    assert warn(files) == [], why


def test_it_is_a_warning():
    files = {ROOT: f"resources: [g.yaml]\ncommonAnnotations: {LOCAL}\n", "a/g.yaml": TEXT}
    unit = Unit(name="a", path="a", kind=UnitKind.KUSTOMIZATION, file=ROOT)
    (problem,) = build_units([unit], KustomizationReader(MemoryTree(files)), Builds()).problems
    assert (problem.level, problem.unit) == (Level.WARNING, "a")

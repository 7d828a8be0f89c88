"""Manifests of a build are placed in the file and the lines that a person edits."""

import textwrap

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.units import find_unit_name
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind

FILE = "apps/prod/kustomization.yaml"
ORIGINAL = """\
# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: vars}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: rg}
spec:
  location: westus
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: rg-second
spec:
  location: eastus
"""


def built(name, origin, more=""):
    text = f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  annotations:
    {more}
    config.kubernetes.io/origin: |
      {origin}
  name: {name}
spec:
  location: westus
  tags: {{a: b}}
"""
    return text.encode()


def read(content, contents=None):
    contents = {"base/rg.yaml": ORIGINAL.encode()} if contents is None else contents
    unit = Unit(name="apps/prod", path="apps/prod", kind=UnitKind.KUSTOMIZATION, file=FILE, contents=contents)
    return read_manifests({FILE: content}, units={FILE: unit})


@pytest.mark.parametrize(
    ("name", "origin", "location", "why"),
    [
        ("rg", "path: ../source/base/rg.yaml", "base/rg.yaml:6", "its file and line"),
        ("prod-rg-1", "path: ../source/base/rg.yaml", "base/rg.yaml:6", "with a prefix and a suffix"),
        ("prod-rg-second", "path: ../source/base/rg.yaml", "base/rg.yaml:12", "the longest name that fits"),
        ("renamed", "path: ../source/base/rg.yaml", "base/rg.yaml:6", "another name: the first of its kind"),
        ("rg", "path: ../source/base/gone.yaml", f"{FILE}:1", "a file that is not known"),
        ("rg", "configuredIn: ../source/base/rg.yaml", "base/rg.yaml:1", "where its generator is"),
        ("rg", "configuredIn: ../source/gone.yaml", f"{FILE}:1", "a generator that is not known"),
        ("rg", "path: [", f"{FILE}:1", "an annotation that says nothing"),
        ("rg", "repo: https://example.com", f"{FILE}:1", "an origin elsewhere"),
    ],
)
def test_the_location_of_a_manifest(name, origin, location, why):
    (resource,) = read(built(name, origin)).resources
    assert str(resource.source) == location, why
    assert resource.annotations == {}, "the annotation is not part of the manifest"
    assert find_unit_name(resource) == "apps/prod"


def test_the_line_of_a_field_and_of_one_that_a_patch_added():
    (resource,) = read(built("rg", "path: ../source/base/rg.yaml")).resources
    assert resource.lines is not None
    assert resource.lines.find(("spec", "location")) == 10
    assert resource.lines.find_nearest(("spec", "tags", "a")) == 9, "its nearest parent"


def test_other_annotations_stay():
    (resource,) = read(built("rg", "path: ../source/base/rg.yaml", more="a: b")).resources
    assert resource.annotations == {"a": "b"}


def test_a_problem_of_a_document_is_that_of_the_unit():
    broken = built("rg", "path: ../source/base/rg.yaml").replace(b"kind: ResourceGroup", b"Kind: ResourceGroup")
    manifests = read(broken)
    assert {problem.unit for problem in manifests.problems} == {"apps/prod"}
    assert {document.unit for document in manifests.unread if document.is_rejected} == {"apps/prod"}


def test_a_text_that_does_not_parse_is_in_the_kustomization():
    (problem,) = read(b"apiVersion: resources.azure.com/v1api20200601\nkind: [").problems
    assert (problem.path, problem.unit) == (FILE, "apps/prod")


def test_a_file_is_parsed_once_for_all_units():
    """29 kustomizations may have one base."""
    names = [f"apps/{n}" for n in range(3)]
    contents = {"base/rg.yaml": ORIGINAL.encode()}
    units = {
        f"{name}/k.yaml": Unit(name=name, path=name, kind=UnitKind.KUSTOMIZATION, file=FILE, contents=contents)
        for name in names
    }
    text = built("rg", "path: ../source/base/rg.yaml")
    resources = read_manifests(dict.fromkeys(units, text), units=units).resources
    assert [find_unit_name(resource) for resource in resources] == names
    tables = {id(resource.lines) for resource in resources}
    assert len(tables) == 1


SHARED = textwrap.dedent("""\
    apiVersion: v1
    kind: Namespace
    metadata: {name: team, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: vars}
    data: {a: b}
    """).encode()


@pytest.mark.parametrize("kind", UnitKind)
def test_what_two_units_have_word_for_word_is_not_a_duplicate(kind):
    units = {f"{n}/k.yaml": Unit(name=n, path=n, kind=kind, file=f"{n}/k.yaml") for n in "ab"}
    problems = read_manifests(dict.fromkeys(units, SHARED), units=units).problems
    assert bool(problems) is (kind is UnitKind.FOLDER), "files of folders are read once, so a duplicate is one"
    different = {"a/k.yaml": SHARED, "b/k.yaml": SHARED.replace(b"a: b", b"a: c")}
    assert [unit.unit for unit in read_manifests(different, units=units).problems if "ConfigMap" in unit.message] == [
        "b"
    ]

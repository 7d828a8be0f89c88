"""Units that stand for the same resources in Azure with different bodies, and those that only share something."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.units import remove_repeats
from gitsync.desired.request.build import prepare
from gitsync.desired.request.environments import collect_environments
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind

CATALOG = open_catalog()


def group(name, location="westus", namespace="default", more=""):
    return (
        "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
        f"metadata: {{name: {name}, namespace: {namespace}{more}}}\nspec: {{location: {location}, azureName: {name}}}\n"
    )


SKIP = ", annotations: {serviceoperator.azure.com/reconcile-policy: skip}"


def found(named=(), kind=UnitKind.KUSTOMIZATION, **documents):
    files = {f"{name}/k.yaml": "---\n".join(texts).encode() for name, texts in documents.items()}
    units = {
        f"{name}/k.yaml": Unit(name=name, path=name, kind=kind, file=f"{name}/k.yaml", is_named=name in named)
        for name in documents
    }
    resources = read_manifests(files, units=units).resources
    prepared = prepare(Manifests(resources=remove_repeats(resources)), catalog=CATALOG, subscription="s")
    return collect_environments(prepared, resources)


CASES = [
    ({"dev": [group("a")], "prod": [group("a", "eastus")]}, {"dev", "prod"}, "one resource, two bodies"),
    ({"dev": [group("a")], "prod": [group("b")]}, set(), "two resources"),
    ({"dev": [group("a")], "prod": [group("a")]}, set(), "the same, word for word"),
    (
        {"dev": [group("a"), group("b")], "prod": [group("a"), group("b", "eastus")]},
        {"dev", "prod"},
        "one of two differs, and both have both",
    ),
    (
        {"dev": [group("a", namespace="dev")], "prod": [group("a", "eastus", namespace="prod")]},
        {"dev", "prod"},
        "other namespaces, and the same resource in Azure",
    ),
    (
        {"x": [group("a"), group("b")], "y": [group("a", "eastus"), group("c")]},
        set(),
        "they share one of two: that resource is a problem of its own",
    ),
    (
        {"x": [group("a", namespace="x")], "y": [group("a", "eastus", namespace="y", more=SKIP)]},
        set(),
        "one of them only reads it",
    ),
    (
        {"dev": [group("a")], "prod": [group("a", "eastus")], "test": [group("a", "northeurope")], "other": [group("b")]},
        {"dev", "prod", "test"},
        "three of them, and one that goes on",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("documents", "refused", "why"), CASES, ids=[row[-1] for row in CASES])
def test_what_is_refused(documents, refused, why):
    environments = found(**documents)
    assert environments.refused == refused, why
    assert {problem.unit for problem in environments.problems} == refused
    assert frozenset[str]().union(*environments.groups) == refused


def test_each_is_named_with_the_others_and_the_choice():
    first, second = found(dev=[group("a")], prod=[group("a", "eastus")]).problems
    assert (first.path, first.is_error) == ("dev/k.yaml", True)
    assert "dev and prod declare the same resources in Azure with different bodies" in first.message
    assert "resourceGroups/a" in first.message
    assert "so none of them is applied." in second.message
    assert "--path prod" in second.hint


def test_many_are_not_all_named():
    documents = {f"e{n:03}": [group("a", f"location{n}")] for n in range(300)}
    problems = found(**documents).problems
    assert len(problems) == 300
    assert "294 others" in problems[0].message


def test_groups_have_no_conflict():
    documents = {
        f"{app}-{env}": [group(app, location)]
        for app in ("a", "b", "c")
        for env, location in (("dev", "westus"), ("prod", "eastus"))
    }
    environments = found(**documents)
    assert environments.groups == ({"a-dev", "b-dev", "c-dev"}, {"a-prod", "b-prod", "c-prod"})


def test_one_that_gitsync_yaml_names_goes_first():
    environments = found(named=["prod"], dev=[group("a")], prod=[group("a", "eastus")])
    (problem,) = environments.problems
    assert (environments.refused, problem.level) == ({"dev"}, Level.WARNING)
    assert "it declares the same resources as prod, which gitsync.yaml names" in problem.message
    both = found(named=["prod", "dev"], dev=[group("a")], prod=[group("a", "eastus")])
    assert both.refused == {"dev", "prod"}, "two that are named are a question again"


def test_plain_folders_are_not_environments():
    assert not found(kind=UnitKind.FOLDER, dev=[group("a")], prod=[group("a", "eastus")]).refused

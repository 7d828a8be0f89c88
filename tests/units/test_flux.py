"""Following Flux: which folders the Kustomizations of a cluster lead to, and what is passed over."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import chain

import pytest

from gitsync.model.problem import Level
from gitsync.model.unit import Substitution, Unit, UnitKind, ValuesReference
from gitsync.units.flux import FollowedFlux, follow_flux
from gitsync.units.flux_objects import FluxObjects, find_flux_objects
from gitsync.units.flux_variables import FluxVariables

HERE = "github.com/acme/estate"


def kustomization(name: str, path: str = "./infra", *, source: str = "flux-system", more: str = "") -> str:
    head = f"""\
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {{name: {name}, namespace: flux-system}}
        spec:
          path: {path}
          prune: true
          sourceRef: {{kind: GitRepository, name: {source}}}
        """
    return textwrap.dedent(head) + textwrap.indent(textwrap.dedent(more), "  ") + "\n---\n"


def repository(name: str, url: str) -> str:
    text = f"""\
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {{name: {name}, namespace: flux-system}}
        spec: {{url: {url}}}
        ---
        """
    return textwrap.dedent(text)


def follow(
    files: Mapping[str, str], *, start: str = "clusters/prod", given: tuple[tuple[str, str], ...] = ()
) -> FollowedFlux:
    """Follow from all files below `start`; a folder is built from all files below it."""
    tree = {path: text.encode() for path, text in files.items()}

    def below(folder: str) -> Mapping[str, bytes]:
        return {path: content for path, content in tree.items() if path.startswith(f"{folder}/" if folder else "")}

    variables = FluxVariables(given)
    variables.declare(tree, {})

    def read(unit: Unit) -> FluxObjects:
        found = below(unit.path)
        units = {path: unit for path in found} if unit.options.substitution else {}
        return find_flux_objects(found, units, variables)

    start_objects = find_flux_objects(below(start), {}, variables)
    return follow_flux(start_objects, lambda units: None, read, lambda: HERE)


def find_unit(followed: FollowedFlux, name: str) -> Unit:
    return next(unit for unit in followed.units if unit.name == name)


def test_a_kustomization_becomes_a_unit_of_its_folder() -> None:
    text = kustomization(
        "infra",
        "./infra/prod",
        more="""\
        targetNamespace: platform
        suspend: true
        dependsOn: [{name: network}]
        postBuild:
          substitute: {region: westeurope}
          substituteFrom: [{kind: ConfigMap, name: cluster-vars}, {kind: Secret, name: keys, optional: true}]
        """,
    )
    followed = follow({"clusters/prod/infra.yaml": text})
    unit = find_unit(followed, "clusters/prod/flux-system/infra")
    assert (unit.kind, unit.path, unit.file, unit.line) == (UnitKind.FLUX, "infra/prod", "clusters/prod/infra.yaml", 1)
    assert unit.changes == {"targetNamespace": "platform"}
    assert (unit.prunes, unit.is_suspended) == (True, True)
    assert unit.depends_on == ("clusters/prod/flux-system/network",)
    assert unit.options.substitution == Substitution(
        values={"region": "westeurope"},
        references=(
            ValuesReference(kind="ConfigMap", namespace="flux-system", name="cluster-vars"),
            ValuesReference(kind="Secret", namespace="flux-system", name="keys", optional=True),
        ),
    )
    assert [one.code for one in followed.problems] == ["Suspended"]


def test_what_a_kustomization_builds_is_followed_too() -> None:
    files = {
        "clusters/prod/all.yaml": kustomization("all", "./apps"),
        "apps/team-a.yaml": kustomization("team-a", "./teams/a"),
    }
    followed = follow(files)
    assert [unit.path for unit in followed.units] == ["apps", "teams/a"]
    assert find_unit(followed, "clusters/prod/flux-system/team-a").file == "apps/team-a.yaml"


def test_each_cluster_has_its_own_units() -> None:
    files = {f"clusters/{name}/infra.yaml": kustomization("infra", f"./infra/{name}") for name in ("dev", "prod")}
    assert [unit.path for unit in follow(files).units] == ["infra/prod"]
    assert [unit.name for unit in follow(files, start="clusters").units] == [
        "clusters/dev/flux-system/infra",
        "clusters/prod/flux-system/infra",
    ]


def test_the_kustomization_of_the_cluster_itself_leads_to_the_others_once() -> None:
    files = {
        "clusters/prod/flux-system/gotk-sync.yaml": kustomization("flux-system", "./clusters/prod"),
        "clusters/prod/infra.yaml": kustomization("infra", "./infra"),
    }
    names = [unit.name for unit in follow(files).units]
    assert names == ["clusters/prod/flux-system/flux-system", "clusters/prod/flux-system/infra"]


def test_kustomizations_in_a_circle_are_followed_once() -> None:
    files = {
        "clusters/prod/a.yaml": kustomization("a", "./a"),
        "a/b.yaml": kustomization("b", "./b"),
        "b/a.yaml": kustomization("a", "./a"),
    }
    followed = follow(files)
    assert [unit.path for unit in followed.units] == ["a", "b"]
    assert followed.problems == ()


def test_a_kustomization_that_depends_on_itself_is_an_error() -> None:
    files = {
        "clusters/prod/a.yaml": kustomization("a", more="dependsOn: [{name: b}]"),
        "clusters/prod/b.yaml": kustomization("b", more="dependsOn: [{name: a}]"),
    }
    problems = follow(files).problems
    assert [(one.code, one.path, one.line) for one in problems] == [
        ("FluxCircle", "clusters/prod/a.yaml", 1),
        ("FluxCircle", "clusters/prod/b.yaml", 1),
    ]


SOURCES = {
    "the repository that flux bootstrap made": ("flux-system", "", True),
    "the same repository over https": ("mine", repository("mine", "https://github.com/acme/estate.git"), True),
    "the same repository over ssh": ("mine", repository("mine", "ssh://git@github.com/acme/estate"), True),
    "another repository": ("other", repository("other", "https://github.com/acme/other"), False),
    "a repository that is not declared": ("missing", "", False),
}


@pytest.mark.parametrize(("source", "declared", "is_followed"), SOURCES.values(), ids=SOURCES)
def test_only_objects_of_this_repository_are_followed(source: str, declared: str, is_followed: bool) -> None:
    followed = follow({"clusters/prod/a.yaml": kustomization("a", source=source) + declared})
    assert bool(followed.units) is is_followed
    assert [(one.code, one.level, one.line) for one in followed.problems] == (
        [] if is_followed else [("OtherSource", Level.WARNING, 1)]
    )


def test_a_repository_that_a_followed_unit_declares_counts() -> None:
    files = {
        "clusters/prod/a.yaml": kustomization("a", "./a", source="mine"),
        "clusters/prod/b.yaml": kustomization("b", "./sources"),
        "sources/mine.yaml": repository("mine", "https://github.com/acme/estate"),
    }
    assert [unit.path for unit in follow(files).units] == ["sources", "a"]


INVALID = {
    "a path out of the repository": (kustomization("a", "../other"), "spec.path"),
    "an absolute path stays inside": (kustomization("a", "/infra"), ""),
    "a variable that is not text": (
        kustomization("a", more="postBuild: {substitute: {count: 1}}"),
        "spec.postBuild.substitute.count",
    ),
    "values of neither kind": (
        kustomization("a", more="postBuild: {substituteFrom: [{kind: Pod, name: x}]}"),
        "spec.postBuild.substituteFrom[0].kind",
    ),
    "suspend is not a switch": (kustomization("a", more="suspend: maybe"), "spec.suspend"),
    "postBuild is a list": (kustomization("a", more="postBuild: [a]"), "spec.postBuild"),
}


@pytest.mark.parametrize(("text", "field"), INVALID.values(), ids=INVALID)
def test_an_object_that_cannot_be_read_is_an_error_with_its_field(text: str, field: str) -> None:
    followed = follow({"clusters/prod/a.yaml": text})
    assert [(one.code, one.field) for one in followed.problems] == ([("InvalidFluxObject", field)] if field else [])
    assert bool(followed.units) is not bool(field)


def test_a_chain_of_kustomizations_ends() -> None:
    files = dict(
        chain.from_iterable({f"a{n}/next.yaml": kustomization(f"n{n}", f"./a{n + 1}")}.items() for n in range(60))
    )
    followed = follow({"clusters/prod/a.yaml": kustomization("start", "./a0"), **files})
    assert len(followed.units) == 21
    assert [one.code for one in followed.problems] == ["TooDeep"]

"""Following Flux: which folders the Kustomizations of a cluster lead to, and what is skipped."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import pytest

from gitsync.model.problem import Level
from gitsync.model.unit import Substitution, Unit, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.controller_objects import MOST, Followed
from gitsync.repository.units.controller_objects import follow as follow_objects
from gitsync.repository.units.declarations import Declarations, ThisRepository
from gitsync.repository.units.flux_variables import FluxVariables
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.object_fields import SourceView
from gitsync.repository.units.object_reader import read_declarations
from tests.repository.units.trees import MemoryTree

VIEW = SourceView(KustomizationReader(MemoryTree({})), ThisRepository(lambda: "github.com/acme/estate"))


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
) -> Followed:
    """Follow from all files below `start`; a folder is built from all files below it."""
    tree = {path: text.encode() for path, text in files.items()}

    def below(folder: str) -> Mapping[str, bytes]:
        return {path: content for path, content in tree.items() if path.startswith(f"{folder}/" if folder else "")}

    variables = FluxVariables(given)
    variables.declare(below(start), {})

    def build(units: Sequence[Unit]) -> None:
        for unit in units:
            variables.declare(below(unit.path), dict.fromkeys(below(unit.path), unit))

    def read(unit: Unit) -> Declarations:
        found = below(unit.path)
        units = dict.fromkeys(found, unit) if given or unit.options.substitution else {}  # has no origins
        return read_declarations(found, units, variables, VIEW)

    start_objects = read_declarations(below(start), {}, variables, VIEW)
    return follow_objects(start_objects, build, read, VIEW.repository)


def find_unit(followed: Followed, name: str) -> Unit:
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
    assert unit.settings.changes == {"targetNamespace": "platform"}
    assert (unit.settings.prunes, unit.settings.is_suspended) == (True, True)
    assert unit.settings.depends_on == ("clusters/prod/flux-system/network",)
    assert unit.options.substitution == Substitution(
        values={"region": "westeurope"},
        references=(
            ValuesReference(
                kind="ConfigMap", namespace="flux-system", name="cluster-vars", cluster_folder="clusters/prod"
            ),
            ValuesReference(
                kind="Secret", namespace="flux-system", name="keys", optional=True, cluster_folder="clusters/prod"
            ),
        ),
    )
    assert [problem.code for problem in followed.problems] == ["Suspended"]


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
    assert [(problem.code, problem.path, problem.line) for problem in problems] == [
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
    assert [(problem.code, problem.level, problem.line) for problem in followed.problems] == (
        [] if is_followed else [("OtherSource", Level.WARNING, 1)]
    )


def test_a_repository_that_a_followed_unit_declares_counts() -> None:
    files = {
        "clusters/prod/a.yaml": kustomization("a", "./a", source="mine"),
        "clusters/prod/b.yaml": kustomization("b", "./sources"),
        "sources/mine.yaml": repository("mine", "https://github.com/acme/estate"),
    }
    assert [unit.path for unit in follow(files).units] == ["sources", "a"]


def config_map(name: str, text: str, kind: str = "ConfigMap") -> str:
    member = "data" if kind == "ConfigMap" else "stringData"
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: flux-system}}\n{member}: {text}\n---\n"


OUTER = "postBuild: {substitute: {ring: one}, substituteFrom: [{kind: ConfigMap, name: cluster}]}"
FROM_SECRET = "postBuild: {substituteFrom: [{kind: Secret, name: cluster}]}"
DECLARED = {"clusters/prod/cluster.yaml": config_map("cluster", "{cluster: eu, ring: two}")}

VARIABLES: Mapping[str, tuple[str, str, dict[str, str], dict[str, str], str]] = {
    "a value of the object": (OUTER, "./${ring}", DECLARED, {}, "one"),
    "a value of a ConfigMap of the source": (OUTER, "./${cluster}", DECLARED, {}, "eu"),
    "a value of the operator goes first": (OUTER, "./${cluster}", DECLARED, {"cluster": "us"}, "us"),
    "the operator helps if the ConfigMap is elsewhere": (OUTER, "./${cluster}", {}, {"cluster": "us"}, "us"),
    "a default": (OUTER, "./${size:=small}", DECLARED, {}, "small"),
    "a ConfigMap of the folder that is built": (
        OUTER,
        "./${cluster}",
        {"all/cluster.yaml": config_map("cluster", "{cluster: eu}")},
        {},
        "eu",
    ),
    "without postBuild, the text stays": ("prune: true", "./${cluster}", DECLARED, {"cluster": "us"}, "${cluster}"),
}


@pytest.mark.parametrize(("more", "path", "others", "given", "built"), VARIABLES.values(), ids=VARIABLES)
def test_an_object_that_a_unit_builds_has_the_variables_of_the_unit(
    more: str, path: str, others: dict[str, str], given: dict[str, str], built: str
) -> None:
    files = {
        "clusters/prod/all.yaml": kustomization("all", "./all", more=more.replace("prune: true", "")),
        "all/inner.yaml": kustomization("inner", path),
        **others,
    }
    followed = follow(files, given=tuple(given.items()))
    assert followed.problems == ()
    assert [unit.path for unit in followed.units] == ["all", built]


UNSET: Mapping[str, tuple[str, str, dict[str, str], str, str]] = {
    "no value": (OUTER, "./${clutter}", DECLARED, "VariableNotSet", "The variable clutter has no value."),
    "no value in the source": (OUTER, "./${cluster}", {}, "VariableNotKnown", "cluster is not in the source"),
    "a default does not hide an unknown value": (OUTER, "./${size:=s}", {}, "VariableNotKnown", "size"),
    "two values": (
        OUTER,
        "./${cluster}",
        DECLARED | {"all/cluster.yaml": config_map("cluster", "{cluster: us}")},
        "VariableNotKnown",
        "declared twice, with different values",
    ),
    "a value of a Secret": (
        FROM_SECRET,
        "./${cluster}",
        {"clusters/prod/cluster.yaml": config_map("cluster", "{cluster: eu}", "Secret")},
        "VariableNotKnown",
        "Secret flux-system/cluster is secret",
    ),
    "no expansion": (OUTER, "./${cluster", DECLARED, "InvalidVariable", ""),
}


@pytest.mark.parametrize(("more", "path", "others", "code", "text"), UNSET.values(), ids=UNSET)
def test_a_variable_without_a_value_is_a_problem_that_names_it(
    more: str, path: str, others: dict[str, str], code: str, text: str
) -> None:
    files = {
        "clusters/prod/all.yaml": kustomization("all", "./all", more=more),
        "all/inner.yaml": kustomization("inner", f'"{path}"'),
        **others,
    }
    followed = follow(files)
    assert [(problem.code, problem.field, problem.unit) for problem in followed.problems] == [
        (code, "spec.path", "clusters/prod")
    ]
    assert text in followed.problems[0].message
    assert [unit.path for unit in followed.units] == ["all"]


def helm_release(chart: str = "HelmRepository, name: ingress", more: str = "") -> str:
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ingress, namespace: ingress}\n"
    return f"{head}spec:\n  chart: {{spec: {{chart: ./ingress, sourceRef: {{kind: {chart}}}}}}}\n  {more}\n---\n"


UNUSED: Mapping[str, tuple[str, str, str]] = {
    "a value of a chart elsewhere": (helm_release(more="values: {host: '${clutter}'}"), "VariableNotSet", "spec.values.host"),
    "a name that a chart elsewhere has": (
        helm_release(more="releaseName: '${clutter}'"), "VariableNotSet", "spec.releaseName"),
    "the repository of a chart elsewhere": (
        helm_release("HelmRepository, name: '${clutter}'"), "VariableNotSet", "spec.chart.spec.sourceRef.name"),
    "values of a chart elsewhere that are none": (helm_release(more="values: [a]"), "InvalidFluxObject", "spec.values"),
    "a Kustomization of another repository": (
        kustomization("inner", "./${clutter}", source="other"), "VariableNotSet", "spec.path"),
    "one of those that cannot be read": (
        kustomization("inner", "../other", source="other"), "InvalidFluxObject", "spec.path"),
    "a repository that nothing is built from": (
        repository("other", "'https://example.com/${clutter}'"), "VariableNotSet", "spec.url"),
    "the text of a chart elsewhere that is no expansion": (
        helm_release(more="values: {host: '${a.b}'}"), "InvalidVariable", "spec.values.host"),
}  # fmt: skip

USED: Mapping[str, tuple[str, str, str]] = {
    "a value of a chart in this repository": (
        helm_release("GitRepository, name: flux-system, namespace: flux-system", "values: {host: '${clutter}'}"),
        "VariableNotSet", "spec.values.host"),
    "a source that may be this repository": (
        kustomization("inner", source="'${clutter}'"), "VariableNotSet", "spec.sourceRef.name"),
    "a kind of source that may be this repository": (
        helm_release("'${clutter}', name: x"), "VariableNotSet", "spec.chart.spec.sourceRef.kind"),
    "a repository that one is built from": (
        repository("other", "'https://example.com/${clutter}'") + kustomization("inner", source="other"),
        "VariableNotSet", "spec.url"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "field"), UNUSED.values(), ids=UNUSED)
def test_what_is_wrong_with_an_object_that_is_not_built_here_is_a_note(text: str, code: str, field: str) -> None:
    """It holds deletes as an error does: of all that its cluster has, except what is built."""
    files = {"clusters/prod/all.yaml": kustomization("all", "./all", more=OUTER), "all/inner.yaml": text, **DECLARED}
    (note,) = (problem for problem in follow(files).problems if problem.code != "OtherSource")
    assert (note.code, note.field, note.level, note.unit) == (code, field, Level.NOTE, "clusters/prod")


@pytest.mark.parametrize(("text", "code", "field"), USED.values(), ids=USED)
def test_what_is_wrong_with_an_object_that_may_be_built_here_is_an_error(text: str, code: str, field: str) -> None:
    files = {"clusters/prod/all.yaml": kustomization("all", "./all", more=OUTER), "all/inner.yaml": text, **DECLARED}
    (error,) = (problem for problem in follow(files).problems if problem.code != "OtherSource")
    assert (error.code, error.field, error.level, error.unit) == (code, field, Level.ERROR, "clusters/prod")


def test_a_variable_in_a_field_that_decides_nothing_does_not_matter() -> None:
    inner = kustomization("inner", more="interval: ${interval}")
    files = {"clusters/prod/all.yaml": kustomization("all", "./all", more=OUTER), "all/inner.yaml": inner, **DECLARED}
    assert follow(files).problems == ()


def test_an_object_may_turn_its_variables_off() -> None:
    off = "metadata: {labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}, "
    inner = kustomization("inner", "./${ring}").replace("metadata: {", off)
    files = {"clusters/prod/all.yaml": kustomization("all", "./all", more=OUTER), "all/inner.yaml": inner, **DECLARED}
    assert [unit.path for unit in follow(files).units] == ["all", "${ring}"]


def test_values_that_a_later_unit_declares_are_found() -> None:
    files = {
        "clusters/prod/all.yaml": kustomization("all", "./all", more=OUTER),
        "all/inner.yaml": kustomization("inner", "./${cluster}") + kustomization("values", "./values"),
        "values/cluster.yaml": config_map("cluster", "{cluster: eu}"),
        "eu/deeper.yaml": kustomization("deeper", "./deep"),
    }
    followed = follow(files)
    assert (followed.problems, [unit.path for unit in followed.units]) == ((), ["all", "values", "eu", "deep"])


def test_one_name_with_two_meanings_is_an_error() -> None:
    files = {
        "clusters/prod/a.yaml": kustomization("a", "./one"),
        "clusters/prod/b.yaml": kustomization("a", "./two"),
        "clusters/prod/c.yaml": kustomization("a", "./one"),
    }
    followed = follow(files)
    assert [unit.path for unit in followed.units] == ["one"]
    assert [(problem.code, problem.path) for problem in followed.problems] == [
        ("DuplicateUnit", "clusters/prod/b.yaml")
    ]


def test_2000_kustomizations_are_followed_in_one_pass() -> None:
    """Those of another source, in a ring of dependencies, and one more than are followed."""
    ring = (kustomization(f"n{n}", f"./a{n}", more=f"dependsOn: [{{name: n{(n + 1) % 50}}}]") for n in range(MOST + 1))
    others = (kustomization(f"o{n}", source="other") for n in range(300))
    files = {"clusters/prod/all.yaml": "".join(chain(ring, others)).encode()}
    objects = read_declarations(files, {}, FluxVariables(), VIEW)
    built: list[str] = []
    followed = follow_objects(
        objects,
        lambda units: built.extend(unit.name for unit in units),
        lambda unit: Declarations(),
        VIEW.repository,
    )
    assert len(built) == len(set(built)) == len(followed.units) == MOST
    codes = Counter(problem.code for problem in followed.problems)
    assert codes == {"OtherSource": 300, "TooManyUnits": 1, "FluxCircle": 50}


INVALID = {
    "patches are no list": (kustomization("a", more="patches: {a: b}"), "spec.patches"),
    "a prefix is no text": (kustomization("a", more="namePrefix: 5"), "spec.namePrefix"),
    "a label is no text": (
        kustomization("a", more="commonMetadata: {labels: {a: 1}}"),
        "spec.commonMetadata.labels.a",
    ),
    "a source without a name": (kustomization("a").replace(", name: flux-system}\n", "}\n"), "spec.sourceRef.name"),
    "no spec": (kustomization("a").partition("spec:")[0] + "spec: none\n", "spec"),
    "a text that does not parse": ("# kustomize.toolkit.fluxcd.io/v1\na: [\n", ""),
    "a path out of the repository": (kustomization("a", "../other"), "spec.path"),
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
    assert [(problem.code, problem.field, problem.unit) for problem in followed.problems] == [
        ("InvalidFluxObject", field, "clusters/prod")
    ]
    assert followed.units == ()


TEMPLATES = {
    "a placeholder in a name": kustomization("'{{ name }}'"),
    "another in a name": kustomization("'<NAME>'", "../no"),
    "braces that are no YAML": kustomization("{{ name }}"),
    "lines of a template": "{{- if .Values.on }}\n" + kustomization("a") + "{{- end }}\n",
}


@pytest.mark.parametrize("text", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_of_an_object_is_a_note(text: str) -> None:
    followed = follow({"clusters/prod/a.yaml": text, "clusters/prod/b.yaml": kustomization("b", "./b")})
    assert [(problem.code, problem.level, problem.unit) for problem in followed.problems] == [
        ("Template", Level.NOTE, "clusters/prod")
    ]
    assert [unit.path for unit in followed.units] == ["b"]


def test_a_variable_in_the_name_of_an_object_is_not_a_placeholder() -> None:
    assert [unit.path for unit in follow({"clusters/prod/a.yaml": kustomization("'${NAME}'")}).units] == ["infra"]


def test_an_absolute_path_stays_inside_the_repository() -> None:
    assert [unit.path for unit in follow({"clusters/prod/a.yaml": kustomization("a", "/infra")}).units] == ["infra"]


def test_a_chain_of_kustomizations_ends() -> None:
    files = dict(
        chain.from_iterable({f"a{n}/next.yaml": kustomization(f"n{n}", f"./a{n + 1}")}.items() for n in range(60))
    )
    followed = follow({"clusters/prod/a.yaml": kustomization("start", "./a0"), **files})
    assert len(followed.units) == 21
    assert [problem.code for problem in followed.problems] == ["TooDeep"]

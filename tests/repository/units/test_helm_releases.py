"""HelmReleases of Flux: what is read of them, and which values their charts get."""

from __future__ import annotations

import textwrap

import pytest

from gitsync.model.secret import Secret
from gitsync.model.unit import ChartRelease, SetValue, Unit, ValuesKey, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.chart_values import fill_values, merge_values
from gitsync.repository.units.controller_objects import Followed, follow
from gitsync.repository.units.declarations import Declarations, DeclaredUnit, SourceName, ThisRepository
from gitsync.repository.units.flux_variables import FluxVariables
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.object_fields import SourceView, read_published
from gitsync.repository.units.object_reader import read_declarations
from tests.repository.units.trees import MemoryTree

SOURCE = "sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"


def make_release(spec: str = "", *, name: str = "team", chart: str = "./charts/team", source: str = SOURCE) -> str:
    head = f"""\
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {{name: {name}, namespace: shop}}
        spec:
          chart: {{spec: {{chart: {chart}, valuesFiles: [./values/prod.yaml], {source}}}}}
        """
    return textwrap.dedent(head) + textwrap.indent(textwrap.dedent(spec), "  ") + "---\n"


def read(text: str) -> Declarations:
    view = SourceView(KustomizationReader(MemoryTree({"base.yaml": b""})))
    return read_declarations({"clusters/prod/team.yaml": text.encode()}, {}, FluxVariables(), view)


def read_one(text: str) -> DeclaredUnit:
    (one,) = read(text).units
    return one


def test_a_helm_release_is_a_unit_of_its_chart():
    spec = """\
        suspend: true
        dependsOn: [{name: base}, {name: other, namespace: net}]
        valuesFrom: [{kind: ConfigMap, name: one}, {kind: Secret, name: two, valuesKey: k, targetPath: a.b, optional: true}]
        values: {size: 3}
        commonMetadata: {labels: {a: b}}
        postRenderers:
        - kustomize: {patches: [{patch: "x", target: {kind: A}}, {patch: "y"}], images: [{name: i}]}
        - kustomize: {patches: [{patch: "z"}]}
        """
    document = read_one(make_release(spec))
    assert (document.kind, document.source) == (
        "HelmRelease",
        SourceName("GitRepository", "flux-system", "flux-system"),
    )
    unit = document.unit
    assert (unit.kind, unit.path, unit.settings.is_suspended, unit.is_declared) == (
        UnitKind.HELM_RELEASE,
        "charts/team",
        True,
        True,
    )
    assert (unit.name, unit.settings.depends_on) == (
        "shop/HelmRelease-team",
        ("shop/HelmRelease-base", "net/HelmRelease-other"),
    )
    two = ValuesReference(kind="Secret", namespace="shop", name="two", optional=True)
    assert unit.release == ChartRelease(
        name="team",
        namespace="shop",
        values=(
            "values/prod.yaml",
            ValuesKey(reference=ValuesReference(kind="ConfigMap", namespace="shop", name="one")),
            ValuesKey(reference=two, key="k", path="a.b"),
            {"size": 3},
        ),
        changes={
            "patches": [{"patch": "x", "target": {"kind": "A"}}, {"patch": "y"}, {"patch": "z"}],
            "images": [{"name": "i"}],
            "labels": [{"pairs": {"a": "b"}}],
        },
    )


NAMES = [
    ("", "team", "shop", "the name of the object"),
    ("targetNamespace: web\n", "web-team", "web", "with the namespace, if that is another one"),
    ("targetNamespace: web\nreleaseName: blue\n", "blue", "web", "a name of its own"),
    (f"targetNamespace: {'n' * 60}\n", f"{'n' * 40}-c3eaf9d69c8f", "n" * 60, "cut, and told apart by a digest"),
]


@pytest.mark.parametrize(("spec", "name", "namespace", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_the_name_of_a_release_is_that_of_flux(spec, name, namespace, why):
    unit = read_one(make_release(spec)).unit
    assert unit.release is not None
    assert (unit.release.name[:40], unit.release.namespace, unit.namespace) == (name[:40], namespace, namespace), why
    assert len(unit.release.name) <= 53


@pytest.mark.parametrize("version", ["v2", "v2beta2", "v2beta1"])
def test_every_version_is_read(version):
    assert read_one(make_release().replace("fluxcd.io/v2", f"fluxcd.io/{version}")).unit.path == "charts/team"


FAULTS = [
    (make_release(chart="../../etc"), "spec.chart.spec.chart", "leads out", "a chart outside of the repository"),
    (make_release(chart="''"), "spec.chart.spec.chart", "not set", "no chart"),
    (make_release("valuesFrom: [{kind: Pod, name: a}]\n"), "spec.valuesFrom[0].kind", "neither", "values of a Pod"),
    (make_release("values: [a]\n"), "spec.values", "not a mapping", "values that are a list"),
    (make_release("postRenderers: [{kustomize: {patches: [{path: ../x}]}}]\n"), "spec.postRenderers[0].kustomize.patches[0].patch", "not set", "a patch in a file"),
    (make_release("postRenderers: [{kustomize: {resources: [../x]}}]\n"), "spec.postRenderers[0].kustomize.resources", "does not apply", "resources of a post-renderer"),
    (make_release(source="version: 1"), "spec.chart.spec.sourceRef.kind", "not set", "no source"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "field", "said", "why"), FAULTS, ids=[row[-1] for row in FAULTS])
def test_a_helm_release_that_cannot_be_read_is_a_problem_of_its_own(text, field, said, why):
    found = read(text + make_release(name="other"))
    problems = (*found.problems, *(each for resource in found.broken for each in resource.problems))
    assert [(problem.code, problem.field, said in problem.message) for problem in problems] == [
        ("InvalidFluxObject", field, True)
    ]
    assert [unit.key.name for unit in found.units] == ["other"], why


KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec: {path: ./infra, sourceRef: {kind: GitRepository, name: flux-system}}
"""


def test_charts_are_rendered_last_and_those_elsewhere_are_named_together():
    elsewhere = [make_release(name=f"x{n}", source="sourceRef: {kind: HelmRepository, name: r}") for n in range(4)]
    start = read(make_release() + "".join(elsewhere) + KUSTOMIZATION)
    rounds: list[list[str]] = []
    followed = follow(
        start, lambda units: rounds.append([unit.name for unit in units]), lambda _: Declarations(), ThisRepository()
    )
    assert rounds == [["clusters/prod/flux-system/infra"], ["clusters/prod/shop/HelmRelease-team"]]
    (problem,) = followed.problems
    assert problem.code == "OtherSource"
    assert "The charts of 4 HelmReleases are not in this repository" in problem.message
    assert "shop/x0 (HelmRepository shop/r)" in problem.message
    assert problem.message.endswith(" and 1 more.")
    assert len(problem.parts) == 4, "deletes of each are held"


CHART = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: team, namespace: flux-system}
spec:
  chart: ./charts/team
  sourceRef: {kind: KIND, name: flux-system}
  valuesFiles: [base.yaml, none.yaml]
  ignoreMissingValuesFiles: true
---
"""
BY_CHART = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: team, namespace: shop}
spec:
  chartRef: {kind: HelmChart, name: team, namespace: flux-system}
  values: {a: 1}
---
"""


def follow_with(text: str, inside: str = "") -> Followed:
    found = read(inside) if inside else Declarations()
    return follow(read(text), lambda _: None, lambda _: found, ThisRepository())


@pytest.mark.parametrize("is_inside", [True, False], ids=["built by a Kustomization", "beside it"])
def test_a_helm_chart_stands_for_the_chart_of_a_release(is_inside):
    chart = CHART.replace("KIND", "GitRepository")
    followed = follow_with(BY_CHART + KUSTOMIZATION, chart) if is_inside else follow_with(BY_CHART + chart)
    assert followed.problems == ()
    (unit,) = [unit for unit in followed.units if unit.release]
    assert (unit.path, unit.release.values) == ("charts/team", ("base.yaml", {"a": 1})), "a missing file is ignored"


def test_a_helm_chart_of_another_source_or_none_is_named():
    (remote,) = follow_with(BY_CHART + CHART.replace("KIND", "HelmRepository")).problems
    assert remote.message.endswith("not rendered: shop/team (HelmRepository flux-system/flux-system).")
    (unknown,) = follow_with(BY_CHART).problems
    assert unknown.message.endswith("not rendered: shop/team (HelmChart flux-system/team).")


PUBLISHED = {"charts/team/Chart.yaml": b"apiVersion: v2\nname: team\nversion: 1.2.0\n", "charts/team/base.yaml": b""}
OCI = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: team, namespace: flux-system}
spec: {url: "oci://${REGISTRY}/charts/team", ref: {tag: v1.2.0}}
---
"""
BY_OCI = BY_CHART.replace("HelmChart", "OCIRepository")
ANYWHERE = "sourceRef: {kind: HelmRepository, name: contoso}"
MAPPED = [
    (make_release(chart="team", source=ANYWHERE), "charts/team/values/prod.yaml", [], "a chart of a Helm repository"),
    (make_release(chart="team", source=f"version: 1.x, {ANYWHERE}"), "charts/team/values/prod.yaml", [], "a range of versions"),
    (make_release(chart="team", source=f"version: 1.1.0, {ANYWHERE}"), "charts/team/values/prod.yaml", ["ChartVersion"], "another version"),
    (BY_CHART + CHART.replace("./charts/team", "team").replace("KIND", "HelmRepository"), "charts/team/base.yaml", [], "by a HelmChart, whose missing file is ignored"),
    (BY_OCI + OCI, "", [], "by an OCIRepository, with a variable that does not matter"),
    (BY_OCI + OCI.replace("v1.2.0", "v1.3.0"), "", ["ChartVersion"], "by one with another version"),
    (make_release(chart="redis", source=ANYWHERE), None, ["OtherSource"], "a chart of another name"),
    (BY_OCI + OCI.replace("/team", "/redis"), None, ["OtherSource"], "an OCIRepository of another name"),
    (make_release(chart="./charts/team"), "values/prod.yaml", [], "a chart at a path of git, as before"),
    (make_release(chart="team", source="version: 1.1.0, " + SOURCE).replace("valuesFiles: [./values/prod.yaml], ", ""), "", [], "git has no versions"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values", "codes", "why"), MAPPED, ids=[row[-1] for row in MAPPED])
def test_a_published_chart_is_rendered_from_this_repository(text, values, codes, why):
    reader = KustomizationReader(MemoryTree(PUBLISHED))
    charts, problems = read_published(["charts/team/Chart.yaml"], reader)
    view = SourceView(reader, charts=charts)
    variables = FluxVariables((("OTHER", "x"),))
    start = read_declarations({"clusters/prod/team.yaml": text.encode()}, {}, variables, view)
    followed = follow(start, lambda _: None, lambda _: Declarations(), ThisRepository())
    assert (problems, [problem.code for problem in followed.problems]) == ([], codes), why
    found = [(unit.path, "".join(v for v in unit.release.values if isinstance(v, str))) for unit in followed.units]
    folder = "team" if "git has" in why else "charts/team"
    assert found == ([] if values is None else [(folder, values)]), why


def test_two_published_charts_of_one_name_are_refused():
    files = {f"{folder}/Chart.yaml": "name: team\n" for folder in "ab"} | {"c/Chart.yaml": "["}
    charts, problems = read_published(sorted(files), KustomizationReader(MemoryTree(files)))
    assert (charts, [(problem.code, problem.path) for problem in problems]) == (
        {},
        [("ChartFailed", "c/Chart.yaml"), ("ChartFailed", "b/Chart.yaml")],
    )


HOLDERS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: shop}
data: {values.yaml: "a: {b: 1}\\nlist: [x]", port: "80", quoted: "'80'", bad: "["}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
stringData: {values.yaml: "login: {user: me, password: 's3cr3t'}\\ncount: 2", token: tok-en, bad: "[ s3cr3t"}
"""


def key(kind: str, name: str, **options: str) -> ValuesKey:
    return ValuesKey(reference=ValuesReference(kind=kind, namespace="shop", name=name), **options)


def fill(*values: ValuesKey) -> Unit:
    variables = FluxVariables()
    variables.declare({"holders.yaml": HOLDERS.encode()}, {})
    return fill_values(Unit(name="u", path="team", file="r.yaml", release=ChartRelease(values=values)), variables)


def merge(unit: Unit):
    assert unit.release is not None
    return merge_values(unit.release.values, MemoryTree({}), ("r.yaml", 1))


def test_values_come_from_config_maps_of_the_source():
    unit = fill(
        key("ConfigMap", "one"),
        key("ConfigMap", "one", key="port", path="a.port"),
        key("ConfigMap", "one", key="quoted", path="list[1]"),
    )
    assert merge(unit) == {"a": {"b": 1, "port": 80}, "list": ["x", "80"]}
    assert unit.options.substitution is None


def test_texts_of_a_secret_are_variables():
    unit = fill(
        key("Secret", "keys"), key("Secret", "keys", key="token", path="token"), key("Secret", "far", path="far")
    )
    merged = merge(unit)
    substitution = unit.options.substitution
    assert substitution is not None
    values = {location: text.strip("${}") for location, text in (*merged["login"].items(), ("token", merged["token"]))}
    assert {location: substitution.values[name] for location, name in values.items()} == {
        "user": Secret("me"),
        "password": Secret("s3cr3t"),
        "token": Secret("tok-en"),
    }
    assert merged["count"] == 2, "a number has no hidden form"
    (reference,) = substitution.references
    assert (reference.name, reference.keys) == ("far", ((merged["far"].strip("${}"), "values.yaml"),))
    assert "s3cr3t" not in repr(unit)


UNKNOWN = [
    (key("ConfigMap", "none"), "ConfigMap shop/none is not in the source", "an object that is not there"),
    (key("ConfigMap", "one", key="none"), "ConfigMap shop/one has no key none", "a key that is not there"),
    (key("ConfigMap", "one", key="bad"), "ConfigMap shop/one: bad of ConfigMap shop/one cannot be read", "a text that is no YAML"),
    (key("Secret", "none"), "Secret shop/none is not in the source in plain text", "a Secret of which only the run knows values"),
    (key("Secret", "keys", key="bad"), "Secret shop/keys: it is not a mapping in YAML", "a secret text that is no YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "said", "why"), UNKNOWN, ids=[row[-1] for row in UNKNOWN])
def test_values_that_are_not_known_are_not_left_out(values, said, why):
    with pytest.raises(ChartError) as failed:
        merge(fill(values))
    assert said in failed.value.problem.message, why
    assert "s3cr3t" not in failed.value.problem.message


def test_a_value_at_a_path_is_read_as_helm_reads_it():
    rows = {
        "true": True,
        "null": None,
        "-3": -3,
        "007": "007",
        "1.5": "1.5",
        "{a,1}": ["a", 1],
        "{}": [],
        "a\\,b": "a,b",
    }
    for text, value in rows.items():
        assert merge_values([SetValue(path="x", text=text)], MemoryTree({}), ("f", 1)) == {"x": value}
    assert merge_values([SetValue(path="a\\.b[1].c", text="1", is_text=True)], MemoryTree({}), ("f", 1)) == {
        "a.b": [None, {"c": "1"}]
    }

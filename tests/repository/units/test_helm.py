"""Rendering charts: what helm gets, what is refused, and where the result leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitsync.model.problem import Problem
from gitsync.model.unit import ChartRelease, SetValue, Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.chart_values import name_variable
from gitsync.repository.units.helm import make_chart_job
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.settings.processes.programs import Grace
from tests.repository.units.trees import MemoryTree
from tests.support.programs import needs_build_tool, needs_helm

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
spec:
  location: {{ .Values.location }}
"""
CHART = "apiVersion: v2\nname: team\nversion: 1.0.0\n"
FILES = {"team/Chart.yaml": CHART, "team/values.yaml": "location: westeurope\n", "team/templates/group.yaml": GROUP}
ASO = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: rg}\nspec: {location: x}\n"


def make_unit(**release: Any) -> Unit:
    return Unit(name="team", path="team", kind=UnitKind.CHART, file="team/Chart.yaml", release=ChartRelease(**release))


def render(files: Mapping[str, str], *, timeout: float = 60.0, **release: Any) -> str:
    job = make_chart_job(make_unit(**release), KustomizationReader(MemoryTree(files)))
    return job.run(timeout, Grace()).decode()


def refuse(files: Mapping[str, str], **release: Any) -> Problem:
    with pytest.raises(ChartError) as failed:
        render(files, **release)
    return failed.value.problem


RELEASE = """\
kind: A
release: {{ .Release.Name }}/{{ .Release.Namespace }}
version: {{ .Capabilities.KubeVersion }}
has: {{ .Capabilities.APIVersions.Has "example.org/v1" }} \
{{ .Capabilities.APIVersions.Has "network.azure.com/v1api20240301/VirtualNetwork" }}
found: {{ len (lookup "v1" "Secret" "a" "b") }}
"""


@needs_helm
def test_a_chart_is_rendered_with_its_own_values():
    files = {**FILES, "team/templates/release.yaml": RELEASE}
    release, group = render(files).split("---\n")[1:]
    assert group == (
        "# Source: team/templates/group.yaml\n"
        + GROUP.replace("{{ .Release.Name }}", "team")
        .replace("{{ .Release.Namespace }}", "default")
        .replace("{{ .Values.location }}", "westeurope")
    )
    assert "version: v1.33.0\nhas: false true\n" in release, "the version does not depend on helm"


@needs_helm
def test_what_a_release_gives_and_later_values_over_earlier_ones():
    template = "kind: A\nlocation: {{ .Values.location }}\na: {{ .Values.nested.a }}{{ .Values.nested.b }}\n"
    files = {
        **FILES,
        "prod.yaml": "location: northeurope\nnested: {a: 1}\n",
        "team/templates/group.yaml": template + "c: {{ index .Values.list 1 }}\n",
        "team/templates/release.yaml": RELEASE,
    }
    values = ("prod.yaml", {"nested": {"b": 2}}, SetValue(path="list[1]", text="three"))
    text = render(files, values=values, name="blue", namespace="shop", kubernetes=("1.30", "example.org/v1"))
    assert "location: northeurope\na: 12\nc: three\n" in text
    assert "release: blue/shop\nversion: v1.30.0\nhas: true true\nfound: 0\n" in text


@needs_helm
def test_charts_at_local_paths_are_put_into_the_copy():
    files = {
        "lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n",
        "lib/templates/_group.yaml": f'{{{{- define "lib.group" }}}}\n{GROUP}{{{{- end }}}}',
        "part/Chart.yaml": "apiVersion: v2\nname: part\nversion: 1.0.0\ndependencies: [{name: lib, repository: 'file://../lib', version: 1.0.0}]\n",
        "part/values.yaml": "location: westus\n",
        "part/templates/a.yaml": '{{ include "lib.group" . }}',
        "team/Chart.yaml": f"{CHART}dependencies:\n- {{name: part, repository: 'file://../part', version: 1.0.0, alias: one}}\n",
        "team/charts/inner/Chart.yaml": "apiVersion: v2\nname: inner\nversion: 1.0.0\n",
        "team/charts/inner/templates/b.yaml": "kind: B\n",
    }  # fmt: skip
    text = render(files)
    assert "location: westus" in text
    sources = [line for line in text.splitlines() if line.startswith("# Source: ")]
    assert sorted(sources) == ["# Source: part/templates/a.yaml", "# Source: team/charts/inner/templates/b.yaml"]


@needs_build_tool
@needs_helm
def test_changes_of_a_kustomization_are_laid_over_the_result():
    patch = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: team}\nspec: {location: uk}"
    text = render(
        FILES, changes={"patches": [{"patch": patch.replace("name: team", "name: team, namespace: default")}]}
    )
    assert "location: uk" in text
    assert "path: ../source/team/templates/group.yaml" in text
    assert "kustomize cannot change the result" in refuse(FILES, changes={"patches": [{"patch": "{"}]}).message


MARK = "${" + name_variable("shop", "keys", "password") + "}"
UNSTABLE = [
    (ASO.replace("name: rg", "name: {{ randAlphaNum 9 | lower }}"), 3, "a random name"),
    ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  key: {{ uuidv4 }}\n", 5, "a Secret that is read"),
    (ASO + "x: {{ .Values.password | b64enc }}\n", 1, "what is computed from a secret"),
    (ASO + "x: {{ len .Values.password }}\n", 1, "the length of a secret"),
    ('{{ if contains "again" .Values.password }}' + ASO + "{{ end }}", 1, "a document that depends on a secret"),
]  # fmt: skip


@needs_helm
@pytest.mark.parametrize(("template", "line", "why"), UNSTABLE, ids=[row[-1] for row in UNSTABLE])
def test_what_is_not_the_same_twice_is_refused(template, line, why):
    files = {**FILES, "team/templates/group.yaml": template}
    problem = refuse(files, values=({"password": MARK},))
    path = "team/Chart.yaml" if why.startswith("a document") else "team/templates/group.yaml"
    assert (problem.code, problem.path, problem.line) == ("ChartFailed", path, line), why
    assert "renders differently each time" in problem.message


@needs_helm
def test_what_is_not_read_may_differ_and_secrets_stay_variables():
    files = {
        **FILES,
        "team/templates/pod.yaml": "kind: Pod\nsum: {{ randAlphaNum 9 }}{{ sha256sum .Values.password }}\n",
    }
    files["team/templates/a.yaml"] = f"{ASO}x: {{{{ .Values.password | quote }}}}\n"
    assert f'x: "{MARK}"' in render(files, values=({"password": MARK},))


REFUSED = [
    ({"team/templates/a.yaml": '{{ required "Set a name" .Values.name }}'}, "team/templates/a.yaml", 1, "Set a name", "a value that is needed"),
    ({"team/templates/a.yaml": "kind: A\n\nx: {{ .Values.a.b.c }}"}, "team/templates/a.yaml", 3, "nil pointer", "a line of a template"),
    ({"team/templates/a.yaml": "a: b: c\n"}, "team/templates/a.yaml", 1, "YAML parse error", "a result that is no YAML"),
    ({"team/templates/a.yaml": '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'}, "team/templates/a.yaml", 1, "rendering template has a nested reference name: a", "a template without an end"),
    ({"team/templates/a.yaml": '{{ .Files.Get "../../etc/passwd" | required "nothing there" }}'}, "team/templates/a.yaml", 1, "nothing there", "a file elsewhere"),
    ({"team/values.yaml": "a: [\n"}, "team/Chart.yaml", 1, "values.yaml", "values that are no YAML"),
]  # fmt: skip


@needs_helm
@pytest.mark.parametrize(("more", "path", "line", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_the_output_of_helm_leads_to_the_template(more, path, line, said, why):
    problem = refuse({**FILES, **more})
    assert (problem.path, problem.line) == (path, line), why
    assert said in problem.message
    assert "gitsync-run-" not in problem.message, "paths of the copy help nobody"
    assert len(problem.message) < 600, "not each level of what includes itself"


LIBRARY = "dependencies:\n- name: lib\n  version: 1.0.0\n  repository: {}\n"
UNREADABLE = [
    ({"team/Chart.yaml": CHART + LIBRARY.format("https://example.org")}, 5, "not in its charts/ folder", "a chart elsewhere"),
    ({"team/Chart.yaml": CHART + LIBRARY.format("file://../../lib")}, 5, "not in this source", "a chart outside of the source"),
    ({"team/Chart.yaml": CHART + LIBRARY.format("file:///etc")}, 5, "not in this source", "a chart of the machine"),
    ({"team/Chart.yaml": CHART + LIBRARY.format("file://../team")}, 5, "is team", "a chart of another name"),
    ({"team/Chart.yaml": CHART + LIBRARY.format("file://../team").replace("lib", "team")}, 1, "depends on itself", "a circle"),
    ({"team/Chart.yaml": "name: [\n"}, 2, "cannot be read", "no YAML"),
    ({"team/Chart.yaml": "version: 1.0.0\n"}, 1, "has no name", "no name"),
    ({"team/Chart.yaml": "- a\n"}, 1, "not one mapping", "a list"),
    ({"team/values.schema.json": '{"properties": {"a": {"$ref": "file:///etc/passwd"}}}'}, 1, "no schema from elsewhere", "a schema of the machine"),
    ({"team/values.schema.json": '{"$schema": "https://example.org/x"}'}, 1, "no schema from elsewhere", "a draft of another host"),
    ({"team/values.schema.json": "{"}, 1, "not JSON", "a schema that is no JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "line", "said", "why"), UNREADABLE, ids=[row[-1] for row in UNREADABLE])
def test_a_chart_that_cannot_be_copied_is_not_handed_to_helm(more, line, said, why):
    problem = refuse({**FILES, **more})
    assert (problem.code, problem.line, said in problem.message) == ("ChartFailed", line, True), why


def test_values_that_cannot_be_read_are_not_handed_to_helm():
    files = {**FILES, "bad.yaml": "a: 1\na: [\n", "list.yaml": "- a\n"}
    files["sealed.yaml"] = "data: ENC[AES256_GCM,data:x]\nsops: {mac: x}\n"
    rows = {
        "bad.yaml": ("bad.yaml", 3),
        "sealed.yaml": ("sealed.yaml", 1),
        "list.yaml": ("list.yaml", 1),
        "none.yaml": ("team/Chart.yaml", 1),
    }
    for name, location in rows.items():
        problem = refuse(files, values=(name,))
        assert (problem.path, problem.line) == location
    for path in ("", "a..b", "a[", "a[x]", ".a", "a.", "[0][99999]"):
        assert "not a path in the values" in refuse(FILES, values=(SetValue(path=path, text="x"),)).message


@needs_helm
def test_a_name_that_is_none_is_not_an_option():
    assert "not the name of a release" in refuse(FILES, name="--help").message


def test_without_helm_the_hint_names_it(tool):
    problem = refuse(FILES)
    assert (problem.message, problem.hint) == (
        "team/Chart.yaml was not rendered: helm is not installed.",
        "Install helm, version 3 or 4.",
    )


def test_helm_gets_a_copy_and_nothing_of_the_environment(tool, monkeypatch):
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "do-not-tell")
    monkeypatch.setenv("HELM_PLUGINS", "/plugins")
    tool("helm", 'printf -- "---\\n# Source: team/templates/group.yaml\\n"; env; echo "$@"')
    text = render(FILES)
    assert "do-not-tell" not in text
    assert "/plugins" not in text
    assert "KUBECONFIG=/dev/null" in text


def test_a_chart_that_takes_too_long_is_ended(tool):
    tool("helm", "sleep 600 & sleep 600")
    with pytest.raises(ChartError, match=r"not built within 0\.2 seconds"):
        render(FILES, timeout=0.2)


def test_a_result_that_is_too_much_is_refused(tool):
    doubled = "text=$text$text\n" * 20
    tool("helm", f"text=0123456789abcdef\n{doubled}printf %s $text")
    problem = refuse(FILES)
    assert (problem.path, problem.line) == ("team/Chart.yaml", 1)
    assert "the limit is 8388608" in problem.message

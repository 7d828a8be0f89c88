"""Charts in whole runs: with values of gitsync.yaml and of HelmReleases, with secrets, and slips that delete nothing."""

from __future__ import annotations

import json

import pytest

from gitsync.cli.offline import read_offline
from gitsync.model.export import Address, ObjectKind
from gitsync.model.problem import Level
from gitsync.report.json import build_document
from gitsync.report.text import render
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.agent.run.test_flux_runs import flux
from tests.support.memory_places import MemorySource
from tests.support.programs import needs_helm
from tests.support.world import SUBSCRIPTION, World, of

pytestmark = needs_helm

LIBRARY = {
    "charts/lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 0.1.0\ntype: library\n",
    "charts/lib/templates/_group.tpl": """\
        {{- define "lib.group" }}
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata:
          name: {{ .name }}
        spec:
          location: {{ .location | default "westeurope" }}
          tags: {{ toYaml .tags | nindent 4 }}
        {{- end }}
        """,
}
TEAM = {
    "charts/team/Chart.yaml": """\
        apiVersion: v2
        name: team
        version: 0.1.0
        dependencies: [{name: lib, version: 0.1.0, repository: "file://../lib"}]
        """,
    "charts/team/values.yaml": "names: [web]\ntags: {team: web}\n",
    "charts/team/templates/groups.yaml": """\
        {{- range .Values.names }}
        ---
        {{ include "lib.group" (dict "name" (tpl . $) "tags" $.Values.tags) }}
        {{- end }}
        """,
    "charts/team/templates/tests/probe.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {helm.sh/hook: test}}\n",
}  # fmt: skip
CHARTS = {**LIBRARY, **TEAM}
RELEASED = "units:\n- path: charts/team\n"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def id_of(name: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"


def test_a_chart_is_a_unit_with_values_of_its_own_or_of_gitsync_yaml(world):
    report = world.says_files({**CHARTS, "gitsync.yaml": RELEASED}).sync(prune=True)
    assert (report.exit_code, world.sent("PUT")) == (0, [id_of("web")])
    assert str(of(report, "ResourceGroup").manifest.source) == "charts/team/templates/groups.yaml:3"
    assert report.problems == ()

    entry = "units:\n- {path: charts/team, values: [prod.yaml], release: blue, namespace: shop}\n"
    prod = {
        "gitsync.yaml": entry,
        "charts/team/prod.yaml": 'names: [web, "{{ .Release.Name }}-{{ .Release.Namespace }}"]\n',
    }
    report = world.says_files({**CHARTS, **prod}).sync(prune=True)
    assert world.sent("PUT") == [id_of("blue-shop")]
    assert of(report, "ResourceGroup", "blue-shop").key.namespace == "shop"
    assert (world.says_files({**CHARTS, **prod}).sync(prune=True).exit_code, world.writes) == (0, []), (
        "the second is silent"
    )

    broken = {**CHARTS, **prod, "charts/team/templates/more.yaml": '{{ fail "no" }}\n'}
    report = world.says_files(broken).sync(prune=True)
    (problem,) = [problem for problem in report.problems if problem.code == "ChartFailed"]
    assert (problem.level, problem.path) == (
        Level.ERROR,
        "charts/team/templates/more.yaml",
    )
    assert (report.exit_code, world.writes) == (1, []), "nothing of a chart that does not render is deleted"


def test_a_chart_that_nothing_releases_is_named_and_what_it_declared_is_kept(world):
    """Its own values are those of an example: no one may have meant them for Azure."""
    report = world.says_files(CHARTS).sync()
    _, problem = report.problems  # the first shows that the source is empty
    assert (problem.code, problem.level, problem.path) == ("HelmChart", Level.WARNING, "charts/team/Chart.yaml")
    assert "Write `units: [{path: charts/team, values: FILE}]` in gitsync.yaml" in problem.hint
    assert (report.exit_code, world.writes) == (0, [])

    assert world.says_files({**CHARTS, "gitsync.yaml": RELEASED}).sync().problems == ()
    assert world.sent("PUT") == [id_of("web")]
    report = world.says_files(CHARTS).sync(prune=True)
    assert "HelmChart" in {problem.code for problem in report.problems}
    assert world.writes == [], "the entry may be lost by a slip"

    report = world.says_files(LIBRARY).sync(prune=True, max_deletes=1)
    assert (report.exit_code, world.sent("DELETE")) == (0, [id_of("web")]), "the chart itself was removed"


def test_a_run_of_the_folder_of_a_chart_releases_it(world):
    report = world.says_files(CHARTS).sync(path="charts/team")
    assert (report.problems, world.sent("PUT")) == ((), [id_of("web")])


def test_a_chart_whose_values_switch_everything_off_reports_it(world):
    off = {"gitsync.yaml": RELEASED, "charts/team/values.yaml": "names: []\n"}
    report = world.says_files({**CHARTS, **off}).sync()
    _, problem = report.problems  # the first shows that the source is empty
    assert (problem.code, problem.level, problem.message) == (
        "ChartEmpty",
        Level.WARNING,
        "charts/team renders no ASO resource with its values.",
    )


RELEASE = """\
    apiVersion: helm.toolkit.fluxcd.io/v2
    kind: HelmRelease
    metadata: {name: team, namespace: shop}
    spec:
      chart:
        spec:
          chart: ./charts/team
          sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
      targetNamespace: platform
      releaseName: team
      valuesFrom:
      - {kind: ConfigMap, name: team}
      - {kind: Secret, name: here}
      - {kind: Secret, name: elsewhere, valuesKey: token, targetPath: tags.mark}
      values: {names: ["${env}-web"]}
    """
DECLARED = """\
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: team, namespace: shop}
    data: {values.yaml: "tags: {env: prod}\\nnames: [never]"}
    ---
    apiVersion: v1
    kind: Secret
    metadata: {name: here, namespace: shop}
    stringData: {values.yaml: "tags: {note: hunter2-$X}"}
    """
PROD = "clusters/prod"
TREE = {
    **CHARTS,
    f"{PROD}/flux-system/gotk-sync.yaml": flux("flux-system", f"./{PROD}", more="prune: true\npostBuild: {substitute: {env: prod}}\n"),
    f"{PROD}/team.yaml": RELEASE,
    f"{PROD}/values.yaml": DECLARED,
}  # fmt: skip


ELSEWHERE = Address(ObjectKind.SECRET, "shop", "elsewhere")


def open_vault(world: World) -> None:
    """A source with the Secret that no manifest declares."""
    vault = MemorySource("vault", {})
    vault.has(ELSEWHERE, token="tok-en-1234")
    world.secret_stores = SecretStores(order=("manifests", "vault"), sources={"vault": vault})


def test_a_helm_release_gives_values_and_its_secrets_are_never_shown(world):
    open_vault(world)
    report = world.says_files(TREE).sync(prune=True, path=PROD)
    assert [(problem.code, problem.message) for problem in report.problems] == []
    group = of(report, "ResourceGroup", "prod-web")
    assert (group.key.namespace, str(group.manifest.source)) == ("platform", "charts/team/templates/groups.yaml:3")
    tags = world.read(id_of("prod-web"))["tags"]
    assert tags == {"env": "prod", "team": "web", "note": "hunter2-$X", "mark": "tok-en-1234"}
    shown = (
        json.dumps(build_document(report))
        + render(report)
        + "".join(path.read_text() for path in world.state.rglob("*") if path.is_file())
    )
    assert "hunter2" not in shown
    assert "tok-en" not in shown
    assert world.sync(prune=True, path=PROD).exit_code == 0
    assert world.writes == [], "the second run is silent"

    offline = read_offline(Config(source=str(world.folder), path=PROD), Redactions())
    assert [(problem.code, problem.level) for problem in offline.problems] == [("VariableNotKnown", Level.WARNING)]


def test_a_chart_whose_values_are_in_an_object_is_not_rendered_without_them(world):
    """Also if the repository of the object is not known to be this one."""
    other = RELEASE.replace("name: flux-system, namespace: flux-system", "name: other")
    report = world.says_files({**CHARTS, "releases/team.yaml": other}).sync()
    assert world.writes == []
    assert [(problem.code, problem.path) for problem in report.problems] == [
        ("EmptySource", ""),
        ("OtherSource", "releases/team.yaml"),
    ]


SLIPS = {
    "a ConfigMap that is not there": ({f"{PROD}/values.yaml": "a: b\n"}, "ConfigMap shop/team is not in the source"),
    "a Secret of which only the run knows values": (
        {f"{PROD}/values.yaml": DECLARED.replace("name: here", "name: other")},
        "Secret shop/here is not in the source in plain text",
    ),
    "a chart that is not there": ({f"{PROD}/team.yaml": RELEASE.replace("./charts/team", "./charts/taem")}, "charts/taem is not the folder of a chart"),
    "a source that is another": ({f"{PROD}/team.yaml": RELEASE.replace("kind: GitRepository", "kind: HelmRepository")}, "not in this repository"),
    "a template that computes with a secret": ({"charts/team/templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: {{ len .Values.tags.note | quote }}}\n"}, "renders differently each time"),
    "a field that is none": ({f"{PROD}/team.yaml": RELEASE.replace("valuesFrom:", "dependsOn: 1\n      valuesFrom:")}, "not a list"),
}  # fmt: skip


def test_a_slip_in_a_helm_release_deletes_nothing(world, tmp_path):
    open_vault(world)
    world.says_files(TREE).sync(prune=True, path=PROD)
    synced = world
    for number, (why, (slip, said)) in enumerate(SLIPS.items()):
        world = synced.copy(tmp_path / str(number))  # its history is short
        report = world.says_files({**TREE, **slip}).sync(prune=True, path=PROD)
        assert world.sent("DELETE") == [], why
        assert any(said in problem.message for problem in report.problems), (why, report.problems)
        assert all("hunter2" not in problem.message for problem in report.problems), why

"""The table of drifts of resources that a unit renders: what somebody did in Azure, and which text sets it then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.workflows.accept.drift_table import STORAGE, VNET


@dataclass(frozen=True, kw_only=True)
class BuiltDrift:
    """One row."""

    why: str
    files: Mapping[str, str]  # those of its unit, by their paths
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What somebody sets in Azure of resources, by JSON pointers."""

    remove: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what they remove
    deletes: tuple[str, ...] = ()
    edits: tuple[tuple[str, str, str], ...] = ()  # the pieces of files that change: path, old and new text
    left: tuple[str, ...] = ()  # the locations that are named for a person
    reason: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.changes, *self.remove, *self.deletes}))


def storage(name: str, **tags: str) -> str:
    return STORAGE.format(name=name) + "".join(
        ["  tags:\n", *(f"    {key}: {tag}\n" for key, tag in tags.items())] if tags else []
    )


def patch(name: str, body: str) -> str:
    head = "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\nmetadata:\n  name: {name}\nspec:\n"
    return head.format(name=name) + body


KUSTOMIZE = [
    BuiltDrift(
        why="a value of the base, which only one kustomization has",
        files={
            "k01/base/kustomization.yaml": "resources: [sa.yaml]\n",
            "k01/base/sa.yaml": storage("k01", env="prod"),
            "k01/prod/kustomization.yaml": "resources: [../base]\n",
        },
        changes={"k01": {"/sku/name": "Standard_GRS"}},
        edits=(("k01/base/sa.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="a value that a patch sets, not the one below it",
        files={
            "k02/base/kustomization.yaml": "resources: [sa.yaml]\n",
            "k02/base/sa.yaml": storage("k02", env="prod", tier="prod"),
            "k02/prod/kustomization.yaml": "resources: [../base]\npatches:\n- path: patch.yaml  # of prod\n",
            "k02/prod/patch.yaml": patch("k02", "  tags:\n    env: prod # here\n"),
        },
        changes={"k02": {"/tags/env": "live"}},
        edits=(("k02/prod/patch.yaml", "env: prod # here", "env: live # here"),),
    ),
    BuiltDrift(
        why="a patch inside of the kustomization keeps its block",
        files={
            "k03/kustomization.yaml": (
                "resources: [sa.yaml]\npatches:\n- target:\n    kind: StorageAccount\n  patch: |-\n    # tags\n"
                "    apiVersion: storage.azure.com/v1api20230101\n    kind: StorageAccount\n    metadata:\n      name: any\n"
                "    spec:\n      tags:\n        env: prod   # here\n"
            ),
            "k03/sa.yaml": storage("k03"),
        },
        changes={"k03": {"/tags/env": "live"}},
        edits=(("k03/kustomization.yaml", "env: prod   # here", "env: live   # here"),),
    ),
    BuiltDrift(
        why="a JSON patch inside of the kustomization",
        files={
            "k04/kustomization.yaml": (
                "resources: [sa.yaml]\npatches:\n- target: {kind: StorageAccount}\n  patch: |\n"
                "    - op: replace\n      path: /spec/sku/name\n      value: Standard_ZRS\n"
                "    - op: add\n      path: /spec/tags\n      value: {kind: Standard_ZRS}\n"
            ),
            "k04/sa.yaml": storage("k04"),
        },
        changes={"k04": {"/sku/name": "Standard_GRS"}},
        edits=(("k04/kustomization.yaml", "value: Standard_ZRS", "value: Standard_GRS"),),
    ),
    BuiltDrift(
        why="a JSON patch in a file of JSON",
        files={
            "k05/kustomization.yaml": "resources: [sa.yaml]\npatches:\n- target: {kind: StorageAccount}\n  path: patch.json\n",
            "k05/patch.json": '[\n  {"op": "replace", "path": "/spec/sku/name", "value": "Standard_ZRS"}\n]\n',
            "k05/sa.yaml": storage("k05"),
        },
        changes={"k05": {"/sku/name": "Standard_GRS"}},
        edits=(("k05/patch.json", '"Standard_ZRS"', '"Standard_GRS"'),),
    ),
    BuiltDrift(
        why="a component",
        files={
            "k06/prod/kustomization.yaml": "resources: [sa.yaml]\ncomponents: [../tagged]\n",
            "k06/prod/sa.yaml": storage("k06"),
            "k06/tagged/kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: StorageAccount}\n"
                '  patch: \'[{"op": "add", "path": "/spec/tags", "value": {"team": "web"}}]\'\n- path: tags.yaml\n'
            ),
            "k06/tagged/tags.yaml": patch("k06", "  tags: {env: 'prod'}\n"),
        },
        changes={"k06": {"/tags/env": "live"}},
        edits=(("k06/tagged/tags.yaml", "'prod'", "'live'"),),
    ),
    BuiltDrift(
        why="a literal of a generator that a replacement takes",
        files={
            "k07/kustomization.yaml": (
                "resources: [sa.yaml]\nconfigMapGenerator:\n- name: settings\n  literals:\n  - env=prod\n  - other=prod\n"
                "replacements:\n- source: {kind: ConfigMap, name: settings, fieldPath: data.env}\n  targets:\n"
                "  - select: {kind: StorageAccount}\n    fieldPaths: [spec.tags.env]\n"
            ),
            "k07/sa.yaml": storage("k07", env="nothing"),
        },
        changes={"k07": {"/tags/env": "live"}},
        edits=(("k07/kustomization.yaml", "- env=prod", "- env=live"),),
    ),
    BuiltDrift(
        why="an item that Azure added to a list",
        files={
            "k08/kustomization.yaml": "resources: [vnet.yaml]\n",
            "k08/vnet.yaml": VNET.format(name="k08")
            + "  addressSpace:\n    addressPrefixes:\n    # first\n    - 10.0.0.0/16\n",
        },
        changes={"k08": {"/properties/addressSpace/addressPrefixes": ["10.0.0.0/16", "10.1.0.0/16"]}},
        edits=(("k08/vnet.yaml", "- 10.0.0.0/16\n", "- 10.0.0.0/16\n    - 10.1.0.0/16\n"),),
    ),
    BuiltDrift(
        why="a key that Azure added",
        files={"k09/kustomization.yaml": "resources: [sa.yaml]\n", "k09/sa.yaml": storage("k09", env="prod")},
        changes={"k09": {"/tags/env": "live"}},
        edits=(("k09/sa.yaml", "env: prod", "env: live"),),
    ),
    BuiltDrift(
        why="two overlays have drifted alike, so their base changes",
        files={
            "k10/base/kustomization.yaml": "resources: [sa.yaml]\n",
            "k10/base/sa.yaml": storage("k10", env="all"),
            "k10/a/kustomization.yaml": "resources: [../base]\nnameSuffix: a\n",
            "k10/b/kustomization.yaml": "resources: [../base]\nnameSuffix: b\n",
        },
        changes={"k10a": {"/sku/name": "Standard_GRS"}, "k10b": {"/sku/name": "Standard_GRS"}},
        edits=(("k10/base/sa.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="one of two overlays has drifted: their base would change both",
        files={
            "k11/base/kustomization.yaml": "resources: [sa.yaml]\n",
            "k11/base/sa.yaml": storage("k11", env="all"),
            "k11/a/kustomization.yaml": "resources: [../base]\nnameSuffix: a\n",
            "k11/b/kustomization.yaml": "resources: [../base]\nnameSuffix: b\n",
        },
        changes={"k11a": {"/sku/name": "Standard_GRS"}},
        left=("k11/base/sa.yaml:11",),
        reason="The text that produces this value also produces it for StorageAccount/k11b.",
    ),
    BuiltDrift(
        why="what a tool has generated is not edited",
        files={
            "k12/kustomization.yaml": "resources: [sa.yaml]\n",
            "k12/sa.yaml": "# Code generated by make. DO NOT EDIT.\n" + storage("k12"),
        },
        changes={"k12": {"/sku/name": "Standard_GRS"}},
        left=("k12/sa.yaml:12",),
        reason="No text of k12 produces just this value.",
    ),
    BuiltDrift(
        why="a key that Azure has removed",
        files={
            "k13/kustomization.yaml": "resources: [sa.yaml]\n",
            "k13/sa.yaml": storage("k13", env="prod", tier="gold"),
        },
        remove={"k13": ("/tags/tier",)},
        edits=(("k13/sa.yaml", "    tier: gold\n", ""),),
    ),
    BuiltDrift(
        why="several documents of a file, one of which goes",
        files={
            "k14/kustomization.yaml": "resources: [sas.yaml]\n",
            "k14/sas.yaml": storage("k14a") + "---\n# second\n" + storage("k14b"),
        },
        deletes=("k14b",),
        edits=(("k14/sas.yaml", "---\n# second\n" + storage("k14b"), ""),),
    ),
    BuiltDrift(
        why="the only document of a file goes, and its entry",
        files={
            "k15/kustomization.yaml": "resources:\n# storage\n- ../k15/a.yaml\n- b.yaml # the second\n",
            "k15/a.yaml": storage("k15a"),
            "k15/b.yaml": storage("k15b"),
        },
        deletes=("k15b",),
        edits=(("k15/b.yaml", storage("k15b"), ""), ("k15/kustomization.yaml", "- b.yaml # the second\n", "")),
    ),
    BuiltDrift(
        why="a patch would have nothing to change any more",
        files={
            "k16/kustomization.yaml": "resources: [a.yaml, b.yaml]\npatches:\n- path: patch.yaml\n",
            "k16/a.yaml": storage("k16a"),
            "k16/b.yaml": storage("k16b"),
            "k16/patch.yaml": patch("k16b", "  tags: {a: b}\n"),
        },
        deletes=("k16b",),
        left=("k16/b.yaml:1",),
        reason="Without this document, k16 cannot be built",
    ),
    BuiltDrift(
        why="a Secret, and the generator of one, which have the value, too",
        files={
            "k17/kustomization.yaml": (
                "resources: [sa.yaml, secret.yaml]\nsecretGenerator:\n- name: made\n  literals: [sku=Premium_ZRS]\n"
                "replacements:\n- source: {kind: Secret, name: kept, fieldPath: stringData.sku}\n  targets:\n"
                "  - select: {kind: StorageAccount}\n    fieldPaths: [spec.sku.name]\n"
            ),
            "k17/sa.yaml": storage("k17").replace("Standard_LRS", "Standard_RAGRS"),
            "k17/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: kept}\nstringData: {sku: Premium_ZRS}\n",
        },
        changes={"k17": {"/sku/name": "Standard_GRS"}},
        left=("k17/sa.yaml:11",),
        reason="Its value has a secret in it.",
    ),
    BuiltDrift(
        why="the first tag, which git did not set",
        files={
            "k18/kustomization.yaml": "resources: [sa.yaml]\n",
            "k18/sa.yaml": storage("k18"),
        },
        changes={"k18": {"/tags": {"owner": "eve"}, "/sku/name": "Standard_GRS"}},
        edits=(("k18/sa.yaml", "Standard_LRS\n", "Standard_GRS\n  tags:\n    owner: eve\n"),),
    ),
    BuiltDrift(
        why="one more tag, which git did not set, of one overlay: their base would change both",
        files={
            "k19/base/kustomization.yaml": "resources: [sa.yaml]\n",
            "k19/base/sa.yaml": storage("k19", env="all"),
            "k19/a/kustomization.yaml": "resources: [../base]\nnameSuffix: a\n",
            "k19/b/kustomization.yaml": "resources: [../base]\nnameSuffix: b\n",
        },
        changes={"k19a": {"/tags/owner": "eve"}},
        left=("k19/base/sa.yaml:1",),
        reason="The text that produces this value also produces it for StorageAccount/k19b.",
    ),
]


def kustomization(name: str, more: str = "") -> str:
    """A Flux object that builds a folder."""
    return (
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        f"metadata: {{name: {name}, namespace: flux-system}}\nspec:\n  interval: 10m\n  prune: true\n  path: ./apps/{name}\n"
        f"  sourceRef: {{kind: GitRepository, name: flux-system}}\n{more}"
    )


FLUX = [
    BuiltDrift(
        why="a variable in the object",
        files={
            "clusters/f01.yaml": kustomization(
                "f01", "  postBuild:\n    substitute:\n      sku: Standard_LRS # cheap\n      other: Standard_LRS\n"
            ),
            "apps/f01/sa.yaml": storage("f01").replace("Standard_LRS", "${sku}"),
        },
        changes={"f01": {"/sku/name": "Standard_GRS"}},
        edits=(("clusters/f01.yaml", "sku: Standard_LRS # cheap", "sku: Standard_GRS # cheap"),),
    ),
    BuiltDrift(
        why="a key of a ConfigMap, which stays a text",
        files={
            "clusters/f02.yaml": kustomization(
                "f02", "  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: f02-vars}]\n"
            ),
            "clusters/f02-vars.yaml": (
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f02-vars, namespace: flux-system}\ndata:\n  minutes: '10'\n"
            ),
            "apps/f02/vnet.yaml": VNET.format(name="f02")
            + "  addressSpace: {addressPrefixes: [10.0.0.0/16]}\n  flowTimeoutInMinutes: ${minutes}\n",
        },
        changes={"f02": {"/properties/flowTimeoutInMinutes": 20}},
        edits=(("clusters/f02-vars.yaml", "'10'", "'20'"),),
    ),
    BuiltDrift(
        why="a plain file of the folder, which a variable does not make",
        files={"clusters/f03.yaml": kustomization("f03"), "apps/f03/sa.yaml": storage("f03")},
        changes={"f03": {"/sku/name": "Standard_GRS"}},
        edits=(("apps/f03/sa.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="a patch in the object",
        files={
            "clusters/f04.yaml": kustomization(
                "f04",
                "  patches:\n  - target: {kind: StorageAccount}\n    patch: |\n      - op: replace\n        path: /spec/sku/name\n"
                "        value: Standard_ZRS\n",
            ),
            "apps/f04/sa.yaml": storage("f04"),
        },
        changes={"f04": {"/sku/name": "Standard_GRS"}},
        edits=(("clusters/f04.yaml", "Standard_ZRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="a default in the text",
        files={
            "clusters/f05.yaml": kustomization("f05", "  postBuild:\n    substitute: {env: prod}\n"),
            "apps/f05/sa.yaml": storage("f05").replace("Standard_LRS", "${sku:=Standard_LRS}"),
        },
        changes={"f05": {"/sku/name": "Standard_GRS"}},
        left=("apps/f05/sa.yaml:11",),
        reason="No text of Kustomization clusters/flux-system/f05 produces just this value.",
    ),
    BuiltDrift(
        why="a value that is part of another",
        files={
            "clusters/f06.yaml": kustomization("f06", "  postBuild:\n    substitute: {env: prod}\n"),
            "apps/f06/sa.yaml": storage("f06", env="${env}-1"),
        },
        changes={"f06": {"/tags/env": "live-1"}},
        left=("apps/f06/sa.yaml:13",),
        reason="No text of Kustomization clusters/flux-system/f06 produces just this value.",
    ),
    BuiltDrift(
        why="a variable that another resource has, too",
        files={
            "clusters/f07.yaml": kustomization("f07", "  postBuild:\n    substitute:\n      env: prod\n"),
            "apps/f07/sa.yaml": storage("f07a", env="${env}") + "---\n" + storage("f07b", env="${env}"),
        },
        changes={"f07a": {"/tags/env": "live"}},
        left=("clusters/f07.yaml:12",),
        reason="The text that produces this value also produces it for StorageAccount/f07b.",
    ),
    BuiltDrift(
        why="a value of Azure that Flux would replace again",
        files={
            "clusters/f08.yaml": kustomization(
                "f08", "  postBuild:\n    substitute:\n      env: prod\n      other: x\n"
            ),
            "apps/f08/sa.yaml": storage("f08", env="${env}"),
        },
        changes={"f08": {"/tags/env": "${other}"}},
        left=("clusters/f08.yaml:12",),
        reason="The new value contains ${ or {{",
    ),
    BuiltDrift(
        why="variables in gitsync.yaml, of a folder and of a kustomization",
        files={
            "gitsync.yaml": (
                "units:\n- path: infra/v01\n  substitute:\n    SKU: Standard_LRS # cheap\n"
                "- path: infra/v02\n  substitute: {STORAGE_SKU: Standard_LRS}\n"
            ),
            "infra/v01/sa.yaml": storage("v01").replace("Standard_LRS", "${SKU}"),
            "infra/v02/kustomization.yaml": "resources: [sa.yaml]\n",
            "infra/v02/sa.yaml": storage("v02").replace("Standard_LRS", '"${STORAGE_SKU}"'),
        },
        changes={"v01": {"/sku/name": "Standard_GRS"}, "v02": {"/sku/name": "Standard_ZRS"}},
        edits=(
            ("gitsync.yaml", "SKU: Standard_LRS # cheap", "SKU: Standard_GRS # cheap"),
            ("gitsync.yaml", "{STORAGE_SKU: Standard_LRS}", "{STORAGE_SKU: Standard_ZRS}"),
        ),
    ),
]

_CHART = "apiVersion: v2\nname: {name}\nversion: 0.1.0\n"


def chart(name: str, values: str, template: str, more: str = "") -> dict[str, str]:
    return {
        f"charts/{name}/Chart.yaml": _CHART.format(name=name),
        f"charts/{name}/values.yaml": values,
        f"charts/{name}/templates/all.yaml": template,
    } | ({f"charts/{name}/prod.yaml": more} if more else {})


def templated(name: str, sku: str = "Standard_LRS", tags: str = "") -> str:
    return storage(name).replace("Standard_LRS", sku) + tags


def release(name: str, more: str) -> str:
    """A Flux object that releases a chart."""
    return (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        f"metadata: {{name: {name}, namespace: flux-system}}\nspec:\n  interval: 10m\n  targetNamespace: default\n"
        f"  chart:\n    spec:\n      chart: ./charts/{name}\n"
        f"      sourceRef: {{kind: GitRepository, name: flux-system}}\n{more}"
    )


HELM = [
    BuiltDrift(
        why="a value of the chart's own",
        files=chart(
            "h01",
            "# values\nstorage:\n  sku: Standard_LRS # cheap\nother: Standard_LRS\n",
            templated("h01", "{{ .Values.storage.sku }}"),
        ),
        changes={"h01": {"/sku/name": "Standard_GRS"}},
        edits=(("charts/h01/values.yaml", "sku: Standard_LRS #", "sku: Standard_GRS #"),),
    ),
    BuiltDrift(
        why="a file of values that overrides those of the chart",
        files=chart("h02", "sku: Standard_LRS\n", templated("h02", "{{ .Values.sku }}"), more="sku: Standard_LRS\n"),
        changes={"h02": {"/sku/name": "Standard_GRS"}},
        edits=(("charts/h02/prod.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="a number that the template makes a text of",
        files=chart("h03", "stage: 2\n", templated("h03", tags="  tags:\n    stage: {{ .Values.stage | quote }}\n")),
        changes={"h03": {"/tags/stage": "3"}},
        edits=(("charts/h03/values.yaml", "2", "3"),),
    ),
    BuiltDrift(
        why="a text that the template makes a number of",
        files=chart(
            "h04",
            'minutes: "10"\n',
            VNET.format(name="h04")
            + "  addressSpace: {addressPrefixes: [10.0.0.0/16]}\n  flowTimeoutInMinutes: {{ .Values.minutes }}\n",
        ),
        changes={"h04": {"/properties/flowTimeoutInMinutes": 20}},
        edits=(("charts/h04/values.yaml", '"10"', '"20"'),),
    ),
    BuiltDrift(
        why="a key of a mapping goes",
        files=chart(
            "h05",
            "tags:\n  env: prod\n  tier: gold\n",
            templated("h05", tags="  tags: {{ toYaml .Values.tags | nindent 4 }}\n"),
        ),
        remove={"h05": ("/tags/tier",)},
        edits=(("charts/h05/values.yaml", "  tier: gold\n", ""),),
    ),
    BuiltDrift(
        why="an item of a list",
        files=chart(
            "h06",
            "ranges: [10.0.0.0/16, 10.1.0.0/16]\n",
            VNET.format(name="h06")
            + "  addressSpace:\n    addressPrefixes:\n    {{- range .Values.ranges }}\n    - {{ . }}\n    {{- end }}\n",
        ),
        changes={"h06": {"/properties/addressSpace/addressPrefixes": ["10.0.0.0/16"]}},
        edits=(("charts/h06/values.yaml", ", 10.1.0.0/16", ""),),
    ),
    BuiltDrift(
        why="the lower of two values",
        files=chart(
            "h07",
            "a: 10\nb: 10\n",
            VNET.format(name="h07")
            + "  addressSpace: {addressPrefixes: [10.0.0.0/16]}\n  flowTimeoutInMinutes: {{ min .Values.a .Values.b }}\n",
        ),
        changes={"h07": {"/properties/flowTimeoutInMinutes": 5}},
        left=("charts/h07/values.yaml:1", "charts/h07/values.yaml:2"),
        reason="2 texts of charts/h07 produce this value, each by itself.",
    ),
    BuiltDrift(
        why="a value that only the template has",
        files=chart("h08", "env: prod\n", templated("h08", tags="  tags:\n    env: {{ .Values.env }}\n")),
        changes={"h08": {"/sku/name": "Standard_GRS"}},
        left=("charts/h08/templates/all.yaml:11",),
        reason="No text of charts/h08 produces just this value.",
    ),
    BuiltDrift(
        why="values in the object that releases the chart",
        files={
            **chart("h09", "sku: Standard_ZRS\n", templated("h09", "{{ .Values.sku }}")),
            "clusters/h09.yaml": release("h09", "  values:\n    sku: Standard_LRS # cheap\n"),
        },
        changes={"h09": {"/sku/name": "Standard_GRS"}},
        edits=(("clusters/h09.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="values in the text of a ConfigMap",
        files={
            **chart("h10", "sku: Standard_ZRS\n", templated("h10", "{{ .Values.sku }}")),
            "clusters/h10.yaml": release("h10", "  valuesFrom:\n  - {kind: ConfigMap, name: h10-values}\n"),
            "clusters/h10-values.yaml": (
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h10-values, namespace: flux-system}\ndata:\n"
                "  values.yaml: |\n    # cheap\n    sku: Standard_LRS # here\n"
            ),
        },
        changes={"h10": {"/sku/name": "Standard_GRS"}},
        edits=(("clusters/h10-values.yaml", "Standard_LRS", "Standard_GRS"),),
    ),
    BuiltDrift(
        why="a value of Azure that would be more than a value in the template",
        files=chart("h11", "env: prod\n", templated("h11", tags="  tags:\n    env: {{ .Values.env }}\n")),
        changes={"h11": {"/tags/env": "live\n    owner: eve"}},
        left=("charts/h11/values.yaml:1",),
        reason="No text of charts/h11 produces just this value.",
    ),
]


def release_charts(rows: list[BuiltDrift]) -> str:
    """The settings that name the charts of rows, unless a HelmRelease releases them."""
    units = (
        f"- {{path: charts/{row.names[0]}, values: [{'prod' if row.names[0] == 'h02' else 'values'}.yaml]}}\n"
        for row in rows
        if row.names[0] not in {"h09", "h10"}
    )
    return "units:\n" + "".join(units)

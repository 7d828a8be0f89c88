"""Small files that cost much to read: each is made of about as many bytes as requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping

GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata:\n  name: a\n"
GROUPS = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroupList\n"
SUBNET = "apiVersion: network.azure.com/v1api20201101\nkind: VirtualNetworksSubnet\nmetadata: {name: s}\n"
LEVELS = 90


def nested(inner: str, key_bytes: int) -> str:
    """A flow mapping `LEVELS` deep; as explicit keys, which may be longer than 1,024 characters."""
    return f"{{? {'k' * key_bytes} : " * LEVELS + inner + "}" * LEVELS


def tagged(value: str) -> str:
    return f"{GROUP}spec: {{location: x, tags: {value}}}\n"


def annotated(value: str) -> str:
    return f"{GROUP}  annotations:\n    gitsync/ignore: '{value}'\nspec: {{location: x}}\n"


def numbered(text: str, size: int) -> str:
    """A text again and again, each time with another number in the place of %d, up to a size."""
    return "".join(text % number for number in range(size // len(text)))


MANIFESTS: Mapping[str, Callable[[int], str]] = {
    "long keys around many values": lambda n: tagged(nested("[" + "1," * (n // 4) + "1]", n // 2 // LEVELS)),
    "long keys around duplicates": lambda n: tagged(nested("{" + "a: 1," * (n // 10) + "}", n // 2 // LEVELS)),
    "long keys in an annotation": lambda n: annotated(nested("[" + "1," * (n // 4) + "1]", n // 2 // LEVELS)),
    "entries of an annotation": lambda n: annotated("[" + "{p}," * (n // 4) + "]"),
    "paths of an annotation": lambda n: annotated("[" + "/a," * (n // 3) + "]"),
    "duplicate keys": lambda n: tagged("{" + "a: 1," * (n // 5) + "}"),
    "empty lists": lambda n: tagged("[" + "[]," * (n // 3) + "]"),
    "small mappings": lambda n: tagged("[" + "{a}," * (n // 4) + "]"),
    "unknown fields": lambda n: f"{GROUP}spec: {{{numbered('k%d: 1,', n)}}}\n",
    "merges": lambda n: tagged("{" + numbered("<<: {k%d: 1},", n) + "}"),
    "a merge of a list": lambda n: tagged("{<<: [" + numbered("{k%d: 1},", n) + "]}"),
    "documents that do not parse": lambda n: "---\n}\n" * (n // 6),
    "blank lines that do not parse": lambda n: "\n" * n + "}\n",
    "names that do not parse": lambda n: "name: " * (n // 6) + "\n}\n",
    "documents of one word": lambda n: "---\na\n" * (n // 6),
    "misspelt kinds": lambda n: numbered(
        "---\n{apiVersion: keyvault.azure.com/v1, kind: Vaul%d, metadata: {name: a}}\n", n
    ),
    "misspelt groups": lambda n: numbered(
        "---\n{apiVersion: keyvalt%d.azure.com/v1, kind: Vault, metadata: {name: a}}\n", n
    ),
    "items without a name": lambda n: f"{GROUPS}items: [{'{a},' * (n // 4)}]\n",
    "items that are aliases": lambda n: f"{GROUPS}x: &a {{metadata: {{name: b}}}}\nitems: [{'*a,' * (n // 13)}]\n",
    "resources of a list": lambda n: f"{GROUPS}items: [{numbered('{metadata: {name: a%d}},', n)}]\n",
    "a long id": lambda n: f"{SUBNET}spec: {{owner: {{armId: /subscriptions/{'a/' * (n // 2)}}}}}\n",
    "a long id of pairs": lambda n: (
        f"{SUBNET}spec: {{owner: {{armId: /subscriptions/a/providers/Microsoft.Network/a/a{'/a/a' * (n // 4)}}}}}\n"
    ),
    "a long name": lambda n: GROUP.replace("name: a", f"name: {'a' * n}") + "spec: {location: x}\n",
}
"""For `gitsync validate`."""

IGNORE_FILES: Mapping[str, Callable[[int], str]] = {
    "names": lambda n: numbered("name%d\n", n),
    "stars": lambda n: numbered("*n%d*a\n", n),
    "one line of stars": lambda n: "*a" * (n // 2) + "b\n",
    "one line of folders": lambda n: "**/a/" * (n // 5) + "b\n",
}

RECORDS: Mapping[str, Callable[[int], str]] = {
    "nested lists": lambda n: "[" * n,
    "dependencies": lambda n: '{"gitsync": {"dependsOn": [' + '"a",' * (n // 4) + '"a"]}}\n',
    "empty lists": lambda n: '{"gitsync": {"applied": [' + "[]," * (n // 3) + "1]}}\n",
    "small objects": lambda n: '{"gitsync": {"applied": [' + '{"":0},' * (n // 7) + "1]}}\n",
}

FORMER_RECORDS: Mapping[str, Callable[[int], str]] = {
    "long keys around many values": lambda n: f"gitsync: {nested('[' + '1,' * (n // 4) + '1]', n // 2 // LEVELS)}\n",
    "dependencies": lambda n: f"gitsync: {{dependsOn: [{'a,' * (n // 2)}]}}\n",
    "empty lists": lambda n: f"gitsync: {{applied: [{'[],' * (n // 3)}]}}\n",
}

PLANS: Mapping[str, Callable[[int], str]] = {
    "nested lists": lambda n: "[" * n,
    "empty lists": lambda n: '{"nodes": [' + "[]," * (n // 3) + "1]}",
    "small objects": lambda n: '{"nodes": [' + '{"":0},' * (n // 7) + "1]}",
    "nodes": lambda n: (
        '{"schema":1,"repository":"","revision":"","prune":true,"digestKey":"","nodes":{'
        + numbered('"a.b/c/%d":{"action":"none"},', n)
        + '"a.b/c/d":{}}}'
    ),
}


def kustomization(variable: str, *tags: str) -> Mapping[str, str]:
    """A Kustomization of Flux with a variable A, and a group for each text that uses it."""
    groups = (
        f"{GROUP.replace('name: a', f'name: g{index}')}spec: {{location: x, tags: {{a: '{tag}'}}}}\n"
        for index, tag in enumerate(tags)
    )
    return {
        "clusters/one/flux.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: one}\n"
        "spec:\n  path: ./one\n  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}\n"
        f"  postBuild: {{substitute: {{A: '{variable}'}}}}\n",
        "one/kustomization.yaml": "resources: [groups.yaml]\n",
        "one/groups.yaml": "---\n".join(groups),
    }  # fmt: skip


def application_set(name: str) -> str:
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n"
        "  goTemplate: true\n  generators: [{list: {elements: [{a: x}]}}]\n"
        f"  template: {{metadata: {{name: '{name}'}}, spec: {{source: {{repoURL: a, path: a}}}}}}\n"
    )


def aliased_charts(levels: int) -> Mapping[str, str]:
    """Charts that each depend on the next one by two names."""
    files = {"gitsync.yaml": "units: [{path: c0}]\n", "c0/templates/group.yaml": f"{GROUP}spec: {{location: x}}\n"}
    for level in range(levels):
        names = (f"{{name: c{level + 1}, alias: {name}{level}, repository: 'file://../c{level + 1}'}}" for name in "ab")
        files[f"c{level}/Chart.yaml"] = (
            f"{{apiVersion: v2, name: c{level}, version: 1.0.0, dependencies: [{', '.join(names)}]}}\n"
        )
    return {**files, f"c{levels}/Chart.yaml": f"{{apiVersion: v2, name: c{levels}, version: 1.0.0}}\n"}  # fmt: skip


def doubled(levels: int) -> str:
    return "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, levels))


LARGE = "x" * 900_000
CHART = {
    "gitsync.yaml": "units: [{path: one, values: ../values.yaml}]\n",
    "one/Chart.yaml": "{apiVersion: v2, name: one, version: 1.0.0}\n",
    "one/templates/group.yaml": f"{GROUP}spec: {{location: x}}\n",
}
SOURCES: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "a large variable in one text": lambda: kustomization(LARGE, "${A}" * 5000),
    "a large variable in many texts": lambda: kustomization(LARGE, *["${A}" * 100] * 50),
    "a large variable in a default": lambda: kustomization(LARGE, "${B:=" + "${A}" * 5000 + "}"),
    "a variable of many values": lambda: kustomization("{a}," * 200_000, *["[${A}]"] * 50),
    "a chain of templates": lambda: {"a.yaml": application_set("{{.a" + ' | replace "x" "xxxxxxxxxx"' * 30 + "}}")},
    "many chains of templates": lambda: {
        f"{index}.yaml": application_set("{{.a" + ' | replace "x" "xxxxxxxxxx"' * 6 + "}}") for index in range(100)
    },
    "charts by two names each": lambda: aliased_charts(30),
    "aliases in a chart": lambda: {**CHART, "one/Chart.yaml": f"apiVersion: v2\nname: one\nversion: 1.0.0\n{doubled(30)}"},
    "aliases in values": lambda: {**CHART, "values.yaml": doubled(30)},
    "aliases of a long text in values": lambda: {**CHART, "values.yaml": f"a: &a {LARGE}\nb: [{'*a, ' * 15_000}]\n"},
    "aliases in many documents": lambda: {
        "a.yaml": f"---\n{GROUP}spec: {{location: x, tags: {{a: &a [{'1,' * 140}], b: [{'*a,' * 140}]}}}}\n" * 100
    },
}  # fmt: skip
"""Repositories for `gitsync validate`. Each is a problem, and stands for gigabytes."""

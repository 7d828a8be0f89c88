"""Mistakes that newcomers make in manifests: the message names the fix, and the fix is right."""

import re

import pytest

from tests.support import command_line

GROUP = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
ACCOUNT = """apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: logs123}
spec:
  owner: {name: core}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
"""
NETWORK = """apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {name: hub}
spec:
  owner: {name: core}
  location: westeurope
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
"""


def subnet(name, prefix):
    return f"""apiVersion: network.azure.com/v1api20201101
kind: VirtualNetworksSubnet
metadata: {{name: {name}}}
spec: {{owner: {{name: hub}}, addressPrefix: {prefix}}}
"""


def held(text):
    return GROUP.replace("{name: core}", f'{{name: core, annotations: {{gitsync/hold: "{text}"}}}}')


PREFIX_HINT = "Write an address and the length of its prefix, such as 10.0.0.0/16 or fd00::/48."
RENDER = "Render it, and commit the result. If it is not a manifest, add it to .gitsyncignore."
MISTAKES = [
    (
        [GROUP, ACCOUNT.replace("v1api20230101", "2023-01-01")],
        '"storage.azure.com/2023-01-01" and "StorageAccount" are not a valid apiVersion and kind.',
        "ASO's versions begin with v: v20230101.",
        "the api-version of Azure",
    ),
    (
        [GROUP, ACCOUNT.replace("v1api20230101", "v1")],
        "StorageAccount of storage.azure.com has no version v1.",
        "Known versions: v20250601, ",
        "a version that Kubernetes would have",
    ),
    (
        [GROUP.replace("westeurope", "westeurop")],
        'spec.location is "westeurop", which is not a known Azure region.',
        "Did you mean westeurope?",
        "a slip in a region",
    ),
    (
        [GROUP, NETWORK.replace("10.0.0.0/16", "10.0.0.0/36")],
        'spec.addressSpace.addressPrefixes[0] is "10.0.0.0/36", whose prefix is longer than 32.',
        PREFIX_HINT,
        "a prefix of a network",
    ),
    (
        [GROUP, NETWORK, subnet("a", "10.0.0.0/36")],
        'spec.addressPrefix is "10.0.0.0/36", whose prefix is longer than 32.',
        PREFIX_HINT,
        "a prefix of a subnet",
    ),
    (
        [GROUP, NETWORK, subnet("a", "10.0.0.0/24"), subnet("b", "10.0.0.128/25")],
        "10.0.0.128/25 overlaps 10.0.0.0/24 of VirtualNetworksSubnet/a at a.yaml:14, a subnet of the same network.",
        "Change one of them.",
        "subnets that overlap",
    ),
    (
        [
            GROUP,
            ACCOUNT.replace("logs123", "{{ .Values.name }}").replace("{name: {{", "\n  name: {{").replace("}}}", "}}"),
        ],
        "This is not YAML: it has {{ }} of Helm or another template tool.",
        RENDER,
        "braces of Helm",
    ),
    (
        [GROUP, ACCOUNT.replace("logs123", '"{{ .Values.name }}"')],
        'metadata.name is "{{ .Values.name }}", with a placeholder: this is a template.',
        RENDER,
        "braces of Helm in quotes",
    ),
    (
        ["{{- if .Values.enabled }}\n" + ACCOUNT + "{{- end }}\n"],
        "This is not YAML: it has {{ }} of Helm or another template tool.",
        RENDER,
        "a condition of Helm",
    ),
]


def validate(folder, documents):
    (folder / "a.yaml").write_text("---\n".join(documents))
    return command_line.run_here("validate", folder=folder)


@pytest.mark.parametrize(("documents", "message", "hint", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_common_mistake_is_reported_with_its_fix(documents, message, hint, why, tmp_path):
    ended = validate(tmp_path, documents)
    lines = [line.strip() for line in ended.out.splitlines()]
    assert message in lines, why
    assert any(line.startswith(hint) for line in lines), why


HOLDS = ["until 2030-12-31", "2030-12-31", "until 31.12.2030, incident 4711", "true"]


@pytest.mark.parametrize("text", HOLDS)
def test_the_hold_that_a_hint_names_is_allowed(text, tmp_path):
    ended = validate(tmp_path, [held(text)])
    example = re.search("Write it as `(.*)`", ended.out)[1]
    assert "gitsync/hold" not in validate(tmp_path, [held(example)]).out


def test_the_version_that_a_hint_names_is_known(tmp_path):
    ended = validate(tmp_path, [GROUP, ACCOUNT.replace("v1api20230101", "2023-01-01")])
    version = re.search("begin with v: (.*)[.]", ended.out)[1]
    assert validate(tmp_path, [GROUP, ACCOUNT.replace("v1api20230101", version)]).code == 0

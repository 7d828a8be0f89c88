"""A run of some namespaces reads those that its expressions name as well."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.named_namespaces import find_named_namespaces
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.selection import select_namespaces

RESOURCES = """
{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: g, namespace: shop, annotations: {%s: '%s'}}}
---
{apiVersion: azure.gitsync/v1, kind: AzureResource, metadata: {name: r, namespace: shop}, spec: {body: {tags: [{a: %s}]}}}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: g, namespace: platform, annotations: {gitsync/set: '{spec.tags.a: resource("core/ResourceGroup/g").id}'}}
---
{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: g, namespace: core}}
---
{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: g, namespace: other}}
"""


@pytest.mark.parametrize(
    ("annotation", "text", "word", "expected", "why"),
    [
        ("gitsync/set", 'resource("ResourceGroup/h").id', "x", (), "a name in the namespace"),
        ("gitsync/set", 'resource( "core/ResourceGroup/g" ).id', "x", ("core",), "another one"),
        ("gitsync/set", 'resource("platform/ResourceGroup/g").id', "x", ("core", "platform"), "and what it needs itself"),
        ("gitsync/set", 'resource("ResourceGroup.resources.azure.com/core/g").id', "x", ("core",), "as reports print it"),
        ("gitsync/body", '{a: {$expression: "resource(\\"core/ResourceGroup/g\\").id"}}', "x", ("core",), "in a body"),
        ("x", 'resource("core/ResourceGroup/g")', "x", (), "no expression"),
        ("x", "", "{$expression: 'resource(\"other/ResourceGroup/g\").id'}", ("other",), "in an AzureResource"),
    ],
)  # fmt: skip
def test_namespaces_of_expressions(annotation, text, word, expected, why):
    manifests = read_manifests({"a.yaml": (RESOURCES % (annotation, text, word)).encode()})
    declared = {resource.key.namespace for resource in manifests.resources}
    assert declared == {"shop", "platform", "core", "other"}
    assert find_named_namespaces(manifests.resources, ["shop"]) & declared == set(expected), why
    selected = select_namespaces(manifests, ["shop"])
    assert {resource.key.namespace for resource in selected.resources} == {"shop", *expected}
    assert {resource.key.namespace for resource in selected.elsewhere} == declared - {"shop"}, why

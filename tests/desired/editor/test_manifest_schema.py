"""The entry schema: it selects the schema of a document, and skips what is for other tools."""

import pytest
import yaml

from gitsync.desired.editor.schema_files import ENTRY
from gitsync.model.gvk import GVK
from gitsync.model.reconcile_policy import RECONCILE_POLICY
from tests.desired.editor.schema_validation import CATALOG, find_errors, kind_files, schema


def entry_errors(text):
    return find_errors(ENTRY, yaml.safe_load(text))


GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
HEADER = "metadata: {name: web}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nspec: {location: x}\n", "a manifest"),
        ("apiVersion: resources.azure.com/v20200601\nkind: ResourceGroup\nspec: {location: x}\n", "the other spelling"),
        ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n", "kustomize"),
        ("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: 1}\n", "Flux"),
        ("apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nspec: {x: 1}\n", "another operator for Azure"),
        ("apiVersion: infrastructure.azure.com/v1\nkind: Thing\nspec: {x: 1}\n", "an operator that nobody knows"),
        ("apiVersion: approuting.kubernetes.azure.com/v1alpha1\nkind: NginxIngressController\nspec: {x: 1}\n", "an add-on of AKS"),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", "a ConfigMap"),
        ("apiVersion: v1\nkind: List\nitems: [{apiVersion: apps/v1, kind: Deployment, spec: 1}]\n", "a list"),
        ("apiVersion: v1\nkind: Secret\nstringData: {a: b}\nsops: {mac: x}\n", "an encrypted Secret"),
        ("apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}\n", "another kind of the core group"),
        ("replicas: 1\nspec: 3\n", "values of a chart"),
        ("- a\n- b\n", "a list"),
        ("apiVersion: 2\n", "an odd header"),
    ],
)  # fmt: skip
def test_what_is_right_is_not_marked(text, why):
    document = yaml.safe_load(text)
    if isinstance(document, dict):
        document.setdefault("metadata", {"name": "web"})
    assert find_errors(ENTRY, document) == [], why


@pytest.mark.parametrize(
    ("text", "location", "why"),
    [
        ("apiVersion: netwrk.azure.com/v20250301\nkind: VirtualNetwork\n", "apiVersion", "an unknown group"),
        ("apiVersion: network.azure.com/v2\nkind: VirtualNetwork\n", "apiVersion", "an unknown version"),
        ("apiVersion: network.azure.com/v20250301\nkind: VirtualNetwrk\n", "kind", "an unknown kind"),
        ("apiVersion: network.azure.com/v20250301\n", "", "no kind"),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {a: 1}\n", "data.a", "a number in a ConfigMap"),
        (
            "apiVersion: v1\nkind: List\nitems: [{apiVersion: network.azure.com/v2, kind: VirtualNetwork}]\n",
            "items.0.apiVersion",
            "an item of a list",
        ),
        (
            f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: a, annotations: {{{RECONCILE_POLICY}: skp}}}}\n",
            "metadata.annotations.serviceoperator.azure.com/reconcile-policy",
            "the policy of a Namespace",
        ),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {gitsync/tags: {team: web}}}\n",
            "metadata.annotations.gitsync/tags",
            "default tags of a Namespace that are no text",
        ),
        (
            GROUP + "metadata: {name: a, annotations: {gitsync/tags: 'team: web'}}\nspec: {location: x}\n",
            "metadata.annotations",
            "default tags of a manifest",
        ),
        (
            GROUP + HEADER + "spec: {locaton: x}\n",
            "spec",
            "an unknown field, by the schema of its kind",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_marked_at_its_location(text, location, why):
    assert location in {path for path, _ in entry_errors(text)}, why


def test_a_namespace_has_rules():
    annotations = "{gitsync/tags: 'team: web', gitsync/ignore: '[{tags: [hidden-*]}]'}"
    assert entry_errors(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: a, annotations: {annotations}}}\n") == []


def test_every_version_of_every_kind_has_a_schema():
    served = {
        (f"{group}/{version}", kind)
        for group in CATALOG.groups()
        for kind in CATALOG.kinds(group)
        for version in CATALOG.versions(group, kind)
    }
    found = {(version, file.kind.gvk.kind) for file in kind_files().values() for version in file.api_versions}
    assert served <= found
    assert all(CATALOG.kind(GVK.parse(version, kind)) for version, kind in found), "no more than gitsync reads"


def find_choices(schema):
    """The values that an editor offers for a field."""
    return [value for part in (schema, *schema.get("anyOf", ())) for value in part.get("enum", ())]


def test_versions_that_aso_does_not_serve_are_right_but_not_offered():
    text = "apiVersion: network.azure.com/v1api20250301\nkind: VirtualNetwork\nmetadata: {name: hub}\n"
    assert entry_errors(text + "spec: {location: x, owner: {name: web}}\n") == []
    groups = [rule["then"]["properties"]["apiVersion"] for rule in schema(ENTRY)["allOf"] if "allOf" in rule["then"]]
    kinds = [schema("network.azure.com/virtualnetwork_v20250301.json")["properties"]["apiVersion"]]
    offered = {version for kind in (*groups, *kinds) for version in find_choices(kind)}
    assert {"network.azure.com/v20250301", "network.azure.com/v1api20240301"} <= offered
    assert not offered & {"network.azure.com/v1api20250301", "network.azure.com/v20240301"}


def test_an_editor_speaks_of_one_kind():
    """So the entry has conditions, and no list of alternatives."""
    entry = schema(ENTRY)
    assert "oneOf" not in entry
    assert "anyOf" not in entry
    assert all("if" in rule for rule in entry["allOf"])

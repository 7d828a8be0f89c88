"""Files and documents beside manifests that look like some: what is read, skipped, and refused."""

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.model.problem import Level

GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: a}\nspec: {location: x}\n"
CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: resourcegroups.resources.azure.com}\n"
COMPOSITION = (
    "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: x}\nspec: {resources: []}\n"
)
WORKFLOW = "name: CI\non: [push]\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n"
LIST = "apiVersion: v1\nkind: List\nitems:\n"


def indented(text):
    return "".join(f"  {line}\n" for line in text.splitlines())


def item(text):
    return "- " + indented(text).lstrip()


@pytest.mark.parametrize(
    ("path", "text", "resources", "skipped_documents", "why"),
    [
        ("tsconfig.json", '{\n  // strict\n  "compilerOptions": {},\n}\n', 0, 1, "JSON with comments"),
        ("values.yaml", "replicas: 1\nimage: {tag: latest}\n", 0, 1, "values of a chart"),
        ("ci.yaml", WORKFLOW, 0, 1, "a workflow"),
        ("main.tf.json", '{"resource": {"azurerm_resource_group": {"a": {"name": "x"}}}}', 0, 1, "Terraform"),
        ("crd.yaml", CRD, 0, 1, "a definition of ASO's own kind"),
        ("list.yaml", LIST + item(LIST + item(GROUP)), 1, 0, "a list in a list"),
        ("identity.yaml", "apiVersion: aadpodidentity.k8s.io/v1\nkind: AzureIdentity\nmetadata: {name: a}\n", 0, 1, "a like name"),
        ("composition.yaml", COMPOSITION, 0, 1, "a composition of Crossplane"),
    ],
)  # fmt: skip
def test_what_is_not_for_gitsync_is_skipped_and_counted(path, text, resources, skipped_documents, why):
    found = read_manifests({path: text.encode()})
    assert found.problems == (), why
    assert (len(found.resources), found.skipped_documents) == (resources, skipped_documents), why


@pytest.mark.parametrize(
    ("header", "spec", "why"),
    [
        ("infrastructure.azure.com/v1, kind: Thing", "{}", "like no group of ASO"),
        ("disk.csi.azure.com/v1beta1, kind: Cluster", "{}", "a kind that others have too"),
        ("aks.azure.com/v1, kind: NodeClass", "{}", "two of three letters make another word"),
        ("ai.azure.com/v1, kind: Model", "{owner: team}", "an owner as text"),
    ],
)  # fmt: skip
def test_a_group_that_is_like_none_of_aso_is_somebody_elses(header, spec, why):
    found = read_manifests({"a.yaml": f"{{apiVersion: {header}, metadata: {{name: a}}, spec: {spec}}}".encode()})
    (note,) = found.problems
    assert (note.code, note.level, note.may_hide_manifest, found.resources) == (
        "UnknownGroup",
        Level.NOTE,
        False,
        (),
    ), why
    assert [document.is_rejected for document in found.unread] == [False]


@pytest.mark.parametrize(
    ("header", "spec", "why"),
    [
        ("netwrk.azure.com/v1, kind: Thing", "{}", "a letter is missing"),
        ("wbe.azure.com/v1, kind: Thing", "{}", "letters are swapped"),
        ("newservice.azure.com/v1api20300101, kind: Thing", "{}", "a version that only ASO has: gitsync may be too old"),
        ("networking2.azure.com/v1, kind: VirtualNetwork", "{}", "a kind of ASO"),
        ("infrastructure.azure.com/v1, kind: Thing", "{owner: {name: rg}}", "an owner as only ASO has"),
        ("infrastructure.azure.com/v1, kind: Thing", "{azureName: a}", "likewise"),
    ],
)  # fmt: skip
def test_a_group_that_may_be_a_slip_holds_deletes(header, spec, why):
    found = read_manifests({"a.yaml": f"{{apiVersion: {header}, metadata: {{name: a}}, spec: {spec}}}".encode()})
    assert found.resources or [problem.is_error for problem in found.problems] == [True], why

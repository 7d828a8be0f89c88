"""Files and documents beside manifests that look like some: what is read, passed over, and refused."""

import pytest

from gitsync.manifests.reader import read_manifests

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
    ("path", "text", "resources", "passed_over", "why"),
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
def test_what_is_not_for_gitsync_is_passed_over_and_counted(path, text, resources, passed_over, why):
    found = read_manifests({path: text.encode()})
    assert found.problems == (), why
    assert (len(found.resources), found.passed_over) == (resources, passed_over), why


def test_a_group_of_azure_that_aso_does_not_have_may_be_a_slip():
    text = "apiVersion: infrastructure.azure.com/v1\nkind: Thing\nmetadata: {name: a}\n"
    (resource,) = read_manifests({"a.yaml": text.encode()}).resources
    assert resource.gvk.group == "infrastructure.azure.com", "validation refuses it: ASO may have it under another name"

"""Documents of other tools with ASO objects inside: they are counted and named, and never applied."""

import pytest

from gitsync.desired.manifests.reader import read_manifests

GROUP = "{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: a}, spec: {location: x}}"
TEXT = "apiVersion: resources.azure.com/v1api20200601\n        kind: ResourceGroup\n"


def named(api_version, kind, spec):
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web}}\nspec:\n{spec}"


KRO = named(
    "kro.run/v1alpha1",
    "ResourceGraphDefinition",
    f"  resources:\n  - {{id: a, template: {GROUP}}}\n  - {{id: b, template: {GROUP}}}\n",
)
COMPOSITION = named("apiextensions.crossplane.io/v1", "Composition", f"  resources:\n  - base: {{apiVersion: kubernetes.crossplane.io/v1alpha2, kind: Object, spec: {{forProvider: {{manifest: {GROUP}}}}}}}\n")  # fmt: skip
PIPELINE = named("apiextensions.crossplane.io/v1", "Composition", f"  pipeline:\n  - input:\n      kind: Resources\n      resources: [{{base: {GROUP}}}]\n")  # fmt: skip
INLINE = named("apiextensions.crossplane.io/v2alpha1", "Composition", f"  pipeline:\n  - input:\n      inline:\n       template: |\n        {{{{ if .x }}}}\n        {TEXT}        ---\n        {TEXT}")  # fmt: skip
STEP = f"    resource:\n      action: apply\n      manifest: |\n        {TEXT}"
WORKFLOW = named(
    "argoproj.io/v1alpha1", "WorkflowTemplate", f"  templates:\n  - name: one\n{STEP}  - name: two\n{STEP}"
)
CONFIG_MAP = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata:\n  all.yaml: |\n        {TEXT}"
SECRET = CONFIG_MAP.replace("ConfigMap", "Secret").replace("\ndata:", "\nstringData:")
CLASS = named("cluster.x-k8s.io/v1beta1", "ClusterClass", f"  patches:\n  - definitions:\n    - jsonPatches:\n      - valueFrom:\n         template: |\n        {' ' * 4}resources:\n        {' ' * 4}- {TEXT.replace('        kind', '              kind')}")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KRO, "ResourceGraphDefinition web contains 2 ASO objects, which gitsync does not apply."),
        (COMPOSITION, "Composition web contains 1 ASO object, which gitsync does not apply."),
        (PIPELINE, "Composition web contains 1 ASO object, which gitsync does not apply."),
        (INLINE, "Composition web contains 2 ASO objects, which gitsync does not apply."),
        (WORKFLOW, "WorkflowTemplate web contains 2 ASO objects, which gitsync does not apply."),
        (CLASS, "ClusterClass web contains 1 ASO object, which gitsync does not apply."),
    ],
)
def test_a_document_of_another_tool_is_named_with_the_objects_inside(text, said):
    found = read_manifests({"a.yaml": b"# first\n" + text.encode()})
    (problem,) = found.problems
    assert (problem.message, problem.is_error, problem.line) == (said, False, 2)
    assert (found.resources, found.skipped_documents) == ((), 1)


@pytest.mark.parametrize("text", [CONFIG_MAP, SECRET])
def test_an_object_that_resources_use_is_read_and_named(text):
    found = read_manifests({"a.yaml": text.encode()})
    kept = [*found.objects.config_maps, *found.objects.secrets]
    assert (kept, [problem.code for problem in found.problems]) == ([("default", "web")], ["EmbeddedObjects"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (named("argoproj.io/v1alpha1", "Application", f"  source: {{helm: {{valuesObject: {{extra: [{GROUP}]}}}}}}\n"), "values of a chart"),
        (named("kustomize.toolkit.fluxcd.io/v1", "Kustomization", f"  patches: [{{patch: '{GROUP}'}}]\n"), "a patch is part of a manifest"),
        (named("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "  healthChecks: [{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, name: a}]\n"), "a reference"),
        (named("kyverno.io/v1", "ClusterPolicy", "  rules: [{match: {any: [{resources: {kinds: [resources.azure.com/*/ResourceGroup]}}]}}]\n"), "a rule about kinds"),
        (named("apps/v1", "Deployment", "  replicas: 1\n").replace("{name: web}", f"{{name: web, annotations: {{last-applied: '{GROUP}'}}}}"), "an annotation"),
        (named("azure.upbound.io/v1beta1", "ResourceGroup", "  forProvider: {location: x}\n"), "a provider of Crossplane"),
    ],
)  # fmt: skip
def test_what_only_speaks_of_aso_is_not_named(text, why):
    assert read_manifests({"a.yaml": text.encode()}).problems == (), why

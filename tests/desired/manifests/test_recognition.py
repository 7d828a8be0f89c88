"""Documents whose header is wrong: those that were meant for gitsync are errors, those of other tools are skipped."""

import json
import random
from pathlib import Path
from time import process_time

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, SourceLocation

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "manifests").rglob("*.yaml"))

REDIS = """apiVersion: cache.azure.com/v1api20230801
kind: Redis
metadata:
  name: store
spec:
  azureName: store-1
  owner:
    name: rg
"""
GROUP = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: rg
spec:
  location: westeurope
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n"
ANY = """apiVersion: azure.gitsync/v1
kind: AzureResource
metadata:
  name: orders
spec:
  type: Microsoft.Logic/workflows@2019-05-01
"""
SEEN = {"name": "store", "azure_name": "store-1", "kind": "Redis", "api_version": "cache.azure.com/v1api20230801"}


def read(text, name="a.yaml"):
    return read_manifests({name: text.encode()})


def redis(old, new):
    assert old in REDIS
    return REDIS.replace(old, new)


@pytest.mark.parametrize(
    ("text", "code", "line", "field", "hint", "why"),
    [
        (redis("azure.com", "azure.cm"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "a letter is missing"),
        (redis("azure.com", "azur.com"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "another is missing"),
        (redis("azure.com", "azurecom"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "the dot is missing"),
        (redis("azure.com", "azrue.com"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "letters are swapped"),
        (redis("azure.com", "azur.co"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "two are missing"),
        (redis("azure.com", "AZURE.CM"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "in capitals as well"),
        (redis("com/v1", "com/v1/"), "UnknownGroup", 1, "apiVersion", "cache.azure.com?", "a slash too many"),
        (redis("azure.com", "azure"), "UnknownGroup", 1, "apiVersion", "cache.azure.com", "the version is ASO's"),
        (redis("azure.com/", "example.org/"), "UnknownGroup", 1, "apiVersion", "cache.azure.com", "likewise"),
        (redis("cache.azure.com/", ""), "UnknownGroup", 1, "apiVersion", "cache.azure.com/", "no group, but ASO's version"),
        (redis("cache.azure.com/v1api20230801", "v1"), "UnknownGroup", 1, "apiVersion", "cache.azure.com/", "no group"),
        (redis("com/", "com-"), "UnknownGroup", 1, "apiVersion", "cache.azure.com/", "no slash"),
        (redis("apiVersion: cache.azure.com/v1api20230801\n", ""), "MissingApiVersion", 1, "apiVersion", "cache.azure", "none"),
        (redis(" cache.azure.com/v1api20230801", ""), "MissingApiVersion", 1, "apiVersion", "cache.azure", "it is null"),
        (GROUP.partition("\n")[2], "MissingApiVersion", 1, "apiVersion", "resources.azure.com/", "the kind is ours"),
        (
            "metadata:\n  name: x\nspec:\n  azureName: y\n",
            "MissingKind", 1, "kind", "Add apiVersion and kind", "only ASO has spec.azureName",
        ),
        ("spec:\n  owner:\n    armId: /x\n", "MissingKind", 1, "kind", "Add apiVersion and kind", "only ASO has such owners"),
        (
            "kind: Service\nmetadata:\n  name: x\nspec:\n  owner:\n    name: rg\n",
            "MissingApiVersion", 1, "apiVersion", "apimanagement.azure.com/", "Kubernetes has Services, but without owners",
        ),
        (redis("apiVersion", "apiversion"), "MisspeltField", 1, "apiversion", "mean apiVersion?", "another case"),
        (redis("apiVersion", "apiVersoin"), "MisspeltField", 1, "apiVersoin", "mean apiVersion?", "letters are swapped"),
        (redis("apiVersion", "ApiVersio"), "MisspeltField", 1, "ApiVersio", "mean apiVersion?", "both"),
        (redis("kind", "Kind"), "MisspeltField", 2, "Kind", "mean kind?", "another case"),
        (redis("kind", "kin"), "MisspeltField", 2, "kin", "mean kind?", "a letter is missing"),
        (redis("kind: Redis\n", ""), "MissingKind", 1, "kind", "Redis", "no kind at all"),
        (redis("kind: Redis", "kind:"), "MissingKind", 2, "kind", "Redis", "a kind without a value"),
        (redis("metadata", "Metadata"), "MisspeltField", 3, "Metadata", "mean metadata?", "another case"),
        (redis("metadata", "metdata"), "MisspeltField", 3, "metdata", "mean metadata?", "a letter is missing"),
        (redis("  name: store", "  nme: store"), "MisspeltField", 4, "metadata.nme", "Did you mean name?", "inside too"),
        (ANY.replace("gitsync/", "gitsync.io/"), "UnknownGroup", 1, "apiVersion", "mean azure.gitsync?", "an ending"),
        (ANY.replace("azure.gitsync", "arm.example.com"), "UnknownGroup", 1, "apiVersion", "azure.gitsync?", "its type"),
        (ANY.replace("azure.", "").partition("spec")[0], "UnknownGroup", 1, "apiVersion", "azure.gitsync?", "half of it"),
        (ANY.replace("azure.gitsync/", ""), "UnknownGroup", 1, "apiVersion", "azure.gitsync/v1", "no group"),
        (ANY.partition("\n")[2], "MissingApiVersion", 1, "apiVersion", "azure.gitsync/v1", "no apiVersion"),
        (NAMESPACE.replace("kind", "Kind"), "MisspeltField", 2, "Kind", "mean kind?", "its annotations decide on deletes"),
        (NAMESPACE.replace("v1", "vl"), "UnknownGroup", 1, "apiVersion", "apiVersion: v1", "likewise"),
        (
            NAMESPACE.replace("Namespace", "Namespce"),
            "UnknownGroup", 1, "apiVersion", "kind: Namespace", "a kind that Kubernetes does not have",
        ),
        (
            "apiVersion: 2023-08-01\nkind: Microsoft.Cache/redis\nmetadata:\n  name: x\n",
            "ArmType", 2, "kind", "kind Redis of group cache.azure.com", "half ARM, half Kubernetes",
        ),
        (
            "apiVersion: Microsoft.Cache/v1\nkind: Redis\nmetadata:\n  name: x\n",
            "ArmType", 1, "apiVersion", "as in ASO", "ARM's namespace as the group",
        ),
        (
            REDIS.replace("cache.azure.com/v1api20230801", "ENC[AES256_GCM,data:a]").replace("Redis", "ENC[AES256_GCM,data:b]"),
            "EncryptedManifest", 1, "apiVersion", "--encrypted-regex", "nothing says what it is",
        ),
    ],
)  # fmt: skip
def test_what_was_meant_for_gitsync_is_an_error(text, code, line, field, hint, why):
    found = read(text)
    (problem,) = found.problems
    assert (problem.code, problem.line, problem.field) == (code, line, field), why
    assert hint in problem.hint
    assert problem.is_error
    assert found.resources == ()
    assert [document.is_rejected for document in found.unread] == [True]


@pytest.mark.parametrize(
    ("text", "level", "why"),
    [
        (
            "type: Microsoft.Cache/redis\napiVersion: 2023-08-01\nname: x\n",
            Level.WARNING,
            "a resource as ARM writes it",
        ),
        ("type: microsoft.cache/Redis@2023-08-01\nname: x\n", Level.WARNING, "as Bicep writes it, in another case"),
        ('{"type": "Microsoft.Cache/redis", "apiVersion": "2023-08-01", "kind": "x"}', Level.WARNING, "ARM has kinds"),
        ("type: Microsoft.Cache/redis@2023-08-01\nmetadata: {name: x}\n", Level.ERROR, "with the header of a manifest"),
        ("type: Microsoft.Cache/redis@2023-08-01\nspec: {sku: x}\n", Level.ERROR, "with its spec"),
    ],
)
def test_a_resource_in_the_form_of_arm_beside_manifests_is_reported(text, level, why):
    """It is not a manifest with a mistake, unless it has parts of one; it may be one, so it holds deletes."""
    found = read(text)
    (problem,) = found.problems
    assert (problem.code, problem.level, problem.field) == ("ArmType", level, "type"), why
    assert "kind Redis of group cache.azure.com" in problem.hint
    assert [document.is_rejected for document in found.unread] == [True]


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (redis("kind", "Kind"), SEEN, "another case"),
        (redis("kind", "kin"), SEEN, "a letter is missing"),
        (redis("apiVersion", "apiversion"), SEEN, "another case"),
        (redis("metadata", "metdata"), SEEN, "a letter is missing"),
        (redis("  name: store", "  nme: store"), SEEN, "a letter is missing below metadata"),
        (redis("azure.com", "azure.cm"), SEEN | {"api_version": "cache.azure.cm/v1api20230801"}, "as it is written"),
        (redis("Redis", "Re/dis"), SEEN | {"kind": "Re/dis"}, "a kind that is not one"),
        (redis("  name: store\n", "  generateName: x\n"), SEEN | {"name": ""}, "without a name"),
        (redis("azureName", "azurename").replace("Redis", "Re/dis"), SEEN | {"kind": "Re/dis"}, "misspelt in the spec"),
        (redis("  name: store", "  name: [store]"), SEEN | {"name": ""}, "no text"),
        (REDIS + "\tx", dict.fromkeys(SEEN, ""), "not YAML"),
        (redis("Redis", "*redis"), dict.fromkeys(SEEN, ""), "an alias without an anchor"),
    ],
)
def test_a_rejected_document_is_named_as_far_as_it_can_be_recognised(text, expected, why):
    (one,) = read(text).unread
    assert {field: getattr(one, field) for field in SEEN} == expected, why
    assert one.is_rejected


def test_a_misspelt_spec_is_an_error_of_the_resource():
    (resource,) = read(redis("spec", "Spec")).resources
    assert [(p.code, p.line, p.field) for p in resource.problems] == [("MisspeltField", 5, "Spec")]


LOOK_ALIKES = {
    "an AzureResource of others": ANY.replace("azure.gitsync", "x.org").replace("  type: M", "  kind: M"),
    "a Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: 1}\n",
    "a Service": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: []}\n",
    "a Job of Kubernetes": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n",
    "a patch without an apiVersion": "kind: Deployment\nmetadata: {name: x}\nspec: {replicas: 2}\n",
    "a kubeconfig": "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n",
    "OpenShift's kinds had no group": "apiVersion: v1\nkind: Route\nmetadata: {name: x}\nspec: {host: y}\n",
    "a HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {values: {}}\n",
    "a Kustomization of Flux": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\n",
    "an Application of Argo": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\nspec: {project: y}\n",
    "CAPZ": "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureCluster\nmetadata: {name: x}\n",
    "Crossplane has our kinds": "apiVersion: azure.upbound.io/v1beta1\nkind: ResourceGroup\nmetadata: {name: x}\nspec: {}\n",
    "and our groups before its own": "apiVersion: cache.azure.upbound.io/v1beta1\nkind: RedisCache\nmetadata: {name: x}\n",
    "the older one": "apiVersion: network.azure.crossplane.io/v1alpha3\nkind: VirtualNetwork\nmetadata: {name: x}\n",
    "a Composition": (
        "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: x}\n"
        "spec:\n  resources:\n  - base: {apiVersion: cache.azure.com/v1api20230801, kind: Redis}\n"
    ),
    "a graph of kro": (
        "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: x}\n"
        "spec:\n  resources:\n  - id: a\n    template: {apiVersion: cache.azure.com/v1api20230801, kind: Redis}\n"
    ),
    "a CRD of ASO": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: redis.cache.azure.com}\n"
        "spec: {group: cache.azure.com, names: {kind: Redis}}\n"
    ),
    "the first ASO": "apiVersion: azure.microsoft.com/v1alpha1\nkind: ResourceGroup\nmetadata: {name: x}\nspec: {}\n",
    "Karpenter": "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: x}\n",
    "routing of AKS": "apiVersion: approuting.kubernetes.azure.com/v1alpha1\nkind: NginxIngressController\nmetadata: {name: x}\nspec: {}\n",
    "Backstage has owners": (
        "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: x}\nspec: {owner: team, type: service}\n"
    ),
    "a values file": "redis:\n  apiVersion: cache.azure.com/v1api20230801\n  kind: Redis\nspec: {owner: team}\n",
    "a values file with extra objects": f"extra:\n- {json.dumps({'apiVersion': 'cache.azure.com/v1', 'kind': 'Redis'})}\n",
    "Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\ntype: application\n",
    "a workflow": "name: ci\non: [push]\njobs:\n  test: {runs-on: ubuntu-latest}\n",
    "a pipeline of Azure": "trigger: [main]\nresources: {repositories: []}\nsteps: []\n",
    "docker compose": "version: '3'\nservices:\n  redis: {image: redis}\n",
    "OpenAPI": "openapi: 3.0.0\ninfo: {title: x}\npaths: {}\ncomponents: {}\n",
    "Grafana": "apiVersion: 1\ndatasources: []\n",
    "Drone": "kind: pipeline\ntype: docker\nname: default\nsteps: []\n",
    "a configuration of kustomize": "nameReference:\n- kind: ResourceGroup\n  group: resources.azure.com\n  fieldSpecs: []\n",
    "patches": "- op: replace\n  path: /spec/owner\n  value: {name: rg}\n",
    "a list of people": "- kind: owner\n  metadata: x\n",
    "a policy as Azure exports it": (
        '{"type": "Microsoft.Authorization/policyDefinitions", "apiVersion": "2021-06-01", "name": "x", "properties": {}}'
    ),
    "what az shows": '{"id": "/subscriptions/0", "type": "Microsoft.Cache/redis", "name": "x", "properties": {}}',
    "a package": '{"name": "x", "version": "1.0.0", "type": "module", "dependencies": {}}',
    "a file of Terraform": '{"resource": {"azurerm_redis_cache": {"x": {"name": "x"}}}}',
    "an ARM template": json.dumps(
        {
            "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
            "contentVersion": "1.0.0.0",
            "resources": [{"type": "Microsoft.Cache/redis", "apiVersion": "2023-08-01", "name": "x"}],
        }
    ),
    "an encrypted values file": "password: ENC[AES256_GCM,data:x]\nsops: {mac: x}\n",
}


@pytest.mark.parametrize("why", LOOK_ALIKES)
def test_what_looks_alike_is_skipped(why):
    found = read(LOOK_ALIKES[why])
    assert (found.problems, found.resources) == ((), ())
    assert [document.is_rejected for document in found.unread] == [False]


def test_what_is_skipped_is_named_in_the_order_of_the_files():
    texts = [LOOK_ALIKES[why] for why in ("a Service", "a workflow", "an ARM template")]
    found = read_manifests({"b.yaml": texts[1].encode(), "a.yaml": f"{texts[0]}---\n{texts[2]}\n".encode()})
    assert found.unread == (
        UnreadDocument(source=SourceLocation("a.yaml", 1), api_version="v1", kind="Service", name="x"),
        UnreadDocument(source=SourceLocation("a.yaml", 6), form="ARM template"),
        UnreadDocument(source=SourceLocation("b.yaml", 1)),
    )
    assert found.skipped_documents == 3


def indented(text):
    return text.strip().replace("\n", "\n  ")


@pytest.mark.parametrize(
    ("text", "names", "why"),
    [
        (f"apiVersion: v1\nkind: Lst\nitems:\n- {indented(REDIS)}\n", ["store"], "the kind is misspelt"),
        (f"apiVersion: v1\nKind: List\nitems:\n- {indented(REDIS)}\n", ["store"], "its key is"),
        (
            f"apiVersion: v1\nkind: List\nitmes:\n- {indented(REDIS)}\n- {indented(GROUP)}\n",
            ["store", "rg"],
            "items is",
        ),
        (f"kind: Lst\nitems:\n- {indented(redis('azure.com', 'azure.cm'))}\n", ["store"], "and what is in it"),
        (f"- {indented(REDIS)}\n- a\n- {indented(GROUP)}\n", ["store", "rg"], "it is a bare list"),
    ],
)
def test_a_list_that_kubernetes_does_not_read_is_an_error(text, names, why):
    found = read(text)
    assert [problem.code for problem in found.problems] == ["InvalidList"], why
    assert [(document.name, document.is_rejected) for document in found.unread] == [(name, True) for name in names]


def test_lists_that_are_nested_too_deep_are_an_error():
    text = json.dumps({"apiVersion": "cache.azure.com/v1", "kind": "Redis", "metadata": {"name": "x"}})
    for _ in range(12):
        text = f'{{"apiVersion": "v1", "kind": "List", "items": [{text}]}}'
    found = read(text, "a.json")
    assert [problem.code for problem in found.problems] == ["InvalidList"]
    assert [document.is_rejected for document in found.unread] == [True]


@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        (REDIS + GROUP, ["rg"], "the second hides the first"),
        (REDIS + LOOK_ALIKES["a Deployment"], [], "another's hides ours"),
    ],
)
def test_two_documents_without_a_separator_are_an_error(text, kept, why):
    found = read(text)
    assert [resource.key.name for resource in found.resources] == kept
    problems = [*found.problems, *(problem for resource in found.resources for problem in resource.problems)]
    assert {problem.code for problem in problems} == {"DuplicateKey"}, why
    first = problems[0]
    assert first.message == f"A second manifest starts on line {first.line}, and no --- separates it from the first."
    assert text.splitlines()[first.line - 1].startswith(("apiVersion:", "kind:"))
    assert UnreadDocument(source=SourceLocation("a.yaml", 1), is_rejected=True) in found.unread


def header_mutated(text, draw):
    """A manifest with one letter of its first four lines changed, left out or put in."""
    head, rest = "".join(text.splitlines(True)[:4]), "".join(text.splitlines(True)[4:])
    at, letter = draw.randrange(len(head) - 1), draw.choice("aZ0 .:/-#\"'\t*&!|{[%@\n")
    until = at if draw.random() < 0.3 else at + 1
    return head[:at] + draw.choice([letter, ""]) + head[until:] + rest


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_wrong_letter_makes_a_manifest_vanish(path):
    draw = random.Random(path.name)
    texts = [text.lstrip("\n") for text in path.read_text().split("\n---\n")]
    for text in (text for text in texts if text.startswith("apiVersion") and ".azure.com/" in text.splitlines()[0]):
        for _ in range(60):
            mutated = header_mutated(text, draw)
            found = read(mutated)
            assert found.resources or any(document.is_rejected for document in found.unread), mutated


def test_a_mapping_of_many_keys_takes_no_time():
    text = json.dumps({f"apiVers{number}": "x" for number in range(25_000)})
    began = process_time()
    (one,) = read(text, "a.json").unread
    assert (one.api_version, one.is_rejected) == ("", False)
    assert process_time() - began < 5

"""ASO objects inside objects of CAPZ: what becomes a resource, with which values, and on which lines."""

import pytest

from gitsync.desired.manifests.policy_annotations import decide_policy
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_values import VariableSet
from gitsync.model.reconcile_policy import Policy
from gitsync.model.unit import Substitution, Unit, UnitOptions
from gitsync.model.variables import VariableValues

CLUSTER = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: prod, namespace: fleet}
spec:
  clusterNetwork:
    services: {cidrBlocks: [10.0.0.0/16]}
    pods: {cidrBlocks: [10.1.0.0/16]}
  controlPlaneRef: {kind: AzureASOManagedControlPlane, name: prod-plane}
  infrastructureRef: {kind: AzureASOManagedCluster, name: prod}
"""
POOL = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {name: a, namespace: fleet}
spec:
  clusterName: prod
  replicas: 3
  template:
    spec:
      version: v1.30.1
      infrastructureRef: {kind: AzureASOManagedMachinePool, name: a}
"""
OWNED = "{owner: {name: other}, kubernetesVersion: 1.29.0, networkProfile: {serviceCidr: 10.9.0.0/16, podCidr: 10.8.0.0/16}}"


def wrapped(kind, name, inside, *, extra="", version="v1beta1", namespace="fleet"):
    """An object of CAPZ with one ASO object in its line 7."""
    aso_kind, metadata, spec = inside
    group = "resources" if aso_kind == "ResourceGroup" else "containerservice"
    return (
        f"apiVersion: infrastructure.cluster.x-k8s.io/{version}\nkind: {kind}\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\nspec:\n{extra}  resources:\n"
        f"  - apiVersion: {group}.azure.com/v1api20240901\n    kind: {aso_kind}\n"
        f"    metadata: {metadata}\n    spec: {spec}\n"
    )


GROUP = wrapped("AzureASOManagedCluster", "prod", ("ResourceGroup", "{name: prod-rg}", "{location: westeurope}"))
PLANE = wrapped(
    "AzureASOManagedControlPlane", "prod-plane", ("ManagedCluster", "{}", "{}"), extra="  version: v1.30.1\n"
)
MACHINES = wrapped("AzureASOManagedMachinePool", "a", ("ManagedClustersAgentPool", "{}", "{}"))


def read(*documents, unit=None, variables=None):
    files = {f"{index}.yaml": text.encode() for index, text in enumerate(documents)}
    units = dict.fromkeys(files, unit) if unit else {}
    return read_manifests(files, units=units, **({"variables": variables} if variables else {}))


def specs(found):
    return {resource.key.kind: resource.spec for resource in found.resources}


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1beta2"])
def test_an_object_of_capz_becomes_the_resources_inside_it(version):
    text = wrapped(
        "AzureASOManagedCluster",
        "prod",
        ("ResourceGroup", "{name: rg, namespace: x}", "{location: y}"),
        version=version,
    )
    (group,) = read(text).resources
    assert str(group.key) == "ResourceGroup.resources.azure.com/fleet/rg", "CAPZ sets its own namespace"
    assert (group.source.path, group.source.line, group.lines.find(("spec", "location"))) == ("0.yaml", 6, 9)
    assert (group.wrapper.kind, group.wrapper.is_template) == ("AzureASOManagedCluster", False)


def test_values_of_cluster_api_are_filled_in_wherever_they_are():
    found = specs(read(PLANE, MACHINES, CLUSTER, POOL, GROUP))
    network = {"serviceCidr": "10.0.0.0/16", "podCidr": "10.1.0.0/16"}
    assert found["ManagedCluster"] == {
        "owner": {"name": "prod-rg"},
        "kubernetesVersion": "1.30.1",
        "networkProfile": network,
    }
    assert found["ManagedClustersAgentPool"] == {
        "owner": {"name": "prod-plane"},
        "orchestratorVersion": "1.30.1",
        "count": 3,
    }, "the ManagedCluster without a name has that of its control plane"


@pytest.mark.parametrize(
    ("documents", "kind", "spec", "why"),
    [
        ([PLANE.replace("spec: {}", f"spec: {OWNED}"), CLUSTER, GROUP], "ManagedCluster", OWNED, "what the author wrote stays"),
        ([PLANE.replace("  version: v1.30.1\n", ""), GROUP], "ManagedCluster", "{owner: {name: prod-rg}}", "the only group, without a Cluster"),
        ([PLANE, GROUP.replace("namespace: fleet", "namespace: other")], "ManagedCluster", "{kubernetesVersion: 1.30.1}", "nothing of another namespace"),
        ([PLANE, GROUP, GROUP.replace("prod", "dev")], "ManagedCluster", "{kubernetesVersion: 1.30.1}", "two groups, and nothing that says which"),
        ([PLANE, CLUSTER.partition("  clusterNetwork")[0] + CLUSTER[CLUSTER.index("  controlPlaneRef") :], GROUP, GROUP.replace("prod", "dev")], "ManagedCluster", "{owner: {name: prod-rg}, kubernetesVersion: 1.30.1}", "the Cluster says which"),
        ([MACHINES.replace("spec: {}", "spec: {enableAutoScaling: true}"), POOL], "ManagedClustersAgentPool", "{enableAutoScaling: true, orchestratorVersion: 1.30.1}", "an autoscaler sets the count"),
        ([MACHINES, POOL.replace("name: a, namespace", "name: a, annotations: {cluster.x-k8s.io/replicas-managed-by: x}, namespace")], "ManagedClustersAgentPool", "{orchestratorVersion: 1.30.1}", "so does another controller"),
        ([PLANE.replace("spec: {}", "spec: {networkProfile: none}"), CLUSTER, GROUP], "ManagedCluster", "{networkProfile: none, owner: {name: prod-rg}, kubernetesVersion: 1.30.1}", "a value of another form stays"),
    ],
)  # fmt: skip
def test_only_what_is_plain_is_filled_in(documents, kind, spec, why):
    expected = read(wrapped("AzureASOManagedCluster", "x", ("ResourceGroup", "{}", spec))).resources[0].spec
    assert specs(read(*documents))[kind] == expected, why


@pytest.mark.parametrize(
    ("version", "expected"),
    [("${VERSION}", "1.31.0"), ("${VERSION:-v1.30.0}", None), ("v${NUMBER}", "1.31.0")],
)
def test_variables_are_replaced_in_what_is_filled_in(version, expected):
    unit = Unit(name="u", path="u", options=UnitOptions(substitution=Substitution()))
    values = {"VERSION": "v1.31.0", "NUMBER": "1.31.0"}
    variables = VariableSet(by_unit={"u": VariableValues(known=values)})
    plane = PLANE.replace("v1.30.1", version).replace("name: prod-plane", "name: '${NUMBER}'")
    (cluster,) = read(plane, unit=unit, variables=variables).resources
    assert (cluster.spec.get("kubernetesVersion"), cluster.key.name) == (expected, "1.31.0")


@pytest.mark.parametrize(
    ("kind", "manages", "policy", "reason"),
    [
        ("AzureASOManagedCluster", False, Policy.SKIP, "CAPZ manages it: it is part of an AzureASOManagedCluster."),
        ("AzureASOManagedCluster", True, Policy.MANAGE, ""),
        ("AzureASOManagedClusterTemplate", True, Policy.SKIP, "It is part of a template, AzureASOManagedClusterTemplate, from which CAPZ creates clusters."),
    ],
)  # fmt: skip
def test_capz_manages_what_it_wraps_unless_the_unit_sets_otherwise(kind, manages, policy, reason):
    metadata = "{annotations: {serviceoperator.azure.com/reconcile-policy: manage}}"  # an order to ASO, not to gitsync
    text = wrapped(kind, "prod", ("ResourceGroup", metadata, "{location: westeurope}"))
    if kind.endswith("Template"):
        head, _, resources = text.partition("  resources:\n")
        text = f"{head}  template:\n    spec:\n      resources:\n" + "".join(
            f"    {line}\n" for line in resources.splitlines()
        )
    unit = Unit(name="fleet", path="fleet", options=UnitOptions(manages_capz=manages))
    (group,) = read(text, unit=unit).resources
    decision = decide_policy(group, {}, Policy.MANAGE)
    assert (decision.policy, decision.reason) == (policy, reason)


@pytest.mark.parametrize(
    ("text", "skipped_documents", "why"),
    [
        (GROUP.partition("  resources")[0].replace("spec:\n", "spec: {}\n"), 1, "an empty object of CAPZ"),
        (GROUP.replace("AzureASOManagedCluster", "AzureCluster"), 1, "an object of CAPZ of another kind"),
        (GROUP.replace("infrastructure.cluster.x-k8s.io", "infrastructure.example.com"), 1, "the same kind of somebody else"),
        (GROUP.replace("metadata: {name: prod, namespace: fleet}\n", ""), 1, "an object without metadata"),
    ],
)  # fmt: skip
def test_what_wraps_nothing_is_skipped(text, skipped_documents, why):
    found = read(text)
    assert (found.resources, found.skipped_documents) == ((), skipped_documents), why


@pytest.mark.parametrize(
    ("resources", "code", "line"),
    [
        ("[{apiVersion: resources.azure.com/v1, kind: ResourceGroup, metadata: {name: A/b}, spec: {}}]", "InvalidName", 1),
        ("[{apiVersion: resources.azure.con/v1api20200601, kind: ResourceGroup, spec: {}}]", "UnknownGroup", 1),
        ("[{apiVersion: resources.azure.com/v1, kind: ResourceGroup, metadata: [], spec: {}}]", "InvalidMetadata", 1),
        ("[{apiVersion: resources.azure.com/v1, kind: ResourceGroup, spec: [1]}]", "InvalidSpec", 1),
        ("[{apiVersion: resources.azure.com/v1, kind: ResourceGroup, spec: {location: a, location: b}}]", "DuplicateKey", 1),
    ],
)  # fmt: skip
def test_what_is_wrong_inside_is_a_problem_with_its_line(resources, code, line):
    text = (
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureASOManagedCluster\n"
        f"metadata: {{name: prod}}\nspec:\n  resources: {resources}\n"
    )
    found = read(text)
    problems = [*found.problems, *(problem for resource in found.resources for problem in resource.problems)]
    assert [(problem.code, problem.path, problem.line) for problem in problems] == [(code, "0.yaml", line + 4)]

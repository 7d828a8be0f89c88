"""Runs over a source with objects of CAPZ: CAPZ writes what is inside of them, and gitsync what depends on that."""

import pytest

from gitsync.model.result import Outcome
from gitsync.model.verdict import Verdict
from tests.support.world import GROUP_ID, World, of

MANAGE = "units:\n- {path: fleet, capz: manage}\n"
WRAPPED = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: core}
spec:
  resources:
  - apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {annotations: {serviceoperator.azure.com/reconcile-policy: manage}}
    spec: {location: westeurope}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedControlPlane
metadata: {name: core}
spec:
  resources:
  - apiVersion: containerservice.azure.com/v1api20231001
    kind: ManagedCluster
    metadata: {annotations: {serviceoperator.azure.com/credential-from: of-another-cluster}}
    spec: {location: westeurope, dnsPrefix: core}
"""
NETWORK = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: hub}
spec: {location: westeurope, owner: {name: core}, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
"""
NETWORK_ID = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path).says_files({"fleet/cluster.yaml": WRAPPED, "fleet/network.yaml": NETWORK})


def test_what_capz_creates_is_waited_for_read_and_never_written(world):
    planned, synced = world.plan(), world.sync()
    for report in (planned, synced):
        group = of(report, "ResourceGroup")
        assert (report.exit_code, group.outcome, group.verdict) == (0, Outcome.BLOCKED, Verdict.BLOCKED)
        assert group.condition.message == "It does not exist yet; CAPZ creates it."
        assert of(report, "VirtualNetwork").ending.blocked_by == group.key
    assert world.writes == []
    world.outside("PUT", GROUP_ID, {"location": "northeurope"})
    report = world.sync()
    assert (of(report, "ResourceGroup").verdict, report.exit_code) == (Verdict.SKIP, 0), "whatever it looks like"
    assert of(report, "ResourceGroup").message == "CAPZ manages it: it is part of an AzureASOManagedCluster."
    assert world.writes == [f"PUT {NETWORK_ID}"]


def test_a_credential_of_capz_that_is_not_here_fails_nothing(world):
    cluster = of(world.sync(), "ManagedCluster")
    assert (cluster.outcome, cluster.ending.is_tolerated) == (Outcome.BLOCKED, True)
    assert cluster.condition.message == 'credential Secret "default/of-another-cluster" does not exist'


def test_a_field_that_only_capz_has_fails_nothing(world):
    pool = (
        WRAPPED.partition("---")[2]
        .replace("ControlPlane", "MachinePool")
        .replace("ManagedCluster\n", "ManagedClustersAgentPool\n")
    )
    pool = (
        pool.replace("{serviceoperator.azure.com/credential-from: of-another-cluster}", "{}")
        .replace(", dnsPrefix: core", "")
        .replace("location: westeurope", "mode: User")
    )
    world.says_files({"fleet/pool.yaml": pool})
    for report in (world.plan(), world.sync()):
        found = of(report, "ManagedClustersAgentPool")
        assert (report.exit_code, found.ending.is_tolerated, found.condition.message) == (
            0,
            True,
            "spec.owner is required.",
        )


def test_what_is_no_longer_wrapped_stays_in_azure(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    world.sync()
    report = world.says_files({"fleet/network.yaml": NETWORK.replace("name: core", f"armId: {GROUP_ID}")}).sync(
        prune=True
    )
    assert (report.exit_code, world.sent("DELETE")) == (0, [])


def test_a_unit_may_take_over_what_capz_manages(world):
    files = {"fleet/cluster.yaml": WRAPPED.partition("---")[0], "fleet/network.yaml": NETWORK, "gitsync.yaml": MANAGE}
    report = world.says_files(files).sync()
    assert (report.exit_code, world.writes) == (0, [f"PUT {GROUP_ID}", f"PUT {NETWORK_ID}"])

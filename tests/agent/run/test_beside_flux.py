"""The steps of docs/from-aso.md beside Flux, with objects as a cluster exports them: nothing is written on the way from
ASO to gitsync.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.cli.offline import read_offline
from gitsync.model.reconcile_policy import Policy
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.cluster_objects import make_list, make_object
from tests.support.programs import needs_build_tool
from tests.support.world import GROUP_ID, VNET_ID, World, of

pytestmark = needs_build_tool

PREFIXES = {"addressPrefixes": ["10.0.0.0/16"]}
SKIP = {"serviceoperator.azure.com/reconcile-policy": "skip"}
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec:
  interval: 10m
  path: ./infra/prod
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""


def export_all(more: Mapping[str, str]) -> str:
    """`kubectl get resourcegroups,virtualnetworks -o yaml`."""
    metadata = {"namespace": "platform", "annotations": dict(more)}
    group = {
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "metadata": {"name": "core", **metadata},
        "spec": {"location": "westeurope"},
    }
    hub = {
        "apiVersion": "network.azure.com/v1api20240301",
        "kind": "VirtualNetwork",
        "metadata": {"name": "hub", **metadata},
        "spec": {"location": "westeurope", "owner": {"name": "core"}, "addressSpace": PREFIXES},
    }
    owner = {"apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup", "name": "core"}
    return make_list([make_object(group, GROUP_ID), make_object(hub, VNET_ID, owner=owner)])


def test_from_a_cluster_to_gitsync_alone_without_a_write(tmp_path):
    world = World(tmp_path)
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    body = {"location": "westeurope", "properties": {"addressSpace": PREFIXES}}
    world.outside("PUT", VNET_ID, body, api_version="2024-03-01")
    tree = {"clusters/prod/infra.yaml": FLUX, "infra/prod/azure.yaml": export_all(SKIP)}

    world.says_files(tree)
    found = read_offline(Config(source=str(world.folder), path="clusters/prod"), Redactions())
    assert (found.problems, {resource.policy for resource in found.prepared}) == ((), {Policy.SKIP}), (
        "exported with ASO's policy"
    )
    assert (world.plan(path="clusters/prod").exit_code, world.writes) == (0, [])

    tree["infra/prod/azure.yaml"] = export_all({})
    planned = world.says_files(tree).plan(prune=True, path="clusters/prod")
    assert (planned.exit_code, planned.problems, world.writes) == (0, (), []), "the first plan has no writes"
    synced = world.sync(prune=True, path="clusters/prod")
    assert (synced.exit_code, world.writes) == (0, [])
    assert of(synced, "VirtualNetwork").arm_id == VNET_ID

    tree["azure/prod/infra.yaml"] = tree.pop("clusters/prod/infra.yaml")
    moved = world.says_files(tree).sync(prune=True, path="azure/prod")
    assert (moved.exit_code, len(moved.results), world.writes) == (0, 2, []), "Flux no longer has the object"

    tree["infra/prod/azure.yaml"] = export_all({}).replace("10.0.0.0/16", "10.0.0.0/15")
    world.says_files(tree).sync(prune=True, path="azure/prod")
    assert world.sent("PUT") == [VNET_ID], "from now on, gitsync writes"

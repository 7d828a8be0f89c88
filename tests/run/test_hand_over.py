"""The steps of docs/from-aso.md, with the objects of a cluster that runs ASO: no step writes to Azure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from cluster_objects import aso, make_list, make_object
from estate import BESIDE, estate
from world import CATALOG, World

from gitsync.git.state.yaml_text import dump
from gitsync.imports.cluster_export import ClusterExport, read_cluster_export
from gitsync.model.gvk import GVK, Key
from gitsync.model.verdict import Verdict

RESOURCES = 25


@pytest.fixture
def cluster(tmp_path) -> World:
    """What ASO has made of the manifests: Azure has all of them."""
    (tmp_path / "cluster").mkdir()
    world = World(tmp_path / "cluster")
    files = {f"{name}.yaml": text for name, text in estate(RESOURCES).items()}
    assert world.says_files(files).sync().exit_code == 0
    return world


def export(cluster: World, policy: str = "") -> ClusterExport:
    """`kubectl get -o yaml` of everything in the namespace, Secrets too, as gitsync reads it."""
    ids = {one.key: one.arm_id for one in cluster.plan().results}
    texts = [file.read_text() for file in sorted(cluster.folder.glob("*.yaml"))]
    documents = [one for text in texts for one in yaml.safe_load_all(text)]
    objects = [_make_object(cluster, one, ids, policy) if "spec" in one else one for one in documents]
    return read_cluster_export({"export.yaml": make_list(objects).encode()}, CATALOG)


def _make_object(
    cluster: World, manifest: Mapping[str, Any], ids: Mapping[Key, str | None], policy: str
) -> dict[str, Any]:
    gvk = GVK.parse(manifest["apiVersion"], manifest["kind"])
    arm_id = ids[Key(gvk.group, gvk.kind, "default", manifest["metadata"]["name"])] or ""
    kind = CATALOG.kind(gvk)
    assert kind is not None
    made = make_object(manifest, arm_id, live=cluster.read(arm_id, kind.api_version))
    if kind.fixed_azure_name is not None:
        del made["spec"]["azureName"]
    made["metadata"]["annotations"] |= {aso("reconcile-policy"): policy} if policy else {}
    return made


def test_no_step_from_aso_to_gitsync_writes_to_azure(cluster, tmp_path):
    exported = export(cluster)
    assert (exported.problems, exported.left_out) == ((), {"ConfigMap": 1, "Secret": 1})
    assert len(exported.manifests) == RESOURCES

    world = World(tmp_path)
    world.store, world.clock = cluster.store, cluster.clock
    text = b"---\n".join(dump(one.document) for one in exported.manifests.values()).decode()
    world.says_files({"azure.yaml": text, "beside.yaml": BESIDE})
    planned = world.plan()
    assert (planned.exit_code, planned.problems, world.writes) == (0, (), [])
    assert {one.key: one.arm_id for one in planned.results} == {key: m.arm_id for key, m in exported.manifests.items()}
    assert {one.action.value for one in planned.results} == {"none"}, "a sync would write nothing"

    later = export(cluster, "skip").manifests.values()
    policies = {one.document["metadata"]["annotations"][aso("reconcile-policy")] for one in later}
    assert policies == {"skip"}, "an export after the policy was set has it too, so the export comes first"
    synced = world.sync(prune=True)
    assert (synced.exit_code, world.writes, len(synced.results)) == (0, [], RESOURCES)
    assert {one.verdict for one in world.sync(prune=True).results} == {Verdict.IN_SYNC}, "and the next run is silent"
    assert world.writes == []

    world.says_files({"azure.yaml": text.replace("team-01", "team-one"), "beside.yaml": BESIDE}).sync()
    assert world.writes, "from now on, gitsync writes what changes in git"

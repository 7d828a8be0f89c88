"""The steps of docs/from-aso.md, with the objects of a cluster that runs ASO: no step writes to Azure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitsync.cli.main import run
from gitsync.model.gvk import GVK, Key
from gitsync.model.verdict import Action, Verdict
from tests.agent.run.estate import BESIDE, estate
from tests.support.cluster_objects import aso, make_list, make_object
from tests.support.git_repositories import commit_all
from tests.support.world import CATALOG, World

RESOURCES = 25


@pytest.fixture
def cluster(tmp_path) -> tuple[World, dict[Key, str | None]]:
    """What ASO has made of the manifests: Azure has all of them. With their ids."""
    (tmp_path / "cluster").mkdir()
    world = World(tmp_path / "cluster")
    files = {f"{name}.yaml": text for name, text in estate(RESOURCES).items()}
    report = world.says_files(files).sync()
    assert report.exit_code == 0
    return world, {result.key: result.arm_id for result in report.results}


def export(cluster: World, ids: Mapping[Key, str | None], folder: Path, policy: str = "") -> str:
    """`kubectl get -o yaml` of everything in the namespace, Secrets too, in a file."""
    texts = [file.read_text() for file in sorted(cluster.folder.glob("*.yaml"))]
    documents = [document for text in texts for document in yaml.safe_load_all(text)]
    objects = [
        _make_object(cluster, document, ids, policy) if "spec" in document else document for document in documents
    ]
    file = folder / f"export{policy}.yaml"
    file.write_text(make_list(objects))
    return str(file)


def _make_object(
    cluster: World, manifest: Mapping[str, Any], ids: Mapping[Key, str | None], policy: str
) -> dict[str, Any]:
    gvk = GVK.parse(manifest["apiVersion"], manifest["kind"])
    arm_id = ids[Key(gvk.group, gvk.kind, "default", manifest["metadata"]["name"])] or ""
    kind = CATALOG.kind(gvk)
    assert kind is not None
    made = make_object(manifest, arm_id, live=cluster.azure().resource(arm_id))
    if kind.fixed_azure_name is not None:
        del made["spec"]["azureName"]
    made["metadata"]["annotations"] |= {aso("reconcile-policy"): policy} if policy else {}
    return made


def test_no_step_from_aso_to_gitsync_writes_to_azure(cluster, tmp_path, capsys):
    cluster, ids = cluster
    world = World(tmp_path)
    world.store, world.clock = cluster.store, cluster.clock
    (world.folder / "beside.yaml").write_text(BESIDE)
    assert run(["import", "--from-cluster-export", export(cluster, ids, tmp_path), "--out", str(world.folder)]) == 0
    shown = capsys.readouterr().out
    assert "2  objects that are not manifests of Azure resources: ConfigMap, Secret\n" in shown
    assert f"{RESOURCES} manifests imported, {RESOURCES} for the resource that ASO has recorded.\n" in shown

    commit_all(world.folder)
    planned = world.plan()
    assert (planned.exit_code, planned.problems, world.writes) == (0, (), [])
    assert {result.action for result in planned.results} == {Action.NONE}, "a sync would write nothing"

    run(["import", "--from-cluster-export", export(cluster, ids, tmp_path, "skip"), "--out", str(tmp_path / "later")])
    later = [text.read_text() for text in (tmp_path / "later").rglob("*.yaml")]
    assert sum(text.count("reconcile-policy: skip") for text in later) == RESOURCES, "so the export comes first"

    synced = world.sync(prune=True)
    assert (synced.exit_code, world.writes, len(synced.results)) == (0, [], RESOURCES)
    assert {result.verdict for result in world.sync(prune=True).results} == {Verdict.IN_SYNC}, "the next run is silent"
    assert world.writes == []

    file = next(iter(world.folder.rglob("resource-group.yaml")))
    file.write_text(file.read_text().replace("team-01", "team-one"))
    commit_all(world.folder)
    world.sync()
    assert world.writes, "from now on, gitsync writes what changes in git"

"""Runs of resources that `gitsync/depends-on` orders: creates, deletes in reverse, and failures."""

from __future__ import annotations

import pytest

from gitsync.agent.run.shards import cut_shards, list_members
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.programs import needs_build_tool
from tests.support.world import CATALOG, SUBSCRIPTION, World

ORDER = "gitsync/depends-on"


def group(name, after=""):
    return f"""
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {name}
  annotations: {{{ORDER}: "{after}"}}
spec: {{location: westeurope}}
"""


def budget(name, after=""):
    return f"""
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata:
  name: {name}
  annotations: {{{ORDER}: "{after}"}}
spec:
  type: Microsoft.Consumption/budgets@2023-11-01
  owner: {{armId: /subscriptions/{SUBSCRIPTION}}}
  body: {{properties: {{amount: 5}}}}
"""


def path(name):
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"


BUDGET = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Consumption/budgets/limit"
CHAIN = {
    "a": group("a", "AzureResource/limit"),
    "limit": budget("limit", "ResourceGroup/z"),
    "z": group("z"),
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report, name):
    return next(result for result in report.results if result.key.name == name)


def test_a_chain_is_created_in_order_and_then_silent(world):
    world.synced(**CHAIN)
    assert world.writes == [f"PUT {path('z')}", f"PUT {BUDGET}", f"PUT {path('a')}"]
    assert world.sync().exit_code == 0
    assert world.writes == []


def test_a_chain_is_deleted_in_reverse(world):
    world.synced(**CHAIN)
    world.says(other=group("other")).sync(prune=True, max_deletes=3)
    deletes = [write for write in world.writes if write.startswith("DELETE")]
    assert deletes == [f"DELETE {path('a')}", f"DELETE {BUDGET}", f"DELETE {path('z')}"]


def test_a_resource_waits_for_one_that_fails(world):
    refusal = (
        "{match: {method: PUT, path: '*/budgets/*'}, answer: {status: 403, code: AuthorizationFailed, message: No.}}"
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(refusal))
    waiting = find(world.says(**CHAIN).sync(), "a")
    assert (waiting.verdict, waiting.condition.reason) == (Verdict.BLOCKED, "WaitingForDependency")
    assert waiting.condition.message == (
        "gitsync/depends-on names AzureResource.azure.gitsync/default/limit, which is not ready (AuthorizationFailed)."
    )
    world.settings = EmulatorSettings(limits=None)
    assert find(world.sync(), "a").action is Action.CREATE


def test_a_delete_waits_for_a_delete_that_fails(world):
    world.synced(**CHAIN)
    refusal = (
        "{match: {method: DELETE, path: '*/budgets/*'}, answer: {status: 403, code: AuthorizationFailed, message: No.}}"
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(refusal))
    report = world.says(other=group("other")).sync(prune=True, max_deletes=3)
    assert find(report, "z").condition.message == (
        "AzureResource.azure.gitsync/default/limit still exists and must be deleted first."
    )
    assert f"DELETE {path('z')}" not in world.writes
    world.settings = EmulatorSettings(limits=None)
    world.sync(prune=True, max_deletes=3)
    assert world.writes == [f"DELETE {BUDGET}", f"DELETE {path('z')}"]


def test_the_plan_of_a_chain_fits_its_sync(world):
    planned = world.says(**CHAIN).plan()
    assert {result.action for result in planned.results} == {Action.CREATE}
    assert [key.name for key in find(planned, "a").manifest.depends_on] == ["limit"]


def flux(name, *after):
    return f"""
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec:
  path: ./{name}
  prune: true
  interval: 10m
  dependsOn: [{", ".join(f"{{name: {other}}}" for other in after)}]
  sourceRef: {{kind: GitRepository, name: flux-system}}
"""


def held(name):
    return group(name).replace("annotations: {", "annotations: {gitsync/hold: 'until 2026-04-20, incident', ")


UNITS = {"cluster/base.yaml": flux("base"), "cluster/apps.yaml": flux("apps", "base")}
STAYING = {"base/stay.yaml": group("base-stay"), "apps/stay.yaml": group("apps-stay")}


@needs_build_tool
def test_deletes_go_against_the_order_of_units(world):
    world.says_files(UNITS | STAYING | {"base/go.yaml": group("a-base"), "apps/go.yaml": group("z-apps")}).sync()
    assert world.writes.index(f"PUT {path('a-base')}") < world.writes.index(f"PUT {path('z-apps')}")
    world.says_files(UNITS | STAYING).sync(prune=True, max_deletes=2)
    assert world.sent("DELETE") == [path("z-apps"), path("a-base")]


@needs_build_tool
def test_what_is_held_in_the_later_unit_holds_no_delete_in_the_one_before(world):
    world.says_files(UNITS | STAYING | {"base/go.yaml": group("a-base"), "apps/go.yaml": held("z-apps")}).sync()
    report = world.says_files(UNITS | STAYING).sync(prune=True, max_deletes=2)
    assert find(report, "z-apps").verdict is Verdict.HELD
    assert world.sent("DELETE") == [path("a-base")]


@needs_build_tool
def test_a_resource_of_the_later_unit_that_stays_broken_holds_no_delete_in_the_one_before(world):
    refusal = (
        "{match: {method: PUT, path: '*/apps-stay'}, answer: {status: 403, code: AuthorizationFailed, message: No.}}"
    )
    world.says_files(UNITS | STAYING | {"base/go.yaml": group("a-base")}).sync()
    world.settings = EmulatorSettings(limits=None, rules=rules(refusal))
    changed = {"apps/stay.yaml": group("apps-stay").replace("westeurope", "westeurope, tags: {a: b}")}
    report = world.says_files(UNITS | STAYING | changed).sync(prune=True, max_deletes=2)
    assert not find(report, "apps-stay").is_fine
    assert world.sent("DELETE") == [path("a-base")]


def test_a_worker_waits_for_what_another_shard_creates():
    files = {f"{name}.yaml": text.encode() for name, text in CHAIN.items()}
    prepared = prepare(read_manifests(files), catalog=CATALOG, subscription=SUBSCRIPTION)
    shards = cut_shards(list_members(prepared, {}), 3)
    waits = sorted((key.name, other.name) for shard in shards for key, other in shard.waits_for)
    assert waits == [("a", "limit"), ("limit", "z")]

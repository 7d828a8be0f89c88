"""An AzureResource through its whole life, and the hand-over from a kind of ASO to it and back."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.world import SUBSCRIPTION, World

GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
IN_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop"
ACCOUNT_ID = f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/shopfiles"
FLOW_ID = f"{IN_GROUP}/providers/Microsoft.Logic/workflows/orders"
FLOW = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties:
      state: Enabled
      parameters: {$connections: {value: {}}, empty: [], nothing: null}
      definition: {$schema: "https://schema", triggers: {}}
"""
ACCOUNT = """
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: files}
spec:
  azureName: shopfiles
  owner: {name: shop}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  accessTier: Hot
"""
SAME_ACCOUNT = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: files}
spec:
  type: Microsoft.Storage/storageAccounts@2023-01-01
  azureName: shopfiles
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    kind: StorageV2
    sku: {name: Standard_LRS}
    properties: {accessTier: Hot}
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report, kind="AzureResource"):
    return next(result for result in report.results if result.key.kind == kind)


def test_a_resource_is_created_as_it_is_written_and_then_in_sync(world):
    planned = find(world.says(group=GROUP, flow=FLOW).plan())
    assert (planned.action, planned.arm_id) == (Action.CREATE, FLOW_ID)
    assert world.sync().exit_code == 0
    assert world.sent("PUT") == [IN_GROUP, FLOW_ID]
    sent = world.read(FLOW_ID, "2019-05-01")["properties"]
    assert sent["parameters"] == {"$connections": {"value": {}}, "empty": [], "nothing": None}
    assert sent["definition"] == {"$schema": "https://schema", "triggers": {}}
    again = find(world.sync())
    assert (again.verdict, again.action, world.writes) == (Verdict.IN_SYNC, Action.NONE, [])


def test_drift_is_found_and_reverted(world):
    world.says(group=GROUP, flow=FLOW).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    drifted = find(world.plan())
    assert (drifted.verdict, [change.path for change in drifted.differences]) == (
        Verdict.DRIFTED,
        ["/properties/state"],
    )
    (field,) = drifted.comparison.fields.values()
    assert (field.name, field.source.path, field.source.line) == ("spec.body.properties.state", "flow.yaml", 11)
    assert find(world.sync()).action is Action.UPDATE
    assert world.read(FLOW_ID, "2019-05-01")["properties"]["state"] == "Enabled"


def test_a_change_in_git_is_written(world):
    world.says(group=GROUP, flow=FLOW).sync()
    world.says(group=GROUP, flow=FLOW.replace("Enabled", "Disabled"))
    changed = find(world.sync())
    assert (changed.verdict, changed.action) == (Verdict.PENDING, Action.UPDATE)
    assert find(world.sync()).verdict is Verdict.IN_SYNC


def test_a_patch_sends_only_the_difference(world):
    patched = FLOW.replace("{name: orders}", "{name: orders, annotations: {gitsync/update-method: patch}}")
    world.says(group=GROUP, flow=patched).sync()
    world.says(group=GROUP, flow=patched.replace("Enabled", "Disabled")).sync()
    assert world.writes == [f"PATCH {FLOW_ID}"]


def test_a_prune_needs_nothing_but_the_record(world):
    world.says(group=GROUP, flow=FLOW).sync()
    pruned = find(world.says(group=GROUP).sync(prune=True))
    assert pruned.action is Action.DELETE
    assert world.writes == [f"DELETE {FLOW_ID}"]
    assert [result.key.kind for result in world.sync().results] == ["ResourceGroup"]


def test_what_exists_is_adopted(world):
    world.says(group=GROUP).sync()
    world.outside("PUT", FLOW_ID, {"location": "westeurope", "properties": {"state": "Enabled"}})
    adopted = find(world.says(group=GROUP, flow=FLOW).plan())
    assert adopted.verdict is Verdict.ADOPT


@pytest.mark.parametrize(("before", "after"), [(ACCOUNT, SAME_ACCOUNT), (SAME_ACCOUNT, ACCOUNT)])
@pytest.mark.parametrize("name", ["files", "others"])
def test_a_manifest_that_changes_its_kind_takes_the_record_over(world, before, after, name):
    world.says(group=GROUP, files=before).sync()
    world.says(group=GROUP, files=after.replace("{name: files}", f"{{name: {name}}}"))
    report = world.sync(prune=True)
    assert report.exit_code == 0
    assert world.writes == []
    assert {result.action for result in report.results} <= {Action.NONE, Action.DETACH}
    silent = world.sync(prune=True)
    assert {result.verdict for result in silent.results} == {Verdict.IN_SYNC}
    assert world.writes == []
    gone = world.says(group=GROUP).sync(prune=True)
    assert gone.exit_code == 0
    assert world.writes == [f"DELETE {ACCOUNT_ID}"]


def test_drift_is_found_over_a_hand_over(world):
    world.says(group=GROUP, files=ACCOUNT).sync()
    world.somebody_changes(ACCOUNT_ID, {"/properties/accessTier": "Cool"})
    drifted = find(world.says(group=GROUP, files=SAME_ACCOUNT).plan(prune=True))
    assert drifted.verdict is Verdict.DRIFTED
    assert [change.path for change in drifted.differences] == ["/properties/accessTier"]


def test_two_kinds_for_one_resource_are_an_error(world):
    report = world.says(group=GROUP, files=ACCOUNT, same=SAME_ACCOUNT).sync()
    assert report.exit_code != 0
    assert world.writes == [f"PUT {IN_GROUP}"]
    texts = [result.condition.message for result in report.results if result.key.name == "files"]
    assert len(texts) == 2
    assert all("as two kinds" in text for text in texts)


def test_equal_manifests_in_several_namespaces_are_one_resource(world):
    other = "{name: orders, namespace: other}"
    world.says(
        group=GROUP,
        other=GROUP.replace("{name: shop}", "{name: shop, namespace: other}"),
        flow=FLOW,
        again=FLOW.replace("{name: orders}", other),
    )
    assert world.sync().exit_code == 0
    assert world.writes == [f"PUT {IN_GROUP}", f"PUT {FLOW_ID}"]


def test_an_api_version_that_is_not_known_works(world):
    report = world.says(group=GROUP, flow=FLOW.replace("2019-05-01", "2099-05-01")).sync()
    assert report.exit_code == 0
    assert find(world.sync()).verdict is Verdict.IN_SYNC

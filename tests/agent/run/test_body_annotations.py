"""An ASO manifest that is sent at a newer api-version, with members that ASO's version lacks."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.world import SUBSCRIPTION, World, of, read_status
from tests.workflows.accept.test_accept import accept

GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
IN_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop"
ACCOUNT_ID = f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/shopfiles"
PLAIN = """
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: files
spec:
  azureName: shopfiles
  owner: {name: shop}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  accessTier: Hot
  tags: {team: shop}
"""
VERSION = "    gitsync/api-version: 2025-01-01\n"
BODY = """\
    gitsync/body: |
      properties:
        dualStackEndpointPreference: {publishIpv6Endpoint: true}
"""
ENDPOINTS = "/properties/dualStackEndpointPreference/publishIpv6Endpoint"

FIELD = "metadata.annotations.gitsync/body.properties.dualStackEndpointPreference.publishIpv6Endpoint"


def annotated(*annotations: str) -> str:
    return PLAIN.replace("  name: files\n", "".join(("  name: files\n  annotations:\n", *annotations)))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def account(report):
    return of(report, "StorageAccount")


def versions(world):
    """The api-versions of the requests for the account, and for a list that has it."""
    return {request.api_version for request in world.requests if "storageaccounts" in request.path.casefold()}


def properties(world):
    return world.read(ACCOUNT_ID, "2025-01-01")["properties"]


def test_all_requests_have_the_version_and_the_second_run_is_silent(world):
    world.says(group=GROUP, account=annotated(VERSION, BODY))
    assert account(world.plan()).action is Action.CREATE
    assert account(world.sync()).is_fine
    assert versions(world) == {"2025-01-01"}
    assert properties(world)["dualStackEndpointPreference"] == {"publishIpv6Endpoint": True}
    again = account(world.sync())
    assert (again.verdict, again.action, world.writes) == (Verdict.IN_SYNC, Action.NONE, [])
    assert versions(world) == {"2025-01-01"}
    account(world.says(group=GROUP).sync(prune=True))
    assert world.writes == [f"DELETE {ACCOUNT_ID}"]
    assert versions(world) == {"2025-01-01"}


def test_the_annotations_come_to_a_resource_and_leave_it(world):
    world.says(group=GROUP, account=PLAIN).sync()
    world.says(group=GROUP, account=annotated(VERSION, BODY))
    planned = account(world.plan())
    assert [difference.path for difference in planned.differences] == [ENDPOINTS]
    assert account(world.sync()).action is Action.UPDATE
    assert account(world.sync()).verdict is Verdict.IN_SYNC
    world.says(group=GROUP, account=annotated(VERSION))
    given_up = account(world.plan())
    assert given_up.action is Action.UPDATE
    assert [difference.path for difference in given_up.differences] == [ENDPOINTS]
    assert account(world.sync()).action is Action.UPDATE
    assert "dualStackEndpointPreference" not in properties(world)
    assert account(world.sync()).verdict is Verdict.IN_SYNC


def test_both_annotations_leave_at_once(world):
    world.synced(group=GROUP, account=annotated(VERSION, BODY))
    world.says(group=GROUP, account=PLAIN)
    assert account(world.plan()).action is Action.UPDATE
    assert account(world.sync()).is_fine
    assert "dualStackEndpointPreference" not in properties(world)
    assert account(world.sync()).verdict is Verdict.IN_SYNC


def test_null_removes_what_the_spec_has(world):
    world.says(
        group=GROUP, account=annotated("    gitsync/body: '{properties: {accessTier: null}, tags: null}'\n")
    ).sync()
    (body,) = (request.body for request in world.requests if request.method == "PUT" and request.path == ACCOUNT_ID)
    assert "accessTier" not in body.get("properties", {})
    assert "tags" not in body
    assert versions(world) == {"2023-01-01"}


def test_drift_in_a_member_of_the_annotation_is_reverted(world):
    world.synced(group=GROUP, account=annotated(VERSION, BODY))
    world.somebody_changes(ACCOUNT_ID, {ENDPOINTS: False})
    report = world.plan()
    drifted = account(report)
    (field,) = drifted.comparison.fields.values()
    assert (drifted.verdict, field.name) == (Verdict.DRIFTED, FIELD)
    assert (field.source.path, field.source.line) == ("account.yaml", 10)
    accepted = accept(world, report, ("StorageAccount/files",))
    (left,) = accepted.left
    assert (left.field, left.reason) == (FIELD, "Its value is in the annotation gitsync/body.")
    assert account(world.sync()).action is Action.UPDATE
    assert properties(world)["dualStackEndpointPreference"] == {"publishIpv6Endpoint": True}


def test_drift_in_a_field_of_the_spec_is_accepted_there(world):
    world.synced(group=GROUP, account=annotated(VERSION, BODY))
    world.somebody_changes(ACCOUNT_ID, {"/properties/accessTier": "Cool"})
    accept(world, world.plan(), ("StorageAccount/files",))
    assert (world.folder / "account.yaml").read_text() == annotated(VERSION, BODY).replace("Hot", "Cool")


@pytest.mark.parametrize("path", [ENDPOINTS, "/properties/dualStackEndpointPreference", FIELD])
def test_what_the_manifest_ignores_stays(world, path):
    ignored = f"    gitsync/ignore: '[{path}]'\n"
    assert world.says(group=GROUP, account=annotated(VERSION, BODY, ignored)).sync().problems == ()
    world.somebody_changes(ACCOUNT_ID, {ENDPOINTS: False})
    assert account(world.sync()).verdict is Verdict.IN_SYNC


def test_words_stand_for_values_of_other_objects(world):
    body = """\
    gitsync/body: |
      properties:
        owner: {id: {$reference: {group: resources.azure.com, kind: ResourceGroup, name: shop}}}
        password: {$secret: {name: keys, key: first}}
        unlike: {$$secret: plain}
"""
    keys = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {first: Not-really-1}\n"
    world.says(group=GROUP, keys=keys, account=annotated(VERSION.replace("2025", "2099"), body)).sync()
    (body,) = (request.body for request in world.requests if request.method == "PUT" and request.path == ACCOUNT_ID)
    sent = body["properties"]
    assert (sent["owner"], sent["password"], sent["unlike"]) == ({"id": IN_GROUP}, "Not-really-1", {"$secret": "plain"})
    again = account(world.sync())
    assert (again.verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert b"Not-really-1" not in b"".join(read_status(world).values())


def test_a_held_manifest_writes_nothing(world):
    world.synced(group=GROUP, account=annotated(VERSION, BODY))
    held = "    gitsync/hold: 'until 2030-01-10, upgrade'\n"
    world.says(group=GROUP, account=annotated(VERSION, BODY.replace("true", "false"), held)).sync()
    assert world.writes == []

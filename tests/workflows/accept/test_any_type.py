"""`gitsync accept` of AzureResources: the body in the manifest takes what Azure has, at its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gitsync.model.verdict import Verdict
from gitsync.workflows.accept.drift import Accepted
from tests.support.world import SUBSCRIPTION, World
from tests.workflows.accept.test_accept import accept

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: orders}
stringData: {key: Not-really-1, name: Standard}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orders}
data: {owner: shop}
"""
IN_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers"
FLOW_ID = f"{IN_GROUP}/Microsoft.Logic/workflows/orders"
ACCOUNT_ID = f"{IN_GROUP}/Microsoft.Logic/integrationAccounts/b2b"
OTHER_ID = f"{IN_GROUP}/Microsoft.Logic/integrationAccounts/other"
ACCOUNT = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: b2b}
spec:
  type: Microsoft.Logic/integrationAccounts@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body: {location: westeurope, sku: {name: Standard}, properties: {state: Enabled}}
"""
FLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    tags: {team: shop}   # who pays
    properties:
      state: Enabled      # since May
      integrationAccount: {id: {$reference: {kind: AzureResource, name: b2b}}}
      accessControl:
        triggers:
          allowedCallerIpAddresses:
          - addressRange: 192.0.2.0/24   # the office
          - addressRange: 198.51.100.0/24
      parameters:
        key: {value: {$secret: {name: orders, key: key}}}
        owner: {value: {$configMap: {name: orders, key: owner}}}
        plain: {value: 5}
      definition:
        $schema: https://schema
        triggers: {}
        nested: {apiSecret: plain}
        mine: {$$reference: a}
        steps: [first, second]
"""


@dataclass(frozen=True)
class Row:
    why: str
    changes: Mapping[str, Any]
    edits: tuple[tuple[str, str], ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)  # the fields that stay, with a part of the reason
    remove: tuple[str, ...] = ()


ROWS = [
    Row("a scalar keeps its comment", {"/properties/state": "Disabled"}, (("state: Enabled ", "state: Disabled "),)),
    Row("a tag", {"/tags/team": "sales"}, (("team: shop", "team: sales"),)),
    Row("a value of free JSON", {"/properties/parameters/plain/value": 7}, (("value: 5", "value: 7"),)),
    Row("a text for a number", {"/properties/parameters/plain/value": "x"}, (("value: 5", "value: x"),)),
    Row("a key that is a word", {"/properties/definition/mine/$reference": "b"}, (("$$reference: a", "$$reference: b"),)),
    Row(
        "an entry of a list",
        {"/properties/accessControl/triggers/allowedCallerIpAddresses/1/addressRange": "203.0.113.0/24"},
        (("198.51.100.0/24", "203.0.113.0/24"),),
    ),
    Row(
        "a list without one of its entries",
        {},
        (("          - addressRange: 198.51.100.0/24\n", ""),),
        remove=("/properties/accessControl/triggers/allowedCallerIpAddresses/1",),
    ),
    Row(
        "a list in free JSON",
        {"/properties/definition/steps": ["first", "second", "third"]},
        (("[first, second]", "[first, second, third]"),),
    ),
    Row(
        "an object in place of a text, with a word",
        {"/properties/definition/$schema": {"$reference": "a"}},
        (("$schema: https://schema", "$schema:\n          $$reference: a"),),
    ),
    Row("what is gone", {}, (("        plain: {value: 5}\n", "        plain: {}\n"),),
        remove=("/properties/parameters/plain/value",)),
    Row("the value of a Secret, which is not compared", {"/properties/parameters/key/value": "changed"}),
    Row("a plain value with the name of a secret", {"/properties/definition/nested/apiSecret": "x"}, left={
        "spec.body.properties.definition.nested.apiSecret": "Its value may be a secret."}),
    Row("a value of a ConfigMap", {"/properties/parameters/owner/value": "me"}, left={
        "spec.body.properties.parameters.owner.value": "Its value comes from a ConfigMap."}),
    Row("a reference", {"/properties/integrationAccount/id": OTHER_ID}, left={
        "spec.body.properties.integrationAccount.id": "It is a reference to AzureResource/b2b, and Azure has"}),
]  # fmt: skip


def name_flow(row: Row) -> str:
    return f"flow{ROWS.index(row)}"


def write_flow(row: Row) -> str:
    return FLOW.replace("metadata: {name: orders}", f"metadata: {{name: {name_flow(row)}}}")


def edit_flow(row: Row) -> str:
    text = write_flow(row)
    for old, new in row.edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Story:
    """A flow for each row, changed in Azure and accepted."""

    accepted: Accepted
    texts: Mapping[str, str]  # by the name of the flow
    verdicts: Mapping[str, Verdict]  # of the next plan
    exit_code: int  # of the next sync


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    world = World(tmp_path_factory.mktemp("flows"))
    others = {"group": GROUP, "values": SECRET, "account": ACCOUNT}
    first = world.says(**others, **{name_flow(row): write_flow(row) for row in ROWS}).sync()
    assert not [result.message for result in first.results if not result.is_fine]
    for row in ROWS:
        world.somebody_changes(FLOW_ID.replace("orders", name_flow(row)), row.changes, remove=row.remove)
    accepted = accept(world, world.plan(), tuple(f"AzureResource/{name_flow(row)}" for row in ROWS))
    texts = {name_flow(row): (world.folder / f"{name_flow(row)}.yaml").read_text() for row in ROWS}
    after = world.says(**others, **texts).plan()
    verdicts = {result.key.name: result.found for result in after.results}
    return Story(accepted, texts, verdicts, world.sync().exit_code)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.why)
def test_the_body_takes_what_azure_has(story: Story, row: Row) -> None:
    left = [refusal for refusal in story.accepted.left if refusal.key.name == name_flow(row)]
    assert {refusal.field: refusal.reason for refusal in left}.keys() == row.left.keys(), left
    for refusal in left:
        assert row.left[refusal.field] in refusal.reason
        assert [location for location in refusal.locations if location.line]
    assert story.texts[name_flow(row)] == edit_flow(row)
    assert (story.verdicts[name_flow(row)] is Verdict.IN_SYNC) is not bool(row.left)


def test_the_next_sync_is_fine(story: Story) -> None:
    assert story.exit_code == 0
    assert {name for name, verdict in story.verdicts.items() if verdict is not Verdict.IN_SYNC} == {
        name_flow(row) for row in ROWS if row.left
    }


def test_a_reference_by_its_id_takes_the_new_id(tmp_path: Path) -> None:
    world = World(tmp_path)
    by_id = FLOW.replace("{kind: AzureResource, name: b2b}", f"{{armId: {ACCOUNT_ID}}}")
    world.says(group=GROUP, values=SECRET, account=ACCOUNT, flow=by_id).sync()
    world.somebody_changes(FLOW_ID, {"/properties/integrationAccount/id": OTHER_ID})
    assert not accept(world, world.plan()).left
    assert (world.folder / "flow.yaml").read_text() == by_id.replace(ACCOUNT_ID, OTHER_ID)


def test_what_was_deleted_takes_its_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.says(group=GROUP, account=ACCOUNT).sync()
    world.somebody_deletes(ACCOUNT_ID)
    found = world.plan()
    assert "It was deleted in Azure" in accept(world, found).left[0].reason
    assert accept(world, found, ("AzureResource/b2b",)).resources[0].is_gone
    assert not (world.folder / "account.yaml").exists()

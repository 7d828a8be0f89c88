"""What a resource exported goes with it, as a cluster would collect it, and not before
(docs/reference/reconciliation.md#export-ownership).
"""

from __future__ import annotations

import json

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import SecretStoreError
from gitsync.extensions.api import Extension
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.model.export import Export
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import account, config_map_at, secret_at, world_with
from tests.support.exports import tree
from tests.support.fault_rules import rules
from tests.support.memory_places import MemorySink
from tests.support.world import GROUP, SUBNET, VNET, annotated, of

EXPORTS = "secrets: {key1: {name: keys, key: first}}\n        configMaps: {blobEndpoint: {name: where, key: blob}}"
LAKE = account(EXPORTS)
POND = LAKE.replace("name: lake", "name: pond")
PLAIN = LAKE.partition("      operatorSpec")[0]
KEYS, WHERE = secret_at("keys"), config_map_at("where")
PRUNE = {"prune": True, "max_deletes": 5}


def owner(name: str) -> Key:
    return Key("storage.azure.com", "StorageAccount", "default", name)


@pytest.fixture
def sinks():
    return MemorySink(), MemorySink()


@pytest.fixture
def world(tmp_path, sinks):
    return world_with(tmp_path, *sinks)


@pytest.fixture(scope="module")
def exported_once(tmp_path_factory):
    """The world after the lake was synced, and its sinks."""
    sinks = MemorySink(), MemorySink()
    world = world_with(tmp_path_factory.mktemp("exported"), *sinks)
    world.says(group=GROUP, lake=LAKE).sync()
    return world, sinks


@pytest.fixture
def exported(exported_once, tmp_path, sinks):
    """A world in which the lake was synced, with what `sinks` have of it."""
    before, sinks_before = exported_once
    world = before.copy(tmp_path)
    for sink, sink_before in zip(sinks, sinks_before, strict=True):
        sink.objects.update(sink_before.objects)
    world.secret_stores = SecretStores(sinks=sinks)
    return world


def config_map(world):
    return world.state / "default/ConfigMap/where.json"


DETACHED = annotated(LAKE, reconcile_policy="detach-on-delete")


@pytest.mark.parametrize(
    "manifest, action, why",
    [(LAKE, Action.DELETE, "it is deleted"), (DETACHED, Action.DETACH, "it stays in Azure, and is not ours any more")],
)
def test_a_resource_that_is_forgotten_takes_its_exports_along(world, sinks, manifest, action, why):
    world.synced(group=GROUP, lake=manifest)
    assert [set(sink.objects) for sink in sinks] == [{KEYS, WHERE}] * 2
    assert config_map(world).exists()
    report = world.says(group=GROUP).sync(**PRUNE)
    assert of(report, "StorageAccount").action is action, why
    assert [sink.objects for sink in sinks] == [{}, {}], why
    assert not config_map(world).exists(), why
    assert (report.exit_code, [problem.code for problem in report.problems]) == (0, ["RecordsNotSigned"])


def test_what_was_deleted_in_azure_by_hand_is_forgotten_too(exported, sinks):
    path = f"{of(exported.plan(), 'StorageAccount').arm_id}"
    exported.outside("DELETE", path, api_version="2023-01-01")
    exported.says(group=GROUP).sync(**PRUNE)
    assert [sink.objects for sink in sinks] == [{}, {}]


@pytest.mark.parametrize(
    "settings, refuses, why",
    [
        ({}, False, "nothing is pruned"),
        ({**PRUNE, "only": ("ResourceGroup/core",)}, False, "the run is not about it"),
        (PRUNE, True, "Azure refuses the delete"),
    ],
)
def test_a_resource_that_is_still_recorded_keeps_its_exports(exported, sinks, settings, refuses, why):
    if refuses:
        refusal = "{match: {method: DELETE}, answer: {code: ScopeLocked, status: 409}}"
        exported.settings = EmulatorSettings(limits=None, rules=rules(refusal))
    exported.says(group=GROUP).sync(**settings)
    assert [set(sink.objects) for sink in sinks] == [{KEYS, WHERE}] * 2, why
    assert config_map(exported).exists(), why


def test_a_plan_removes_nothing(exported, sinks):
    exported.says(group=GROUP).plan(**PRUNE)
    assert [set(sink.objects) for sink in sinks] == [{KEYS, WHERE}] * 2


def test_what_is_no_longer_exported_goes_with_its_resource_and_not_before(exported, sinks):
    exported.says(group=GROUP, lake=PLAIN).sync(**PRUNE)
    assert [set(sink.objects) for sink in sinks] == [{KEYS, WHERE}] * 2
    exported.says(group=GROUP).sync(**PRUNE)
    assert [sink.objects for sink in sinks] == [{}, {}]


def closed_sink(exported, sink, **settings):
    """Delete the resource in a run whose sink refuses."""
    sink.refuses = SecretStoreError("The vault is closed.", hint="Open it.")
    return exported.says(group=GROUP).sync(**PRUNE, **settings)


def test_a_sink_that_refuses_fails_the_run_and_the_rest_goes_on(exported, sinks):
    report = closed_sink(exported, sinks[0])
    assert sinks[1].objects == {}
    assert [problem.code for problem in report.problems] == ["RecordsNotSigned", *["ExportNotRemoved"] * 2]
    assert report.exit_code == 1
    summary = (exported.state / "SUMMARY.md").read_text()
    assert (
        "Secret default/keys, which StorageAccount.storage.azure.com/default/lake exported, was not removed" in summary
    )
    leftovers = json.loads((exported.state / "inventory.json").read_text())["leftovers"]
    owner = "StorageAccount.storage.azure.com/default/lake"
    assert {"object": "Secret/default/keys", "owner": owner, "sink": "memory"} in leftovers


def test_what_could_not_be_removed_is_tried_by_each_run_until_it_is_gone(exported, sinks):
    closed_sink(exported, sinks[0])
    assert [result.key.kind for result in exported.sync().results] == ["ResourceGroup"]
    plan = exported.plan()
    assert [problem.code for problem in plan.problems] == ["ExportLeftOver"] * 2
    assert plan.exit_code == 0, "it is a warning: a plan changes nothing"
    assert exported.sync().exit_code == 1, "the sink still refuses, with --prune or without"
    sinks[0].refuses = None
    report = exported.sync()
    assert (report.exit_code, report.problems) == (0, ())
    assert sinks[0].objects == {}
    assert "leftovers" not in (exported.state / "inventory.json").read_text()
    assert exported.plan().problems == ()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"only": ("ResourceGroup/core",)}, "the run is about something else"),
        ({"target_namespaces": ("other",)}, "another namespace"),
        ({"agent": "blue"}, "another agent, which has nothing in this status"),
    ],
)
def test_what_is_left_over_of_others_is_not_touched(exported, sinks, settings, why):
    closed_sink(exported, sinks[0])
    sinks[0].refuses = None
    other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"
    exported.says(group=GROUP, more=GROUP.replace("core", "more"), other=other)
    plan = exported.plan(**settings)
    assert "ExportLeftOver" not in [problem.code for problem in plan.problems], why
    if "agent" not in settings:
        exported.sync(**settings)
    assert set(sinks[0].objects) == {KEYS, WHERE}, why
    assert "leftovers" in (exported.state / "inventory.json").read_text(), why


def test_a_resource_that_comes_back_takes_its_exports_over(exported, sinks):
    closed_sink(exported, sinks[0])
    sinks[0].refuses = None
    report = exported.says(group=GROUP, lake=LAKE).sync()
    assert (report.exit_code, [problem.code for problem in report.problems]) == (0, ["ExportedNowhere"])
    assert set(sinks[0].objects) == {KEYS, WHERE}
    assert "leftovers" not in (exported.state / "inventory.json").read_text()


def test_the_name_of_what_was_left_over_is_free_in_the_run_that_removes_it(exported, sinks):
    closed_sink(exported, sinks[0])
    sinks[0].refuses = None
    report = exported.says(group=GROUP, pond=POND).sync()
    assert of(report, "StorageAccount", "pond").condition.is_ready
    assert [export.owner.key for export in sinks[0].objects.values()] == [owner("pond")] * 2


def test_a_made_up_leftover_removes_nothing_that_a_resource_exports(world, sinks):
    """Others may be able to push to the status branch."""
    world.says(group=GROUP, lake=LAKE).sync()
    inventory = world.state / "inventory.json"
    owner = "StorageAccount.storage.azure.com/default/lake"
    entry = {"object": "Secret/default/keys", "owner": owner, "sink": "memory"}
    inventory.write_text(json.dumps({**json.loads(inventory.read_text()), "leftovers": [entry]}) + "\n")
    world.says(group=GROUP, lake=PLAIN).sync()
    assert KEYS in sinks[0].objects


def test_a_new_owner_takes_the_name_as_soon_as_the_old_one_is_forgotten(exported, sinks):
    """In the same run: anyone who reads the Secret is not to be without it until the next one."""
    report = exported.says(group=GROUP, pond=POND).sync()
    assert "not owned by" in of(report, "StorageAccount", "pond").condition.message
    report = exported.sync(**PRUNE)
    assert of(report, "StorageAccount", "pond").condition.is_ready
    assert [export.owner.key for export in sinks[0].objects.values()] == [owner("pond")] * 2
    assert f"{owner('pond')}" in config_map(exported).read_text()


def test_what_another_resource_took_over_in_the_same_run_stays(exported, sinks):
    for sink in sinks:
        sink.objects.clear()
    config_map(exported).unlink()
    report = exported.says(group=GROUP, pond=POND).sync(**PRUNE)
    assert of(report, "StorageAccount", "lake").action is Action.DELETE
    assert of(report, "StorageAccount", "pond").condition.is_ready
    assert [export.owner.key for sink in sinks for export in sink.objects.values()] == [owner("pond")] * 4
    assert config_map(exported).exists()


def test_what_a_resource_wrote_before_another_sink_refused_goes_too(world, sinks):
    class Closed(MemorySink):
        async def write(self, export: Export) -> None:
            raise SecretStoreError(f"{export.address} cannot be written.")

    world.secret_stores = SecretStores(sinks=(sinks[0], Closed()))
    found = of(world.says(group=GROUP, lake=LAKE).sync(), "StorageAccount")
    assert not found.condition.is_ready
    assert set(sinks[0].objects) == {KEYS, WHERE}
    world.says(group=GROUP).sync(**PRUNE)
    assert sinks[0].objects == {}


def test_config_maps_that_the_status_is_not_a_sink_of_any_more_go_too(exported, sinks):
    exported.secret_stores = SecretStores(sinks=sinks, keeps_config_maps=False)
    exported.says(group=GROUP).sync(**PRUNE)
    assert not config_map(exported).exists()


def test_an_interrupted_run_removes_only_what_is_forgotten(world, sinks):
    """The stop comes with the first delete, that of the subnet: the network has no turn any more."""

    async def delete(subject, azure, next):
        await next(subject, azure)
        world.stop.set()

    world.synced(group=GROUP, vnet=exporting(VNET, "network"), subnet=exporting(SUBNET, "subnet"))
    world.extensions = (Extension(group="network.azure.com", kind="VirtualNetworksSubnet", delete=delete), *BUILT_IN)
    report = world.says(group=GROUP).sync(**PRUNE)
    assert report.interrupted
    assert of(report, "VirtualNetworksSubnet").action is Action.DELETE
    assert [[address.name for address in sink.objects] for sink in sinks] == [["network"]] * 2


def exporting(document: str, name: str) -> str:
    """A manifest that exports its id to a config map."""
    entry = f"{{name: {name}, key: id, value: self.status.id}}"
    return f"{document}  operatorSpec: {{configMapExpressions: [{entry}]}}\n    "


def test_the_folder_is_cleared(world, tmp_path):
    top = tmp_path / "exported"
    world.secret_stores = SecretStores(sinks=(FolderSink(top),))
    world.synced(group=GROUP, lake=LAKE)
    assert (top / "secrets/default/keys/first").exists()
    world.says(group=GROUP).sync(**PRUNE)
    assert tree(top) == {}

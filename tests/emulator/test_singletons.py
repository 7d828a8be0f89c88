"""Singletons: what Azure makes with a resource exists with it, shows its defaults, and goes with it."""

import json

import pytest

from gitsync.emulator.types.provider_fields import add_provider_fields
from tests.emulator.asked import GROUP, OPEN, at, emulated
from tests.support.recordings import FOLDER, needs_recordings

RECORDED = FOLDER / "arm-traffic" / "put-get-pairs" / "microsoft.storage.jsonl"
STORAGE = "Microsoft.Storage/storageAccounts"
SERVER = "Microsoft.DBforPostgreSQL/flexibleServers"
DATABASE = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases"
THROUGHPUT = {"properties": {"options": {"throughput": 400}}}

SINGLETONS = [
    (STORAGE, {}, "blobServices/default", {"cors": {"corsRules": []}}),
    (STORAGE, {}, "fileServices/default", {"shareDeleteRetentionPolicy": {"days": 7, "enabled": True}}),
    (STORAGE, {}, "queueServices/default", {"cors": {"corsRules": []}}),
    (STORAGE, {}, "tableServices/default", {"cors": {"corsRules": []}}),
    (SERVER, {}, "advancedThreatProtectionSettings/Default", {"state": "Disabled"}),
    (DATABASE, THROUGHPUT, "throughputSettings/default", {"resource": {"throughput": 400}}),
]


def make(emulator, kind, body):
    """A parent, with all above it; its id."""
    emulator.put(GROUP, {"location": "westeurope"})
    names = [f"n{depth}" for depth in range(kind.count("/"))]
    words = kind.split("/")
    for depth in range(1, len(words)):
        path = at("/".join(words[: depth + 1]), *names[:depth])
        emulator.put(path, body if depth == len(words) - 1 else {"location": "westeurope"})
    return path


@pytest.mark.parametrize(
    ("parent", "body", "name", "shown"), SINGLETONS, ids=[f"{parent}/{name}" for parent, _, name, _ in SINGLETONS]
)
async def test_a_singleton_exists_with_its_parent_and_goes_with_it(azure, parent, body, name, shown):
    path = make(azure.emulator, parent, body)
    found = await azure.get(f"{path}/{name}")
    listed = await azure.get(f"{path}/{name.partition('/')[0]}")
    names = [entry["id"] for entry in listed.body["value"]] if listed.status == 200 else listed.status
    put = await azure.put(f"{path}/{name}", {"properties": {"new": 1}})
    again = await azure.settled(f"{path}/{name}")
    azure.emulator.remove(path)
    listed, put, gone = names, put.status, (await azure.get(f"{path}/{name}")).status
    assert found.status == 200
    assert found.body["name"] == name.partition("/")[2]
    assert {member: found.body["properties"][member] for member in shown} == shown
    assert listed in ([found.body["id"]], 405), "405: throughputs have no list"
    assert put in {200, 202}, "it is not created"
    assert again["properties"]["new"] == 1
    assert gone == 404


NOT_THERE = [
    (DATABASE, {}, "throughputSettings/default", "a database that shares the throughput of its account"),
    (STORAGE, {}, "managementPolicies/default", "somebody makes it, and can delete it"),
    (STORAGE, {}, "blobServices/other", "another name"),
]


@pytest.mark.parametrize(("parent", "body", "name", "why"), NOT_THERE, ids=[row[-1] for row in NOT_THERE])
async def test_nothing_else_is_there(azure, parent, body, name, why):
    assert (await azure.get(f"{make(azure.emulator, parent, body)}/{name}")).status == 404, why


async def test_a_patch_changes_a_singleton_that_was_never_put(azure):
    path = f"{make(azure.emulator, STORAGE, {})}/blobServices/default"
    assert (await azure.send_request("PATCH", path, {"properties": {"isVersioningEnabled": True}})).body["properties"][
        "isVersioningEnabled"
    ] is True


@needs_recordings(RECORDED)
def test_the_defaults_are_the_recorded_ones():
    """What Azure answers to an empty PUT, as far as all recordings agree."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["put"] == {"name": "default"}]
    assert pairs
    for pair in pairs:
        made = add_provider_fields(pair["get"]["type"], pair["path"], {}, "tenant")["properties"]
        assert {name: pair["get"]["properties"].get(name) for name in made} == made, pair["path"]


async def test_a_relative_location_is_read_without_a_version():
    async with emulated(OPEN, has_group=True) as azure:
        path = at("Microsoft.ManagedIdentity/userAssignedIdentities", "one")
        location = (await azure.put(path)).headers["Location"]
        read = await azure.get(location, version="")
    assert location.startswith("/subscriptions/")
    assert read.status == 200
    assert read.body["id"] == location

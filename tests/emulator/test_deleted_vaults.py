"""Key vaults that were deleted: their names are taken until they are recovered or purged."""

import pytest

from gitsync.emulator.settings import read_settings
from gitsync.emulator.state.store import SqliteStore
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, TestClock, at, emulated

KIND = "Microsoft.KeyVault/vaults"
VAULT = at(KIND, "kv")
OTHER = at(KIND, "kv", scope=f"{SUBSCRIPTION}/resourceGroups/other")
GONE = f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/kv"
OLD = {"location": "westeurope", "tags": {"a": "b"}, "properties": {"enabledForDeployment": True}}


def wanting(mode, **more):
    return {"location": "West Europe", **more, "properties": {"createMode": mode, "enabledForDiskEncryption": True}}


async def delete_vault(azure, **body):
    """Have a vault that was there and is deleted."""
    await azure.made(VAULT, {**OLD, **body})
    reply = await azure.delete(VAULT)
    assert reply.status in {200, 202}


async def test_a_deleted_vault_can_be_looked_up():
    async with emulated(clock=TestClock(), has_group=True) as azure:
        await delete_vault(azure)
        reply = await azure.get(GONE)
    assert reply.status == 200
    assert reply.body == {
        "id": GONE,
        "name": "kv",
        "type": "Microsoft.KeyVault/deletedVaults",
        "properties": {
            "vaultId": VAULT,
            "location": "westeurope",
            "tags": {"a": "b"},
            "deletionDate": "2026-01-01T00:00:00.000000Z",
            "scheduledPurgeDate": "2026-04-01T00:00:00.000000Z",
        },
    }


LOOKUPS = [
    (GONE, 200, "as it is called"),
    (GONE.replace("westeurope", "West%20Europe"), 200, "a region by its display name"),
    (GONE.upper().replace("/PROVIDERS/", "/providers/"), 200, "in any case"),
    (GONE.replace("westeurope", "northeurope"), 404, "it was not deleted there"),
    (GONE + "0", 404, "no such name"),
]


@pytest.mark.parametrize(("path", "status", "why"), LOOKUPS, ids=[row[-1] for row in LOOKUPS])
async def test_a_lookup_finds_a_name_in_its_region(azure, group, path, status, why):
    await delete_vault(azure)
    assert (await azure.get(path)).status == status, why


async def test_a_vault_that_is_there_is_no_deleted_one(azure, group):
    await azure.made(VAULT, OLD)
    assert (await azure.get(GONE)).status == 404


WRITES = [
    (VAULT, {"location": "westeurope"}, 409, "ConflictError", "the name is taken"),
    (VAULT, wanting("default"), 409, "ConflictError", "whatever the mode is called"),
    (OTHER, wanting("recover"), 409, "ConflictError", "it comes back where it was, and nowhere else"),
    (VAULT, wanting("recover", location="northeurope"), 409, "ConflictError", "nor in another region"),
    (at(KIND, "never"), wanting("recover"), 404, "SoftDeletedVaultDoesNotExist", "there is nothing to recover"),
]


@pytest.mark.parametrize(("path", "body", "status", "code", "why"), WRITES, ids=[row[-1] for row in WRITES])
async def test_the_name_of_a_deleted_vault_is_taken(azure, group, path, body, status, code, why):
    await delete_vault(azure)
    await azure.put(f"{SUBSCRIPTION}/resourceGroups/other")
    reply = await azure.put(path, body)
    assert (reply.status, reply.code) == (status, code), why


async def test_a_recovered_vault_is_as_it_was_and_says_nothing_of_its_mode(azure, group):
    await delete_vault(azure)
    put = await azure.put(VAULT, wanting("recover"))
    got, gone, again = await azure.get(VAULT), await azure.get(GONE), await azure.put(VAULT, wanting("default"))
    assert put.status == 201
    assert got.body["tags"] == {"a": "b"}
    assert got.body["properties"]["enabledForDeployment"] is True
    assert "enabledForDiskEncryption" not in got.body["properties"], "the rest of such a body does not count"
    assert gone.status == 404
    assert again.body["properties"]["enabledForDiskEncryption"] is True, "but that of the next one does"
    assert "createMode" not in got.body["properties"] | again.body["properties"]


async def test_a_purge_takes_its_time_and_then_the_name_is_free(azure, group):
    await delete_vault(azure)
    started = await azure.send_request("POST", f"{GONE}/purge", version="2024-11-01")
    during = await azure.put(VAULT, OLD), await azure.get(started.headers["Location"])
    done = await azure.get(started.headers["Location"])
    gone, anew = await azure.get(GONE), await azure.put(VAULT, OLD)
    assert started.status == 202
    assert "/providers/Microsoft.KeyVault/locations/" in started.headers["Location"]
    assert "/operationResults/" in started.headers["Location"]
    assert [reply.status for reply in during] == [409, 202]
    assert (done.status, gone.status, anew.status) == (200, 404, 201)


PURGES = [
    (GONE, {}, 202, "it goes for good"),
    (GONE + "0", {}, 404, "there is none of that name"),
    (GONE, {"properties": {"enablePurgeProtection": True}}, 405, "it is protected from that"),
]


@pytest.mark.parametrize(("path", "body", "status", "why"), PURGES, ids=[row[-1] for row in PURGES])
async def test_a_purge_is_asked_for(azure, group, path, body, status, why):
    await delete_vault(azure, **body)
    reply = await azure.send_request("POST", f"{path}/purge")
    assert reply.status == status, why
    if status == 405:
        assert reply.message == "Operation 'DeletedVaultPurge' is not allowed."


async def test_a_purge_that_fails_leaves_the_vault_where_it_is(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text(
        "settings: {throttle: off}\n"
        "rules: [{match: {method: POST}, operation: {result: Failed, error: {code: Busy, message: Not now.}}}]\n"
    )
    async with emulated(read_settings(script), has_group=True) as azure:
        await delete_vault(azure)
        started = await azure.send_request("POST", f"{GONE}/purge")
        await azure.get(started.headers["Location"])
        failed, there = await azure.get(started.headers["Location"]), await azure.get(GONE)
    assert (failed.code, there.status) == ("Busy", 200)


async def test_vaults_are_kept_when_their_group_goes_and_when_the_process_ends(tmp_path):
    async with emulated(store=SqliteStore(tmp_path / "state")) as azure:
        await azure.put(GROUP)
        await azure.made(VAULT, OLD)
        started = await azure.delete(GROUP)
        for _ in range(2):
            await azure.get(started.headers["Location"])
    assert started.status == 202
    async with emulated(store=SqliteStore(tmp_path / "state")) as azure:
        found = await azure.get(GONE)
        listed = await azure.get(f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults")
    assert found.body["properties"]["vaultId"] == VAULT
    assert [entry["name"] for entry in listed.body["value"]] == ["kv"]


async def test_the_list_of_deleted_vaults_ends_with_an_empty_page_as_recorded(azure, group):
    async def read_pages():
        pages, link = [], f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults"
        while link:
            page = await azure.get(link)
            pages.append([entry["name"] for entry in page.body["value"]])
            link = page.body.get("nextLink")
        return pages

    assert await read_pages() == [[]], "none at all are one page"
    await delete_vault(azure)
    assert await read_pages() == [["kv"], []]


async def test_a_vault_that_is_taken_away_by_hand_leaves_nothing():
    async with emulated(OPEN, has_group=True) as azure:
        await azure.made(VAULT, OLD)
        azure.emulator.remove(VAULT)
        gone, anew = await azure.get(GONE), await azure.put(VAULT, OLD)
    assert (gone.status, anew.status) == (404, 201)

"""Key vaults that were deleted: their names are taken until they are recovered or purged."""

import pytest

from gitsync.emulator.settings import read_settings
from gitsync.emulator.state.store import SqliteStore
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, TestClock, at, play, with_group

KIND = "Microsoft.KeyVault/vaults"
VAULT = at(KIND, "kv")
OTHER = at(KIND, "kv", scope=f"{SUBSCRIPTION}/resourceGroups/other")
GONE = f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/kv"
OLD = {"location": "westeurope", "tags": {"a": "b"}, "properties": {"enabledForDeployment": True}}


def wanting(mode, **more):
    return {"location": "West Europe", **more, "properties": {"createMode": mode, "enabledForDiskEncryption": True}}


def deleted(scenario, **body):
    """The scenario, with a vault that was there and is deleted."""

    async def run(azure):
        await azure.made(VAULT, {**OLD, **body})
        reply = await azure.delete(VAULT)
        assert reply.status in {200, 202}
        return await scenario(azure)

    return with_group(run)


def test_a_deleted_vault_can_be_looked_up():
    reply = play(deleted(lambda azure: azure.get(GONE)), clock=TestClock())
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
def test_a_lookup_finds_a_name_in_its_region(path, status, why):
    assert play(deleted(lambda azure: azure.get(path))).status == status, why


def test_a_vault_that_is_there_is_no_deleted_one():
    async def scenario(azure):
        await azure.made(VAULT, OLD)
        return await azure.get(GONE)

    assert play(with_group(scenario)).status == 404


WRITES = [
    (VAULT, {"location": "westeurope"}, 409, "ConflictError", "the name is taken"),
    (VAULT, wanting("default"), 409, "ConflictError", "whatever the mode is called"),
    (OTHER, wanting("recover"), 409, "ConflictError", "it comes back where it was, and nowhere else"),
    (VAULT, wanting("recover", location="northeurope"), 409, "ConflictError", "nor in another region"),
    (at(KIND, "never"), wanting("recover"), 404, "SoftDeletedVaultDoesNotExist", "there is nothing to recover"),
]


@pytest.mark.parametrize(("path", "body", "status", "code", "why"), WRITES, ids=[row[-1] for row in WRITES])
def test_the_name_of_a_deleted_vault_is_taken(path, body, status, code, why):
    async def scenario(azure):
        await azure.put(f"{SUBSCRIPTION}/resourceGroups/other")
        return await azure.put(path, body)

    reply = play(deleted(scenario))
    assert (reply.status, reply.code) == (status, code), why


def test_a_recovered_vault_is_as_it_was_and_says_nothing_of_its_mode():
    async def scenario(azure):
        put = await azure.put(VAULT, wanting("recover"))
        return put, await azure.get(VAULT), await azure.get(GONE), await azure.put(VAULT, wanting("default"))

    put, got, gone, again = play(deleted(scenario))
    assert put.status == 201
    assert got.body["tags"] == {"a": "b"}
    assert got.body["properties"]["enabledForDeployment"] is True
    assert "enabledForDiskEncryption" not in got.body["properties"], "the rest of such a body does not count"
    assert gone.status == 404
    assert again.body["properties"]["enabledForDiskEncryption"] is True, "but that of the next one does"
    assert "createMode" not in got.body["properties"] | again.body["properties"]


def test_a_purge_takes_its_time_and_then_the_name_is_free():
    async def scenario(azure):
        started = await azure.ask("POST", f"{GONE}/purge", version="2024-11-01")
        during = await azure.put(VAULT, OLD), await azure.get(started.headers["Location"])
        done = await azure.get(started.headers["Location"])
        return started, during, done, await azure.get(GONE), await azure.put(VAULT, OLD)

    started, during, done, gone, anew = play(deleted(scenario))
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
def test_a_purge_is_asked_for(path, body, status, why):
    reply = play(deleted(lambda azure: azure.ask("POST", f"{path}/purge"), **body))
    assert reply.status == status, why
    if status == 405:
        assert reply.message == "Operation 'DeletedVaultPurge' is not allowed."


def test_a_purge_that_fails_leaves_the_vault_where_it_is(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text(
        "settings: {throttle: off}\n"
        "rules: [{match: {method: POST}, operation: {result: Failed, error: {code: Busy, message: Not now.}}}]\n"
    )

    async def scenario(azure):
        started = await azure.ask("POST", f"{GONE}/purge")
        await azure.get(started.headers["Location"])
        return await azure.get(started.headers["Location"]), await azure.get(GONE)

    failed, there = play(deleted(scenario), read_settings(script))
    assert (failed.code, there.status) == ("Busy", 200)


def test_vaults_are_kept_when_their_group_goes_and_when_the_process_ends(tmp_path):
    async def delete_group(azure):
        await azure.put(GROUP)
        await azure.made(VAULT, OLD)
        started = await azure.delete(GROUP)
        for _ in range(2):
            await azure.get(started.headers["Location"])
        return started.status

    assert play(delete_group, store=SqliteStore(tmp_path / "state")) == 202
    found, listed = play(
        lambda azure: both(azure.get(GONE), azure.get(f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults")),
        store=SqliteStore(tmp_path / "state"),
    )
    assert found.body["properties"]["vaultId"] == VAULT
    assert [entry["name"] for entry in listed.body["value"]] == ["kv"]


def test_the_list_of_deleted_vaults_ends_with_an_empty_page_as_recorded():
    path = f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults"

    async def read_pages(azure):
        pages, link = [], path
        while link:
            page = await azure.get(link)
            pages.append([entry["name"] for entry in page.body["value"]])
            link = page.body.get("nextLink")
        return pages

    assert play(deleted(read_pages)) == [["kv"], []]
    assert play(with_group(read_pages)) == [[]], "none at all are one page"


async def both(first, second):
    return await first, await second


def test_a_vault_that_is_taken_away_by_hand_leaves_nothing():
    async def scenario(azure):
        await azure.made(VAULT, OLD)
        azure.emulator.remove(VAULT)
        return await azure.get(GONE), await azure.put(VAULT, OLD)

    gone, anew = play(with_group(scenario), OPEN)
    assert (gone.status, anew.status) == (404, 201)

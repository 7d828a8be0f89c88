"""State: the same from memory and from a file, and whole after a process was killed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import replace

import pytest

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import Timing
from gitsync.emulator.state.store import EmulatedOperation, LoggedChange, MemoryStore, SqliteStore, StoredResource
from gitsync.emulator.types.behaviour import Style
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, OPEN, PLAIN, VERSION, TestClock, emulated

ONE = StoredResource(id="/A", body={"x": [1, {"y": None}]}, api_version="v", number=1, created="c", changed="d")


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    made = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "azure.db")
    yield made
    made.close()


def test_a_store_finds_what_was_put(store):
    operation = EmulatedOperation(
        id="o", key="/a", path="/A", verb="PUT", style="async", api_version="v", started=1.5, error={"code": "c"}
    )
    with store.transaction():
        store.put_resource("/a", ONE)
        store.put_operation(operation)
        store.put_note("n", {"count": 3})
    assert (store.resource("/a"), store.operation("o"), store.note("n")) == (ONE, operation, {"count": 3})
    assert (store.resource("/b"), store.operation("p"), store.note("m")) == (None, None, None)


def test_a_store_finds_all_that_is_below_sorted(store):
    with store.transaction():
        for key in ("/a/c", "/a/b/x", "/ab", "/a", "/a/é", "/a/b"):
            store.put_resource(key, ONE)
        store.drop_resource("/a/b")
        store.drop_resource("/nothing")
    assert [key for key, _ in store.below("/a/")] == ["/a/b/x", "/a/c", "/a/é"]


CHANGE = LoggedChange(
    id="/a",
    at=1.5,
    method="PUT",
    action="w",
    status=200,
    correlation="c",
    values={"x": ["1", "2"]},
    deleted=["/b"],
    policies=[{"policyAssignmentId": "/p"}],
)


def test_a_store_keeps_the_log_of_changes_in_order(store):
    changes = [replace(CHANGE, at=number) for number in (2, 1, 3)]
    for change in changes:
        store.add_change(change)
    assert store.changes() == changes


def test_memory_keeps_the_newest_changes():
    store = MemoryStore()
    for _ in range(100_001):
        store.add_change(CHANGE)
    store.add_change(replace(CHANGE, id="/b"))
    assert (len(store.changes()), store.changes()[-1].id) == (90_002, "/b")


def test_a_file_keeps_the_newest_changes(tmp_path):
    store = SqliteStore(tmp_path / "azure.db")
    for name in ("/a", "/b"):
        store.add_change(replace(CHANGE, id=name))
    with sqlite3.connect(tmp_path / "azure.db") as beside:
        beside.execute("UPDATE changes SET number = 10001 WHERE number = 2")
        beside.execute("UPDATE sqlite_sequence SET seq = 109999")  # as if so many had been added
    beside.close()
    store.add_change(replace(CHANGE, id="/c"))
    assert [change.id for change in store.changes()] == ["/b", "/c"]
    store.close()


def test_a_file_of_an_older_version_is_opened(tmp_path):
    with sqlite3.connect(tmp_path / "azure.db") as old:
        old.execute("CREATE TABLE operations (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        operation = {"id": "o", "key": "/a", "path": "/A", "verb": "PUT", "style": "async"}
        old.execute(
            "INSERT INTO operations VALUES (?, ?)", ("o", json.dumps(operation | {"api_version": "v", "started": 1.5}))
        )
    old.close()
    store = SqliteStore(tmp_path / "azure.db")
    assert (store.changes(), store.operation("o").ended) == ([], 0)
    store.close()


def put_twice(store):
    store.put_resource("/b", ONE)
    store.put_resource("/b", TWO)


def put_again(store):
    store.drop_resource("/a")
    store.put_resource("/a", TWO)


TWO = replace(ONE, version=2)
OPERATION = EmulatedOperation(id="o", key="/a", path="/A", verb="PUT", style="async", api_version="v", started=1.5)
WRITES = [
    (lambda store: store.put_resource("/b", ONE), "a new resource"),
    (lambda store: store.put_resource("/a", TWO), "another value of a resource"),
    (lambda store: store.drop_resource("/a"), "a resource that is deleted"),
    (lambda store: store.drop_resource("/nothing"), "a delete of nothing"),
    (put_twice, "a new resource that changes"),
    (put_again, "a resource that is deleted and created again"),
    (lambda store: store.put_operation(replace(OPERATION, id="p")), "a new operation"),
    (lambda store: store.put_operation(replace(OPERATION, over=True)), "an operation that ends"),
    (lambda store: store.put_note("m", 1), "a new note"),
    (lambda store: store.put_note("n", 2), "another value of a note"),
    (lambda store: store.put_note("n", None), "a note that is emptied"),
    (lambda store: store.add_change(CHANGE), "a logged change"),
]


def read_all(store):
    return (
        store.below("/"),
        store.keys("/"),
        [store.operation(name) for name in ("o", "p")],
        [store.note(name) for name in ("n", "m")],
        store.changes(),
    )


def break_after(store, *writes):
    """Break a transaction after some writes."""

    with suppress(ValueError), store.transaction():
        for write in writes:
            write(store)
        raise ValueError


@pytest.mark.parametrize(("write", "why"), WRITES, ids=[row[-1] for row in WRITES])
def test_a_transaction_that_breaks_leaves_nothing(store, write, why):
    with store.transaction():
        store.put_resource("/a", ONE)
        store.put_resource("/c", ONE)
        store.put_operation(OPERATION)
        store.put_note("n", 1)
        store.add_change(replace(CHANGE, at=1))
    before = read_all(store)
    break_after(store, write)
    assert read_all(store) == before, why
    with store.transaction():  # the next one is not affected
        write(store)
    after = read_all(store)
    break_after(store, *(other for other, _ in WRITES))
    assert read_all(store) == after, "all writes at once"


def test_a_transaction_that_breaks_keeps_the_oldest_changes_in_memory():
    store = MemoryStore()
    oldest, newest = ([replace(CHANGE, at=number) for number in numbers] for numbers in (range(3), range(3, 6)))
    kept = [*oldest, *[CHANGE] * (100_000 - 6), *newest]
    for change in kept:
        store.add_change(change)
    break_after(store, *[lambda store: store.add_change(CHANGE)] * 2)
    assert list(store.changes()) == kept


@pytest.mark.parametrize("content", [b"this is no database, but long enough to be read as one" * 20])
def test_a_file_that_is_not_a_state_is_refused(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"notes\.txt cannot hold"):
        SqliteStore(path)
    with pytest.raises(ConfigError, match="cannot hold"):
        SqliteStore(tmp_path / "nowhere" / "azure.db")


async def test_runs_one_after_another_see_one_azure_and_its_operations(tmp_path):
    clock = TestClock()

    def run():
        settings = replace(OPEN, operations=Timing(style=Style.ASYNC, polls=0, seconds=60))
        return emulated(settings, SqliteStore(tmp_path / "azure.db"), clock)

    async with run() as azure:
        await azure.put(GROUP)
        created = await azure.put(PLAIN, {"location": "x", "properties": {"a": 1}})
        operation = created.headers["Azure-AsyncOperation"].removeprefix(azure.emulator.url)
    async with run() as azure:
        assert (await azure.get(operation)).body["status"] == "InProgress"
    clock.seconds += 60
    async with run() as azure:
        assert (await azure.get(operation)).body["status"] == "Succeeded"
        assert (await azure.get(PLAIN)).body["properties"] == {"a": 1, "provisioningState": "Succeeded"}


async def test_servers_at_once_see_one_azure(tmp_path):
    path = tmp_path / "azure.db"
    async with Emulator(OPEN, SqliteStore(path)) as one, Emulator(OPEN, SqliteStore(path)) as other:
        one.put(GROUP, {"location": "x"})
        other.put(PLAIN, {"location": "x"})
        other.change(GROUP, "/tags", {"a": "b"})
        assert (one.ids(), one.resource(GROUP)["tags"]) == ([GROUP, PLAIN], {"a": "b"})


def put(url, number):
    body = json.dumps({"location": "x", "properties": {"number": number}}).encode()
    request = urllib.request.Request(f"{url}{PLAIN}{number}?api-version={VERSION}", data=body, method="PUT")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status


def test_a_killed_server_has_lost_nothing_that_it_answered(tmp_path):
    state, script = tmp_path / "azure.db", tmp_path / "script.yaml"
    script.write_text("settings: {throttle: off}", encoding="utf-8")
    command = [sys.executable, "-m", "gitsync", "emulator", "--state", str(state), "--script", str(script)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with server.stdout as out:
        url = out.readline().strip()
        seed = SqliteStore(state)
        Emulator(OPEN, seed).put(GROUP, {"location": "x"})
        seed.close()
        answered, enough = [], threading.Event()

        def write():
            try:
                for number in range(10_000):
                    put(url, number)
                    answered.append(number)
                    if number == 50:
                        enough.set()
            except (urllib.error.URLError, OSError):
                return

        writer = threading.Thread(target=write)
        writer.start()
        assert enough.wait(timeout=60)
        os.kill(server.pid, signal.SIGKILL)
        writer.join()
        server.wait()
    store = SqliteStore(state)
    left = Emulator(OPEN, store)
    kept = [left.resource(f"{PLAIN}{number}")["properties"]["number"] for number in answered]
    store.close()
    assert kept == answered

"""The storage of the emulator's state: in memory, or in an SQLite file that several processes share, at once or in
turn.

A store only keeps and finds values. In a file a request is one transaction: a process that is killed leaves the
file as it was before the request or after it, never between.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, insort
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from gitsync.emulator.state.stored import EmulatedOperation, StoredResource, encode_json
from gitsync.errors import ConfigError

_LAST = "\U0010ffff"
"""Sorts after every character that a key may hold."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS operations (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_WAIT_SECONDS = 30.0


class Store(Protocol):
    """Resources by key, operations by id, and notes: small JSON values by name."""

    def transaction(self) -> AbstractContextManager[None]:
        """Reads and writes inside are atomic; an exception undoes all writes."""
        ...

    def resource(self, key: str) -> StoredResource | None: ...

    def put_resource(self, key: str, resource: StoredResource) -> None: ...

    def drop_resource(self, key: str) -> None: ...

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        """Every resource whose key has the prefix, sorted by key."""
        ...

    def keys(self, prefix: str) -> list[str]:
        """The keys alone; of many resources they are read much faster than the values."""
        ...

    def operation(self, name: str) -> EmulatedOperation | None: ...

    def put_operation(self, operation: EmulatedOperation) -> None: ...

    def note(self, name: str) -> Any:
        """A JSON value; None if there is none."""
        ...

    def put_note(self, name: str, value: Any) -> None: ...

    def close(self) -> None: ...


class MemoryStore:
    """State that ends with the process."""

    def __init__(self) -> None:
        self._resources: dict[str, StoredResource] = {}
        self._keys: list[str] = []  # sorted
        self._operations: dict[str, EmulatedOperation] = {}
        self._notes: dict[str, Any] = {}

    def transaction(self) -> AbstractContextManager[None]:
        return nullcontext()

    def resource(self, key: str) -> StoredResource | None:
        return self._resources.get(key)

    def put_resource(self, key: str, resource: StoredResource) -> None:
        if key not in self._resources:
            insort(self._keys, key)
        self._resources[key] = resource

    def drop_resource(self, key: str) -> None:
        if self._resources.pop(key, None) is not None:
            del self._keys[bisect_left(self._keys, key)]

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        return [(key, self._resources[key]) for key in self.keys(prefix)]

    def keys(self, prefix: str) -> list[str]:
        start = bisect_left(self._keys, prefix)
        return self._keys[start : bisect_left(self._keys, prefix + _LAST, start)]

    def operation(self, name: str) -> EmulatedOperation | None:
        return self._operations.get(name)

    def put_operation(self, operation: EmulatedOperation) -> None:
        self._operations[operation.id] = operation

    def note(self, name: str) -> Any:
        return self._notes.get(name)

    def put_note(self, name: str, value: Any) -> None:
        self._notes[name] = value

    def close(self) -> None:
        """Nothing to close."""


class SqliteStore:
    """A `Store` in a file; created if it does not exist. ConfigError if the file is something else."""

    def __init__(self, path: Path) -> None:
        try:
            self._db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise _make_unusable_error(path, error) from error
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            self._db.close()
            raise _make_unusable_error(path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def resource(self, key: str) -> StoredResource | None:
        value = self._get("SELECT value FROM resources WHERE key = ?", key)
        return StoredResource(**value) if value is not None else None

    def put_resource(self, key: str, resource: StoredResource) -> None:
        self._put("INSERT OR REPLACE INTO resources VALUES (?, ?)", key, encode_json(resource))

    def drop_resource(self, key: str) -> None:
        self._db.execute("DELETE FROM resources WHERE key = ?", (key,))

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        rows = self._db.execute(
            "SELECT key, value FROM resources WHERE key >= ? AND key < ? ORDER BY key", (prefix, prefix + _LAST)
        )
        return [(key, StoredResource(**json.loads(value))) for key, value in rows]

    def keys(self, prefix: str) -> list[str]:
        rows = self._db.execute(
            "SELECT key FROM resources WHERE key >= ? AND key < ? ORDER BY key", (prefix, prefix + _LAST)
        )
        return [key for (key,) in rows]

    def operation(self, name: str) -> EmulatedOperation | None:
        value = self._get("SELECT value FROM operations WHERE key = ?", name)
        return EmulatedOperation(**value) if value is not None else None

    def put_operation(self, operation: EmulatedOperation) -> None:
        self._put("INSERT OR REPLACE INTO operations VALUES (?, ?)", operation.id, encode_json(operation))

    def note(self, name: str) -> Any:
        return self._get("SELECT value FROM notes WHERE key = ?", name)

    def put_note(self, name: str, value: Any) -> None:
        self._put("INSERT OR REPLACE INTO notes VALUES (?, ?)", name, value)

    def close(self) -> None:
        self._db.close()

    def _get(self, statement: str, key: str) -> Any:
        row = self._db.execute(statement, (key,)).fetchone()
        return json.loads(row[0]) if row is not None else None

    def _put(self, statement: str, key: str, value: Any) -> None:
        self._db.execute(statement, (key, json.dumps(value)))


def _make_unusable_error(path: Path, error: sqlite3.Error) -> ConfigError:
    return ConfigError(
        f"The file {path} cannot hold the emulator's state: {error}.",
        hint="Use a file that the emulator created, or a new file in a writable folder.",
    )

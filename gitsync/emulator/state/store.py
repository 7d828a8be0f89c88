"""The stored resources and operations, and their storage: in memory, or in an SQLite file that several processes share,
at once or in turn.

A store only keeps and finds values. A stored value is never changed in place; a change is a new value under the same
key. So a store may hold the values themselves, and a transaction is undone by one assignment for each write. In a file
a request is one transaction: a killed process leaves the file as before or after the request, never between.

For lists that lag behind, `RememberingStore` keeps the previous value of each resource in the same store, under keys
that no path has, so that it outlasts the process too. Values during an operation do not count: before a write means
before its operation began.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.settings.files.output_path import check_output_path


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResource:
    """One resource."""

    id: str
    body: Mapping[str, Any]  # as sent, with its secrets, without id, name, type and provisioningState
    api_version: str
    number: int  # counts creations, so that children keep their order
    created: str
    changed: str
    by: str = ""  # who is its author in `systemData`
    version: int = 1  # counts the changes of this one
    state: str = "Succeeded"  # its provisioningState
    shown: Mapping[str, Any] = field(default_factory=dict)
    """Values that only Azure sets, by JSON pointer: answers show them over the body, and no request changes them."""

    visible: bool = True  # False while an operation that answered 202 creates it
    hidden: int = 0  # the number of further reads that return "not found"
    operation: str = ""  # the id of the current one
    replaced: float = 0.0  # the time when another value replaced it, in seconds since 1970; 0 if none has

    @property
    def etag(self) -> str:
        return f'W/"{self.number:08x}-0000-4000-8000-{self.version:012x}"'


def make_implied(owner: StoredResource, path: str, body: Mapping[str, Any]) -> StoredResource:
    """Make an implied resource, with the times of its owner."""
    return StoredResource(
        id=path,
        body=body,
        api_version=owner.api_version,
        number=owner.number,
        created=owner.created,
        changed=owner.created,
        by=owner.by,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedOperation:
    """One long-running operation. It ends after both its polls and its seconds."""

    id: str
    key: str  # of the resource
    path: str  # of the resource
    verb: str  # PUT, PATCH, DELETE or POST
    style: str
    api_version: str
    started: float  # in seconds since 1970
    polls: int = 0  # how many are left until it ends
    seconds: float = 0.0  # how long until it ends
    retry_after: int = 0  # seconds, 0 for no header
    running: str = "InProgress"  # its status until it ends
    result: str = "Succeeded"  # its final status
    error: Mapping[str, Any] | None = None  # its final error
    host: str = ""  # the host of the URLs instead of the emulator's
    location: str = "global"
    over: bool = False  # it has ended, with its effect
    action: str = ""  # the last word of a POST, or a special effect of a DELETE
    answer: Any = None  # the final answer of the Location of a POST
    ended: float = 0.0  # as `started`


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """One requested write, delete or action, with any result."""

    id: str  # of the resource
    at: float  # in seconds since 1970
    method: str
    action: str  # the permission for it
    status: int
    correlation: str
    change: str = ""  # Create, Update or Delete, "" if the resource stayed as it was
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The previous and the new value of each path that an update changed, as text."""

    deleted: Sequence[str] = ()  # the ids of the resources that a delete removed with it
    caller: Mapping[str, str] = field(default_factory=dict)  # the known members of `Caller`
    client_request: str = ""  # the id that the client gave the request
    operation: str = ""  # the id of the operation that the request started; until it ends, a delete has changed nothing
    body: Any = None
    error: Mapping[str, Any] | None = None  # the error that was answered, None without one
    policies: Sequence[Mapping[str, str]] = ()  # the effect of each policy on the request
    in_activity_log: bool = True  # False for what no request named, as a parent whose child changed


_MEMBERS = {
    cls: tuple(field.name for field in fields(cls)) for cls in (StoredResource, EmulatedOperation, LoggedChange)
}


def encode_json(value: StoredResource | EmulatedOperation | LoggedChange) -> dict[str, Any]:
    """Encode the members by name; they are already JSON, so nothing is copied."""
    return {name: getattr(value, name) for name in _MEMBERS[type(value)]}


_LAST = "\U0010ffff"
"""Sorts after every character of a key."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS operations (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL);
"""
_WAIT_SECONDS = 30.0
_MOST_CHANGES = 100_000
"""The maximum number of entries; the newest are kept."""


class Store(Protocol):
    """Resources by key, operations by id, and notes: small JSON values by name."""

    def transaction(self) -> AbstractContextManager[None]:
        """Make reads and writes inside atomic; an exception undoes all writes."""
        ...

    def resource(self, key: str) -> StoredResource | None: ...

    def put_resource(self, key: str, resource: StoredResource) -> None: ...

    def drop_resource(self, key: str) -> None: ...

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        """Return every resource whose key has the prefix, sorted by key."""
        ...

    def keys(self, prefix: str) -> list[str]:
        """Return only the keys, which for many resources are read much faster than the values."""
        ...

    def operation(self, name: str) -> EmulatedOperation | None: ...

    def put_operation(self, operation: EmulatedOperation) -> None: ...

    def note(self, name: str) -> Any:
        """Return a JSON value; None if there is none."""
        ...

    def put_note(self, name: str, value: Any) -> None: ...

    def changes(self) -> list[LoggedChange]:
        """Return the log of changes, the oldest first."""
        ...

    def add_change(self, change: LoggedChange) -> None: ...

    def close(self) -> None: ...


_Replaced = tuple[dict[str, Any], str, Any]
"""A value that was replaced, with its mapping and its key; None if there was none."""


class MemoryStore:
    """State that ends with the process."""

    def __init__(self) -> None:
        self._resources: dict[str, StoredResource] = {}
        self._keys: list[str] = []  # sorted
        self._operations: dict[str, EmulatedOperation] = {}
        self._notes: dict[str, Any] = {}
        self._changes: list[LoggedChange] = []
        self._replaced: list[_Replaced] | None = None  # by the current transaction, in order; None without one

    def copy(self) -> MemoryStore:
        """Return a store with the current content of this one. Values are never changed in place, so both may share
        them.
        """
        other = MemoryStore()
        other._resources, other._keys = dict(self._resources), list(self._keys)
        other._operations, other._notes = dict(self._operations), dict(self._notes)
        other._changes = list(self._changes)
        return other

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # No request waits in the middle, so none sees the unfinished work of another.
        replaced: list[_Replaced] = []
        self._replaced = replaced
        changes, count = self._changes, len(self._changes)
        try:
            yield
        except BaseException:
            self._replaced = None
            for values, key, value in reversed(replaced):
                self._put(values, key, value)
            self._keys = sorted(self._resources)
            self._changes = changes[:count]
            raise
        self._replaced = None

    def resource(self, key: str) -> StoredResource | None:
        return self._resources.get(key)

    def put_resource(self, key: str, resource: StoredResource) -> None:
        # A sorted list of keys finds prefixes without reading all resources.
        if key not in self._resources:
            insort(self._keys, key)
        self._put(self._resources, key, resource)

    def drop_resource(self, key: str) -> None:
        if key in self._resources:
            del self._keys[bisect_left(self._keys, key)]
            self._put(self._resources, key, None)

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        return [(key, self._resources[key]) for key in self.keys(prefix)]

    def keys(self, prefix: str) -> list[str]:
        start = bisect_left(self._keys, prefix)
        return self._keys[start : bisect_left(self._keys, prefix + _LAST, start)]

    def operation(self, name: str) -> EmulatedOperation | None:
        return self._operations.get(name)

    def put_operation(self, operation: EmulatedOperation) -> None:
        self._put(self._operations, operation.id, operation)

    def note(self, name: str) -> Any:
        return self._notes.get(name)

    def put_note(self, name: str, value: Any) -> None:
        self._put(self._notes, name, value)

    def changes(self) -> list[LoggedChange]:
        return list(self._changes)

    def add_change(self, change: LoggedChange) -> None:
        self._changes.append(change)
        if len(self._changes) > _MOST_CHANGES:  # a tenth at once: dropping one moves all others
            # In a new list, since a transaction that breaks restores the old one.
            self._changes = self._changes[_MOST_CHANGES // 10 :]

    def close(self) -> None:
        """Do nothing."""

    def _put(self, values: dict[str, Any], key: str, value: Any) -> None:
        """Set a value; None drops it."""
        if self._replaced is not None:
            self._replaced.append((values, key, values.get(key)))
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value


class SqliteStore:
    """A `Store` in a file; created if it does not exist. ConfigError if it is another kind of file, or if a link in a
    checkout or in `source` leads to it.
    """

    def __init__(self, path: Path, source: str | None = None) -> None:
        # SQLite itself does not follow links to the files that it keeps next to this one.
        path = check_output_path(path, source, "The emulator's state")
        try:
            # Without an isolation level the driver begins no transaction of its own beside those of `transaction`.
            self._db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise _make_unusable_error(path, error) from error
        try:
            # Readers do not wait for a writer; losing the last transaction in a power cut is acceptable here.
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            self._db.close()
            raise _make_unusable_error(path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # A write lock from the start: upgrading it later could fail when two processes write.
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

    def changes(self) -> list[LoggedChange]:
        rows = self._db.execute("SELECT value FROM changes ORDER BY number")
        return [LoggedChange(**json.loads(value)) for (value,) in rows]

    def add_change(self, change: LoggedChange) -> None:
        added = self._db.execute("INSERT INTO changes (value) VALUES (?)", (json.dumps(encode_json(change)),))
        number = added.lastrowid or 0
        if number % (_MOST_CHANGES // 10) == 0:  # a tenth at once, as in memory
            self._db.execute("DELETE FROM changes WHERE number <= ?", (number - _MOST_CHANGES,))

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


_PAST = "past:"


class _StoreView:
    """A `Store` that delegates everything to another one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def transaction(self) -> AbstractContextManager[None]:
        return self._store.transaction()

    def resource(self, key: str) -> StoredResource | None:
        return self._store.resource(key)

    def put_resource(self, key: str, resource: StoredResource) -> None:
        self._store.put_resource(key, resource)

    def drop_resource(self, key: str) -> None:
        self._store.drop_resource(key)

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        return self._store.below(prefix)

    def keys(self, prefix: str) -> list[str]:
        return self._store.keys(prefix)

    def operation(self, name: str) -> EmulatedOperation | None:
        return self._store.operation(name)

    def put_operation(self, operation: EmulatedOperation) -> None:
        self._store.put_operation(operation)

    def note(self, name: str) -> Any:
        return self._store.note(name)

    def put_note(self, name: str, value: Any) -> None:
        self._store.put_note(name, value)

    def changes(self) -> list[LoggedChange]:
        return self._store.changes()

    def add_change(self, change: LoggedChange) -> None:
        self._store.add_change(change)

    def close(self) -> None:
        self._store.close()


class RememberingStore(_StoreView):
    """A `Store` that keeps the previous value at each change."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store)
        self._clock = clock

    def put_resource(self, key: str, resource: StoredResource) -> None:
        before = self._store.resource(key)
        if before is None:
            self._store.drop_resource(_PAST + key)  # of a resource that was deleted in between
        elif before.version != resource.version:  # not only its operation
            self._remember(key, before)
        self._store.put_resource(key, resource)

    def drop_resource(self, key: str) -> None:
        before = self._store.resource(key)
        if before is not None:
            self._remember(key, before)
        self._store.drop_resource(key)

    def _remember(self, key: str, before: StoredResource) -> None:
        # A list that lags behind shows the value from before a write, not one from the middle of its operation.
        if not before.operation:
            self._store.put_resource(_PAST + key, replace(before, replaced=self._clock.now().timestamp()))


class PastStore(_StoreView):
    """A `Store` that shows values that were replaced after `since`, in seconds since 1970."""

    def __init__(self, store: Store, since: float) -> None:
        super().__init__(store)
        self._since = since

    def resource(self, key: str) -> StoredResource | None:
        past = self._store.resource(_PAST + key)
        return past if past is not None and self._is_shown(past) else self._store.resource(key)

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        # Past values win: they include resources that have been deleted since.
        return sorted((dict(self._store.below(prefix)) | self._list_shown(prefix)).items())

    def keys(self, prefix: str) -> list[str]:
        return sorted({*self._store.keys(prefix), *self._list_shown(prefix)})

    def _list_shown(self, prefix: str) -> dict[str, StoredResource]:
        rows = self._store.below(_PAST + prefix)
        return {key.removeprefix(_PAST): past for key, past in rows if self._is_shown(past)}

    def _is_shown(self, past: StoredResource) -> bool:
        return past.replaced > self._since

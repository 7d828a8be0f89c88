"""Where the emulator's state is: in memory, or in a file that several processes share (`gitsync.emulator.sqlite`).

A store keeps and finds; it decides nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from gitsync.emulator.stored import Operation, Stored

LAST = "\U0010ffff"
"""Sorts after every character that a key may hold."""


class Store(Protocol):
    """Resources by key, operations by id, and notes: small JSON values by name."""

    def transaction(self) -> AbstractContextManager[None]:
        """What is read and written inside holds together; left by an exception, nothing of it stays."""
        ...

    def resource(self, key: str) -> Stored | None: ...

    def put_resource(self, key: str, resource: Stored) -> None: ...

    def drop_resource(self, key: str) -> None: ...

    def below(self, prefix: str) -> list[tuple[str, Stored]]:
        """Every resource whose key begins so, sorted by key."""
        ...

    def operation(self, name: str) -> Operation | None: ...

    def put_operation(self, operation: Operation) -> None: ...

    def note(self, name: str) -> Any:
        """A JSON value; None where there is none."""
        ...

    def put_note(self, name: str, value: Any) -> None: ...

    def close(self) -> None: ...


class MemoryStore:
    """State that ends with the process."""

    def __init__(self) -> None:
        self._resources: dict[str, Stored] = {}
        self._keys: list[str] = []  # sorted
        self._operations: dict[str, Operation] = {}
        self._notes: dict[str, Any] = {}

    def transaction(self) -> AbstractContextManager[None]:
        return nullcontext()

    def resource(self, key: str) -> Stored | None:
        return self._resources.get(key)

    def put_resource(self, key: str, resource: Stored) -> None:
        if key not in self._resources:
            insort(self._keys, key)
        self._resources[key] = resource

    def drop_resource(self, key: str) -> None:
        if self._resources.pop(key, None) is not None:
            del self._keys[bisect_left(self._keys, key)]

    def below(self, prefix: str) -> list[tuple[str, Stored]]:
        return list(self._range(prefix))

    def _range(self, prefix: str) -> Iterator[tuple[str, Stored]]:
        start = bisect_left(self._keys, prefix)
        end = bisect_left(self._keys, prefix + LAST, start)
        for key in self._keys[start:end]:
            yield key, self._resources[key]

    def operation(self, name: str) -> Operation | None:
        return self._operations.get(name)

    def put_operation(self, operation: Operation) -> None:
        self._operations[operation.id] = operation

    def note(self, name: str) -> Any:
        return self._notes.get(name)

    def put_note(self, name: str, value: Any) -> None:
        self._notes[name] = value

    def close(self) -> None:
        """Nothing to close."""

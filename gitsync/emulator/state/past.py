"""The last value of each resource before the present one, for lists that lag behind.

It is kept beside the present values in the same store, under keys that no path has; so it outlasts the process as they
do. Values under way do not count: before a write means before its operation began.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from gitsync.emulator.state.store import Store
from gitsync.emulator.state.stored import EmulatedOperation, StoredResource
from gitsync.model.clock import Clock

_PAST = "past:"


class _StoreView:
    """A `Store` that leaves everything to another one."""

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

    def close(self) -> None:
        self._store.close()


class RememberingStore(_StoreView):
    """A `Store` that keeps the value that each change replaces."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store)
        self._clock = clock

    def put_resource(self, key: str, resource: StoredResource) -> None:
        before = self._store.resource(key)
        if before is None:
            self._store.drop_resource(_PAST + key)  # of a resource that was deleted since
        elif before.version != resource.version:
            self._remember(key, before)
        self._store.put_resource(key, resource)

    def drop_resource(self, key: str) -> None:
        before = self._store.resource(key)
        if before is not None:
            self._remember(key, before)
        self._store.drop_resource(key)

    def _remember(self, key: str, before: StoredResource) -> None:
        if not before.operation:
            self._store.put_resource(_PAST + key, replace(before, replaced=self._clock.now().timestamp()))


class PastStore(_StoreView):
    """A `Store` that shows what was replaced after `since`, in seconds since 1970, as it was before."""

    def __init__(self, store: Store, since: float) -> None:
        super().__init__(store)
        self._since = since

    def resource(self, key: str) -> StoredResource | None:
        past = self._store.resource(_PAST + key)
        return past if past is not None and self._is_shown(past) else self._store.resource(key)

    def below(self, prefix: str) -> list[tuple[str, StoredResource]]:
        return sorted((dict(self._store.below(prefix)) | self._list_shown(prefix)).items())

    def keys(self, prefix: str) -> list[str]:
        return sorted({*self._store.keys(prefix), *self._list_shown(prefix)})

    def _list_shown(self, prefix: str) -> dict[str, StoredResource]:
        rows = self._store.below(_PAST + prefix)
        return {key.removeprefix(_PAST): past for key, past in rows if self._is_shown(past)}

    def _is_shown(self, past: StoredResource) -> bool:
        return past.replaced > self._since

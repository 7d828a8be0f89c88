"""Looks up values in the sources of secrets and config maps, in their order and once for each value.

Separate from the values of a run, since credentials are looked up before there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from gitsync.manifests.credential_secret import iterate_secrets
from gitsync.model.export import Address, Holder
from gitsync.model.secret import Secret
from gitsync.secrets.protocols import SecretSource


@dataclass(slots=True)
class LookupState:
    """The known values of one object. `unasked`: a plan does not ask remote sources, so there may be more."""

    values: dict[str, Secret] = field(default_factory=dict)
    exists: bool = False
    unasked: bool = False


class Lookup:
    """The sources of a run. A plan reads no remote source. `redact` gets every secret value that is found."""

    def __init__(self, sources: Sequence[SecretSource], *, asks_remote: bool, redact: Callable[[Secret], None]) -> None:
        self._sources = sources
        self._asks_remote = asks_remote
        self._redact = redact
        self._states: dict[Address, LookupState] = {}
        self._asked_keys: dict[Address, set[str | None]] = {}
        self._locks: dict[Address, asyncio.Lock] = {}

    async def ask(self, address: Address, key: str | None) -> LookupState:
        """Look for one key of an object, or for all of it, and return the state of the object.

        A key comes from the first source that has it, a whole object from the first that has the object. Raises
        VaultError if a source cannot be read.
        """
        return await self._ask_once(address, {key})

    async def ask_each(self, address: Address, keys: Iterable[str]) -> LookupState:
        """The same for several keys: each source is asked once, for all that no earlier one has."""
        return await self._ask_once(address, set(keys))

    async def _ask_once(self, address: Address, keys: set[str | None]) -> LookupState:
        async with self._locks.setdefault(address, asyncio.Lock()):
            asked_keys = self._asked_keys.setdefault(address, set())
            if None not in asked_keys and (new_keys := keys - asked_keys):
                await self._ask(address, sorted(key for key in new_keys if key is not None))
                asked_keys |= new_keys
        return self.found(address)

    def list_asked(self) -> tuple[SecretSource, ...]:
        """The sources that this run may ask, in order."""
        return tuple(source for source in self._sources if self._asks_remote or not source.is_remote)

    def found(self, address: Address) -> LookupState:
        """The state of an object, without a lookup."""
        return self._states.setdefault(address, LookupState())

    async def _ask(self, address: Address, keys: Sequence[str]) -> None:
        """Ask the sources for keys, or for the whole object if there are none."""
        state, missing = self.found(address), keys
        for source in self._sources:
            if source.is_remote and not self._asks_remote:
                state.unasked = True
                continue
            values = await source.read(address, tuple(missing))
            if values is None:
                continue
            state.exists = True
            for value in iterate_secrets(values) if address.holder is Holder.SECRET else ():
                self._redact(value)
            for name, value in values.items():
                state.values.setdefault(name, value)
            missing = [key for key in missing if key not in values]
            if not missing:
                return

"""Looks up values in the sources of secrets and config maps, in their order and once for each value.

Separate from the values of a run, since credentials are looked up before there is one: they are resolved before
planning, for no longer than the settings allow, and not once the run is stopped. Unknown differs from absent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gitsync.desired.manifests.credential_secret import KEYS, SUBSCRIPTION, iterate_secrets
from gitsync.desired.request.credential_choice import CredentialLookup, CredentialName, Unknown
from gitsync.errors import SecretStoreError, TransientStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.problem import Level, Problem
from gitsync.model.secret import Secret
from gitsync.repository.secrets.protocols import SecretSource


@dataclass(slots=True)
class LookupState:
    """The known values of one object."""

    values: dict[str, Secret] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)  # the source of each value, by its name
    exists: bool = False  # some source has the object
    unread: str = ""  # why a plan did not read a source that may have more values


class Lookup:
    """The sources of a run. `redact` gets every secret value that is found.

    `reads_remote_secrets`: remote sources are read as all others. Otherwise they are read by a plan that may not see
    their Secrets: it reads their config maps alone, and only as far as they answer.
    """

    def __init__(
        self, sources: Sequence[SecretSource], *, reads_remote_secrets: bool, redact: Callable[[Secret], None]
    ) -> None:
        self._sources = sources
        self._reads_remote_secrets = reads_remote_secrets
        self._redact = redact
        self._refused: dict[str, dict[Address, SecretStoreError]] = {}
        self._states: dict[Address, LookupState] = {}
        self._requested_keys: dict[Address, set[str | None]] = {}
        self._locks: dict[Address, asyncio.Lock] = {}

    async def request(self, address: Address, key: str | None) -> LookupState:
        """Look for one key of an object, or for all of it, and return the state of the object.

        A key comes from the first source that has it, a whole object from the first that has the object. Raises
        SecretStoreError if a source cannot be read.
        """
        return await self._request_once(address, {key})

    async def request_each(self, address: Address, keys: Iterable[str]) -> LookupState:
        """Look for several keys: each source is read once, for all that no earlier one has."""
        return await self._request_once(address, set(keys))

    async def _request_once(self, address: Address, keys: set[str | None]) -> LookupState:
        # Resources ask at the same time: the second one finds what the first one learned.
        async with self._locks.setdefault(address, asyncio.Lock()):
            requested_keys = self._requested_keys.setdefault(address, set())
            if None not in requested_keys and (new_keys := keys - requested_keys):
                await self._request(address, sorted(key for key in new_keys if key is not None))
                requested_keys |= new_keys
        return self.get_state(address)

    def list_requested(self) -> tuple[SecretSource, ...]:
        """List the sources that this run may ask, in order."""
        return tuple(source for source in self._sources if self._reads_remote_secrets or not source.is_remote)

    def get_state(self, address: Address) -> LookupState:
        """Return the state of an object, without a lookup."""
        return self._states.setdefault(address, LookupState())

    async def _request(self, address: Address, keys: Sequence[str]) -> None:
        """Read keys from the sources, or the complete object if there are none."""
        state, missing = self.get_state(address), keys
        for source in self._sources:
            values, unread = await self._read(source, address, tuple(missing))
            if unread:
                state.unread = unread
                return  # this source goes before the ones that follow
            if values is None:
                continue
            state.exists = True
            for value in iterate_secrets(values) if address.object_kind is ObjectKind.SECRET else ():
                self._redact(value)
            for name, value in values.items():
                state.values.setdefault(name, value)  # an earlier source has it already
                state.origins.setdefault(name, source.name)
            missing = [key for key in missing if key not in values]
            if not missing:
                return

    async def _read(
        self, source: SecretSource, address: Address, keys: tuple[str, ...]
    ) -> tuple[Mapping[str, Secret] | None, str]:
        """Read the values of one source, and why they are not known, if a plan may not or cannot read them."""
        if not source.is_remote or self._reads_remote_secrets:
            return await source.read(address, keys), ""
        # A plan may run for a pull request of a stranger, so it reads remote Secrets only with --plan-secrets.
        if address.object_kind is ObjectKind.SECRET:
            return None, f"it reads no Secrets from {source.name} without --plan-secrets"
        return await self._try(source, address, keys)

    async def _try(
        self, source: SecretSource, address: Address, keys: tuple[str, ...]
    ) -> tuple[Mapping[str, Secret] | None, str]:
        """Read a config map, which a plan reads if it may."""
        refused = self._refused.setdefault(source.name, {})
        # A source that did not answer is not asked again.
        silence = next((error for error in refused.values() if isinstance(error, TransientStoreError)), None)
        try:
            if silence:  # it would keep every other object waiting as long
                raise silence
            return await source.read(address, keys), ""
        except SecretStoreError as error:
            refused[address] = error
            return None, f"{address} could not be read from {source.name}. {error}"

    def warn_unread(self) -> tuple[Problem, ...]:
        """Return a warning for each source with config maps that a plan could not read."""
        return tuple(_make_unread_problem(name, refused) for name, refused in self._refused.items() if refused)


def _make_unread_problem(source: str, refused: Mapping[Address, SecretStoreError]) -> Problem:
    (address, error), *more = refused.items()
    names = f"{address} and {len(more)} more" if more else str(address)
    return Problem(
        code="ValuesNotRead",
        level=Level.WARNING,
        message=f"The plan could not read {names} from {source}, so it is unknown whether the values changed. "
        f"{error.message}",
        hint=error.hint,
    )


T = TypeVar("T")
TIMED_OUT = "Timed out waiting for secret sources."


async def wait_for_sources(work: Coroutine[Any, Any, T], *, resource_timeout: float, stop: asyncio.Event) -> T | None:
    """Wait for a lookup, and return its result; None if the sources do not answer within `resource_timeout` seconds, or
    the run is stopped.
    """
    lookup_task = asyncio.create_task(work)
    stop_task = asyncio.create_task(stop.wait())
    await asyncio.wait({lookup_task, stop_task}, timeout=resource_timeout, return_when=asyncio.FIRST_COMPLETED)
    stop_task.cancel()
    if lookup_task.done():
        return lookup_task.result()
    lookup_task.cancel()
    # Awaited, so that no request is under way when its connection is closed.
    await asyncio.wait({lookup_task})
    return None


async def look_up_credentials(
    credential_names: Iterable[CredentialName], lookup: Lookup, *, resource_timeout: float, stop: asyncio.Event
) -> Mapping[CredentialName, CredentialLookup]:
    """Find the state of each of these Secrets in the sources. It is unknown if the sources do not answer within
    `resource_timeout` seconds, or the run is stopped.
    """
    names = tuple(credential_names)

    async def look_up_every() -> Mapping[CredentialName, CredentialLookup]:
        return {name: await _look_up_credential(name, lookup) for name in names}

    lookups = await wait_for_sources(look_up_every(), resource_timeout=resource_timeout, stop=stop)
    return dict.fromkeys(names, Unknown(TIMED_OUT)) if lookups is None else lookups


async def _look_up_credential(credential: CredentialName, lookup: Lookup) -> CredentialLookup:
    """Look for the whole Secret, or for its keys: the environment has no whole objects; the subscription shows that it
    has this one.
    """
    address = Address(ObjectKind.SECRET, *credential)
    try:
        # The environment has no whole objects, so one key that every credential has is requested first.
        state = await lookup.request(address, SUBSCRIPTION)
        if not state.exists:
            # A source with whole objects may have the Secret without this key, which is a mistake to report.
            state = await lookup.request(address, None)
        if state.exists:
            # Keys of one Secret may come from several sources, so that a secret can be stored apart from the ids.
            state = await lookup.request_each(address, KEYS)
    except SecretStoreError as error:
        return Unknown(error.message, error.hint)
    if state.exists:
        return dict(state.values)
    return Unknown(f"not known to a plan: {state.unread}.", unasked=True) if state.unread else None

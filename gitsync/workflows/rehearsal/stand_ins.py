"""Substitutes for everything outside the process: settings without keys, the state in memory, and sources and sinks
with made-up values.

A made-up value is derived from the name of the value, so it is the same in every run of a rehearsal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Final, Self
from uuid import UUID, uuid5

from gitsync.desired.manifests.credential_secret import (
    CLIENT,
    KEYS,
    OF_NAMESPACE,
    REQUIRED,
    SUBSCRIPTION,
    TENANT,
    is_id,
)
from gitsync.desired.request.credential_choice import CredentialName
from gitsync.model.attribution import Who
from gitsync.model.export import NAMELESS, Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.record import Heartbeat, LastRun, Record, State, Trust
from gitsync.model.secret import Secret
from gitsync.model.signin import Method
from gitsync.repository.git.state.store import Update, compute_changes, merge
from gitsync.repository.secrets.protocols import SecretSource
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.sources.declared_objects import ManifestSource
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config

_DIGEST_KEY: Final = "the digest key of all rehearsals, which protects nothing"
"""A digest that was made with another key never counts as changed, so recorded digests do not."""

_NAMES: Final = UUID("6d7c1b52-1d0e-4a53-9a0f-0d9a4b0c7e11")
_NOBODY: Final = str(UUID(int=0))


def disarm(config: Config, agent: str) -> Config:
    """Return the settings of a rehearsal: those of a sync, without everything that signs, sends or writes. Uncommitted
    files are allowed.
    """
    return replace(
        config,
        agent=agent,
        emulator="",
        credential=Method.ANONYMOUS.value,
        digest_key=Secret(_DIGEST_KEY),
        previous_digest_key=None,
        known_from=(),
        who=Who.OFF.value,
        allow_dirty=True,
        heartbeat=False,
        notify=None,
        notify_file=None,
        metrics=None,
        plan_file=None,
        plan_out=None,
    )


class StateInMemory:
    """A StateStore. All its records count as signed, since a rehearsal has no key to check seals with.

    After `cut_off`, it behaves like the store of a killed process: nothing is written any more.
    """

    def __init__(self, state: State, name: str) -> None:
        self.name = name
        self.state = state
        self._is_cut_off = False

    def load(self) -> State:
        records = {key: replace(record, trust=Trust.SIGNED) for key, record in self.state.records.items()}
        return replace(self.state, records=records)

    def check_writable(self) -> None:
        """Do nothing: memory is writable."""

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        self.save(update)
        return {}

    def save(self, update: Update) -> bool:
        changes = compute_changes(self.state, update)
        # The killed process may still save while it ends, which a real one could not.
        if changes and not self._is_cut_off:
            self.state = merge(self.state, changes, update.revision, update.agent)
        return bool(changes)

    def cut_off(self) -> None:
        self._is_cut_off = True

    def read_last_run(self) -> LastRun | None:
        return None

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:  # noqa: ARG002 - the protocol's
        return ()

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        return ()

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Do nothing: a rehearsal does not count as a run of the agent."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing to close."""


ValueName = tuple[Address, str]
"""The name of a value: its object, and its key there."""

RequestedValues = AbstractSet[ValueName]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValues:
    """Values that a rehearsal lacks, as far as records have them."""

    subscription: str  # of all resources without a credential Secret
    subscriptions: Mapping[CredentialName, str] = field(default_factory=dict)  # those of credential Secrets
    values: Mapping[ValueName, str] = field(default_factory=dict)  # of ConfigMaps and variables, as they were sent last
    secret_keys: Mapping[Address, tuple[str, ...]] = field(default_factory=dict)
    """The keys of Secrets that were sent in full."""


class MadeUpSource:
    """A Source that has every object with every key. Only an object that a manifest declares has just its keys in git,
    so that variables without a key there get their defaults. `requested` collects the values that were made up.

    The credential Secret of a namespace exists only if a record or a manifest names it, since it decides in which
    subscription a resource is created.
    """

    name = "rehearsal"
    is_remote = False

    def __init__(self, known: KnownValues, manifests: Manifests, requested: set[ValueName]) -> None:
        self._known = known
        self._encrypted = manifests.objects.encrypted
        self._declared = manifests.objects.declared
        self._requested = requested

    async def owner(self, _address: Address) -> str | None:
        """Return None: no export can conflict with its objects."""
        return None

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        is_secret = address.object_kind is ObjectKind.SECRET
        if is_secret and self._is_credential(address, keys):
            return self._read_credential(address)
        encrypted = self._encrypted.get(address)
        # A missing key of a declared object is missing in a run as well.
        if address in self._declared and not encrypted:
            return None
        own = tuple(encrypted.values) if encrypted else self._known.secret_keys.get(address, ("value",))
        names = [key for key in keys if not encrypted or key in own] or (() if keys else own)
        known = {name: text for name in names if (text := self._known.values.get((address, name)))}
        self._requested |= {(address, name) for name in names if name not in known}
        return {name: Secret(known.get(name) or make_up(address, name)) for name in names}

    def _is_credential(self, address: Address, keys: Sequence[str]) -> bool:
        return address.name == OF_NAMESPACE or (bool(keys) and set(keys) <= set(KEYS))

    def _read_credential(self, address: Address) -> Mapping[str, Secret] | None:
        encrypted = self._encrypted.get(address)
        subscription = self._known.subscriptions.get((address.namespace, address.name))
        # It would move all resources of the namespace to another subscription.
        if subscription is None and encrypted is None and address.name == OF_NAMESPACE:
            return None
        written = encrypted.values.get(SUBSCRIPTION, "") if encrypted else ""
        self._requested |= {(address, key) for key in REQUIRED}
        values = {SUBSCRIPTION: (written if is_id(written) else subscription) or self._known.subscription}
        return {key: Secret(value) for key, value in {**values, TENANT: _NOBODY, CLIENT: _NOBODY}.items()}


def make_up(address: Address, key: str) -> str:
    """Make up a value: a UUID, which most fields take."""
    return str(uuid5(_NAMES, f"{address}/{key}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpStores(SecretStores):
    """The manifests, then a source for everything else. Nothing is decrypted, and no configured source is read."""

    known: KnownValues
    requested: set[ValueName]  # collects the values that were made up

    def list_sources(self, manifests: Manifests) -> tuple[SecretSource, ...]:
        return ManifestSource(manifests), MadeUpSource(self.known, manifests, self.requested)


def make_stores(config: Config, state: State, known: KnownValues, requested: set[ValueName]) -> SecretStores:
    """Make the sources of a run, and a sink in memory for each configured sink."""
    owners = {
        address: str(Owner(key, record.agent or NAMELESS))
        for key, record in state.records.items()
        for address in record.exports
    }
    return MadeUpStores(
        sinks=tuple(SinkInMemory(word, owners) for word in config.export_to if word != KeptConfigMaps.name),
        keeps_config_maps=KeptConfigMaps.name in config.export_to,
        known=known,
        requested=requested,
    )


class SinkInMemory:
    """A Sink. It starts with the exported objects in the records, and keeps only their owners."""

    def __init__(self, name: str, owners: Mapping[Address, str]) -> None:
        self.name = name
        self._owners = dict(owners)

    async def check(self) -> None:
        """Do nothing: memory is writable."""

    async def owner(self, address: Address) -> str | None:
        return self._owners.get(address)

    async def write(self, export: Export) -> None:
        self._owners[export.address] = str(export.owner)

    async def remove(self, address: Address, owner: Owner) -> None:
        if self._owners.get(address) == str(owner):
            del self._owners[address]

"""The protocols of sources and sinks of Secrets and config maps.

Separate from the sources and sinks, since the run depends only on these protocols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from gitsync.model.export import Address, Export, Owner
from gitsync.model.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportNeeds:
    """What a run may do to a sink: the objects that it may write, and those that it may remove; sorted."""

    written: tuple[Address, ...] = ()
    removed: tuple[Address, ...] = ()


class VaultConnection(Protocol):
    """The SDK's transport over an open session, and the proxy for a URL as the SDK takes it."""

    @property
    def transport(self) -> Any: ...

    def read_proxies(self, url: str) -> Mapping[str, str]: ...


class SecretSource(Protocol):
    """A source of values."""

    name: str  # its word in the setting `secret_sources`
    is_remote: bool  # a read sends a request to a service: a plan never does

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Read the values of an object, by key; None if this source does not have the object.

        `keys` are the wanted keys, so that no more is fetched than needed; none means all of them. The result may lack
        some of them. Raises SecretStoreError if the object cannot be read.
        """
        ...


@runtime_checkable
class KnowsOwners(Protocol):
    """An optional part of a source: it may hold exports. All objects of a source without it belong to people."""

    async def owner(self, address: Address) -> str | None:
        """Return the owner of the object at an address, as a sink reports it.

        Raises SecretStoreError if the object cannot be read.
        """
        ...


class Sink(Protocol):
    """A target of exported objects."""

    name: str  # its word in the setting `export_to`

    async def check(self) -> None:
        """Check that the sink is writable, before the run changes anything; ConfigError has the hint."""
        ...

    async def owner(self, address: Address) -> str | None:
        """Return the owner of the object at an address: the text of the owner's key, "" for no owner, None for no
        object.

        Raises SecretStoreError if the object cannot be read.
        """
        ...

    async def write(self, export: Export) -> None:
        """Write a whole object: keys, annotations and labels that it no longer has are removed.

        If nothing changed, nothing is written. Raises SecretStoreError, also if the object belongs to another owner by
        now; then the object is unchanged, if the sink supports that.
        """
        ...

    async def remove(self, address: Address, owner: Owner) -> None:
        """Delete the object at an address, if this resource exported it.

        An object of another owner is not changed. Raises SecretStoreError if the object cannot be read or deleted.
        """
        ...


@runtime_checkable
class Examines(Protocol):
    """An optional part of a sink: it rejects objects that it does not support before anything is written."""

    def examine(self, exports: Sequence[Export]) -> None:
        """Raise SecretStoreError if one of the objects cannot be written here, whatever its owner, or not together with
        the others, in this order.
        """
        ...


@runtime_checkable
class HasParts(Protocol):
    """An optional part of a sink: it holds each key of an object by itself, and so perhaps of several owners."""

    async def owners(self, address: Address) -> Mapping[str, str]:
        """Return the owner of each part, as `owner` gives it, by what names the part in a sentence. Raises
        SecretStoreError as `owner` does.
        """
        ...


@runtime_checkable
class ChecksAccess(Protocol):
    """An optional part of a sink: it can check before the run whether it allows what the run needs."""

    async def check_access(self, needs: ExportNeeds) -> None:
        """Raise ConfigError, with what to grant, if something is not allowed or that could not be found out."""
        ...


@runtime_checkable
class Rehearses(Protocol):
    """An optional part of a sink: it can check whether a write will be accepted."""

    async def rehearse(self, exports: Sequence[Export]) -> None:
        """Raise SecretStoreError if one of the objects would not be written now: NotOwnedError for another's. Nothing
        changes.
        """
        ...

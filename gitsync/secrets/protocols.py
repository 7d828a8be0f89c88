"""What a place must do that Secrets and config maps are read from or written to.

Apart from the places, since the run knows only these two protocols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from gitsync.errors import GitsyncError
from gitsync.model.export import Address, Export, Owner
from gitsync.model.secret import Secret


class VaultError(GitsyncError):
    """A place of secrets could not be asked, or not be written to: what is in it is unknown, not absent."""


class SecretSource(Protocol):
    """Where values may be found. `name` is its word in the setting `secret_sources`.

    `is_remote` tells that asking it is a request to somewhere else: a plan never does.
    """

    name: str
    is_remote: bool

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """The values of an object, by key; None where this source does not have the object.

        `keys` are those that are wanted, so that no more is fetched than is needed; none means all of them. What is
        there may lack some of them. Raises VaultError where it cannot be told.
        """
        ...


class Sink(Protocol):
    """Where exported objects are written. `name` is its word in the setting `export_to`."""

    name: str

    async def check(self) -> None:
        """Make sure, before the run touches anything, that it can be written to; ConfigError says what to mend."""
        ...

    async def owner(self, address: Address) -> str | None:
        """Who owns what stands at an address: the text of the owner's key, "" for nobody, None where nothing is there.

        Raises VaultError where it cannot be told.
        """
        ...

    async def write(self, export: Export) -> None:
        """Put an object in its place, whole: keys, annotations and labels that it no longer has vanish.

        Where nothing changed, nothing is written. Raises VaultError, also where somebody else's stands there by now;
        then the object is as it was where the place can do that.
        """
        ...

    async def remove(self, address: Address, owner: Owner) -> None:
        """Take away what stands at an address, if this resource exported it.

        What is not there, or is somebody else's, stays as it is. Raises VaultError where that cannot be told or done.
        """
        ...


@runtime_checkable
class Examines(Protocol):
    """What a sink may have besides: a place that cannot hold every object says so before anything is written."""

    def examine(self, exports: Sequence[Export]) -> None:
        """Raise VaultError where one of the objects cannot be written here, whoever owns what stands there, or not
        beside the others, in this order.
        """
        ...

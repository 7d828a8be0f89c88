"""Stores of secrets in memory, for whole runs: what is in them, and their requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, Export, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret


class MemorySource:
    """A Source. `refuses` is raised by every check."""

    def __init__(
        self,
        name: str,
        values: dict[Address, dict[str, Secret]],
        *,
        is_remote: bool = False,
        refuses: SecretStoreError | None = None,
    ) -> None:
        self.name = name
        self.values = values
        self.is_remote = is_remote
        self.refuses = refuses
        self.requested: list[Address] = []

    def has(self, address: Address, **values: str) -> None:
        self.values[address] = {key: Secret(value) for key, value in values.items()}

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        self.requested.append(address)
        if self.refuses:
            raise self.refuses
        return self.values.get(address)


class MemorySink:
    """A Sink. What belongs to no one has the owner ""."""

    name = "memory"

    def __init__(self) -> None:
        self.objects: dict[Address, Export] = {}
        self.nobodys: set[Address] = set()
        self.refuses: SecretStoreError | None = None

    def has(self, address: Address, *, owner: str, **values: str) -> None:
        whose = Owner.parse(owner) if owner else Owner(Key("", "", "", ""))
        self.nobodys |= {address} if not owner else set()
        self.objects[address] = Export(address=address, owner=whose, data={k: Secret(v) for k, v in values.items()})

    async def check(self) -> None:
        """It can always be written to."""

    async def owner(self, address: Address) -> str | None:
        if self.refuses:
            raise self.refuses
        found = self.objects.get(address)
        return None if found is None else "" if address in self.nobodys else str(found.owner)

    async def write(self, export: Export) -> None:
        self.objects[export.address] = export

    async def remove(self, address: Address, owner: Owner) -> None:
        if await self.owner(address) == str(owner):
            del self.objects[address]

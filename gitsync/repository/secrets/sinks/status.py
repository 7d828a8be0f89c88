"""The sink `status`: exported config maps as files beside the records, written back with them at the end of the run."""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key


class KeptConfigMaps:
    """A Sink. `before` are the config maps in the status. Secrets are never kept there.

    `written` are the changes of the run; None for a removed config map.
    """

    name = "status"

    def __init__(self, before: Mapping[Address, Export]) -> None:
        self._before = before
        self.written: dict[Address, Export | None] = {}

    async def check(self) -> None:
        """Does nothing: the run itself checks that status can be written."""

    async def owner(self, address: Address) -> str | None:
        export = self.written[address] if address in self.written else self._before.get(address)
        return str(export.owner) if export else None

    def find_value(self, address: Address, key: str, owner: Key) -> str | None:
        """Find the value that a resource exported to a key before; None if the status has none."""
        export = self._before.get(address)
        value = export.data.get(key) if export and export.owner.key == owner else None
        return value.reveal() if value else None

    async def write(self, export: Export) -> None:
        if export.address.object_kind is ObjectKind.CONFIG_MAP:
            self.written[export.address] = export

    async def remove(self, address: Address, owner: Owner) -> None:
        if await self.owner(address) == str(owner):
            self.written[address] = None

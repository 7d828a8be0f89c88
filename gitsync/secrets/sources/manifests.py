"""The Secrets and config maps that the repository's own manifests declare: the first source of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitsync.model.export import Address, Holder
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Secret


class ManifestSource:
    """A Source."""

    name = "manifests"
    is_remote = False

    def __init__(self, manifests: Manifests) -> None:
        self._manifests = manifests

    async def owner(self, address: Address) -> str | None:
        declared = self._manifests.declared.get(address)
        return None if declared is None else declared.owner

    async def read(self, address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        identity = (address.namespace, address.name)
        if address.holder is Holder.SECRET:
            return self._manifests.secrets.get(identity)
        config_map = self._manifests.config_maps.get(identity)
        return None if config_map is None else {key: Secret(value) for key, value in config_map.items()}

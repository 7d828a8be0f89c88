"""The Secrets and config maps of the repository that are encrypted with SOPS: decrypted when the first value is
needed, and kept in memory.

So neither `validate` nor a run without such values needs the key. A failure affects only the resources that need the
value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gitsync.manifests.reader import read_manifests
from gitsync.model.export import Address, Holder
from gitsync.model.manifests import Encrypted, Manifests
from gitsync.model.secret import Secret
from gitsync.secrets.protocols import SecretSource, VaultError
from gitsync.secrets.sops import Sops


class EncryptedSource:
    """A Source: `plain` is that of the manifests that are not encrypted, and is asked for all else."""

    name = "manifests"
    is_remote = False

    def __init__(
        self, plain: SecretSource, encrypted: Mapping[Address, Encrypted], sops: Sops, *, namespace: str
    ) -> None:
        self._plain = plain
        self._encrypted = encrypted
        self._sops = sops
        self._namespace = namespace
        self._decrypted: dict[bytes, Manifests | VaultError] = {}
        self._lock = asyncio.Lock()

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """All values of the object. VaultError if it cannot be decrypted, or decrypts to another object."""
        entry = self._encrypted.get(address)
        if entry is None:
            return await self._plain.read(address, keys)
        async with self._lock:
            if entry.text not in self._decrypted:
                self._decrypted[entry.text] = await self._try_decrypt(entry)
        manifests = self._decrypted[entry.text]
        if isinstance(manifests, VaultError):
            raise VaultError(manifests.message, hint=manifests.hint)
        return _find_values(manifests, address, entry)

    async def _try_decrypt(self, entry: Encrypted) -> Manifests | VaultError:
        """Each text is decrypted once for all callers, and all callers get its error."""
        try:
            return await self._decrypt(entry)
        except VaultError as error:
            return error

    async def _decrypt(self, entry: Encrypted) -> Manifests:
        form = "json" if entry.source.path.endswith(".json") else "yaml"
        plain = await self._sops.decrypt(entry.text, form=form, path=entry.source.path)
        return read_manifests({entry.source.path: plain}, namespace=self._namespace)


def _find_values(manifests: Manifests, address: Address, entry: Encrypted) -> Mapping[str, Secret]:
    place = (address.namespace, address.name)
    if problem := next((each for each in manifests.problems if each.is_error), None):
        raise VaultError(f"{entry.source}, once decrypted: {problem.message}", hint=problem.hint)
    if address.holder is Holder.SECRET and place in manifests.secrets:
        return manifests.secrets[place]
    if address.holder is Holder.CONFIG_MAP and place in manifests.config_maps:
        return {key: Secret(value) for key, value in manifests.config_maps[place].items()}
    raise VaultError(
        f"{entry.source} does not decrypt to {address}.",
        hint="Encrypt only the values: `sops encrypt --encrypted-regex '^(data|stringData)$'`.",
    )

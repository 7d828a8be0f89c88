"""The Secrets and config maps of the repository that are encrypted with SOPS: decrypted when the first value is asked
for, and kept in memory.

So neither `validate` nor a run that needs no such value wants the key. What cannot be decrypted concerns the resources
that need it.
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
        self._one_at_a_time = asyncio.Lock()

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """All values of the object. VaultError where it cannot be decrypted, or says something else then."""
        one = self._encrypted.get(address)
        if one is None:
            return await self._plain.read(address, keys)
        async with self._one_at_a_time:
            if one.text not in self._decrypted:
                self._decrypted[one.text] = await self._outcome(one)
        manifests = self._decrypted[one.text]
        if isinstance(manifests, VaultError):
            raise VaultError(manifests.message, hint=manifests.hint)
        return _values(manifests, address, one)

    async def _outcome(self, one: Encrypted) -> Manifests | VaultError:
        """Each text is decrypted once for all callers, and all callers get its error."""
        try:
            return await self._decrypt(one)
        except VaultError as error:
            return error

    async def _decrypt(self, one: Encrypted) -> Manifests:
        form = "json" if one.source.path.endswith(".json") else "yaml"
        plain = await self._sops.decrypt(one.text, form=form, where=one.source.path)
        return read_manifests({one.source.path: plain}, namespace=self._namespace)


def _values(manifests: Manifests, address: Address, one: Encrypted) -> Mapping[str, Secret]:
    place = (address.namespace, address.name)
    if wrong := next((problem for problem in manifests.problems if problem.is_error), None):
        raise VaultError(f"{one.source}, once decrypted: {wrong.message}", hint=wrong.hint)
    if address.holder is Holder.SECRET and place in manifests.secrets:
        return manifests.secrets[place]
    if address.holder is Holder.CONFIG_MAP and place in manifests.config_maps:
        return {key: Secret(value) for key, value in manifests.config_maps[place].items()}
    raise VaultError(
        f"{one.source} does not decrypt to {address}.",
        hint="Encrypt only the values: `sops encrypt --encrypted-regex '^(data|stringData)$'`.",
    )

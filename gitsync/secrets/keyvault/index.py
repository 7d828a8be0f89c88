"""The index of a Key Vault by address: its secrets without their values, and the key that each of them contains.

The list of a vault has 25 secrets a page, so it is read once and updated with the writes of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.secrets.keyvault.names import KEY, NAME, NAMESPACE, OWNER, VaultKey, find_vault_key


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSecret:
    """One secret as Key Vault shows it; without its value in a list. Times are in seconds since 1970."""

    name: str
    tags: Mapping[str, str]
    enabled: bool = True
    not_before: int | None = None
    expires: int | None = None
    value: Secret | None = None

    @property
    def vault_key(self) -> VaultKey | None:
        return find_vault_key(self.name, self.tags)

    @property
    def is_tagged(self) -> bool:
        return self.tags.keys() >= {NAMESPACE, NAME, KEY}

    @property
    def owner(self) -> str:
        """The key of the resource that exported it; "" if gitsync did not export it."""
        return self.tags.get(OWNER, "")


class VaultIndex:
    """The secrets of a vault. Their names are case-insensitive."""

    def __init__(self, secrets: Iterable[VaultSecret]) -> None:
        self._by_name = {secret.name.casefold(): secret for secret in secrets}

    def at(self, address: Address) -> tuple[VaultSecret, ...]:
        """Every secret that holds a key of an object, by name."""
        matches = (
            secret
            for secret in self._by_name.values()
            if secret.vault_key is not None and secret.vault_key.is_in(address)
        )
        return tuple(sorted(matches, key=lambda secret: secret.name))

    def tagged(self, vault_key: VaultKey) -> tuple[VaultSecret, ...]:
        """Every secret with the tags of one key, by name: at most one, unless several have the same tags."""
        matches = (secret for secret in self._by_name.values() if secret.is_tagged and secret.vault_key == vault_key)
        return tuple(sorted(matches, key=lambda secret: secret.name))

    def named(self, name: str) -> VaultSecret | None:
        return self._by_name.get(name.casefold())

    def add(self, secret: VaultSecret) -> None:
        self._by_name[secret.name.casefold()] = secret

    def drop(self, name: str) -> None:
        self._by_name.pop(name.casefold(), None)

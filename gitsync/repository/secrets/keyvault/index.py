"""The secrets of a Key Vault by address: their names and tags, and the index of those that are there.

A name in Key Vault has 1 to 127 letters, digits and hyphens, and is case-insensitive. Names in Kubernetes have dots,
and keys underscores and capitals as well. An address without these gets a readable name such as
`default--db-credentials--password`; any other name ends with a digest, so that no two addresses share a name. Tags
contain the exact address; a secret of any name is found by its tags.

The list of a vault has 25 secrets a page, so it is read once and updated with the writes of the run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitsync.model.export import Address, Owner
from gitsync.model.secret import Secret

NAMESPACE, NAME, KEY, OWNER = "gitsync-namespace", "gitsync-name", "gitsync-key", "gitsync-owner"
"""The tags: the address of a value, and the resource that exported it."""

LONGEST_TAG = 256
"""Characters of a tag's value that Key Vault takes."""

MOST_BYTES = 25_600
"""Of a value, as Key Vault stores it in UTF-8."""

_LONGEST = 127
_DIGITS = 16  # of the digest: 64 bits, and tags show if another address has the same name
_SEPARATOR = "--"
_PLAIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_UNSUPPORTED = re.compile(r"[^0-9A-Za-z]+")


@dataclass(frozen=True, slots=True, order=True)
class VaultKey:
    """One key of one Secret."""

    namespace: str
    name: str
    key: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}, key {self.key}"

    def is_in(self, address: Address) -> bool:
        return (self.namespace, self.name) == (address.namespace, address.name)


def make_vault_key(address: Address, key: str) -> VaultKey:
    return VaultKey(address.namespace, address.name, key)


def make_secret_name(vault_key: VaultKey) -> str:
    """Make the name of a secret in Key Vault, different for every key (but for a collision of the digest)."""
    parts = (vault_key.namespace, vault_key.name, vault_key.key)
    plain = _SEPARATOR.join(parts)
    # A name in capitals or with dots would be the same as another one, so only plain parts are joined.
    if len(plain) <= _LONGEST and all(_PLAIN.fullmatch(part) for part in parts):
        return plain
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]
    readable = _SEPARATOR.join(_UNSUPPORTED.sub("-", part).strip("-") or "x" for part in parts)
    return f"{readable[: _LONGEST - len(_SEPARATOR) - _DIGITS]}{_SEPARATOR}{digest}"


def find_vault_key(name: str, tags: Mapping[str, str]) -> VaultKey | None:
    """Find the key that a secret holds, by its tags, or by a name that a person made; None if neither names one."""
    if tags.keys() >= {NAMESPACE, NAME, KEY}:
        return VaultKey(tags[NAMESPACE], tags[NAME], tags[KEY])
    parts = name.casefold().split(_SEPARATOR)
    return VaultKey(*parts) if len(parts) == 3 and all(_PLAIN.fullmatch(part) for part in parts) else None


def make_tags(vault_key: VaultKey, owner: Owner) -> dict[str, str]:
    return {NAMESPACE: vault_key.namespace, NAME: vault_key.name, KEY: vault_key.key, OWNER: str(owner)}


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSecret:
    """One secret as Key Vault shows it. Times are in seconds since 1970."""

    name: str
    tags: Mapping[str, str]  # gitsync's own name its object and key
    enabled: bool = True  # Key Vault returns its value
    not_before: int | None = None  # None for no limit
    expires: int | None = None  # None for no limit
    value: Secret | None = None  # None in a list

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

    def find_at(self, address: Address) -> tuple[VaultSecret, ...]:
        """Return every secret that holds a key of an object, by name."""
        matches = (
            secret
            for secret in self._by_name.values()
            if secret.vault_key is not None and secret.vault_key.is_in(address)
        )
        return tuple(sorted(matches, key=lambda secret: secret.name))

    def list_tagged(self, vault_key: VaultKey) -> tuple[VaultSecret, ...]:
        """Return every secret with the tags of one key, by name: at most one, unless several have the same tags."""
        matches = (secret for secret in self._by_name.values() if secret.is_tagged and secret.vault_key == vault_key)
        return tuple(sorted(matches, key=lambda secret: secret.name))

    def find_named(self, name: str) -> VaultSecret | None:
        return self._by_name.get(name.casefold())

    def add(self, secret: VaultSecret) -> None:
        self._by_name[secret.name.casefold()] = secret

    def drop(self, name: str) -> None:
        self._by_name.pop(name.casefold(), None)

"""Maps keys of Secrets to secrets of a Key Vault, by name or by tags.

A name in Key Vault has 1 to 127 letters, digits and hyphens, and is case-insensitive. Names in Kubernetes have dots,
and keys underscores and capitals as well. An address without these gets a readable name such as
`default--db-credentials--password`; any other name ends with a digest, so that no two addresses share a name. Tags
contain the exact address; a secret of any name is found by its tags.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.model.export import Address, Owner

NAMESPACE, NAME, KEY, OWNER = "gitsync-namespace", "gitsync-name", "gitsync-key", "gitsync-owner"
"""The tags: the address of a value, and the resource that exported it."""

LONGEST_TAG = 256
"""Characters of a tag's value that Key Vault takes."""

_LONGEST = 127
_DIGITS = 16  # of the digest: 64 bits, and a name that another address took all the same is told by its tags
_BETWEEN = "--"
_PLAIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_STRANGE = re.compile(r"[^0-9A-Za-z]+")


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


def make_secret_name(place: VaultKey) -> str:
    """The name of a secret in Key Vault, another one for every place (but for a collision of the digest)."""
    parts = (place.namespace, place.name, place.key)
    plain = _BETWEEN.join(parts)
    if len(plain) <= _LONGEST and all(_PLAIN.fullmatch(part) for part in parts):
        return plain
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]
    readable = _BETWEEN.join(_STRANGE.sub("-", part).strip("-") or "x" for part in parts)
    return f"{readable[: _LONGEST - len(_BETWEEN) - _DIGITS]}{_BETWEEN}{digest}"


def find_vault_key(name: str, tags: Mapping[str, str]) -> VaultKey | None:
    """What a secret holds: its tags say so, or a name that a person worked out; None where neither does."""
    if tags.keys() >= {NAMESPACE, NAME, KEY}:
        return VaultKey(tags[NAMESPACE], tags[NAME], tags[KEY])
    parts = name.casefold().split(_BETWEEN)
    return VaultKey(*parts) if len(parts) == 3 and all(_PLAIN.fullmatch(part) for part in parts) else None


def make_tags(place: VaultKey, owner: Owner) -> dict[str, str]:
    return {NAMESPACE: place.namespace, NAME: place.name, KEY: place.key, OWNER: str(owner)}

"""Azure Key Vault as a source and a sink of Secrets: one secret in the vault for every key (extra `keyvault`).

It holds no config maps. What is exported is tagged with its address and its owner; what a person made is found by its
name, or by the tags that the person gave it. Key Vault cannot write two secrets at once: everything is read and checked
before the first is written, and the keys that went come last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, Export, Holder, Owner
from gitsync.model.secret import Secret
from gitsync.secrets.connection import VaultConnection
from gitsync.secrets.content import check_export, check_owner
from gitsync.secrets.keyvault.index import VaultIndex, VaultSecret
from gitsync.secrets.keyvault.names import (
    LONGEST_TAG,
    VaultKey,
    find_vault_key,
    make_secret_name,
    make_tags,
    make_vault_key,
)
from gitsync.secrets.naming import check_names
from gitsync.secrets.protocols import VaultError

if TYPE_CHECKING:
    from gitsync.secrets.keyvault.requests import KeyVaultRequests

_INSTALL = "pip install 'gitsync[keyvault]'"


@asynccontextmanager
async def open_key_vault(url: str, credential: Any, way: VaultConnection, clock: Clock) -> AsyncIterator[KeyVault]:
    """The vault at an https address; `credential` is azure.core's, None for anonymous access (a local emulator).

    Raises ConfigError for an invalid URL, for anonymous access to another machine, and if the extra is not installed.
    It sends no request yet.
    """
    is_here = _is_here(url)
    if credential is None and not is_here:
        raise ConfigError(
            f"{url} cannot be read without a credential.",
            hint="Choose another --credential; with --emulator, use a vault on this machine or none.",
        )
    try:
        from gitsync.secrets.keyvault.requests import open_requests  # noqa: PLC0415 - an extra; it brings the SDK
    except ImportError as error:
        raise ConfigError(f"Key Vault needs a package that is not installed ({error.name}).", hint=_INSTALL) from error
    async with open_requests(url.rstrip("/"), credential, way, clock, is_here=is_here) as requests:
        yield KeyVault(requests, clock)


class KeyVault:
    """One vault, for one run."""

    name = "key-vault"
    is_remote = True

    def __init__(self, requests: KeyVaultRequests, clock: Clock) -> None:
        self._requests = requests
        self._clock = clock
        self._index: VaultIndex | None = None
        self._listing = asyncio.Lock()

    async def check(self) -> None:
        """See whether the vault answers, and lets its secrets be listed. Whether it lets them be written, it tells
        only when one is.
        """
        try:
            await self._requests.look()
        except VaultError as error:
            raise ConfigError(error.message, hint=error.hint) from error

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """A key by its name, which needs no list; else, and for a whole object, by what the list of the vault says.

        Raises VaultError for a secret that is disabled, expired or tagged for another address, and for two alike.
        """
        if address.holder is not Holder.SECRET:
            return None
        check_names(address, keys)
        places = [make_vault_key(address, key) for key in keys] or await self._places(address)
        values = {place.key: await self._value(place) for place in sorted(set(places))}
        found = {key: value for key, value in values.items() if value is not None}
        return found if found or (keys and await self._places(address)) else None

    async def owner(self, address: Address) -> str | None:
        """Who exported all of an object; "" where some of it is somebody else's, or a person's."""
        if address.holder is not Holder.SECRET:
            return None
        owners = {stored.owner for stored in (await self._known()).at(address)}
        if not owners:
            return None
        return owners.pop() if len(owners) == 1 else ""

    def examine(self, exports: Sequence[Export]) -> None:
        for export in (one for one in exports if one.address.holder is Holder.SECRET):
            check_export(export)
            for key in export.data:
                _tags(make_vault_key(export.address, key), export)

    async def write(self, export: Export) -> None:
        """Write what differs, then delete the keys that went. Config maps, annotations and labels have no place here.

        A secret whose value is the same gets no new version. A key that comes back after it was deleted is recovered.
        """
        if export.address.holder is not Holder.SECRET:
            return
        self.examine((export,))
        known = await self._known()
        wanted = {make_vault_key(export.address, key): value for key, value in sorted(export.data.items())}
        tags = {place: _tags(place, export) for place in wanted}
        stored = {place: await self._own(place, export) for place in wanted}
        for place, value in wanted.items():
            there = stored[place]
            if there is None or not _is_same(there, value, tags[place]):
                await self._put(make_secret_name(place), value, tags[place])
                known.add(VaultSecret(name=make_secret_name(place), tags=tags[place]))
        for gone in known.at(export.address):
            if gone.place not in wanted and gone.owner == str(export.owner):
                await self._requests.delete(gone.name)
                known.drop(gone.name)

    async def remove(self, address: Address, owner: Owner) -> None:
        """Delete every secret of the object that has this owner, each looked at once more, as the list may be old."""
        if address.holder is not Holder.SECRET:
            return
        check_names(address)
        known = await self._known()
        for listed in known.at(address):
            stored = await self._newest(listed.name)
            if stored and stored.owner == str(owner) and stored.place == listed.place:
                await self._requests.delete(listed.name)
                known.drop(listed.name)

    async def _known(self) -> VaultIndex:
        async with self._listing:
            if self._index is None:
                self._index = VaultIndex(await self._requests.every())
            return self._index

    async def _places(self, address: Address) -> list[VaultKey]:
        return [stored.place for stored in (await self._known()).at(address) if stored.place is not None]

    async def _value(self, place: VaultKey) -> Secret | None:
        stored = await self._requests.get(make_secret_name(place))
        if stored is None:
            alike = (await self._known()).holding(place)
            if len(alike) > 1:
                names = ", ".join(each.name for each in alike)
                raise VaultError(
                    f"{self._requests.vault} has several secrets tagged for {place}: {names}.",
                    hint="Remove the tags from all but one.",
                )
            stored = await self._requests.get(alike[0].name) if alike else None
        return None if stored is None else self._usable(stored, place)

    def _usable(self, stored: VaultSecret, place: VaultKey) -> Secret | None:
        self._expect(stored, place)
        now = self._clock.now().timestamp()
        if stored.expires is not None and stored.expires <= now:
            raise VaultError(
                f"Secret {stored.name} of {self._requests.vault} has expired.", hint="Write a new version."
            )
        if stored.not_before is not None and stored.not_before > now:
            raise VaultError(
                f"Secret {stored.name} of {self._requests.vault} is not valid yet.", hint="Change its activation date."
            )
        return stored.value

    def _expect(self, stored: VaultSecret, place: VaultKey) -> None:
        if stored.place not in {None, place}:
            raise VaultError(
                f"Secret {stored.name} of {self._requests.vault} has the name for {place}, but is tagged for "
                f"{stored.place}.",
                hint="Fix its tags, or rename it.",
            )

    async def _own(self, place: VaultKey, export: Export) -> VaultSecret | None:
        """What an export would write over; VaultError where that is not the exporting resource's own."""
        stored = await self._newest(make_secret_name(place))
        if stored is None:
            return None
        self._expect(stored, place)
        check_owner(export, stored.owner, f"Secret {stored.name} of {self._requests.vault}")
        return stored

    async def _newest(self, name: str) -> VaultSecret | None:
        """A secret as it is now; a disabled one as it was in the list, since Key Vault does not show it."""
        listed = (await self._known()).named(name)
        is_disabled = listed is not None and not listed.enabled
        return listed if is_disabled else await self._requests.get(name)

    async def _put(self, name: str, value: Secret, tags: Mapping[str, str]) -> None:
        """Write a secret; one of this name that is deleted is recovered first, if it was exported for the same key.

        Whichever resource exported it: a new owner may take what a former one left.
        """
        if await self._requests.put(name, value, tags):
            return
        deleted = await self._requests.get_deleted(name)
        if deleted is None or not deleted.owner or deleted.place != find_vault_key(name, tags):
            raise VaultError(
                f"{self._requests.vault} keeps the name {name} for a deleted secret that gitsync did not export.",
                hint="Recover or purge it: `az keyvault secret recover` or `az keyvault secret purge`.",
            )
        await self._requests.recover(name)
        if not await self._requests.put(name, value, tags):
            raise VaultError(f"{self._requests.vault} has not recovered secret {name} yet.", hint="Run again later.")


def _tags(place: VaultKey, export: Export) -> dict[str, str]:
    tags = make_tags(place, export.owner)
    if long := sorted(name for name, value in tags.items() if len(value) > LONGEST_TAG):
        raise VaultError(
            f"Key Vault limits tags to {LONGEST_TAG} characters; {', '.join(long)} of {place} is longer.",
            hint="Choose shorter names.",
        )
    return tags


def _is_same(stored: VaultSecret, value: Secret, tags: Mapping[str, str]) -> bool:
    is_plain = stored.enabled and stored.expires is None and stored.not_before is None
    return is_plain and stored.value == value and dict(stored.tags) == dict(tags)


def _is_here(url: str) -> bool:
    """Whether a vault is on this machine; ConfigError where the address is none of a vault."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = (parts.hostname or "").casefold()
    has_more = parts.path not in {"", "/"} or parts.query or parts.fragment or "@" in parts.netloc or "\\" in url
    if parts.scheme != "https" or not host or has_more or port == 0:
        shown = url.rpartition("@")[2]
        raise ConfigError(
            f"{shown!r} is not the URL of a Key Vault.", hint="Use a URL such as https://NAME.vault.azure.net."
        )
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

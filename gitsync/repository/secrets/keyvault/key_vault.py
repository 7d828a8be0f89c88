"""Azure Key Vault as a source and a sink of Secrets: one secret in the vault for every key (extra `keyvault`).

It holds no config maps. Exports are tagged with their address and owner; secrets of people are found by name, or by the
same tags. Key Vault cannot write two secrets at once: everything is read and checked before the first is written, and
dropped keys are deleted last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gitsync import DISTRIBUTION
from gitsync.errors import ConfigError, SecretStoreError, StoreForbiddenError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.secret import Secret
from gitsync.repository.secrets.keyvault.index import (
    LONGEST_TAG,
    MOST_BYTES,
    VaultIndex,
    VaultKey,
    VaultSecret,
    find_vault_key,
    make_secret_name,
    make_tags,
    make_vault_key,
)
from gitsync.repository.secrets.protocols import ExportNeeds, VaultConnection
from gitsync.repository.secrets.store_rules import check_export, check_names, check_owner, encode_value

if TYPE_CHECKING:
    from gitsync.repository.secrets.keyvault.vault_requests import KeyVaultRequests

_CHECK = "check"  # a key that nothing has to have

_INSTALL = f"Run `pip install '{DISTRIBUTION}[keyvault]'`."


@asynccontextmanager
async def open_key_vault(
    url: str, credential: Any, connection: VaultConnection, clock: Clock
) -> AsyncIterator[KeyVault]:
    """Open the vault at an https address; `credential` is azure.core's, None for anonymous access (a local emulator).

    Raises ConfigError for an invalid URL, for anonymous access to another machine, and if the extra is not installed.
    It sends no request yet.
    """
    is_local = _is_local(url)
    if credential is None and not is_local:
        raise ConfigError(
            f"{url} cannot be read without a credential.",
            hint="Choose another --credential; with --emulator, use a vault on this machine or none.",
        )
    try:
        from gitsync.repository.secrets.keyvault.vault_requests import open_requests  # noqa: PLC0415 - an extra; it brings the SDK
    except ImportError as error:
        raise ConfigError(f"Key Vault needs a package that is not installed ({error.name}).", hint=_INSTALL) from error
    async with open_requests(url.rstrip("/"), credential, connection, clock, is_local=is_local) as requests:
        yield KeyVault(requests, clock)


class KeyVault:
    """One vault, for one run."""

    name = "key-vault"
    is_remote = True

    def __init__(self, requests: KeyVaultRequests, clock: Clock) -> None:
        self._requests = requests
        self._clock = clock
        self._index: VaultIndex | None = None
        self._unlisted: SecretStoreError | None = None
        self._listing = asyncio.Lock()

    async def check(self) -> None:
        """Check that the vault answers and lets gitsync list its secrets. Only a write shows whether writing is
        allowed.
        """
        try:
            await self._requests.look()
        except SecretStoreError as error:
            raise ConfigError(error.message, hint=error.hint) from error

    async def check_access(self, needs: ExportNeeds) -> None:
        """Read the name of a secret that the run may write, whether it is there or not: each export is read before.

        Whether the vault allows set, delete and recover is not known before the first write: it has neither a review of
        access nor a dry run.
        """
        addresses = [
            address for address in (*needs.written, *needs.removed) if address.object_kind is ObjectKind.SECRET
        ]
        if not addresses:
            return
        try:
            stored = (await self._load_index()).find_at(addresses[0])
            await self._get_newest(stored[0].name if stored else make_secret_name(make_vault_key(addresses[0], _CHECK)))
        except SecretStoreError as error:
            raise ConfigError(error.message, hint=error.hint) from error

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Read a key by its name, which needs no list unless it has tags; else, and for a whole object, by the list of
        the vault.

        Raises SecretStoreError for a secret that is disabled, expired or tagged for another address, and if two have
        the same tags.
        """
        if address.object_kind is not ObjectKind.SECRET:
            return None
        check_names(address, keys)
        vault_keys = [make_vault_key(address, key) for key in keys] or await self._list_vault_keys(address)
        values = {vault_key.key: await self._read_value(vault_key) for vault_key in sorted(set(vault_keys))}
        present = {key: value for key, value in values.items() if value is not None}
        return present if present or (keys and await self._list_vault_keys(address)) else None

    async def owner(self, address: Address) -> str | None:
        """Return the exporter of a whole object; "" if a part of it belongs to somebody else."""
        if address.object_kind is not ObjectKind.SECRET:
            return None
        owners = {stored.owner for stored in (await self._load_index()).find_at(address)}
        if not owners:
            return None
        return owners.pop() if len(owners) == 1 else ""

    async def owners(self, address: Address) -> Mapping[str, str]:
        """Return the exporter of each secret that holds a key of an object, by its name in the vault."""
        if address.object_kind is not ObjectKind.SECRET:
            return {}
        stored = (await self._load_index()).find_at(address)
        return {f"secret {secret.name} of {self._requests.vault}": secret.owner for secret in stored}

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            if export.address.object_kind is not ObjectKind.SECRET:
                continue
            check_export(export)
            for key, value in export.data.items():
                vault_key = make_vault_key(export.address, key)
                _make_checked_tags(vault_key, export)
                if len(encode_value(value, export.address, key)) > MOST_BYTES:
                    raise SecretStoreError(
                        f"Key Vault limits values to {MOST_BYTES} bytes; {vault_key} is larger.",
                        hint="Export it to another sink, or export less of it.",
                    )

    async def rehearse(self, exports: Sequence[Export]) -> None:
        """Look at the list for what a write would not replace; the write reads each secret again."""
        for export in exports:
            if export.address.object_kind is not ObjectKind.SECRET:
                continue
            for vault_key in (make_vault_key(export.address, key) for key in sorted(export.data)):
                if listed := (await self._load_index()).find_named(make_secret_name(vault_key)):
                    self._check_writable(listed, vault_key, export)

    async def write(self, export: Export) -> None:
        """Write what differs, then delete the keys that the export no longer has. A vault holds no config maps,
        annotations or labels.

        A secret whose value is the same gets no new version. A key that comes back after it was deleted is recovered.
        """
        if export.address.object_kind is not ObjectKind.SECRET:
            return
        self.examine((export,))
        index = await self._load_index()
        values = {make_vault_key(export.address, key): value for key, value in sorted(export.data.items())}
        tags = {vault_key: _make_checked_tags(vault_key, export) for vault_key in values}
        stored = {vault_key: await self._find_owned(vault_key, export) for vault_key in values}
        # Only now, when every secret was read and may be replaced, is the first one written.
        for vault_key, value in values.items():
            existing = stored[vault_key]
            if existing is None or not _is_same(existing, value, tags[vault_key]):
                await self._put(make_secret_name(vault_key), value, tags[vault_key])
                index.add(VaultSecret(name=make_secret_name(vault_key), tags=tags[vault_key]))
        for leftover in index.find_at(export.address):
            if leftover.vault_key not in values and leftover.owner == str(export.owner):
                await self._requests.delete(leftover.name)
                index.drop(leftover.name)

    async def remove(self, address: Address, owner: Owner) -> None:
        """Delete every secret of the object that has this owner, each read again first, as the list may be old."""
        if address.object_kind is not ObjectKind.SECRET:
            return
        check_names(address)
        index = await self._load_index()
        for listed in index.find_at(address):
            stored = await self._get_newest(listed.name)
            if stored and stored.owner == str(owner) and stored.vault_key == listed.vault_key:
                await self._requests.delete(listed.name)
                index.drop(listed.name)

    async def _load_index(self) -> VaultIndex:
        """Load the list of the vault, which is requested once, even if that fails."""
        async with self._listing:
            if self._unlisted:
                raise SecretStoreError(self._unlisted.message, hint=self._unlisted.hint)
            if self._index is None:
                try:
                    self._index = VaultIndex(await self._requests.list_all())
                except SecretStoreError as error:
                    self._unlisted = error
                    raise
            return self._index

    async def _list_vault_keys(self, address: Address) -> list[VaultKey]:
        return [
            stored.vault_key for stored in (await self._load_index()).find_at(address) if stored.vault_key is not None
        ]

    async def _read_value(self, vault_key: VaultKey) -> Secret | None:
        stored = await self._get(make_secret_name(vault_key))
        if stored is None or stored.is_tagged:
            # Tags go before names, so a second secret may claim the same key under another name.
            matches = (await self._load_index()).list_tagged(vault_key)
            if len(matches) > 1:
                names = ", ".join(match.name for match in matches)
                raise SecretStoreError(
                    f"{self._requests.vault} has several secrets tagged for {vault_key}: {names}.",
                    hint="Remove the tags from all but one.",
                )
            stored = stored or (await self._get(matches[0].name) if matches else None)
        return None if stored is None else self._check_validity(stored, vault_key)

    def _check_validity(self, stored: VaultSecret, vault_key: VaultKey) -> Secret | None:
        self._check_address(stored, vault_key)
        now = self._clock.now().timestamp()
        if stored.expires is not None and stored.expires <= now:
            raise SecretStoreError(
                f"Secret {stored.name} of {self._requests.vault} has expired.", hint="Write a new version."
            )
        if stored.not_before is not None and stored.not_before > now:
            raise SecretStoreError(
                f"Secret {stored.name} of {self._requests.vault} is not valid yet.", hint="Change its activation date."
            )
        return stored.value

    def _check_address(self, stored: VaultSecret, vault_key: VaultKey) -> None:
        if stored.vault_key not in {None, vault_key}:
            raise SecretStoreError(
                f"Secret {stored.name} of {self._requests.vault} has the name for {vault_key}, but is tagged for "
                f"{stored.vault_key}.",
                hint="Fix its tags, or rename it.",
            )

    async def _find_owned(self, vault_key: VaultKey, export: Export) -> VaultSecret | None:
        """Find the secret that an export would overwrite; SecretStoreError if the exporting resource does not own
        it.
        """
        stored = await self._get_newest(make_secret_name(vault_key))
        if stored is None:
            return None
        self._check_writable(stored, vault_key, export)
        return stored

    def _check_writable(self, stored: VaultSecret, vault_key: VaultKey, export: Export) -> None:
        self._check_address(stored, vault_key)
        check_owner(export, stored.owner, f"Secret {stored.name} of {self._requests.vault}")
        if not stored.enabled:
            raise self._make_disabled(stored.name)

    async def _get_newest(self, name: str) -> VaultSecret | None:
        """Read a secret as it is now; a disabled one as it was in the list, since Key Vault does not show it."""
        listed = (await self._load_index()).find_named(name)
        is_disabled = listed is not None and not listed.enabled
        return listed if is_disabled else await self._requests.get(name)

    async def _get(self, name: str) -> VaultSecret | None:
        """Read a secret. SecretStoreError if it is disabled: not every server reports that here, but the list does."""
        try:
            return await self._requests.get(name)
        except StoreForbiddenError:
            try:
                listed = (await self._load_index()).find_named(name)
            except SecretStoreError:  # without a right to list, the refusal itself is the better message
                listed = None
            if listed is None or listed.enabled:
                raise
            raise self._make_disabled(name) from None

    def _make_disabled(self, name: str) -> SecretStoreError:
        return SecretStoreError(f"Secret {name} of {self._requests.vault} is disabled.", hint="Enable or remove it.")

    async def _put(self, name: str, value: Secret, tags: Mapping[str, str]) -> None:
        """Write a secret; one of this name that is deleted is recovered first, if it was exported for the same key."""
        conflict = await self._requests.put(name, value, tags)
        if conflict is None:
            return
        # A deleted secret keeps its name until it is purged; only gitsync's own is recovered.
        deleted = await self._requests.get_deleted(name)
        if deleted is None:
            raise conflict
        # The secret may have been exported by any resource: a new owner may take over from a former one.
        if not deleted.owner or deleted.vault_key != find_vault_key(name, tags):
            raise SecretStoreError(
                f"{self._requests.vault} keeps the name {name} for a deleted secret that gitsync did not export.",
                hint="Recover or purge it: `az keyvault secret recover` or `az keyvault secret purge`.",
            )
        if not deleted.enabled:
            raise SecretStoreError(
                f"{self._requests.vault} keeps the name {name} for a deleted secret that is disabled.",
                hint="Recover and enable it, or purge it.",
            )
        # Recovered first and written then: a new version keeps the history of the secret.
        await self._requests.recover(name)
        if conflict := await self._requests.put(name, value, tags):
            message = f"{self._requests.vault} has not recovered secret {name} yet."
            raise SecretStoreError(message, hint="Run again later.") from conflict


def _make_checked_tags(vault_key: VaultKey, export: Export) -> dict[str, str]:
    tags = make_tags(vault_key, export.owner)
    if long := sorted(name for name, value in tags.items() if len(value) > LONGEST_TAG):
        raise SecretStoreError(
            f"Key Vault limits tags to {LONGEST_TAG} characters; {', '.join(long)} of {vault_key} is longer.",
            hint="Choose shorter names.",
        )
    return tags


def _is_same(stored: VaultSecret, value: Secret, tags: Mapping[str, str]) -> bool:
    # Dates that someone set are not the export's: such a secret gets a new version without them.
    is_plain = stored.enabled and stored.expires is None and stored.not_before is None
    return is_plain and stored.value == value and dict(stored.tags) == dict(tags)


def _is_local(url: str) -> bool:
    """Return whether a vault is on this machine; ConfigError if the URL is not that of a vault."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = (parts.hostname or "").casefold()
    has_more = parts.path not in {"", "/"} or parts.query or parts.fragment or "@" in parts.netloc or "\\" in url
    if parts.scheme != "https" or not host or has_more or port == 0:
        address = url.rpartition("@")[2]
        raise ConfigError(
            f"{address!r} is not the URL of a Key Vault.", hint="Use a URL such as https://NAME.vault.azure.net."
        )
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

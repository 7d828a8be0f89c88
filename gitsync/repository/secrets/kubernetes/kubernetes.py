"""The cluster that the job runs in as a source and a sink of Secrets and ConfigMaps (extra `kubernetes`).

Ownership: an exported object carries its resource's key as an annotation. An object without it belongs to somebody
else, and is not written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync import DISTRIBUTION
from gitsync.errors import ConfigError, DryRunUnsupportedError, NotOwnedError, SecretStoreError
from gitsync.model.clock import Clock
from gitsync.model.export import REPOSITORY, Address, Export, Owner
from gitsync.model.secret import Secret
from gitsync.repository.secrets.kubernetes.account import FOLDER, ServiceAccount, read_service_account
from gitsync.repository.secrets.kubernetes.cluster_rights import (
    Right,
    collect_rights,
    list_missing_rights,
    make_refusal,
)
from gitsync.repository.secrets.kubernetes.stored_object import StoredObject, make_object
from gitsync.repository.secrets.protocols import ExportNeeds
from gitsync.repository.secrets.remote_requests import Retries
from gitsync.repository.secrets.store_rules import check_export, check_names, check_owner

if TYPE_CHECKING:
    from gitsync.repository.secrets.kubernetes.cluster_requests import KubernetesRequests

_INSTALL = f"Run `pip install '{DISTRIBUTION}[kubernetes]'`."


@asynccontextmanager
async def open_kubernetes(
    environment: Mapping[str, str], clock: Clock, folder: Path = FOLDER
) -> AsyncIterator[Kubernetes]:
    """Open the API server that the pod's variables name, as its service account, whose files are in `folder`.

    Raises ConfigError outside of a cluster, and if the extra is not installed. Nothing is sent yet.
    """
    try:
        from gitsync.repository.secrets.kubernetes.cluster_requests import open_requests  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise ConfigError(f"Kubernetes needs a package that is not installed ({error.name}).", hint=_INSTALL) from error
    account = read_service_account(environment, folder)
    async with open_requests(account) as requests:
        yield Kubernetes(requests, account, clock)


class Kubernetes:
    """One cluster, for one run. An object is read once as a source, and once before its first write."""

    name = "kubernetes"
    is_remote = True

    def __init__(self, requests: KubernetesRequests, account: ServiceAccount, clock: Clock) -> None:
        self._requests = requests
        self._account = account
        self._retries = Retries(clock)
        self._sources: dict[Address, StoredObject | None] = {}
        self._fresh: dict[Address, StoredObject | None] = {}

    async def check(self) -> None:
        """Check that the API server answers, accepts our token, and answers reviews of access."""
        await self._review(Right(verb="get", resource="secrets", namespace=self._account.namespace))

    async def check_access(self, needs: ExportNeeds) -> None:
        """Check every right that the run needs, by a review of the server. ConfigError names those that are missing."""
        if missing := await list_missing_rights(collect_rights(needs), self._review):
            raise make_refusal(missing, self._account.name)

    async def _review(self, right: Right, name: str = "") -> bool:
        try:
            return await self._retries.request(lambda: self._requests.may(right, name))
        except SecretStoreError as error:
            raise ConfigError(error.message, hint=error.hint) from error

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Values as text; a ConfigMap's binary data are ignored. SecretStoreError for bytes that are not text."""
        if address not in self._sources:
            self._sources[address] = await self._get(address)
        stored = self._sources[address]
        if stored is None:
            return None
        return {
            key: _decode_text(address, key, stored.data[key])
            for key in sorted(keys or stored.data)
            if key in stored.data
        }

    async def owner(self, address: Address) -> str | None:
        stored = self._fresh[address] = await self._get(address)
        return None if stored is None else stored.owner

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)

    async def rehearse(self, exports: Sequence[Export]) -> None:
        """Have the server check each write without storing it (dryRun), if its webhooks support that."""
        for export in exports:
            # Only the rehearsal is impossible then; the write itself may be fine.
            with suppress(DryRunUnsupportedError):
                await self._retries.request(partial(self._write_once, export, is_rehearsal=True))

    async def write(self, export: Export) -> None:
        """Create or replace an object. Starts again if the object is changed concurrently."""
        self.examine((export,))
        await self._retries.request(partial(self._write_once, export, is_rehearsal=False))

    async def _write_once(self, export: Export, *, is_rehearsal: bool) -> None:
        existing = await self._take_fresh(export.address)
        desired = make_object(export, existing)
        _check_writable(export, existing, desired)
        if existing is None:
            await self._requests.create(desired, is_rehearsal=is_rehearsal)
        elif not existing.is_same_as(desired):
            await self._requests.replace(desired, is_rehearsal=is_rehearsal)
        if is_rehearsal:  # the write that follows needs no second read
            self._fresh[export.address] = existing

    async def _take_fresh(self, address: Address) -> StoredObject | None:
        """Take the object as it was just read, for one attempt: the next one reads it again."""
        if address in self._fresh:
            return self._fresh.pop(address)
        return await self._requests.get(address)

    async def remove(self, address: Address, owner: Owner) -> None:
        """Delete an object at its read version. Reads it again if it is changed concurrently."""
        check_names(address)
        await self._retries.request(lambda: self._remove_once(address, owner))

    async def _remove_once(self, address: Address, owner: Owner) -> None:
        existing = await self._requests.get(address)
        # An object that another owner has taken over since is not a leftover.
        if existing is not None and existing.is_owned_by(owner):
            await self._requests.delete(existing)

    async def _get(self, address: Address) -> StoredObject | None:
        check_names(address)
        return await self._retries.request(lambda: self._requests.get(address))


def _check_writable(export: Export, existing: StoredObject | None, desired: StoredObject) -> None:
    """Raise SecretStoreError if an object of somebody else, or an immutable one, would be changed."""
    if existing is None:
        return
    what = f"{export.address} of the cluster"
    check_owner(export, existing.owner, what)
    if not existing.is_owned_by(export.owner):
        raise NotOwnedError(
            f"{what} is exported from the repository {existing.repository}, not from {export.owner.repository}, so it "
            "is not written.",
            hint="Give each repository a name with --agent, or export to another name. If the repository has moved, "
            f"remove the annotation {REPOSITORY} from the object.",
        )
    # An immutable object that is already as desired needs no write.
    if existing.is_immutable and not existing.is_same_as(desired):
        raise SecretStoreError(f"{what} is immutable.", hint="Delete it; the next run creates it again.")


def _decode_text(address: Address, key: str, value: bytes) -> Secret:
    try:
        return Secret(value.decode())
    except UnicodeDecodeError:
        raise SecretStoreError(
            f"Key {key} of {address} of the cluster is not UTF-8 text.",
            hint="Encode it, for example in Base64: Azure accepts only text.",
        ) from None

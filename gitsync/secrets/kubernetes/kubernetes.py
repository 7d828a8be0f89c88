"""The cluster that the job runs in as a source and a sink of Secrets and ConfigMaps (extra `kubernetes`).

Ownership: an exported object carries its resource's key as an annotation. An object without it belongs to
somebody else, and is not written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, Export, Owner
from gitsync.model.secret import Secret
from gitsync.secrets.content import check_export, check_owner
from gitsync.secrets.kubernetes.account import FOLDER, find_service_account
from gitsync.secrets.kubernetes.object import Held, make_object
from gitsync.secrets.naming import check_names
from gitsync.secrets.protocols import VaultError
from gitsync.secrets.retry import retry_passing

if TYPE_CHECKING:
    from gitsync.secrets.kubernetes.requests import KubernetesRequests

_INSTALL = "pip install 'gitsync[kubernetes]'"


@asynccontextmanager
async def open_kubernetes(
    environment: Mapping[str, str], clock: Clock, folder: Path = FOLDER
) -> AsyncIterator[Kubernetes]:
    """The API server that the pod's variables name, as its service account, whose files are in `folder`.

    Raises ConfigError outside of a cluster, and if the extra is not installed. Nothing is sent yet.
    """
    try:
        from gitsync.secrets.kubernetes.requests import open_requests  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise ConfigError(f"Kubernetes needs a package that is not installed ({error.name}).", hint=_INSTALL) from error
    account = find_service_account(environment, folder)
    async with open_requests(account) as requests:
        yield Kubernetes(requests, account.namespace, clock)


class Kubernetes:
    """One cluster, for one run."""

    name = "kubernetes"
    is_remote = True

    def __init__(self, requests: KubernetesRequests, namespace: str, clock: Clock) -> None:
        self._requests = requests
        self._namespace = namespace
        self._clock = clock

    async def check(self) -> None:
        """Check that the API server answers and accepts our token. Only a write shows whether writing is allowed."""
        try:
            await retry_passing(lambda: self._requests.look(self._namespace), self._clock)
        except VaultError as error:
            raise ConfigError(error.message, hint=error.hint) from error

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Values as text; a ConfigMap's binary data are ignored. VaultError for bytes that are not text."""
        stored = await self._get(address)
        if stored is None:
            return None
        return {
            key: _decode_text(address, key, stored.data[key])
            for key in sorted(keys or stored.data)
            if key in stored.data
        }

    async def owner(self, address: Address) -> str | None:
        stored = await self._get(address)
        return None if stored is None else stored.owner

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)

    async def write(self, export: Export) -> None:
        """Create or replace an object. Starts again if the object is changed concurrently."""
        self.examine((export,))
        await retry_passing(lambda: self._write_once(export), self._clock)

    async def _write_once(self, export: Export) -> None:
        existing = await self._requests.get(export.address)
        desired = make_object(export, existing)
        if existing is None:
            await self._requests.create(desired)
            return
        check_owner(export, existing.owner, f"{export.address} of the cluster")
        if existing.is_same_as(desired):
            return
        if existing.is_immutable:
            raise VaultError(
                f"{export.address} of the cluster is immutable.",
                hint="Delete it; the next run creates it again.",
            )
        await self._requests.replace(desired)

    async def remove(self, address: Address, owner: Owner) -> None:
        """Delete an object at its read version. Reads it again if it is changed concurrently."""
        check_names(address)
        await retry_passing(lambda: self._remove_once(address, owner), self._clock)

    async def _remove_once(self, address: Address, owner: Owner) -> None:
        existing = await self._requests.get(address)
        if existing is not None and existing.owner == str(owner):
            await self._requests.delete(existing)

    async def _get(self, address: Address) -> Held | None:
        check_names(address)
        return await retry_passing(lambda: self._requests.get(address), self._clock)


def _decode_text(address: Address, key: str, value: bytes) -> Secret:
    try:
        return Secret(value.decode())
    except UnicodeDecodeError:
        raise VaultError(
            f"Key {key} of {address} of the cluster is not UTF-8 text.",
            hint="Encode it, for example in Base64: Azure accepts only text.",
        ) from None

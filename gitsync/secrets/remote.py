"""The remote sources and sinks, Key Vault and the cluster of the job, opened if the settings name them.

Each is source and sink in one, and is opened once for both. A plan opens none, since it reads none: it may run on a
laptop, outside of any cluster, without the right to see a secret.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.secrets.connection import VaultConnection
from gitsync.secrets.keyvault.keyvault import KeyVault, open_key_vault
from gitsync.secrets.kubernetes.account import FOLDER
from gitsync.secrets.kubernetes.kubernetes import Kubernetes, open_kubernetes
from gitsync.secrets.protocols import VaultError

REMOTE = (KeyVault.name, Kubernetes.name)
"""Their words in `secret_sources` and `export_to`."""

OpenVault = Callable[[], AbstractAsyncContextManager[tuple[Any, VaultConnection]]]
"""Opens the credential of the run, and its connection to Azure."""


@dataclass(slots=True, kw_only=True)  # not frozen, since the protocol's attributes are plain
class Unopened:
    """Replaces a remote source in a plan, and is never read."""

    name: str
    is_remote: bool = True

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        raise VaultError(f"A plan does not read {address}, keys {', '.join(keys) or 'all'}, from {self.name}.")


def list_unopened(config: Config) -> Mapping[str, Unopened]:
    """The replacements of remote sources in a plan. ConfigError if a setting is missing that a sync would need."""
    if KeyVault.name in {*config.secret_sources, *config.export_to}:
        _require_key_vault(config)
    return {word: Unopened(name=word) for word in REMOTE if word in config.secret_sources}


@asynccontextmanager
async def open_remote(
    config: Config, identity: OpenVault, clock: Clock, environment: Mapping[str, str], account: Path = FOLDER
) -> AsyncIterator[Mapping[str, KeyVault | Kubernetes]]:
    """The remote sources and sinks that the settings name, by their word. `account` is the folder of the service
    account.

    Raises ConfigError if one cannot be opened. Nothing is sent yet.
    """
    words = {*config.secret_sources, *config.export_to}
    places: dict[str, KeyVault | Kubernetes] = {}
    async with AsyncExitStack() as stack:
        if KeyVault.name in words:
            url = _require_key_vault(config)
            credential, connection = await stack.enter_async_context(identity())
            vault = await stack.enter_async_context(open_key_vault(url, credential, connection, clock))
            places[KeyVault.name] = vault
        if Kubernetes.name in words:
            places[Kubernetes.name] = await stack.enter_async_context(open_kubernetes(environment, clock, account))
        yield places


def _require_key_vault(config: Config) -> str:
    if not config.key_vault:
        raise ConfigError(
            "The secret source and sink `key-vault` need a Key Vault.",
            hint="Set --key-vault https://NAME.vault.azure.net.",
        )
    return config.key_vault

"""The remote sources and sinks, Key Vault and the cluster of the job, opened if the settings name them.

Each is source and sink in one, and is opened once for both. A plan may run on a laptop, outside of any cluster,
without the right to see a secret: it opens the cluster if there is one, for its config maps, and Key Vault never. With
--plan-secrets it opens the sources as a sync does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitsync.config.config import Config
from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, Holder
from gitsync.model.secret import Secret
from gitsync.secrets.connection import VaultConnection
from gitsync.secrets.keyvault.keyvault import KeyVault, open_key_vault
from gitsync.secrets.kubernetes.account import FOLDER
from gitsync.secrets.kubernetes.kubernetes import Kubernetes, open_kubernetes
from gitsync.secrets.protocols import SecretSource

OpenVault = Callable[[], AbstractAsyncContextManager[tuple[Any, VaultConnection]]]
"""Opens the credential of the run, and its connection to Azure."""


@dataclass(slots=True, kw_only=True)  # not frozen, since the protocol's attributes are plain
class Unopened:
    """Replaces a remote source that a plan does not open. `why` says why, and `holders` are the objects that it may
    have.
    """

    name: str
    why: str
    holders: frozenset[Holder]
    is_remote: bool = True

    async def read(self, address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        if address.holder not in self.holders:
            return None
        raise SecretStoreError(self.why, hint="Run the plan in the cluster to compare its values; a sync reads them.")


@asynccontextmanager
async def open_for_plan(
    config: Config, identity: OpenVault, clock: Clock, environment: Mapping[str, str], account: Path = FOLDER
) -> AsyncIterator[Mapping[str, SecretSource]]:
    """The remote sources of a plan, by their word. `account` is the folder of the service account.

    Raises ConfigError if a setting is missing that a sync would need; with --plan-secrets also if a source cannot be
    opened. Nothing is sent yet.
    """
    if KeyVault.name in {*config.secret_sources, *config.export_to}:
        _require_key_vault(config)
    sources = replace(config, export_to=())
    if config.plan_secrets:
        async with open_remote(sources, identity, clock, environment, account) as opened:
            yield opened
        return
    async with AsyncExitStack() as stack:
        places: dict[str, SecretSource] = {}
        if KeyVault.name in config.secret_sources:
            places[KeyVault.name] = Unopened(
                name=KeyVault.name, why="A plan does not open Key Vault.", holders=frozenset({Holder.SECRET})
            )
        if Kubernetes.name in config.secret_sources:
            places[Kubernetes.name] = await _open_if_inside(stack, environment, clock, account)
        yield places


async def _open_if_inside(
    stack: AsyncExitStack, environment: Mapping[str, str], clock: Clock, account: Path
) -> SecretSource:
    """The cluster, or its replacement outside of a cluster."""
    try:
        return await stack.enter_async_context(open_kubernetes(environment, clock, account))
    except ConfigError as error:
        return Unopened(name=Kubernetes.name, why=error.message, holders=frozenset(Holder))


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

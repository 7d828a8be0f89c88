"""The sources and sinks of secrets and config maps of a run, opened as the settings name them; the words are those of
`secret_sources` and `export_to`.

Separate from sources and sinks, so that these do not depend on settings. Key Vault and the cluster
of the job are source and sink in one, and are opened once for both. A plan may run on a laptop,
outside of any cluster, without the right to see a secret: it opens the cluster if there is one, for
its config maps, and Key Vault never. With --plan-secrets it opens the sources as a sync does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Secret
from gitsync.repository.secrets.keyvault.key_vault import KeyVault, open_key_vault
from gitsync.repository.secrets.kubernetes.account import FOLDER
from gitsync.repository.secrets.kubernetes.kubernetes import Kubernetes, open_kubernetes
from gitsync.repository.secrets.protocols import SecretSource, Sink, VaultConnection
from gitsync.repository.secrets.sinks.dotenv import DotenvSink
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.sinks.pipeline import PipelineSink, Tell
from gitsync.repository.secrets.sinks.sops import SopsSink
from gitsync.repository.secrets.sops_program import Sops
from gitsync.repository.secrets.sources.declared_objects import EncryptedSource, ManifestSource
from gitsync.repository.secrets.sources.environment import EnvironmentSource
from gitsync.repository.secrets.sources.mounted_folder import FolderSource
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.processes.programs import Grace

MANIFESTS = "manifests"
"""The source that exists only once the manifests are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretStores:
    """The sources and sinks of a run."""

    order: tuple[str, ...] = (MANIFESTS,)  # the names of the sources
    sources: Mapping[str, SecretSource] = field(default_factory=dict)  # all but the manifests, by name
    sinks: tuple[Sink, ...] = ()
    keeps_config_maps: bool = True  # they are also written to the status
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)  # of `sops`
    grace: Grace = field(default_factory=Grace)  # `sops` ends with it

    def list_sources(self, manifests: Manifests) -> tuple[SecretSource, ...]:
        """Return every source, the manifests among them, in order."""
        sops = Sops(environment=self.environment, grace=self.grace)
        manifest_source = EncryptedSource(ManifestSource(manifests), manifests.objects.encrypted, sops)
        by_name = {**self.sources, MANIFESTS: manifest_source}
        return tuple(by_name[name] for name in self.order)


SINKS = ("folder", "sops", "dotenv", "ci")
"""Words of `export_to` that `open_local_sink` opens."""


def open_local_source(name: str, config: Config, environment: Mapping[str, str]) -> SecretSource | None:
    """Open the source `folder` or `environment`; None for another word. ConfigError if its folder is not set, or does
    not exist: then all values would be unknown.
    """
    if name == "environment":
        return EnvironmentSource(environment)
    if name != "folder":
        return None
    if not (config.secrets_folder or config.config_maps_folder):
        raise ConfigError(
            "The secret source `folder` needs a folder.",
            hint="Set --secrets-folder or --config-maps-folder.",
        )
    return FolderSource(
        secrets=_find_folder(config.secrets_folder, "--secrets-folder"),
        config_maps=_find_folder(config.config_maps_folder, "--config-maps-folder"),
        namespace=join_source_settings(config, None).namespace,
    )


def open_local_sink(
    name: str, config: Config, environment: Mapping[str, str], tell: Tell, grace: Grace | None = None
) -> Sink | None:
    """One of `SINKS`; None for another word. `tell` shows a line to the host of a pipeline, and is not to be masked.
    Programs end with `grace`.

    ConfigError if its folder or file is not set.
    """
    match name:
        case "folder":
            return FolderSink(_require_path(config.export_folder, name, "--export-folder"), config.source)
        case "sops":
            folder = _require_path(config.export_sops_folder, name, "--export-sops-folder")
            return SopsSink(folder, Sops(environment=environment, grace=grace or Grace()), config.source)
        case "dotenv":
            return DotenvSink(_require_path(config.export_dotenv, name, "--export-dotenv"), config.source)
        case "ci":
            return PipelineSink(environment, tell)
        case _:
            return None


def _find_folder(path: str | None, flag: str) -> Path | None:
    if not path:
        return None
    folder = Path(path)
    if not folder.exists():
        raise ConfigError(f"There is no folder {folder.absolute()}.", hint=f"Create it, or check {flag}.")
    return folder


def _require_path(path: str | None, name: str, flag: str) -> Path:
    if not path:
        raise ConfigError(f"The secret sink {name} needs {flag}.", hint=f"Set {flag}.")
    return Path(path)


OpenVault = Callable[[], AbstractAsyncContextManager[tuple[Any, VaultConnection]]]
"""Opens the credential of the run, and its connection to Azure."""


@asynccontextmanager
async def open_for_plan(
    config: Config, identity: OpenVault, clock: Clock, environment: Mapping[str, str], account: Path = FOLDER
) -> AsyncIterator[Mapping[str, SecretSource]]:
    """Open the remote sources of a plan, by their word. `account` is the folder of the service account.

    Raises ConfigError if a setting is missing that a sync would need; with --plan-secrets also if a source cannot be
    opened. Nothing is sent yet.
    """
    # What would refuse the sync refuses its plan as well.
    if KeyVault.name in {*config.secret_sources, *config.export_to}:
        _require_key_vault(config)
    sources = replace(config, export_to=())  # a plan writes nothing
    if config.plan_secrets:
        async with open_remote(sources, identity, clock, environment, account) as opened:
            yield opened
        return
    async with AsyncExitStack() as stack:
        stores: dict[str, SecretSource] = {}
        if KeyVault.name in config.secret_sources:
            stores[KeyVault.name] = UnopenedStore(
                name=KeyVault.name, why="A plan does not open Key Vault.", object_kinds=frozenset({ObjectKind.SECRET})
            )
        if Kubernetes.name in config.secret_sources:
            stores[Kubernetes.name] = await _open_if_inside(stack, environment, clock, account)
        yield stores


async def _open_if_inside(
    stack: AsyncExitStack, environment: Mapping[str, str], clock: Clock, account: Path
) -> SecretSource:
    """Open the cluster, or its replacement outside of a cluster."""
    try:
        return await stack.enter_async_context(open_kubernetes(environment, clock, account))
    except ConfigError as error:
        return UnopenedStore(name=Kubernetes.name, why=error.message, object_kinds=frozenset(ObjectKind))


@asynccontextmanager
async def open_remote(
    config: Config, identity: OpenVault, clock: Clock, environment: Mapping[str, str], account: Path = FOLDER
) -> AsyncIterator[Mapping[str, KeyVault | Kubernetes]]:
    """Open the remote sources and sinks that the settings name, by their word. `account` is the folder of the service
    account.

    Raises ConfigError if one cannot be opened. Nothing is sent yet.
    """
    words = {*config.secret_sources, *config.export_to}
    stores: dict[str, KeyVault | Kubernetes] = {}
    async with AsyncExitStack() as stack:
        if KeyVault.name in words:
            url = _require_key_vault(config)
            credential, connection = await stack.enter_async_context(identity())
            vault = await stack.enter_async_context(open_key_vault(url, credential, connection, clock))
            stores[KeyVault.name] = vault
        if Kubernetes.name in words:
            stores[Kubernetes.name] = await stack.enter_async_context(open_kubernetes(environment, clock, account))
        yield stores


def _require_key_vault(config: Config) -> str:
    if not config.key_vault:
        raise ConfigError(
            "The secret source and sink `key-vault` need a Key Vault.",
            hint="Set --key-vault https://NAME.vault.azure.net.",
        )
    return config.key_vault


@dataclass(slots=True, kw_only=True)  # not frozen, since the protocol's attributes are plain
class UnopenedStore:
    """Replaces a remote source that a plan does not open."""

    name: str
    why: str  # why it is not opened
    object_kinds: frozenset[ObjectKind]  # those of the objects that it may have
    is_remote: bool = True  # always, since a plan opens all others

    async def read(self, address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        if address.object_kind not in self.object_kinds:
            return None
        raise SecretStoreError(self.why, hint="Run the plan in the cluster to compare its values; a sync reads them.")

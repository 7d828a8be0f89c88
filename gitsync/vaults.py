"""The places of secrets and config maps, opened from the settings and closed at the end of the run.

Apart from the edges, which a run always has: most runs open none of these. A plan opens nothing that is elsewhere, and
nothing that is written to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gitsync.arm.access import Access
from gitsync.config import Config
from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.vault.keyvault import KeyVault, open_key_vault
from gitsync.vault.kubernetes import Kubernetes, open_kubernetes
from gitsync.vault.local import local_sink, local_source
from gitsync.vault.pipeline import Tell
from gitsync.vault.places import MANIFESTS, Places, Unopened
from gitsync.vault.points import Sink, Source

STATUS = "status"
KEY_VAULT, KUBERNETES = "key-vault", "kubernetes"


@asynccontextmanager
async def open_places(config: Config, access: Access, clock: Clock, *, writes: bool) -> AsyncIterator[Places]:
    """The sources and sinks that the settings name. ConfigError where one of them cannot be opened."""
    async with AsyncExitStack() as stack:
        named = {*config.secret_sources, *config.export_to} & {KEY_VAULT, KUBERNETES}
        remote = {word: await _opened(word, config, access, clock, stack) for word in sorted(named) if writes}
        sources = [word for word in config.secret_sources if word != MANIFESTS]
        sinks = [word for word in config.export_to if word != STATUS and writes]
        yield Places(
            order=config.secret_sources,
            sources={word: remote.get(word) or _source(word, config) for word in sources},
            sinks=tuple(remote.get(word) or _sink(word, config) for word in sinks),
            keeps_config_maps=STATUS in config.export_to,
            environment=os.environ,
        )


async def _opened(
    word: str, config: Config, access: Access, clock: Clock, stack: AsyncExitStack
) -> KeyVault | Kubernetes:
    if word == KUBERNETES:
        return await stack.enter_async_context(open_kubernetes(os.environ, clock))
    if not config.key_vault:
        raise ConfigError("A Key Vault is to hold secrets, and none is named.", hint="Give --key-vault.")
    from gitsync.arm.credentials import open_credential  # noqa: PLC0415 - azure-identity takes a while to import
    from gitsync.arm.network import open_way  # noqa: PLC0415 - as above

    way = await stack.enter_async_context(open_way(access.network))
    credential = await stack.enter_async_context(open_credential(access, way, clock))
    return await stack.enter_async_context(open_key_vault(config.key_vault, credential, way, clock))


def _source(word: str, config: Config) -> Source:
    """One on this machine, or one that a plan leaves closed."""
    return local_source(word, config, os.environ) or Unopened(word)


def _sink(word: str, config: Config) -> Sink:
    sink = local_sink(word, config, os.environ, _tell(config))
    if sink is None:
        raise AssertionError(f"{word} is a sink of the settings")
    return sink


def _tell(config: Config) -> Tell:
    """Hosts of pipelines read both streams; what is parsed by others is kept clean."""

    def tell(line: str) -> None:
        print(line, file=sys.stdout if config.output == "text" else sys.stderr, flush=True)

    return tell

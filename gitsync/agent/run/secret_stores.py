"""The sources and sinks of secrets and config maps, opened from the settings and closed at the end of the run.

Separate from the connections, which a run always has: most runs open none of these. A plan opens no sink.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from gitsync.model.clock import Clock
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.repository.secrets.protocols import SecretSource, Sink, VaultConnection
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.stores import (
    MANIFESTS,
    SecretStores,
    open_for_plan,
    open_local_sink,
    open_local_source,
    open_remote,
)
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace


@asynccontextmanager
async def open_secret_stores(
    config: Config, access: ArmAccess, clock: Clock, grace: Grace | None = None, *, writes: bool
) -> AsyncIterator[SecretStores]:
    """Open the sources and sinks that the settings name. A plan opens no sink, but checks their settings.

    Raises ConfigError if one cannot be opened or lacks a setting. Programs that they start end with `grace`.
    """
    grace = grace or Grace()
    sinks = [word for word in config.export_to if word != KeptConfigMaps.name]
    identity = _make_identity(access, clock)
    if not writes:
        for word in sinks:
            # Nothing is written, but a wrong setting shows in the plan, not first in the sync.
            open_local_sink(word, config, os.environ, _choose_stream(config))
        async with open_for_plan(config, identity, clock, os.environ) as sources:
            yield _make_secret_stores(config, sources, (), grace)
        return
    async with open_remote(config, identity, clock, os.environ) as remote:
        opened_sinks = tuple(remote.get(word) or _open_sink(word, config, grace) for word in sinks)
        yield _make_secret_stores(config, remote, opened_sinks, grace)


def _make_secret_stores(
    config: Config, remote: Mapping[str, SecretSource], sinks: tuple[Sink, ...], grace: Grace
) -> SecretStores:
    sources = [word for word in config.secret_sources if word != MANIFESTS]
    return SecretStores(
        order=config.secret_sources,
        sources={word: remote.get(word) or _open_source(word, config) for word in sources},
        sinks=sinks,
        keeps_config_maps=KeptConfigMaps.name in config.export_to,
        environment=os.environ,
        grace=grace,
    )


def _make_identity(
    access: ArmAccess, clock: Clock
) -> Callable[[], AbstractAsyncContextManager[tuple[Any, VaultConnection]]]:
    """Make the context manager of the global credential, for stores that sign in as the run does."""

    @asynccontextmanager
    async def identity() -> AsyncIterator[tuple[Any, VaultConnection]]:
        from gitsync.providers.arm.auth.credentials import open_credential  # noqa: PLC0415 - azure-identity takes a while to import
        from gitsync.providers.arm.http.connection import open_connection  # noqa: PLC0415 - as above

        async with (
            open_connection(access.network) as connection,
            open_credential(access, connection, clock) as credential,
        ):
            yield credential, connection

    return identity


def _open_source(word: str, config: Config) -> SecretSource:
    source = open_local_source(word, config, os.environ)
    if source is None:
        raise AssertionError(f"{word} is a source of the settings")
    return source


def _open_sink(word: str, config: Config, grace: Grace) -> Sink:
    sink = open_local_sink(word, config, os.environ, _choose_stream(config), grace)
    if sink is None:
        raise AssertionError(f"{word} is a sink of the settings")
    return sink


def _choose_stream(config: Config) -> Callable[[str], None]:
    """Return a function that prints a line: to stdout, or to stderr if other programs parse stdout."""

    def tell(line: str) -> None:
        print(line, file=sys.stdout if config.output == "text" else sys.stderr, flush=True)

    return tell

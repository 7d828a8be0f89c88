"""The sources and sinks of Secrets and ConfigMaps: whether each can be opened, and a sink be written to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gitsync.agent.run.secret_stores import open_secret_stores
from gitsync.desired.request.exports import find_addresses
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.resource import Prepared
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.repository.secrets.protocols import ChecksAccess, ExportNeeds
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.stores import MANIFESTS, SecretStores
from gitsync.settings.config.config import Config
from gitsync.workflows.doctor.azure import PATIENCE
from gitsync.workflows.doctor.setup_check import Check, make_doubt, make_failure, make_ok

_GIT = frozenset({MANIFESTS, KeptConfigMaps.name})
"""Stores in git, which other checks are about."""


async def examine_stores(config: Config, access: ArmAccess, clock: Clock, prepared: Iterable[Prepared]) -> list[Check]:
    """A line for each source and sink of the settings; the failure of one does not hide another."""
    words = [word for word in dict.fromkeys((*config.secret_sources, *config.export_to)) if word not in _GIT]
    if not words:
        return [make_ok("secrets", "Secrets and ConfigMaps are read from git alone, and none are exported elsewhere.")]
    written = {address for entry in prepared if entry.is_valid for address, _ in find_addresses(entry.resource)}
    needs = ExportNeeds(written=tuple(sorted(written)))
    return list(await asyncio.gather(*(_examine_store(word, config, access, clock, needs) for word in words)))


async def _examine_store(word: str, config: Config, access: ArmAccess, clock: Clock, needs: ExportNeeds) -> Check:
    name = f"secrets ({word})"
    alone = replace(
        config,
        secret_sources=tuple(source for source in config.secret_sources if source in {word, MANIFESTS}),
        export_to=tuple(sink for sink in config.export_to if sink == word),
    )
    try:
        async with asyncio.timeout(PATIENCE), open_secret_stores(alone, access, clock, writes=True) as secret_stores:
            target = _find_target(word, alone)
            if target is None:
                await _check_sinks(secret_stores, needs)
            else:
                _check_parent(target)
    except TimeoutError:
        return make_doubt(
            name, f"It did not respond within {PATIENCE:g} seconds.", "Check the network, then run again."
        )
    except GitsyncError as error:
        return make_failure(name, error)
    if alone.export_to:
        return make_ok(name, "writable, as far as can be checked without a write")
    return make_ok(name, "reachable; values are read during a run")


def _find_target(word: str, config: Config) -> Path | None:
    """The file or folder of a sink that does not exist yet: only a run creates it."""
    targets = {"folder": config.export_folder, "sops": config.export_sops_folder, "dotenv": config.export_dotenv}
    path = Path(target) if config.export_to and (target := targets.get(word)) else None
    return None if path is None or path.exists() else path


def _check_parent(target: Path) -> None:
    """ConfigError if a run could not create a file or folder."""
    # A run creates the missing folders in between.
    parent = next(folder for folder in target.absolute().parents if folder.exists())
    if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
        hint = "Grant this user write access, or export to another path."
        raise ConfigError(f"{target} cannot be created: {parent} is not writable.", hint=hint)


async def _check_sinks(secret_stores: SecretStores, needs: ExportNeeds) -> None:
    for sink in secret_stores.sinks:
        await sink.check()
        if isinstance(sink, ChecksAccess):
            await sink.check_access(needs)

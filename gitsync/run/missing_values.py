"""Secrets and config maps that no source here has: warnings of `validate`, since a run may have more sources.

Nothing is decrypted, and no remote source is asked: with one of those in the settings nothing can be said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitsync.config.config import Config
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.export import Address, Holder
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.request.exports import find_addresses
from gitsync.request.fill import find_values
from gitsync.secrets.protocols import SecretSource
from gitsync.secrets.sources.environment import make_secret_variable
from gitsync.secrets.stores import MANIFESTS, open_local_source


class _Use(NamedTuple):
    """A value that a resource needs: one key of an object, or all of it."""

    address: Address
    key: str | None
    user: Prepared


def warn_missing_values(
    prepared: Sequence[Prepared],
    everything: Iterable[Prepared],
    manifests: Manifests,
    config: Config,
    environment: Mapping[str, str],
) -> tuple[Problem, ...]:
    """Return a warning for each value that no source has and that none of `everything` exports, at the first resource
    of `prepared` that needs it.

    None if a source of the settings cannot be read from here.
    """
    try:
        sources = [open_local_source(word, config, environment) for word in config.secret_sources if word != MANIFESTS]
    except ConfigError:
        return ()
    local = [source for source in sources if source is not None]
    if len(local) < len(sources):
        return ()
    exported = frozenset(pair for one in everything for pair in find_addresses(one.resource))
    uses = {(use.address, use.key or ""): use for one in reversed(prepared) for use in _find_uses(one)}
    missing = (use for _, use in sorted(uses.items()) if not _is_exported(use, exported))
    return asyncio.run(_warn(missing, manifests, local))


async def _warn(uses: Iterable[_Use], manifests: Manifests, sources: Sequence[SecretSource]) -> tuple[Problem, ...]:
    return tuple([_make_warning(use) for use in uses if not await _is_found(use, manifests, sources)])


def _find_uses(prepared: Prepared) -> Iterator[_Use]:
    template = prepared.template
    for place in (template.body, template.arm_id) if template else ():
        for address, key in find_values(place, prepared.key.namespace):
            yield _Use(address, key, prepared)


def _is_exported(use: _Use, exported: Collection[tuple[Address, str | None]]) -> bool:
    """Tell whether a resource of the source exports a value; an expression may export any key."""
    return any(pair in exported for pair in ((use.address, use.key), (use.address, None)))


async def _is_found(use: _Use, manifests: Manifests, sources: Sequence[SecretSource]) -> bool:
    if use.key in _list_declared_keys(use.address, manifests):
        return True
    try:
        found = [await source.read(use.address, (use.key,) if use.key else ()) for source in sources]
    except GitsyncError:
        return True  # unknown, and a run reports it
    return any(values is not None and (use.key is None or use.key in values) for values in found)


def _list_declared_keys(address: Address, manifests: Manifests) -> Collection[str | None]:
    """The keys of an object that manifests declare, and None for the object itself."""
    place = (address.namespace, address.name)
    plain = manifests.secrets if address.holder is Holder.SECRET else manifests.config_maps
    encrypted = manifests.encrypted.get(address)
    values = encrypted.values if encrypted else plain.get(place)
    return () if values is None else {None, *values}


def _make_warning(use: _Use) -> Problem:
    what = f"key {use.key} of {use.address}" if use.key else str(use.address)
    user = use.user
    return Problem(
        code="ValueNotFound",
        level=Level.WARNING,
        message=f"No source has {what}, which {user.key.kind}/{user.key.name} needs.",
        hint=_make_hint(use),
        path=user.resource.source.path,
        line=user.resource.source.line,
    )


def _make_hint(use: _Use) -> str:
    if use.address.holder is Holder.CONFIG_MAP or use.key is None:
        return f"Declare the {use.address.holder}, or name the source that has it with --secret-sources."
    variable = make_secret_variable(use.address, use.key)
    return f"Declare the Secret, set {variable}, or name the source that has it with --secret-sources."

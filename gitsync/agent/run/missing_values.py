"""Warn of Secrets and ConfigMaps that resources need and that no source has: for `validate`.

They are warnings, since a run may have more sources. Nothing is decrypted, and nothing is requested from a remote
source: if the settings name one, nothing is reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gitsync.desired.catalog.type_words import format_count, join_with_and
from gitsync.desired.manifests.credential_secret import KEYS, OF_NAMESPACE, REQUIRED
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.problems.finding import find_location
from gitsync.desired.request.credential_choice import read_named_secret
from gitsync.desired.request.exports import find_addresses
from gitsync.desired.request.fill import find_values
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.repository.secrets.protocols import SecretSource
from gitsync.repository.secrets.sources.environment import make_secret_variable
from gitsync.repository.secrets.stores import MANIFESTS, open_local_source
from gitsync.settings.config.config import Config


class _Use(NamedTuple):
    """A value that a resource needs: one key of an object, or all of it."""

    address: Address
    key: str | None
    user: Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """What manifests declare, what they export, and the sources that can be read from here."""

    manifests: Manifests
    exported: frozenset[tuple[Address, str | None]]
    local: Sequence[SecretSource]

    async def have(self, use: _Use) -> bool:
        """Return whether a source has a value, or may have it."""
        # An expression may export any key, so its object counts as exported with each.
        if not self.exported.isdisjoint({(use.address, use.key), (use.address, None)}):
            return True
        return use.key in await self.find_keys(use.address, (use.key,) if use.key else ())

    async def find_keys(self, address: Address, keys: Sequence[str]) -> Collection[str | None]:
        """Find the keys of an object, and None for the object itself; all that are wanted if a source cannot be read: a
        run reports that.
        """
        found = set(list_declared_keys(address, self.manifests))
        try:
            read = [await source.read(address, keys) for source in self.local]
        except GitsyncError:
            return {None, *found, *keys}
        return found.union(*({None, *values} for values in read if values is not None))


def warn_missing_values(
    prepared: Sequence[Prepared],
    everything: Iterable[Prepared],
    manifests: Manifests,
    config: Config,
    environment: Mapping[str, str],
) -> tuple[Problem, ...]:
    """Return a warning for each value that no source has and that none of `everything` exports, at the first resource
    of `prepared` that needs it, and for each Secret of a credential.

    None if a source of the settings cannot be read from here.
    """
    try:
        sources = [open_local_source(word, config, environment) for word in config.secret_sources if word != MANIFESTS]
    except ConfigError:
        return ()
    local = [source for source in sources if source is not None]
    if len(local) < len(sources):
        return ()
    exported = frozenset(pair for prepared in everything for pair in find_addresses(prepared.resource))
    known = _Sources(manifests=manifests, exported=exported, local=local)
    return asyncio.run(_warn(prepared, known))


async def _warn(prepared: Sequence[Prepared], known: _Sources) -> tuple[Problem, ...]:
    uses = {(use.address, use.key or ""): use for resource in reversed(prepared) for use in _list_uses(resource)}
    unbuilt = known.manifests.unusable.unbuilt
    missing = [_make_warning(use, unbuilt) for _, use in sorted(uses.items()) if not await known.have(use)]
    exported = {address for address, _ in known.exported}
    for address, users in sorted(_group_by_credential(prepared).items()):
        # What is wrong with a Secret of the manifests is an error (`credential_secrets`).
        is_checked = (address.namespace, address.name) in known.manifests.objects.secrets
        lacking = "" if address in exported or is_checked else await _find_lacking(address, known)
        if lacking:
            missing.append(_make_credential_warning(lacking, users, unbuilt))
    return tuple(missing)


async def _find_lacking(address: Address, known: _Sources) -> str:
    """Find what no source has of the Secret of a credential: its name, its keys, or ""."""
    found = await known.find_keys(address, KEYS)
    if None not in found:  # without the Secret of a namespace, its resources have the global credential
        return "" if address.name == OF_NAMESPACE else str(address)
    keys = [key for key in REQUIRED if key not in found]
    return f"{join_with_and(keys)} of {address}" if keys else ""


def _list_uses(prepared: Prepared) -> Iterator[_Use]:
    template = prepared.template
    for value in (template.body, template.arm_id) if template else ():
        for address, key in find_values(value, prepared.key.namespace):
            yield _Use(address, key, prepared)


def _group_by_credential(prepared: Iterable[Prepared]) -> dict[Address, list[Prepared]]:
    """Group resources by the Secret that is their credential, or would be."""
    users: dict[Address, list[Prepared]] = {}
    for entry in prepared:
        name = read_named_secret(entry.resource) or OF_NAMESPACE
        users.setdefault(Address(ObjectKind.SECRET, entry.key.namespace, name), []).append(entry)
    return users


def list_declared_keys(address: Address, manifests: Manifests) -> Collection[str | None]:
    """List the keys of an object that manifests declare, and None for the object itself."""
    value = (address.namespace, address.name)
    plain = manifests.objects.secrets if address.object_kind is ObjectKind.SECRET else manifests.objects.config_maps
    encrypted = manifests.objects.encrypted.get(address)
    values = encrypted.values if encrypted else plain.get(value)
    return () if values is None else {None, *values}


def _make_warning(use: _Use, unbuilt: Sequence[Problem]) -> Problem:
    what = f"key {use.key} of {use.address}" if use.key else str(use.address)
    user = use.user
    missing = f"has {what}, which {user.key.kind}/{user.key.name} needs"
    absent = Problem(
        code="ValueNotFound",
        level=Level.WARNING,
        message=f"No source {missing}.",
        hint=_make_hint(use),
        path=user.resource.source.path,
        line=user.resource.source.line,
    )
    return doubt_absence(absent, f"No source that can be read {missing}", unbuilt)


def _make_credential_warning(what: str, users: Sequence[Prepared], unbuilt: Sequence[Problem]) -> Problem:
    """Warn at the first of the resources, as all of them are refused."""
    first, more = users[0], f" and of {format_count(len(users) - 1, 'more resource')}" if len(users) > 1 else ""
    resource = first.resource
    path = ("metadata", "annotations", CREDENTIAL_FROM) if read_named_secret(resource) else ("metadata",)
    value = find_location(path, resource)
    missing = f"has {what}, the credential of {first.key.kind}/{first.key.name}{more}"
    absent = Problem(
        code="ValueNotFound",
        level=Level.WARNING,
        message=f"No source {missing}.",
        hint="Declare it, or name the source that has it with --secret-sources. A run refuses these resources, and "
        "uses no other credential instead.",
        path=value.path,
        line=value.line,
        field=format_field(path),
    )
    return doubt_absence(absent, f"No source that can be read {missing}", unbuilt)


def _make_hint(use: _Use) -> str:
    if use.address.object_kind is ObjectKind.CONFIG_MAP or use.key is None:
        return f"Declare the {use.address.object_kind}, or name the source that has it with --secret-sources."
    variable = make_secret_variable(use.address, use.key)
    return f"Declare the Secret, set {variable}, or name the source that has it with --secret-sources."

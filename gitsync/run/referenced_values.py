"""Find the values of Secrets and ConfigMaps that manifests refer to: for variables, and to warn of
missing ones.

Variables are looked up in the sources of the run. The manifests are read twice then: the sources
are known only once the manifests are, and what a source is asked for are the variables that the
manifests mention. A plan and an offline command leave out what only a sync may read.

`validate` warns of values that no source here has, since a run may have more sources. Nothing is
decrypted, and no remote source is asked: with one of those in the settings nothing can be said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitsync.config.config import Config
from gitsync.errors import ConfigError, GitsyncError, SecretStoreError
from gitsync.manifests.used_objects import find_in_cluster
from gitsync.manifests.variable_values import ReferencedValues, References, describe, join_lines
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit, ValuesReference
from gitsync.request.exports import find_addresses
from gitsync.request.fill import find_values
from gitsync.secrets.lookup import Lookup, wait_for_sources
from gitsync.secrets.protocols import SecretSource
from gitsync.secrets.sources.environment import make_secret_variable
from gitsync.secrets.stores import MANIFESTS, open_local_source


def has_references(units: Iterable[Unit]) -> bool:
    """Tell whether a unit takes variables from Secrets or ConfigMaps."""
    return any(unit.options.substitution and unit.options.substitution.references for unit in units)


def list_references(units: Iterable[Unit], manifests: Manifests) -> Mapping[ValuesReference, frozenset[str]]:
    """List the Secrets and ConfigMaps of the units, with the variables that their manifests mention."""
    wanted: dict[ValuesReference, frozenset[str]] = {}
    for unit in {unit.name: unit for unit in units}.values():
        names = manifests.variables.get(unit.name, frozenset())
        for reference in unit.options.substitution.references if unit.options.substitution else ():
            wanted[reference] = wanted.get(reference, frozenset()) | names
    return wanted


async def look_up_references(
    wanted: Mapping[ValuesReference, frozenset[str]], lookup: Lookup, *, resource_timeout: float, stop: asyncio.Event
) -> References:
    """Look up the values of references, from the sources of a run. They are unknown if a source cannot be read, or the
    sources do not answer within `resource_timeout` seconds, or the run is stopped.
    """

    async def look_up_all() -> References:
        return {one: await _look_up(one, names, lookup) for one, names in wanted.items()}

    found = await wait_for_sources(look_up_all(), resource_timeout=resource_timeout, stop=stop)
    if found is not None:
        return found
    return {one: ReferencedValues(fault=f"timed out waiting for {describe(one)}") for one in wanted}


def settle_ambiguous(wanted: Iterable[ValuesReference], manifests: Manifests) -> References:
    """Settle the references that the manifests declare again with other values, for example in the folders of two
    clusters: each cluster has its own.
    """
    return {one: _find_own(one, manifests) for one in wanted if _find_address(one) in manifests.ambiguous}


def _find_own(reference: ValuesReference, manifests: Manifests) -> ReferencedValues:
    own = find_in_cluster(manifests.versions.get(_find_address(reference), ()), reference.home)
    if own is None:
        return ReferencedValues(fault=f"{describe(reference)} is declared twice, with different values")
    return ReferencedValues(values={name: join_lines(text) for name, text in own.items()})


def _find_address(reference: ValuesReference) -> Address:
    return Address(ObjectKind(reference.kind), reference.namespace, reference.name)


def find_declared(wanted: Iterable[ValuesReference], manifests: Manifests) -> References:
    """Find the values of references that the manifests declare, for commands that ask no source. An optional one that
    they do not declare counts as missing.
    """
    wanted = tuple(wanted)
    found = {reference: _find_declared(reference, manifests) for reference in wanted}
    return {**found, **settle_ambiguous(wanted, manifests)}


async def _look_up(reference: ValuesReference, names: frozenset[str], lookup: Lookup) -> ReferencedValues:
    keys = reference.find_keys(names)
    if not keys:
        return ReferencedValues()
    try:
        state = await lookup.ask_each(_find_address(reference), frozenset(keys.values()))
    except SecretStoreError as error:
        return ReferencedValues(fault=f"{describe(reference)} cannot be read: {error.message.rstrip('.')}")
    values = {name: _convert(reference, state.values[key]) for name, key in keys.items() if key in state.values}
    if state.unread:
        fault = f"a plan does not know {describe(reference)}: {state.unread}"
        return ReferencedValues(values=values, fault=fault, is_to_come=True)
    is_missing = not (state.exists or reference.optional)
    return ReferencedValues(values=values, fault=f"{describe(reference)} is in no secret source" if is_missing else "")


def _find_declared(reference: ValuesReference, manifests: Manifests) -> ReferencedValues:
    identity = (reference.namespace, reference.name)
    if reference.kind == ObjectKind.SECRET and identity in manifests.secrets:
        secrets = manifests.secrets[identity]
        keys = reference.find_keys(dict(reference.keys) or secrets)
        return ReferencedValues(
            values={name: _convert(reference, secrets[key]) for name, key in keys.items() if key in secrets}
        )
    if reference.kind == ObjectKind.CONFIG_MAP and identity in manifests.config_maps:
        texts = manifests.config_maps[identity]
        return ReferencedValues(values={name: join_lines(text) for name, text in texts.items()})
    if reference.optional:
        return ReferencedValues()
    fault = f"{describe(reference)} is not among the manifests, and only a run reads other sources"
    return ReferencedValues(fault=fault, is_to_come=True)


def _convert(reference: ValuesReference, value: Secret) -> str | Secret:
    """Return the value of a variable; Flux takes those that it replaces without line breaks."""
    text = value.reveal() if reference.keys else join_lines(value.reveal())
    return Secret(text) if reference.kind == ObjectKind.SECRET else text


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
    # An expression may export any key, so its object counts as exported with each.
    missing = (
        use for _, use in sorted(uses.items()) if exported.isdisjoint({(use.address, use.key), (use.address, None)})
    )

    async def warn() -> tuple[Problem, ...]:
        unfound = [use for use in missing if not await _is_found(use, manifests, local)]
        return tuple(map(_make_warning, unfound))

    return asyncio.run(warn())


def _find_uses(prepared: Prepared) -> Iterator[_Use]:
    template = prepared.template
    for place in (template.body, template.arm_id) if template else ():
        for address, key in find_values(place, prepared.key.namespace):
            yield _Use(address, key, prepared)


async def _is_found(use: _Use, manifests: Manifests, sources: Sequence[SecretSource]) -> bool:
    if use.key in list_declared_keys(use.address, manifests):
        return True
    try:
        found = [await source.read(use.address, (use.key,) if use.key else ()) for source in sources]
    except GitsyncError:
        return True  # unknown, and a run reports it
    return any(values is not None and (use.key is None or use.key in values) for values in found)


def list_declared_keys(address: Address, manifests: Manifests) -> Collection[str | None]:
    """List the keys of an object that manifests declare, and None for the object itself."""
    place = (address.namespace, address.name)
    plain = manifests.secrets if address.object_kind is ObjectKind.SECRET else manifests.config_maps
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
    if use.address.object_kind is ObjectKind.CONFIG_MAP or use.key is None:
        return f"Declare the {use.address.object_kind}, or name the source that has it with --secret-sources."
    variable = make_secret_variable(use.address, use.key)
    return f"Declare the Secret, set {variable}, or name the source that has it with --secret-sources."

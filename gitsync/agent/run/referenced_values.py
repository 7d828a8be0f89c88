"""Find the values of Secrets and ConfigMaps that variables of manifests come from.

They are looked up in the sources of the run. The manifests are read twice then: the sources are known only once the
manifests are, and only the variables that the manifests mention are requested from a source. A plan and an offline
command leave out what only a sync may read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from gitsync.desired.manifests.used_objects import find_in_cluster
from gitsync.desired.manifests.variable_values import ReferencedValues, References, describe, join_lines
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit, ValuesReference
from gitsync.repository.secrets.lookup import Lookup, wait_for_sources


def has_references(units: Iterable[Unit]) -> bool:
    """Return whether a unit takes variables from Secrets or ConfigMaps."""
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
        return {reference: await _look_up(reference, names, lookup) for reference, names in wanted.items()}

    found = await wait_for_sources(look_up_all(), resource_timeout=resource_timeout, stop=stop)
    if found is not None:
        return found
    return {reference: ReferencedValues(fault=f"timed out waiting for {describe(reference)}") for reference in wanted}


def settle_ambiguous(wanted: Iterable[ValuesReference], manifests: Manifests) -> References:
    """Settle the references that the manifests declare again with other values, for example in the folders of two
    clusters: each cluster has its own.
    """
    return {
        reference: _find_own(reference, manifests)
        for reference in wanted
        if _choose_address(reference) in manifests.objects.ambiguous
    }


def _find_own(reference: ValuesReference, manifests: Manifests) -> ReferencedValues:
    own = find_in_cluster(manifests.objects.versions.get(_choose_address(reference), ()), reference.cluster_folder)
    if own is None:
        return ReferencedValues(fault=f"{describe(reference)} is declared twice, with different values")
    return ReferencedValues(values={name: join_lines(text) for name, text in own.items()})


def _choose_address(reference: ValuesReference) -> Address:
    return Address(ObjectKind(reference.kind), reference.namespace, reference.name)


def read_declared(wanted: Iterable[ValuesReference], manifests: Manifests) -> References:
    """Read the values of references that the manifests declare, for commands that read no source. An optional one that
    they do not declare counts as missing.
    """
    wanted = tuple(wanted)
    found = {reference: _read_declared(reference, manifests) for reference in wanted}
    return {**found, **settle_ambiguous(wanted, manifests)}


async def _look_up(reference: ValuesReference, names: frozenset[str], lookup: Lookup) -> ReferencedValues:
    keys = reference.find_keys(names)
    if not keys:
        return ReferencedValues()
    try:
        state = await lookup.request_each(_choose_address(reference), frozenset(keys.values()))
    except SecretStoreError as error:
        return ReferencedValues(fault=f"{describe(reference)} cannot be read: {error.message.rstrip('.')}")
    values = {name: _convert(reference, state.values[key]) for name, key in keys.items() if key in state.values}
    # Only a sync may read the rest, so what is missing now may be there then.
    if state.unread:
        fault = f"a plan does not read {describe(reference)}: {state.unread}"
        return ReferencedValues(values=values, fault=fault, is_to_come=True)
    is_missing = not (state.exists or reference.optional)
    return ReferencedValues(values=values, fault=f"{describe(reference)} is in no secret source" if is_missing else "")


def _read_declared(reference: ValuesReference, manifests: Manifests) -> ReferencedValues:
    identity = (reference.namespace, reference.name)
    if reference.kind == ObjectKind.SECRET and identity in manifests.objects.secrets:
        secrets = manifests.objects.secrets[identity]
        keys = reference.find_keys(dict(reference.keys) or secrets)
        return ReferencedValues(
            values={name: _convert(reference, secrets[key]) for name, key in keys.items() if key in secrets}
        )
    if reference.kind == ObjectKind.CONFIG_MAP and identity in manifests.objects.config_maps:
        texts = manifests.objects.config_maps[identity]
        return ReferencedValues(values={name: join_lines(text) for name, text in texts.items()})
    if reference.optional:
        return ReferencedValues()
    fault = f"{describe(reference)} is not among the manifests, and only a run reads other sources"
    return ReferencedValues(fault=fault, is_to_come=True)


def _convert(reference: ValuesReference, value: Secret) -> str | Secret:
    """Return the value of a variable; Flux takes those that it replaces without line breaks."""
    text = value.reveal() if reference.keys else join_lines(value.reveal())
    return Secret(text) if reference.kind == ObjectKind.SECRET else text

"""Find the Secrets and ConfigMaps that a rebuild needs but git does not have: no manifest declares them, and no
resource exports them. Each finding lists the sources where a run looks for the value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from gitsync.agent.run.missing_values import list_declared_keys
from gitsync.desired.catalog.type_words import format_short_key, join_with_or
from gitsync.desired.formats.arm_path import name_resource
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding, find_location
from gitsync.desired.request.exports import find_addresses
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.model.arm_id import NO_ID
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.rehearsal import Gap, GapKind
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.repository.secrets.keyvault.index import make_secret_name, make_vault_key
from gitsync.repository.secrets.sources.environment import make_secret_variable
from gitsync.settings.config.config import Config
from gitsync.workflows.rehearsal.rebuild import Rebuild

_OBJECTS = {
    "secretReference": ObjectKind.SECRET,
    "secretMapReference": ObjectKind.SECRET,
    "configMapReference": ObjectKind.CONFIG_MAP,
}
_VAULT = "microsoft.keyvault/vaults"


class ValueNeed(NamedTuple):
    """A value that a resource needs."""

    address: Address
    key: str | None  # of the object, None for all keys
    user: Prepared  # the resource that names it, or the first resource of the unit that does
    source: SourceLocation
    field: str = ""  # of the manifest, "" if the unit names it
    unit: str = ""  # the name of the unit, "" if the resource names it
    has_known_keys: bool = False  # a run requests single keys


def list_missing_values(
    rebuild: Rebuild, manifests: Manifests, config: Config, units: Iterable[Unit], credentials: Mapping[Key, str]
) -> Iterator[Gap]:
    """List the values that git does not have, each key once. `credentials` are Secrets in records, by resource."""
    exported = frozenset(pair for entry in rebuild.prepared for pair in find_addresses(entry.resource))
    needs: defaultdict[tuple[Address, str], list[ValueNeed]] = defaultdict(list)
    for need in (*_list_needs(rebuild), *_list_credentials(rebuild, credentials), *_list_of_units(rebuild, units)):
        # An expression may export any key, so its object counts as exported with every key.
        is_exported = not exported.isdisjoint({(need.address, need.key), (need.address, None)})
        if not is_exported and need.key not in list_declared_keys(need.address, manifests):
            needs[need.address, need.key or ""].append(need)
    # A key has no gap of its own if its complete object is needed and missing.
    read_at_once = {address for address, key in needs if not key}
    for (address, key), group in sorted(needs.items()):
        if not key or address not in read_at_once:
            yield _describe(group, rebuild, config, manifests.unusable.unbuilt)


def _list_needs(rebuild: Rebuild) -> Iterator[ValueNeed]:
    for member in rebuild.members:
        for visit in member.visits:
            if visit.name in _OBJECTS and visit.fits and isinstance(name := visit.value.get("name"), str):
                key = visit.value.get("key")
                yield ValueNeed(
                    Address(_OBJECTS[visit.name], member.key.namespace, name),
                    key if isinstance(key, str) else None,
                    member.prepared,
                    find_location(visit.path, member.prepared.resource),
                    format_field(visit.path),
                    has_known_keys=isinstance(key, str),
                )


def _list_credentials(rebuild: Rebuild, credentials: Mapping[Key, str]) -> Iterator[ValueNeed]:
    """List the credential Secrets of resources: those that they name, and those that they were last written with."""
    path: FieldPath = ("metadata", "annotations", CREDENTIAL_FROM)
    for member in rebuild.members:
        resource = member.prepared.resource
        named = resource.annotations.get(CREDENTIAL_FROM, "")
        name = named or credentials.get(member.key, "")
        if name and "/" not in name:
            address = Address(ObjectKind.SECRET, member.key.namespace, name)
            field = format_field(path) if named else ""
            yield ValueNeed(address, None, member.prepared, find_location(path, resource), field, has_known_keys=True)


def _list_of_units(rebuild: Rebuild, units: Iterable[Unit]) -> Iterator[ValueNeed]:
    """List the objects from which units take their variables."""
    firsts: dict[str, Prepared] = {}
    for member in rebuild.members:
        if member.prepared.resource.unit is not None:
            firsts.setdefault(member.prepared.resource.unit.name, member.prepared)
    for name, unit in sorted({unit.name: unit for unit in units}.items()):
        for reference in unit.options.substitution.references if unit.options.substitution else ():
            # A unit whose resources a rebuild does not write needs no variables in it.
            if name in firsts and not reference.optional:
                address = Address(ObjectKind(reference.kind), reference.namespace, reference.name)
                location = SourceLocation(unit.file, unit.line) if unit.file else firsts[name].resource.source
                yield ValueNeed(address, None, firsts[name], location, unit=unit.title, has_known_keys=True)


def _describe(needs: list[ValueNeed], rebuild: Rebuild, config: Config, unbuilt: Sequence[Problem]) -> Gap:
    need = needs[0]
    address, key = need.address, need.key
    what = f"key {key} of {address}" if key else str(address)
    others = len({need.user.key for need in needs}) - 1
    user = f"the variables of {need.unit}" if need.unit else format_short_key(need.user.key)
    needed = f"{user} and {others} more need it" if others else f"{user} {'need' if need.unit else 'needs'} it"
    locations, lost = _list_locations(need, config), _find_lost_vault(rebuild, config)
    has_vault = bool(lost) and any(location.endswith(f" in {config.key_vault}") for location in locations)
    looked = (
        f" A run looks for it in {join_with_or(locations)}."
        if locations
        else " No other configured source can have it."
    )
    warning = f" A rebuild creates {lost} without its secrets." if has_vault else ""
    missing = f"declares {what}, and no resource exports it; {needed}"
    advice = _advise(address.object_kind, has_locations=bool(locations))
    absent = Finding(code="", path=(), message=f"No manifest {missing}.", hint=advice)
    found = doubt_absence(absent, f"No manifest that can be read {missing}", unbuilt)
    return Gap(
        kind=GapKind.VALUE,
        key=need.user.key,
        message=f"{found.message}{looked}{warning}",
        hint=found.hint,
        stops=not locations or (has_vault and len(locations) == 1),
        source=need.source,
        field=need.field,
    )


def _advise(object_kind: ObjectKind, *, has_locations: bool) -> str:
    add = "Add it to git, encrypted with SOPS" if object_kind is ObjectKind.SECRET else "Add it to git"
    if has_locations:
        return f"{add}, or keep a copy outside the subscription."
    return f"{add}, or add the source that has it to --secret-sources."


def _list_locations(need: ValueNeed, config: Config) -> list[str]:
    """List where a run looks for a value, apart from git."""
    address, key = need.address, need.key
    is_secret = address.object_kind is ObjectKind.SECRET
    folder = config.secrets_folder if is_secret else config.config_maps_folder
    path = "/".join(filter(None, (folder, address.namespace, address.name, key)))
    locations = {"folder": path if folder else "", "kubernetes": "the cluster of the job"}
    if is_secret and need.has_known_keys:  # a variable holds one key, never a complete object
        variables = "the variable " if key else "variables that begin with "
        locations["environment"] = f"{variables}{make_secret_variable(address, key or '')}"
    if is_secret and config.key_vault:
        secret = (
            f"the secret {make_secret_name(make_vault_key(address, key))}" if key else f"the secrets of {address.name}"
        )
        locations["key-vault"] = f"{secret} in {config.key_vault}"
    return [location for word in config.secret_sources if (location := locations.get(word, ""))]


def _find_lost_vault(rebuild: Rebuild, config: Config) -> str:
    """Find the resource of the rebuild that is the configured key vault; "" if it is not part of the rebuild."""
    host = (urlsplit(config.key_vault or "").hostname or "").partition(".")[0]
    vaults = (
        resource
        for resource in rebuild.members
        if resource.kind.arm_type.casefold() == _VAULT and resource.prepared.arm_id
    )
    return next(
        (
            format_short_key(resource.key)
            for resource in vaults
            if name_resource(resource.prepared.arm_id or NO_ID).casefold() == host
        ),
        "",
    )

"""The values for the references in requests: exports of this run first, then the sources in their order.

Each value is read once from the sources, before references are resolved: resolving is pure. A consumer of an export
waits for its producer, so a value that is in no source then is missing. A value keeps what its first use found: an
export may add a missing one later, and changes none that was used. A plan only knows that an export will exist,
and reads no remote source: such a value is a `Placeholder`, which is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitsync.model.export import Address, Export, Holder
from gitsync.model.gvk import Key
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ConfigMapHole, Hole, SecretHole, SecretMapHole
from gitsync.request.fill import MissingValueError
from gitsync.request.placeholders import format_alias_root
from gitsync.secrets.lookup import Lookup

Promised = Mapping[Address, frozenset[str | None]]
"""What resources of this run export: keys by object, None for keys that only an expression knows."""


class RunValues:
    """Values of one run, in memory only. `foresees` tells that it is a plan."""

    def __init__(self, lookup: Lookup, arm_ids: Mapping[Key, str], promised: Promised, *, foresees: bool) -> None:
        self._lookup = lookup
        self._arm_ids = dict(arm_ids)
        self._promised = promised
        self._foresees = foresees
        self._roots: dict[Key, str] = {}
        self._exported: dict[Address, dict[str, Secret]] = {}
        self._used: dict[Address, dict[str, Secret]] = {}
        self._used_maps: dict[Address, Mapping[str, Secret]] = {}

    def export(self, exports: Iterable[Export]) -> None:
        """Make exported objects visible to the resources that come after."""
        for export in exports:
            self._exported.setdefault(export.address, {}).update(export.data)

    def names(self, key: Key, arm_id: str) -> None:
        """Make an id known that a config map named."""
        self._arm_ids[key] = arm_id

    def rooted(self, key: Key, root: str) -> None:
        """Make known the prefix of the ids of a resource's extension resources."""
        self._roots[key] = root

    async def gather(self, namespace: str, holes: Iterable[Hole]) -> None:
        """Read the values of references from the sources, except exports of this run. Raises VaultError if a source
        cannot be read.
        """
        for address, key in _list_needs(namespace, holes):
            if not (self._is_exported(address, key) or self._is_to_come(address, key)):
                await self._lookup.ask(address, key)

    def _is_exported(self, address: Address, key: str | None) -> bool:
        exported = self._exported.get(address)
        return exported is not None and (key is None or key in exported)

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        address = Address(Holder.SECRET, namespace, name)
        value = self._find_value(address, key, f"<secret {name}/{key}>")
        if value is not None:
            return value
        raise MissingValueError(
            "SecretNotFound",
            "failed resolving secret references: couldn't resolve secret reference "
            f"{namespace}/{name}.{key}: {namespace}/{name} does not exist{self._describe_missing_key(address, key)}",
        )

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret] | Secret:
        address = Address(Holder.SECRET, namespace, name)
        if address in self._used_maps:
            return self._used_maps[address]
        if address in self._exported:
            return self._use_map(address, self._exported[address])
        state = self._lookup.found(address)
        if state.exists and not self._is_to_come(address, None):
            return self._use_map(address, state.values)
        if state.unasked or self._is_to_come(address, None):
            return Placeholder(f"<secret {name}>")
        raise MissingValueError(
            "SecretNotFound",
            "failed resolving secret references: couldn't resolve secret collection "
            f"{namespace}/{name}: {namespace}/{name} does not exist",
        )

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret:
        address = Address(Holder.CONFIG_MAP, namespace, name)
        value = self._find_value(address, key, f"<configmap {name}/{key}>")
        if value is not None:
            return value if isinstance(value, Placeholder) else value.reveal()
        raise MissingValueError(
            "ConfigMapNotFound",
            "failed resolving config map references: couldn't resolve config map reference "
            f"{namespace}/{name}.{key}: {namespace}/{name} does not exist{self._describe_missing_key(address, key)}",
        )

    def arm_id(self, key: Key) -> str:
        """Return the id of another manifest; MissingValueError if there is none."""
        try:
            return self._arm_ids[key]
        except KeyError:
            raise MissingValueError(
                "ReferenceNotFound",
                f"failed resolving ARM IDs for references: couldn't resolve reference {key.namespace}/{key.name}: "
                f"{key.namespace}/{key.name} does not exist",
            ) from None

    def root(self, key: Key) -> str:
        """The prefix of the ids of its extension resources. A plan shows a placeholder if it is not known yet."""
        if key in self._roots:
            return self._roots[key]
        if self._foresees:
            return format_alias_root(key)
        raise MissingValueError("WaitingForOwner", f"The subscription of {key} is not known yet.")

    def _use_map(self, address: Address, values: Mapping[str, Secret]) -> Mapping[str, Secret]:
        used = self._used.setdefault(address, {})
        self._used_maps[address] = {key: used.setdefault(key, value) for key, value in values.items()}
        return self._used_maps[address]

    def _find_value(self, address: Address, key: str, placeholder: str) -> Secret | None:
        used = self._used.setdefault(address, {})
        if key in used:
            return used[key]
        value = self._find_current(address, key, placeholder)
        if value is not None and not isinstance(value, Placeholder):
            used[key] = value
        return value

    def _find_current(self, address: Address, key: str, placeholder: str) -> Secret | None:
        if self._is_exported(address, key):
            return self._exported[address][key]
        if self._is_to_come(address, key):
            return Placeholder(placeholder)
        state = self._lookup.found(address)
        if key in state.values:
            return state.values[key]
        return Placeholder(placeholder) if state.unasked else None

    def _is_to_come(self, address: Address, key: str | None) -> bool:
        """Tell whether, in a plan, a resource of the run will export it."""
        promised = self._promised.get(address, frozenset()) if self._foresees else frozenset()
        return bool(promised) and (key is None or not promised.isdisjoint({key, None}))

    def _describe_missing_key(self, address: Address, key: str) -> str:
        promised = self._promised.get(address, frozenset())
        is_made_without = bool(promised) and promised.isdisjoint({key, None})
        if not (is_made_without or address in self._exported or self._lookup.found(address).exists):
            return ""
        return f' ({address.holder} "{address.namespace}/{address.name}" does not contain key "{key}")'


def _list_needs(namespace: str, holes: Iterable[Hole]) -> Iterator[tuple[Address, str | None]]:
    for hole in holes:
        match hole:
            case SecretHole(name, key):
                yield Address(Holder.SECRET, namespace, name), key
            case SecretMapHole(name):
                yield Address(Holder.SECRET, namespace, name), None
            case ConfigMapHole(name, key):
                yield Address(Holder.CONFIG_MAP, namespace, name), key
            case _:  # other manifests are not in sources
                pass

"""The values for the references in requests: exports of this run first, then the sources in their order.

Each value is read once from the sources, before references are resolved: resolving is pure. A consumer of an export
waits for its producer, so a value that is in no source then is missing. A value keeps what its first use found: an
export may add a missing one later, and changes none that was used. In a plan, an export has no value yet, and not every
remote source is read: such a value is a `Placeholder`, which is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from gitsync.desired.request.fill import describe_missing_reference, find_value
from gitsync.desired.request.placeholders import format_alias_root
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address, Export, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import WAITING_FOR_VALUE, ComputedValue, ValueRef
from gitsync.repository.secrets.lookup import Lookup

if TYPE_CHECKING:
    from gitsync.desired.cel.sources import ValueSource

Promised = Mapping[Address, frozenset[str | None]]
"""What resources of this run export: keys by object, None for keys that only an expression gives."""


class StandIns(Protocol):
    """Values of expressions for a rehearsal, which lacks what only Azure has."""

    def recall(self, value: ComputedValue) -> Any:
        """Return what an expression gave when it was sent last; None if it never was."""
        ...

    def make_up(self, value: ComputedValue) -> Any:
        """Make up a value."""
        ...


class RunValues:
    """Values of one run, in memory only. `foresees` is true for a plan."""

    def __init__(
        self,
        lookup: Lookup,
        arm_ids: Mapping[Key, ArmId],
        promised: Promised,
        *,
        foresees: bool,
        sources: frozenset[Key] = frozenset(),
        stand_ins: StandIns | None = None,
    ) -> None:
        """`sources` are the resources that expressions of others name. `stand_ins` are those of a rehearsal."""
        self._lookup = lookup
        self._sources: dict[Key, ValueSource | None] = dict.fromkeys(sources)
        self._written: set[Key] = set()
        self._stand_ins = stand_ins
        self._unsure: set[Key] = set()
        self._arm_ids = dict(arm_ids)
        self._promised = promised
        self._foresees = foresees
        self._roots: dict[Key, str] = {}
        self._exported: dict[Address, dict[str, Secret]] = {}
        self._awaited: set[tuple[Address, str | None]] = set()
        self._used: dict[Address, dict[str, Secret]] = {}
        self._used_maps: dict[Address, Mapping[str, Secret]] = {}

    def add_exports(self, exports: Iterable[Export]) -> None:
        """Make exported objects visible to the resources that come after."""
        for export in exports:
            self._exported.setdefault(export.address, {}).update(export.data)

    def await_exports(self, destinations: Iterable[tuple[Address, str | None]]) -> None:
        """Note in a plan that a resource exports these values once the run has created it; a key of None is any."""
        self._awaited.update(destinations)

    def add_arm_id(self, key: Key, arm_id: ArmId, *, is_sure: bool = True) -> None:
        """Make an id known that a config map named. A plan may not be sure of it."""
        self._arm_ids[key] = arm_id
        if not is_sure:
            self._unsure.add(key)

    def add_root(self, key: Key, root: str) -> None:
        """Make known the prefix of the ids of a resource's extension resources."""
        self._roots[key] = root

    def is_source(self, key: Key) -> bool:
        """Return whether an expression needs values of a resource, so that it is read."""
        return key in self._sources

    def add_source(self, key: Key, source: ValueSource, *, is_written: bool) -> None:
        """Make known what a resource has, for the expressions of those that come after, and whether this run wrote
        it.
        """
        self._sources[key] = source
        if is_written:
            self._written.add(key)

    def computed(self, value: ComputedValue) -> Any:
        """Return the value of an expression; a placeholder if only a sync can have it. MissingValueError if there is
        none.
        """
        stand_ins = self._stand_ins
        if stand_ins is None or not value.reads:
            return self._compute(value)
        # What Azure has of an unchanged resource did not change either.
        recalled = stand_ins.recall(value) if self._written.isdisjoint(value.reads) else None
        if recalled is not None:
            return recalled
        try:
            return self._compute(value)
        except MissingValueError:
            return stand_ins.make_up(value)

    def _compute(self, value: ComputedValue) -> Any:
        from gitsync.desired.request.computed_fill import compute_value  # noqa: PLC0415 - an engine that most repositories do not need

        found = compute_value(value, self._find_source)
        if isinstance(found, Placeholder) and not self._foresees:  # such as a variable without a value in `spec`
            raise MissingValueError(WAITING_FOR_VALUE, f"{value.field} has no value: {found.why or 'it is not known'}.")
        return found

    def _find_source(self, name: str, key: Key) -> ValueSource:
        source = self._sources.get(key)
        if source is None:
            raise MissingValueError(WAITING_FOR_VALUE, f"{name} has not been read in this run.")
        return source

    async def gather(self, namespace: str, refs: Iterable[ValueRef]) -> None:
        """Read the values of references from the sources, except exports of this run. Raises SecretStoreError if a
        source cannot be read.
        """
        # What this run exports is not asked for: the sources have at most what a former run wrote.
        for address, key in filter(None, (find_value(ref, namespace) for ref in refs)):
            if not (self._is_exported(address, key) or self._is_to_come(address, key)):
                await self._lookup.request(address, key)

    def _is_exported(self, address: Address, key: str | None) -> bool:
        exported = self._exported.get(address)
        return exported is not None and (key is None or key in exported)

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        address = Address(ObjectKind.SECRET, namespace, name)
        value = self._find_value(address, key, f"<secret {name}/{key}>")
        if value is not None:
            return value
        raise MissingValueError(
            "SecretNotFound",
            f"failed resolving secret references: {self._describe_missing(address, key, 'secret')}",
        )

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret] | Secret:
        address = Address(ObjectKind.SECRET, namespace, name)
        # Two resources of one run get the same values, even if an export came in between.
        if address in self._used_maps:
            return self._used_maps[address]
        if address in self._exported:
            return self._use_map(address, self._exported[address])
        state = self._lookup.get_state(address)
        # In a plan an object that a resource will export is not what the sources have now.
        if state.exists and not self._is_to_come(address, None):
            return self._use_map(address, state.values)
        if why := self._explain_unknown(address, None):
            return Placeholder(f"<secret {name}>", why=why)
        raise MissingValueError(
            "SecretNotFound",
            "failed resolving secret references: couldn't resolve secret collection "  # quoted from ASO
            f"{namespace}/{name}: {_describe_absent(address)}",
        )

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret:
        address = Address(ObjectKind.CONFIG_MAP, namespace, name)
        value = self._find_value(address, key, f"<configmap {name}/{key}>")
        if value is not None:
            return value.as_public() if isinstance(value, Placeholder) else value.reveal()
        raise MissingValueError(
            "ConfigMapNotFound",
            f"failed resolving config map references: {self._describe_missing(address, key, 'config map')}",
        )

    def arm_id(self, key: Key) -> str | Secret:
        """Return the id of another manifest; a placeholder if a part of it is unknown in a plan, or uncertain.
        MissingValueError if there is none.
        """
        arm_id = self._arm_ids.get(key)
        if arm_id is None:
            raise MissingValueError("ReferenceNotFound", describe_missing_reference(key))
        # No Azure id has a "<": it marks a part that is not known yet.
        if "<" in arm_id or key in self._unsure:
            return Placeholder(str(arm_id), why=f"the ARM id of {key.kind} {key.name} is not known yet", is_public=True)
        return str(arm_id)

    def root(self, key: Key) -> str:
        """Return the prefix of the ids of its extension resources. A plan shows a placeholder if it is not known
        yet.
        """
        if key in self._roots:
            return self._roots[key]
        # A plan shows where the value will be, since only a sync can have it.
        if self._foresees:
            return format_alias_root(key)
        raise MissingValueError("WaitingForOwner", f"The subscription of {key} is not known yet.")

    def _use_map(self, address: Address, values: Mapping[str, Secret]) -> Mapping[str, Secret]:
        used = self._used.setdefault(address, {})
        self._used_maps[address] = {key: used.setdefault(key, value) for key, value in values.items()}
        return self._used_maps[address]

    def _find_value(self, address: Address, key: str, placeholder: str) -> Secret | None:
        used = self._used.setdefault(address, {})
        if key in used:  # all uses in a run see the same value, whatever is exported in between
            return used[key]
        value = self._find_current(address, key, placeholder)
        # A placeholder may become known later in the same plan.
        if value is not None and not isinstance(value, Placeholder):
            used[key] = value
        return value

    def _find_current(self, address: Address, key: str, placeholder: str) -> Secret | None:
        if self._is_exported(address, key):
            return self._exported[address][key]
        known_values = {} if self._is_to_come(address, key) else self._lookup.get_state(address).values
        if key in known_values:
            return known_values[key]
        if not (why := self._explain_unknown(address, key)):
            return None
        is_new = not self._awaited.isdisjoint({(address, key), (address, None)})
        return Placeholder(placeholder, why=why, is_new=is_new)

    def _explain_unknown(self, address: Address, key: str | None) -> str:
        """Explain why a value is unknown in a plan; "" if it is known, or if there is none."""
        if self._is_to_come(address, key):
            return "another resource of the run exports it"
        return self._lookup.get_state(address).unread

    def _is_to_come(self, address: Address, key: str | None) -> bool:
        """Return whether, in a plan, a resource of the run will export it."""
        promised = self._promised.get(address, frozenset()) if self._foresees else frozenset()
        return bool(promised) and (key is None or not promised.isdisjoint({key, None}))

    def _describe_missing(self, address: Address, key: str, noun: str) -> str:
        """ASO's words for a missing object, or for an object without the key."""
        name = f"{address.namespace}/{address.name}"
        promised = self._promised.get(address, frozenset())
        # ASO has two texts: one for an object that is not there, one for an object without the key.
        is_made_without = bool(promised) and promised.isdisjoint({key, None})
        if is_made_without or address in self._exported or self._lookup.get_state(address).exists:
            return f'{name} does not exist ({address.object_kind} "{name}" does not contain key "{key}")'
        return f"couldn't resolve {noun} reference {name}.{key}: {_describe_absent(address)}"


def _describe_absent(address: Address) -> str:
    """As the client of Kubernetes words it."""
    return f'{address.namespace}/{address.name} does not exist ({address.object_kind} "{address.name}" not found)'

"""What must come before a manifest: the edges of the walk, and why each is one (docs/reference/design.md#order).

Apart from the graph, which knows nothing of manifests. Every edge leads to a manifest of the same set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitsync.model.export import Address, Holder
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import ConfigMapHole, Hole, ReferenceHole, SecretHole, SecretMapHole
from gitsync.request.exports import find_addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one manifest depends on: its owner, the placeholders of its request, and the ARM ids that it gives."""

    key: Key
    owner: OwnerRef | None
    holes: tuple[Hole, ...] = ()
    arm_ids: tuple[str, ...] = ()


class Dependencies:
    """The edges of one set of manifests."""

    def __init__(self, resources: Sequence[Resource], arm_ids: Mapping[Key, str]) -> None:
        """`arm_ids` are those that are known offline."""
        self._producers = _producers(resources)
        self._keys = frozenset(resource.key for resource in resources)
        self._at = {arm_id.casefold(): key for key, arm_id in sorted(arm_ids.items(), reverse=True)}

    def of(self, needs: Needs) -> tuple[Key, ...]:
        """The manifests that must come before one, sorted; never itself."""
        found = {key for key in self._needed(needs) if key in self._keys}
        return tuple(sorted(found - {needs.key}))

    def _needed(self, needs: Needs) -> Iterator[Key]:
        owner = needs.owner
        if owner and owner.key:
            yield owner.key
        for arm_id in (*needs.arm_ids, *([owner.arm_id] if owner and owner.arm_id else [])):
            yield from self._above(arm_id)
        for hole in needs.holes:
            yield from self._behind(hole, needs.key.namespace)

    def _above(self, arm_id: str) -> Iterator[Key]:
        """The manifest that an ARM id names or is below: the nearest, which itself waits for those above it."""
        path = arm_id.rstrip("/").casefold()
        while path:
            if path in self._at:
                yield self._at[path]
                return
            path = path.rpartition("/")[0]

    def _behind(self, hole: Hole, namespace: str) -> Iterator[Key]:
        match hole:
            case ReferenceHole(key):
                yield key
            case SecretHole(name, key_):
                yield from self._exporting(Address(Holder.SECRET, namespace, name), key_)
            case ConfigMapHole(name, key_):
                yield from self._exporting(Address(Holder.CONFIG_MAP, namespace, name), key_)
            case SecretMapHole(name):
                yield from self._exporting(Address(Holder.SECRET, namespace, name), None)

    def _exporting(self, address: Address, wanted: str | None) -> Iterator[Key]:
        for key, exported in self._producers.get(address, ()):
            if wanted is None or exported in {None, wanted}:
                yield key


def _producers(resources: Iterable[Resource]) -> Mapping[Address, list[tuple[Key, str | None]]]:
    """Who exports to which Secret or ConfigMap, and under which of its keys: None for a whole map of them."""
    found: dict[Address, list[tuple[Key, str | None]]] = defaultdict(list)
    for resource in resources:
        for address, key in sorted(find_addresses(resource), key=str):
            found[address].append((resource.key, key))
    return found

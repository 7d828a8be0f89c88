"""The exports of a run: every sink of the settings, checked before it is written to.

Nothing of a resource's exports is written before every sink has agreed: an object that exists and is not the
resource's own stops them all (docs/reference/reconciliation.md#export-ownership). What a resource exported goes when
the resource is forgotten, as a cluster would collect it with its owner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext

from gitsync.errors import ExportError, NotOwnedError
from gitsync.model.export import Address, Export, Holder, Leftover, Owner
from gitsync.model.gvk import Key
from gitsync.request.exports import format_not_owned
from gitsync.secrets.collection import Collected, InTime, collect
from gitsync.secrets.content import describe_owner
from gitsync.secrets.foreign_objects import find_foreign
from gitsync.secrets.protocols import ChecksAccess, Examines, ExportNeeds, HasParts, Rehearses, SecretSource, Sink
from gitsync.secrets.sinks.status import KeptConfigMaps

NOTHING = ExportNeeds()

_MOST_PARTS = 3  # of an object that belong to others and are named


class Outlets:
    """The sinks of a run. `claims` names the resource that may write an object, `needed` the Secrets that other
    resources of the run read; `kept` is the sink `status`, whose content is written back with the records. `sources`
    are those that the run may ask.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        claims: Mapping[Address, Key],
        kept: KeptConfigMaps,
        needed: Collection[Address] = (),
        sources: Sequence[SecretSource] = (),
    ) -> None:
        self._sinks = sinks
        self._claims = claims
        self._needed = needed
        sink_ids = {id(sink) for sink in sinks}  # `write` asks them
        self._sources = tuple(one for one in sources if id(one) not in sink_ids)
        self.kept = kept

    def wants(self, address: Address, *, is_watched: bool) -> bool:
        """Whether an export has a reader: a Secret without readers is not requested from Azure.

        Only other resources read the exports of a watched resource.
        """
        takes_secrets = not is_watched and any(sink is not self.kept for sink in self._sinks)
        return takes_secrets or address.holder is Holder.CONFIG_MAP or address in self._needed

    async def check(self, needs: ExportNeeds = NOTHING) -> None:
        """Make sure that every sink can be written to, and allows what the run needs. ConfigError if one does not."""
        for sink in self._sinks:
            await sink.check()
            if isinstance(sink, ChecksAccess):
                await sink.check_access(needs)

    async def check_owners(self, owner: Owner, keys: Mapping[Address, Collection[str]]) -> None:
        """Make sure that objects are the resource's own, as far as claims and sources tell; `write` asks the sinks.
        `keys` are the exported keys by object.

        Raises ExportError if one is not, SecretStoreError if a source cannot tell.
        """
        claimed = {address for address in keys if not self._owns(address, owner)}
        foreign = {a for a in keys.keys() - claimed if await find_foreign(self._sources, a, keys[a], owner)}
        if refused := sorted(claimed | foreign):
            raise ExportError("; ".join(format_not_owned(one, owner.key) for one in refused), is_fatal=True)

    async def write(self, exports: Sequence[Export]) -> None:
        """Write objects of one resource to every sink.

        Raises ExportError, with nothing written, if an object is not the resource's own; SecretStoreError if a sink
        could not be asked, or cannot hold an object or would refuse it (nothing is written then either), or not be
        written to.
        """
        refusals = [format_not_owned(e.address, e.owner.key) for e in exports if not self._owns(e.address, e.owner)]
        for sink in self._sinks if not refusals else ():
            owners = [(export, await sink.owner(export.address)) for export in exports]
            foreign = [(e, owner) for e, owner in owners if owner is not None and owner != str(e.owner)]
            refusals += [await _format_not_owned_by(sink, e, owner) for e, owner in foreign]
        if refusals:
            raise ExportError("; ".join(sorted(set(refusals))), is_fatal=True)
        for sink in self._sinks:
            if isinstance(sink, Examines):
                sink.examine(exports)
        await self._rehearse(exports)
        for sink in self._sinks:
            for export in exports:
                await sink.write(export)

    async def _rehearse(self, exports: Sequence[Export]) -> None:
        """Ask the sinks that can tell whether each write will be accepted."""
        for sink in self._sinks:
            if isinstance(sink, Rehearses):
                try:
                    await sink.rehearse(exports)
                except NotOwnedError as error:
                    raise ExportError(str(error), is_fatal=True) from error

    def _owns(self, address: Address, owner: Owner) -> bool:
        """Tell whether no other resource of the run is to write the object."""
        return self._claims.get(address, owner.key) == owner.key

    async def collect(
        self,
        forgotten: Iterable[tuple[Owner, Address]],
        earlier: Collection[Leftover] = (),
        in_time: InTime = nullcontext,
    ) -> Collected:
        """Remove the exports of forgotten resources, and what was left over `earlier`. See `collection.collect`.

        What a manifest exports again is left alone: an export takes it over.
        """
        sinks = self._sinks if self.kept in self._sinks else (self.kept, *self._sinks)
        wanted = [one for one in earlier if self._claims.get(one.address) != one.owner.key]
        return await collect(sinks, forgotten, wanted, in_time)


async def _format_not_owned_by(sink: Sink, export: Export, owner: str) -> str:
    """ASO's message, and who the owner is: a person of another team has to be asked, not overruled."""
    known = describe_owner(owner)
    if isinstance(sink, HasParts):
        owners = await sink.owners(export.address)
        foreign = [(part, one) for part, one in owners.items() if one != str(export.owner)][:_MOST_PARTS]
        known = "".join(describe_owner(one, part) or f" No resource exports {part}." for part, one in foreign)
    return f"{format_not_owned(export.address, export.owner.key)}{f'.{known}'.rstrip('.')}"

"""Where the exports of a run go: every sink of the settings, asked before it is written to.

Nothing of a resource's exports is written before every sink said that it may be: an object that exists and is not the
resource's own stops them all (spec: semantics §7.3).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gitsync.core.exports import ExportError, not_owned
from gitsync.model.export import Address, Export, Holder
from gitsync.model.gvk import Key
from gitsync.vault.kept import KeptConfigMaps
from gitsync.vault.points import Examines, Sink


class Outlets:
    """The sinks of a run. `claims` says who of several resources may write an object, `needed` which Secrets other
    resources of the run draw on; `kept` is the sink `status`, whose content is written back with the records.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        claims: Mapping[Address, Key],
        kept: KeptConfigMaps,
        needed: Collection[Address] = (),
    ) -> None:
        self._sinks = sinks
        self._claims = claims
        self._needed = needed
        self.kept = kept

    def wants(self, address: Address) -> bool:
        """Tell whether anybody gets what is exported to an object: a Secret for nobody is not asked for."""
        takes_secrets = any(sink is not self.kept for sink in self._sinks)
        return takes_secrets or address.holder is Holder.CONFIG_MAP or address in self._needed

    async def check(self) -> None:
        """Make sure that every sink can be written to. ConfigError where one cannot."""
        for sink in self._sinks:
            await sink.check()

    async def write(self, exports: Sequence[Export]) -> None:
        """Write objects of one resource to every sink.

        Raises ExportError, with nothing written, where an object is not the resource's own; VaultError where a sink
        could not be asked, or cannot hold an object (nothing is written then either), or not be written to.
        """
        strange = [not_owned(e.address, e.owner) for e in exports if self._claims.get(e.address, e.owner) != e.owner]
        for sink in self._sinks if not strange else ():
            owners = [(export, await sink.owner(export.address)) for export in exports]
            strange += [not_owned(e.address, e.owner) for e, owner in owners if owner not in {None, str(e.owner)}]
        if strange:
            raise ExportError("; ".join(sorted(set(strange))), is_fatal=True)
        for sink in self._sinks:
            if isinstance(sink, Examines):
                for export in exports:
                    sink.examine(export)
        for sink in self._sinks:
            for export in exports:
                await sink.write(export)

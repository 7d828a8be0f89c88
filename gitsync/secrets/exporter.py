"""The exports of a run: every sink of the settings, checked before it is written to.

Nothing of a resource's exports is written before every sink has agreed: an object that exists and is not the
resource's own stops them all (docs/reference/reconciliation.md#export-ownership). What a resource exported goes when
the resource is forgotten, as a cluster would collect it with its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from gitsync.model.export import Address, Export, Holder, Owner
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.request.exports import ExportError, format_not_owned
from gitsync.secrets.foreign_objects import find_foreign
from gitsync.secrets.protocols import Examines, SecretSource, Sink, VaultError
from gitsync.secrets.sinks.status import KeptConfigMaps

InTime = Callable[[], AbstractAsyncContextManager[None]]

_MANUAL_STEPS: Mapping[str, str] = {
    "folder": "Delete its folder there, {namespace}/{name}.",
    "sops": "Delete the file {namespace}/{name}.yaml there.",
    "dotenv": "Delete its lines there, and the comment above them.",
    "key-vault": "Delete every secret there that is tagged gitsync-namespace={namespace} and gitsync-name={name}.",
    "kubernetes": "`kubectl delete {kind} {name} --namespace {namespace}` deletes it.",
}
"""How a person removes an object from a sink; the sink `status` needs nothing by hand."""


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

    async def check(self) -> None:
        """Make sure that every sink can be written to. ConfigError if one cannot."""
        for sink in self._sinks:
            await sink.check()

    async def check_owners(self, owner: Owner, keys: Mapping[Address, Collection[str]]) -> None:
        """Make sure that objects are the resource's own, as far as claims and sources tell; `write` asks the sinks.
        `keys` are the exported keys by object.

        Raises ExportError if one is not, VaultError if a source cannot tell.
        """
        claimed = {address for address in keys if not self._owns(address, owner)}
        foreign = {a for a in keys.keys() - claimed if await find_foreign(self._sources, a, keys[a], owner)}
        if refused := sorted(claimed | foreign):
            raise ExportError("; ".join(format_not_owned(one, owner.key) for one in refused), is_fatal=True)

    async def write(self, exports: Sequence[Export]) -> None:
        """Write objects of one resource to every sink.

        Raises ExportError, with nothing written, if an object is not the resource's own; VaultError if a sink
        could not be asked, or cannot hold an object (nothing is written then either), or not be written to.
        """
        refusals = [format_not_owned(e.address, e.owner.key) for e in exports if not self._owns(e.address, e.owner)]
        for sink in self._sinks if not refusals else ():
            owners = [(export, await sink.owner(export.address)) for export in exports]
            refusals += [
                format_not_owned(e.address, e.owner.key) for e, owner in owners if owner not in {None, str(e.owner)}
            ]
        if refusals:
            raise ExportError("; ".join(sorted(set(refusals))), is_fatal=True)
        for sink in self._sinks:
            if isinstance(sink, Examines):
                sink.examine(exports)
        for sink in self._sinks:
            for export in exports:
                await sink.write(export)

    def _owns(self, address: Address, owner: Owner) -> bool:
        """Tell whether no other resource of the run is to write the object."""
        return self._claims.get(address, owner.key) == owner.key

    async def collect(
        self, forgotten: Mapping[Key, Sequence[Address]], agent: str, in_time: InTime = nullcontext
    ) -> tuple[Problem, ...]:
        """Remove from every sink the exports of forgotten resources that they still own.

        A failure of one sink does not stop the others. Failures are returned in order: no later run tries again.
        `in_time` bounds each removal, and raises TimeoutError if the time is up.
        """
        sinks = self._sinks if self.kept in self._sinks else (self.kept, *self._sinks)
        problems = []
        for owner, address in [
            (Owner(key, agent), exported) for key in sorted(forgotten) for exported in forgotten[key]
        ]:
            for sink in sinks:
                try:
                    async with in_time():
                        await sink.remove(address, owner)
                except VaultError as error:
                    problems.append(_make_not_removed_problem(sink.name, address, owner, error))
                except TimeoutError:
                    timeout = VaultError("Deadline of the run exceeded.")
                    problems.append(_make_not_removed_problem(sink.name, address, owner, timeout))
        return tuple(problems)


def _make_not_removed_problem(sink: str, address: Address, owner: Owner, error: VaultError) -> Problem:
    manual_step = _MANUAL_STEPS.get(sink, "").format(
        kind=address.holder.lower(), namespace=address.namespace, name=address.name
    )
    return Problem(
        code="ExportNotRemoved",
        level=Level.WARNING,
        message=f"{address}, which {owner} exported, was not removed from the sink {sink}: {error.message}",
        hint=" ".join(filter(None, (error.hint, manual_step))),
    )

"""The exports of a run: every sink of the settings, checked before it is written to.

Nothing of a resource's exports is written before every sink has agreed: an object that exists and is not the resource's
own stops them all (docs/reference/reconciliation.md#export-ownership).

What a resource exported goes when the resource is forgotten, as a cluster would collect it with its owner. A removal
that fails stops nothing, is kept in the state, and is tried by every later run until the object is gone or belongs to
another owner.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace

from gitsync.desired.problems.finding import locate_finding
from gitsync.desired.request.exports import collect_first_fields, format_not_owned, group_keys, make_foreign, may_export
from gitsync.errors import ExportError, NotOwnedError, SecretStoreError
from gitsync.model.export import Address, Export, Leftover, ObjectKind, Owner, is_owned_by
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.repository.secrets.protocols import (
    ChecksAccess,
    Examines,
    ExportNeeds,
    HasParts,
    KnowsOwners,
    Rehearses,
    SecretSource,
    Sink,
)
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.store_rules import describe_owner

NOTHING = ExportNeeds()

_MOST_PARTS = 3  # of an object that belong to others and are named


class ExportSinks:
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
        sink_ids = {id(sink) for sink in sinks}  # `write` checks them
        self._sources = tuple(source for source in sources if id(source) not in sink_ids)
        self.kept = kept

    def has_reader(self, address: Address, *, is_watched: bool) -> bool:
        """Return whether an export has a reader: a Secret without readers is not requested from Azure."""
        # Only other resources read the exports of a watched resource.
        takes_secrets = not is_watched and any(sink is not self.kept for sink in self._sinks)
        return takes_secrets or address.object_kind is ObjectKind.CONFIG_MAP or address in self._needed

    async def check(self, needs: ExportNeeds = NOTHING) -> None:
        """Make sure that every sink can be written to, and allows what the run needs. ConfigError if one does not."""
        for sink in self._sinks:
            await sink.check()
            if isinstance(sink, ChecksAccess):
                await sink.check_access(needs)

    async def check_owners(self, owner: Owner, keys: Mapping[Address, Collection[str]]) -> None:
        """Make sure that objects are the resource's own, as far as claims and sources show; `write` checks the sinks.
        `keys` are the exported keys by object.

        Raises ExportError if one is not, SecretStoreError if a source cannot be read.
        """
        claimed = {address for address in keys if not self._owns(address, owner)}
        foreign = {a for a in keys.keys() - claimed if await has_foreign(self._sources, a, keys[a], owner)}
        if refused := sorted(claimed | foreign):
            raise ExportError("; ".join(format_not_owned(address, owner.key) for address in refused), is_fatal=True)

    async def write(self, exports: Sequence[Export]) -> None:
        """Write objects of one resource to every sink.

        Raises ExportError, with nothing written, if an object is not the resource's own; SecretStoreError if a sink
        could not be queried, or cannot hold an object or would refuse it (nothing is written then either), or not be
        written to.
        """
        refusals = [format_not_owned(e.address, e.owner.key) for e in exports if not self._owns(e.address, e.owner)]
        # Every refusal is collected, so that a person fixes all of them at once.
        for sink in self._sinks if not refusals else ():
            owners = [(export, await sink.owner(export.address)) for export in exports]
            foreign = [(e, owner) for e, owner in owners if owner is not None and owner != str(e.owner)]
            refusals += [await _format_not_owned_by(sink, e, owner) for e, owner in foreign]
        if refusals:
            raise ExportError("; ".join(sorted(set(refusals))), is_fatal=True)
        for sink in self._sinks:
            if isinstance(sink, Examines):
                sink.examine(exports)
        # After this nothing is known to stand against a write; a sink can still fail in the middle.
        await self._rehearse(exports)
        for sink in self._sinks:
            for export in exports:
                await sink.write(export)

    async def _rehearse(self, exports: Sequence[Export]) -> None:
        """Rehearse each write in the sinks that can check whether they will accept it."""
        for sink in self._sinks:
            if isinstance(sink, Rehearses):
                try:
                    await sink.rehearse(exports)
                except NotOwnedError as error:
                    raise ExportError(str(error), is_fatal=True) from error

    def _owns(self, address: Address, owner: Owner) -> bool:
        """Return whether no other resource of the run will write the object."""
        return self._claims.get(address, owner.key) == owner.key

    async def collect(
        self,
        forgotten: Iterable[tuple[Owner, Address]],
        earlier: Collection[Leftover] = (),
        in_time: InTime = nullcontext,
    ) -> Collected:
        """Remove the exports of forgotten resources, and what was left over `earlier`. See `remove_forgotten`."""
        # A sink that was taken out of the settings keeps what it has, but the status never keeps what is gone.
        sinks = self._sinks if self.kept in self._sinks else (self.kept, *self._sinks)
        # An object that a manifest exports again stays: an export takes it over.
        wanted = [leftover for leftover in earlier if self._claims.get(leftover.address) != leftover.owner.key]
        return await remove_forgotten(sinks, forgotten, wanted, in_time)


async def _format_not_owned_by(sink: Sink, export: Export, owner: str) -> str:
    """Format ASO's message with the owner, so that the reader asks the other team and does not overrule it."""
    known = describe_owner(owner)
    if isinstance(sink, HasParts):  # then only the parts of others prevent the write
        owners = await sink.owners(export.address)
        foreign = [(part, owner) for part, owner in owners.items() if owner != str(export.owner)][:_MOST_PARTS]
        known = "".join(describe_owner(owner, part) or f" No resource exports {part}." for part, owner in foreign)
    return f"{format_not_owned(export.address, export.owner.key)}{f'.{known}'.rstrip('.')}"


InTime = Callable[[], AbstractAsyncContextManager[None]]

NOT_REMOVED = "ExportNotRemoved"
LEFT_OVER = "ExportLeftOver"

_MANUAL_STEPS: Mapping[str, str] = {
    "folder": "delete its folder there, {namespace}/{name}",
    "sops": "delete the file {namespace}/{name}.yaml there",
    "dotenv": "delete its lines there, and the comment above them",
    "key-vault": "delete every secret there that is tagged gitsync-namespace={namespace} and gitsync-name={name}",
    "kubernetes": "run `kubectl delete {kind} {name} --namespace {namespace}`",
}
"""How a person removes an object from a sink; the sink `status` needs nothing by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What came of removals."""

    still_there: Mapping[Leftover, bool] = field(default_factory=dict)  # an entry for each that was tried
    problems: tuple[Problem, ...] = ()

    def has_freed(self, earlier: Collection[Leftover]) -> bool:
        """Return whether something that earlier runs left over is gone: its name is free."""
        return any(not self.still_there.get(leftover, True) for leftover in earlier)


async def remove_forgotten(
    sinks: Sequence[Sink],
    forgotten: Iterable[tuple[Owner, Address]],
    earlier: Collection[Leftover] = (),
    in_time: InTime = nullcontext,
) -> Collected:
    """Remove from every sink the exports of forgotten resources that they still own, and what was left over `earlier`.

    `in_time` bounds each removal, and raises TimeoutError if the time is up. What an absent sink holds stays as it is,
    with a warning.
    """
    wanted = {Leftover(owner, address, sink.name) for owner, address in forgotten for sink in sinks}
    known = {sink.name for sink in sinks}
    still_there: dict[Leftover, bool] = {}
    problems = []
    for removal in sorted({*wanted, *(leftover for leftover in earlier if leftover.sink in known)}):
        # A failure of one sink does not stop the others.
        errors = [await _try_remove(sink, removal, in_time) for sink in sinks if sink.name == removal.sink]
        failures = [error for error in errors if error]
        still_there[removal] = bool(failures)
        problems += [_make_not_removed_problem(removal, error) for error in failures]
    # A sink that was removed from the settings cannot be queried: its leftovers stay in the state.
    absent = [leftover for leftover in earlier if leftover.sink not in known]
    return Collected(still_there=still_there, problems=(*problems, *warn_left_over(absent)))


async def _try_remove(sink: Sink, leftover: Leftover, in_time: InTime) -> SecretStoreError | None:
    try:
        async with in_time():
            await sink.remove(leftover.address, leftover.owner)
    except SecretStoreError as error:
        return error
    except TimeoutError:
        return SecretStoreError("Deadline of the run exceeded.")
    return None


def list_tried(leftovers: Iterable[Leftover], agent: str, repository: str) -> tuple[Leftover, ...]:
    """List the leftovers of an agent, sorted, with the repository that it has now."""
    return tuple(
        Leftover(Owner(leftover.owner.key, agent, repository), leftover.address, leftover.sink)
        for leftover in sorted(leftovers)
        if leftover.owner.agent == agent
    )


def collect_exported_again(
    leftovers: Iterable[Leftover], exports: Mapping[Key, Collection[Address]]
) -> dict[Leftover, bool]:
    """Leftovers that their resource exports again by its record: they are not leftovers any more."""
    again = [leftover for leftover in leftovers if leftover.address in exports.get(leftover.owner.key, ())]
    return dict.fromkeys(again, False)


def warn_left_over(leftovers: Iterable[Leftover]) -> tuple[Problem, ...]:
    """One warning for each export that is still to be removed."""
    return tuple(
        Problem(
            code=LEFT_OVER,
            level=Level.WARNING,
            message=f"{leftover.address}, which {leftover.owner} exported, is left over in the sink "
            f"{leftover.sink}: no run could remove it.",
            hint=f"Run `gitsync sync` with that sink, which tries again{_format_manual_step(leftover)}.",
        )
        for leftover in sorted(leftovers)
    )


def _make_not_removed_problem(leftover: Leftover, error: SecretStoreError) -> Problem:
    hint = f"The next run tries again{_format_manual_step(leftover)}."
    return Problem(
        code=NOT_REMOVED,
        message=f"{leftover.address}, which {leftover.owner} exported, was not removed from the sink "
        f"{leftover.sink}: {error.message}",
        hint=" ".join(filter(None, (error.hint, hint))),
    )


def _format_manual_step(leftover: Leftover) -> str:
    step = _MANUAL_STEPS.get(leftover.sink, "").format(
        kind=leftover.address.object_kind.lower(), namespace=leftover.address.namespace, name=leftover.address.name
    )
    return f"; or {step}" if step else ""


async def has_foreign(sources: Sequence[SecretSource], address: Address, keys: Collection[str], owner: Owner) -> bool:
    """Return whether a source has an object that belongs to anybody but `owner`. `keys` are those that are exported.

    Raises SecretStoreError if a source cannot be read.
    """
    return bool([name async for name in _iterate_objects(sources, address, keys, lambda text: text == str(owner))])


async def add_foreign_objects(prepared: Sequence[Prepared], sources: Sequence[SecretSource]) -> tuple[Prepared, ...]:
    """Return the resources with a problem for each object that a source has under the name of a destination."""
    # A source that cannot be read adds none: the export itself reads it again, and fails.
    return tuple([await _add_to(entry, sources) if may_export(entry.resource) else entry for entry in prepared])


async def _add_to(prepared: Prepared, sources: Sequence[SecretSource]) -> Prepared:
    problems = [problem async for problem in _list_problems(prepared, sources)]
    if not problems:
        return prepared
    ordered = sorted((*prepared.problems, *problems), key=lambda problem: problem.order)
    return replace(prepared, problems=tuple(ordered))


async def _list_problems(prepared: Prepared, sources: Sequence[SecretSource]) -> AsyncIterator[Problem]:
    resource, keys = prepared.resource, group_keys(prepared.resource)
    for address, path in collect_first_fields(resource).items():
        try:
            async for name in _iterate_objects(
                sources, address, keys[address], lambda text: is_owned_by(text, resource.key)
            ):
                finding = make_foreign(resource.key, address, path, f"the secret source {name} has it")
                yield locate_finding(finding, resource)
        except SecretStoreError:  # unknown is not foreign: the export reads it again, and fails by itself
            continue


async def _iterate_objects(
    sources: Sequence[SecretSource], address: Address, keys: Collection[str], is_own: Callable[[str], bool]
) -> AsyncIterator[str]:
    """Yield the names of the sources that have an object which is not the exporter's own."""
    for source in sources:
        text = await _find_owner_in_source(source, address, keys)
        if text is not None and not is_own(text):
            yield source.name


async def _find_owner_in_source(source: SecretSource, address: Address, keys: Collection[str]) -> str | None:
    """As `Sink.owner`."""
    if isinstance(source, KnowsOwners):
        return await source.owner(address)
    # In a source without notes of owners the exported keys are looked up: the environment has only keys, not objects.
    return None if await source.read(address, tuple(sorted(keys))) is None else ""

"""Removes what deleted resources exported, and remembers what could not be removed.

A cluster would collect these objects with their owner. Separate from the writes: a removal that fails stops nothing, is
kept in the state, and is tried by every later run until the object is gone or belongs to another owner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, Leftover, Owner
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.secrets.protocols import Sink

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
    """What came of removals: `still_there` has an entry for each that was tried."""

    still_there: Mapping[Leftover, bool] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def has_freed(self, earlier: Collection[Leftover]) -> bool:
        """Tell whether something that earlier runs had left over is there no more: its name is free."""
        return any(not self.still_there.get(leftover, True) for leftover in earlier)


async def collect(
    sinks: Sequence[Sink],
    forgotten: Iterable[tuple[Owner, Address]],
    earlier: Collection[Leftover] = (),
    in_time: InTime = nullcontext,
) -> Collected:
    """Remove from every sink the exports of forgotten resources that they still own, and what was left over `earlier`.

    A failure of one sink does not stop the others. `in_time` bounds each removal, and raises TimeoutError if the time
    is up. What an absent sink holds stays as it is, with a warning.
    """
    wanted = {Leftover(owner, address, sink.name) for owner, address in forgotten for sink in sinks}
    known = {sink.name for sink in sinks}
    still_there: dict[Leftover, bool] = {}
    problems = []
    for one in sorted({*wanted, *(leftover for leftover in earlier if leftover.sink in known)}):
        errors = [await _try_remove(sink, one, in_time) for sink in sinks if sink.name == one.sink]
        failures = [error for error in errors if error]
        still_there[one] = bool(failures)
        problems += [_make_not_removed_problem(one, error) for error in failures]
    absent = [leftover for leftover in earlier if leftover.sink not in known]
    return Collected(still_there=still_there, problems=(*problems, *warn_left_over(absent)))


async def _try_remove(sink: Sink, one: Leftover, in_time: InTime) -> SecretStoreError | None:
    try:
        async with in_time():
            await sink.remove(one.address, one.owner)
    except SecretStoreError as error:
        return error
    except TimeoutError:
        return SecretStoreError("Deadline of the run exceeded.")
    return None


def find_tried(leftovers: Iterable[Leftover], agent: str, repository: str) -> tuple[Leftover, ...]:
    """The leftovers of an agent, sorted, with the repository that it has now."""
    return tuple(
        Leftover(Owner(one.owner.key, agent, repository), one.address, one.sink)
        for one in sorted(leftovers)
        if one.owner.agent == agent
    )


def find_exported_again(
    leftovers: Iterable[Leftover], exports: Mapping[Key, Collection[Address]]
) -> dict[Leftover, bool]:
    """Leftovers that their resource exports again, as records say: no more leftovers."""
    return {one: False for one in leftovers if one.address in exports.get(one.owner.key, ())}


def warn_left_over(leftovers: Iterable[Leftover]) -> tuple[Problem, ...]:
    """One warning for each export that is still to be removed."""
    return tuple(
        Problem(
            code=LEFT_OVER,
            level=Level.WARNING,
            message=f"{one.address}, which {one.owner} exported, is left over in the sink {one.sink}: no run could "
            "remove it.",
            hint=f"Run `gitsync sync` with that sink, which tries again{_format_manual_step(one)}.",
        )
        for one in sorted(leftovers)
    )


def _make_not_removed_problem(one: Leftover, error: SecretStoreError) -> Problem:
    hint = f"The next run tries again{_format_manual_step(one)}."
    return Problem(
        code=NOT_REMOVED,
        message=f"{one.address}, which {one.owner} exported, was not removed from the sink {one.sink}: {error.message}",
        hint=" ".join(filter(None, (error.hint, hint))),
    )


def _format_manual_step(one: Leftover) -> str:
    step = _MANUAL_STEPS.get(one.sink, "").format(
        kind=one.address.holder.lower(), namespace=one.address.namespace, name=one.address.name
    )
    return f"; or {step}" if step else ""

"""The stage after the checks: what the resource exports to Secrets and config maps
(docs/reference/reconciliation.md#export-order).

All values are there before the first one is written, so that a failure leaves nothing half exported. A plan works out
config maps alone: it calls no action that shows a secret, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gitsync.arm.actor import Actor
from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.exported import Exported, compile_exports, find_needed_fields
from gitsync.cel.objects import Object, make_self
from gitsync.cel.outcomes import evaluate_exports
from gitsync.errors import ArmError, GitsyncError
from gitsync.model.condition import Condition
from gitsync.model.export import Address, Holder, Owner
from gitsync.model.secret import Secret
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.request.exports import (
    OPERATOR_SPEC,
    Destination,
    ExportedValue,
    ExportError,
    collect_fields,
    find_destinations,
    merge_entries,
)
from gitsync.secrets.protocols import VaultError
from gitsync.status.aso_status import build_aso_status, collect_config_map_values
from gitsync.status.conditions import FAILED, make_error, make_unreadable, make_warning

UNWRITABLE = "FailedWritingAdditionalKubernetesObjects"
"""ASO's reason. gitsync uses it for every sink."""


_UNANSWERED = "Timed out waiting for the sinks of exports. Check that they are reachable, and run again."


async def export(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Work out every export, then write all of them, then let those that come after have them.

    Of what the run is not about, nothing is written.
    """
    if not turn.exists or not turn.prepared.resource.spec.get(OPERATOR_SPEC):
        return turn
    try:
        exports = merge_entries(Owner(turn.node.key, turn.run.rules.agent), await _entries(turn))
    except GitsyncError as failure:
        return turn.stopped(_condition(failure))
    if not exports:
        return turn
    written = replace(turn, exported=tuple(export.address for export in exports))
    try:
        if turn.run.rules.writes and not turn.prepared.is_watched:
            async with turn.conversation.in_time(turn.run.clock):
                await turn.run.outlets.write(exports)
    except ExportError as failure:
        return turn.stopped(_condition(failure))
    except VaultError as failure:  # one sink may have it
        return written.stopped(_condition(failure))
    except TimeoutError:
        return written.stopped(make_warning(FAILED, _UNANSWERED))
    turn.run.values.export(exports)
    return written


def _condition(failure: GitsyncError) -> Condition:
    match failure:
        case ArmError():
            return make_unreadable(failure)
        case ExportError(is_fatal=True):
            return make_error(UNWRITABLE, failure.message)
        case _:
            return make_warning(FAILED, str(failure))


async def _entries(turn: ReconcileAttempt) -> list[ExportedValue]:
    """Every value with where it goes: fields first, then expressions, of config maps and then of Secrets."""
    expressions = [one for one in compile_exports(turn.prepared.resource, turn.kind) if _is_wanted(turn, one.address)]
    secrets = await _secrets(turn, expressions) if turn.run.rules.writes else {}
    found = [*collect_fields(_secret_destinations(turn), secrets), *await _config_maps(turn)]
    for holder in (Holder.CONFIG_MAP, Holder.SECRET) if turn.run.rules.writes else (Holder.CONFIG_MAP,):
        of_holder = [one for one in expressions if one.address.holder is holder]
        found += _worked_out(turn, of_holder, secrets) if of_holder else ()
    return found


def _worked_out(
    turn: ReconcileAttempt, expressions: Iterable[Exported], secrets: Mapping[str, Secret]
) -> Iterator[ExportedValue]:
    """What expressions give. What one makes of a secret is a secret too, which nothing else knows."""
    subject, known, budget = _self(turn), _known(secrets), EvaluationBudget()
    for one in expressions:
        for entry in evaluate_exports([one], subject, known, budget):
            if one.value.secrets or one.value.uses_secret_whole:
                turn.run.redactions.add(entry.value)
            yield entry


async def _secrets(turn: ReconcileAttempt, expressions: Iterable[Exported]) -> Mapping[str, Secret]:
    """The fields that have a destination, and those that expressions name."""
    wanted = _secret_destinations(turn).keys() | find_needed_fields(expressions)
    if not wanted:
        return {}
    values = await turn.run.registry.export_secrets(turn.subject(), Actor(turn.writer), frozenset(wanted))
    for value in values.values():
        turn.run.redactions.add(value)
    return values


def _secret_destinations(turn: ReconcileAttempt) -> dict[str, Destination]:
    """The fields whose value a sink or an expression uses."""
    found = find_destinations(turn.prepared.resource, Holder.SECRET)
    return {field: to for field, to in found.items() if _is_wanted(turn, to.address)}


def _is_wanted(turn: ReconcileAttempt, address: Address) -> bool:
    return turn.run.outlets.wants(address, is_watched=turn.prepared.is_watched)


def _known(secrets: Mapping[str, Secret]) -> dict[str, Secret]:
    """What expressions see: a secret that is empty is none (docs/reference/kinds.md#secret-exporters)."""
    return {name: value for name, value in secrets.items() if value.reveal()}


async def _config_maps(turn: ReconcileAttempt) -> tuple[ExportedValue, ...]:
    """From the status, and where that does not tell, from the extensions."""
    wanted = find_destinations(turn.prepared.resource, Holder.CONFIG_MAP)
    if not wanted:  # the status, which they come from, is the whole body made anew
        return ()
    told = collect_config_map_values(turn.kind, wanted, turn.live.body if turn.live else {})
    others = frozenset(wanted) - frozenset(told)
    found = await turn.run.registry.export_config_maps(turn.subject(), turn.reader, others) if others else {}
    return collect_fields(wanted, {name: Secret(value) for name, value in {**found, **told}.items()})


def _self(turn: ReconcileAttempt) -> Object:
    """What expressions call `self`: the manifest, and its status as just read."""
    status = build_aso_status(turn.kind, turn.live.body) if turn.live else {}
    azure_name = turn.arm_id.rstrip("/").rpartition("/")[2]
    return make_self(turn.prepared.resource, turn.kind, status, azure_name=azure_name)

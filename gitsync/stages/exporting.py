"""The stage after the checks: what the resource exports to Secrets and config maps (spec: semantics §7.2).

All values are there before the first one is written, so that a failure leaves nothing half exported. A plan works out
config maps alone: it calls no action that shows a secret, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitsync.arm.actor import Actor
from gitsync.core.conditions import FAILED, error, unreadable, warning
from gitsync.core.exports import Entry, ExportError, destinations_of, entries_of, merged
from gitsync.core.status import config_map_values
from gitsync.errors import ArmError, GitsyncError
from gitsync.model.condition import Condition
from gitsync.model.export import Holder
from gitsync.model.secret import Secret
from gitsync.turn import Turn

UNWRITABLE = "FailedWritingAdditionalKubernetesObjects"
"""ASO's reason. Here it stands for every place that exports go to."""


async def export(turn: Turn) -> Turn:
    """Work out every export, then write all of them, then let those that come after have them."""
    if not turn.exists:
        return turn
    try:
        exports = merged(turn.node.key, await _entries(turn))
        if turn.run.rules.writes:
            await turn.run.outlets.write(exports)
    except GitsyncError as failure:
        return turn.stopped(_condition(failure))
    turn.run.values.export(exports)
    return replace(turn, exported=tuple(export.address for export in exports))


def _condition(failure: GitsyncError) -> Condition:
    match failure:
        case ArmError():
            return unreadable(failure)
        case ExportError(is_fatal=True):
            return error(UNWRITABLE, failure.message)
        case _:
            return warning(FAILED, str(failure))


async def _entries(turn: Turn) -> list[Entry]:
    secrets = await _secrets(turn) if turn.run.rules.writes else []
    return [*secrets, *await _config_maps(turn)]


async def _secrets(turn: Turn) -> list[Entry]:
    wanted = destinations_of(turn.prepared.resource, Holder.SECRET)
    if not wanted:
        return []
    values = await turn.run.registry.export_secrets(turn.subject(), Actor(turn.writer), frozenset(wanted))
    for value in values.values():
        turn.run.redact(value)
    return list(entries_of(wanted, values))


async def _config_maps(turn: Turn) -> list[Entry]:
    wanted = destinations_of(turn.prepared.resource, Holder.CONFIG_MAP)
    if not wanted:
        return []
    told = config_map_values(turn.kind, wanted, turn.live.body if turn.live else {})
    others = frozenset(wanted) - frozenset(told)
    found = await turn.run.registry.export_config_maps(turn.subject(), turn.reader, others) if others else {}
    return list(entries_of(wanted, _concealed({**found, **told})))


def _concealed(values: Mapping[str, str]) -> dict[str, Secret]:
    return {name: Secret(value) for name, value in values.items()}

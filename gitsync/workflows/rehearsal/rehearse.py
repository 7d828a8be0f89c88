"""THE REHEARSAL: records → an estate in the emulator → the real sync → the next sync.

It uses the sync's own code: `run.run.sync_revision` runs with an emulator and a state in memory, and made-up Secrets.
Only git is read, and nothing is written outside the process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from loguru import logger

from gitsync.agent.run.connections import open_source, open_state
from gitsync.agent.run.emulator_settings import load_emulator_settings
from gitsync.agent.run.known_ids import read_known_from
from gitsync.agent.run.prepared_manifests import PLACEHOLDER_SUBSCRIPTION
from gitsync.agent.run.run_input import RunInput, load_run_input
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.record import State
from gitsync.model.rehearsal import Gap, GapKind, Rehearsal
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.planning.planned_writes import foresee
from gitsync.planning.run_problems import decide_agent
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report.progress import Progress, Silent
from gitsync.repository.git.source.checkout import Checkout
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions, tell_settings
from gitsync.workflows.rehearsal.blanks import list_blanks
from gitsync.workflows.rehearsal.directory_seeds import locate_object
from gitsync.workflows.rehearsal.fixed_ids import list_fixed_ids
from gitsync.workflows.rehearsal.interrupts import interrupt
from gitsync.workflows.rehearsal.known_values import collect_known_values, find_subscription_of
from gitsync.workflows.rehearsal.rebuild import Rebuild
from gitsync.workflows.rehearsal.rebuild_gaps import collect_refused, list_gaps
from gitsync.workflows.rehearsal.rebuild_inputs import list_missing_values
from gitsync.workflows.rehearsal.restores import list_losses
from gitsync.workflows.rehearsal.sandbox import Sandbox, Snapshot, list_writes, play
from gitsync.workflows.rehearsal.seeding import collect_seeds, forget_outside, plant
from gitsync.workflows.rehearsal.stand_ins import StateInMemory, disarm

ELSEWHERE: Final = "known-from"
"""The agent of records from --known-from: they do not belong to the rehearsed run."""

_GAP_ORDER: Final = tuple(GapKind)


async def rehearse(  # noqa: PLR0913 - what a rehearsal is given from outside
    config: Config,
    *,
    from_nothing: bool = False,
    interrupts: bool = False,
    redactions: Redactions | None = None,
    progress: Progress | None = None,
    grace: Grace | None = None,
    clock: Clock | None = None,
) -> Rehearsal:
    """Simulate the sync of these settings, and the next sync.

    Raises ConfigError, SourceError or StateError if the settings are wrong, or the source or state cannot be read.
    """
    redactions, grace, clock = redactions or Redactions(), grace or Grace(), clock or SystemClock()
    tell_settings(redactions, config, os.environ)
    # Without the key: a rehearsal may run for a pull request, whose job must not have it.
    unsealed = replace(config, digest_key=None, previous_digest_key=None)
    with open_source(config, grace) as source, open_state(unsealed, source, clock, writes=False) as store:
        state = store.load()
        agent = decide_agent(config.agent, state.records.values(), os.environ.get("POD_NAMESPACE", ""))
        # After the agent is chosen: foreign records have an agent of their own.
        state = _add_foreign(state, config, source, redactions)
        settings = join_source_settings(config, source.contents.settings)
        subscription = config.subscription or find_subscription_of(state) or PLACEHOLDER_SUBSCRIPTION
        config = disarm(config, agent)
        sandbox = Sandbox(
            config=replace(config, namespace=settings.namespace, unknown_fields=settings.unknown_fields),
            source=source,
            settings=settings,
            emulator=load_emulator_settings(config.emulator_script, EmulatorSettings(limits=None)),
            subscription=subscription,
            state_name=store.name,
            clock=clock,
            stop=asyncio.Event(),
            redactions=redactions,
            progress=progress or Silent(),
            known=collect_known_values(state, (), subscription),
        )
        with _silent_logs():
            return await _rehearse(sandbox, state, from_nothing=from_nothing, interrupts=interrupts)


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Log nothing in this context: a line about a rehearsed change would look like one about a real change."""
    logger.disable("gitsync")
    try:
        yield
    finally:
        logger.enable("gitsync")


async def _rehearse(sandbox: Sandbox, recorded: State, *, from_nothing: bool, interrupts: bool) -> Rehearsal:
    sandbox, run_input = await _learn(sandbox, recorded)
    prepared, manifests = run_input.prepared, run_input.manifests
    units = sandbox.source.contents.units.values()
    rebuild = Rebuild(prepared, open_catalog()) if from_nothing else None
    # The emulator takes any reference, so a rebuild would succeed where Azure refuses it.
    if rebuild is not None:
        refused = collect_refused(rebuild, manifests.known_ids)
        sandbox = replace(sandbox, emulator=_refuse(sandbox.emulator, refused))
    seeds = collect_seeds(recorded, prepared, rebuild)
    store, keys = MemoryStore(), _collect_keys(recorded, prepared)
    plant(Emulator(sandbox.emulator, store, sandbox.clock), seeds)
    # A rebuild starts without records too: the status branch may be lost with the subscription's history.
    before = Snapshot(store, State({}) if from_nothing else forget_outside(recorded))
    first, after = await play(sandbox, before.copy())
    rehearsal = Rehearsal(
        from_nothing=from_nothing,
        first=first.report,
        refusal=first.refusal,
        writes=list_writes(first, keys),
        schedule=foresee(first.report.results if first.report else (), sandbox.config.request_share, recorded.records),
        stubs=seeds.stubs,
        gaps=collect_gaps(rebuild, manifests, sandbox.config, units, recorded) if rebuild else (),
    )
    rehearsal = replace(rehearsal, not_rehearsed=list_blanks(sandbox, recorded.records.values(), rehearsal))
    if first.report is None:
        return rehearsal
    second, _ = await play(sandbox, after.copy())
    return replace(
        rehearsal,
        second=second.report,
        refusal=second.refusal,
        later_writes=list_writes(second, keys),
        interrupts=await interrupt(sandbox, before, first, after, keys) if interrupts else (),
    )


def collect_gaps(
    rebuild: Rebuild, manifests: Manifests, config: Config, units: Iterable[Unit], state: State
) -> tuple[Gap, ...]:
    """Collect what git cannot restore in an empty subscription: first what stops a rebuild, then in the order in which
    gaps are solved.

    `state` is that of the status branch: it has the exports of today's resources and the Secrets that they were written
    with. `config` has the sources of Secrets.
    """

    def make_order(gap: Gap) -> tuple[bool, int, Key, str, str]:
        return not gap.stops, _GAP_ORDER.index(gap.kind), gap.key, gap.field, gap.message

    records = state.records.items()
    credentials = {key: record.access.credential for key, record in records if record.access.credential}
    gaps = (
        *list_gaps(rebuild, manifests.known_ids, manifests.unusable.unbuilt),
        *list_missing_values(rebuild, manifests, config, units, credentials),
        *list_fixed_ids(rebuild, state.config_maps),
        *list_losses(rebuild),
    )
    return tuple(sorted(gaps, key=make_order))


async def _learn(sandbox: Sandbox, recorded: State) -> tuple[Sandbox, RunInput]:
    """Read the manifests as the run does, and find missing values in records. If some of them are of variables, the
    manifests change, so they are read again.
    """
    run_input = await _load(sandbox, recorded)
    known = collect_known_values(recorded, run_input.prepared, sandbox.subscription, sandbox.requested)
    is_new = not known.values.keys().isdisjoint(sandbox.requested)
    sandbox = replace(sandbox, known=known, requested=set())
    if is_new:
        run_input = await _load(sandbox, recorded)
        known = collect_known_values(recorded, run_input.prepared, sandbox.subscription)
        sandbox = replace(sandbox, known=replace(known, values={**known.values, **sandbox.known.values}))
    return sandbox, run_input


async def _load(sandbox: Sandbox, recorded: State) -> RunInput:
    """Read and prepare the manifests as the run does, to see what they refer to."""
    async with sandbox.open_run(MemoryStore(), StateInMemory(recorded, sandbox.state_name)) as (_, connections):
        state = connections.store.load()
        _, _, run_input = await load_run_input(
            sandbox.config, connections, state, sandbox.config.agent or "", writes=True
        )
        return run_input


def _refuse(settings: EmulatorSettings, refused: Mapping[ArmId, ArmId]) -> EmulatorSettings:
    """Refuse resources that refer to a missing one, as Azure does. The emulator alone does not check references."""
    rules = (
        FaultRule(
            match=Match(methods={"PUT"}, path=arm_id.key),
            answer=Canned(code="LinkedInvalidPropertyId", status=400, message=f"The resource {missing} was not found."),
        )
        for arm_id, missing in sorted(refused.items())
    )
    return replace(settings, rules=(*settings.rules, *rules))


def _collect_keys(state: State, prepared: Iterable[Prepared]) -> dict[IdKey, Key]:
    """Collect the resource of each ARM id: the manifest that writes it, else the record."""
    keys = {record.arm_id.key: key for key, record in sorted(state.records.items()) if record.arm_id}
    # Requests to Microsoft Graph have the object id in their path, and not the id that gitsync makes.
    keys |= {path.key: key for key, record in sorted(state.records.items()) if (path := locate_object(record))}
    by_manifest = sorted(prepared, key=lambda resource: (resource.is_written, resource.key))
    return keys | {resource.arm_id.key: resource.key for resource in by_manifest if resource.arm_id}


def _add_foreign(state: State, config: Config, source: Checkout, redactions: Redactions) -> State:
    """Add the records of --known-from as those of another agent: their resources exist, and their ids can be used."""
    foreign = read_known_from(config, source, None, redactions.add)
    records = {
        key: record for known_records in reversed(foreign.sources) for key, record in known_records.records.items()
    }
    others = {key: replace(record, agent=ELSEWHERE) for key, record in records.items()}
    # A record of this run wins over a foreign one.
    return replace(state, records={**others, **state.records})

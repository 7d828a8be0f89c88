"""THE REHEARSAL: records → an estate in the emulator → the real sync → the sync after it.

It has no run of its own: `run.run.sync_revision` runs on connections to an emulator in memory, a state in memory, and
made-up Secrets. Only git is read, and nothing is written outside of the process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from loguru import logger

from gitsync.arm.arms import open_arms
from gitsync.arm.auth.access import ArmAccess, Limit, Network, PollInterval, RequestKind
from gitsync.arm.cloud import make_cloud
from gitsync.catalog.catalog import open_catalog
from gitsync.config.config import Config
from gitsync.config.config_file import SourceSettings, find_source_settings
from gitsync.emulator.http.handler import LoggedRequest
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings, read_settings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import ConfigError, GitsyncError
from gitsync.extensions.registry import Registry
from gitsync.formats.arm_path import normalize_id
from gitsync.git.source.checkout import Checkout
from gitsync.model.gvk import Key
from gitsync.model.record import State
from gitsync.model.rehearsal import Rehearsal, RehearsedWrite
from gitsync.model.report import BUILT_IN_EMULATOR, Report
from gitsync.model.resource import Prepared
from gitsync.model.signin import Method, SignIn
from gitsync.model.verdict import Action
from gitsync.planning.run_problems import find_agent
from gitsync.processes.programs import Grace
from gitsync.reconcile.context import Connections
from gitsync.redaction import Redactions, tell_settings
from gitsync.rehearsal.seeding import Seeds, find_known_values, find_seeds, find_subscription_of, plant
from gitsync.rehearsal.stand_ins import AskedValues, KnownValues, StateInMemory, disarm, make_stores
from gitsync.report.progress import Progress, Silent
from gitsync.run.connections import StoppableClock, open_source, open_state
from gitsync.run.known_ids import read_known_from
from gitsync.run.load import load_run_input
from gitsync.run.manifests import PLACEHOLDER_SUBSCRIPTION
from gitsync.run.run import sync_revision

_WRITES: Final = frozenset({"PUT", "PATCH", "DELETE"})
_UNLIMITED: Final = Limit(1_000_000, 1_000_000)
"""The limits of ARM count in the expected time, and not in that of the rehearsal."""

ELSEWHERE: Final = "known-from"
"""The agent that records of --known-from have in a rehearsal: they are not the run's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What all runs of a rehearsal share. `config` is disarmed, and `asked` are the values that were made up."""

    config: Config
    source: Checkout
    settings: SourceSettings
    emulator: EmulatorSettings
    subscription: str
    state_name: str
    clock: StoppableClock
    stop: asyncio.Event
    redactions: Redactions
    progress: Progress
    known: KnownValues
    asked: AskedValues = field(default_factory=set)

    @asynccontextmanager
    async def open_run(self, store: MemoryStore, state: StateInMemory) -> AsyncIterator[tuple[Emulator, Connections]]:
        """Open the emulator on what a store holds, and the connections of a run to it."""
        async with Emulator(self.emulator, store) as azure:
            access = ArmAccess(
                cloud=make_cloud(azure.url),
                sign_in=SignIn(method=Method.ANONYMOUS),
                network=Network(concurrency=self.config.concurrency),
                limits=dict.fromkeys(RequestKind, _UNLIMITED),
                poll_interval=PollInterval(first=0.02),
                redactions=self.redactions,
            )
            async with open_arms(access, self.clock) as arms:
                arm = await arms.open(access.sign_in)
                self.progress.watch(arm.list_limits)
                yield (
                    azure,
                    Connections(
                        source=self.source,
                        settings=self.settings,
                        store=state,
                        arm=arm,
                        clock=self.clock,
                        stop=self.stop,
                        subscription=self.subscription,
                        catalog=open_catalog(),
                        registry=Registry.load(),
                        progress=self.progress,
                        redactions=self.redactions,
                        secret_stores=make_stores(self.config, state.state, self.known, self.asked),
                        endpoint=BUILT_IN_EMULATOR,
                    ),
                )


class Estate(NamedTuple):
    """What exists before a run: in the emulator, and on record."""

    store: MemoryStore
    state: State

    def copy(self) -> Estate:
        return Estate(self.store.copy(), self.state)


class Played(NamedTuple):
    """A run that was played: its report, None if it was refused; and what Azure got."""

    report: Report | None
    refusal: str
    requests: Sequence[LoggedRequest]


async def rehearse(  # noqa: PLR0913 - what a rehearsal is given from outside
    config: Config,
    *,
    from_nothing: bool = False,
    interrupts: bool = False,
    redactions: Redactions | None = None,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
    grace: Grace | None = None,
) -> Rehearsal:
    """Play the sync of these settings, and the sync after it.

    Raises ConfigError, SourceError or StateError if the settings are wrong, or what they name cannot be read.
    """
    redactions, stop, grace = redactions or Redactions(), stop or asyncio.Event(), grace or Grace()
    tell_settings(redactions, config, os.environ)
    clock = StoppableClock(stop)
    unsealed = replace(config, digest_key=None, previous_digest_key=None)
    with open_source(config, grace) as source, open_state(unsealed, source, clock, writes=False) as store:
        state = store.load()
        agent = find_agent(config.agent, state.records.values(), os.environ.get("POD_NAMESPACE", ""))
        state = _add_foreign(state, config, source, redactions)
        settings = find_source_settings(config, source.settings)
        subscription = config.subscription or find_subscription_of(state) or PLACEHOLDER_SUBSCRIPTION
        config = disarm(config, agent)
        stage = Stage(
            config=replace(config, namespace=settings.namespace, unknown_fields=settings.unknown_fields),
            source=source,
            settings=settings,
            emulator=_read_emulator_settings(config),
            subscription=subscription,
            state_name=store.name,
            clock=clock,
            stop=stop,
            redactions=redactions,
            progress=progress or Silent(),
            known=find_known_values(state, (), subscription),
        )
        with _silent_logs():
            return await _rehearse(stage, state, from_nothing=from_nothing, interrupts=interrupts)


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Log nothing while the context lasts: a line about a rehearsed change would look like one of a change."""
    logger.disable("gitsync")
    try:
        yield
    finally:
        logger.enable("gitsync")


async def _rehearse(stage: Stage, recorded: State, *, from_nothing: bool, interrupts: bool) -> Rehearsal:
    prepared = await _prepare(stage, recorded)
    stage = replace(stage, known=find_known_values(recorded, prepared, stage.subscription))
    seeds = find_seeds(recorded, prepared, from_nothing=from_nothing)
    estate = await _make_estate(stage, seeds, State({}) if from_nothing else recorded)
    keys = _find_keys(recorded, prepared)
    after = estate.copy()
    first, after = await play(stage, after)
    if first.report is None:
        return Rehearsal(from_nothing=from_nothing, first=None, refusal=first.refusal, stubs=seeds.stubs)
    second, _ = await play(stage, after)
    return Rehearsal(
        from_nothing=from_nothing,
        first=first.report,
        second=second.report,
        refusal=second.refusal,
        writes=list_writes(first, keys),
        later_writes=list_writes(second, keys),
        stubs=seeds.stubs,
    )


async def _prepare(stage: Stage, recorded: State) -> tuple[Prepared, ...]:
    """Read and prepare the manifests as the run does, to see what they refer to."""
    async with stage.open_run(MemoryStore(), StateInMemory(recorded, stage.state_name)) as (_, connections):
        state = connections.store.load()
        _, _, run_input = await load_run_input(stage.config, connections, state, stage.config.agent or "", writes=True)
        return run_input.prepared


async def _make_estate(stage: Stage, seeds: Seeds, state: State) -> Estate:
    store = MemoryStore()
    plant(Emulator(stage.emulator, store), seeds)
    return Estate(store, state)


async def play(stage: Stage, estate: Estate) -> tuple[Played, Estate]:
    """Run a sync on an estate, and return it as it is afterwards."""
    state = StateInMemory(estate.state, stage.state_name)
    async with stage.open_run(estate.store, state) as (azure, connections):
        try:
            report, refusal = _tidy(await sync_revision(stage.config, connections, writes=True)), ""
        except ConfigError:
            raise
        except GitsyncError as error:  # what guards refuse
            report, refusal = None, stage.redactions.mask(f"{error.message} {error.hint}".strip())
        return Played(report, refusal, tuple(azure.requests)), Estate(estate.store, state.state)


def _tidy(report: Report) -> Report:
    """Return the report without what a rehearsal says in another way: that it compares no secrets."""
    return replace(report, problems=tuple(one for one in report.problems if one.code != "SecretsNotCompared"))


def list_writes(played: Played, keys: Mapping[str, Key]) -> tuple[RehearsedWrite, ...]:
    """List what changed something, in the order in which Azure got it."""
    done = {one.key: one.action for one in played.report.results} if played.report else {}
    return tuple(
        _make_write(number, request, keys.get(normalize_id(request.path)), done)
        for number, request in enumerate(filter(is_write, played.requests), 1)
    )


def is_write(request: LoggedRequest) -> bool:
    """Tell whether a request changes a resource. A POST reads keys, or asks a question."""
    return request.method in _WRITES and not request.poll


def _make_write(number: int, request: LoggedRequest, key: Key | None, done: Mapping[Key, Action]) -> RehearsedWrite:
    action = done.get(key, Action.NONE) if key else Action.NONE
    return RehearsedWrite(
        number=number,
        arm_id=request.path,
        method=request.method,
        status=request.status,
        key=key,
        action=Action.DELETE if request.method == "DELETE" else action,
    )


def _find_keys(state: State, prepared: Iterable[Prepared]) -> dict[str, Key]:
    """Find the resource of each ARM id: the manifest that writes it, else the record."""
    keys = {normalize_id(one.arm_id): key for key, one in sorted(state.records.items()) if one.arm_id}
    by_manifest = sorted(prepared, key=lambda one: (one.is_written, one.key))
    return keys | {normalize_id(one.arm_id): one.key for one in by_manifest if one.arm_id}


def _read_emulator_settings(config: Config) -> EmulatorSettings:
    return read_settings(Path(config.emulator_script)) if config.emulator_script else EmulatorSettings(limits=None)


def _add_foreign(state: State, config: Config, source: Checkout, redactions: Redactions) -> State:
    """Add the records of --known-from, as those of another agent: their resources exist, and their ids may be used."""
    foreign = read_known_from(config, source, None, redactions.add)
    records = {key: record for place in reversed(foreign.places) for key, record in place.records.items()}
    others = {key: replace(record, agent=ELSEWHERE) for key, record in records.items()}
    return replace(state, records={**others, **state.records})

"""The sandbox for simulated runs: an emulator and a state in memory, from which the next run continues.

The rehearsal decides what to run; this module alone connects a run to the substitutes for Azure, its state and its
Secrets.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, NamedTuple

from gitsync.agent.reconcile.context import AzureConnection, Connections
from gitsync.agent.run.run import sync_revision
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.http.handler import LoggedRequest
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import ConfigError, GitsyncError
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.limits import Limit, RequestKind
from gitsync.model.record import Record, State
from gitsync.model.rehearsal import RehearsedWrite
from gitsync.model.report import BUILT_IN_EMULATOR, Report
from gitsync.model.resource import Prepared
from gitsync.model.signin import Method, SignIn
from gitsync.model.verdict import Action
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.cloud import make_cloud
from gitsync.report.progress import Progress
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.secrets.reference_values import StandIns
from gitsync.settings.backoff import Backoff
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import SourceSettings
from gitsync.settings.redaction import Redactions
from gitsync.workflows.rehearsal.stand_ins import KnownValues, StateInMemory, ValueName, make_stores

_WRITES: Final = frozenset({"PUT", "PATCH", "DELETE"})
_POST: Final = "POST"
_GRAPH: Final = "microsoft.graph/"
_TYPES_OF_LISTS: Final = {"microsoft.graph/serviceprincipals/approleassignedto": "microsoft.graph/approleassignments"}
"""The types of gitsync's own ids, by those of the lists in Microsoft Graph where they differ."""

_UNLIMITED: Final = Limit(1_000_000, 1_000_000)
"""ARM's limits count in the expected time, but must not slow down the rehearsal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What all runs of a rehearsal share."""

    config: Config  # disarmed
    source: Checkout
    settings: SourceSettings
    emulator: EmulatorSettings
    subscription: str
    state_name: str  # the name of the status that a run reads
    clock: Clock
    stop: asyncio.Event  # ends the rehearsal
    redactions: Redactions  # every secret value
    progress: Progress
    known: KnownValues  # values that records have
    requested: set[ValueName] = field(default_factory=set)  # the values that were made up
    computed: set[str] = field(default_factory=set)  # the fields whose expressions got a made-up value

    @asynccontextmanager
    async def open_run(
        self, store: MemoryStore, state: StateInMemory, is_last: Callable[[LoggedRequest], bool] | None = None
    ) -> AsyncIterator[tuple[Emulator, Connections]]:
        """Open the emulator on the contents of a store, and the connections of a run to it."""
        async with Emulator(self.emulator, store, self.clock, is_last=is_last) as azure:
            access = ArmAccess(
                cloud=make_cloud(azure.url),
                sign_in=SignIn(method=Method.ANONYMOUS),
                network=Network(concurrency=self.config.concurrency),
                limits=dict.fromkeys(RequestKind, _UNLIMITED),
                poll_interval=Backoff(first=0.02),
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
                        azure=AzureConnection(arm=arm, subscription=self.subscription, endpoint=BUILT_IN_EMULATOR),
                        clock=self.clock,
                        stop=self.stop,
                        catalog=open_catalog(),
                        registry=Registry.load(),
                        progress=self.progress,
                        redactions=self.redactions,
                        secret_stores=make_stores(self.config, state.state, self.known, self.requested),
                        make_stand_ins=self._make_stand_ins,
                    ),
                )

    def _make_stand_ins(self, prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> StandIns:
        from gitsync.workflows.rehearsal.computed_stand_ins import ComputedStandIns  # noqa: PLC0415 - an engine that most repositories do not need

        return ComputedStandIns(prepared, records, self.computed)


class Snapshot(NamedTuple):
    """The resources in the emulator and the records, at one time."""

    store: MemoryStore
    state: State

    def copy(self) -> Snapshot:
        return Snapshot(self.store.copy(), self.state)


class Played(NamedTuple):
    """A simulated run: its report, None if it was refused; and the requests that Azure got."""

    report: Report | None
    refusal: str
    requests: Sequence[LoggedRequest]


async def play(sandbox: Sandbox, snapshot: Snapshot, kill_after: int = 0) -> tuple[Played, Snapshot]:
    """Run a sync on a snapshot, which it changes, and return the resulting snapshot.

    With `kill_after`, the run is killed after that many writes: only what Azure got until then has an effect, and
    nothing of the run's end.
    """
    state, numbers = StateInMemory(snapshot.state, sandbox.state_name), count(1)

    def is_last(request: LoggedRequest) -> bool:
        if not is_write(request) or next(numbers) != kill_after:
            return False
        # Before the answer of this write reaches the run, as with a process that is killed at that moment.
        state.cut_off()
        return True

    async with sandbox.open_run(snapshot.store, state, is_last) as (azure, connections):
        run = asyncio.ensure_future(sync_revision(sandbox.config, connections, writes=True))
        over = asyncio.ensure_future(azure.is_over.wait())
        # A killed run may wait for an answer that never comes, so its end is not waited for.
        await asyncio.wait({run, over}, return_when=asyncio.FIRST_COMPLETED)
        run.cancel()  # no effect if it has ended
        over.cancel()
        # Both have to end before the emulator does.
        await asyncio.wait({run, over})
        report, refusal = (None, "") if azure.is_over.is_set() else _find_end(run, sandbox.redactions)
        return Played(report, refusal, tuple(azure.requests)), Snapshot(snapshot.store, state.state)


def _find_end(run: asyncio.Future[Report], redactions: Redactions) -> tuple[Report | None, str]:
    """Return the report of a run, or the message of the guard that refused it."""
    try:
        report = run.result()
    # Wrong settings are a fault of the command, while a guard is a result of the rehearsal.
    except ConfigError:
        raise
    except GitsyncError as error:
        return None, redactions.mask(f"{error.message} {error.hint}".strip())
    # A rehearsal lists secrets that were not compared under "Not rehearsed".
    problems = tuple(problem for problem in report.problems if problem.code != "SecretsNotCompared")
    return replace(report, problems=problems), ""


def list_writes(played: Played, keys: Mapping[IdKey, Key]) -> tuple[RehearsedWrite, ...]:
    """List the writes of a run, in the order in which Azure got them."""
    results = played.report.results if played.report else ()
    done = {result.key: result.action for result in results}
    # A create of Microsoft Graph is sent to the collection, whose path has no id yet.
    created = defaultdict[str, list[Key]](list)
    for result in results:
        if result.action is Action.CREATE and result.arm_id:
            created[result.arm_id.arm_type.casefold()].append(result.key)

    def find_key(request: LoggedRequest) -> Key | None:
        arm_type = request.type.casefold()
        of_type = created[_TYPES_OF_LISTS.get(arm_type, arm_type)] if request.method == _POST else []
        return of_type.pop(0) if of_type else keys.get(ArmId(request.path).key)

    writes = enumerate(filter(is_write, played.requests), 1)
    return tuple(_make_write(number, request, find_key(request), done) for number, request in writes)


def is_write(request: LoggedRequest) -> bool:
    """Return whether a request changes a resource. A POST to ARM only reads keys or checks something."""
    is_graph_post = request.method == _POST and request.type.casefold().startswith(_GRAPH)
    return (request.method in _WRITES or is_graph_post) and not request.poll


def _make_write(number: int, request: LoggedRequest, key: Key | None, done: Mapping[Key, Action]) -> RehearsedWrite:
    action = done.get(key, Action.NONE) if key else Action.NONE
    return RehearsedWrite(
        number=number,
        arm_id=ArmId(request.path),
        method=request.method,
        status=request.status,
        key=key,
        action=Action.DELETE if request.method == "DELETE" else action,
    )

"""What a run works with: its connections, opened from the settings, and the parts that are made for one run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from loguru import logger

from gitsync.agent.checks.check_table import Checks
from gitsync.agent.reconcile.attempt import ApplyAttempt, Attempt, PruneAttempt
from gitsync.agent.reconcile.identities import Identities, OpenAs
from gitsync.agent.reconcile.lists import Lists
from gitsync.agent.reconcile.provided import describe_apply, describe_record
from gitsync.agent.reconcile.rules import RunRules
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.run_views import LiveReader, LiveWriter, Others, ResourceProvider
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.request.secret_digest import Digests
from gitsync.errors import ConfigError
from gitsync.extensions.registry import Registry
from gitsync.model.check import CheckFinding, CheckName, PlannedChange
from gitsync.model.clock import Clock
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.plan import Node
from gitsync.model.provider import ProvidedResource, Provider
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Stage
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import Arm, Reader, Writer
from gitsync.providers.arm.session import LAST_ANSWER, Session
from gitsync.providers.arm.write_locks import WriteLocks
from gitsync.report.progress import Progress
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.state.store import StateStore
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.reference_values import RunValues, StandIns
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config_file import SourceSettings
from gitsync.settings.logging import writes_debug
from gitsync.settings.redaction import Redactions

_CHECKS_OF: Final[Mapping[Provider, frozenset[CheckName]]] = {
    Provider.ARM: frozenset(CheckName),
    Provider.ENTRA: frozenset({CheckName.NAMES}),
}
"""The checks of changes, by who has the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureConnection:
    """The connection of a run to Azure, or to an emulator."""

    arm: Arm  # the client of the global credential
    subscription: str  # of resources whose manifests contain no ARM id
    ids: IdentityIds = NO_IDS  # of the global credential, as far as the settings name them
    open_as: OpenAs | None = None  # opens the client of another credential; without it, all resources use `arm`
    endpoint: str = ""  # its name for people
    is_local: bool = True  # the endpoint is an emulator on this machine


MakeStandIns = Callable[[Iterable[Prepared], Mapping[Key, Record]], StandIns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """What a run works with."""

    source: Checkout
    settings: SourceSettings
    store: StateStore
    azure: AzureConnection
    clock: Clock
    stop: asyncio.Event  # if set, the run begins nothing more and ends its waits
    catalog: Catalog
    registry: Registry
    progress: Progress  # what people see while the run lasts
    redactions: Redactions = field(default_factory=Redactions)  # every secret value
    secret_stores: SecretStores = field(default_factory=SecretStores)
    make_stand_ins: MakeStandIns | None = None  # of a rehearsal: for values that only Azure has

    def redact(self, secret: Secret) -> None:
        """Keep a value out of all output of the run."""
        self.redactions.add(secret)


PATIENCE = 600.0
"""Seconds for which a worker waits for a resource that another worker of the run is to create."""


class Sessions:
    """The sessions of one run with Azure: each resource has one, and a stop of the run ends all of them.

    Deadlines are in monotonic seconds.
    """

    def __init__(self, change_reference: str = "") -> None:
        self._change_reference = change_reference
        self._open: list[Session] = []
        self._stopped_at: float | None = None

    def begin(self, deadline: float) -> Session:
        """The session of a node; it is over at once if the run was stopped."""
        session = Session(deadline=deadline, change_reference=self._change_reference)
        self._open.append(session)
        if self._stopped_at is not None:
            session.end(self._stopped_at)
        return session

    def begin_last(self, deadline: float, now: float) -> Session:
        """A session for the work after the nodes. It has some seconds, even if the time is up or the run was
        stopped.
        """
        if self._stopped_at is not None:
            return Session(deadline=now + LAST_ANSWER)
        session = Session(deadline=max(deadline, now + LAST_ANSWER))
        self._open.append(session)
        return session

    def end(self, now: float) -> None:
        """End every wait. The next run continues unfinished operations."""
        self._stopped_at = now
        for session in self._open:
            session.end(now)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The parts of one run, which satisfies every protocol of the stages."""

    connections: Connections
    identities: Identities  # ARM's resources are read and written by the clients of these
    values: RunValues
    export_sinks: ExportSinks
    rules: RunRules
    digests: Digests
    checks: Checks
    cache: RunCache = field(default_factory=RunCache)  # what this run has written and read so far
    lists: Lists = field(default_factory=Lists)  # replace the reads of single resources
    locks: WriteLocks = field(default_factory=WriteLocks)  # one write at a time below each lock's ARM id
    sessions: Sessions = field(default_factory=Sessions)
    others: Others | None = None  # the other workers of the run; None if there are none
    children: Mapping[Key, Sequence[Node]] = field(default_factory=dict)  # the nodes of each owner that may embed them
    open_provider: Callable[[Provider], ResourceProvider] | None = None
    """Opens what reads and writes the resources of another provider."""

    @property
    def catalog(self) -> Catalog:
        return self.connections.catalog

    @property
    def registry(self) -> Registry:
        return self.connections.registry

    @property
    def clock(self) -> Clock:
        return self.connections.clock

    @property
    def redactions(self) -> Redactions:
        return self.connections.redactions

    @property
    def has_checks(self) -> bool:
        return bool(self.checks.names)

    async def check(
        self, changes: Iterable[PlannedChange], names: Collection[CheckName] = frozenset(CheckName)
    ) -> Mapping[Key, tuple[CheckFinding, ...]]:
        """Check changes with ARM, and the names of those of Entra ID with Microsoft Graph."""
        found: Mapping[Key, tuple[CheckFinding, ...]] = {}
        by_provider = defaultdict[Provider, list[PlannedChange]](list)
        for change in changes:
            by_provider[self.catalog.provider(change.key.group, change.key.kind)].append(change)
        # A sync calls this for each resource by itself, so nothing here may go through all of them.
        for provider, fitting in _CHECKS_OF.items():
            if same := by_provider[provider]:
                arms = {change.key: self.identities[change.key].arm for change in same}
                # It returns the findings of all checks so far, so the last call has those of both.
                found = await self.checks.check(same, arms, fitting & frozenset(names))
        return found

    def reader(self, attempt: Attempt) -> Reader:
        return self.identities[attempt.key].azure().reader(attempt.session)

    def writer(self, attempt: Attempt) -> Writer:
        return self.identities[attempt.key].azure().writer(attempt.session)

    async def live_reader(self, attempt: Attempt, record: Record | None = None) -> LiveReader:
        if attempt.provider is Provider.ARM:
            return self.reader(attempt)
        resource, arm = await self._describe(attempt, record), self.identities[attempt.key].azure()
        return self._open(attempt.provider).reader(resource, arm, attempt.session)

    async def live_writer(self, attempt: Attempt) -> LiveWriter:
        if attempt.provider is Provider.ARM:
            return self.writer(attempt)
        resource, arm = await self._describe(attempt), self.identities[attempt.key].azure()
        return self._open(attempt.provider).writer(resource, arm, attempt.session)

    async def find_principal(self, attempt: Attempt) -> Principal | None:
        arm = self.identities[attempt.key].arm
        try:
            return await arm.sign_in(attempt.session.deadline) if arm else None
        except ConfigError:
            return None

    def find_given_id(self, attempt: ApplyAttempt) -> str:
        is_given = attempt.provider is not Provider.ARM
        return self._open(attempt.provider).find_given_id(attempt.arm_id) if is_given else ""

    def _open(self, provider: Provider) -> ResourceProvider:
        if self.open_provider is None:
            raise AssertionError("a run with such resources can open their provider")
        return self.open_provider(provider)

    async def _describe(self, attempt: Attempt, record: Record | None = None) -> ProvidedResource:
        if record is not None:
            return await describe_record(record, self.values)
        if isinstance(attempt, PruneAttempt):
            return await describe_record(attempt.record, self.values)
        return describe_apply(attempt, always_put=self.rules.always_put)

    def find_kept_value(self, address: Address, key: str, owner: Key) -> str | None:
        return self.export_sinks.kept.find_value(address, key, owner)

    def enter(self, attempt: Attempt, stage: Stage) -> None:
        """Note the stage of a resource, for its failed requests, for the display and for the log."""
        attempt.session.stage, key = stage, attempt.key
        self.connections.progress.started(key, attempt.session)
        if writes_debug():
            logger.debug("Stage begins", resource=key, stage=stage)

    def begin_session(self, *, is_watched: bool = False) -> Session:
        """Begin the session of a resource. It ends with the resource's timeout, or with the run if that is earlier. One
        of another worker is awaited for no longer than `PATIENCE`.
        """
        timeout = self.rules.resource_timeout
        if is_watched and self.others is not None:
            timeout = min(timeout, PATIENCE)
        return self.sessions.begin(min(self.clock.monotonic() + timeout, self.rules.deadline))

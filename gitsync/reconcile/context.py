"""The parts of a run. `reconcile` hands each stage those that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.arm.client import Arm
from gitsync.arm.session import LAST_ANSWER, Session
from gitsync.arm.write_locks import WriteLocks
from gitsync.catalog.catalog import Catalog
from gitsync.extensions.registry import Registry
from gitsync.model.clock import Clock
from gitsync.planning.secret_digest import Digests
from gitsync.reconcile.identities import Identities
from gitsync.reconcile.lists import Lists
from gitsync.reconcile.run_cache import RunCache
from gitsync.reconcile.stages.approval_check import Approval
from gitsync.redaction import Redactions
from gitsync.report.progress import Progress
from gitsync.secrets.exporter import Outlets
from gitsync.secrets.values import RunValues

# The sessions of one run with Azure: each node has one, and a stop of the run ends all of them.


class Sessions:
    """Made once a run. Deadlines are in monotonic seconds."""

    def __init__(self) -> None:
        self._open: list[Session] = []
        self._stopped_at: float | None = None

    def begin(self, deadline: float) -> Session:
        """The session of a node; it is over at once if the run was stopped."""
        session = Session(deadline=deadline)
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
class RunRules:
    """What the run may do. Timeouts are in seconds, the deadline in the clock's monotonic seconds."""

    writes: bool  # False: a plan
    approval: Approval = field(default_factory=Approval)
    prune: bool = False
    adopts: bool = True
    always_put: bool = False
    flap_limit: int = 0
    registers: bool = True
    node_timeout: float = 1800.0
    deadline: float
    agent: str = "gitsync"
    repository: str = ""  # host and path, if the agent has no name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The parts of one run. `arm` is the global credential's; each node writes and reads by its own identity."""

    arm: Arm
    identities: Identities
    registry: Registry
    catalog: Catalog
    clock: Clock
    values: RunValues
    outlets: Outlets
    redactions: Redactions
    rules: RunRules
    progress: Progress
    digests: Digests
    cache: RunCache = field(default_factory=RunCache)
    lists: Lists = field(default_factory=Lists)
    locks: WriteLocks = field(default_factory=WriteLocks)
    sessions: Sessions = field(default_factory=Sessions)

    def find_node_deadline(self) -> float:
        """Return the deadline of a node that begins now: its timeout, or the run's deadline if that is earlier."""
        return min(self.clock.monotonic() + self.rules.node_timeout, self.rules.deadline)

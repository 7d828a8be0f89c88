"""What all nodes of one run share, and what the run may do."""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.arm.client import Arm
from gitsync.catalog.catalog import Catalog
from gitsync.extensions.registry import Registry
from gitsync.model.clock import Clock
from gitsync.model.review import Review
from gitsync.planning.secret_digest import Digests
from gitsync.reconcile.identities import Identities
from gitsync.reconcile.run_cache import RunCache
from gitsync.redaction import Redactions
from gitsync.report.progress import Progress
from gitsync.secrets.exporter import Outlets
from gitsync.secrets.values import RunValues


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """What the run may do. Timeouts are in seconds, the deadline in the clock's monotonic seconds. `review` is the plan
    that a sync is held to, and `is_reviewed` says that this plan will be one.
    """

    writes: bool  # False: a plan
    is_reviewed: bool = False
    review: Review | None = None
    prune: bool = False
    adopts: bool = True
    always_put: bool = False
    flap_limit: int = 0
    registers: bool = True
    node_timeout: float = 1800.0
    deadline: float
    agent: str = "gitsync"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What all nodes of one run share. `arm` is the global credential's; each node writes and reads by its account."""

    arm: Arm
    accounts: Identities
    registry: Registry
    catalog: Catalog
    clock: Clock
    values: RunValues
    outlets: Outlets
    redactions: Redactions
    rules: RunRules
    memory: RunCache
    progress: Progress
    digests: Digests

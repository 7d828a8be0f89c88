"""What a run may do, by the settings and the reviewed plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from gitsync.model.gvk import Key
from gitsync.model.plan import Review
from gitsync.planning.actions import WriteRules


class OutsideUse(Enum):
    """What a run does about changes in Azure of values that git does not set (docs/drift.md#outside-changes)."""

    REPORT = "report"
    RESTORE = "restore"  # as the record has them
    ACKNOWLEDGE = "acknowledge"  # they become the recorded values, and nothing is written to Azure


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """How a person reviews a plan before its sync."""

    is_reviewed: bool = False  # this plan will be reviewed
    review: Review | None = None  # the reviewed plan that limits a sync
    named: frozenset[str] = frozenset()  # the resources that --only names in full

    def names(self, key: Key) -> bool:
        """Return whether a person named a resource by itself."""
        return bool(self.named) and not self.named.isdisjoint({str(key), f"{key.kind}/{key.name}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """What the operator allows a run, and what it records."""

    writes: bool  # False for a plan
    approval: Approval = field(default_factory=Approval)
    prune: bool = False  # resources that were removed from git are deleted
    adopts: bool = True  # a resource without a record gets the values in git
    always_put: bool = False  # a PUT for every resource, changed or not
    outside_use: OutsideUse = OutsideUse.REPORT
    flap_limit: int = 0  # writes in a row that something may reset before the resource is paused; 0 for no limit
    register_providers: bool = True  # a provider that the subscription lacks is registered
    records_durations: bool = True
    """Azure does the writes, not an emulator, so how long they take shows how long the next ones will."""

    resource_timeout: float = 1800.0  # seconds
    deadline: float  # the end of the run, in the clock's monotonic seconds
    agent: str = "gitsync"
    revision: str = ""  # the commit that the run reads, "" for a folder
    repository: str = ""  # host and path, if the agent has no name

    @property
    def write_rules(self) -> WriteRules:
        """Those that decide whether a difference is written."""
        return WriteRules(adopts=self.adopts, always_put=self.always_put)

"""What a run may do, by the settings and the reviewed plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.model.plan import Review
from gitsync.planning.actions import WriteRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """With `is_reviewed`, this plan will be reviewed; `review` is the reviewed plan that limits a sync."""

    is_reviewed: bool = False
    review: Review | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """`resource_timeout` is in seconds, and `deadline`, the end of the run, in the clock's monotonic seconds.
    `revision` is the commit that the run reads, "" for a folder. `records_durations`: Azure does the writes, not an
    emulator, so how long they take shows how long the next ones will.
    """

    writes: bool  # False: a plan
    approval: Approval = field(default_factory=Approval)
    prune: bool = False
    adopts: bool = True
    always_put: bool = False
    flap_limit: int = 0
    register_providers: bool = True
    records_durations: bool = True
    resource_timeout: float = 1800.0
    deadline: float
    agent: str = "gitsync"
    revision: str = ""
    repository: str = ""  # host and path, if the agent has no name

    @property
    def write_rules(self) -> WriteRules:
        """Those that decide whether a difference is written."""
        return WriteRules(adopts=self.adopts, always_put=self.always_put)

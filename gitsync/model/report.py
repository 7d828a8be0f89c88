"""The report of a run: one value, from which the terminal, JSON and Markdown are made (docs/reports.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gitsync.errors import ExitCode
from gitsync.model.attribution import Who
from gitsync.model.check import CheckName
from gitsync.model.manifests import Coverage
from gitsync.model.plan import Review
from gitsync.model.problem import Problem
from gitsync.model.result import Outcome, Result
from gitsync.model.schedule import Schedule

BUILT_IN_EMULATOR = "built-in emulator"
"""The endpoint of a run with `--emulator`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """What a run reads and what it writes to, as every report shows it at its top. Texts for people; "" if a value is
    not known, or has no part in the run.
    """

    repository: str = ""  # the URL of the remote without a password, or the folder if there is no remote
    revision: str | None = None  # the commit
    ref: str = ""  # the branch, tag or commit that was named or is checked out
    subscription: str = ""  # an id
    subscription_name: str = ""  # its display name in Azure
    other_subscriptions: tuple[str, ...] = ()  # those of credential Secrets
    endpoint: str = ""
    identity: str = ""  # the identity that signed in
    agent: str = ""
    catalog: str = ""  # the releases that the facts about kinds are of


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """How many requests were sent to ARM, by the bucket that they count against."""

    reads: int = 0
    writes: int = 0
    deletes: int = 0
    polls: int = 0  # not among the reads
    checks: int = 0  # checks, each a POST that changes nothing; not among the writes
    throttled: int = 0  # how many Azure answered with 429 and gitsync sent again


@dataclass(frozen=True, slots=True)
class RequestUse:
    """The purpose of the requests, and how much of the limits they used."""

    by_type: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The number of each kind of request (`list`, `get`, …) by ARM type."""

    hour_shares: Mapping[str, float] = field(default_factory=dict)
    """For reads, writes and deletes the used share of Azure's hourly limit, in the bucket where it is the largest."""

    throttled_seconds: float = 0.0  # for how long at least one request had to wait for these limits


class LimitUse(NamedTuple):
    """How a run uses one of Azure's limits at the moment."""

    kind: str  # "reads", "writes" or "deletes"
    taken: int  # the number of requests so far
    per_second: float  # Azure's long-term rate
    is_near: bool  # almost nothing of the burst is left
    paused_until: float  # when requests go on after a 429, in the clock's monotonic seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """What the manifests of a report are from."""

    root: str = ""  # the folder in the repository that paths of files are relative to; "" for its top
    base: str | None = None  # set if Azure was not read: the revision whose manifests replace its state
    coverage: Coverage = field(default_factory=Coverage)  # counts what was read of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlan:
    """What a report has for the sync after a plan; a sync has none of it but the checks."""

    checks: tuple[CheckName, ...] = tuple(CheckName)  # those in the settings
    unrepeated: RequestCounts = field(default_factory=RequestCounts)
    """The requests of the plan's checks that the sync does not repeat."""

    schedule: Schedule = field(default_factory=Schedule)  # estimates the writes of the sync
    review: Review | None = None  # the content of a plan for review, if requested


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run has found and done."""

    command: str  # "sync", "plan" or "validate"
    revision: str | None  # the commit that was read; None for a folder
    started: str  # RFC 3339, UTC
    finished: str  # RFC 3339, UTC
    interrupted: bool = False  # a person or a scheduler stopped it
    exit_code: ExitCode
    target: RunTarget = field(default_factory=RunTarget)  # what the run reads and writes to
    source: ReportSource = field(default_factory=ReportSource)
    requests: RequestCounts
    use: RequestUse = field(default_factory=RequestUse)  # what the requests were for
    problems: tuple[Problem, ...]  # by location
    results: tuple[Result, ...]  # by key
    plan: ReportPlan = field(default_factory=ReportPlan)
    who: Who = Who.AUTO  # where names of people may be shown

    @property
    def summary(self) -> Mapping[str, int]:
        """The number of results by verdict, sorted by name."""
        return dict(sorted(Counter(r.verdict.value for r in self.results).items()))

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        """The number of results by outcome, with zeros, the most urgent first."""
        times = Counter(result.outcome for result in self.results)
        return {outcome: times[outcome] for outcome in Outcome}

"""The report of a run: one value, from which the terminal, JSON and Markdown are made
(docs/reference/design.md#report).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.model.coverage import Coverage
from gitsync.model.problem import Problem
from gitsync.model.result import Outcome, Result
from gitsync.model.review import Review
from gitsync.model.target import RunTarget


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """How many requests were sent to ARM, by the bucket that they count against; polls are counted apart from reads.

    `throttled` is how many of all these Azure answered with 429 and gitsync sent again.
    """

    reads: int = 0
    writes: int = 0
    deletes: int = 0
    polls: int = 0
    throttled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`started` and `finished` are RFC 3339, UTC. `results` are sorted by key, `problems` by place.

    `root` is the folder that paths of files count from, inside the repository ("" for its top). `base` is set if
    Azure was not read: the revision whose manifests take its place. `review` is the content of a plan for review, if
    requested. `coverage` counts what was read of the source. `target` is what the run reads and writes to.
    """

    command: str  # "sync", "plan" or "validate"
    revision: str | None
    started: str
    finished: str
    exit_code: int
    requests: RequestCounts
    problems: tuple[Problem, ...]
    results: tuple[Result, ...]
    interrupted: bool = False
    root: str = ""
    base: str | None = None
    review: Review | None = None
    coverage: Coverage = field(default_factory=Coverage)
    target: RunTarget = field(default_factory=RunTarget)

    @property
    def summary(self) -> Mapping[str, int]:
        """Count of results by verdict, sorted by name."""
        return dict(sorted(Counter(r.verdict.value for r in self.results).items()))

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        """Count of results by outcome, all of them, the most urgent first."""
        times = Counter(result.outcome for result in self.results)
        return {outcome: times[outcome] for outcome in Outcome}

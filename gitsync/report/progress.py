"""Reports the progress of a run: its interface, its count, what each resource waits for, a periodic line if there is no
terminal, and the timeline of every resource for metrics and traces.

A pipeline stops a job without output, and a resource may take half an hour: so a thread writes the line periodically,
whether anything happens or not.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from gitsync.errors import ExitCode
from gitsync.model.gvk import Key
from gitsync.model.report import LimitUse, Report
from gitsync.model.result import Outcome, Result, Stage, Wait
from gitsync.report.wording import PAST, format_seconds
from gitsync.settings.logging import escape_controls

_MOST_NAMED = 5  # resources named at once
_RATE_SECONDS = 2.0  # that a rate is of, at least
_LONGEST_CAUSE = 400  # characters of a failure


class Work(Protocol):
    """What a resource is at: its session, which changes while a display reads it."""

    stage: Stage
    wait: Wait | None


ListLimits = Callable[[], Sequence[LimitUse]]
"""Returns how a run uses Azure's limits just now: always in the same order, new ones at the end."""


class Progress(Protocol):
    """Receives the progress of a walk."""

    def watch(self, list_limits: ListLimits) -> None:
        """Show the rate of requests while it is near a limit."""
        ...

    def expect(self, needs: Mapping[Key, Collection[Key]]) -> None:
        """Add resources to the total. `needs` has those that each depends on: it begins after them."""
        ...

    def started(self, key: Key, work: Work) -> None:
        """Note that a resource has reached the stage of its work."""
        ...

    def finished(self, result: Result) -> bool:
        """Note the end of a resource. Returns whether a person reads of it here: then no log repeats it."""
        ...


class Silent:
    """Ignores all progress."""

    def watch(self, list_limits: ListLimits) -> None: ...

    def expect(self, needs: Mapping[Key, Collection[Key]]) -> None: ...

    def started(self, key: Key, work: Work) -> None: ...

    def finished(self, result: Result) -> bool:  # noqa: ARG002 - the protocol's
        return False


class UnderWay(NamedTuple):
    """A resource in progress, for people: its name, for how long, and what it does or waits for."""

    name: str
    time: str
    doing: str

    def __str__(self) -> str:
        return f"{self.name} ({self.time}, {self.doing})"


class Tally:
    """The progress of a walk. The walk writes it, and a display reads it, maybe in another thread. `mask` takes secrets
    out of what it shows. `pause` hides the display for a while.

    `say` prints a line for a person as soon as a resource has failed, and with `says_changes` when one was written;
    without `say`, that is left to the log.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        mask: Callable[[str], str] = str,
        say: Callable[[str], None] | None = None,
        *,
        says_changes: bool = False,
    ) -> None:
        self._monotonic = monotonic
        self._mask = mask
        self._say = say
        self._says_changes = says_changes
        self._under_way: dict[Key, tuple[Work, float]] = {}
        self._dependents: defaultdict[Key, list[Key]] = defaultdict(list)
        self._finished: set[Key] = set()
        self._list_limits: ListLimits = tuple
        self._counts: Sequence[LimitUse] = ()
        self._counted_at = monotonic()
        self._rates: Sequence[float] = ()
        self.pause: Callable[[], AbstractContextManager[None]] = nullcontext
        self.total = 0
        self.done = 0

    def watch(self, list_limits: ListLimits) -> None:
        self._list_limits, self._counted_at = list_limits, self._monotonic()

    def expect(self, needs: Mapping[Key, Collection[Key]]) -> None:
        self.total += len(needs)
        self._finished -= needs.keys()  # a rehearsal had them before
        self._dependents.clear()
        for key, others in needs.items():
            for other in others:
                self._dependents[other].append(key)

    def started(self, key: Key, work: Work) -> None:
        # It is called for each stage, and the time counts from the first.
        if key not in self._under_way:
            self._under_way[key] = (work, self._monotonic())

    def finished(self, result: Result) -> bool:
        _, start_time = self._under_way.pop(result.key, (None, self._monotonic()))
        self._finished.add(result.key)
        self.done += 1
        if self._say is None:
            return False
        if result.outcome is Outcome.FAILED:
            self._say(self._format_failure(result))
        elif result.outcome is Outcome.CHANGED and self._says_changes:
            time = format_seconds(int(self._monotonic() - start_time))
            self._say(f"{PAST[result.action]} {_format_name(result.key)} in {time}")
        return True

    def _format_failure(self, result: Result) -> str:
        """Format a failure in one line: the resource, the reason and the cause."""
        reason, message = self._mask(result.condition.reason), " ".join(self._mask(result.message).split())
        cause = message if message.startswith(reason) else f"{reason}: {message}"
        # The report has all of a long cause.
        cause = cause if len(cause) <= _LONGEST_CAUSE else f"{cause[:_LONGEST_CAUSE]}…"
        location = f" ({result.manifest.source})" if result.manifest.source else ""
        return f"failed: {_format_name(result.key)}: {escape_controls(f'{cause}{location}')}"

    def list_under_way(self) -> tuple[list[UnderWay], int]:
        """List the resources in progress, the longest first, and return the number of those left out."""
        now = self._monotonic()
        # A copy, since the walk may change it in another thread.
        entries = sorted(self._under_way.copy().items(), key=lambda entry: (entry[1][1], entry[0]))
        rows = [
            UnderWay(
                _format_name(key),
                format_seconds(int(now - since)),
                escape_controls(self._mask(_describe_work(work, now))) + self._count_dependents(key),
            )
            for key, (work, since) in entries[:_MOST_NAMED]
        ]
        return rows, len(entries) - len(rows)

    def _count_dependents(self, key: Key) -> str:
        count = sum(other not in self._finished for other in self._dependents.get(key, ()))
        return f"; {count} {'waits' if count == 1 else 'wait'} for it" if count else ""

    def say_unfinished(self, cause: str, advice: str) -> bool:
        """Print in a few lines what a run that is stopped leaves unfinished. Returns False if the log has to say it."""
        if self._say is None:
            return False
        count = len(self._under_way)
        rest = max(self.total - self.done - count, 0)  # what is tried a second time was counted before
        head = f"{cause}: {count} unfinished, {rest} not begun. {advice}"
        self._say("\n  ".join([head, *self._list_names()]))
        return True

    def _list_names(self) -> list[str]:
        rows, more = self.list_under_way()
        return [*map(str, rows), *([f"and {more} more"] if more else [])]

    def list_near_limits(self) -> list[str]:
        """List the limits that the run is at or near, each with the rate of the last seconds."""
        now, uses = self._monotonic(), self._list_limits()
        if (seconds := now - self._counted_at) >= _RATE_SECONDS:
            before = [*(use.taken for use in self._counts), *(0 for _ in uses)]  # of new ones nothing was taken
            self._rates = [(use.taken - taken) / seconds for use, taken in zip(uses, before, strict=False)]
            self._counts, self._counted_at = uses, now
        # A limit that is new since the last rates has none yet, and is left out.
        near = (_describe_limit(use, rate, now) for use, rate in zip(uses, self._rates, strict=False))
        # Each subscription has limits of its own, and two of them may read alike.
        return [*dict.fromkeys(filter(None, near))]

    def format_line(self) -> str:
        """Format the progress in one line."""
        total = f" of {self.total}" if self.total else ""
        names = self._list_names()
        in_progress = [f"in progress: {', '.join(names)}"] if names else []
        return "; ".join([f"{self.done}{total} done", *self.list_near_limits(), *in_progress])


def _format_name(key: Key) -> str:
    return escape_controls(f"{key.kind}/{key.name}")


def _describe_work(work: Work, now: float) -> str:
    """Describe what a resource waits for, or else its stage."""
    if (wait := work.wait) is None:
        return "Azure works" if work.stage is Stage.POLL else work.stage.value
    seconds = math.ceil((wait.until or now) - now)
    # Turns are guessed, and their last second would come and go.
    has_time = seconds > (0 if wait.next_try else 1)
    goes_on = f", {'tries again' if wait.next_try else 'goes on'} in {format_seconds(seconds)}" if has_time else ""
    number = f" ({format_ordinal(wait.next_try)} try)" if wait.next_try else ""
    return f"{wait.reason}{goes_on}{number}"


def _describe_limit(use: LimitUse, rate: float, now: float) -> str:
    """Describe a limit that requests are held back by, or soon will be; "" for any other."""
    if use.paused_until > now:
        return f"{use.kind} throttled, go on in {format_seconds(math.ceil(use.paused_until - now))}"
    if not use.is_near:
        return ""
    return f"{_format_rate(rate)} {use.kind}/s, near the limit of {_format_rate(use.per_second)}"


def _format_rate(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 1 else f"{rate:.1f}"


def format_ordinal(number: int) -> str:
    """Format an ordinal: 1st, 2nd, 11th."""
    end = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"


@contextmanager
def print_progress(tally: Tally, say: Callable[[str], None], every: float) -> Iterator[Tally]:
    """Report the progress every `every` seconds, until the end."""
    stop = threading.Event()

    def print_lines() -> None:
        while not stop.wait(every):
            say(tally.format_line())

    # A daemon: a run that is killed does not wait for it.
    thread = threading.Thread(target=print_lines, name="gitsync-progress", daemon=True)
    thread.start()
    try:
        yield tally
    finally:
        stop.set()
        thread.join()


class StageVisit(NamedTuple):
    """A resource at a stage, in the clock's monotonic seconds. It includes waits: for locks, limits and other tries."""

    stage: Stage
    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


class Timeline:
    """Records visits in front of another Progress. `visits` has those of each resource, in order."""

    def __init__(self, progress: Progress, monotonic: Callable[[], float]) -> None:
        self._progress = progress
        self._monotonic = monotonic
        self._under_way: dict[Key, tuple[Stage, float]] = {}
        self.visits: defaultdict[Key, list[StageVisit]] = defaultdict(list)

    def watch(self, list_limits: ListLimits) -> None:
        self._progress.watch(list_limits)

    def expect(self, needs: Mapping[Key, Collection[Key]]) -> None:
        self._progress.expect(needs)

    def started(self, key: Key, work: Work) -> None:
        if key not in self._under_way or self._under_way[key][0] is not work.stage:
            self._under_way[key] = (work.stage, self._leave(key))
        self._progress.started(key, work)

    def finished(self, result: Result) -> bool:
        if result.key in self._under_way:
            self._leave(result.key)
            del self._under_way[result.key]
        return self._progress.finished(result)

    def _leave(self, key: Key) -> float:
        """End the visit that a resource is at, if there is one; the time of that."""
        now = self._monotonic()
        if key in self._under_way:
            stage, start = self._under_way[key]
            self.visits[key].append(StageVisit(stage, start, now))
        return now


def collect_stage_seconds(visits: Mapping[Key, list[StageVisit]]) -> Mapping[Stage, list[float]]:
    """Collect the seconds of every visit by stage, in the order of the stages; stages that no resource was at are left
    out.
    """
    seconds: dict[Stage, list[float]] = {stage: [] for stage in Stage}
    for visit in (visit for visits_of_one in visits.values() for visit in visits_of_one):
        seconds[visit.stage].append(visit.seconds)
    return {stage: times for stage, times in seconds.items() if times}


Figures = Mapping[str, Sequence[tuple[tuple[str, ...], float]]]
"""The samples of metrics by name: the values of the labels that a metric has of its own, and the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The end of a run, for what shows its progress. Command, agent, source and status tell this run from others that
    are watched in the same place.
    """

    command: str
    agent: str
    source: str  # a URL without a password, or a folder
    status: str  # the branch or folder that the settings name, "" for the default
    started_at: datetime
    ended_at: datetime
    started: float  # the same as `started_at`, in the clock's monotonic seconds
    exit_code: ExitCode
    is_success: bool  # the exit code is that of a success
    is_complete: bool  # the run was not restricted to some resources
    report: Report | None  # masked; None if the run was refused or ended early, and for a search
    visits: Mapping[Key, list[StageVisit]]  # the stages of each resource, in the clock's monotonic seconds
    figures: Figures = field(default_factory=dict)  # those of a search

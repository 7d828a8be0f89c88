"""Reports the progress of a run: its interface, its count, a periodic log line if there is no terminal, and the
timeline of every resource for metrics and traces.

A pipeline stops a job without output, and a resource may take half an hour: so a thread writes the line
periodically, whether anything happens or not.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from gitsync.errors import ExitCode
from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result, Stage

_MOST_NAMED = 5  # resources named at once


class Progress(Protocol):
    """Receives the progress of a walk."""

    def expect(self, count: int) -> None:
        """Add this number of resources to the total."""
        ...

    def started(self, key: Key, stage: Stage) -> None:
        """Note that a resource has reached a stage."""
        ...

    def finished(self, result: Result) -> None: ...


class Silent:
    """Ignores all progress."""

    def expect(self, count: int) -> None: ...

    def started(self, key: Key, stage: Stage) -> None: ...

    def finished(self, result: Result) -> None: ...


class Tally:
    """The progress of a walk. The walk writes it, and a display reads it. `pause` hides the display for a while."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._under_way: dict[Key, tuple[Stage, float]] = {}
        self.pause: Callable[[], AbstractContextManager[None]] = nullcontext
        self.total = 0
        self.done = 0

    def expect(self, count: int) -> None:
        self.total += count

    def started(self, key: Key, stage: Stage) -> None:
        _, start_time = self._under_way.get(key, (stage, self._monotonic()))
        self._under_way[key] = (stage, start_time)

    def finished(self, result: Result) -> None:
        self._under_way.pop(result.key, None)
        self.done += 1

    def list_under_way(self) -> list[str]:
        """List the resources in progress, the longest first: name, stage and time."""
        now = self._monotonic()
        entries = sorted(self._under_way.copy().items(), key=lambda one: (one[1][1], one[0]))
        names = []
        for key, (stage, since) in entries:
            minutes, seconds = divmod(int(now - since), 60)
            time = f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s"
            names.append(f"{key.kind}/{key.name} ({stage.value}, {time})")
        more = len(names) - _MOST_NAMED
        return [escape_controls(name) for name in names[:_MOST_NAMED]] + [f"and {more} more"] * (more > 0)

    def format_line(self) -> str:
        """Format the progress in one line."""
        total = f" of {self.total}" if self.total else ""
        in_progress = self.list_under_way()
        return f"{self.done}{total} done" + (f"; in progress: {', '.join(in_progress)}" if in_progress else "")


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

    def expect(self, count: int) -> None:
        self._progress.expect(count)

    def started(self, key: Key, stage: Stage) -> None:
        if key not in self._under_way or self._under_way[key][0] is not stage:
            self._under_way[key] = (stage, self._leave(key))
        self._progress.started(key, stage)

    def finished(self, result: Result) -> None:
        if result.key in self._under_way:
            self._leave(result.key)
            del self._under_way[result.key]
        self._progress.finished(result)

    def _leave(self, key: Key) -> float:
        """End the visit that a resource is at, if there is one; the time of that."""
        now = self._monotonic()
        if key in self._under_way:
            stage, start = self._under_way[key]
            self.visits[key].append(StageVisit(stage, start, now))
        return now


def find_stage_seconds(visits: Mapping[Key, list[StageVisit]]) -> Mapping[Stage, list[float]]:
    """Find the seconds of every visit by stage, in the order of the stages; stages that no resource
    was at are left out.
    """
    seconds: dict[Stage, list[float]] = {stage: [] for stage in Stage}
    for one in (visit for visits_of_one in visits.values() for visit in visits_of_one):
        seconds[one.stage].append(one.seconds)
    return {stage: times for stage, times in seconds.items() if times}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """`report` is None if the run was refused or broke off; it is masked. `started` is `started_at` in the clock's
    monotonic seconds, in which `visits` are. `is_whole` says that the run was not restricted to some resources.

    `source` is a URL without a password, or a folder; `status` is the branch or folder that the settings name, "" for
    the default. With agent and command they tell this run from others that are watched in the same place.
    """

    command: str
    agent: str
    source: str
    status: str
    started_at: datetime
    ended_at: datetime
    started: float
    exit_code: ExitCode
    is_success: bool
    is_whole: bool
    report: Report | None
    visits: Mapping[Key, list[StageVisit]]

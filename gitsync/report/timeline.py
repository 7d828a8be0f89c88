"""The timeline of a walk: when each resource was at which stage, for metrics and traces. A Progress that passes on what
it hears.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.result import Result, Stage
from gitsync.report.progress import Progress


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
    """The seconds of every visit by stage, in the order of the stages; stages that no resource was at are left out."""
    seconds: dict[Stage, list[float]] = {stage: [] for stage in Stage}
    for one in (visit for visits_of_one in visits.values() for visit in visits_of_one):
        seconds[one.stage].append(one.seconds)
    return {stage: times for stage, times in seconds.items() if times}

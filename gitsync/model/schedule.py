"""The expected times of a run's writes: when each starts and ends, and which decide how long the run takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.verdict import Action


class Estimate(StrEnum):
    """Where the duration of a write comes from, the best source first."""

    RECORD = "record"  # the last create or update of this resource
    TYPE = "type"  # the median of the type in recordings
    PUBLISHED = "published"  # a figure from Microsoft or public logs, for a slow type
    DEFAULT = "default"  # no data about the type


class TypicalDuration(NamedTuple):
    """How many seconds Azure works on the writes of one type; None if no recording shows it."""

    create: float | None = None  # of any size and in any region, as the others
    update: float | None = None  # of any size and in any region, likewise
    delete: float | None = None  # likewise
    published: float | None = None  # a create of a slow type, from Microsoft or public logs


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWrite:
    """A write, as input of the schedule. A replaced resource has two writes: DELETE, and REPLACE, which creates it
    again.
    """

    key: Key
    action: Action
    seconds: float  # how long Azure works on it
    estimate: Estimate
    after: tuple[Key, ...] = ()
    """The resources whose writes must end first: deletes for a delete, other writes for any other."""

    lock: str = ""  # the ARM id below which only one request at a time may write, "" for none
    reads: int = 0  # the polls of its operation and the read after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One write on the time line, in seconds since the first write of the run."""

    key: Key
    action: Action
    estimate: Estimate
    ready: float  # its dependencies have ended; until it is sent, it waits for its lock or for ARM's limits
    sent: float  # from here to its end, Azure works on it
    end: float
    wave: int  # the number of writes on its longest chain of dependencies, from 1
    is_critical: bool = False
    """It is on the chain that decides how long the run takes, from the last write to end back to a write that waited
    for no other.
    """

    polls: int = 0  # how often the run polls the operation, unless Azure sets another interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The time line of the writes of a run."""

    bars: tuple[Bar, ...] = ()  # sorted by when they are sent, then by key

    @property
    def seconds(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)

    @property
    def polls(self) -> int:
        return sum(bar.polls for bar in self.bars)

    def count_estimates(self) -> Mapping[Estimate, int]:
        """Count the writes by the origin of their durations, with zeros."""
        times = Counter(bar.estimate for bar in self.bars)
        return {estimate: times[estimate] for estimate in Estimate}

    @property
    def has_guesses(self) -> bool:
        """Return whether any duration is a guess: then the run may take longer, but hardly less time."""
        return any(bar.estimate is Estimate.DEFAULT for bar in self.bars)

    @property
    def waves(self) -> int:
        return max((bar.wave for bar in self.bars), default=0)

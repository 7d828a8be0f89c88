"""Foresee when each write of a run begins and ends, as the walk, the write locks and the limits of ARM order them.

A write is ready once what it depends on has ended. Then it waits for its write lock, which another one keeps until its
operation has ended, and after that for ARM to take one more request; both are first come, first served. The run sees
the end once ARM has taken the polls and the read after it: they share the limit of reads. The parts of the walk follow
each other: applies, deletes, the deletes of what is replaced, and what is created again. What is sent before all of
them shares the limits, too: the requests of checks count as writes.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import IntEnum
from graphlib import TopologicalSorter
from typing import Final, NamedTuple

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.limits import ARM_LIMITS, Bucket, Limit, RequestKind
from gitsync.model.schedule import Bar, PlannedWrite, Schedule
from gitsync.model.verdict import Action

_APPLIES, _DELETES, _REPLACED, _AGAIN = _PARTS = range(4)
"""The parts of the walk, in order: the last two are the deletes of what is replaced, and the creates after them."""


class _Id(NamedTuple):
    """Names a write: a resource has at most one delete in a run, and one other write."""

    key: Key
    is_delete: bool


NOTHING_FIRST: Final[Mapping[Bucket, int]] = {}
"""For a run whose first request is a write."""


def make_schedule(
    writes: Iterable[PlannedWrite], share: float = 1.0, first: Mapping[Bucket, int] = NOTHING_FIRST
) -> Schedule:
    """Make the schedule of the writes of a run. `share` is how much of ARM's limits the run may use. `first` counts
    what is sent before the first write.

    What a write is `after` may be missing: it is then no write of this run. Raises graphlib.CycleError if writes wait
    for each other.
    """
    by_id = {_Id(write.key, write.action is Action.DELETE): write for write in writes}
    before = {}
    for name in sorted(by_id):  # sorted, so that the order of the input decides nothing
        others = {_Id(key, name.is_delete) for key in by_id[name].after}
        before[name] = sorted(others & by_id.keys())
    order = tuple(TopologicalSorter(before).static_order())
    parts = _assign_parts(order, by_id, before)
    waves = _count_waves(order, parts, before)
    course = _Course(by_id, before, waves, share)
    course.send_first(first)
    for part in _PARTS:
        course.run_part(sorted(name for name in order if parts[name] == part))
    critical = course.list_critical()
    bars = (replace(bar, is_critical=True) if name in critical else bar for name, bar in course.bars.items())
    return Schedule(bars=tuple(sorted(bars, key=lambda bar: (bar.sent, bar.key, bar.end))))


def _assign_parts(
    order: Iterable[_Id], by_id: Mapping[_Id, PlannedWrite], before: Mapping[_Id, list[_Id]]
) -> dict[_Id, int]:
    """Find the part of the walk that each write belongs to; what waits for a resource that is replaced goes with it."""
    parts: dict[_Id, int] = {}
    for name in order:
        if name.is_delete:
            own = _REPLACED if _Id(name.key, is_delete=False) in by_id else _DELETES
        else:
            own = _AGAIN if by_id[name].action is Action.REPLACE else _APPLIES
        parts[name] = max([own, *(parts[other] for other in before[name])])
    return parts


def _count_waves(order: Iterable[_Id], parts: Mapping[_Id, int], before: Mapping[_Id, list[_Id]]) -> dict[_Id, int]:
    """Count the waves up to each write. The parts of the walk before its own are on its chain, too."""
    waves: dict[_Id, int] = {}
    earlier = 0
    for part in _PARTS:
        for name in order:
            if parts[name] == part:
                waves[name] = 1 + max([earlier, *(waves[other] for other in before[name])])
        earlier = max(waves.values(), default=0)
    return waves


class _Tokens:
    """The requests of one kind that ARM still takes in one subscription."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._left = limit.burst
        self._at = 0.0

    def take(self, at: float, count: int = 1) -> float:
        """Take some at a time, or as soon as there are so many; returns when. No later call is for an earlier time."""
        at = max(at, self._at)
        left = min(self._limit.burst, self._left + (at - self._at) * self._limit.per_second)
        missing = max(0.0, count - left)
        self._at = at + missing / self._limit.per_second
        self._left = left + missing - count
        return self._at


class _Step(IntEnum):
    """What happens to a write. Of what happens at one time, the first goes first, and then the walk's order decides."""

    DONE = 0  # Azure has done its work, and the run polls for it
    ENDS = 1
    GETS_LOCK = 2  # from the write that has just ended, before the walk sees that end
    REQUESTS = 3
    HAS_LOCK = 4  # nothing else had it


class _Event(NamedTuple):
    at: float
    step: _Step
    name: _Id


class _Course:
    """The run as it goes on, in the order of time. A write has a bar once it has ended."""

    def __init__(
        self, by_id: Mapping[_Id, PlannedWrite], before: Mapping[_Id, list[_Id]], waves: Mapping[_Id, int], share: float
    ) -> None:
        self.bars: dict[_Id, Bar] = {}
        self._writes = by_id
        self._before = before
        self._waves = waves
        self._limits = {kind: limit.take_share(share) for kind, limit in ARM_LIMITS.items()}
        self._tokens: dict[Bucket, _Tokens] = {}
        self._sent: dict[_Id, float] = {}
        self._begin = 0.0
        self._followers: defaultdict[_Id, list[_Id]] = defaultdict(list)
        for name, others in before.items():
            for other in others:
                self._followers[other].append(name)
        self._missing = {name: len(others) for name, others in before.items()}
        self._ready: dict[_Id, float] = {}
        self._requested_last: dict[str, _Id] = {}  # for each lock
        self._next_in_line: dict[_Id, _Id] = {}  # from the holder of a lock to the write that gets it next
        self._waited_for: dict[_Id, _Id] = {}  # the last of those that each had to wait for
        self._events: list[_Event] = []

    def send_first(self, first: Mapping[Bucket, int]) -> None:
        """Send what is sent before the first write, all at once."""
        taken = [self._take(bucket, 0.0, count) for bucket, count in sorted(first.items())]
        self._begin = max(taken, default=0.0)

    def run_part(self, names: list[_Id]) -> None:
        """Run one part of the walk. It begins when all before it has ended."""
        last = self._find_last(self.bars)
        begin = self.bars[last].end if last else self._begin
        part = frozenset(names)
        for name in names:
            if last:
                self._waited_for[name] = last
            if not self._missing[name]:
                heapq.heappush(self._events, _Event(begin, _Step.REQUESTS, name))
        while self._events:
            event = heapq.heappop(self._events)
            match event.step:
                case _Step.REQUESTS:
                    self._request(event.name, event.at)
                case _Step.DONE:
                    self._look(event.name, event.at)
                case _Step.ENDS:
                    self._end(event.name, event.at)
                    self._call_followers(event.name, part)
                case _:
                    self._send(event.name, event.at)

    def list_critical(self) -> frozenset[_Id]:
        """List the writes that decide how long the run takes: the last to end, and what each had to wait for."""
        chain = set[_Id]()
        name = self._find_last(self.bars)
        while name is not None:
            chain.add(name)
            name = self._waited_for.get(name)
        return frozenset(chain)

    def _request(self, name: _Id, at: float) -> None:
        """Request the lock: it goes from one write to the next in the order of requests."""
        self._ready[name] = at
        lock = self._writes[name].lock
        # Without an id there is no lock: such writes do not wait for each other.
        holder = self._requested_last.get(lock) if lock else None
        self._requested_last[lock] = name
        if holder is None or holder in self.bars:
            self._take_lock(name, holder)
        else:  # when that one ends is not known yet: it waits for a lock or a limit itself
            self._next_in_line[holder] = name

    def _take_lock(self, name: _Id, holder: _Id | None) -> None:
        at, step = self._ready[name], _Step.HAS_LOCK
        if holder and self.bars[holder].end > at:
            at, step, self._waited_for[name] = self.bars[holder].end, _Step.GETS_LOCK, holder
        heapq.heappush(self._events, _Event(at, step, name))

    def _send(self, name: _Id, at: float) -> None:
        write = self._writes[name]
        kind = RequestKind.DELETES if name.is_delete else RequestKind.WRITES
        self._sent[name] = self._take(self._find_bucket(write, kind), at)
        heapq.heappush(self._events, _Event(self._sent[name] + write.seconds, _Step.DONE, name))

    def _look(self, name: _Id, at: float) -> None:
        """See the end of a write, by its polls and the read after it."""
        write = self._writes[name]
        end = self._take(self._find_bucket(write, RequestKind.READS), at, write.reads) if write.reads else at
        heapq.heappush(self._events, _Event(end, _Step.ENDS, name))

    def _end(self, name: _Id, at: float) -> None:
        write = self._writes[name]
        self.bars[name] = Bar(
            key=write.key,
            action=write.action,
            estimate=write.estimate,
            ready=self._ready[name],
            sent=self._sent[name],
            end=at,
            wave=self._waves[name],
            polls=max(0, write.reads - 1),  # the last one is the read after it
        )
        if name in self._next_in_line:
            self._take_lock(self._next_in_line[name], name)

    def _take(self, bucket: Bucket, at: float, count: int = 1) -> float:
        if bucket not in self._tokens:
            self._tokens[bucket] = _Tokens(self._limits[bucket[1]])
        return self._tokens[bucket].take(at, count)

    @staticmethod
    def _find_bucket(write: PlannedWrite, kind: RequestKind) -> Bucket:
        return (ArmId(write.lock).subscription or "").casefold(), kind

    def _call_followers(self, name: _Id, part: frozenset[_Id]) -> None:
        """Let those writes request their locks that waited for this one, and now for no other."""
        for follower in self._followers[name]:
            self._missing[follower] -= 1
            # A follower in a later part is requested when that part begins.
            if not self._missing[follower] and follower in part:
                last = self._find_last(self._before[follower])
                if last is None:
                    raise AssertionError("a follower waits for a write")
                self._waited_for[follower] = last
                heapq.heappush(self._events, _Event(self.bars[last].end, _Step.REQUESTS, follower))

    def _find_last(self, names: Iterable[_Id]) -> _Id | None:
        """Find the write that ends last; of several, the first in the walk's order."""
        return min(names, key=lambda name: (-self.bars[name].end, name), default=None)

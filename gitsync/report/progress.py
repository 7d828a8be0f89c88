"""Progress of long work: who is told, how it is counted, and a plain line now and then where there is no terminal.

A pipeline stops a job that says nothing for long, and a resource may take half an hour: the plain line comes by the
clock, from a thread of its own, and not when something happens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.result import Result, Stage

_MOST_NAMED = 5  # resources named at once


class Progress(Protocol):
    """What a walk tells of itself while it goes on."""

    def expect(self, count: int) -> None:
        """So many resources will be finished."""
        ...

    def started(self, key: Key, stage: Stage) -> None:
        """A resource has come to a stage."""
        ...

    def finished(self, result: Result) -> None: ...


class Silent:
    """For those who do not want to know."""

    def expect(self, count: int) -> None: ...

    def started(self, key: Key, stage: Stage) -> None: ...

    def finished(self, result: Result) -> None: ...


class Tally:
    """How far a walk is. Written by the walk, read by whoever shows it."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._under_way: dict[Key, tuple[Stage, float]] = {}
        self.total = 0
        self.done = 0

    def expect(self, count: int) -> None:
        self.total += count

    def started(self, key: Key, stage: Stage) -> None:
        _, since = self._under_way.get(key, (stage, self._monotonic()))
        self._under_way[key] = (stage, since)

    def finished(self, result: Result) -> None:
        self._under_way.pop(result.key, None)
        self.done += 1

    def under_way(self) -> list[str]:
        """What is being worked on, the longest first: name, stage and time."""
        now = self._monotonic()
        longest = sorted(self._under_way.copy().items(), key=lambda one: (one[1][1], one[0]))
        named = [f"{key.kind}/{key.name} ({stage.value}, {_time(now - since)})" for key, (stage, since) in longest]
        more = len(named) - _MOST_NAMED
        return [escape_controls(name) for name in named[:_MOST_NAMED]] + [f"and {more} more"] * (more > 0)

    def line(self) -> str:
        """All of it in one line."""
        of = f" of {self.total}" if self.total else ""
        busy = self.under_way()
        return f"{self.done}{of} done" + (f"; in progress: {', '.join(busy)}" if busy else "")


@contextmanager
def print_progress(tally: Tally, say: Callable[[str], None], every: float) -> Iterator[Progress]:
    """Say how far it is every so many seconds, until the end."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(every):
            say(tally.line())

    thread = threading.Thread(target=beat, name="gitsync-progress", daemon=True)
    thread.start()
    try:
        yield tally
    finally:
        stop.set()
        thread.join()


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"

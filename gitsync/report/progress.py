"""Progress of a run: its interface, its count, and a periodic log line if there is no terminal.

A pipeline stops a job without output, and a resource may take half an hour: so a thread writes the line periodically,
whether anything happens or not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.result import Result, Stage

_MOST_NAMED = 5  # resources named at once


class Progress(Protocol):
    """Receives the progress of a walk."""

    def expect(self, count: int) -> None:
        """Add this number of resources to the total."""
        ...

    def started(self, key: Key, stage: Stage) -> None:
        """A resource has reached a stage."""
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

    def under_way(self) -> list[str]:
        """The resources in progress, the longest first: name, stage and time."""
        now = self._monotonic()
        entries = sorted(self._under_way.copy().items(), key=lambda one: (one[1][1], one[0]))
        names = [
            f"{key.kind}/{key.name} ({stage.value}, {_format_time(now - since)})" for key, (stage, since) in entries
        ]
        more = len(names) - _MOST_NAMED
        return [escape_controls(name) for name in names[:_MOST_NAMED]] + [f"and {more} more"] * (more > 0)

    def line(self) -> str:
        """The progress in one line."""
        total = f" of {self.total}" if self.total else ""
        in_progress = self.under_way()
        return f"{self.done}{total} done" + (f"; in progress: {', '.join(in_progress)}" if in_progress else "")


@contextmanager
def print_progress(tally: Tally, say: Callable[[str], None], every: float) -> Iterator[Tally]:
    """Report the progress every `every` seconds, until the end."""
    stop = threading.Event()

    def print_lines() -> None:
        while not stop.wait(every):
            say(tally.line())

    thread = threading.Thread(target=print_lines, name="gitsync-progress", daemon=True)
    thread.start()
    try:
        yield tally
    finally:
        stop.set()
        thread.join()


def _format_time(seconds: float) -> str:
    minutes, seconds_left = divmod(int(seconds), 60)
    return f"{minutes}m{seconds_left:02}s" if minutes else f"{seconds_left}s"

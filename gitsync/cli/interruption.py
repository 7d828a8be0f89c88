"""What a signal does to a run: SIGTERM and Ctrl-C let it end in order, with its status written.

A signal is heard wherever the process is, in the middle of a git command that hangs, too. So it breaks off at once what
has not touched anything yet; and a second one breaks off what takes too long to end, which the next run puts right as
it does after a kill.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from loguru import logger

from gitsync.core.exitcode import INTERRUPTED, NOT_READY
from gitsync.grace import Grace
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result, Stage
from gitsync.report.progress import Progress

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """Which signal ended the run, if one did. `grace` begins with it: what the run started ends in time."""

    def __init__(self) -> None:
        self.grace = Grace()
        self.by: signal.Signals | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def ends(self, stop: asyncio.Event) -> None:
        """From now on there is something to end in order: by setting `stop`, in the loop that is running."""
        self._loop, self._stop = asyncio.get_running_loop(), stop

    def exit_code(self, report: Report) -> int:
        """130 for Ctrl-C; at least 1 where the run was told to stop; else the report's own."""
        if self.by is signal.SIGINT:
            return INTERRUPTED
        return report.exit_code or NOT_READY if self.by else report.exit_code

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear signals while the context lasts, in the loop that is running.

        The loop's own way of hearing them calls nobody while the loop is held up; but it wakes up a loop that is just
        going to sleep, which ours does not. So it is asked for that.
        """
        loop = asyncio.get_running_loop()
        for one in _SIGNALS:
            loop.add_signal_handler(one, _wake_up)
            signal.signal(one, self._hear)
        try:
            yield
        finally:
            for one in _SIGNALS:
                loop.remove_signal_handler(one)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        """Raises KeyboardInterrupt or SystemExit, which alone come through an event loop, to break off."""
        if self.by is not None or self._loop is None:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            raise SystemExit(f"gitsync: broken off by {signal.Signals(number).name}.")
        self.by = signal.Signals(number)
        self.grace.begin()
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        """In the loop, since what a signal interrupts may hold the lock of the log."""
        if self._stop is not None:
            self._stop.set()
        logger.warning("Told to end: nothing new is begun, and status is written; a second signal breaks off")


def _wake_up() -> None:
    """What is to be done was done by the handler."""


class Begins:
    """Progress, which tells besides that the walk has begun: from here on there is something to end."""

    def __init__(self, progress: Progress, interruption: Interruption, stop: asyncio.Event) -> None:
        self._progress = progress
        self._interruption = interruption
        self._stop = stop

    def expect(self, count: int) -> None:
        self._interruption.ends(self._stop)
        self._progress.expect(count)

    def started(self, key: Key, stage: Stage) -> None:
        self._progress.started(key, stage)

    def finished(self, result: Result) -> None:
        self._progress.finished(result)

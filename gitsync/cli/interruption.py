"""What a signal does to a run: SIGTERM and Ctrl-C let it end in order, with its status written.

A signal is heard wherever the process is, in the middle of a git command that hangs, too. So it breaks off at once what
has not touched anything yet; and a second one breaks off what takes too long to end, which the next run puts right as
it does after a kill. So does a timer, since schedulers kill what has not ended half a minute after SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from loguru import logger

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result, Stage
from gitsync.processes.grace_period import Grace
from gitsync.report.progress import Progress
from gitsync.status.exit_code import INTERRUPTED, NOT_READY

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


ORDERLY_END = 20.0
"""Seconds that a run may take to end in order, its status included."""

BROKEN_END = 4.0
"""Seconds after which the system ends what does not even end when it is broken off, such as a look-up of a name."""


class Interruption:
    """Which signal ended the run, if one did. `grace` begins with it: programs that the run started end in time. Close
    it after the report.
    """

    def __init__(self) -> None:
        self.grace = Grace()
        self.by: signal.Signals | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def ends(self, stop: asyncio.Event) -> None:
        """From now on there is something to end in order: by setting `stop`, in the loop that is running."""
        self._loop, self._stop = asyncio.get_running_loop(), stop

    def close(self) -> None:
        """Stop the timer."""
        signal.setitimer(signal.ITIMER_REAL, 0)

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
            self._break_off(number, f"gitsync: broken off by {signal.Signals(number).name}.")
        self.by = signal.Signals(number)
        self.grace.begin()
        signal.signal(signal.SIGALRM, self._out_of_time)
        signal.setitimer(signal.ITIMER_REAL, ORDERLY_END)
        self._loop.call_soon_threadsafe(self._end)

    def _out_of_time(self, _number: int, _frame: FrameType | None) -> None:
        by = self.by or signal.SIGTERM
        self._break_off(by, f"gitsync: broken off, since it had not ended {ORDERLY_END:g} seconds after {by.name}.")

    @staticmethod
    def _break_off(by: int, message: str) -> NoReturn:
        """Raise what ends the process, and let the system end it where that gets stuck."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, BROKEN_END)
        if by == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(message)

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

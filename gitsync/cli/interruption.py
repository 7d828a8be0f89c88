"""Signal handling of a run: after SIGTERM, SIGHUP or Ctrl-C it shuts down gracefully and writes its status.

Signals are handled wherever the process is, even in a git command that hangs. A run that has not changed anything yet
is aborted at once. A second signal aborts a graceful shutdown that takes too long; the next run recovers from that as
it does after a kill. A timer does the same, since schedulers kill a process half a minute after SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from loguru import logger

from gitsync.cli.ending import Aborted, choose_signal_code
from gitsync.errors import ExitCode
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.progress import ListLimits, Tally, Work
from gitsync.settings.processes.programs import Grace

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


ORDERLY_END = 20.0
"""Seconds that a graceful shutdown may take, including writing the status."""

BROKEN_END = 4.0
"""Seconds after an abort until the system kills the process, if a call such as a DNS lookup still blocks."""


SayUnfinished = Callable[[str, str], bool]
"""Prints a cause, what is unfinished, and an advice; returns False if the log has to say it."""


class Interruption:
    """The signal that ended the run, if any. `grace` begins with the signal, so that programs that the run started end
    in time. Close it after the report.
    """

    def __init__(self) -> None:
        self.grace = Grace()
        self.by: signal.Signals | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._say_unfinished: SayUnfinished | None = None

    def ends(self, stop: asyncio.Event, say_unfinished: SayUnfinished) -> None:
        """From now on, shut down gracefully: set `stop` in the running loop, and print what is unfinished."""
        self._loop, self._stop, self._say_unfinished = asyncio.get_running_loop(), stop, say_unfinished

    def close(self) -> None:
        """Stop the timer."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def exit_code(self, report: Report) -> ExitCode:
        """That of the signal that stopped the run, or else of the report.

        A scheduler that stops a run may start it again, which it would not after a failure.
        """
        return choose_signal_code(self.by) if self.by else report.exit_code

    @contextmanager
    def heard(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Handle signals while the context lasts, for a run in a loop.

        A handler of the loop is not called while the loop is blocked, but it wakes up a loop that is about to sleep,
        which a plain signal handler does not. So both are installed.
        """
        # nohup has SIGHUP ignored: such a run outlives its terminal.
        heard = [
            number for number in _SIGNALS if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
        ]
        for number in heard:
            loop.add_signal_handler(number, _wake_up)
            signal.signal(number, self._hear)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        """Abort with KeyboardInterrupt or SystemExit, the only exceptions that leave an event loop."""
        # Before the walk begins there is nothing to record, and a second signal is meant.
        if self.by is not None or self._loop is None:
            self._break_off(number, f"gitsync: aborted by {signal.Signals(number).name}.")
        self.by = signal.Signals(number)
        self.grace.begin()
        signal.signal(signal.SIGALRM, self._out_of_time)
        signal.setitimer(signal.ITIMER_REAL, ORDERLY_END)
        # The handler runs between any two instructions, where the state of the loop may be half changed.
        self._loop.call_soon_threadsafe(self._end)

    def _out_of_time(self, _number: int, _frame: FrameType | None) -> None:
        by = self.by or signal.SIGTERM
        self._break_off(by, f"gitsync: aborted: still running {ORDERLY_END:g} seconds after {by.name}.")

    @staticmethod
    def _break_off(by: int, message: str) -> NoReturn:
        """Raise the exception that ends the process, and let the system kill it if that blocks."""
        # By default this signal kills the process, also in a call that Python cannot interrupt.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, BROKEN_END)
        if by == signal.SIGINT:
            raise KeyboardInterrupt
        raise Aborted(by, message)

    def _end(self) -> None:
        """Runs in the loop, since the code that a signal interrupts may hold the lock of the log."""
        if self._stop is None or self._say_unfinished is None or self.by is None:
            return
        self._stop.set()
        name, again = ("Ctrl-C", "Press") if self.by is signal.SIGINT else (self.by.name, "Send")
        advice = f"Open requests end and the status is written within {ORDERLY_END:g} s. {again} {name} again to abort."
        if not self._say_unfinished(f"Stopped by {name}", advice):
            logger.warning("Received a signal: finishing open requests and writing status. Send it again to abort.")


def _wake_up() -> None:
    """Do nothing: the signal handler did the work."""


class Begins:
    """Progress that also notes when the walk begins: from then on, a signal shuts the run down gracefully."""

    def __init__(self, progress: Tally, interruption: Interruption, stop: asyncio.Event) -> None:
        self._progress = progress
        self._interruption = interruption
        self._stop = stop

    def watch(self, list_limits: ListLimits) -> None:
        self._progress.watch(list_limits)

    def expect(self, needs: Mapping[Key, Collection[Key]]) -> None:
        self._interruption.ends(self._stop, self._progress.say_unfinished)
        self._progress.expect(needs)

    def started(self, key: Key, work: Work) -> None:
        self._progress.started(key, work)

    def finished(self, result: Result) -> bool:
        return self._progress.finished(result)

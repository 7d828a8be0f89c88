"""Tests in several processes, which are forked after all tests are collected: they are collected once, and what their
modules have loaded is shared.

Each process takes the tests of one file after the other from a queue, so that they share what the file sets up. Files
with one mark `together` are taken as one, for what takes long to set up: servers, a browser, all of the package parsed.
The longest files are first, so that no process is left with one at the end. A process is pytest's own from there on, but that
it sends its reports to the first process instead of printing them.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from mmap import mmap
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any
from warnings import WarningMessage

import pytest

_NUMBER = 4
"""Bytes of a number in the queue and in the shared memory."""
_SECONDS = "parallel/seconds"
"""What pytest's cache keeps: the seconds that the tests of each file took."""


def add_option(parser: pytest.Parser) -> None:
    parser.getgroup("parallel", "several processes").addoption(
        "--processes",
        metavar="NUMBER",
        default=0,
        type=_read_number,
        help="processes that run tests; 'auto' is one more than cores: tests wait for programs, for the disk and for "
        "time to pass",
    )


def _read_number(text: str) -> int:
    return (os.cpu_count() or 1) + 1 if text == "auto" else int(text)


def run_in_processes(session: pytest.Session) -> bool | None:
    """Run the tests of a session in as many processes as `--processes` has; None to leave them to pytest."""
    count = session.config.option.processes
    if count < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    work = _Work(session)
    for _ in range(count):
        if work.fork():
            return True
    work.close_queue()
    try:
        work.relay()
    finally:
        work.end()
    return True


@dataclass(slots=True)
class _Process:
    """A process of tests as the first one sees it."""

    pid: int
    number: int  # of its part of the shared memory
    reports: Connection  # the end that receives them
    is_done: bool = False  # and waited for


@dataclass(slots=True)
class _Work:
    """What the processes share, and the processes."""

    session: pytest.Session
    processes: list[_Process] = field(default_factory=list)
    files: list[list[int]] = field(init=False)  # the numbers of their tests
    running: mmap = field(init=False)  # the number of the test that each process runs
    queue: int = field(init=False)  # a pipe with the numbers of files that no process has taken
    seconds: dict[str, float] = field(default_factory=dict)  # that the tests of each file took, by its path

    def __post_init__(self) -> None:
        self.files = order_files(self.session.items, _read_seconds(self.session.config))
        self.running = mmap(-1, _NUMBER * self.session.config.option.processes)
        self.queue, filled = os.pipe()
        # A pipe holds 64 KB, and a reader of a few bytes gets all of them or none.
        os.write(filled, b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(self.files))))
        os.close(filled)

    def fork(self) -> bool:
        """Start a process; returns True in it, once it has run its tests."""
        number = len(self.processes)
        reader, writer = Pipe(duplex=False)
        _flush(self.session.config)
        pid = os.fork()
        if pid:
            writer.close()
            self.processes.append(_Process(pid, number, reader))
            return False
        for reports in (reader, *(process.reports for process in self.processes)):
            reports.close()
        self.processes.clear()
        _become_worker(self.session.config, number, _Sender(self.session.config, writer))
        self._run_tests(number)
        return True

    def _run_tests(self, number: int) -> None:
        """Run tests until the queue is empty, as `pytest_runtestloop` of pytest does."""
        indices = self._take()
        index = next(indices, None)
        while index is not None:
            following = next(indices, None)
            self.running[number * _NUMBER : (number + 1) * _NUMBER] = index.to_bytes(_NUMBER, "big")
            item = self.session.items[index]
            nextitem = None if following is None else self.session.items[following]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            if self.session.shouldfail:
                raise self.session.Failed(self.session.shouldfail)
            if self.session.shouldstop:
                raise self.session.Interrupted(self.session.shouldstop)
            index = following

    def _take(self) -> Iterator[int]:
        """Take files from the queue, and give the numbers of their tests."""
        while number := os.read(self.queue, _NUMBER):
            yield from self.files[int.from_bytes(number, "big")]

    def close_queue(self) -> None:
        """Have only the processes take from the queue."""
        os.set_blocking(self.queue, False)

    def relay(self) -> None:
        """Report what the processes send, until all have ended. Raises if one broke, or pytest is to stop."""
        session = self.session
        while running := [process for process in self.processes if not process.is_done]:
            ready = wait([process.reports for process in running])
            for process in (process for process in running if process.reports in ready):
                try:
                    _report(session.config, process.reports.recv(), self.seconds)
                except EOFError:
                    self._finish(process)
            if session.shouldfail or session.shouldstop:
                self._empty_queue()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    def _empty_queue(self) -> None:
        while os.read(self.queue, 1 << 16):
            pass

    def _finish(self, process: _Process) -> None:
        """Wait for a process that sends no more. One that did not end as pytest does fails the run."""
        process.is_done = True
        code = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            return
        start = process.number * _NUMBER
        item = self.session.items[int.from_bytes(self.running[start : start + _NUMBER], "big")]
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        self.session.shouldfail = f"a process {how}; its last test was {item.nodeid}"

    def end(self) -> None:
        """Stop the processes that still run, and wait for them."""
        for process in self.processes:
            process.reports.close()
            if not process.is_done:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)
                os.waitpid(process.pid, 0)
        os.close(self.queue)
        _keep_seconds(self.session.config, self.seconds)


def _read_seconds(config: pytest.Config) -> dict[str, float]:
    """Read how long each file took in earlier runs; empty without pytest's cache."""
    cache = getattr(config, "cache", None)
    return dict(cache.get(_SECONDS, {})) if cache else {}


def _keep_seconds(config: pytest.Config, seconds: Mapping[str, float]) -> None:
    """Keep how long each file took. The longest time stays, since a run may have only a part of the tests of a file."""
    if cache := getattr(config, "cache", None):
        known = _read_seconds(config)
        cache.set(_SECONDS, known | {path: max(taken, known.get(path, 0)) for path, taken in seconds.items()})


def order_files(items: Sequence[pytest.Item], known: Mapping[str, float]) -> list[list[int]]:
    """Order files by the seconds that they took, and give the numbers of their tests: those that never ran, the largest
    first; then those that took the longest. Files that are together are as one.
    """

    def rank(indices: Sequence[int]) -> tuple[float, int]:
        files = {items[index].location[0]: items[index].path for index in indices}
        return -sum(known.get(file, math.inf) for file in files), -sum(path.stat().st_size for path in files.values())

    taken: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        mark = item.get_closest_marker("together")
        taken.setdefault(mark.args[0] if mark else str(item.path), []).append(index)
    return sorted(taken.values(), key=rank)


def _flush(config: pytest.Config) -> None:
    """Write out what is buffered: a forked process would write it again."""
    config.get_terminal_writer().flush()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.flush()


def _become_worker(config: pytest.Config, number: int, sender: _Sender) -> None:
    """Print nothing, keep no cache, and capture output in files of its own."""
    config.workerinput = {"workerid": f"process{number}"}  # type: ignore[attr-defined] # by it, plugins know a worker
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(sender)
    if capture := config.pluginmanager.getplugin("capturemanager"):
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()


class _Sender:
    """Sends the reports of each test when it has ended."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._connection.send((self._reports, {"nodeid": nodeid, "location": location}))
        self._reports = []

    def pytest_warning_recorded(self, warning_message: WarningMessage, when: str, nodeid: str, location: Any) -> None:
        found = warning_message
        plain = WarningMessage(str(found.message), found.category, found.filename, found.lineno)  # can be sent
        sent = {"warning_message": plain, "when": when, "nodeid": nodeid, "location": location}
        self._connection.send((None, sent))


def _report(
    config: pytest.Config,
    sent: tuple[Sequence[dict[str, Any]] | None, dict[str, Any]],
    seconds: dict[str, float],
) -> None:
    """Report a test that has ended, and add its seconds to those of its file; or a warning, which has no reports."""
    reports, arguments = sent
    if reports is None:
        config.hook.pytest_warning_recorded.call_historic(kwargs=arguments)
        return
    for data in reports:
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        config.hook.pytest_runtest_logreport(report=report)
        if not isinstance(report, pytest.SubtestReport):  # whose time is in that of its test
            path = report.location[0]
            seconds[path] = seconds.get(path, 0) + report.duration
    config.hook.pytest_runtest_logfinish(**arguments)

"""The command as people start it, in this process or in one of its own, and an Azure of the test's for it to speak to."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from aiohttp import web

from gitsync.cli.main import run
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.providers.arm.client import is_check
from tests.support.warm_process import WarmProcess

T = TypeVar("T")
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
LONG = 60
"""Seconds after which a command that hangs is given up: far more than any takes."""

_OURS = (
    "GITSYNC_",
    "AZURE_",
    "ACTIONS_ID_TOKEN_",
    "GIT_",
    "NO_COLOR",
    "PYTHON",
    "SSL_CERT_",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
)
_READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_")
"""How variables begin that only an interpreter that starts with them goes by."""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def variables(**more: str) -> dict[str, str]:
    """The environment of a command: no settings of this machine, and those of the test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GITSYNC_LOG_LEVEL": "warning", **more}


def start(
    *arguments: str, folder: Path, out: Any = subprocess.PIPE, **more: str
) -> subprocess.Popen[str] | WarmProcess:
    """Start `gitsync ARGUMENTS` in a folder, with its stdout as in `out`. `more` are variables.

    What a command that is killed leaves among temporary files is beside the folder.
    """
    environment = _make_environment(folder, more)
    if not _needs_interpreter(more):
        return WarmProcess(list(arguments), folder, environment, out)
    return subprocess.Popen(
        [sys.executable, "-m", "gitsync", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
    )


def _make_environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    return variables(**{"TMPDIR": str(folder.parent), **more})


def _needs_interpreter(more: dict[str, str]) -> bool:
    """Return whether variables change what an interpreter starts with, such as another gitsync on its path."""
    others = any(name.startswith(_READ_AT_START) for name in more if name != "PYTHONPATH")
    path = filter(None, more.get("PYTHONPATH", "").split(os.pathsep))
    return others or any((Path(top) / "gitsync").exists() for top in path)


def ended(process: subprocess.Popen[str] | WarmProcess) -> Ended:
    """Wait for the end of a command; one that hangs is killed, and fails the test."""
    with process:
        try:
            out, err = process.communicate(timeout=LONG)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Ended(process.wait(), out, err)


def gitsync(*arguments: str, folder: Path, **more: str) -> Ended:
    """Run `gitsync ARGUMENTS` in a folder to its end."""
    return ended(start(*arguments, folder=folder, **more))


def run_here(*arguments: str, folder: Path, **more: str) -> Ended:
    """As `gitsync`, in this process, which takes a third of the CPU of a process that is forked: for tests that are
    about what a command does, and not about its streams, its signals or its end.
    """
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code = run_into(out, err, *arguments, folder=folder, environment=_make_environment(folder, more))
    return Ended(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def run_into(
    out: TextIOWrapper, err: TextIOWrapper, *arguments: str, folder: Path, environment: Mapping[str, str]
) -> int:
    """Run `gitsync ARGUMENTS` in this process, with these streams and variables; the exit code."""
    with _become(folder, environment), redirect_stdout(out), redirect_stderr(err):
        return run(list(arguments))


@contextmanager
def _become(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Have the folder and environment of a command, and forget what it has set."""
    before = dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    temporary, tempfile.tempdir = tempfile.tempdir, environment.get("TMPDIR")
    os.environ.clear()
    os.environ.update(environment)
    try:
        with chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = temporary
        for number, handler in handlers.items():
            signal.signal(number, handler)


@dataclass
class Moment:
    """A request on its way."""

    number: int  # from 1
    method: str
    path: str
    done: bool  # the answer was sent


@dataclass
class Azure:
    """An emulator whose requests are watched."""

    emulator: Emulator = field(init=False)
    watch: Callable[[Moment], bool] = lambda _: False
    """Gets every request twice, and answers whether the connection breaks."""

    count: int = 0
    broken: list[BaseException] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.emulator.url

    @property
    def variables(self) -> dict[str, str]:
        """What leads a command here."""
        return {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": self.url,
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_CREDENTIAL": "anonymous",
        }

    def sent(self, *methods: str) -> list[tuple[str, str, int]]:
        """Method, path and status of every request that came through, or of those methods; then without checks."""
        found = [r for r in self.emulator.requests if not methods or (r.method in methods and not is_check(r.path))]
        return [(r.method, r.path, r.status) for r in found]

    def breaks(self, moment: Moment, request: web.BaseRequest) -> bool:
        try:
            breaks = self.watch(moment)
        except BaseException as error:
            self.broken.append(error)
            raise
        if breaks and request.transport is not None:
            request.transport.abort()
        return breaks


class _WatchedEmulator(Emulator):
    """Shows each request to an `Azure` when it comes, and before its answer goes."""

    def __init__(self, watcher: Azure, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._watcher = watcher

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self._watcher.count += 1
        moment = Moment(self._watcher.count, request.method, request.path, done=False)
        if self._watcher.breaks(moment, request):
            return web.Response()
        answer = await super().handle(request)
        moment.done = True
        return web.Response() if self._watcher.breaks(moment, request) else answer


@contextmanager
def azure(store: MemoryStore | None = None, clock: Any = None, **settings: Any) -> Iterator[Azure]:
    """Serve an emulator from a thread of its own. `settings` are the emulator's."""
    served = Azure()
    served.emulator = _WatchedEmulator(served, EmulatorSettings(limits=None, **settings), store, clock)
    with in_background(served.emulator):
        yield served
        assert served.broken == []


@contextmanager
def in_background(manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Hold an asynchronous context open in a thread of its own, as long as a test speaks to it over a socket."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(LONG)

    try:
        opened = wait(manager.__aenter__())
        try:
            yield opened
        finally:
            wait(manager.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(_end_tasks())
        loop.close()


STEPS_OF_CLOSE = 5
"""Turns of a loop from the end of a task until its connection has closed its socket, and some more."""


async def _end_tasks() -> None:
    """End what the loop still has, such as a connection that came as its server closed, so that no socket stays open."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(STEPS_OF_CLOSE):
        await asyncio.sleep(0)

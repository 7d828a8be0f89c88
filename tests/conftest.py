from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from io import StringIO
from typing import Any

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.gvk import GVK
from gitsync.settings.config.hosts import OTHERS, Host
from tests.support.hypothesis_profile import load_profile
from tests.support.kept_metadata import keep_metadata
from tests.support.memory_folder import find_memory_folder, make_own_folder
from tests.support.parallel import add_option, run_in_processes
from tests.support.tables import collect_tables

# Without bytecode, each worker compiles each test and rewrites its asserts again, which takes it 12 seconds of CPU, and
# each command that a test starts takes half a second more. What is imported from here on is kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests write tens of thousands of small files, and gitsync waits for the disk with each one that must not be lost.
if folder := find_memory_folder():
    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder  # what a test that failed has left stays after the run
    os.environ["TMPDIR"] = tempfile.tempdir = make_own_folder(folder)

# Tests say themselves in which pipeline a command runs: the log of one has another form.
for name in (*Host, *OTHERS):
    os.environ.pop(name, None)


# A bundle of certificates of this machine is read by each run of the process, which takes it 20 ms.
os.environ.pop("REQUESTS_CA_BUNDLE", None)

# loguru reads 36 of these paths, 3 ms of CPU, each time that logs begin: with each command.
sysconfig.get_path = cache(sysconfig.get_path)
keep_metadata()


# Under nohup, the commands that tests start would ignore a hangup too, and tests would wait for ends that never come.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    load_profile(config.option.processes)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    options = session.config.option
    if (
        options.processes > 1
        and not options.collectonly
        and (commands := sys.modules.get("tests.support.warm_process"))
    ):
        commands.find_door()  # one for all processes: each would import gitsync again
    return run_in_processes(session)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    found = yield
    return collect_tables(collector, found) if isinstance(found, list) else found


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: all of it is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage as seldom as commands do, and never among what was collected: half a million objects.

    Not even once, which takes half a second: a quarter of them is garbage, of 30 MB.
    """
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


@pytest.fixture(scope="session")
def catalog():
    return open_catalog()


@pytest.fixture(scope="session")
def catalog_kind(catalog):
    """A kind with enumerations: a storage account."""
    return catalog.kind(GVK("storage.azure.com", "v20230101", "StorageAccount"))


@pytest.fixture(scope="session")
def browser() -> Iterator[str]:
    """The address of a Chromium, which half a second of CPU starts: for files with the mark `together("browser")`."""
    from tests.report.browser import started

    with started() as address:
        yield address


@pytest.fixture
def logged() -> Iterator[StringIO]:
    """What libraries log, from the lowest level on: `caplog` costs every test a little, and is off."""
    text, root = StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(text), root.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    root.setLevel(1)
    yield text
    root.setLevel(level)
    root.removeHandler(handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that were skipped by their reasons: recordings and programs that are not here."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in sorted(Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped).items()):
        terminalreporter.write_line(f"{count} skipped: {reason}")

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator

import pytest

from gitsync.catalog.catalog import open_catalog
from gitsync.model.gvk import GVK
from tests.support import worker_reports
from tests.support.helm_at_hand import REASON as NO_HELM
from tests.support.hypothesis_profile import load_profile
from tests.support.kustomize_at_hand import REASON as NO_KUSTOMIZE
from tests.support.language_server_at_hand import REASON as NO_LANGUAGE_SERVER
from tests.support.memory_folder import find_memory_folder
from tests.support.recordings import REASON
from tests.support.shells import REASON as NO_SHELL

# Without bytecode, each worker compiles each test and rewrites its asserts again, which takes it 12 seconds of CPU, and
# each command that a test starts takes half a second more. What is imported from here on is kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests write tens of thousands of small files, and gitsync waits for the disk with each one that must not be lost.
if folder := find_memory_folder():
    os.environ["TMPDIR"] = tempfile.tempdir = folder

load_profile()


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        config.pluginmanager.register(worker_reports)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: tests wait for programs, for the disk, and for time to pass."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without collecting garbage: what is made stays to the end, and is not looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(200_000)  # four times as seldom as the command
        gc.enable()


LONG = {"test_bench.py", "test_bounded_runs.py", "test_pre_commit.py", "test_pull_request.py"}
"""Files with a test that takes 5 to 18 seconds: as the last of all, it would leave the other workers idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(scope="session")
def catalog():
    return open_catalog()


@pytest.fixture(scope="session")
def catalog_kind(catalog):
    """A kind with enumerations: a storage account."""
    return catalog.kind(GVK("storage.azure.com", "v20230101", "StorageAccount"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that had no recordings, helm, kustomize, shell or language server."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, need in (
        (REASON, "recordings that are not beside this checkout"),
        (NO_HELM, "helm on the search path"),
        (NO_SHELL, "bash, zsh or fish on the search path"),
        (NO_KUSTOMIZE, "kustomize on the search path"),
        (NO_LANGUAGE_SERVER, "yaml-language-server on the search path"),
        ("actionlint is not installed", "actionlint on the search path"),
        ("shellcheck is not installed", "shellcheck on the search path"),
        ("gh is not installed", "gh on the search path"),
    ):
        count = sum(reason in str(report.longrepr) for report in skipped)
        if count:
            terminalreporter.write_line(f"{count} tests need {need}")

"""What a worker tells of each test: only the reports that are shown, since messages cost more than most tests do."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

SHORTEST = 0.005
"""Seconds from which on `--durations` shows a setup or a teardown."""


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and log the reports that are shown."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if is_shown(report):
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def is_shown(report: pytest.TestReport) -> bool:
    return report.when == "call" or not report.passed or report.duration >= SHORTEST

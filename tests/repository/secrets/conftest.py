"""What several tests of stores need."""

import resource
import signal
from contextlib import contextmanager

import pytest


@pytest.fixture
def full_disk():
    """A context in which no file grows beyond a few bytes: what a full disk does, for root too. It ends before pytest
    reports the test: its output may be a file.
    """

    @contextmanager
    def fill():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)

    return fill

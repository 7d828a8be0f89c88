"""What several tests of places stand in."""

import resource
import signal

import pytest


@pytest.fixture
def full_disk():
    """No file grows beyond a few bytes: what a full disk does, for root too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)

"""Runs of many workers, which the files of this folder look at, in one process: a worker starts 25 programs."""

import pytest

from gitsync.model.report import Report
from tests.agent.run.gathering.rig import Rig


@pytest.fixture(scope="session")
def new(tmp_path_factory) -> Rig:
    """A repository without a status, and an Azure without resources."""
    return Rig(tmp_path_factory.mktemp("new"))


@pytest.fixture(scope="session")
def alone(new, tmp_path_factory) -> tuple[Rig, Report]:
    """One worker has synced all: what is there now, and its report."""
    rig = new.copy(tmp_path_factory.mktemp("alone"))
    (report,) = rig.sync()
    return rig, report


@pytest.fixture(scope="session")
def synced(new, tmp_path_factory) -> Rig:
    """Both workers of a run have run at once."""
    rig = new.copy(tmp_path_factory.mktemp("synced"))
    rig.sync(1, 2, of=2)
    return rig


@pytest.fixture(scope="session")
def gathered(synced, tmp_path_factory) -> tuple[Rig, Report]:
    """These are gathered: what is there now, and the report."""
    rig = synced.copy(tmp_path_factory.mktemp("gathered"))
    return rig, rig.gather(heartbeat=True)


@pytest.fixture
def ended(synced, tmp_path) -> Rig:
    """A copy of `synced`."""
    return synced.copy(tmp_path)

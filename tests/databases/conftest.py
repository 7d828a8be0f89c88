"""One server of each service for all tests of this folder that a process runs: each starts in about a second."""

from collections.abc import Iterator

import pytest

from tests.support.database_servers import Server, find_mariadb, find_postgresql, run_mariadb, run_postgresql


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    if find_postgresql() is None:
        pytest.skip("postgresql is not installed")
    with run_postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    if find_mariadb() is None:
        pytest.skip("mariadb-server is not installed")
    with run_mariadb() as server:
        yield server

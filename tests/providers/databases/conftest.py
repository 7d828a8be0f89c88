"""One server of each service for all tests of this folder, which one process runs: to start both takes a second."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gitsync.model.provider import Provider
from tests.providers.databases.rig import Rig, make_rig
from tests.support.database_servers import (
    Server,
    create_owned_roles,
    find_mariadb,
    find_postgresql,
    run_mariadb,
    run_postgresql,
)

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.together("databases"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    if find_postgresql() is None:
        pytest.skip("postgresql is not installed")
    with run_postgresql() as server:
        create_owned_roles(server, "app", "other", "a,b", 'quo"ted')
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    if find_mariadb() is None:
        pytest.skip("mariadb-server is not installed")
    with run_mariadb() as server:
        yield server


@pytest.fixture
def postgres(postgresql) -> Rig:
    return make_rig(Provider.POSTGRESQL, postgresql)


@pytest.fixture
def mysql(mariadb) -> Rig:
    return make_rig(Provider.MYSQL, mariadb)


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request) -> Server:
    return request.getfixturevalue(request.param)


@pytest.fixture
def rig(request, server) -> Rig:
    """Users of both services, one after the other."""
    service = Provider.POSTGRESQL if "postgresql" in request.node.callspec.id else Provider.MYSQL
    return make_rig(service, server)

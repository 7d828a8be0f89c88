"""Where a password or a token may go: to the domain of the cloud's database service and to no other."""

import pytest

from gitsync.errors import ConfigError, ProviderError
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.model.provider import Provider
from gitsync.providers.arm.cloud import Cloud, make_cloud
from gitsync.providers.databases.address import ServerAddress, choose_token_scope, parse_servers, read_address

PUBLIC, GOVERNMENT, CHINA = (make_cloud(f"https://management.{domain}") for domain in ("azure.com", "usgovcloudapi.net", "chinacloudapi.cn"))  # fmt: skip
PRIVATE = Cloud(endpoint="https://arm.example", audience="a", authority="https://b")


def find(host, service=Provider.POSTGRESQL, cloud=PUBLIC, **properties):
    return read_address(ArmId("/owner"), Live(body={"properties": {"fullyQualifiedDomainName": host, **properties}}), service, cloud)  # fmt: skip


@pytest.mark.parametrize(
    ("host", "service", "cloud", "port"),
    [
        ("x.postgres.database.azure.com", Provider.POSTGRESQL, PUBLIC, 5432),
        ("X.Postgres.Database.Azure.COM.", Provider.POSTGRESQL, PUBLIC, 5432),
        ("x.mysql.database.azure.com", Provider.MYSQL, PUBLIC, 3306),
        ("x.private.postgres.database.azure.com", Provider.POSTGRESQL, PUBLIC, 5432),
        ("x.privatelink.mysql.database.azure.com", Provider.MYSQL, PUBLIC, 3306),
        ("x.postgres.database.usgovcloudapi.net", Provider.POSTGRESQL, GOVERNMENT, 5432),
        ("x.mysql.database.chinacloudapi.cn", Provider.MYSQL, CHINA, 3306),
    ],
)
def test_a_server_has_the_address_that_azure_returns(host, service, cloud, port):
    assert find(host, service, cloud) == ServerAddress(host.lower().rstrip("."), port)


@pytest.mark.parametrize(
    ("host", "service", "cloud"),
    [
        ("evil.example", Provider.POSTGRESQL, PUBLIC),
        ("postgres.database.azure.com.evil.example", Provider.POSTGRESQL, PUBLIC),
        ("xpostgres.database.azure.com", Provider.POSTGRESQL, PUBLIC),
        ("x.mysql.database.azure.com", Provider.POSTGRESQL, PUBLIC),
        ("x.postgres.database.azure.com", Provider.POSTGRESQL, GOVERNMENT),
        ("evil.example/x.postgres.database.azure.com", Provider.POSTGRESQL, PUBLIC),
        ("evil.example,x.postgres.database.azure.com", Provider.POSTGRESQL, PUBLIC),
        ("a@x.postgres.database.azure.com", Provider.POSTGRESQL, PUBLIC),
        ("x.postgres.database.azure.com", Provider.POSTGRESQL, PRIVATE),
    ],
)
def test_a_password_goes_to_no_other_host(host, service, cloud):
    with pytest.raises(ProviderError) as failure:
        find(host, service, cloud)
    assert failure.value.code == "UnexpectedDatabaseHost"


@pytest.mark.parametrize(
    "properties",
    [{}, {"fullyQualifiedDomainName": None}, {"fullyQualifiedDomainName": "x.postgres.database.azure.com", "state": "Stopped"}],
)  # fmt: skip
def test_a_server_that_is_not_ready_is_waited_for(properties):
    for body in ({"properties": properties}, {}):
        with pytest.raises(ProviderError) as failure:
            read_address(ArmId("/owner"), Live(body=body), Provider.POSTGRESQL, PUBLIC)
        assert failure.value.code == "WaitingForOwner"


def test_a_ready_server_is_used():
    assert find("x.postgres.database.azure.com", state="Ready")


def test_a_token_is_requested_by_known_clouds_only():
    assert choose_token_scope(PUBLIC) == "https://ossrdbms-aad.database.windows.net/.default"
    with pytest.raises(ProviderError):
        choose_token_scope(PRIVATE)


def test_servers_of_tests_are_on_this_machine():
    servers = parse_servers(["postgresql=localhost:5433", "mysql=[::1]:3307"])
    assert servers == {
        Provider.POSTGRESQL: ServerAddress("localhost", 5433),
        Provider.MYSQL: ServerAddress("::1", 3307),
    }


@pytest.mark.parametrize(
    "entry",
    ["postgresql=10.0.0.1:5432", "mysql=db.example:3306", "mysql", "mysql=localhost", "mysql=localhost:0", "mysql=localhost:70000", "sql=localhost:1", "mysql=localhost:1/x", ""],
)  # fmt: skip
def test_another_entry_is_refused(entry):
    with pytest.raises(ConfigError):
        parse_servers([entry])

"""Where the server of a user is: its name as Azure gives it, and whether a password or a token may go there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from gitsync.errors import ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.model.provider import Provider
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.databases.database_failures import SERVICE_NAMES, DatabaseError

PORTS: Final[Mapping[Provider, int]] = {Provider.POSTGRESQL: 5432, Provider.MYSQL: 3306}
_LABELS: Final[Mapping[Provider, str]] = {Provider.POSTGRESQL: "postgres", Provider.MYSQL: "mysql"}
_DOMAINS: Final[Mapping[str, str]] = {
    "management.azure.com": "database.azure.com",
    "management.usgovcloudapi.net": "database.usgovcloudapi.net",
    "management.chinacloudapi.cn": "database.chinacloudapi.cn",
}
"""Endpoint of a cloud → the domain of its database services."""
_TOKEN_HOSTS: Final[Mapping[str, str]] = {
    "management.azure.com": "ossrdbms-aad.database.windows.net",
    "management.usgovcloudapi.net": "ossrdbms-aad.database.usgovcloudapi.net",
    "management.chinacloudapi.cn": "ossrdbms-aad.database.chinacloudapi.cn",
}
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){2,10}")
_USABLE_STATES = frozenset({"", "ready"})
_MOST_PORT = 65535
_SETTING = "--database-servers"


class ServerAddress(NamedTuple):
    host: str
    port: int


def read_address(owner_id: ArmId, server: Live, service: Provider, cloud: Cloud) -> ServerAddress:
    """Read the address of a server from its live state.

    Raises DatabaseError if the server has no name yet or is not ready (code WaitingForOwner), or if the name is not in
    the domain of the cloud's database service (code UnexpectedDatabaseHost).
    """
    properties = server.body.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    host, state = _read_text(properties, "fullyQualifiedDomainName").rstrip("."), _read_text(properties, "state")
    if state not in _USABLE_STATES or not host:
        what = f"is in state {properties['state']}" if state not in _USABLE_STATES else "has no name in DNS yet"
        raise DatabaseError(
            f"The server {owner_id} {what}.",
            code="WaitingForOwner",
            hint="Start the server, or wait until it is ready in Azure.",
        )
    domain = _DOMAINS.get(_find_endpoint_host(cloud))
    # The names of private access and of private endpoints are below the same domain:
    # `x.private.postgres.…`, `x.privatelink.postgres.…`.
    suffix = f".{_LABELS[service]}.{domain}"
    if domain is None or not host.endswith(suffix) or not _HOST.fullmatch(host):
        expected = f"the domain of the service is {suffix}" if domain else "gitsync supports no database service"
        raise DatabaseError(
            f"Azure reports the address {host[:255]!r} for {owner_id}. In the cloud {cloud.endpoint}, {expected}.",
            code="UnexpectedDatabaseHost",
            hint="No password was sent. Check the server in Azure.",
        )
    return ServerAddress(host, PORTS[service])


def choose_token_scope(cloud: Cloud) -> str:
    """Return the scope of tokens for databases. Raises DatabaseError (code UnexpectedDatabaseHost) for a cloud that has
    none.
    """
    host = _TOKEN_HOSTS.get(_find_endpoint_host(cloud))
    if host is None and cloud.is_loopback:  # a test server takes tokens of the public cloud
        host = _TOKEN_HOSTS["management.azure.com"]
    if host is None:
        raise DatabaseError(
            f"gitsync does not support tokens for databases in the cloud {cloud.endpoint}.",
            code="UnexpectedDatabaseHost",
            hint="Use `localUser` with `serverAdminPassword`.",
        )
    return f"https://{host}/.default"


def parse_servers(entries: Iterable[str]) -> Mapping[Provider, ServerAddress]:
    """Read the servers on this machine that replace Azure's servers: `postgresql=localhost:5433`.

    Raises ConfigError for an entry that has another form, or names another machine.
    """
    return dict(_parse_server(entry) for entry in entries)


def _parse_server(entry: str) -> tuple[Provider, ServerAddress]:
    name, _, text = entry.partition("=")
    service = next((service for service in SERVICE_NAMES if service.value == name.strip()), None)
    host, _, port = text.strip().rpartition(":")
    # An IPv6 address has colons of its own, and so is in brackets.
    host = host.removeprefix("[").removesuffix("]")
    if service is None or not host or not port.isdecimal() or not 0 < int(port) <= _MOST_PORT:
        raise ConfigError(
            f"{entry!r} of {_SETTING} is not SERVICE=HOST:PORT.",
            hint="Write SERVICE=HOST:PORT, such as postgresql=localhost:5433,mysql=localhost:3307.",
        )
    if not _is_loopback(host):
        raise ConfigError(
            f"{entry!r} of {_SETTING} is on another machine.",
            hint="Use localhost, 127.0.0.1 or ::1. Servers in Azure need no setting: their owners have the addresses.",
        )
    return service, ServerAddress(host, int(port))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _find_endpoint_host(cloud: Cloud) -> str:
    return cloud.origin[1]


def _read_text(properties: Mapping[str, Any], name: str) -> str:
    value = properties.get(name)
    return value.strip().lower() if isinstance(value, str) else ""

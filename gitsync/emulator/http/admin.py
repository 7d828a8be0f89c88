"""The emulator's own paths, below /_emulator: its requests and its resources, for other processes.

For callers on this machine only. Bodies of requests and secrets are not shown.
"""

from __future__ import annotations

import ipaddress

from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.request_log import RequestLog
from gitsync.emulator.http.target import parse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.answered_body import build_body

PREFIX = "/_emulator/"


def answer(cloud: EmulatedCloud, requests: RequestLog, method: str, path: str, remote: str) -> ServerResponse:
    """GET or DELETE of /_emulator/requests, GET of /_emulator/resources."""
    if not _is_loopback(remote):
        raise refuse("NotFound", path=path)
    match method, path.removeprefix(PREFIX):
        case "GET", "requests":
            return ServerResponse(
                200, {"counts": requests.counts(), "requests": [entry.summary() for entry in requests]}
            )
        case "DELETE", "requests":
            requests.clear()
            return ServerResponse(204)
        case "GET", "resources":
            return ServerResponse(
                200, {"value": [build_body(cloud, parse(entry.id), entry) for _, entry in cloud.store.below("/")]}
            )
        case _:
            raise refuse("NotFound", path=path)


def _is_loopback(remote: str) -> bool:
    try:
        return ipaddress.ip_address(remote).is_loopback
    except ValueError:
        return False

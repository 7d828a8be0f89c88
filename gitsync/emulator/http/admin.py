"""The emulator's own paths, below /_emulator: what was asked of it and what it holds, for other processes to see.

For callers on this machine only. Bodies of requests and secrets are not shown.
"""

from __future__ import annotations

import ipaddress

from gitsync.emulator.http.answers import Answer, refuse
from gitsync.emulator.http.request_log import Requests
from gitsync.emulator.http.target import parse
from gitsync.emulator.state.cloud import Cloud
from gitsync.emulator.types.answered_body import shown

PREFIX = "/_emulator/"


def answer(cloud: Cloud, requests: Requests, method: str, path: str, remote: str) -> Answer:
    """GET or DELETE of /_emulator/requests, GET of /_emulator/resources."""
    if not _is_near(remote):
        raise refuse("NotFound", path=path)
    match method, path.removeprefix(PREFIX):
        case "GET", "requests":
            return Answer(200, {"counts": requests.counts(), "requests": [one.summary() for one in requests]})
        case "DELETE", "requests":
            requests.clear()
            return Answer(204)
        case "GET", "resources":
            return Answer(200, {"value": [shown(cloud, parse(one.id), one) for _, one in cloud.store.below("/")]})
        case _:
            raise refuse("NotFound", path=path)


def _is_near(remote: str) -> bool:
    try:
        return ipaddress.ip_address(remote).is_loopback
    except ValueError:
        return False

"""The requests to the emulator: one entry for each, for tests that count them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_MOST = 100_000
"""A server that runs for days keeps the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """`path` has no query; `type` is the ARM type that it names; `body` is what was sent, secrets and all.

    `poll` tells a request for an operation from one for a resource. `status` is 0 if no answer was sent. `client`
    and `tenant` are those that the token was issued for, `actor` is the object that acts.
    """

    method: str
    path: str
    type: str
    status: int
    at: datetime
    poll: bool = False
    actor: str = ""
    client: str = ""
    tenant: str = ""
    request_id: str = ""
    body: Any = None

    def summary(self) -> dict[str, Any]:
        """The entry as JSON, without the body."""
        return {
            "method": self.method,
            "path": self.path,
            "type": self.type,
            "status": self.status,
            "at": self.at.isoformat(),
            "poll": self.poll,
            "actor": self.actor,
            "client": self.client,
            "tenant": self.tenant,
        }


class RequestLog(list[LoggedRequest]):
    """The log, in order of arrival of the answers."""

    def add(self, request: LoggedRequest) -> None:
        self.append(request)
        if len(self) > _MOST:
            del self[: _MOST // 10]

    def counts(self) -> dict[str, int]:
        """How many by method; requests for operations count as POLL."""
        counter = Counter("POLL" if request.poll else request.method for request in self)
        return dict(sorted(counter.items()))

    def writes(self) -> list[LoggedRequest]:
        """Everything that changes something."""
        return [request for request in self if request.method in {"PUT", "PATCH", "DELETE", "POST"}]

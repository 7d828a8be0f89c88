"""The request limits of Azure Resource Manager (docs/reference/arm.md#request-limits)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class RequestKind(StrEnum):
    """The kind that a request counts as. An action (POST) counts as a write."""

    READS = "reads"
    WRITES = "writes"
    DELETES = "deletes"


Bucket = tuple[str, RequestKind]
"""The subject of one limit: a subscription, in lower case ("" for the tenant), and a kind of request."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket: its size in requests, and how many are added each second."""

    burst: float
    per_second: float

    def take_share(self, share: float) -> Limit:
        return Limit(self.burst * share, self.per_second * share)


ARM_LIMITS: Mapping[RequestKind, Limit] = {
    RequestKind.READS: Limit(250, 25),
    RequestKind.WRITES: Limit(200, 10),
    RequestKind.DELETES: Limit(200, 10),
}
"""ARM's limits per principal and subscription, also for a tenant (Microsoft's request-limits-and-throttling)."""

_JOBS = re.compile(r"could not be processed due to an excessive volume of traffic", re.IGNORECASE)


def describes_busy_jobs(message: str) -> bool:
    """Return whether a message of ARM means that its background jobs are throttled: nothing was begun. Microsoft
    documents the text, and neither a code nor a status (request-limits-and-throttling, background job throttling).
    """
    return bool(_JOBS.search(message))

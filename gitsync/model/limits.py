"""How many requests Azure Resource Manager takes (docs/reference/arm.md#request-limits)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class RequestKind(StrEnum):
    """What a request counts as; an action (POST) is a write."""

    READS = "reads"
    WRITES = "writes"
    DELETES = "deletes"


Bucket = tuple[str, RequestKind]
"""What has a limit of its own: a subscription, in lower case ("" for the tenant), and a kind of request."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket: how many requests at once, and how many more each second."""

    burst: float
    per_second: float

    def take_share(self, share: float) -> Limit:
        return Limit(self.burst * share, self.per_second * share)


ARM_LIMITS: Mapping[RequestKind, Limit] = {
    RequestKind.READS: Limit(250, 25),
    RequestKind.WRITES: Limit(200, 10),
    RequestKind.DELETES: Limit(200, 10),
}
"""ARM's, per principal and subscription, and the same for a tenant (Microsoft's request-limits-and-throttling)."""

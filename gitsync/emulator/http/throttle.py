"""ARM's throttling: a token bucket for each principal, subscription and kind of request.

Buckets are in memory: a process that restarts has full ones, as a client that waited a while does.
"""

from __future__ import annotations

import math

from gitsync.emulator.http.answers import refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.settings import Bucket, Limits

_KINDS = {"GET": "reads", "HEAD": "reads", "DELETE": "deletes"}


class EmulatedThrottle:
    """The state of every bucket. Times are monotonic seconds."""

    def __init__(self, limits: Limits | None) -> None:
        self._limits = limits
        self._buckets: dict[tuple[str, str, str], tuple[float, float]] = {}

    def take(self, call: ServerRequest, now: float) -> dict[str, str]:
        """Take one request out of its bucket; returns the headers with the remaining count. Refused if it is empty."""
        if self._limits is None:
            return {}
        kind = _KINDS.get(call.method, "writes")
        bucket: Bucket = getattr(self._limits, kind)
        key = (call.caller.actor, call.target.subscription.casefold(), kind)
        remaining, since = self._buckets.get(key, (float(bucket.size), now))
        remaining = min(float(bucket.size), remaining + (now - since) * bucket.per_second)
        scope = "subscription" if call.target.subscription else "tenant"
        name = f"x-ms-ratelimit-remaining-{scope}-{kind}"
        if remaining < 1:
            self._buckets[key] = (remaining, now)
            seconds = max(1, math.ceil((1 - remaining) / bucket.per_second)) if bucket.per_second else 60
            raise refuse(
                "SubscriptionRequestsThrottled" if call.target.subscription else "TooManyRequests",
                headers={"Retry-After": str(seconds), name: "0"},
                kind=kind.removesuffix("s"),
                subscription=call.target.subscription,
                actor=call.caller.actor,
                seconds=seconds,
            )
        self._buckets[key] = (remaining - 1, now)
        return {name: str(int(remaining - 1))}

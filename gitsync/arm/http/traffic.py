"""What the credentials of one run share: slots, counts, buckets of a principal.

Separate from the client, of which there is one for each credential: Azure limits a principal, whichever Secret names
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gitsync.arm.auth.access import ArmAccess
from gitsync.arm.http.held_time import HeldTime
from gitsync.arm.http.host_state import Host
from gitsync.arm.http.request_tally import RequestTally
from gitsync.arm.http.throttle import Limit, RequestKind, Throttle
from gitsync.model.clock import Clock
from gitsync.model.report import RequestCounts, RequestUse

_Principal = tuple[object, ...]


class Traffic:
    """Made once a run, inside its event loop."""

    def __init__(
        self, clock: Clock, in_flight: int, limits: Mapping[RequestKind, Limit], request_share: float = 1.0
    ) -> None:
        self._slots = asyncio.Semaphore(in_flight)
        self.tally = RequestTally()
        self.held = HeldTime(clock)
        self._clock = clock
        self._limits = limits
        self._request_share = request_share
        self._throttles: dict[_Principal, Throttle] = {}
        self._hosts: dict[str, Host] = {}

    @property
    def requests(self) -> RequestCounts:
        """What the run has sent so far, with all its credentials."""
        return RequestCounts(**self.tally.totals)

    @property
    def use(self) -> RequestUse:
        """What it was for, and what it used up of the limits."""
        shares = [share for throttle in self._throttles.values() for share in throttle.hour_shares()]
        return RequestUse(
            by_type=self.tally.by_type,
            hour_shares={kind.value: max(share for of, share in shares if of is kind) for kind, _ in sorted(shares)},
            throttled_seconds=self.held.seconds,
        )

    def throttle(self, access: ArmAccess) -> Throttle:
        """The buckets of the principal that signs in."""
        principal = _find_principal(access)
        if principal not in self._throttles:
            self._throttles[principal] = Throttle(
                self._clock, self._slots, self._limits, self._request_share, self.held
            )
        return self._throttles[principal]

    def host(self, access: ArmAccess) -> Host:
        """What is known of the endpoint, for every identity."""
        return self._hosts.setdefault(access.cloud.endpoint, Host(self._clock, access.network.patience))


def _find_principal(access: ArmAccess) -> _Principal:
    """A client of a tenant is one principal however it proves itself; without a client, the method is all we know."""
    sign_in = access.sign_in
    identity = (sign_in.tenant.casefold(), sign_in.client.casefold()) if sign_in.client else (sign_in.method,)
    return (access.cloud.origin, *identity)

"""When a request may be sent: Azure's request limits, kept by gitsync so that they are not hit
(docs/reference/arm.md#request-limits); and the counts of a run's requests.

One `Throttle` serves one principal (an `Arm` has one credential). It keeps a token bucket for each subscription and
kind of request, sized as ARM's and corrected by the remaining counts in its answers; a 429 holds back all requests of a
bucket, or those to one provider if only the provider is busy. Waiting is first come, first served.

A bucket in Azure may be smaller than documented, or shared with others. So a 429 halves the expected refill, and
answers that show more than expected raise it again: within a few answers the pace is Azure's own.

`PausedTime` and `RequestTally` are figures of the report: how long limits paused the run, and its requests.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from gitsync.desired.formats.arm_path import read_provider
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock
from gitsync.model.limits import ARM_LIMITS, Limit, RequestKind
from gitsync.model.report import LimitUse
from gitsync.model.result import Wait
from gitsync.providers.arm.http.messages import ArmRequest, Response
from gitsync.providers.arm.session import Session

_ANOTHER_OPERATION = "retryableerror"
"""Prefix of 429 codes that mean another operation on the same resource, not a limit: other requests need not wait."""

_COUNT = re.compile(r"[0-9]{1,6}")
"""The remaining count in a header; ARM's largest are some 12,000."""

_ROUNDING = 1e-6
"""Of a token: the error of adding up fractions of seconds. A request that lacks less is sent; one that lacks more waits
for all of it. A wait for a rounding error could be too short for the clock.
"""

_RAISE = 1.05
"""The factor by which a count above the expected one raises the refill: less than a 429 lowers it."""

_RESERVE = 1.0
"""Tokens that stay in a bucket once Azure has refused a request. Azure rounds its count down, so only a count of 1 or
more shows that the pace is not too fast.
"""

_NEAR = 0.1
"""Of a full bucket: with less left, the refill soon sets the pace."""

NO_WORKERS: Final[Mapping[str, int]] = {}
"""For a run that is not divided among workers."""

_FOR_A_SLOT = Wait("waits for answers to other requests")


class Throttle:
    """All buckets of one principal. `share` is how much of each may be used; the rest is left to others. `workers` has
    the number of the run's workers that divide that, by subscription in lower case. `paused` counts the time that
    requests wait here.
    """

    def __init__(
        self,
        clock: Clock,
        slots: asyncio.Semaphore,
        limits: Mapping[RequestKind, Limit] = ARM_LIMITS,
        share: float = 1.0,
        paused: PausedTime | None = None,
        workers: Mapping[str, int] = NO_WORKERS,
    ) -> None:
        self._clock = clock
        self._paused = paused or PausedTime(clock)
        self._share = share
        self._workers = workers
        self._slots = slots
        self._limits = limits
        self._buckets: dict[tuple[str, RequestKind], _Bucket] = {}
        self._provider_pauses: defaultdict[tuple[str, str, RequestKind], _Pause] = defaultdict(_Pause)

    async def admit(self, method: str, path: str, session: Session) -> bool:
        """Wait until a request may be sent and has a slot, which `release` frees. Returns False if that is not before
        the deadline, at once if that is foreseeable.

        The deadline is checked again after every wait: stopping a run brings it forward.
        """
        # A busy provider does not use up the bucket, which other providers share.
        bucket, pause = self._find_bucket(method, path), self._provider_pauses[self._make_provider_key(method, path)]
        # The pause first: a token taken earlier would be missing for requests to other providers.
        while await self._outlast(pause, session) and await bucket.take(session):
            if pause.until <= self._clock.monotonic():
                return True
            bucket.give_back()  # the pause began while this request was in the queue
        return False

    async def _outlast(self, pause: _Pause, session: Session) -> bool:
        while (seconds := pause.until - self._clock.monotonic()) > 0:
            if pause.until > session.deadline:
                return False
            with self._paused.pausing(), session.waiting(Wait("throttled", pause.until)):
                await self._clock.sleep(seconds)
        return True

    def release(self, method: str, path: str) -> None:
        """Note that an admitted request was answered, or has failed."""
        self._find_bucket(method, path).release()

    def learn(self, method: str, path: str, answer: Response) -> None:
        """Update the bucket of a request from the counts in its answer."""
        bucket, (subscription, kind) = self._find_bucket(method, path), _find_key(method, path)
        share = self._compute_share(subscription)
        scope = "subscription" if subscription else "tenant"
        counts = {
            is_ours: answer.headers.get(f"x-ms-ratelimit-remaining-{name}-{kind}", "")
            for name, is_ours in ((scope, True), (f"{scope}-global", False))
        }
        for is_ours, remaining in counts.items():
            if _COUNT.fullmatch(remaining):
                bucket.correct(int(remaining) * share, is_ours=is_ours)
        if not counts[True] and answer.status < 400:
            # An answer without counts shows only that the pace was not too fast.
            bucket.raise_refill()

    def pause(self, method: str, path: str, answer: Response, code: str, seconds: float, sent_at: float) -> None:
        """Pause all requests after a 429 for the time that it specifies; an earlier request would restart the wait."""
        if code.casefold().startswith(_ANOTHER_OPERATION):
            return
        until = self._clock.monotonic() + seconds
        # With this cause the provider is busy, not ARM: requests to other providers may continue.
        if answer.headers.get("x-ms-failure-cause", "").casefold() == "service":
            self._provider_pauses[self._make_provider_key(method, path)].extend(until)
        else:
            self._find_bucket(method, path).pause(until, sent_at)

    def list_hour_shares(self) -> Iterator[tuple[RequestKind, float]]:
        """Yield for each bucket its kind, and the used share of Azure's hourly limit."""
        for (subscription, kind), bucket in self._buckets.items():
            yield kind, bucket.hour_share * self._compute_share(subscription)

    def list_limits(self) -> list[LimitUse]:
        """List how each bucket is used. It changes nothing, so a display may call it from another thread."""
        return [bucket.compute_use() for bucket in tuple(self._buckets.values())]

    def _find_bucket(self, method: str, path: str) -> _Bucket:
        key = _find_key(method, path)
        if key not in self._buckets:
            # Made on first use: most runs use few of the subscriptions and kinds.
            limit = self._limits[key[1]].take_share(self._compute_share(key[0]))
            self._buckets[key] = _Bucket(key[1], self._clock, self._slots, limit, self._paused)
        return self._buckets[key]

    def _compute_share(self, subscription: str) -> float:
        return self._share / self._workers.get(subscription, 1)

    def _make_provider_key(self, method: str, path: str) -> tuple[str, str, RequestKind]:
        subscription, kind = _find_key(method, path)
        return subscription, read_provider(path).casefold(), kind


@lru_cache(maxsize=256)  # it is called four times a request
def _find_key(method: str, path: str) -> tuple[str, RequestKind]:
    """Find the subscription of a request, in lower case, and its kind."""
    return (ArmId(path).subscription or "").casefold(), classify_method(method)


@dataclass(slots=True)
class _Pause:
    until: float = float("-inf")

    def extend(self, until: float) -> None:
        self.until = max(self.until, until)


class _Bucket:
    """Tokens that are refilled with time. Only the head of the queue sleeps, for one token's time or a pause.

    asyncio's lock is the queue: it serves in the order of the calls. A pause is a refill that starts in the future.
    """

    def __init__(
        self, kind: RequestKind, clock: Clock, slots: asyncio.Semaphore, limit: Limit, paused: PausedTime
    ) -> None:
        self._kind = kind
        self._clock = clock
        self._paused = paused
        self._slots = slots
        self._burst = limit.burst
        self._per_second = self._most_per_second = limit.per_second
        self._reserve = 0.0
        self._tokens = limit.burst
        self._filled_at = clock.monotonic()
        self._turn = asyncio.Lock()
        self._refused_at = float("-inf")
        self._waiting = 0
        self._in_flight = 0
        self._taken = 0

    @property
    def hour_share(self) -> float:
        """The taken tokens, as a share of a full bucket and an hour's refill."""
        return self._taken / (self._burst + 3600 * self._per_second)

    def compute_use(self) -> LimitUse:
        """Return how the bucket is used, without refilling it."""
        come_back = max(0.0, self._clock.monotonic() - self._filled_at) * self._per_second
        is_near = self._tokens + come_back < self._burst * _NEAR
        return LimitUse(self._kind.value, self._taken, self._per_second, is_near, self._filled_at)

    async def take(self, session: Session) -> bool:
        """Wait for a token and a slot; False if that would be later than the deadline."""
        # Refused at once: waiting for a turn that comes too late would only lengthen the queue.
        if (seconds := self._wait(ahead=self._waiting)) > session.deadline - self._clock.monotonic():
            return False
        before, self._waiting = session.wait, self._waiting + 1
        try:
            self._note_wait(session, seconds)
            async with self._turn:
                return await self._take_next(session)
        finally:
            self._waiting, session.wait = self._waiting - 1, before

    def _note_wait(self, session: Session, seconds: float) -> None:
        """Note in the session why a request waits, if it does. A request without a wait costs nothing."""
        if seconds > 0:
            now = self._clock.monotonic()
            reason = "throttled" if self._filled_at > now else f"waits for the limit of {self._kind}"
            session.wait = Wait(reason, now + seconds)
        elif self._slots.locked():
            session.wait = _FOR_A_SLOT

    async def _take_next(self, session: Session) -> bool:
        while (seconds := self._wait()) > 0 or not await self._has_slot():
            if seconds > session.deadline - self._clock.monotonic():
                return False
            self._note_wait(session, seconds)
            with self._paused.pausing():
                await self._clock.sleep(seconds)
        # Nothing is awaited between the check of the tokens and this, so no other request takes one.
        self._tokens -= 1
        self._in_flight += 1
        self._taken += 1
        return True

    async def _has_slot(self) -> bool:
        """Wait for a slot; False if the token was gone when it came."""
        # All buckets share the slots, so this may take long, and Azure may refuse a request while this one waits.
        await self._slots.acquire()
        if self._wait() <= 0:
            return True
        self._slots.release()
        return False

    def give_back(self) -> None:
        """Return the token and the slot of a request that is not sent after all."""
        self._tokens += 1
        self._taken -= 1
        self.release()

    def release(self) -> None:
        self._in_flight -= 1
        self._slots.release()

    def _wait(self, ahead: int = 0) -> float:
        """Return seconds until there is a token for a request behind `ahead` others; 0 for at once."""
        now = self._fill()
        missing = ahead + 1 - self._tokens
        return self._filled_at - now + (missing / self._per_second if missing > _ROUNDING else 0.0)

    def _fill(self) -> float:
        """Refill the bucket up to now, and return the time."""
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._filled_at) * self._per_second)
        self._filled_at = max(self._filled_at, now)
        return now

    def correct(self, remaining: float, *, is_ours: bool) -> None:
        """Apply the count in Azure's answer. Others may use the same bucket, so a lower count applies at once.

        A higher count applies only to the bucket of the principal: above its known size, Azure grants a larger one;
        below, more was refilled than expected. All principals share the global bucket; while it is full, it shows
        nothing about this one. The count may not include the requests in flight, so these are subtracted.
        """
        self._fill()
        surely_left = remaining - self._in_flight - self._reserve
        if is_ours and remaining > self._burst:
            self._burst = self._tokens = remaining
        elif is_ours and self._is_slowed and surely_left > self._tokens + 1:  # Azure's count is rounded by up to one
            self._tokens = surely_left
            self.raise_refill()
        # Others may use the same bucket, so a lower count always holds.
        self._tokens = min(self._tokens, surely_left)

    @property
    def _is_slowed(self) -> bool:
        """Whether a 429 has slowed the bucket."""
        # A bucket that is not slowed is as large as its limit, and counts cannot raise it above that.
        return self._per_second < self._most_per_second

    def raise_refill(self) -> None:
        """Expect a higher refill: a count showed one, or there is no count and the next 429 corrects this."""
        self._per_second = min(self._most_per_second, self._per_second * _RAISE)

    def pause(self, until: float, sent_at: float) -> None:
        """No request before `until`, and no burst after it.

        Requests that were in flight when Azure refused the first one show nothing new about the refill.
        """
        # Of many that were in flight together, only the first refusal shows that the pace was too fast.
        if sent_at > self._refused_at:
            self._per_second /= 2
            self._refused_at = self._clock.monotonic()
        # After the pause, a burst would run into the next 429.
        self._tokens = 0.0
        self._reserve = _RESERVE
        self._filled_at = max(self._filled_at, until)


KINDS = {"GET": RequestKind.READS, "HEAD": RequestKind.READS, "DELETE": RequestKind.DELETES}


def classify_method(method: str) -> RequestKind:
    return KINDS.get(method, RequestKind.WRITES)


class PausedTime:
    """The time in which a limit paused at least one request. Waits that overlap count once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._paused = 0
        self._since = 0.0
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        return self._seconds + (self._clock.monotonic() - self._since if self._paused else 0.0)

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Count the time inside this context."""
        if not self._paused:  # the first of those that overlap
            self._since = self._clock.monotonic()
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1
            if not self._paused:
                self._seconds += self._clock.monotonic() - self._since


class RequestAction(StrEnum):
    """The action of a request."""

    LIST = "list"  # one page
    GET = "get"
    PUT = "put"
    PATCH = "patch"
    DELETE = "delete"
    POLL = "poll"
    LIST_KEYS = "listKeys"
    ACTION = "action"
    CHECK = "question"  # a POST that changes nothing


_KINDS: Final = {
    "GET": RequestAction.GET,
    "HEAD": RequestAction.GET,
    "PUT": RequestAction.PUT,
    "PATCH": RequestAction.PATCH,
    "DELETE": RequestAction.DELETE,
}


class RequestTally:
    """The counts so far. `totals` has the counts of the buckets, with polls separate from reads, and the throttled
    ones.
    """

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self._by_type: Counter[tuple[str, RequestAction]] = Counter()

    def count(self, request: ArmRequest) -> None:
        total = "polls" if request.is_poll else "checks" if request.is_check else classify_method(request.method)
        self.totals[total] += 1
        self._by_type[find_type(request), classify_request(request)] += 1

    @property
    def by_type(self) -> dict[str, dict[str, int]]:
        """The counts by type and kind, sorted by name."""
        types = sorted({arm_type for arm_type, _ in self._by_type})
        rows = sorted(self._by_type.items())
        return {name: {kind.value: times for (arm_type, kind), times in rows if arm_type == name} for name in types}


def classify_request(request: ArmRequest) -> RequestAction:
    if request.is_poll:
        return RequestAction.POLL
    if request.is_list:
        return RequestAction.LIST
    if request.is_check:
        return RequestAction.CHECK
    if request.method != "POST":
        return _KINDS[request.method]
    action = request.path.rpartition("/")[2].casefold()
    return RequestAction.LIST_KEYS if action.startswith("list") or action.endswith("keys") else RequestAction.ACTION


def find_type(request: ArmRequest) -> str:
    """Find the ARM type of a request: for an action its resource's type, for a list that of its entries, for a check
    its own name.
    """
    if request.is_list or request.is_check:
        return ArmId(f"{request.resource_id}/").arm_type.rstrip("/")
    arm_id = request.resource_id.rpartition("/")[0] if request.method == "POST" else request.resource_id
    return ArmId(arm_id).arm_type

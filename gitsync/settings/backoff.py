"""When something that failed is tried again: one value, one formula, and one loop, which is tenacity's.

Two loops are their own, for reasons in their docstrings: that of a request to Azure (providers/arm/http/retries.py)
and that of a resource (agent/reconcile/reconcile.py). A poll repeats nothing that failed (`Pace` of
providers/arm/session.py). All wait by this formula.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from gitsync.model.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before each further try, and when to give up. The wait doubles, as that of gRPC does
    (https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md).
    """

    first: float = 1.0  # seconds before the second try
    most: float = 60.0  # seconds before a later one, at most; jitter comes on top
    jitter: float = 0.0
    """The share of a wait by which chance shortens or lengthens it: what failed together is not tried together."""

    tries: int | None = None  # how many in all; None if only time limits them
    seconds: float = math.inf  # time from the first try in which another one may begin

    def compute_wait(self, number: int) -> float:
        """Return the seconds of a wait; the first one has the number 0."""
        # A poll may be repeated for a day: 2.0 ** 1024 is an OverflowError.
        seconds = min(self.most, self.first * 2.0 ** min(number, 32))
        return seconds * (1 + self.jitter * random.uniform(-1, 1)) if self.jitter else seconds  # noqa: S311 - no secret


Choose = Callable[[BaseException], Backoff | None]
"""Returns what a failure is worth, by its kind; None if it is final."""


async def retry(
    work: Callable[[], Awaitable[T]],
    choose: Choose,
    clock: Clock,
    pause: Callable[[float], Awaitable[None]] | None = None,
) -> T:
    """Repeat something until it succeeds, or a failure is final or the last one that its back-off allows: it is raised.

    `pause` replaces the sleep of the clock, and gets its seconds.
    """
    from tenacity import AsyncRetrying  # noqa: PLC0415 - offline commands repeat nothing

    async def once() -> T:  # tenacity awaits nothing but coroutine functions
        return await work()

    return await AsyncRetrying(**_configure(choose, clock), sleep=pause or clock.sleep)(once)


def retry_blocking(work: Callable[[], T], choose: Choose, clock: Clock) -> T:
    """Do the same in a thread that may wait: for git, which is a program."""
    from tenacity import Retrying  # noqa: PLC0415 - as above

    return Retrying(**_configure(choose, clock))(work)


def _configure(choose: Choose, clock: Clock) -> dict[str, Any]:
    """Return the policy of tenacity, which it reads after each failed try."""
    from tenacity import RetryCallState, retry_if_exception  # noqa: PLC0415 - as above

    begun = clock.monotonic()

    def choose_backoff(state: RetryCallState) -> Backoff:
        failure = state.outcome and state.outcome.exception()
        return (choose(failure) if failure else None) or Backoff(tries=0)

    def is_last(state: RetryCallState) -> bool:
        backoff = choose_backoff(state)
        # Each try may last long by itself, so a number does not bound the time.
        is_late = clock.monotonic() - begun + state.upcoming_sleep > backoff.seconds
        return is_late or (backoff.tries is not None and state.attempt_number >= backoff.tries)

    return {
        "retry": retry_if_exception(lambda failure: choose(failure) is not None),
        "wait": lambda state: choose_backoff(state).compute_wait(state.attempt_number - 1),
        "stop": is_last,
        "reraise": True,  # the failure itself, not tenacity's RetryError
    }

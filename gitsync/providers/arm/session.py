"""The Azure requests of one node: their deadline, their number, the failures so far, and the waits between polls.

A `Session` is the one mutable value that the stages share with the client: they set the stage, the client counts and
remembers, and a stage that waits notes the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from gitsync.model.clock import Clock
from gitsync.model.condition import WaitReason
from gitsync.model.record import LastWrite
from gitsync.model.result import FailedRequest, Stage, Wait
from gitsync.settings.backoff import Backoff

THROTTLED = 429
LAST_ANSWER = 5.0
"""Seconds that requests in flight may still take after the session is ended."""

DEADLINE = "DeadlineExceeded"
INTERRUPTED: Final = WaitReason.INTERRUPTED.value
"""Codes of a request that was not answered in time, and of one that was not answered because a person or a scheduler
stopped the run.
"""

OUT_OF_TIME: Final = frozenset({DEADLINE, INTERRUPTED})


@dataclass(slots=True)
class Session:
    """What the requests of one node have in common. Times are in the clock's monotonic seconds."""

    deadline: float  # no request goes on after it
    stage: Stage = Stage.OBSERVE
    failures: list[FailedRequest] = field(default_factory=list)  # every failed attempt, including throttled ones
    requests: int = 0  # the number of those sent, including polls and failed attempts
    is_ended: bool = False  # the run was stopped before the deadline
    wait: Wait | None = None  # what the node currently waits for, for a display; None while it works
    last_write: LastWrite | None = None  # the last one that was done or may have been done
    sent_at: float = 0.0  # when the last request was sent
    written_at: float = 0.0  # when the last write was sent
    has_written: bool = False  # Azure accepted a write
    sent: list[str] = field(default_factory=list)  # the correlation ids of all writes and actions, as in Azure's logs
    change_reference: str = ""  # what the writes are part of, for Azure Policy: a commit, and the page of a job
    _limits: list[asyncio.Timeout] = field(default_factory=list)
    _passed: set[int] = field(default_factory=set)  # indexes of `failures`: attempts that were not failed ones

    @asynccontextmanager
    async def in_time(self, clock: Clock) -> AsyncIterator[None]:
        """Bound everything in the context by the deadline. Raises TimeoutError if it comes first, at once if it has
        passed.
        """
        remaining = self.deadline - clock.monotonic()
        if remaining <= 0:
            raise TimeoutError
        async with asyncio.timeout(remaining) as limit:
            self._limits.append(limit)
            try:
                yield
            finally:
                self._limits.remove(limit)

    @contextmanager
    def waiting(self, wait: Wait) -> Iterator[None]:
        """Note what the node waits for during the context."""
        before, self.wait = self.wait, wait
        try:
            yield
        finally:
            self.wait = before

    def note_write(self, method: str, write: LastWrite, *, is_accepted: bool) -> None:
        """Keep a write that Azure accepted, or that may have been done. Actions do not count: most of them list
        keys.
        """
        self.sent += dict.fromkeys(filter(None, (write.correlation_id, write.returned_id)))
        # Most actions list keys: an action must not hide the last write of the resource.
        if method != "POST":
            self.last_write, self.written_at = write, self.sent_at
            self.has_written |= is_accepted

    def end(self, now: float, patience: float = LAST_ANSWER) -> None:
        """Bring the deadline forward: no request is begun any more, and those in flight have some seconds to end."""
        self.deadline, self.is_ended = now, True
        soon = asyncio.get_running_loop().time() + patience
        for limit in self._limits:
            # A limit that ends sooner stays: a stop must not prolong it.
            if not limit.expired() and (limit.when() or soon) >= soon:
                limit.reschedule(soon)

    def pass_repeated(self, *, is_throttled: bool) -> bool:
        """Note that the last attempt is repeated. Returns whether Azure throttled it, in which case it does not count
        as failed.
        """
        # Marked, not dropped: the last error before a deadline may be that Azure throttled.
        if is_throttled:
            self._passed.add(len(self.failures) - 1)
        return is_throttled

    def pass_demand(self, index: int) -> None:
        """Note that an attempt is repeated with the policy token that Azure demanded, so it does not count as failed.
        `index` is that of `failures`.
        """
        self._passed.add(index)

    def list_failures(self) -> tuple[FailedRequest, ...]:
        """List the failed attempts except those that were throttled, or refused for the lack of a policy token, and
        repeated.
        """
        if not self.failures:
            return ()  # the usual case
        return tuple(attempt for index, attempt in enumerate(self.failures) if index not in self._passed)

    @property
    def end_reason(self) -> str:
        """The reason for the end, for the message about what was not done."""
        return "The run was stopped" if self.is_ended else "Deadline exceeded"

    @property
    def end_code(self) -> str:
        """The same reason as an error code."""
        return INTERRUPTED if self.is_ended else DEADLINE

    def last_error(self, stage: Stage | None = None) -> str:
        """Return the last error (of one stage), as a sentence for the message of a deadline; "" without one."""
        stages = {stage} if stage else set(Stage)
        tries = (attempt for attempt in reversed(self.failures) if attempt.stage in stages)
        # A deadline is not the cause of another one, so the last answer is shown.
        cause = next((attempt for attempt in tries if attempt.code not in OUT_OF_TIME), None)
        if cause is None:
            return ""
        prefix = f"{cause.status} {cause.code}: " if cause.status else ""
        return f"Last error: {prefix}{cause.message}"


_AZURE_WORKS = Wait("Azure works")

LAST_LOOK = 1.0
"""Seconds before the deadline that are reserved for a last poll."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The interval of a run, with its clock. A poll is not a retry: it repeats what succeeded, until the answer is
    another or the time of the session is up. So its loops are where the answers are read.
    """

    clock: Clock
    poll_interval: Backoff

    async def pause(self, requested: float | None, polls: int, session: Session) -> bool:
        """Wait the seconds that Azure requested, else the interval after so many polls.

        Returns False at once if Azure requested more time than is left before the deadline, or no time is left.
        """
        remaining = session.deadline - self.clock.monotonic()
        # The wait that Azure requests is not shortened; gitsync's own interval is, so that a last poll fits in.
        seconds = requested or min(self.poll_interval.compute_wait(polls), remaining - LAST_LOOK)
        if seconds <= 0 or seconds > remaining:
            return False
        with session.waiting(session.wait or _AZURE_WORKS):
            await self.clock.sleep(seconds)
        return True

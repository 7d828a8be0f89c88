"""The requests of one node to Azure: their deadline, their number, the failures so far, and the
waits between polls.

A `Session` is the one mutable value that the stages share with the client: they set the stage,
the client counts and remembers, and a stage that waits says for what.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from gitsync.arm.auth.access import PollInterval
from gitsync.model.clock import Clock
from gitsync.model.condition import Hold
from gitsync.model.record import LastWrite
from gitsync.model.result import Attempt, Stage, Wait

THROTTLED = 429
LAST_ANSWER = 5.0
"""Seconds that requests in flight may still take when the session is ended."""

DEADLINE = "DeadlineExceeded"
INTERRUPTED: Final = Hold.INTERRUPTED.value
"""Codes of a request that was not answered in time, and of one that was not since a person or a scheduler stopped the
run.
"""

OUT_OF_TIME: Final = frozenset({DEADLINE, INTERRUPTED})


@dataclass(slots=True)
class Session:
    """`deadline` is in the clock's monotonic seconds. `requests` counts what was sent, polls and failed tries too.
    `attempts` has every failed try, the throttled ones too. `is_ended` tells that the run was stopped before the
    deadline came. `wait` is what the node waits for just now, for a display; None while it does something itself.
    `last_write` is the last one that was done, or may have been; `has_written` tells that Azure accepted one. `sent`
    are the correlation ids of all of them and of the actions, by which Azure's log knows them. `sent_at` is when the
    last request was sent, and `written_at` the last write, in the clock's monotonic seconds.
    """

    deadline: float
    stage: Stage = Stage.OBSERVE
    attempts: list[Attempt] = field(default_factory=list)
    requests: int = 0
    is_ended: bool = False
    wait: Wait | None = None
    last_write: LastWrite | None = None
    sent_at: float = 0.0
    written_at: float = 0.0
    has_written: bool = False
    sent: list[str] = field(default_factory=list)
    _limits: list[asyncio.Timeout] = field(default_factory=list)
    _throttled: set[int] = field(default_factory=set)  # places in `attempts`

    @asynccontextmanager
    async def in_time(self, clock: Clock) -> AsyncIterator[None]:
        """Bound all that is done in the context by the deadline. Raises TimeoutError if it comes first, at once if it
        has passed.
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
        """Note what the node waits for while the context lasts."""
        before, self.wait = self.wait, wait
        try:
            yield
        finally:
            self.wait = before

    def note_write(self, method: str, write: LastWrite, *, is_accepted: bool) -> None:
        """Keep a write that Azure accepted, or that may have been done. An action is none: most of them list keys."""
        self.sent += dict.fromkeys(filter(None, (write.correlation_id, write.returned_id)))
        if method != "POST":
            self.last_write, self.written_at = write, self.sent_at
            self.has_written |= is_accepted

    def end(self, now: float, patience: float = LAST_ANSWER) -> None:
        """Bring the deadline forward: nothing more is begun, and what is under way has some seconds to end."""
        self.deadline, self.is_ended = now, True
        soon = asyncio.get_running_loop().time() + patience
        for limit in self._limits:
            # A limit that ends sooner by itself is left alone: a stop must not prolong it.
            if not limit.expired() and (limit.when() or soon) >= soon:
                limit.reschedule(soon)

    def pass_throttled(self, status: int) -> bool:
        """Note that the last try is repeated. Returns whether Azure throttled it: such a try is no failed attempt."""
        # Marked, not dropped: the last error of a deadline may well be that Azure throttled.
        if status == THROTTLED:
            self._throttled.add(len(self.attempts) - 1)
        return status == THROTTLED

    def list_failures(self) -> tuple[Attempt, ...]:
        """List the failed tries without those that were throttled and repeated."""
        if not self.attempts:
            return ()  # as nearly always
        return tuple(attempt for index, attempt in enumerate(self.attempts) if index not in self._throttled)

    @property
    def end_reason(self) -> str:
        """Why its time is up, for the message of what was not done."""
        return "The run was stopped" if self.is_ended else "Deadline exceeded"

    @property
    def end_code(self) -> str:
        """The same as the code of an error."""
        return INTERRUPTED if self.is_ended else DEADLINE

    def last_error(self, stage: Stage | None = None) -> str:
        """Return the last thing that went wrong (in one stage), as a sentence for the message of a
        deadline; "" if nothing did.
        """
        stages = {stage} if stage else set(Stage)
        tries = (attempt for attempt in reversed(self.attempts) if attempt.stage in stages)
        cause = next((attempt for attempt in tries if attempt.code not in OUT_OF_TIME), None)
        if cause is None:
            return ""
        prefix = f"{cause.status} {cause.code}: " if cause.status else ""
        return f"Last error: {prefix}{cause.message}"


_AZURE_WORKS = Wait("Azure works")

LAST_LOOK = 1.0
"""Seconds before the deadline that are kept for a last poll."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The interval of a run, with its clock."""

    clock: Clock
    poll_interval: PollInterval

    async def pause(self, requested: float | None, polls: int, session: Session) -> bool:
        """Wait the seconds that Azure requested, else the interval after so many polls.

        Returns False at once if Azure requested more than the deadline leaves, or no time is left.
        """
        remaining = session.deadline - self.clock.monotonic()
        # What Azure asks for is not shortened; our own interval is, so that a last poll fits in.
        seconds = requested or min(self.poll_interval.find_wait(polls), remaining - LAST_LOOK)
        if seconds <= 0 or seconds > remaining:
            return False
        with session.waiting(session.wait or _AZURE_WORKS):
            await self.clock.sleep(seconds)
        return True

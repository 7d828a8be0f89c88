"""The schedule of writes against the walk itself: its order, its write locks and its throttle, on a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.run.walk import run_in_order
from gitsync.desired.formats.arm_path import name_lock
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node
from gitsync.model.result import Result
from gitsync.model.schedule import Estimate, PlannedWrite
from gitsync.model.verdict import Action
from gitsync.planning.forecast import make_schedule
from gitsync.providers.arm.http.throttle import Throttle
from gitsync.providers.arm.session import Session
from gitsync.providers.arm.write_locks import WriteLocks
from tests.support.builders import group_id, prepared, prune, result
from tests.support.fake_clock import START

NETWORK = f"{group_id()}/providers/Microsoft.Network/virtualNetworks"
SHARES = st.sampled_from([1.0, 0.01])
"""Of ARM's limits: all, or two writes at once and one more in ten seconds."""


def name(number: int) -> Key:
    return Key("network.azure.com", "VirtualNetwork", "default", f"{number:02}")


@st.composite
def plans(draw: st.DrawFn) -> dict[Key, PlannedWrite]:
    """Creates and deletes in two networks, or each in one of its own. No two sums of durations are equal: if two writes
    end at once, chance decides which is first in the run.
    """
    count = draw(st.integers(1, 9))
    durations = draw(st.permutations([2**number + 3**number / 1000 for number in range(count)]))
    creates = draw(st.integers(0, count))
    writes = {}
    for number, seconds in enumerate(durations):
        first = 0 if number < creates else creates  # a delete waits for deletes alone
        after = draw(st.sets(st.integers(first, number - 1), max_size=2)) if number > first else set()
        network = draw(st.sampled_from(["hub", "spoke", f"own-{number}"]))
        writes[name(number)] = PlannedWrite(
            key=name(number),
            action=Action.CREATE if number < creates else Action.DELETE,
            seconds=seconds,
            estimate=Estimate.RECORD,
            after=tuple(sorted(map(name, after))),
            lock=name_lock(f"{NETWORK}/{network}"),
        )
    return writes


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: if nothing else is pending, its time is that of the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0].when())
        super()._run_once()  # private, and the only way to another time


class LoopClock:
    """The clock of the loop that runs."""

    def now(self) -> datetime:
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def walk(writes: Mapping[Key, PlannedWrite], share: float) -> dict[Key, tuple[float, float]]:
    """When each write was sent and ended, in a run that does nothing but wait."""
    clock, locks, course = LoopClock(), WriteLocks(), {}
    throttle = Throttle(clock, asyncio.Semaphore(100), share=share)

    async def send(node: Node, before: Mapping[Key, Result]) -> Result:
        write, session = writes[node.key], Session(deadline=1e9)
        method = "DELETE" if write.action is Action.DELETE else "PUT"
        async with locks.acquire(write.lock, session):
            assert await throttle.admit(method, write.lock, session)
            throttle.release(method, write.lock)
            sent = clock.monotonic()
            await clock.sleep(write.seconds)
        course[node.key] = (sent, clock.monotonic())
        return result(node.key)

    def make_node(write: PlannedWrite) -> Node:
        if write.action is Action.DELETE:
            return prune(write.key, write.lock, depends_on=write.after)
        return Apply(prepared=prepared(write.key, write.lock), depends_on=write.after)

    for part in (Action.CREATE, Action.DELETE):
        nodes: Any = {key: make_node(write) for key, write in writes.items() if write.action is part}
        await run_in_order(nodes, send, lambda node: result(node.key), asyncio.Event())
    return course


@given(plans(), SHARES)
def test_the_walk_takes_the_same_course(writes: dict[Key, PlannedWrite], share: float):
    schedule = make_schedule(writes.values(), share)
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        walked = runner.run(walk(writes, share))

    foreseen = {bar.key: (bar.sent, bar.end) for bar in schedule.bars}
    rounded = {key: tuple(round(moment, 4) for moment in moments) for key, moments in foreseen.items()}
    assert {key: tuple(round(moment, 4) for moment in moments) for key, moments in walked.items()} == rounded

"""When each write of a run begins and ends."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitsync.model.gvk import Key
from gitsync.model.limits import ARM_LIMITS, RequestKind
from gitsync.model.schedule import Bar, Estimate, PlannedWrite, Schedule
from gitsync.model.verdict import Action
from gitsync.planning.forecast import make_schedule

SUBSCRIPTION = "/subscriptions/s"
NEGLIGIBLE = 1e-6


def name(number: int | str) -> Key:
    return Key("g", "Kind", "default", f"{number:03}" if isinstance(number, int) else number)


def write(
    key: int | str,
    seconds: float = 10,
    *after: int | str,
    action: Action = Action.CREATE,
    lock: str = "",
) -> PlannedWrite:
    lock = f"{SUBSCRIPTION}/{lock or key}"
    return PlannedWrite(
        key=name(key),
        action=action,
        seconds=seconds,
        estimate=Estimate.RECORD,
        after=tuple(map(name, after)),
        lock=lock,
    )


def read(schedule: Schedule) -> list[tuple[str, str, float, float, float]]:
    return [(bar.key.name, str(bar.action), bar.ready, bar.sent, bar.end) for bar in schedule.bars]


@pytest.mark.parametrize(
    ("writes", "course"),
    [
        pytest.param([], [], id="nothing to write takes no time"),
        pytest.param(
            [write("a", 5), write("b", 7)],
            [("a", "create", 0, 0, 5), ("b", "create", 0, 0, 7)],
            id="what does not depend on each other goes at once",
        ),
        pytest.param(
            [write("a", 5), write("b", 7, "a")],
            [("a", "create", 0, 0, 5), ("b", "create", 5, 5, 12)],
            id="a dependent waits for the end, not for the request",
        ),
        pytest.param(
            [write("b", 7, "elsewhere")],
            [("b", "create", 0, 0, 7)],
            id="a dependency that is not written is waited for by nothing",
        ),
        pytest.param(
            [write("b", 7, lock="vnet"), write("a", 5, lock="vnet"), write("c", 1, lock="vnet")],
            [("a", "create", 0, 0, 5), ("b", "create", 0, 5, 12), ("c", "create", 0, 12, 13)],
            id="a lock is kept until the operation has ended, in the order of the walk",
        ),
        pytest.param(
            [
                write("z", 9, lock="vnet"),
                write("first", 3),
                write("a", 5, "first", lock="vnet"),
                write("m", 4, lock="vnet"),
            ],
            [
                ("first", "create", 0, 0, 3),
                ("m", "create", 0, 0, 4),
                ("z", "create", 0, 4, 13),
                ("a", "create", 3, 13, 18),
            ],
            id="who asked for a lock first gets it first, whatever the name",
        ),
        pytest.param(
            [write("a", 5), write("gone", 2, action=Action.DELETE), write("b", 3, action=Action.UPDATE)],
            [("a", "create", 0, 0, 5), ("b", "update", 0, 0, 3), ("gone", "delete", 5, 5, 7)],
            id="deletes begin when all applies have ended",
        ),
        pytest.param(
            [
                write("group", 9, "vnet", action=Action.DELETE),
                write("vnet", 2, action=Action.DELETE),
            ],
            [("vnet", "delete", 0, 0, 2), ("group", "delete", 2, 2, 11)],
            id="an owner is deleted after what it owns",
        ),
        pytest.param(
            [
                write("a", 4),
                write("p", 3, action=Action.DELETE),
                write("r", 6, action=Action.DELETE),
                write("r", 8, action=Action.REPLACE),
                write("child", 1, "r"),
            ],
            [
                ("a", "create", 0, 0, 4),
                ("p", "delete", 4, 4, 7),
                ("r", "delete", 7, 7, 13),
                ("r", "replace", 13, 13, 21),
                ("child", "create", 21, 21, 22),
            ],
            id="what is replaced is deleted after all other deletes and created again, and what waits for it comes last",
        ),
    ],
)
def test_course(writes: list[PlannedWrite], course: list[tuple[str, str, float, float, float]]):
    assert read(make_schedule(writes)) == course


@pytest.mark.parametrize(
    ("writes", "critical"),
    [
        pytest.param([write("a", 5), write("b", 7)], ["b"], id="the last to end"),
        pytest.param([write("a", 5), write("b", 7, "a"), write("c", 9)], ["a", "b"], id="and what it depends on"),
        pytest.param(
            [write("a", 5), write("b", 1), write("c", 2, "a", "b")],
            ["a", "c"],
            id="of several dependencies, the one that ended last",
        ),
        pytest.param(
            [write("a", 5, lock="l"), write("b", 1), write("c", 2, "b", lock="l")],
            ["a", "c"],
            id="and what kept its lock",
        ),
        pytest.param(
            [write("a", 5), write("b", 1), write("gone", 1, action=Action.DELETE)],
            ["a", "gone"],
            id="a delete has waited for the last apply",
        ),
        pytest.param([write("a", 5), write("b", 5)], ["a"], id="of two that end together, one decides"),
    ],
)
def test_critical_path(writes: list[PlannedWrite], critical: list[str]):
    assert [bar.key.name for bar in make_schedule(writes).bars if bar.is_critical] == critical


@pytest.mark.parametrize(
    ("writes", "waves"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([write("a"), write("b")], 1, id="all at once"),
        pytest.param([write("a"), write("b", 1, "a"), write("c", 1, "b", "a")], 3, id="the longest chain"),
        pytest.param([write("a", lock="l"), write("b", lock="l")], 1, id="a lock is no wave"),
        pytest.param([write("a"), write("b", action=Action.DELETE)], 2, id="deletes are one after the applies"),
    ],
)
def test_waves(writes: list[PlannedWrite], waves: int):
    assert make_schedule(writes).waves == waves


@pytest.mark.parametrize(
    ("share", "action", "last_sent"),
    [
        pytest.param(1.0, Action.CREATE, 5.0, id="200 at once, then 10 a second"),
        pytest.param(0.5, Action.CREATE, 30.0, id="half of them with half of the limit"),
        pytest.param(1.0, Action.DELETE, 5.0, id="deletes have a limit of their own"),
    ],
)
def test_the_limit_of_arm(share: float, action: Action, last_sent: float):
    schedule = make_schedule([write(number, action=action) for number in range(250)], share)

    assert schedule.bars[-1].sent == pytest.approx(last_sent)
    assert {bar.ready for bar in schedule.bars} == {0}


@pytest.mark.parametrize(
    ("first", "last_sent", "why"),
    [
        ({}, 5.0, "nothing is sent before"),
        ({("s", RequestKind.WRITES): 50}, 10.0, "questions are taken from the limit of writes"),
        ({("s", RequestKind.WRITES): 300}, 35.0, "the writes begin once all questions were sent"),
        ({("", RequestKind.WRITES): 250}, 10.0, "the tenant has a limit of its own, and its questions go first"),
        ({("s", RequestKind.READS): 250}, 5.0, "reads have another limit"),
        ({("other", RequestKind.WRITES): 200}, 5.0, "and so has another subscription"),
    ],
)
def test_what_is_sent_first_shares_the_limits(first, last_sent, why):
    schedule = make_schedule([write(number) for number in range(250)], first=first)

    assert schedule.bars[-1].sent == pytest.approx(last_sent), why


@pytest.mark.parametrize(
    ("reads", "seconds", "why"),
    [
        (0, 10, "nothing is read"),
        (2, 10, "the limit of reads is as many at once"),
        (5, 10 + (5 * 100 - 250) / 25, "the last end is seen once its polls and its read were sent"),
    ],
)
def test_polls_and_reads_share_a_limit(reads, seconds, why):
    writes = [replace(write(number), reads=reads) for number in range(100)]

    assert make_schedule(writes).seconds == pytest.approx(seconds), why


def test_a_dependent_waits_until_the_end_is_seen():
    writes = [*(replace(write(number), reads=5) for number in range(100)), write("last", 10, 99)]

    assert find(make_schedule(writes))[name("last"), False].ready == pytest.approx(20)


def test_writes_and_deletes_do_not_share_a_limit():
    creates = [write(number, 0) for number in range(200)]
    deletes = [write(number, 0, action=Action.DELETE) for number in range(200, 400)]

    assert make_schedule([*creates, *deletes]).seconds == 0


def test_subscriptions_do_not_share_a_limit():
    writes = [
        PlannedWrite(
            key=name(number),
            action=Action.CREATE,
            seconds=1,
            estimate=Estimate.DEFAULT,
            lock=f"/subscriptions/{number % 2}/resourcegroups/{number}",
        )
        for number in range(400)
    ]

    assert make_schedule(writes).seconds == 1


@st.composite
def estates(draw: st.DrawFn, *, locks: int = 3, most: int = 14) -> list[PlannedWrite]:
    """Writes of all actions that wait for earlier ones, with few locks and times, so that much coincides."""
    writes = []
    for number in range(draw(st.integers(0, most))):
        action = draw(st.sampled_from([Action.CREATE, Action.UPDATE, Action.DELETE, Action.REPLACE]))
        after = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        lock = f"lock{draw(st.integers(1, locks))}" if locks and draw(st.booleans()) else ""
        seconds = draw(st.sampled_from([0.0, 1.0, 2.5, 7.0, 40.0]))
        writes.append(write(number, seconds, *sorted(after), action=action, lock=lock))
        if action is Action.REPLACE:
            writes.append(write(number, draw(st.sampled_from([1.0, 3.0])), action=Action.DELETE, lock=lock))
    return writes


def find(schedule: Schedule) -> dict[tuple[Key, bool], Bar]:
    return {(bar.key, bar.action is Action.DELETE): bar for bar in schedule.bars}


def measure_chain(writes: list[PlannedWrite]) -> float:
    ends: dict[tuple[Key, bool], float] = {}
    for result in writes:  # `estates` puts what comes first at the top
        is_delete = result.action is Action.DELETE
        begin = max((ends[key, is_delete] for key in result.after if (key, is_delete) in ends), default=0.0)
        ends[result.key, is_delete] = begin + result.seconds
    return max(ends.values(), default=0.0)


@given(estates())
def test_no_bar_begins_before_what_it_depends_on(writes: list[PlannedWrite]):
    bars = find(make_schedule(writes))

    assert len(bars) == len(writes)
    for result in writes:
        bar = bars[result.key, result.action is Action.DELETE]
        assert 0 <= bar.ready <= bar.sent <= bar.end == bar.sent + result.seconds
        for key in result.after:
            before = bars.get((key, result.action is Action.DELETE))
            assert before is None or (before.end <= bar.ready and before.wave < bar.wave)


@given(estates())
def test_one_write_at_a_time_has_a_lock(writes: list[PlannedWrite]):
    bars = find(make_schedule(writes))
    by_lock: dict[str, list[Bar]] = {}
    for result in writes:
        by_lock.setdefault(result.lock, []).append(bars[result.key, result.action is Action.DELETE])

    for held in by_lock.values():
        ordered = sorted(held, key=lambda bar: (bar.sent, bar.end))
        assert all(left.end <= right.sent for left, right in pairwise(ordered))


@given(estates())
def test_the_parts_of_the_walk_follow_each_other(writes: list[PlannedWrite]):
    bars = make_schedule(writes).bars
    replaced = {bar.key for bar in bars if bar.action is Action.REPLACE}
    deletes = [bar for bar in bars if bar.action is Action.DELETE]
    assert all(
        bar.end <= delete.ready
        for bar in bars
        for delete in deletes
        if bar.action in {Action.CREATE, Action.UPDATE} and bar.wave < delete.wave and not replaced
    )
    first_again = min((bar.ready for bar in bars if bar.action is Action.REPLACE), default=None)
    assert first_again is None or all(delete.end <= first_again for delete in deletes)


@given(estates())
def test_the_total_is_between_the_longest_chain_and_one_after_the_other(writes: list[PlannedWrite]):
    seconds = make_schedule(writes).seconds

    assert measure_chain(writes) - NEGLIGIBLE <= seconds <= sum(wanted.seconds for wanted in writes) + NEGLIGIBLE


@given(st.data(), estates())
def test_the_order_of_the_input_decides_nothing(data: st.DataObject, writes: list[PlannedWrite]):
    assert make_schedule(data.draw(st.permutations(writes))) == make_schedule(writes)


@given(estates())
def test_the_critical_path_has_no_gap(writes: list[PlannedWrite]):
    schedule = make_schedule(writes)
    chain = sorted((bar for bar in schedule.bars if bar.is_critical), key=lambda bar: (bar.sent, bar.end))

    assert [bar.sent for bar in chain] == [0.0, *(bar.end for bar in chain)][: len(chain)]
    assert not chain or chain[-1].end == schedule.seconds


@given(estates(locks=0), st.integers(0, 13), st.sampled_from([0.0, 1.0, 30.0]))
def test_without_shared_locks_a_longer_write_never_makes_a_run_shorter(
    writes: list[PlannedWrite], number: int, more: float
):
    """With shared locks it may: who comes late for a lock lets another one go first."""
    assume(number < len(writes))
    result = writes[number]
    longer = write(result.key.name, result.seconds + more, *(key.name for key in result.after), action=result.action)

    assert make_schedule([*writes[:number], longer, *writes[number + 1 :]]).seconds >= make_schedule(writes).seconds


@given(estates(locks=0))
def test_without_shared_locks_one_write_less_never_makes_a_run_longer(writes: list[PlannedWrite]):
    assume(writes)

    assert make_schedule(writes[:-1]).seconds <= make_schedule(writes).seconds


@given(st.lists(st.sampled_from([0.0, 0.5, 3.0]), max_size=260), st.sampled_from([1.0, 0.1]))
def test_no_second_has_more_writes_than_arm_takes(pauses: list[float], share: float):
    """A chain of pauses spreads the writes over time."""
    limit = ARM_LIMITS[RequestKind.WRITES].take_share(share)
    writes = []
    for number, pause in enumerate(pauses):
        after = (f"pause{number - 1}",) if number else ()
        writes += [write(number, 1, *after), write(f"pause{number}", pause, *after)]

    sent = sorted(bar.sent for bar in make_schedule(writes, share).bars)

    for first in range(0, len(sent), 7):
        for last in range(first, len(sent), 7):
            taken = last - first + 1
            assert taken <= limit.burst + (sent[last] - sent[first]) * limit.per_second + NEGLIGIBLE

"""How long what failed is waited for, and when it is given up."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import GitsyncError
from gitsync.settings.backoff import Backoff, retry, retry_blocking
from tests.support.fake_clock import FakeClock

seconds = st.floats(0, 1e6)
backoffs = st.builds(Backoff, first=seconds, most=seconds, jitter=st.floats(0, 1))
calm = st.builds(Backoff, first=seconds, most=seconds)


class PassingError(GitsyncError):
    """It may be gone at the next try."""


class FinalError(GitsyncError):
    """It stays."""


WAITS = [
    (Backoff(), [1, 2, 4, 8, 16, 32, 60, 60], "it doubles up to a minute"),
    (Backoff(first=0.5, most=3), [0.5, 1, 2, 3, 3], "from another first wait, to another longest one"),
    (Backoff(first=25, most=25), [25, 25, 25], "what a server requests stays as it is"),
    (Backoff(first=9, most=5), [5, 5], "the longest wait is that of the first one too"),
    (Backoff(first=0), [0, 0, 0], "some are not to be waited for"),
]


@pytest.mark.parametrize(("backoff", "waits", "why"), WAITS, ids=[row[-1] for row in WAITS])
def test_the_waits_follow_one_formula(backoff, waits, why):
    assert [backoff.compute_wait(number) for number in range(len(waits))] == waits, why


@given(backoffs, st.integers(0, 10**6))
def test_chance_moves_a_wait_by_its_share_only(backoff, number):
    without = replace(backoff, jitter=0).compute_wait(number)
    least, most = without * (1 - backoff.jitter), without * (1 + backoff.jitter)
    wait = backoff.compute_wait(number)
    assert least <= wait <= most or math.isclose(wait, least) or math.isclose(wait, most)


@given(calm, st.integers(0, 10**6))
def test_without_chance_waits_never_get_shorter(backoff, number):
    assert 0 <= backoff.compute_wait(number) <= backoff.compute_wait(number + 1) <= backoff.most


def test_chance_decides_about_each_wait():
    backoff = Backoff(jitter=0.5)
    assert len({backoff.compute_wait(0) for _ in range(20)}) > 1


def choose(backoff):
    return lambda failure: backoff if isinstance(failure, PassingError) else None


class Work:
    """Fails in these ways, one after another, then succeeds. Each try takes some seconds."""

    def __init__(self, clock, *failures, takes=0.0):
        self.failures, self.tries = list(failures), 0
        self._clock, self._takes = clock, takes

    def work(self):
        self.tries += 1
        self._clock.elapsed += self._takes
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    async def work_later(self):
        return self.work()


async def end(work, clock, backoff, pause=None):
    """What it ends with: its result or its failure."""
    try:
        return await retry(work.work_later, choose(backoff), clock, pause)
    except (GitsyncError, KeyError) as failure:
        return failure


A, B, C = PassingError("a"), PassingError("b"), PassingError("c")
FINAL, BUG = FinalError("It stays."), KeyError("x")
ENDS = [
    ([], Backoff(), 0, ("done", []), "what succeeds at once is not waited for"),
    ([A, B], Backoff(), 0, ("done", [1, 2]), "it is repeated until it succeeds"),
    ([FINAL], Backoff(), 0, (FINAL, []), "what is final is raised as it is"),
    ([A, FINAL], Backoff(), 0, (FINAL, [1]), "a later failure decides by itself"),
    ([A, B, C], Backoff(tries=3), 0, (C, [1, 2]), "the last failure is raised, without a wait after it"),
    ([A, B], Backoff(tries=3), 0, ("done", [1, 2]), "the last try may succeed"),
    ([A], Backoff(tries=1), 0, (A, []), "one try is no retry"),
    ([A, B, C], Backoff(seconds=3), 0, (C, [1, 2]), "a try that would begin too late is not waited for"),
    ([A, B], Backoff(seconds=3), 0, ("done", [1, 2]), "one that begins just in time is made"),
    ([A, B, C], Backoff(seconds=30), 29, (B, [1]), "the time of the tries counts too"),
    ([BUG], Backoff(), 0, (BUG, []), "a bug is not repeated"),
]


@pytest.mark.parametrize(("failures", "backoff", "takes", "ends", "why"), ENDS, ids=[row[-1] for row in ENDS])
async def test_what_failed_is_repeated_until_it_is_hopeless(failures, backoff, takes, ends, why):
    clock = FakeClock()
    work = Work(clock, *failures, takes=takes)
    assert (await end(work, clock, backoff), clock.slept) == ends, why
    assert work.tries == len(clock.slept) + 1


@given(st.integers(0, 9), st.integers(1, 9))
async def test_as_many_tries_are_made_as_are_allowed_and_needed(fails, allowed):
    work = Work(FakeClock(), *(PassingError("a") for _ in range(fails)))
    await end(work, FakeClock(), Backoff(first=0, tries=allowed))
    assert work.tries == min(fails + 1, allowed)


async def test_each_failure_may_have_a_back_off_of_its_own():
    clock, work = FakeClock(), Work(FakeClock(), A, B, C)
    mine = {A: Backoff(first=5, most=5), B: Backoff(), C: Backoff(tries=4)}
    assert await retry(work.work_later, mine.get, clock) == "done"
    assert clock.slept == [5, 2, 4]


async def test_who_shows_a_wait_may_sleep_in_place_of_the_clock():
    clock, shown = FakeClock(), []

    async def pause(seconds):
        shown.append(seconds)

    assert await end(Work(clock, A, B), clock, Backoff(), pause) == "done"
    assert (shown, clock.slept) == ([1, 2], [])


async def test_a_failure_is_raised_without_the_one_before_it():
    """What is raised from a secret's service must not drag along an error of an earlier try."""
    failure = await end(Work(FakeClock(), A, FINAL), FakeClock(), Backoff())
    assert (failure.__cause__, failure.__context__) == (None, None)


@pytest.mark.parametrize(
    ("failures", "tries", "ends"), [([A, B], 3, "done"), ([A, B, C], 3, C), ([FINAL], 3, FINAL), ([], 3, "done")]
)
def test_a_thread_that_waits_does_the_same(failures, tries, ends):
    work = Work(FakeClock(), *failures)
    try:
        ended = retry_blocking(work.work, choose(Backoff(first=0, tries=tries)), FakeClock())
    except GitsyncError as failure:
        ended = failure
    assert ended == ends

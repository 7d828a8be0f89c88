"""Runs against an ARM whose background jobs are throttled: they wait for it, for no longer than they may."""

from dataclasses import replace

import pytest

from gitsync.emulator.settings import Bucket, EmulatorSettings, Limits
from gitsync.model.result import Outcome
from gitsync.planning.status.advice import find_condition_advice
from tests.support.world import GROUP, VNET, World

ADVICE = "Azure throttles the background jobs of the subscription"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def with_jobs(world, size, per_second):
    world.settings = EmulatorSettings(limits=replace(Limits(), jobs=Bucket(size=size, per_second=per_second)))
    return world.says(group=GROUP, net=VNET)


def test_a_run_waits_for_the_jobs_of_arm(world):
    report = with_jobs(world, 1, 0.1).sync()
    assert (report.exit_code, {result.outcome for result in report.results}) == (0, {Outcome.CHANGED})
    assert report.requests.throttled >= 1
    assert not any(result.attempts for result in report.results)


def test_a_run_that_waits_in_vain_ends_in_time_with_advice(world):
    started = world.clock.monotonic()
    report = with_jobs(world, 1, 0.0).sync(run_timeout=120)
    assert world.clock.monotonic() - started < 180
    failed = next(result for result in report.results if result.outcome is Outcome.FAILED)
    assert find_condition_advice(failed.condition, failed.arm_id).startswith(ADVICE)

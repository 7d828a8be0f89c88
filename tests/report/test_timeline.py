"""The timeline: one visit for a row of steps of one stage, also if a resource is tried again."""

from gitsync.model.result import Stage
from gitsync.providers.arm.session import Session
from gitsync.report.progress import StageVisit, Tally, Timeline, collect_stage_seconds
from tests.report.report_builders import DRIFTED, IN_SYNC
from tests.support.fake_clock import FakeClock


def walk(timeline, clock, *steps):
    for stage in steps:
        timeline.started(IN_SYNC.key, Session(deadline=1e9, stage=stage))
        clock.elapsed += 1
    timeline.finished(IN_SYNC)


def test_visits_of_a_resource_that_is_tried_twice():
    clock = FakeClock()
    tally = Tally(clock.monotonic)
    timeline = Timeline(tally, clock.monotonic)
    timeline.expect({IN_SYNC.key: (), DRIFTED.key: ()})
    walk(timeline, clock, Stage.POLICY, Stage.OBSERVE, Stage.OBSERVE, Stage.ACT)
    clock.elapsed += 10
    walk(timeline, clock, Stage.OBSERVE)
    assert timeline.visits == {
        IN_SYNC.key: [
            StageVisit(Stage.POLICY, 1000, 1001),
            StageVisit(Stage.OBSERVE, 1001, 1003),
            StageVisit(Stage.ACT, 1003, 1004),
            StageVisit(Stage.OBSERVE, 1014, 1015),
        ]
    }
    assert collect_stage_seconds(timeline.visits) == {Stage.POLICY: [1], Stage.OBSERVE: [2, 1], Stage.ACT: [1]}
    assert (tally.total, tally.done) == (2, 2), "it passes on what it hears"


def test_a_resource_that_no_stage_began_has_no_visit():
    timeline = Timeline(Tally(FakeClock().monotonic), FakeClock().monotonic)
    timeline.finished(IN_SYNC)
    assert collect_stage_seconds(timeline.visits) == {}

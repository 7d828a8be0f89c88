"""Gathering with clocks that jump, beside another gathering, and of reports, records and pins that no worker could have
written: an error or a report that reports it, nothing is lost, and the next gathering is right.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from gitsync.agent.run.gathering import join_run
from gitsync.errors import ConfigError, StateError
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report import json as report_json
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.clone import open_clone
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.pins import read_pin
from gitsync.repository.git.state.seal import RecordSeals
from tests.agent.run.gathering.rig import STATUS, Rig
from tests.support.git_repositories import read_object, write_object

pytestmark = pytest.mark.together("gathering")


def test_two_gatherings_at_once_leave_one_commit_and_say_the_same(ended, alone):
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ended.gather(), range(2))
    assert first.problems == second.problems == ()
    assert [result.key for result in first.results] == [result.key for result in second.results]
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert ended.texts() == alone[0].texts()
    assert ended.git("rev-list", "--count", STATUS).strip() == "1"
    assert ended.branches() == ["gitsync/runs/42", STATUS]


def test_the_run_before_is_not_gathered_for_another(gathered, tmp_path):
    with pytest.raises(StateError, match="There is no run 43"):
        gathered[0].copy(tmp_path).gather(run_id="43")


def test_nothing_is_left_to_gather_of_a_run_that_another_has_taken_in(ended):
    ended.sync(run_id=None)
    with pytest.raises(StateError, match="Run 42 has nothing to gather"):
        ended.gather()


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"run_id": "../main"}, "cannot name a run"),
        ({"status_dir": "here"}, "this run has a status folder"),
        ({"agent": "blue"}, "belongs to the agent gitsync"),
    ],
)
def test_settings_that_do_not_fit_are_refused(ended, settings, refusal):
    with pytest.raises(ConfigError, match=refusal):
        ended.gather(**settings)


def test_a_report_that_no_worker_has_written_is_refused_with_its_branch(ended):
    ended.rewrite(1, "report.json", "{")
    with pytest.raises(StateError, match="The report on the branch of shard 1 is not JSON"):
        ended.gather()


@pytest.fixture(scope="module")
def recorded(synced):
    """What the branches have of the run."""
    remote = open_remote(Url(synced.bare.as_uri(), "file"), GitAccess())
    with StatusBranch(remote, STATUS, clock=SystemClock()) as store:
        store.load()
        return store.read_run("42")


def test_a_report_of_another_command_is_refused(recorded):
    run = recorded._replace(reports={**recorded.reports, 1: b'{"schemaVersion": 1, "command": "validate"}'})
    with pytest.raises(StateError, match="shard 1 cannot be used: command is neither sync nor plan"):
        join_run(run, SystemClock())


def test_a_report_of_another_revision_is_refused(recorded):
    text = recorded.reports[1].replace(recorded.pin.revision.encode(), b"b" * 40)
    with pytest.raises(StateError, match="not from a sync of"):
        join_run(recorded._replace(reports={**recorded.reports, 1: text}), SystemClock())


def test_a_worker_that_was_started_again_after_all_was_gathered_has_not_ended(recorded):
    """The status branch has the ends of before."""
    again, *others = recorded.workers
    workers = (replace(again, exit_code=None), *others)
    report = join_run(recorded._replace(workers=workers, ended=dict.fromkeys((1, 2), 0)), SystemClock())
    assert [problem.code for problem in report.problems] == ["ShardNotEnded"]
    assert (report.exit_code, report.interrupted) == (1, True)


def test_an_end_that_no_sync_has_is_refused(recorded):
    first, *others = recorded.workers
    workers = (replace(first, exit_code=99), *others)
    with pytest.raises(StateError, match="Shard 1 ended with 99"):
        join_run(recorded._replace(workers=workers), SystemClock())


PIN = "refs/heads/gitsync/runs/42"
DAY = 86_400


def check_undisturbed(ended, gathered):
    """Check that gathering reports and writes what it does where nothing disturbs."""
    rig, report = gathered
    assert report_json.render(ended.gather()) == report_json.render(report)
    assert ended.texts() == rig.texts()


def change_commit(rig: Rig, ref: str, change) -> None:
    """Write the commit of a branch again, with another text."""
    file = rig.bare / ref
    _, content = read_object(rig.bare, file.read_text().strip())
    text = change(content.decode())
    file.write_text(write_object(rig.bare, "commit", text.encode()).hex())


def move_dates(text: str, days: int) -> str:
    """The text of a commit, as if the clock had been so far ahead."""
    return re.sub(r"(?<=> )\d+(?= [+-]\d{4}\n)", lambda seconds: str(max(int(seconds[0]) + days * DAY, 0)), text)


@pytest.mark.parametrize(
    ("pin", "first", "second"),
    [
        (-20_000, 30_000, 0),
        (-1, 1, 0),
        (1, -1, 0),
        (30_000, -20_000, 0),
        (-20_000, -20_000, -20_000),
        (30_000, 30_000, 30_000),
    ],
)
def test_clocks_that_jump_change_nothing_of_what_is_gathered(ended, gathered, pin, first, second):
    """By so many days, as the clocks of the pin and of the two workers were ahead."""
    workers = [f"refs/heads/{branch}" for branch in ended.branches() if "shards" in branch]
    for ref, days in zip((PIN, *workers), (pin, first, second), strict=True):
        change_commit(ended, ref, lambda text, days=days: move_dates(text, days))
    check_undisturbed(ended, gathered)


def test_a_pin_of_workers_that_no_run_has_is_refused(ended, subtests):
    with closing(open_clone(open_remote(Url(ended.bare.as_uri(), "file"), GitAccess()))) as clone:
        for workers in ("0", "99999999999", "4294967296", "-1", "3.0", "three", ""):
            change_commit(ended, PIN, lambda text, workers=workers: re.sub("(?<=Workers: ).*", workers, text))
            with subtests.test(workers):
                with pytest.raises(ConfigError, match="gitsync/runs/42 is not the pin") as refused:
                    read_pin(clone, "42", STATUS, RecordSeals())
                assert refused.value.hint
    with pytest.raises(ConfigError, match="gitsync/runs/42 is not the pin"):
        ended.gather()

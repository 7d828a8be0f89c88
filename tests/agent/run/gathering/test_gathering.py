"""The workers of a run, and what is gathered of them: the status of a run with one worker, and one report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from gitsync.errors import ConfigError
from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.secret import Secret
from gitsync.report import json as report_json
from tests.agent.notifications.test_services import TOKEN, server
from tests.agent.run.gathering.rig import PART, STATUS, WORKER, Rig

pytestmark = pytest.mark.together("gathering")

HEARTBEAT = "gitsync/status-heartbeat/gitsync"


@pytest.fixture(scope="module")
def killed_at_first(new, tmp_path_factory):
    """The second worker was killed before another began."""
    rig = new.copy(tmp_path_factory.mktemp("killed-at-first"))
    rig.kill(2)
    return rig


@pytest.fixture(scope="module")
def unfinished(killed_at_first, tmp_path_factory):
    """Then the third has run, and the first has not begun; gathered: what is there now, and the report."""
    rig = killed_at_first.copy(tmp_path_factory.mktemp("unfinished"))
    rig.sync(3)
    return rig, rig.gather(heartbeat=True, notify=Secret("nothing://here"))


def test_the_status_is_that_of_a_run_with_one_worker(gathered, alone):
    check_complete(*gathered, alone)


def test_it_is_the_same_whatever_happened_to_the_workers(unfinished, alone, tmp_path):
    """One was killed, then stopped, and then started again; another was started once the others were gathered."""
    rig = unfinished[0].copy(tmp_path)
    rig.sync(2, stopped=True)
    assert rig.gather().exit_code == 1
    rig.sync(1, 2)
    check_complete(rig, rig.gather(heartbeat=True), alone)


def check_complete(rig, report, alone):
    """Check that a gathered run is as one of one worker."""
    rig_of_one, single = alone
    assert rig.texts() == rig_of_one.texts()
    assert rig.branches() == ["gitsync/runs/42", STATUS, HEARTBEAT]
    assert (report.exit_code, report.interrupted, report.problems) == (0, False, ())
    assert [(result.key, result.condition.reason) for result in report.results] == [
        (result.key, result.condition.reason) for result in single.results
    ]
    assert sorted(rig.puts) == sorted(rig_of_one.puts), "no create is sent twice"
    assert report.requests.writes == len(rig.puts), "nor counted twice"


def test_a_shard_that_has_not_ended_is_a_problem_and_its_resources_stay_what_they_were(unfinished):
    rig, report = unfinished
    never_begun, killed = report.problems
    assert (never_begun.code, never_begun.is_error) == (killed.code, killed.is_error) == ("ShardNotEnded", True)
    assert never_begun.message.startswith("Shard 1/3 of run 42 has not ended: it recorded nothing.")
    assert "gitsync sync --shard 1/3 --run-id 42" in never_begun.hint
    assert killed.message.startswith("Shard 2/3 of run 42 has not ended: its last record is ")
    assert " old." in killed.message
    assert (report.exit_code, report.interrupted, len(report.results)) == (1, True, 2)
    assert rig.read()["inventory.json"].count('"key":') == 4, "with what the killed one may have created"
    assert rig.branches() == ["gitsync/runs/42", STATUS, "gitsync/status-shards/42/2", "gitsync/status-shards/42/3"]


def test_all_shards_may_have_been_killed(killed_at_first, tmp_path):
    rig = killed_at_first.copy(tmp_path)
    report = rig.gather()
    assert [problem.code for problem in report.problems] == ["ShardNotEnded"] * 3
    assert (report.exit_code, report.results, report.revision) == (1, (), rig.revision)


def test_a_second_time_changes_nothing_and_reports_the_same(gathered, tmp_path):
    first = gathered[1]
    rig = gathered[0].copy(tmp_path)
    refs = rig.refs()
    assert report_json.render(rig.gather()) == report_json.render(first)
    assert rig.refs() == refs
    assert rig.read()["report.json"] == report_json.render(first)


@dataclass
class Failed:
    """A run in which a worker failed, of a source with a broken file, gathered; and what was sent to its address."""

    rig: Rig
    parts: Sequence[Report]
    report: Report
    notify: Secret
    got: Sequence[Any]


@pytest.fixture(scope="module")
def failed(new, tmp_path_factory):
    rig = new.copy(tmp_path_factory.mktemp("failed"))
    rig.commit({"d.yaml": PART.format(name="d").replace("westeurope}", "westeurope, odd: 1}"), "e.yaml": "spec: ["})
    with server() as (port, got):
        notify = Secret(f"json://127.0.0.1:{port}/{TOKEN}")
        parts = rig.sync(1, 2, of=2, notify=notify)
        assert got == [], "by no worker"
        yield Failed(rig, parts, rig.gather(notify=notify), notify, got)


def test_a_worker_that_failed_may_be_started_again_after_all_was_gathered(failed, tmp_path):
    """As a pipeline does whose failed jobs are run again, and its last job."""
    rig, before, first = failed.rig.copy(tmp_path), failed.parts, failed.report
    assert sorted(end.exit_code for end in before) == [0, 1]
    assert first.exit_code == 1
    number = [end.exit_code for end in before].index(1) + 1
    (again,) = rig.sync(number, of=2)
    assert "RecordedByAnotherRun" not in {result.condition.reason for result in again.results}
    report = rig.gather()
    assert [(result.key, result.condition.reason) for result in report.results] == [
        (result.key, result.condition.reason) for result in first.results
    ]
    assert report.requests.reads == sum(part.requests.reads for part in (*before, again))
    assert rig.branches() == ["gitsync/runs/42", STATUS]


def test_problems_of_the_source_are_in_all_reports_and_shown_once(failed):
    parts, report = failed.parts, failed.report
    (broken,) = (problem for problem in report.problems if problem.location.startswith("e.yaml"))
    assert all(broken in part.problems for part in parts)
    assert {problem for part in parts for problem in part.problems} == set(report.problems)
    assert len(report.problems) == 2
    assert report.requests.writes == sum(part.requests.writes for part in parts) == 6
    assert report.started == min(part.started for part in parts)
    assert report.finished == max(part.finished for part in parts)
    assert report.outcomes[Outcome.CHANGED] == 6


def test_the_heartbeat_and_the_message_are_those_of_the_whole(unfinished, gathered):
    rig, report = unfinished
    assert {problem.code for problem in report.problems} == {"ShardNotEnded"}, "no message that failed"
    assert HEARTBEAT not in rig.branches()
    assert HEARTBEAT in gathered[0].branches()


def test_the_message_is_sent_once_and_by_the_gathering_alone(failed, tmp_path):
    rig = failed.rig.copy(tmp_path)
    assert rig.gather(notify=failed.notify).exit_code == failed.report.exit_code == 1
    assert [json.loads(body)["title"] for _, body in failed.got] == ["gitsync: failed"]
    assert "d.yaml" not in str(failed.got), "counts, and no values"
    rig.sync(run_id=None, notify=failed.notify)
    assert len(failed.got) == 1, "the status keeps what was said"


KEY = Secret("a key of twenty letters or more")


@pytest.fixture(scope="module")
def sealed(new, tmp_path_factory):
    """The only worker has run with a key. A seal holds the address of its branch, so a copy must be at the same one."""
    rig = new.copy(tmp_path_factory.mktemp("sealed"))
    rig.sync(1, of=1, digest_key=KEY)
    return rig, rig.copy(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def signed(sealed):
    """The same, as it was."""
    rig, kept = sealed
    shutil.rmtree(rig.folder)
    rig.folder.mkdir()
    return kept.copy(rig.folder)


def test_records_are_signed_by_their_worker_and_believed_by_the_next_run(signed, alone):
    report = signed.gather(digest_key=KEY)
    assert (report.exit_code, report.problems) == (0, ())
    assert signed.texts() == alone[0].texts()
    (after,) = signed.sync(writes=False, run_id=None, digest_key=KEY, prune=True)
    assert (after.exit_code, after.problems, after.summary) == (0, (), {"in-sync": 6})


def test_a_record_that_somebody_pushed_to_the_branch_of_a_worker_is_not_believed_once_it_is_gathered(signed):
    path = "default/resources.azure.com/ResourceGroup/a.json"
    record = signed.read(f"{WORKER}1")[path]
    signed.rewrite(1, path, record.replace('"claim": "created"', '"claim": "adopted"'))
    signed.gather(digest_key=KEY)
    (after,) = signed.sync(writes=False, run_id=None, digest_key=KEY)
    (problem,) = after.problems
    assert problem.code == "RecordNotTrusted"
    assert problem.message.startswith("ResourceGroup.resources.azure.com/default/a: ")
    assert {result.key.name for result in after.results if not result.is_fine} == {"a"}


@pytest.mark.parametrize("key", [None, Secret("another key of twenty letters")], ids=["no key", "another key"])
def test_a_run_is_not_gathered_without_its_key(signed, key):
    refs = signed.refs()
    with pytest.raises(ConfigError, match="its seal was not made with the digest key of this run"):
        signed.gather(digest_key=key)
    assert signed.refs() == refs

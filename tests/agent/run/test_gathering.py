"""The workers of a run, and what is gathered of them: the status of a run with one worker, and one report.

On a full disk, with clocks that jump, and of pins that no one could have written: an error or a report that reports it,
nothing is lost, and the next gathering is right.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gitsync.agent.run.gathering import gather, join_run
from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import ConfigError, GitsyncError, StateError
from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.secret import Secret
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report import json as report_json
from gitsync.report.progress import Silent
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.clone import open_clone
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.pins import read_pin
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.agent.notifications.test_services import TOKEN, server
from tests.support.git_repositories import commit_all, init_bare, init_repository, read_object, write_object
from tests.support.world import SUBSCRIPTION

WORKERS = 3
STATUS = "gitsync/status"
WORKER = "gitsync/status-shards/42/"
SHARD = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: {name}}}
spec: {{location: westeurope}}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {{name: net-{name}}}
spec:
  location: westeurope
  owner: {{name: {name}}}
  addressSpace: {{addressPrefixes: [10.0.0.0/16]}}
"""


class Killed(Silent):
    """Progress of a worker that dies once it has announced what it may create."""

    def expect(self, needs):
        raise ProcessLookupError("killed")


class Rig:
    """A repository of as many groups as there are workers, with a remote, and an Azure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bare, work = folder / "bare.git", folder / "work"
        init_bare(self.bare)
        init_repository(work)
        for name in "abc":
            (work / f"{name}.yaml").write_text(SHARD.format(name=name))
        self.revision = commit_all(work)
        subprocess.run(["git", "remote", "add", "origin", self.bare.as_uri()], cwd=work, check=True)
        subprocess.run(["git", "push", "--quiet", "origin", "main"], cwd=work, check=True)
        self.work = work
        self.store = MemoryStore()
        self.puts: list[str] = []
        self.config = Config(
            source=str(work),
            subscription=SUBSCRIPTION,
            credential="anonymous",
            run_id="42",
            checks=("none",),
            who="off",
        )

    def copy(self, folder: Path) -> Rig:
        """A rig of its own that is just like this one: to run workers takes much longer."""
        other = copy.copy(self)
        other.folder, other.bare, other.work = folder, folder / "bare.git", folder / "work"
        shutil.copytree(self.bare, other.bare)
        shutil.copytree(self.work, other.work)
        config = other.work / ".git" / "config"
        config.write_text(config.read_text().replace(self.bare.as_uri(), other.bare.as_uri()))
        other.store, other.puts = copy.deepcopy(self.store), [*self.puts]
        other.config = replace(self.config, source=str(other.work))
        return other

    def commit(self, texts: Mapping[str, str]) -> None:
        for path, text in texts.items():
            (self.work / path).write_text(text)
        self.revision = commit_all(self.work)
        subprocess.run(["git", "push", "--quiet", "origin", "main"], cwd=self.work, check=True)

    def sync(self, *shards: int, of: int = WORKERS, progress=None, stopped=False, writes=True, **settings):
        """Run these workers at once; without a number, one that syncs all. Their reports, in that order."""
        settings_of_shards = [{"shard": f"{number}/{of}"} for number in shards] or [{}]
        return asyncio.run(self._sync([settings | own for own in settings_of_shards], progress, stopped, writes))

    async def _sync(self, runs, progress, stopped, writes):
        stop = asyncio.Event()
        if stopped:
            stop.set()
        async with Emulator(EmulatorSettings(limits=None), self.store) as azure:
            configs = [replace(self.config, endpoint=azure.url, **settings) for settings in runs]
            try:
                return await asyncio.gather(
                    *(execute(config, writes=writes, progress=progress, stop=stop) for config in configs)
                )
            finally:
                self.puts += [request.path for request in azure.requests if request.method == "PUT"]

    def kill(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.sync(number, progress=Killed())

    def gather(self, **settings):
        return gather(replace(self.config, **settings), Redactions())

    def read(self, name: str) -> str:
        """Read a file of the status, without the addresses of this test."""
        return re.sub(r"(file|http):[^ <\"]+", "", self.git("show", f"{STATUS}:{name}"))

    def git(self, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=self.bare, check=True, capture_output=True, text=True).stdout

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/gitsync").split()

    def texts(self) -> tuple[str, ...]:
        return self.read("SUMMARY.md"), self.read("inventory.json")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A repository without a status, and an Azure without resources."""
    return Rig(tmp_path_factory.mktemp("new"))


@pytest.fixture(scope="module")
def alone(new, tmp_path_factory):
    """The status and the report of one worker."""
    rig = new.copy(tmp_path_factory.mktemp("alone"))
    (report,) = rig.sync()
    return rig.texts(), report


@pytest.fixture(scope="module")
def synced(new, tmp_path_factory):
    """All workers have run at once."""
    rig = new.copy(tmp_path_factory.mktemp("synced"))
    rig.sync(1, 2, 3)
    return rig


@pytest.fixture(scope="module")
def gathered(synced, tmp_path_factory):
    """These are gathered: what is there now, and the report."""
    rig = synced.copy(tmp_path_factory.mktemp("gathered"))
    return rig, rig.gather()


@pytest.fixture(scope="module")
def killed_at_first(new, tmp_path_factory):
    """The second was killed before another began."""
    rig = new.copy(tmp_path_factory.mktemp("killed-at-first"))
    rig.kill(2)
    return rig


@pytest.fixture(scope="module")
def unfinished(killed_at_first, tmp_path_factory):
    """Then the third has run, and the first has not begun; gathered: what is there now, and the report."""
    rig = killed_at_first.copy(tmp_path_factory.mktemp("unfinished"))
    rig.sync(3)
    return rig, rig.gather(heartbeat=True, notify=Secret("nothing://here"))


@pytest.fixture
def rig(new, tmp_path):
    return new.copy(tmp_path)


@pytest.fixture
def ended(synced, tmp_path):
    return synced.copy(tmp_path)


def test_the_status_is_that_of_a_run_with_one_worker(gathered, alone):
    check_complete(*gathered, alone)


def test_it_is_the_same_whatever_happened_to_the_workers(unfinished, alone, tmp_path):
    """One was killed, then stopped, and then started again; the last was started once the others were gathered."""
    rig = unfinished[0].copy(tmp_path)
    rig.sync(2, stopped=True)
    assert rig.gather().exit_code == 1
    rig.sync(2)
    assert rig.gather().exit_code == 1
    rig.sync(1)
    check_complete(rig, rig.gather(), alone)


def check_complete(rig, report, alone):
    """Check that a gathered run is as one of one worker."""
    texts, single = alone
    assert rig.texts() == texts
    assert rig.branches() == ["gitsync/runs/42", STATUS]
    assert (report.exit_code, report.interrupted, report.problems) == (0, False, ())
    assert [(result.key, result.condition.reason) for result in report.results] == [
        (result.key, result.condition.reason) for result in single.results
    ]
    assert len(rig.puts) == len(set(rig.puts)) == 2 * WORKERS, "no create is sent twice"
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
    assert rig.read("inventory.json").count('"key":') == 4, "with what the killed one may have created"
    assert rig.branches() == ["gitsync/runs/42", STATUS, "gitsync/status-shards/42/2", "gitsync/status-shards/42/3"]


def test_all_shards_may_have_been_killed(killed_at_first, tmp_path):
    rig = killed_at_first.copy(tmp_path)
    report = rig.gather()
    assert [problem.code for problem in report.problems] == ["ShardNotEnded"] * 3
    assert (report.exit_code, report.results, report.revision) == (1, (), rig.revision)


def test_a_second_time_changes_nothing_and_reports_the_same(gathered, tmp_path):
    first = gathered[1]
    rig = gathered[0].copy(tmp_path)
    refs = rig.git("for-each-ref")
    assert report_json.render(rig.gather()) == report_json.render(first)
    assert rig.git("for-each-ref") == refs
    assert rig.git("show", f"{STATUS}:report.json") == report_json.render(first)


@dataclass
class Failed:
    """A run in which a worker failed, of a source with a broken file, gathered; and what was sent to its address until
    then.
    """

    rig: Rig
    parts: Sequence[Report]
    report: Report
    notify: Secret
    got: Sequence[Any]


@pytest.fixture(scope="module")
def failed(new, tmp_path_factory):
    rig = new.copy(tmp_path_factory.mktemp("failed"))
    rig.commit({"d.yaml": SHARD.format(name="d").replace("westeurope}", "westeurope, odd: 1}"), "e.yaml": "spec: ["})
    with server() as (port, got):
        notify = Secret(f"json://127.0.0.1:{port}/{TOKEN}")
        parts = rig.sync(1, of=2, notify=notify)
        rig.copy(tmp_path_factory.mktemp("failed-early")).gather(notify=notify)
        assert got == [], "not before the run is over"
        parts += rig.sync(2, of=2, notify=notify)
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


def test_the_heartbeat_and_the_message_are_those_of_the_whole(unfinished, ended):
    rig, report = unfinished
    assert {problem.code for problem in report.problems} == {"ShardNotEnded"}
    assert "gitsync/status-heartbeat/gitsync" not in rig.branches()
    ended.gather(heartbeat=True)
    assert "gitsync/status-heartbeat/gitsync" in ended.branches()


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
    """All workers have run with a key. A seal holds the address of its branch, so a copy must be at the same one."""
    rig = new.copy(tmp_path_factory.mktemp("sealed"))
    rig.sync(1, 2, of=2, digest_key=KEY)
    return rig, rig.copy(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def signed(sealed):
    """The same, as it was."""
    rig, kept = sealed
    shutil.rmtree(rig.folder)
    rig.folder.mkdir()
    return kept.copy(rig.folder)


def test_records_are_signed_by_their_workers_and_believed_by_the_next_run(signed, alone):
    texts, _ = alone
    report = signed.gather(digest_key=KEY)
    assert (report.exit_code, report.problems) == (0, ())
    assert signed.texts() == texts
    (after,) = signed.sync(writes=False, run_id=None, digest_key=KEY, prune=True)
    assert (after.exit_code, after.problems, after.summary) == (0, (), {"in-sync": 6})


def test_a_record_that_somebody_pushed_to_the_branch_of_a_worker_is_not_believed_once_it_is_gathered(signed):
    path = "default/resources.azure.com/ResourceGroup/a.json"
    number = next(
        number for number in (1, 2) if path in signed.git("ls-tree", "-r", "--name-only", f"{WORKER}{number}")
    )
    record = signed.git("show", f"{WORKER}{number}:{path}")
    rewrite(signed, number, record.replace('"claim": "created"', '"claim": "adopted"'), path=path)
    signed.gather(digest_key=KEY)
    (after,) = signed.sync(writes=False, run_id=None, digest_key=KEY)
    (problem,) = after.problems
    assert problem.code == "RecordNotTrusted"
    assert problem.message.startswith("ResourceGroup.resources.azure.com/default/a: ")
    assert {result.key.name for result in after.results if not result.is_fine} == {"a"}


@pytest.mark.parametrize("key", [None, Secret("another key of twenty letters")], ids=["no key", "another key"])
def test_a_run_is_not_gathered_without_its_key(signed, key):
    refs = signed.git("for-each-ref")
    with pytest.raises(ConfigError, match="its seal was not made with the digest key of this run"):
        signed.gather(digest_key=key)
    assert signed.git("for-each-ref") == refs


def test_two_gatherings_at_once_leave_one_commit_and_say_the_same(ended, alone):
    texts, _ = alone
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ended.gather(), range(2))
    assert first.problems == second.problems == ()
    assert [result.key for result in first.results] == [result.key for result in second.results]
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert ended.texts() == texts
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


def rewrite(rig, number, content, message=None, path="report.json"):
    """Have somebody push another report, or another file, to the branch of a worker."""
    ref = f"refs/heads/{WORKER}{number}"
    text = message or rig.git("log", "-1", "--format=%B", ref)
    commit = (
        f"commit {ref}\ncommitter x <x@example.com> now\ndata {len(text.encode())}\n{text}\n"
        f"from {ref}^0\nM 100644 inline {path}\ndata {len(content.encode())}\n{content}\n"
    )
    command = ["git", "fast-import", "--quiet", "--date-format=now"]
    subprocess.run(command, cwd=rig.bare, input=commit.encode(), check=True)


def test_a_report_that_no_worker_has_written_is_refused_with_its_branch(ended):
    rewrite(ended, 1, "{")
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
    report = join_run(recorded._replace(workers=workers, ended=dict.fromkeys((1, 2, 3), 0)), SystemClock())
    assert [problem.code for problem in report.problems] == ["ShardNotEnded"]
    assert (report.exit_code, report.interrupted) == (1, True)


def test_an_end_that_no_sync_has_is_refused(ended):
    text = ended.git("log", "-1", "--format=%B", "gitsync/status-shards/42/1").replace("Ended: 0", "Ended: 99")
    rewrite(ended, 1, ended.git("show", "gitsync/status-shards/42/1:report.json") + " ", text)
    with pytest.raises(StateError, match="Shard 1 ended with 99"):
        ended.gather()


PIN = "refs/heads/gitsync/runs/42"
DAY = 86_400


STEPS = ("config", "fetch", "cat-file", "fast-import", "push")
"""What a gathering has git do that writes a file, in order: read the settings, fetch the branches, read the reports, write
the commit, push it. The branches of workers are removed by a push too, which writes nothing.
"""

GIT = """\
#!/bin/sh
trap '' XFSZ  # as on a full disk: a write that is refused, and no signal
for step in {steps} other; do case " $* " in *" $step "*) break;; esac; done
case $step in other) exec {git} "$@";; esac
# What gitsync tries again in the same run has no room at all: more of it proves nothing, and takes time.
if [ -e {folder}/full ]; then echo "the disk is still full" >&2; exit 128; fi
read -r blocks < {folder}/$step
case $step in
  fast-import | push) (ulimit -f "$blocks"; exec {git} "$@") || {{ code=$?; echo $step > {folder}/full; exit $code; }};;
  *) ulimit -f "$blocks"; exec {git} "$@";;
esac
"""


class FullDisk:
    """A program `git` whose files grow to some blocks of 512 bytes, in each step to another number: none at first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for step in STEPS:
            (folder / step).write_text("0\n")
        (folder / "git").write_text(GIT.format(folder=folder, git=shutil.which("git"), steps=" ".join(STEPS)))
        (folder / "git").chmod(0o755)

    def enlarge(self, step: str) -> None:
        """Give more room to a step: all of it to one that leaves nothing behind, so that one failure shows all."""
        blocks = int((self.folder / step).read_text())
        more = blocks * 8 or 2
        (self.folder / step).write_text(f"{more if step in {'fast-import', 'push'} else 'unlimited'}\n")
        (self.folder / "full").unlink(missing_ok=True)

    def find_step(self, message: str) -> str:
        """Find the step that had no room; without a try that was made again, its error names it."""
        full = self.folder / "full"
        return full.read_text().strip() if full.exists() else re.search(r"git (\S+) failed: ", message)[1]


def gather_on_full_disk(rig: Rig, disk: FullDisk) -> Report | str:
    """Gather, and return the report, or the step of git for which the disk had no room."""
    try:
        report = rig.gather()
    except GitsyncError as error:
        message = error.message
    else:
        if not report.exit_code:
            return report
        (problem,) = report.problems
        assert problem.code == "StatusNotWritten"
        message = problem.message
    return disk.find_step(message)


def test_a_full_disk_loses_nothing(ended, gathered, tmp_path, monkeypatch):
    """Each step has more room once it has failed, until a gathering succeeds."""
    branches, disk, failed = ended.branches(), FullDisk(tmp_path / "disk"), []
    rig, report = gathered
    monkeypatch.setenv("PATH", f"{disk.folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)  # between tries
    while isinstance(step := gather_on_full_disk(ended, disk), str):
        failed.append(step)
        assert ended.branches() == branches, f"what the workers have recorded is there for the next: {failed}"
        disk.enlarge(step)
    assert list(dict.fromkeys(failed)) == list(STEPS)
    assert min(failed.count("fast-import"), failed.count("push")) > 1, "also after something was written"
    assert report_json.render(step) == report_json.render(report)
    assert (ended.texts(), ended.branches()) == (rig.texts(), rig.branches())


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
    ("pin", "first", "others"),
    [
        (-20_000, 30_000, 0),
        (-1, 1, 0),
        (1, -1, 0),
        (30_000, -20_000, 0),
        (-20_000, -20_000, -20_000),
        (30_000, 30_000, 30_000),
    ],
)
def test_clocks_that_jump_change_nothing_of_what_is_gathered(ended, gathered, pin, first, others):
    """By so many days, as the clocks of the pin, of the first worker and of the others were ahead."""
    workers = [f"refs/heads/{branch}" for branch in ended.branches() if "shards" in branch]
    for ref, days in zip((PIN, *workers), (pin, first, others, others), strict=True):
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

"""The pin of a run of many workers: who writes it, who reads it, and which pins end a worker."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitsync.errors import ConfigError, StateError
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.clone import open_clone
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.commits import Author, Commit, write_commit
from gitsync.repository.git.state.pins import Pin, check_run_id, find_pin, remove_old_pins, write_pin
from gitsync.repository.git.state.seal import RecordSeals
from tests.support.branch_files import list_branches

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
PIN = Pin(revision="a" * 40, status="b" * 40, branch="gitsync/status", agent="gitsync", workers=8, time=NOW)
KEYED = RecordSeals("gitsync", Secret("k" * 32), source_name="here#gitsync/status")
AUTHOR = Author()


@pytest.fixture
def open_worker(bare):
    """Opens the remote as a worker of its own does."""
    clones = []

    def open_it():
        clones.append(open_clone(open_remote(Url(bare.url, "file"), GitAccess())))
        return clones[-1]

    yield open_it
    for clone in clones:
        clone.close()


def settle_pin(clone, run_id, wanted, seals):
    """The pin of a run, as each of its workers finds or writes it."""
    return find_pin(clone, run_id, wanted, seals) or write_pin(clone, run_id, wanted, seals, AUTHOR)


def test_the_first_worker_decides_and_the_others_read_it(open_worker, bare):
    later = replace(PIN, revision="c" * 40, status="", time=NOW + timedelta(minutes=5))
    assert settle_pin(open_worker(), "42", PIN, RecordSeals()) == PIN
    assert settle_pin(open_worker(), "42", later, RecordSeals()) == PIN
    assert settle_pin(open_worker(), "42-b", later, RecordSeals()) == later
    assert bare.git("log", "--format=%an|%P|%s", "gitsync/runs/42") == "gitsync||Pin the run 42 [skip ci]"
    assert bare.git("ls-tree", "-r", "gitsync/runs/42") == ""


def test_workers_that_come_at_once_agree(open_worker):
    wanted = [replace(PIN, revision=f"{number:040x}") for number in range(4)]
    settled: list[Pin] = []
    clones = [open_worker() for _ in wanted]
    threads = [
        threading.Thread(target=lambda clone=clone, pin=pin: settled.append(settle_pin(clone, "7", pin, KEYED)))
        for clone, pin in zip(clones, wanted, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(settled) == len(wanted)
    assert len(set(settled)) == 1
    assert settled[0].revision in {pin.revision for pin in wanted}


REFUSED = [
    ({"workers": 4}, "it is for 8 workers, and this run has 4", "a job of the matrix has another number"),
    ({"branch": "other"}, "it is for the status branch gitsync/status", "two targets in one pipeline"),
    ({"agent": "blue"}, "it is for the agent gitsync", "two agents in one pipeline"),
    ({"time": NOW + timedelta(hours=25)}, "it was written at 2026-05-01 10:00 UTC", "an id that was used before"),
    ({"time": NOW - timedelta(hours=2)}, "it was written at 2026-05-01 10:00 UTC", "made up for later"),
]


def test_a_pin_of_another_run_ends_the_worker(open_worker, subtests):
    settle_pin(open_worker(), "42", PIN, RecordSeals())
    for own, fault, why in REFUSED:
        with subtests.test(why):
            with pytest.raises(ConfigError, match=fault) as refusal:
                settle_pin(open_worker(), "42", replace(PIN, **own), RecordSeals())
            assert "--run-id" in refusal.value.hint


@pytest.mark.parametrize(
    ("writer", "reader", "name"),
    [
        pytest.param(RecordSeals(), KEYED, "42", id="without a key"),
        pytest.param(replace(KEYED, key=Secret("x" * 32)), KEYED, "42", id="with another key"),
        pytest.param(KEYED, RecordSeals(), "42", id="read without the key"),
        pytest.param(replace(KEYED, source_name="there#gitsync/status"), KEYED, "42", id="of another repository"),
        pytest.param(KEYED, KEYED, "43", id="of another run"),
    ],
)
def test_a_forged_pin_ends_the_worker(open_worker, bare, writer, reader, name):
    settle_pin(open_worker(), "42", PIN, writer)
    if name != "42":
        bare.git("branch", f"gitsync/runs/{name}", "gitsync/runs/42")
    with pytest.raises(ConfigError, match="its seal was not made with the digest key of this run"):
        settle_pin(open_worker(), name, PIN, reader)


def test_a_branch_that_is_not_a_pin_ends_the_worker(open_worker, cloned, bare):
    cloned.put("file", "text")
    cloned.commit("Revision: none")
    cloned.git("push", "--quiet", "origin", "HEAD:refs/heads/gitsync/runs/42")
    with pytest.raises(ConfigError, match="gitsync/runs/42 is not the pin of a run"):
        settle_pin(open_worker(), "42", PIN, RecordSeals())


def test_a_remote_that_takes_no_push_ends_the_worker_before_it_begins(open_worker, bare):
    hook = bare.put("hooks/pre-receive", "#!/bin/sh\necho no pins here >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(StateError, match="cannot be pushed"):
        settle_pin(open_worker(), "42", PIN, RecordSeals())


@pytest.mark.parametrize("name", ["", "-f", ".", "..", "a..b", "a/b", "a.", "a.lock", "a b", "x" * 101, "ä", "a\n"])
def test_ids_that_cannot_name_a_run(name):
    with pytest.raises(ConfigError, match="cannot name a run"):
        check_run_id(name)


@pytest.mark.parametrize("name", ["1", "12345-1", "0d4e2f6a-1b2c-4d5e-8f90-123456789abc", "prod_eu.2", "x" * 100])
def test_ids_of_engines(name):
    assert check_run_id(name) == name


def test_old_pins_are_removed_and_those_of_the_last_days_stay(open_worker, bare):
    for days in (1, 6, 8, 30):
        push_pin(open_worker(), bare, days)
    remove_old_pins(open_worker(), NOW)
    assert list(list_branches(bare.path)) == ["gitsync/runs/run-1", "gitsync/runs/run-6"]
    remove_old_pins(open_worker(), NOW)


def test_a_commit_stays_in_the_pack_that_it_was_written_to(open_worker):
    """To take a pack apart, git starts a program for each commit."""
    clone = open_worker()
    write_commit(clone.repository, Commit(parent=None, files={"a": b"b"}, message="Pin", author=AUTHOR, time=NOW))
    assert clone.repository.line("count-objects").startswith("0 objects")


def push_pin(clone, bare, days):
    commit = write_commit(
        clone.repository,
        Commit(parent=None, files={}, message="Pin", author=AUTHOR, time=NOW - timedelta(days=days)),
    )
    clone.repository.run("push", "--quiet", "--", bare.url, f"{commit}:refs/heads/gitsync/runs/run-{days}")

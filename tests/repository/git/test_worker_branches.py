"""What workers of a run record: on branches of their own, united by who reads, and folded by the next push."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.errors import PublishError
from gitsync.model.record import Claim, State, Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.pins import Pin
from gitsync.repository.git.state.record_files import UNSEALED
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.worker_branches import name_worker
from gitsync.repository.git.state.worker_store import WorkerStore
from tests.repository.git.remembered import a_record, an_update, read_status, write_status
from tests.support.branch_files import list_branches, read_branch_files
from tests.support.hypothesis_profile import scale
from tests.support.parts import change

NAME = "gitsync/status"


@pytest.fixture
def open_status(bare, clock):
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    return lambda: StatusBranch(remote, NAME, clock=clock, patience=0.01)


@pytest.fixture
def open_worker(bare, clock, open_status):
    """Opens the store of a worker that begins with a commit of the status branch."""
    remote = open_remote(Url(bare.url, "file"), GitAccess())

    def open_it(number, start="", pinned=None, run_id="42"):
        own = StatusBranch(remote, name_worker(NAME, run_id, number), clock=clock, patience=0.01, start=start)
        return WorkerStore(own, open_status(), pinned or State({}), number, 8)

    return open_it


def save(store, *records, ended=0, **changes):
    with store:
        store.load()
        return store.save(replace(an_update(*records), exit_code=ended, **changes))


def load(store):
    with store:
        return store.load()


def branches(bare):
    return list(list_branches(bare.path))


def tip(bare):
    return list_branches(bare.path)[NAME]


def test_records_of_workers_are_part_of_the_state_and_the_next_push_takes_them(open_status, open_worker, bare):
    one, two, three, new = (a_record(name) for name in ("one", "two", "three", "new"))
    start = write_status(bare.path, an_update(one, two))
    pinned = read_status(bare.path)
    changed = change(one, count=2)
    save(open_worker(1, start, pinned), changed)
    save(open_worker(2, start, pinned), three, records={two.key: None, three.key: three})
    assert tip(bare) == start
    assert load(open_status()).records == {one.key: changed, three.key: three}
    save(open_status(), new)
    assert branches(bare) == [NAME]
    assert read_status(bare.path).records == {one.key: changed, three.key: three, new.key: new}
    assert bare.git("rev-list", "--count", NAME) == "2"


def test_a_first_sync_by_workers_has_no_status_branch_before(open_status, open_worker, bare):
    one, two = a_record("one"), a_record("two")
    save(open_worker(1), one)
    save(open_worker(2), two)
    assert branches(bare) == ["gitsync/status-shards/42/1", "gitsync/status-shards/42/2"]
    assert load(open_status()).records == {one.key: one, two.key: two}
    with open_status() as store:
        store.load()
        assert not store.save(an_update()), "nothing of its own"
    assert branches(bare) == [NAME]
    assert read_status(bare.path).records == {one.key: one, two.key: two}


def test_a_worker_that_changed_nothing_still_reports_that_it_ended(open_worker, bare):
    record = a_record("one")
    start = write_status(bare.path, an_update(record))
    assert not save(open_worker(3, start, read_status(bare.path)), record, ended=1)
    assert bare.git("log", "-1", "--format=%(trailers:key=Ended,valueonly)", "gitsync/status-shards/42/3") == "1"


def test_a_worker_holds_the_records_of_the_estate_once(open_status, bare):
    write_status(bare.path, an_update(a_record("one")))
    with open_status() as status:
        on_status, pinned = status.load(), status.read_at(tip(bare))
        with status.open_worker("42", 1, tip(bare)) as own, status.open_again() as again:
            states = (pinned, own.load(), again.load())
            key = a_record("one").key
            assert all(state.records[key] is on_status.records[key] for state in states)


def test_a_worker_that_is_started_again_reads_what_it_has_claimed(open_status, open_worker):
    claim = change(a_record("one"), claim=Claim.EXPECTED, count=0)
    with open_worker(1) as store:
        store.load()
        assert store.reserve(an_update(claim)) == {}
    assert load(open_worker(1)).records == {claim.key: claim}
    assert load(open_worker(2)).records == {}
    assert load(open_status()).records == {claim.key: claim}, "the next run knows what may exist"


def test_claims_of_a_worker_that_goes_on_are_folded_and_its_branch_stays(open_status, open_worker, bare, clock):
    claim = change(a_record("one"), claim=Claim.EXPECTED, count=0)
    other = a_record("other")
    with open_worker(1) as store:
        store.load()
        store.reserve(an_update(claim))
        save(open_status(), other)  # a run that overlaps
        assert branches(bare) == [NAME, "gitsync/status-shards/42/1"]
        created = change(claim, claim=Claim.CREATED, count=1)
        store.save(replace(an_update(created), exit_code=0))
    assert load(open_status()).records == {created.key: created, other.key: other}
    save(open_status(), other)
    assert branches(bare) == [NAME]
    assert read_status(bare.path).records == {created.key: created, other.key: other}


def test_a_worker_that_never_ended_is_forgotten_after_a_day(open_status, open_worker, bare, clock):
    claim = change(a_record("one"), claim=Claim.EXPECTED, count=0)
    with open_worker(1) as store:
        store.load()
        store.reserve(an_update(claim))
    save(open_status(), a_record("other"))
    assert branches(bare) == [NAME, "gitsync/status-shards/42/1"]
    clock.time = "2024-05-02T11:00:01Z"
    save(open_status(), a_record("other"))
    assert branches(bare) == [NAME]
    assert read_status(bare.path).records[claim.key] == claim


def test_what_a_later_run_has_recorded_is_not_undone_by_a_branch_that_was_left_behind(open_status, open_worker, bare):
    record = a_record("one")
    start = write_status(bare.path, an_update(record))
    save(open_worker(1, start, read_status(bare.path)), change(record, count=2))
    branch = bare.path / "refs/heads/gitsync/status-shards/42/1"
    left = branch.read_text()
    save(open_status(), change(record, count=3))
    branch.parent.mkdir(parents=True, exist_ok=True)
    branch.write_text(left)  # it could not be removed
    assert load(open_status()).records == {record.key: change(record, count=3)}


def test_a_claim_is_left_to_the_run_that_has_recorded_the_resource_since_the_pin(open_status, open_worker, bare):
    other = a_record("other")
    start = write_status(bare.path, an_update(other))
    pinned = read_status(bare.path)
    record = a_record("one")
    write_status(bare.path, an_update(record))
    claim = change(record, claim=Claim.EXPECTED, count=0)
    with open_worker(1, start, pinned) as store:
        store.load()
        assert store.reserve(an_update(claim)) == {record.key: record}
    assert load(open_status()).records == {record.key: record, other.key: other}


def test_nothing_is_lost_if_a_run_that_did_not_see_a_worker_pushes_first(open_status, open_worker, bare):
    one, other = a_record("one"), a_record("other")
    with open_status() as faster, open_status() as slower:
        faster.load()
        save(open_worker(1), one)
        slower.load()
        faster.save(an_update(other))
        slower.save(an_update())
    assert branches(bare) == [NAME]
    assert read_status(bare.path).records == {one.key: one, other.key: other}


def test_a_worker_reads_the_status_that_was_pushed_for_the_pin_since_it_looked(open_status, open_worker, bare, clock):
    """The first worker of a run takes in what the run before has recorded, between two looks of the second worker."""
    record = a_record("one")
    save(open_worker(1, run_id="before"), record)
    wanted = Pin(revision="a" * 40, status="", branch=NAME, agent="gitsync", workers=2, time=clock.now())
    with open_status() as first, open_status() as late:
        late.load()
        first.load()
        pin = first.settle_pin("now", wanted, an_update())
        assert pin.status == tip(bare)
        assert late.settle_pin("now", replace(wanted, revision="b" * 40), an_update()) == pin
        assert (late.commit, late.state.records) == (pin.status, {record.key: record})


def test_the_seal_of_a_record_is_that_of_its_worker_whichever_worker_takes_it_in(bare, clock, open_status):
    """Otherwise anyone who can push to such a branch would have a record sealed by the next run."""
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    sealed = RecordSeals("gitsync", Secret("k" * 32), source_name="here")

    def open_it(name, seals, start=None):
        return StatusBranch(remote, name, clock=clock, patience=0.01, seals=seals, start=start)

    good, forged = a_record("good"), a_record("forged")
    save(open_it(name_worker(NAME, "42", 1), sealed, ""), good)
    save(open_it(name_worker(NAME, "42", 2), UNSEALED, ""), forged)
    save(open_status())  # a run without the key
    found = load(open_it(NAME, sealed)).records
    assert {key.name: record.trust for key, record in found.items()} == {"good": Trust.SIGNED, "forged": Trust.UNSIGNED}
    save(open_it(NAME, sealed), a_record("new"))
    assert load(open_it(NAME, sealed)).records[forged.key].trust is Trust.UNSIGNED


NO_NAME = RecordSeals("gitsync", Secret("k" * 32), source_name="#gitsync/status")
"""Of a repository without a remote, where only the identity distinguishes one status from another."""


def open_sealed(bare, clock, name=NAME):
    return StatusBranch(
        open_remote(Url(bare.url, "file"), GitAccess()), name, clock=clock, patience=0.01, seals=NO_NAME
    )


def record_with_workers(bare, clock, run_id, *records):
    """Have a worker for each record, all of one run, as they begin without knowing of each other."""
    for number, record in enumerate(records, 1):
        with open_sealed(bare, clock) as status:
            status.load()
            wanted = Pin(
                revision="a" * 40, status="", branch="", agent="gitsync", workers=len(records), time=clock.now()
            )
            pin = status.settle_pin(run_id, wanted, an_update())
            with status.open_worker(run_id, number, pin.status) as own:
                own.load()
                own.save(replace(an_update(record), exit_code=0))


def read_identity(bare, name=NAME):
    return read_branch_files(bare.path, name)["identity"]


def find_trust(bare, clock):
    return {key.name: record.trust for key, record in load(open_sealed(bare, clock)).records.items()}


def find_saved_trust(bare):
    """Of the records of the status branch alone, without a fetch."""
    return {key.name: record.trust for key, record in read_status(bare.path, seals=NO_NAME).records.items()}


@pytest.mark.parametrize("has_status", [False, True])
def test_all_workers_seal_for_the_status_that_takes_in_what_they_record(bare, clock, has_status):
    if has_status:  # by a run without the key, so that it has no identity yet
        write_status(bare.path, an_update(a_record("old")))
    record_with_workers(bare, clock, "42", a_record("one"), a_record("two"))
    identities = {read_identity(bare, name) for name in branches(bare) if "runs" not in name}
    assert len(identities) == 1
    old = {"old": Trust.UNSIGNED} if has_status else {}
    assert find_trust(bare, clock) == {**old, "one": Trust.SIGNED, "two": Trust.SIGNED}
    save(open_sealed(bare, clock))
    assert find_saved_trust(bare) == {**old, "one": Trust.SIGNED, "two": Trust.SIGNED}
    assert {read_identity(bare)} == identities


def test_workers_of_a_later_run_seal_for_the_same_status(bare, clock):
    save(open_sealed(bare, clock), a_record("one"), a_record("two"))
    identity = read_identity(bare)
    record_with_workers(bare, clock, "43", a_record("one", count=2), a_record("three"))
    assert find_trust(bare, clock) == {"one": Trust.SIGNED, "three": Trust.SIGNED, "two": Trust.SIGNED}
    assert {read_identity(bare, name) for name in branches(bare) if "runs" not in name} == {identity}


def test_what_a_worker_of_another_status_recorded_is_not_believed(bare, clock, tmp_path):
    other = type(bare)(Path(shutil.copytree(bare.path, tmp_path / "other.git")))
    record_with_workers(other, clock, "42", a_record("theirs"))
    record_with_workers(bare, clock, "43", a_record("ours"))
    moved = name_worker(NAME, "42", 1)
    bare.git("fetch", "--quiet", other.url, f"+refs/heads/{moved}:refs/heads/{moved}")
    assert find_trust(bare, clock) == {"ours": Trust.SIGNED, "theirs": Trust.OTHER_STATUS}
    save(open_sealed(bare, clock), a_record("new"))
    assert find_saved_trust(bare) == {"new": Trust.SIGNED, "ours": Trust.SIGNED, "theirs": Trust.OTHER_STATUS}


def test_two_first_runs_at_once_agree_on_one_identity(bare, clock):
    with open_sealed(bare, clock) as one, open_sealed(bare, clock) as two:
        one.load()
        two.load()
        one.save(an_update(a_record("one")))
        identity = read_identity(bare)
        two.save(an_update(a_record("two")))
    assert read_identity(bare) == identity
    assert find_saved_trust(bare) == {"one": Trust.SIGNED, "two": Trust.SIGNED}


def test_a_status_without_seals_has_no_identity_and_the_same_bytes(bare, clock):
    save(StatusBranch(open_remote(Url(bare.url, "file"), GitAccess()), NAME, clock=clock), a_record("one"))
    assert "identity" not in read_branch_files(bare.path, NAME)


def test_a_worker_whose_end_cannot_be_pushed_does_not_pass_for_ended(open_worker, bare):
    record = a_record("one")
    with open_worker(1) as store:
        store.load()
        hook = Path(bare.path) / "hooks" / "pre-receive"
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        with pytest.raises(PublishError):
            store.save(replace(an_update(), exit_code=0))
    hook.unlink()
    assert save(open_worker(1), record)


WORKERS = scale(64)


def test_workers_that_end_in_the_same_second_lose_nothing(open_status, bare, clock):
    """All of them push to one repository at once, and so does a run that overlaps."""
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    start = threading.Barrier(WORKERS)

    def end(number):
        own = StatusBranch(remote, name_worker(NAME, "42", number), clock=clock, patience=0.01, start="")
        with own:
            own.load()
            start.wait()
            own.save(replace(an_update(a_record(f"r{number}")), exit_code=0))

    threads = [threading.Thread(target=end, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_status() as status:
        assert len(status.load().records) == WORKERS
        status.save(an_update(a_record("other")))
    assert len(read_status(bare.path).records) == WORKERS + 1
    assert branches(bare) == [NAME]


NO_BASE = f"Status\n\nBase: {'0' * 40}\n"
STRAYS = [
    ("note", "Notes", {}, "gitsync did not write it"),
    ("notes/1", "Notes", {}, "gitsync did not write it"),
    ("42/one", NO_BASE, {}, "gitsync did not write it"),
    ("43/1/2", NO_BASE, {}, "gitsync did not write it"),
    ("42/01", NO_BASE, {}, "gitsync did not write it"),
    ("42/99999999999999", NO_BASE, {}, "gitsync did not write it"),
    ("42/2", "Status\n\nBase: main\n", {}, "gitsync did not write it"),
    ("42/3", "Status\n\nBase: \x01refs/gitsync\n", {}, "gitsync did not write it"),
    ("42/4", f"Status\n\nBase: {'5' * 40}\n", {}, "is gone"),
    ("42/5", NO_BASE, {"inventory.json": "[1, 2"}, "inventory.json"),
    ("42/6", NO_BASE, {"inventory.json": '{"schema": 99}\n'}, "schema"),
    ("42/7", NO_BASE, {"inventory.yaml": "[1, 2"}, "inventory.yaml"),
    ("42/8", NO_BASE, {"inventory.yaml": "schema: 0\n"}, "schema"),
]
"""Branches of one commit as anybody who may push can make them: their names among those of workers, their messages and
files, and the reason that is given for each.
"""


def test_stray_branches_among_those_of_workers_are_named_and_left_out(open_status, open_worker, bare):
    one, two, new = (a_record(name) for name in ("one", "two", "new"))
    start = write_status(bare.path, an_update(one))
    save(open_worker(1, start, read_status(bare.path)), two)
    says, commits = {}, []
    for name, message, files, reason in STRAYS:
        stray = f"{NAME}-shards/{name}"
        says[stray] = reason
        commits.append((stray, files, message))
    bare.write_commits(commits)
    state = load(open_status())
    assert state.records == {one.key: one, two.key: two}
    assert state.strays.keys() == says.keys()
    assert {stray: text for stray, text in state.strays.items() if says[stray] not in text} == {}
    save(open_status(), new)
    assert set(branches(bare)) == {NAME, *says}, "they stay, and what the worker recorded is taken"
    assert read_status(bare.path).records == {one.key: one, two.key: two, new.key: new}

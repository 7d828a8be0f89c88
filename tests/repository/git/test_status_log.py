"""The history of a status branch, as git has it."""

import subprocess

import pytest

from gitsync.model.record import Claim
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from tests.repository.git.remembered import a_record, an_update, write_status

NAME = "gitsync/status"
PATH = "default/resources.azure.com/ResourceGroup/one.json"


@pytest.fixture
def status(bare, clock):
    """The status branch, with a commit an hour."""

    class Status:
        def open(self, url=bare.url):
            return StatusBranch(open_remote(Url(url, "file"), GitAccess()), NAME, clock=clock, patience=0.01)

        def save(self, hour, *records, **more):
            return write_status(bare.path, an_update(*records, **more), f"2024-05-01T{hour:02}:00:00Z")

        def read(self, known="", time=""):
            with self.open() as store:
                store.load()
                log = store.read_log(known, time)
                blobs = [change.new for commit in log.commits for change in commit.changes if change.new]
                return log, dict(log.read(dict.fromkeys(blobs)))

    return Status()


def test_each_commit_names_the_blobs_of_what_it_changed(status, bare):
    first = status.save(1, a_record("one"))
    second = status.save(2, a_record("one", claim=Claim.ADOPTED), a_record("two"), report='{"a": 1}\n')
    third = status.save(3, forget=(a_record("one").key,), revision="b" * 40, headline="Delete 1")
    log, contents = status.read()
    assert [commit.id for commit in log.commits] == [first, second, third]
    assert [commit.time for commit in log.commits] == [f"2024-05-01T0{hour}:00:00Z" for hour in (1, 2, 3)]
    assert (log.commits[2].subject, log.commits[2].revision) == ("Delete 1 [skip ci]", "b" * 40)
    changes = [{change.path: change for change in commit.changes} for commit in log.commits]
    assert [sorted(each) for each in changes] == [
        [PATH, "report.json"],
        [PATH, PATH.replace("one", "two"), "report.json"],
        [PATH, "report.json"],
    ]
    assert changes[0][PATH].old == ""
    assert changes[1][PATH].old == changes[0][PATH].new
    assert (changes[2][PATH].old, changes[2][PATH].new) == (changes[1][PATH].new, "")
    assert contents[changes[1][PATH].new] == bare.git("show", f"{second}:{PATH}").encode() + b"\n"
    assert (log.continues, log.is_cut) == (False, False)


def test_what_follows_a_known_commit_is_read_alone(status):
    commits = [status.save(hour, a_record(f"r{hour}")) for hour in range(1, 5)]
    for known, hour in ((0, 1), (2, 3)):
        log, _ = status.read(commits[known], f"2024-05-01T0{hour}:00:00Z")
        assert log.continues
        assert [commit.id for commit in log.commits] == commits[known + 1 :]
    log, _ = status.read(commits[3], "2024-05-01T04:00:00Z")
    assert (log.continues, log.commits) == (True, ())


UNKNOWN = (
    ("f" * 40, "2024-05-01T01:00:00Z", "a commit that was rewound"),
    ("--all", "2024-05-01T01:00:00Z", "an option"),
    ("", "", "none"),
    (None, "2099-01-01T00:00:00Z", "a time after all commits"),
    (None, "--upload-pack=x", "a time that is an option"),
)


def test_all_is_read_where_the_known_commit_is_of_no_use(status, subtests):
    commits = [status.save(hour, a_record(f"r{hour}")) for hour in (1, 2, 3)]
    for known, time, why in UNKNOWN:
        with subtests.test(why):
            log, _ = status.read(commits[0] if known is None else known, time)
            assert not log.continues
            assert [commit.id for commit in log.commits] == commits


def test_other_files_are_skipped(status, bare):
    tip = status.save(1, a_record("one"))
    blob = bare.git("hash-object", "-w", "--stdin", stdin=b"/etc/passwd")
    bare.git("read-tree", tip)
    for mode, path in (("120000", PATH), ("100644", "notes/x.txt"), ("100644", ":1 2 3.json"), ("100644", "a\nb.json")):
        bare.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
    forged = bare.git("commit-tree", bare.git("write-tree"), "-p", tip, "-m", "Forge\n\nRevision: x")
    bare.git("update-ref", f"refs/heads/{NAME}", forged)
    with status.open() as store:
        store._refresh = lambda: None  # a tree with a link cannot be loaded
        store._tip = forged
        store._clone().fetch(f"+refs/heads/{NAME}:refs/gitsync/status")
        [_, commit] = store.read_log("", "").commits
    assert commit.revision == ""
    assert [(change.path, change.new) for change in commit.changes] == [(PATH, blob)]


def test_a_history_in_yaml_and_one_in_json_have_the_same_paths(status, bare):
    tip = status.save(1, a_record("one"))
    blob = bare.git("hash-object", "-w", "--stdin", stdin=b"schema: 1\n")
    bare.git("read-tree", tip)
    bare.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{PATH.replace('.json', '.yaml')}")
    bare.git("update-index", "--index-info", stdin=f"0 {'0' * 40}\t{PATH}\n".encode())
    former = bare.git("commit-tree", bare.git("write-tree"), "-p", tip, "-m", "Convert")
    bare.git("update-ref", f"refs/heads/{NAME}", former)
    with status.open() as store:
        store._tip = former
        store._clone().fetch(f"+refs/heads/{NAME}:refs/gitsync/status")
        [_, commit] = store.read_log("", "").commits
    [change] = commit.changes
    assert (change.path, change.file, change.new) == (PATH, PATH.replace(".json", ".yaml"), blob)
    assert (
        change.old
        == subprocess.run(
            ["git", "rev-parse", f"{tip}:{PATH}"], cwd=bare.path, check=True, capture_output=True, text=True
        ).stdout.strip()
    )

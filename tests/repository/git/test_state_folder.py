"""State in a folder: the same tree as on a branch, whole at any moment, one run at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitsync.errors import PublishError, StateError
from gitsync.model.record import State
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.repository.git.remembered import a_record, an_update
from tests.support.parts import change

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "made" / "state"


@pytest.fixture
def store(folder):
    with StatusFolder(folder) as store:
        yield store


def kept(folder) -> State:
    return StatusFolder(folder).load()


def tree(folder) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_folder_that_is_not_there_is_an_empty_state_and_is_not_made(store, folder):
    assert store.load() == State({})
    assert not folder.parent.exists()


def test_what_is_saved_is_loaded(store, folder):
    record = a_record("one")
    assert store.save(an_update(record))
    assert kept(folder) == State({record.key: record}, "a" * 40)
    assert store.save(an_update(a_record("two"), forget=(record.key,)))
    assert [key.name for key in kept(folder).records] == ["two"]


def test_nothing_is_written_where_nothing_changed(store, folder):
    store.save(an_update(a_record("one")))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert not store.save(an_update(a_record("one"), summary="new", revision="b" * 40))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_an_inventory_of_very_many_records_is_read(store, folder):
    """That of 30,000 records has 9 MB. One that gitsync did not write just so is read as a whole."""
    record = a_record("one")
    store.save(an_update(record))
    inventory = folder / "inventory.json"
    inventory.write_bytes(inventory.read_bytes() + b" " * 9_000_000 + b"\n")
    assert kept(folder) == State({record.key: record}, "a" * 40)


def test_the_tree_is_the_branchs(store, folder, bare, clock):
    updates = [an_update(a_record("one"), a_record("two")), an_update(forget=(a_record("two").key,), summary="# New\n")]
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    with StatusBranch(remote, "status", clock=clock) as branch:
        branch.load()
        for update in updates:
            store.save(update)
            branch.save(update)
    paths = bare.git("ls-tree", "-r", "--name-only", "status").splitlines()
    shown = {path: bare.git("show", f"status:{path}").encode() for path in paths}
    assert {path: content.strip() for path, content in tree(folder).items()} == shown


def test_folders_that_become_empty_go(store, folder):
    record = a_record("one")
    store.save(an_update(record))
    store.save(an_update(forget=(record.key,)))
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        "SUMMARY.md",
        "inventory.json",
        "inventory.yaml",
        "report.json",
    ]


def test_what_others_wrote_since_the_load_stays(folder):
    mine, theirs = a_record("mine"), a_record("theirs")
    with StatusFolder(folder) as store:
        store.save(an_update(mine, theirs))
    late = StatusFolder(folder)
    late.load()
    with StatusFolder(folder) as early:
        early.load()
        early.save(an_update(change(theirs, generation=2)))
    with late:
        late.save(an_update(change(mine, generation=3), theirs))
    assert {key.name: record.spec.generation for key, record in kept(folder).records.items()} == {
        "mine": 3,
        "theirs": 2,
    }


def test_two_runs_at_once_are_refused(folder):
    with StatusFolder(folder) as first, StatusFolder(folder) as second:
        first.check_writable()
        assert second.load() == State({}), "reading needs no lock"
        with pytest.raises(StateError, match=rf"is locked by another run \(pid {os.getpid()}\)"):
            second.check_writable()
        with pytest.raises(StateError, match="is locked by another run"):
            second.save(an_update(a_record("one")))
    with StatusFolder(folder) as third:
        third.check_writable()


def test_killed_at_any_point_it_can_be_read_and_the_next_run_fixes_it(folder):
    """The lock of the killed run does not hold."""
    command = [sys.executable, "-m", "tests.repository.git.killed_while_saving", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40, "kills at every touch of the file system"


def test_a_folder_with_other_files_is_not_taken_for_status(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("precious")
    store = StatusFolder(tmp_path)
    with pytest.raises(StateError, match=r"no inventory\.json"):
        store.load()
    with store, pytest.raises(PublishError, match=r"no inventory\.json"):
        store.save(an_update(a_record("one")))
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_a_file_is_not_a_folder(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StateError, match="is not a folder"):
        StatusFolder(tmp_path / "file").load()


REPLACED = {
    "a file": lambda folder: folder.write_text("x"),
    "a dangling link": lambda folder: folder.symlink_to("nowhere"),
    "a link to a folder": lambda folder: folder.symlink_to(folder.parent),
    "a link in a circle": lambda folder: folder.symlink_to(folder.name),
}


@pytest.mark.parametrize("replace", REPLACED.values(), ids=REPLACED)
def test_a_folder_that_something_else_replaced_cannot_be_written(store, folder, replace):
    """As any other that cannot be written, since the run has changed Azure by then."""
    store.save(an_update(a_record("one")))
    folder.rename(folder.parent / "before")
    replace(folder)
    with pytest.raises(PublishError) as caught:
        store.save(an_update(a_record("two")))
    assert caught.value.message == f"Status cannot be written to {folder}: Not a directory."
    assert caught.value.hint == "Grant this user write access, or set --status-dir to another folder."
    assert not [path for path in folder.parent.iterdir() if path.name not in {"before", folder.name}]


def test_a_file_that_cannot_be_written_is_named_with_its_folder(store, folder):
    """As without write access to one folder: many folders have a file of that name."""
    record = a_record("one")
    store.save(an_update(record))
    (file,) = folder.rglob("one.json")
    (file.parent / ".half-written").mkdir()
    with pytest.raises(PublishError) as caught:
        store.save(an_update(a_record("one", arm_api_version="2025-04-01")))
    assert caught.value.message == f"Status cannot be written to {file}: File exists."


def test_links_are_neither_read_nor_written_through(store, folder, tmp_path: Path):
    store.save(an_update(a_record("one")))
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "other").symlink_to(outside)
    with pytest.raises(StateError, match="symbolic link"):
        store.load()
    with pytest.raises(PublishError, match=r"cannot be written to .*other in .* is a symbolic link"):
        store.save(an_update(a_record("two")))
    (tmp_path / "linked").symlink_to(folder)
    with pytest.raises(StateError, match="symbolic link"):
        StatusFolder(tmp_path / "linked").load()
    assert not list(outside.iterdir())


def test_hidden_links_are_not_written_through(folder, tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.mkdir(parents=True)
    (folder / ".half-written").symlink_to(victim)
    with StatusFolder(folder) as store:
        store.save(an_update(a_record("one")))
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(victim)
    with StatusFolder(folder) as store, pytest.raises(PublishError, match="cannot be written"):
        store.check_writable()
    assert victim.read_text() == "precious"


def test_a_link_above_the_folder_is_where_people_put_it(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    with StatusFolder(tmp_path / "linked" / "state") as store:
        store.save(an_update(a_record("one")))
    assert len(kept(tmp_path / "real" / "state").records) == 1


def test_a_folder_that_cannot_be_made_is_reported_before_anything_is_written(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with StatusFolder(tmp_path / "file" / "state") as store, pytest.raises(PublishError, match="cannot be written"):
        store.check_writable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_reported(tmp_path: Path):
    tmp_path.chmod(0o500)
    with StatusFolder(tmp_path / "state") as store, pytest.raises(PublishError, match="Permission denied"):
        store.check_writable()

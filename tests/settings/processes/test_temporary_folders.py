"""Temporary folders: those of killed runs go, those of other runs stay."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile

import pytest

from gitsync.settings.processes.temporary_folders import (
    make_temporary_folder,
    open_temporary_folder,
    remove_temporary_folder,
)

FORK = multiprocessing.get_context("fork")


def hold(sender):
    folder = make_temporary_folder()
    (folder / "clone").write_text("much")
    sender.send(folder)
    signal.pause()


def come_and_go():
    for _ in range(200):
        with open_temporary_folder() as folder:
            (folder / "file").write_text("it is there")
            assert (folder / "file").read_text()


@pytest.fixture(autouse=True)
def location(tmp_path, monkeypatch):
    """The folder of temporary files, for this process and those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_the_folder_of_a_killed_run_is_removed_by_the_next():
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=hold, args=(sender,), daemon=True)
    process.start()
    folder = receiver.recv()
    with open_temporary_folder():
        assert (folder / "clone").exists(), "its run goes on"
    process.kill()
    process.join()
    assert (folder / "clone").exists()
    with open_temporary_folder() as own:
        assert own.exists()
        assert not folder.exists()


def test_folders_are_private_and_several_at_once(location):
    first, second = make_temporary_folder(), make_temporary_folder()
    assert {folder.stat().st_mode & 0o777 for folder in (first, second)} == {0o700}
    remove_temporary_folder(first)
    assert list(location.iterdir()) == [second]
    remove_temporary_folder(second)
    assert list(location.iterdir()) == []


def test_what_is_not_known_to_be_a_folder_of_a_run_stays(location):
    shared, file, link, target = (
        location / name for name in ("gitsync-run-1", "gitsync-run-2", "gitsync-run-3", "mine")
    )
    shared.mkdir(mode=0o755)
    file.write_text("x")
    target.mkdir(mode=0o700)
    link.symlink_to(target)
    (location / "gitsync-old").mkdir(mode=0o700)
    before = sorted(location.iterdir())
    with open_temporary_folder():
        pass
    assert sorted(location.iterdir()) == before


def test_what_a_link_in_an_abandoned_folder_leads_to_stays(location):
    objects = location / "repository"
    objects.mkdir()
    (objects / "pack").write_text("x")
    abandoned = location / "gitsync-run-abandoned"
    abandoned.mkdir(mode=0o700)
    (abandoned / "objects").symlink_to(objects)
    with open_temporary_folder():
        assert not abandoned.exists()
    assert (objects / "pack").read_text() == "x"


def test_runs_that_begin_at_the_same_time_do_not_affect_each_other(location):
    processes = [FORK.Process(target=come_and_go) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert list(location.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_the_folder_of_another_user_stays(location):
    theirs = location / "gitsync-run-theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 12345, 12345)
    with open_temporary_folder():
        assert theirs.exists()

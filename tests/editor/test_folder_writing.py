"""Files in a folder of anyone: created or replaced as a whole, and never through a link."""

import os

import pytest

from gitsync.editor.folder_writing import TargetFolder
from gitsync.errors import ConfigError


def test_a_file_is_created_with_its_folders(tmp_path):
    target = TargetFolder(tmp_path / "new")
    assert target.create("a/b/c.txt", b"one")
    assert (tmp_path / "new/a/b/c.txt").read_bytes() == b"one"


def test_what_is_there_is_not_created_again(tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    assert not TargetFolder(tmp_path).create("file", b"other")
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_link_in_place_of_a_file_is_kept_and_not_followed(tmp_path):
    outside = tmp_path / "outside"
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/file").symlink_to(outside)
    target = TargetFolder(tmp_path / "repository")
    assert not target.create("file", b"x")
    assert target.read("file") is None
    assert not outside.exists()


def test_a_file_is_replaced_as_a_whole(tmp_path):
    target = TargetFolder(tmp_path)
    assert target.replace("a/file", b"one")
    before = (tmp_path / "a/file").stat().st_ino
    assert not target.replace("a/file", b"one"), "the same bytes are not written again"
    assert (tmp_path / "a/file").stat().st_ino == before
    assert target.replace("a/file", b"two")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]
    assert (tmp_path / "a/file").read_bytes() == b"two"


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/file").symlink_to(outside)
    assert TargetFolder(tmp_path / "repository").replace("file", b"new")
    assert outside.read_bytes() == b"mine"
    assert (tmp_path / "repository/file").read_bytes() == b"new"


@pytest.mark.parametrize("write", [TargetFolder.create, TargetFolder.replace])
def test_a_folder_that_is_a_link_is_refused(tmp_path, write):
    (tmp_path / "outside").mkdir()
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/sub").symlink_to(tmp_path / "outside")
    with pytest.raises(ConfigError, match="is a link, so nothing is written into it"):
        write(TargetFolder(tmp_path / "repository"), "sub/file", b"x")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_in_the_way_is_an_error(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(ConfigError, match="cannot be written"):
        TargetFolder(tmp_path).replace("file", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "nothing temporary is left"


def test_a_file_in_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(ConfigError, match="cannot be written: Not a directory"):
        TargetFolder(tmp_path).create("a/file", b"x")


def test_what_is_no_plain_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    target = TargetFolder(tmp_path)
    assert target.read("pipe") is None
    assert target.read("missing/file") is None
    assert target.read("missing") is None

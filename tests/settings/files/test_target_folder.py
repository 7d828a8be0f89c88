"""Files in a folder of anyone: created or replaced as a whole, and never through a link."""

import os

import pytest

from gitsync.errors import ConfigError
from gitsync.settings.files.target_folder import TargetFolder


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


def test_a_link_in_place_of_a_file_is_not_replaced(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/file").symlink_to(outside)
    with pytest.raises(ConfigError, match="file is a link, so it is not written"):
        TargetFolder(tmp_path / "repository").replace("file", b"new")
    assert outside.read_bytes() == b"mine"


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
    with pytest.raises(ConfigError, match="a is not a folder"):
        TargetFolder(tmp_path).create("a/file", b"x")


def test_what_is_not_a_plain_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    target = TargetFolder(tmp_path)
    assert target.read("pipe") is None
    assert target.read("missing/file") is None
    assert target.read("missing") is None


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a committed link, `linked`, to a folder outside of it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "checkout/.git").mkdir(parents=True)
    (tmp_path / "checkout/sub").mkdir()
    (tmp_path / "checkout/linked").symlink_to(tmp_path / "outside")
    return tmp_path / "checkout"


@pytest.mark.parametrize("folder", ["linked", "linked/new", "sub/../linked", "../checkout/linked"])
def test_no_link_of_a_checkout_is_followed_on_the_way(checkout, tmp_path, folder):
    target = TargetFolder(checkout / folder)
    for write in (target.check, lambda: target.replace("file", b"x"), lambda: target.create_all({"file": b"x"})):
        with pytest.raises(ConfigError, match="linked is a link, so nothing is written into it"):
            write()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_into_a_checkout_leads_not_out_of_it(checkout, tmp_path):
    (tmp_path / "way").symlink_to(checkout)
    with pytest.raises(ConfigError, match="way/linked is a link"):
        TargetFolder(tmp_path / "way" / "linked").replace("file", b"x")
    assert TargetFolder(tmp_path / "way" / "new").replace("file", b"x"), "what the user has said counts"


def test_a_source_without_git_is_not_trusted_either(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "source").mkdir()
    (tmp_path / "source/linked").symlink_to(tmp_path / "outside")
    with pytest.raises(ConfigError, match="is a link"):
        TargetFolder(tmp_path / "source/linked", str(tmp_path / "source")).replace("file", b"x")
    assert TargetFolder(tmp_path / "source/linked", "https://example.com/x.git").replace("file", b"x"), "the user's own"


@pytest.mark.parametrize("name", ["b/two.yaml", "b"])
def test_a_file_in_the_way_stays_and_nothing_is_written(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ConfigError, match="Nothing was written"):
        TargetFolder(tmp_path).create_all({"a/one.yaml": b"1", "b/two.yaml": b"2"})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    assert not (tmp_path / "a").exists()
    assert (tmp_path / name).read_bytes() == b"mine"


def test_all_files_are_created(tmp_path):
    TargetFolder(tmp_path / "new" / "folder").create_all({"a/one.yaml": b"1", "b/two.yaml": b"2"})
    assert (tmp_path / "new/folder/a/one.yaml").read_bytes() == b"1"
    assert (tmp_path / "new/folder/b/two.yaml").read_bytes() == b"2"


def test_a_folder_is_checked_and_not_created(tmp_path):
    (tmp_path / "file").touch()
    for location in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match="file is not a folder"):
            TargetFolder(location).check()
    TargetFolder(tmp_path / "new" / "folder").check()
    assert not (tmp_path / "new").exists()


def test_files_are_changed_from_what_they_must_be_and_keep_their_modes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "a").chmod(0o755)
    TargetFolder(tmp_path).change_all({"a": (b"old", b"new"), "b": (b"old", None)})
    assert [(path.name, path.read_bytes(), path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [
        ("a", b"new", 0o755)
    ]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda file: file.write_bytes(b"of somebody"), "b has changed since it was read"),
        (lambda file: file.unlink(), "b has changed since it was read"),
        (lambda file: (file.unlink(), file.symlink_to("a")), "b has changed since it was read"),
    ],
    ids=["edited", "removed", "a link"],
)
def test_if_one_file_is_not_as_it_must_be_none_is_changed(tmp_path, spoil, message):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    spoil(tmp_path / "b")
    with pytest.raises(ConfigError, match=message) as refused:
        TargetFolder(tmp_path).change_all({"a": (b"old", b"new"), "b": (b"old", b"new")})
    assert refused.value.hint == "Run the command again. Nothing was written."
    assert (tmp_path / "a").read_bytes() == b"old"


def test_if_one_file_cannot_be_changed_those_before_are_restored(tmp_path):
    long_name = "b" * 250  # there is no room for the name of the new file beside it
    for name in ("a", long_name):
        (tmp_path / name).write_bytes(b"old")
    with pytest.raises(ConfigError, match="cannot be written"):
        TargetFolder(tmp_path).change_all({"a": (b"old", b"new"), long_name: (b"old", b"new")})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old", long_name: b"old"}

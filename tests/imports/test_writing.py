"""Files of an import: all or none, and never over one that exists."""

import pytest

from gitsync.errors import ConfigError, PublishError
from gitsync.imports.writing import check_folder, list_files, write_files

FILES = {"a/one.yaml": b"1", "b/two.yaml": b"2"}


def test_all_files_are_written_and_nothing_else_is_left(tmp_path):
    write_files(tmp_path / "new" / "folder", FILES)
    assert list_files(tmp_path) == ["new/folder/a/one.yaml", "new/folder/b/two.yaml"]
    assert (tmp_path / "new/folder/b/two.yaml").read_bytes() == b"2"


@pytest.mark.parametrize("name", ["b/two.yaml", "b"])
def test_a_file_in_the_way_stays_and_nothing_is_written(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(PublishError, match="Nothing was written"):
        write_files(tmp_path, FILES)
    assert list_files(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"mine"


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match="is not a folder"):
            check_folder(place)
    check_folder(tmp_path / "new" / "folder")

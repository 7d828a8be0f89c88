"""Exports into a folder: whole, for one user alone, and as they were where something goes wrong."""

import asyncio
import json
import multiprocessing
import os
import shutil
import stat

import pytest

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import ObjectKind
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.sources.mounted_folder import FolderSource
from tests.support.exports import ONE, TWO, address, export, owner, remove, times, tree, write

DB = "secrets/default/db"


async def test_an_object_is_a_folder_and_a_key_a_file(tmp_path):
    top = tmp_path / "out"
    await write(FolderSink(top), export({"a": "1\n", "b": "ü"}, annotations={"x/y": "z"}, labels={"l": "m"}))
    note = {"annotations": {"x/y": "z"}, "labels": {"l": "m"}, "name": "db", "owner": str(ONE)}
    found = tree(top)
    assert json.loads(found.pop(f"{DB}/.gitsync.json")) == note
    assert found == {f"{DB}/a": b"1\n", f"{DB}/b": "ü".encode()}


async def test_config_maps_lie_beside_secrets(tmp_path):
    await write(FolderSink(tmp_path / "out"), export({"a": "1"}, address(object_kind=ObjectKind.CONFIG_MAP)))
    assert (tmp_path / "out" / "config-maps" / "default" / "db" / "a").read_text() == "1"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_nobody_else_may_read_it(tmp_path, umask):
    before = os.umask(umask)
    try:
        await write(FolderSink(tmp_path / "new" / "out"), export({"a": "1"}))
    finally:
        os.umask(before)
    made = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    modes = {stat.S_IMODE(each.stat().st_mode) for each in made if each.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(each.stat().st_mode) for each in made if each.is_file()} == {0o600}


async def test_neither_git_nor_gitsync_takes_it_for_a_part_of_the_repository(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await sink.check()
    names = (".gitignore", ".gitsyncignore")
    assert [(tmp_path / "out" / name).read_text() for name in names] == ["*\n", "*\n"]
    (tmp_path / "out" / ".gitignore").write_text("mine\n")
    await sink.check()
    assert (tmp_path / "out" / ".gitignore").read_text() == "mine\n", "a person's own word stays"


async def test_an_object_is_replaced_as_a_whole(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1", "b": "2"}, labels={"l": "m"}), export({"a": "3"}))
    found = tree(tmp_path / "out")
    assert json.loads(found.pop(f"{DB}/.gitsync.json"))["labels"] == {}
    assert found == {f"{DB}/a": b"3"}


async def test_what_did_not_change_is_not_written(tmp_path):
    top = tmp_path / "out"
    await write(FolderSink(top), export({"a": "1"}))
    before = times(top)
    await write(FolderSink(top), export({"a": "1"}))
    assert times(top) == before


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "a").chmod(0o644), "others may read it"),
        (lambda folder: (folder / "b").write_text("2"), "a key more"),
        (lambda folder: (folder / "a").write_text("2"), "another value"),
        (lambda folder: (folder / "b").mkdir(), "a folder"),
    ],
)
async def test_what_somebody_changed_is_put_right(tmp_path, spoil, why):
    top = tmp_path / "out"
    await write(FolderSink(top), export({"a": "1"}))
    wanted = tree(top)
    spoil(top / DB)
    await write(FolderSink(top), export({"a": "1"}))
    assert tree(top) == wanted, why
    assert stat.S_IMODE((top / DB / "a").stat().st_mode) == 0o600, why


async def test_who_owns_what_stands_there(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}, owner=TWO))
    (tmp_path / "out" / "secrets" / "default" / "foreign").mkdir(mode=0o700)
    assert await owner(sink) == str(TWO)
    assert await owner(sink, address("foreign")) == ""
    assert await owner(sink, address("nothing")) is None
    assert await owner(sink, address("db", "other")) is None


async def test_what_is_exported_can_be_read_as_a_source(tmp_path):
    await write(FolderSink(tmp_path / "out"), export({"a": "1\n", ".b": "2"}))
    source = FolderSource(
        secrets=tmp_path / "out" / "secrets", config_maps=tmp_path / "out" / "config-maps", namespace="x"
    )
    assert await source.read(address(), []) == export({"a": "1\n"}).data
    assert await source.read(address(), ["a", ".b", ".gitsync.json"]) == export({"a": "1\n", ".b": "2"}).data


def closed(top):
    top.mkdir(mode=0o700)


def open_to_the_group(top):
    closed(top)
    top.chmod(0o750)


def open_to_all(top):
    closed(top)
    top.chmod(0o701)


def link(top):
    (top.parent / "real").mkdir(mode=0o700)
    top.symlink_to(top.parent / "real")


def link_inside(top):
    closed(top)
    link(top / "secrets")


def open_inside(top):
    closed(top)
    open_to_the_group(top / "config-maps")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (open_to_the_group, "out has the mode 0750: .* Run `chmod 700 .*out`"),
        (open_to_all, "out has the mode 0701"),
        (open_inside, "config-maps has the mode 0750"),
        (link, "out is a symbolic link"),
        (link_inside, "secrets is a symbolic link"),
        (lambda top: top.write_text("x"), "out is not a folder"),
    ],
)
async def test_a_folder_that_is_not_private_is_refused_before_the_run(tmp_path, made, said):
    made(tmp_path / "out")
    with pytest.raises(ConfigError, match=said):
        await FolderSink(tmp_path / "out").check()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
async def test_a_folder_of_another_user_is_refused(tmp_path):
    closed(tmp_path / "out")
    os.chown(tmp_path / "out", 65534, -1)
    with pytest.raises(ConfigError, match=r"belongs to the user 65534, and gitsync runs as 0\. .*chown 0"):
        await FolderSink(tmp_path / "out").check()


async def test_a_folder_that_was_opened_meanwhile_gets_no_secret(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await sink.check()
    (tmp_path / "out" / "secrets").chmod(0o755)
    with pytest.raises(SecretStoreError, match="has the mode 0755"):
        await sink.write(export({"a": "hidden"}))
    assert tree(tmp_path / "out") == {}


async def test_a_link_in_the_place_of_an_object_is_not_followed(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}, address("other")))
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "out" / DB).symlink_to(tmp_path / "real")
    with pytest.raises(SecretStoreError, match="db is a symbolic link"):
        await owner(sink)
    with pytest.raises(SecretStoreError, match="db is a symbolic link"):
        await write(sink, export({"a": "hidden"}))
    assert tree(tmp_path / "real") == {}


async def test_a_damaged_note_makes_the_owner_unknown(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    (tmp_path / "out" / DB / ".gitsync.json").write_text("[")
    with pytest.raises(SecretStoreError, match="is damaged, so the owner of its files is unknown"):
        await owner(sink)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({".gitsync.json": "hidden"}, r"\.gitsync\.json is not allowed as a key"),
        ({"../a": "hidden"}, "its key '../a'"),
        ({"a": "hidden\ud800"}, "cannot be encoded in UTF-8"),
    ],
)
async def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path, data, said):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    before = times(tmp_path / "out")
    with pytest.raises(SecretStoreError, match=said) as refused:
        await write(sink, export(data))
    assert "hidden" not in str(refused.value)
    assert times(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("stands", "expected", "why"),
    [
        (False, "1", "killed between the two renames: the old one is put back"),
        (True, "2", "killed after them: the new one stays"),
    ],
)
async def test_what_a_killed_run_left_aside(tmp_path, stands, expected, why):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    location = tmp_path / "out" / DB
    location.rename(location.parent / ".old-x")
    if stands:
        await sink.write(export({"a": "2"}))
    (location.parent / ".new-x").mkdir(mode=0o700)
    (location.parent / ".new-x" / "a").write_text("half")
    await sink.check()
    assert (location / "a").read_text() == expected, why
    assert [each.name for each in location.parent.iterdir()] == ["db"], why
    assert await owner(sink) == str(ONE)


async def test_a_full_disk_leaves_all_as_it_was(tmp_path, full_disk):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    before = tree(tmp_path / "out")
    with (
        full_disk(),
        pytest.raises(SecretStoreError, match=r"cannot be read or written: File too large\. .* disk is not full"),
    ):
        await sink.write(export({"a": "hidden" * 1000}))
    assert tree(tmp_path / "out") == before


async def test_a_folder_that_cannot_be_made_refuses_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be exported to .*: Not a directory\. .*--export-folder"):
        await FolderSink(tmp_path / "file" / "out").check()


async def test_a_folder_that_is_gone_is_told(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await sink.check()
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(SecretStoreError, match="out cannot be read or written: No such file"):
        await sink.write(export({"a": "hidden"}))


def write_often(folder, run):
    for number in range(30):
        asyncio.run(write(FolderSink(folder), export(dict.fromkeys("abc", f"{run}{number}"))))


def test_several_runs_may_write_at_once(tmp_path):
    """Each object is one that a run wrote, and nothing is left aside."""
    fork = multiprocessing.get_context("fork")
    runs = [fork.Process(target=write_often, args=(tmp_path / "out", number)) for number in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0, 0]
    found = tree(tmp_path / "out")
    found.pop(f"{DB}/.gitsync.json")
    assert sorted(found) == [f"{DB}/a", f"{DB}/b", f"{DB}/c"]
    assert len(set(found.values())) == 1


async def test_what_a_forgotten_resource_exported_is_taken_away(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1", "b": "2"}), export({"a": "1"}, address("other")))
    for _ in range(2):
        await remove(sink)
    assert [each.name for each in (tmp_path / "out" / DB).parent.iterdir()] == ["other"]
    assert await owner(sink) is None
    await write(sink, export({"a": "3"}, owner=TWO))
    assert await owner(sink) == str(TWO), "a new owner may have it"


def another_owner(folder):
    note = folder / ".gitsync.json"
    note.write_text(note.read_text().replace(ONE.name, TWO.name))


def no_note(folder):
    (folder / ".gitsync.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "said", "why"),
    [
        (another_owner, "", "another resource's"),
        (no_note, "", "no sink wrote it"),
        (lambda folder: (folder / ".gitsync.json").write_text("["), "is damaged", "whose it is cannot be told"),
        (lambda folder: folder.parent.chmod(0o755), "has the mode 0755", "others may have put it there"),
    ],
)
async def test_what_is_not_known_to_be_its_own_is_not_taken_away(tmp_path, spoil, said, why):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    spoil(tmp_path / "out" / DB)
    before = tree(tmp_path / "out")
    if said:
        with pytest.raises(SecretStoreError, match=said):
            await remove(sink)
    else:
        await remove(sink)
    assert tree(tmp_path / "out") == before, why


async def test_a_link_is_not_taken_for_what_it_leads_to(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}, address("other")))
    (tmp_path / "out" / DB).symlink_to(tmp_path / "out" / "secrets" / "default" / "other")
    with pytest.raises(SecretStoreError, match="db is a symbolic link"):
        await remove(sink)
    assert await owner(sink, address("other")) == str(ONE)


async def test_a_removal_that_was_cut_short_is_ended_and_not_undone(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await write(sink, export({"a": "1"}))
    location = tmp_path / "out" / DB
    location.rename(location.parent / ".gone-x")
    await sink.check()
    assert list(location.parent.iterdir()) == []

"""A status of an earlier version, which is YAML, becomes JSON in one write. A kill in it loses nothing."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from loguru import logger

from gitsync.errors import PublishError, StateError
from gitsync.model.export import Address, Export, Leftover, ObjectKind, Owner
from gitsync.model.record import Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.source.worktree import FolderListing
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.former_tree import STUB, convert_tree
from gitsync.repository.git.state.pins import Pin
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.status_tree import read_state
from gitsync.repository.git.state.worker_branches import name_worker
from tests.repository.git.remembered import a_record, an_update, write_status
from tests.support.former_status import make_former

NAME = "gitsync/status"
KEY = Secret("k" * 32)
OWNER = Owner(a_record("one").key)
MAP = Address(ObjectKind.CONFIG_MAP, "default", "endpoints")
UPDATE = replace(
    an_update(a_record("one"), a_record("two", applied={"tags": {"y": "on", "n": 1e3}}), a_record("three")),
    config_maps={MAP: Export(address=MAP, owner=OWNER, data={"port": Secret("443")})},
    leftovers={Leftover(OWNER, Address(ObjectKind.SECRET, "default", "keys"), "memory"): True},
    notified="drifted",
    agent="gitsync",
)
NOTHING = an_update(revision="b" * 40)


@pytest.fixture
def logged():
    """The warnings that were logged."""
    messages = []
    logger.enable("gitsync")
    sink = logger.add(lambda message: messages.append(message.record["message"]), level="WARNING")
    yield messages
    logger.remove(sink)
    logger.disable("gitsync")


@pytest.fixture
def present(tmp_path) -> Path:
    """A folder with a status of today."""
    save(tmp_path / "present", UPDATE)
    return tmp_path / "present"


@pytest.fixture
def former(present, tmp_path) -> Path:
    """The same, as an earlier version wrote it."""
    shutil.copytree(present, tmp_path / "former")
    make_former(tmp_path / "former")
    return tmp_path / "former"


def save(folder, update, seals=RecordSeals()):  # noqa: B008 - a value
    with StatusFolder(folder, seals) as store:
        store.load()
        return store.save(update)


def load(folder):
    return read_state(FolderListing(root=folder), cut_short=(folder / ".unfinished").exists())


def list_files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_it_is_read_as_if_it_was_json(present, former):
    assert load(former) == replace(load(present), is_former=True)
    assert not load(present).is_former


def test_the_next_save_writes_json_once_and_logs_it(present, former, logged):
    assert save(former, NOTHING)
    assert load(former) == replace(load(present), revision="b" * 40)
    documents = {path: content for path, content in list_files(former).items() if path != "inventory.json"}
    assert documents == {path: content for path, content in list_files(present).items() if path != "inventory.json"}
    assert documents["inventory.yaml"] == STUB
    assert not save(former, NOTHING)
    assert len(logged) == 1
    assert "are now JSON" in logged[0]


def test_what_a_save_changes_and_forgets_is_in_the_same_write(former):
    gone = an_update(a_record("one", count=7), forget=(a_record("two").key,))
    assert save(former, replace(gone, config_maps={MAP: None}))
    state = load(former)
    assert [(key.name, record.writes.count) for key, record in state.records.items()] == [("one", 7), ("three", 0)]
    assert not state.config_maps
    assert [path for path in list_files(former) if path.endswith(".yaml")] == ["inventory.yaml"]


def test_a_seal_stays_good_or_bad(tmp_path):
    folder, seals = tmp_path / "status", RecordSeals("us", KEY)
    save(
        folder,
        an_update(a_record("one", agent="us", applied={"size": 1.5, "count": 10**25, "name": "K\u00f6ln"})),
        seals,
    )
    save(folder, an_update(a_record("two", agent="us")))
    make_former(folder)
    assert save(folder, NOTHING)
    trusts = {key.name: record.trust for key, record in read_state(FolderListing(root=folder), seals).records.items()}
    assert trusts == {"one": Trust.SIGNED, "two": Trust.UNSIGNED}


def list_steps(folder):
    return [item for step in convert_tree(FolderListing(root=folder)) for item in step.items()]


def test_a_kill_at_any_write_loses_nothing(former, present, tmp_path):
    before, steps = load(former), list_steps(former)
    records = [path for path in list_files(former) if path.endswith("e.yaml")]
    for done in range(len(steps) + 1):
        folder = tmp_path / str(done)
        shutil.copytree(former, folder)
        (folder / ".unfinished").touch()
        for path, content in steps[:done]:
            (folder / path).write_bytes(content) if content is not None else (folder / path).unlink(missing_ok=True)
        # An earlier version finds all of its records, or stops at the stub.
        is_switched = (folder / "inventory.yaml").read_bytes() == STUB
        assert is_switched or all((folder / path).exists() for path in records)
        assert replace(load(folder), is_former=True) == before, f"after {done} of {len(steps)} files"
        assert save(folder, NOTHING)
        assert load(folder).records == before.records
        assert list_files(folder).keys() == list_files(present).keys()
        assert not save(folder, NOTHING)


def test_what_a_conversion_left_does_not_come_back(former, tmp_path):
    """It was cut short, and then an earlier version forgot a resource, and was upgraded again."""
    for path, content in list_steps(former)[:5]:
        (former / path).write_bytes(content)
    (former / "default/resources.azure.com/ResourceGroup/two.yaml").unlink()
    index = yaml.safe_load((former / "inventory.yaml").read_text())
    index["resources"] = [entry for entry in index["resources"] if not entry["key"].endswith("/two")]
    (former / "inventory.yaml").write_text(yaml.safe_dump(index))
    assert [key.name for key in load(former).records] == ["one", "three"]
    assert save(former, NOTHING)
    assert [key.name for key in load(former).records] == ["one", "three"]


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        ("default/resources.azure.com/ResourceGroup/one.yaml", "claim: created", "claim: x", r"one\.yaml:\d+: gitsync\.claim is 'x'"),
        ("default/resources.azure.com/ResourceGroup/one.yaml", "claim: created", "claim: adopted", r"one\.yaml and inventory\.yaml differ in claim"),
        ("default/resources.azure.com/ResourceGroup/one.yaml", "gitsync:", "gitsync: {", r"one\.yaml:\d+: "),
        ("inventory.yaml", "default/two", "default/x", r"inventory\.yaml names .*/x, but .*/x\.yaml does not exist"),
        ("inventory.yaml", "schema: 1", "schema: x", r"inventory\.yaml:\d+: schema must be"),
        ("inventory.yaml", "schema: 1", "schema: 3", r"has files but no inventory\.json"),
    ],
)  # fmt: skip
def test_a_damaged_one_is_refused_with_its_own_files(former, path, old, new, message):
    text = (former / path).read_text()
    assert old in text
    (former / path).write_text(text.replace(old, new, 1))
    before = list_files(former)
    with pytest.raises(StateError, match=message):
        load(former)
    with pytest.raises((StateError, PublishError), match=message):
        save(former, NOTHING)
    assert list_files(former) == before


def test_yaml_beside_json_is_not_a_record(present):
    (present / "default/resources.azure.com/ResourceGroup/four.yaml").write_text("kind: Anything\n")
    assert sorted(key.name for key in load(present).records) == ["one", "three", "two"]
    assert not load(present).is_former


# ---- on a branch ----


@pytest.fixture
def open_status(bare, clock):
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    return lambda name=NAME, **more: StatusBranch(remote, name, clock=clock, patience=0.01, **more)


@pytest.fixture
def push_former(cloned):
    """Turns a branch into one that an earlier version wrote."""

    def push(name):
        cloned.git("fetch", "--quiet", "origin", name)
        cloned.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
        message = cloned.git("log", "-1", "--format=%B")
        make_former(cloned.path)
        cloned.git("add", "--all")
        cloned.git("commit", "--quiet", "--amend", "--message", message)
        cloned.git("push", "--quiet", "--force", "origin", f"HEAD:{name}")

    return push


@pytest.fixture
def status(bare, push_former, prepare):
    def write(_cloned):
        write_status(bare.path, UPDATE)
        push_former(NAME)

    prepare(write)


def count_commits(bare, name=NAME):
    return int(bare.git("rev-list", "--count", name))


def test_a_branch_is_taken_over_in_one_commit(status, open_status, bare, logged):
    with open_status() as store:
        before = store.load()
        assert before.is_former
        store.save(NOTHING)
    assert count_commits(bare) == 2
    for _ in range(2):
        with open_status() as store:
            assert store.load() == replace(before, is_former=False, revision="b" * 40)
            assert not store.save(NOTHING)
    assert count_commits(bare) == 2
    assert len(logged) == 1
    names = bare.git("ls-tree", "-r", "--name-only", NAME).splitlines()
    assert [name for name in names if name.endswith(".yaml")] == ["inventory.yaml"]


def test_who_loses_the_race_finds_json_and_writes_only_what_is_its_own(status, open_status, bare, logged):
    with open_status() as first, open_status() as second:
        first.load()
        second.load()
        first.save(an_update(a_record("one", count=1)))
        second.save(an_update(a_record("two", count=2)))
    with open_status() as store:
        writes = {key.name: record.writes.count for key, record in store.load().records.items()}
    assert writes == {"one": 1, "two": 2, "three": 0}
    assert (count_commits(bare), len(logged)) == (3, 1)
    files = bare.git("diff", "--name-only", f"{NAME}~", NAME).splitlines()
    assert files == ["default/resources.azure.com/ResourceGroup/two.json"]


def test_the_first_worker_of_a_run_takes_it_over_before_the_run_is_pinned(status, open_status, bare, clock):
    wanted = Pin(revision="a" * 40, status="", branch="", agent="gitsync", workers=2, time=clock.now())
    with open_status() as store:
        store.load()
        pin = store.settle_pin("42", wanted, NOTHING)
        assert pin.status == bare.git("rev-parse", NAME)
        assert not store.load().is_former


def test_a_worker_that_joins_a_run_of_an_earlier_version(status, open_status, bare):
    """Its branch is JSON, and only what it has recorded is taken from it."""
    pinned = bare.git("rev-parse", NAME)
    with open_status(name_worker(NAME, "42", 1), start=pinned) as own:
        own.load()
        own.save(replace(an_update(a_record("one", count=5)), exit_code=0))
    with open_status() as store:
        assert {key.name: record.writes.count for key, record in store.load().records.items()} == {
            "one": 5,
            "two": 0,
            "three": 0,
        }
        store.save(NOTHING)
    with open_status() as store:
        assert not store.load().is_former
        assert {key.name: record.writes.count for key, record in store.load().records.items()} == {
            "one": 5,
            "two": 0,
            "three": 0,
        }


@pytest.mark.parametrize("is_former", [True, False], ids=["of a run of its own version", "beside a status of today"])
def test_what_a_worker_of_an_earlier_version_recorded_is_taken_in_as_json(
    is_former, status, open_status, push_former, bare
):
    if not is_former:
        with open_status() as store:
            store.load()
            store.save(NOTHING)
    name = name_worker(NAME, "42", 1)
    with open_status(name, start=bare.git("rev-parse", NAME)) as own:
        own.load()
        update = an_update(a_record("one", count=5), a_record("new"), forget=(a_record("two").key,))
        own.save(replace(update, exit_code=0))
    push_former(name)
    with open_status() as store:
        assert not store.load().strays
        store.save(NOTHING)
    with open_status() as store:
        state = store.load()
    assert {key.name: record.writes.count for key, record in state.records.items()} == {"new": 0, "one": 5, "three": 0}
    names = bare.git("ls-tree", "-r", "--name-only", NAME).splitlines()
    assert [name for name in names if name.endswith(".yaml")] == ["inventory.yaml"]
    assert json.loads(bare.git("show", f"{NAME}:inventory.json"))["schema"] == 2

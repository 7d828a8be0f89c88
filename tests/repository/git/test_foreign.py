"""The status of another repository, read only."""

from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.errors import StateError
from gitsync.model.record import Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.seal import RecordSeals, name_source
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store_choice import StatusReader, _limit_token, read_foreign_status
from tests.repository.git.remembered import a_record, an_update
from tests.support.git_server import basic, serve

KEY = Secret("k" * 40)
SEALS = RecordSeals("us", KEY, checks_all=True)


@pytest.fixture
def reader(clock):
    return StatusReader(source=None, access=GitAccess(), seals=SEALS, clock=clock)


def read(position, reader):
    return read_foreign_status(position, reader, lambda _: None)


def publish(folder, clock, branch="gitsync/status", key=KEY, position=""):
    remote = open_remote(Url(str(folder), "file"), GitAccess())
    record = a_record("far", agent="them")
    with StatusBranch(remote, branch, clock=clock, seals=RecordSeals("them", key, source_name=position)) as store:
        store.load()
        store.save(an_update(record))


@pytest.mark.parametrize("form", ["{path}", "file://{path}", "{path}#state", "file://{path}#state"])
def test_a_branch_of_a_repository(bare, clock, reader, form):
    branch = "state" if "#" in form else "gitsync/status"
    publish(bare.path, clock, branch)
    found = read(form.format(path=bare.path), reader)
    assert [(key.name, record.trust) for key, record in found.state.records.items()] == [("far", Trust.SIGNED)]
    assert found.name.startswith(f"branch {branch} of ")


@pytest.mark.parametrize(
    ("position", "trust"),
    [
        (name_source("127.0.0.1/remote", "gitsync/status"), Trust.SIGNED),
        (name_source("127.0.0.1/remote", "other"), Trust.OTHER_BRANCH),
        (name_source("127.0.0.1/another", "gitsync/status"), Trust.OTHER_BRANCH),
    ],
)
def test_at_an_address_the_seals_must_be_of_that_repository(bare, clock, reader, tmp_path: Path, position, trust):
    publish(bare.path, clock, position=position)
    user = basic("x-access-token", "word")
    with serve(tmp_path, readers=(user,)) as (url, _):
        found = read(f"{url.replace('//', '//x-access-token:word@')}/remote.git", reader)
    assert [record.trust for record in found.state.records.values()] == [trust]


def test_a_folder_with_the_files_of_a_status(tmp_path: Path, reader):
    with StatusFolder(tmp_path / "status") as store:
        store.save(an_update(a_record("far")))
    found = read(str(tmp_path / "status"), reader)
    assert [record.trust for record in found.state.records.values()] == [Trust.UNSIGNED]
    assert found.name == f"folder {tmp_path}/status"


def test_another_branch_of_the_source(cloned, bare, clock, reader):
    publish(bare.path, clock, "other")
    with open_checkout(str(cloned.path)) as source:
        own = StatusReader(source=source, access=GitAccess(), seals=SEALS, clock=clock)
        assert [key.name for key in read("#other", own).state.records] == ["far"]
    with pytest.raises(StateError, match="branch of the source, and this command has no source"):
        read("#other", reader)


@pytest.mark.parametrize(
    ("position", "message", "why"),
    [
        ("{tmp}/nowhere", "does not exist", "no such folder"),
        ("{tmp}/remote.git", "has no gitsync status", "no such branch: unknown is not empty"),
        ("{tmp}/remote.git#a..b", "not the name of a branch", "no name of a branch"),
        ("ftp://example.org/x", "transport that is not allowed", "no transport of git"),
        ("{tmp}/home", "cannot be read", "a folder without a repository"),
    ],
)
def test_what_cannot_be_read_is_an_error(bare, tmp_path: Path, reader, position, message, why):
    with pytest.raises(StateError, match=message):
        read(position.format(tmp=tmp_path), reader)


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("https://git.example.org/other.git", True),
        ("https://GIT.example.org/other.git", True),
        ("https://git.example.org:8443/other.git", False),
        ("https://elsewhere.example.org/other.git", False),
    ],
)
def test_the_token_goes_to_the_host_of_the_source_only(cloned, clock, url, is_sent):
    token = Secret("t" * 20)
    with open_checkout(str(cloned.path)) as source:
        remote = open_remote(Url("https://git.example.org/own.git", "https"), GitAccess())
        reader = StatusReader(
            source=replace(source, remote=remote), access=GitAccess(token=token), seals=SEALS, clock=clock
        )
        assert (_limit_token(Url(url, "https"), reader).token is token) is is_sent

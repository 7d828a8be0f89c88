"""Heartbeats: branches beside the status branch, whose commit is replaced and never built upon."""

import re
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import PublishError, StateError
from gitsync.model.record import Heartbeat
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.heartbeats import name_heartbeat
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.repository.git.remembered import a_record, an_update
from tests.support.branch_files import list_branches

NAME = "gitsync/status"
BRANCH = "gitsync/status-heartbeat/gitsync"
BEAT = Heartbeat(agent="gitsync", time=datetime(2026, 5, 1, 10, tzinfo=UTC), revision="a" * 40)


@pytest.fixture
def open_branch(bare, clock):
    """Opens the status branch as another run does."""
    remote = open_remote(Url(bare.url, "file"), GitAccess())
    return lambda: StatusBranch(remote, NAME, clock=clock, patience=0.01)


def move(open_branch, *heartbeats):
    with open_branch() as store:
        for heartbeat in heartbeats:
            store.move_heartbeat(heartbeat)


def read(open_branch):
    with open_branch() as store:
        return store.read_heartbeats()


def later(minutes):
    return replace(BEAT, time=BEAT.time + timedelta(minutes=minutes), revision="b" * 40)


def test_a_heartbeat_is_one_commit_without_files_and_the_status_branch_gets_none(open_branch, bare):
    with open_branch() as store:
        store.load()
        store.save(an_update(a_record("one")))
        status = bare.git("rev-parse", NAME)
        assert store.read_heartbeats() == ()
        store.move_heartbeat(BEAT)
    move(open_branch, later(30))
    assert read(open_branch) == (later(30),)
    assert bare.git("log", "--format=%an|%at|%P|%s", BRANCH) == "gitsync|1777631400||Last success of gitsync [skip ci]"
    assert bare.git("ls-tree", "-r", BRANCH) == ""
    assert bare.git("rev-parse", NAME) == status


def test_each_agent_has_its_own(open_branch, bare):
    names = ["blue", "gitsync", "team/a b~^:..lock.lock", "ümläut"]
    move(open_branch, *(replace(BEAT, agent=name) for name in reversed(names)))
    assert [heartbeat.agent for heartbeat in read(open_branch)] == names
    assert len(list_branches(bare.path)) == len(names)


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_agent_has_a_branch_of_a_few_plain_characters(agent):
    assert re.fullmatch(f"{NAME}-heartbeat/([A-Za-z0-9_-]|%[0-9A-F][0-9A-F])+", name_heartbeat(NAME, agent))


MOVES = [
    ([later(5), BEAT], later(5), "a run that began later has ended before"),
    ([later(60 * 24 * 400), BEAT], BEAT, "a clock was wrong by a year"),
    ([replace(BEAT, revision=None)], replace(BEAT, revision=None), "a folder in no repository has no revision"),
]


@pytest.mark.parametrize(("moves", "expected", "why"), MOVES, ids=[row[-1] for row in MOVES])
def test_a_heartbeat_moves_forward(open_branch, moves, expected, why):
    move(open_branch, *moves)
    assert read(open_branch) == (expected,), why


def test_of_runs_that_end_at_once_the_latest_is_shown(open_branch):
    threads = [threading.Thread(target=move, args=(open_branch, later(minutes))) for minutes in (1, 3, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(open_branch) == (later(3),)


def test_what_somebody_else_pushed_there_is_read_and_replaced(open_branch, cloned, bare):
    cloned.git("push", "--quiet", "origin", f"HEAD:{BRANCH}")
    [found] = read(open_branch)
    assert (found.agent, found.revision) == ("gitsync", None)
    move(open_branch, replace(BEAT, time=found.time + timedelta(seconds=1)))
    assert bare.git("rev-list", "--count", BRANCH) == "1"


def test_no_message_of_somebody_else_confuses_the_reader(open_branch, cloned, bare):
    """git keeps all characters of a message but NUL."""
    move(open_branch, replace(BEAT, agent="blue"))
    cloned.git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--message", "x\n\nRevision: a\x01b\n\x01")
    cloned.git("push", "--quiet", "origin", f"HEAD:{BRANCH}")
    assert [(record.agent, record.revision) for record in read(open_branch)] == [
        ("blue", BEAT.revision),
        ("gitsync", None),
    ]


def test_a_push_that_is_refused_names_the_branch_and_the_right(open_branch, bare):
    hook = bare.put("hooks/pre-receive", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PublishError) as caught:
        move(open_branch, BEAT)
    assert f"The heartbeat cannot be pushed to branch {BRANCH} of {bare.url}" in caught.value.message
    assert "with force" in caught.value.hint


def test_a_remote_that_does_not_answer_is_not_one_without_heartbeats(open_branch, bare):
    bare.path.rename(bare.path.with_name("elsewhere"))
    with pytest.raises(StateError, match="heartbeats beside the branch gitsync/status"):
        read(open_branch)


def test_a_folder_has_none(tmp_path):
    with StatusFolder(tmp_path / "status") as store:
        assert store.read_heartbeats() == ()
        with pytest.raises(PublishError, match="cannot store the heartbeat"):
            store.move_heartbeat(BEAT)

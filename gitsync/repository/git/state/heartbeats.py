"""Heartbeats: a branch for each agent, beside the status branch, whose only commit has the time of the last successful
run.

The status branch gets no commit from a run that changes nothing, so it cannot have that time. The commit has no files
and no parent, so that the branch never grows, and no pipeline is started by it: there is no definition of one in it. It
is a branch and no ref of another kind, since git hosts limit which refs may be pushed, and protect branches by pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, unquote

from gitsync.model.record import Heartbeat
from gitsync.repository.git.source.clone import Clone
from gitsync.repository.git.source.location import is_commit_id
from gitsync.repository.git.state.commits import Author, Commit, format_status_message, write_commit
from gitsync.repository.git.state.worker_branches import LONGEST_RUN

_FETCHED = "refs/gitsync/heartbeats/"
_FIELDS = 4
_LATEST = int(datetime.max.replace(tzinfo=UTC).timestamp())


class _Beat(NamedTuple):
    """A heartbeat, and the commit that has it."""

    commit: str
    heartbeat: Heartbeat


def name_heartbeats(branch: str) -> str:
    """Return the folder of the heartbeat branches that belong to a status branch."""
    # Not a folder of that branch: git cannot have a branch inside of another one.
    return f"{branch}-heartbeat/"


def name_heartbeat(branch: str, agent: str) -> str:
    """Return the heartbeat branch of an agent."""
    # Characters that a ref cannot have everywhere are escaped as in URLs.
    return name_heartbeats(branch) + quote(agent, safe="").replace(".", "%2E").replace("~", "%7E")


def read_heartbeats(clone: Clone, branch: str) -> tuple[Heartbeat, ...]:
    """Read the heartbeats beside a status branch, sorted by agent. GitError if the remote does not answer."""
    return tuple(sorted((beat.heartbeat for beat in _fetch(clone, branch)), key=lambda heartbeat: heartbeat.agent))


def move_heartbeat(clone: Clone, branch: str, heartbeat: Heartbeat, author: Author) -> None:
    """Push a heartbeat, unless there is one of a later run. GitError if it cannot be pushed, or another run was
    faster.
    """
    name = name_heartbeat(branch, heartbeat.agent)
    before = next((beat for beat in _fetch(clone, branch) if beat.heartbeat.agent == heartbeat.agent), None)
    # A run that began earlier may end later, by at most the longest run. A time that is further ahead is wrong, and
    # would stop the heartbeat for good.
    if before and heartbeat.time <= before.heartbeat.time <= heartbeat.time + LONGEST_RUN:
        return
    message = format_status_message(f"Last success of {heartbeat.agent}", heartbeat.revision)
    commit = write_commit(
        clone.repository, Commit(parent=None, files={}, message=message, author=author, time=heartbeat.time)
    )
    lease = f"--force-with-lease=refs/heads/{name}:{before.commit if before else ''}"
    clone.repository.run("push", "--quiet", lease, "--", clone.url, f"{commit}:refs/heads/{name}")


def _fetch(clone: Clone, branch: str) -> list[_Beat]:
    clone.fetch(f"+refs/heads/{name_heartbeats(branch)}*:{_FETCHED}*", depth=())  # with a depth, none is an error
    form = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:trailers:key=Revision,valueonly)%01"
    lines = clone.repository.run("for-each-ref", f"--format={form}", _FETCHED).decode("utf-8", "replace")
    return list(_parse(lines))


def _parse(lines: str) -> Iterator[_Beat]:
    for line in lines.split("\x01"):
        fields = [field.strip() for field in line.split("\0")]
        if len(fields) != _FIELDS:  # the end, or what follows our separator in a message of somebody else
            continue
        ref, commit, seconds, revision = fields
        # Others may push here too, and a commit can have any time: one that is none counts as the first of all.
        since_epoch = int(seconds) if seconds.isascii() and seconds.isdigit() else 0
        heartbeat = Heartbeat(
            agent=unquote(ref.removeprefix(_FETCHED)),
            time=datetime.fromtimestamp(min(since_epoch, _LATEST), UTC),
            revision=revision if is_commit_id(revision) else None,
        )
        yield _Beat(commit, heartbeat)

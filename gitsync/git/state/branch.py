"""State on a branch of its own, updated by compare-and-swap: git is the whole store
(docs/reference/design.md#status-branch).

A push names the commit that it replaces. If another run was faster, its tree is read, our changes are applied to it,
and the push is tried again, so two runs never lose each other's records. All of it happens in a temporary repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import NamedTuple, Self, TypeVar
from urllib.parse import quote, unquote

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from gitsync.errors import GitError, GitsyncError, PublishError, StateError
from gitsync.git.access import Remote
from gitsync.git.command import Repository
from gitsync.git.source.clone import Clone, fetch_commit, list_advertised, open_clone
from gitsync.git.source.listing import Revision
from gitsync.git.source.location import Url, folder_of, is_commit_id
from gitsync.git.state.record_files import UNSEALED
from gitsync.git.state.seal import RecordSeals
from gitsync.git.state.status_tree import Files, build_files, read_last_run, read_state
from gitsync.git.state.store import Changes, Update, find_changes, join_changes, merge, split_taken
from gitsync.git.state.worker_branches import (
    FETCHED,
    LONGEST_RUN,
    NOTHING,
    Recorded,
    format_trailers,
    list_workers,
    name_worker,
    name_workers,
    read_recorded,
)
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, LastRun, Record, State

_TIP = "refs/gitsync/status"
_ATTEMPTS = 5

T = TypeVar("T")


class StatusBranch:
    """A StateStore. `branch` is the short name of a branch that holds nothing else. `patience` scales, in seconds, the
    waits between pushes that lost against other runs.

    What workers have recorded beside it is part of the state, and is taken into it with the next push. `start` is set
    for the branch of a worker: the commit that it begins with, "" for none.
    """

    def __init__(  # noqa: PLR0913 - what a branch is opened with
        self,
        remote: Remote,
        branch: str,
        *,
        clock: Clock,
        author: Author | None = None,
        patience: float = 0.3,
        seals: RecordSeals = UNSEALED,
        start: str | None = None,
    ) -> None:
        self._remote = remote
        self._branch = branch
        self._clock = clock
        self._author = author or Author()
        self._patience = patience
        self._seals = seals
        self._start = start
        self._opened_clone: Clone | None = None
        self._tip: str | None = None  # the last commit that was read
        self._lease = ""  # the commit that the branch points to, which is not the tip before a worker's first push
        self._base = State({})  # its state, with what workers have recorded
        self._recorded = Recorded()

    @property
    def name(self) -> str:
        return f"branch {self._branch} of {self._remote.name}"

    def load(self) -> State:
        try:
            self._refresh()
        except GitError as error:
            raise StateError(f"The {self.name} cannot be read: {error.message}", hint=error.hint) from error
        return self._base

    def check_writable(self) -> None:
        """Push with `git push --dry-run`: what the branch has already or, before the first status, an empty commit."""
        try:
            self._check_folder()
            probe = self._tip or self._commit({}, format_status_message("May we push?", None))
            self._push(probe, "--dry-run", "--force")  # a lease could fail for another run, which is no lack of rights
        except GitError as error:
            raise self._make_refusal(error) from error

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        base = self._base  # each try compares with what `load` has read, not with what the try before has
        return self._retry(lambda: self._try_to_reserve(base, update))

    def _try_to_reserve(self, base: State, update: Update) -> Mapping[Key, Record]:
        self._refresh()
        taken, free = split_taken(base, self._base, update)
        if changes := find_changes(self._base, free):
            self._try_to_save(changes, free)
        return taken

    def save(self, update: Update) -> bool:
        changes = find_changes(self._base, update)
        is_worker = self._start is not None  # whose end is worth a commit, also of a run that changed nothing
        if changes or self._recorded.changes or is_worker:
            self._retry(lambda: self._try_to_save(changes, update))
        self._remove_workers()
        return bool(changes)

    def read_last_run(self) -> LastRun | None:
        return read_last_run(self._open_tree(self._tip)) if self._tip else None

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:
        try:
            return tuple(self._list_runs(since, most)) if self._tip else ()
        except GitError as error:
            message = f"The history of the {self.name} cannot be read: {error.message}"
            raise StateError(message, hint=error.hint) from error

    def _list_runs(self, since: datetime, most: int) -> Iterator[LastRun]:
        """Yield the runs of commits. One that only expects something leaves the report of the run before it."""
        self._clone().fetch(f"+refs/heads/{self._branch}:{_TIP}", depth=(f"--depth={most + 1}",))
        options = ("--first-parent", f"--max-count={most + 1}", "--format=%H %ct")
        lines = self._clone().repository.run("log", *options, self._tip or "", "--").decode().splitlines()
        dated = [line.partition(" ") for line in lines]
        commits = [commit for commit, _, seconds in dated if int(seconds) >= since.timestamp()][:most]
        runs = [(commit, read_last_run(self._open_tree(commit))) for commit in commits]
        for (commit, run), (_, before) in zip(runs, [*runs, ("", None)][1:], strict=True):
            if run is not None and run != before:
                yield replace(run, commit=commit)

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        try:
            return read_heartbeats(self._clone(), self._branch)
        except GitError as error:
            raise StateError(
                f"The heartbeats beside the {self.name} cannot be read: {error.message}", hint=error.hint
            ) from error

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        try:
            self._try_again(lambda: move_heartbeat(self._clone(), self._branch, heartbeat, self._author))
        except GitError as error:
            name = name_heartbeat(self._branch, heartbeat.agent)
            raise PublishError(
                f"The heartbeat cannot be pushed to branch {name} of {self._remote.name}: {error.message}",
                hint=error.hint or "Grant the identity the right to push to this branch, with force.",
            ) from error

    def _retry(self, push: Callable[[], T]) -> T:
        """Try a push again if another run was faster. PublishError if it fails."""
        try:
            return self._try_again(push)
        except (GitError, StateError) as error:
            raise self._make_refusal(error) from error

    def _try_again(self, push: Callable[[], T]) -> T:
        retrying = Retrying(
            # What took too long once would again, and the run has an end.
            retry=retry_if_exception(lambda error: isinstance(error, GitError) and not error.timed_out),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=self._patience, max=10),
            reraise=True,
        )
        return retrying(push)

    def _try_to_save(self, changes: Changes, update: Update) -> None:
        """Push our changes on top of the last state that was read."""
        after = merge(self._base, changes, update.revision, update.agent)
        message = format_status_message(update.headline, update.revision)
        if self._start is not None:
            message += ("" if update.revision else "\n") + format_trailers(self._start, update.exit_code)
        all_changes = join_changes(self._recorded.changes, changes)
        commit = self._commit(build_files(all_changes, after, update, self._seals), message)
        try:
            self._push(commit, f"--force-with-lease=refs/heads/{self._branch}:{self._lease}")
        except GitError as error:
            # A lost answer looks like a refusal: the push has failed only if the branch lacks the changes.
            if error.timed_out or not self._has_changes(changes):
                raise
            return
        self._tip, self._lease, self._base = commit, commit, after
        self._recorded = replace(self._recorded, changes=NOTHING)

    def _has_changes(self, changes: Changes) -> bool:
        """Read again after a failed push: it may have arrived although its answer was lost."""
        try:
            self._refresh()
        except GitError:
            return False
        return merge(self._base, changes, self._base.revision) == self._base

    def _refresh(self) -> None:
        self._tip, has_workers = self._fetch()
        state = self._read(self._tip)
        self._recorded = Recorded()
        if has_workers:
            clone = self._clone()
            self._recorded = read_recorded(clone, list_workers(clone), state, self._seals)
        self._base = merge(state, self._recorded.changes, state.revision)

    def _remove_workers(self) -> None:
        """Remove the branches of workers that have ended, or that no run can belong to any more: all that they have
        recorded is on the status branch. What cannot be removed stays for a later run.
        """
        since = self._clock.now() - LONGEST_RUN
        over = [one for one in self._recorded.branches if one.exit_code is not None or one.time < since]
        names = {one: f"refs/heads/{name_worker(self._branch, one.run_id, one.number)}" for one in over}
        if names:
            leases = [f"--force-with-lease={name}:{one.commit}" for one, name in names.items()]
            arguments = ("--", self._remote.url, *(f":{name}" for name in names.values()))
            self._clone().repository.succeeds("push", "--quiet", *leases, *arguments)
            self._recorded = Recorded()

    def _clone(self) -> Clone:
        if self._opened_clone is None:
            self._opened_clone = open_clone(self._remote)
        return self._opened_clone

    def _fetch(self) -> tuple[str | None, bool]:
        """Fetch the commit that the branch points to, None if there is no such branch, and the branches of workers.
        Return whether there are some.
        """
        clone, own = self._clone(), f"refs/heads/{self._branch}"
        workers = f"refs/heads/{name_workers(self._branch)}*"
        refspecs = [f"+{workers}:{FETCHED}*"] if self._start is None else []
        try:
            clone.fetch(f"+{own}:{_TIP}", *refspecs)
        except GitError:
            # git has no code for a branch that does not exist. An outage must not look like an empty status.
            advertised = list_advertised(clone, own, workers)
            if own in advertised:
                raise
            self._lease = ""
            if self._start is None and advertised:
                clone.fetch(*refspecs)
            return self._begin(), self._start is None and bool(advertised)
        self._lease = clone.find_fetched()
        return self._lease, clone.count_fetched() > 1

    def _begin(self) -> str | None:
        """Return what a branch begins with that does not exist yet; GitError if that cannot be fetched."""
        if self._start and not fetch_commit(self._clone(), self._start):
            raise GitError(f"The commit {self._start} of the status is gone.", hint="Run this again.")
        return self._start or None

    def _read(self, tip: str | None) -> State:
        if tip is None:
            return State({})
        return read_state(self._open_tree(tip), self._seals)

    def _open_tree(self, tip: str) -> Revision:
        return Revision(repository=self._clone().repository, commit=tip, label=self.name)

    def _commit(self, files: Files, message: str) -> str:
        commit = Commit(parent=self._tip, files=files, message=message, author=self._author, time=self._clock.now())
        return write_commit(self._clone().repository, commit)

    def _push(self, commit: str, *options: str) -> None:
        refspec = f"{commit}:refs/heads/{self._branch}"
        self._clone().repository.run("push", "--quiet", *options, "--", self._remote.url, refspec)

    def _check_folder(self) -> None:
        """Check the permissions of a repository on this machine: it has no server that could refuse a
        push.
        """
        folder = folder_of(Url(self._remote.url, "file"))
        for objects in (folder / "objects", folder / ".git" / "objects"):
            if objects.is_dir() and not os.access(objects, os.W_OK):
                raise GitError(
                    f"{objects.resolve()} cannot be written to.", hint="Grant this user write access to the repository."
                )

    def _make_refusal(self, error: GitsyncError) -> PublishError:
        return PublishError(
            f"Status cannot be pushed to {self.name}: {error.message}",
            hint=error.hint or "Grant the identity push access to this branch, or use --status-dir.",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._opened_clone is not None:
            self._opened_clone.close()
            self._opened_clone = None


# Make a commit from files, without a working tree and an index: one `git fast-import`
# (docs/reference/design.md#git-access).
#
# It becomes a ref in the mirror of gitsync; it is not visible to others before it is pushed.


_REF = "refs/gitsync/written"
_NOT_IN_A_NAME = re.compile(r"[<>\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Author:
    """The author of status commits."""

    name: str = "gitsync"
    email: str = "gitsync@localhost"

    def __str__(self) -> str:
        return f"{_NOT_IN_A_NAME.sub('', self.name).strip()} <{_NOT_IN_A_NAME.sub('', self.email).strip()}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit to write. `parent` is a commit id, None for the first commit of a branch. `executable` are the paths of
    files that are programs.
    """

    parent: str | None
    files: Files
    message: str
    author: Author
    time: datetime
    executable: frozenset[str] = frozenset()


def write_commit(repository: Repository, commit: Commit) -> str:
    """Write a commit and return its id. GitError if git refuses it."""
    stream = b"".join(_format_stream(commit))
    return repository.run("fast-import", "--quiet", "--done", "--force", stdin=stream).decode().rstrip("\n")


def format_status_message(headline: str, revision: str | None) -> str:
    """Format the headline, marked so that it starts no pipeline, and the revision of the status."""
    subject = " ".join(headline.split()) + " [skip ci]"
    return f"{subject}\n\nRevision: {revision}\n" if revision else f"{subject}\n"


def _format_stream(commit: Commit) -> Iterator[bytes]:
    """Format a commit in git's own words (git-fast-import(1))."""
    yield b"feature done\n"
    yield f"commit {_REF}\nmark :1\ncommitter {commit.author} {int(commit.time.timestamp())} +0000\n".encode()
    yield from _format_data(commit.message.encode())
    if commit.parent:
        yield f"from {commit.parent}\n".encode()
    for path, content in sorted(commit.files.items()):
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        if content is None:
            yield f"D {quoted}\n".encode()
        else:
            mode = "100755" if path in commit.executable else "100644"
            yield f"M {mode} inline {quoted}\n".encode()
            yield from _format_data(content)
    yield b"get-mark :1\n"  # prints the id of the commit
    yield b"done\n"


def _format_data(content: bytes) -> Iterator[bytes]:
    yield f"data {len(content)}\n".encode()
    yield content
    yield b"\n"


# Heartbeats: a branch for each agent, beside the status branch, whose only commit says when a run last succeeded.
#
# The status branch gets no commit from a run that changes nothing, so it cannot say that. The commit has no files and
# no parent, so that the branch never grows, and no pipeline is started by it: there is no definition of one in it. It
# is a branch and no ref of another kind, since hosts of git limit which refs may be pushed, and protect branches by
# pattern.


_FETCHED = "refs/gitsync/heartbeats/"
_FIELDS = 4
_LATEST = int(datetime.max.replace(tzinfo=UTC).timestamp())


class _Beat(NamedTuple):
    """A heartbeat, and the commit that has it."""

    commit: str
    heartbeat: Heartbeat


def name_heartbeats(branch: str) -> str:
    """Return the folder of the heartbeat branches that belong to a status branch. It is no folder
    of that branch: git cannot have a branch inside of another one.
    """
    return f"{branch}-heartbeat/"


def name_heartbeat(branch: str, agent: str) -> str:
    """Return the heartbeat branch of an agent. Characters that a ref cannot have everywhere are
    escaped as in URLs.
    """
    return name_heartbeats(branch) + quote(agent, safe="").replace(".", "%2E").replace("~", "%7E")


def read_heartbeats(clone: Clone, branch: str) -> tuple[Heartbeat, ...]:
    """Read the heartbeats beside a status branch, sorted by agent. GitError if the remote does not
    answer.
    """
    return tuple(sorted((beat.heartbeat for beat in _fetch(clone, branch)), key=lambda heartbeat: heartbeat.agent))


def move_heartbeat(clone: Clone, branch: str, heartbeat: Heartbeat, author: Author) -> None:
    """Push a heartbeat, unless there is one of a later run. GitError if it cannot be pushed, or
    another run was faster.
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

"""State on a branch of its own, updated by compare-and-swap: git is the whole store
(docs/reference/design.md#status-branch).

A push names the commit that it replaces. If another run was faster, its tree is read, our changes are applied to it,
and the push is tried again, so two runs never lose each other's records. All of it happens in a temporary repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Final, Self, TypeVar

from gitsync.errors import ConfigError, GitError, GitsyncError, PublishError, SourceError, StateError
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, LastRun, Record, State
from gitsync.repository.git.git_access import Remote
from gitsync.repository.git.source.clone import Clone, fetch_commit, list_advertised, open_clone
from gitsync.repository.git.source.listing import Revision
from gitsync.repository.git.source.location import Url, folder_of
from gitsync.repository.git.state.commits import Author, Commit, format_status_message, write_commit
from gitsync.repository.git.state.former_tree import Files, convert_tree, log_conversion
from gitsync.repository.git.state.heartbeats import move_heartbeat, name_heartbeat, read_heartbeats
from gitsync.repository.git.state.pins import Pin, find_pin, remove_old_pins, write_pin
from gitsync.repository.git.state.record_files import UNSEALED
from gitsync.repository.git.state.recorded_run import RecordedRun, read_recorded_run, read_trailers, require_pin
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.status_log import NO_LOG, StatusLog, read_log
from gitsync.repository.git.state.status_tree import (
    build_files,
    identify,
    lacks_identity,
    read_last_run,
    read_report,
    read_state,
)
from gitsync.repository.git.state.store import Changes, Update, compute_changes, merge, split_taken
from gitsync.repository.git.state.worker_branches import (
    FETCHED,
    LONGEST_RUN,
    NOTHING,
    Recorded,
    format_trailers,
    name_worker,
    name_workers,
    read_base,
    read_recorded,
)
from gitsync.settings.backoff import Backoff, retry_blocking

_TIP = "refs/gitsync/status"

_LOOKS = 5
"""Fetches in a row of a branch that appears between two. They do not wait: it is there already."""

_BACKOFF: Final = Backoff(first=0.15, most=5.0, jitter=1.0, tries=5)
"""Chance decides about all of a wait: the agents of one branch often start at the same minute."""

T = TypeVar("T")


class StatusBranch:
    """A StateStore. `branch` is the short name of a branch that holds nothing else. `patience` is the first wait, in
    seconds, after a push that lost against another run.

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
        patience: float = _BACKOFF.first,
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
        self._read_last: tuple[str | None, State] = (None, State({}))
        self._recorded = Recorded()

    @property
    def name(self) -> str:
        return f"branch {self._branch} of {self._remote.name}"

    @property
    def branch(self) -> str:
        return self._branch

    @property
    def commit(self) -> str:
        """The commit that was read last, "" for none."""
        return self._tip or ""

    @property
    def state(self) -> State:
        """What was read last, with what was pushed since."""
        return self._base

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
            # Before the first status there is no commit to push, so an empty one shows whether the push would be
            # accepted.
            probe = self._tip or self._commit({}, format_status_message("Check push access", None))
            self._push(
                probe, "--dry-run", "--force"
            )  # a lease could fail because of another run, not of missing rights
        except GitError as error:
            raise self._make_refusal(error) from error

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        base = self._base  # each try compares with what `load` has read, not with what the try before has
        return self._retry(lambda: self._try_to_reserve(base, update))

    def _try_to_reserve(self, base: State, update: Update) -> Mapping[Key, Record]:
        self._refresh()
        taken, free = split_taken(base, self._base, update)
        if changes := compute_changes(self._base, free):
            self._try_to_save(changes, free)
        return taken

    def save(self, update: Update) -> bool:
        return self._save(update)

    def fold(self, update: Update, run_id: str, *, is_over: bool) -> None:
        """Take what workers have recorded into the branch, as each push does. The branches of a run that is not over
        stay, so that it can be gathered again once all of its workers have ended.
        """
        self._save(update, "" if is_over else run_id)

    def _save(self, update: Update, kept: str = "") -> bool:
        changes = compute_changes(self._base, update)
        is_worker = self._start is not None  # whose end is worth a commit, also of a run that changed nothing
        if changes or self._recorded.changes or is_worker or self._base.is_former:
            self._retry(lambda: self._try_to_save(changes, update))
        self._remove_workers(kept)
        return bool(changes)

    def read_last_run(self) -> LastRun | None:
        return read_last_run(self._open_tree(self._tip)) if self._tip else None

    def read_report(self) -> bytes | None:
        """Read the report of the commit that `load` has read; None for none. SourceError if it is too large."""
        return read_report(self._open_tree(self._tip)) if self._tip else None

    def read_log(self, known: str, known_time: str) -> StatusLog:
        """Read the history up to the commit that `load` has read, as far as it follows the commit `known`, committed at
        that time ("" for none). StateError if it cannot be read.
        """
        if self._tip is None:
            return NO_LOG
        try:
            return read_log(self._clone(), _TIP, self._branch, self._tip, known, known_time)
        except GitError as error:
            message = f"The history of the {self.name} cannot be read: {error.message}"
            raise StateError(message, hint=error.hint) from error

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:
        try:
            return tuple(self._list_runs(since, most)) if self._tip else ()
        except GitError as error:
            message = f"The history of the {self.name} cannot be read: {error.message}"
            raise StateError(message, hint=error.hint) from error

    def _list_runs(self, since: datetime, most: int) -> Iterator[LastRun]:
        """Yield the runs of commits."""
        self._clone().fetch(f"+refs/heads/{self._branch}:{_TIP}", depth=(f"--depth={most + 1}",))
        options = ("--first-parent", f"--max-count={most + 1}", "--format=%H %ct")
        lines = self._clone().repository.run("log", *options, self._tip or "", "--").decode().splitlines()
        dated = [line.partition(" ") for line in lines]
        commits = [commit for commit, _, seconds in dated if int(seconds) >= since.timestamp()][:most]
        runs = [(commit, read_last_run(self._open_tree(commit))) for commit in commits]
        for (commit, run), (_, before) in zip(runs, [*runs, ("", None)][1:], strict=True):
            # A commit that only expects something leaves the report of the run before it.
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

    def settle_pin(self, run_id: str, wanted: Pin, fold: Update) -> Pin:
        """Return the pin of a run. Without one, it becomes `wanted`, with the commit that the branch points to once all
        that workers have recorded is on it, and its identity, which `fold` writes.

        Raises ConfigError for a pin of another run, StateError if it can be neither read nor written.
        """
        clone = self._clone()
        wanted = replace(wanted, branch=self._branch)
        pin = find_pin(clone, run_id, wanted, self._seals)
        if pin is None:
            if self._recorded.changes:
                self.save(fold)
            # Each worker would make an identity of its own, and convert all records.
            headline = "Write records as JSON" if self._base.is_former else ""
            headline = "Begin to sign records" if lacks_identity(self._base, self._seals) else headline
            if headline:
                begin = replace(fold, headline=headline, summary=None)
                self._retry(lambda: self._try_to_save(NOTHING, begin))
            pin = write_pin(clone, run_id, replace(wanted, status=self._tip or ""), self._seals, self._author)
            remove_old_pins(clone, wanted.time)
        if pin.status and pin.status != self._tip:
            self.load()  # the author of the pin may have pushed that status since this worker read the branch
            self._require_ancestor(run_id, pin.status)
        return pin

    def read_run(self, run_id: str) -> RecordedRun:
        """Read what there is of a run of many workers beside what `load` has read. Raises ConfigError for a run of
        another status branch, StateError if there is no such run, or it cannot be read.
        """
        clone = self._clone()
        pin = require_pin(clone, run_id, self._branch, self._seals)
        status = self._open_tree(self._tip) if self._tip else None
        return read_recorded_run(clone, run_id, status, self._recorded.branches, pin)

    def _require_ancestor(self, run_id: str, commit: str) -> None:
        """Raise ConfigError unless a pinned commit is one that this branch has had."""
        clone = self._clone()
        try:
            is_there = self._tip is not None and fetch_commit(clone, commit)
            if is_there and clone.repository.is_shallow:
                clone.fetch(f"+refs/heads/{self._branch}:{_TIP}", depth=("--unshallow",))
        except GitError as error:
            raise StateError(
                f"The history of the {self.name} cannot be read: {error.message}", hint=error.hint
            ) from error
        if not is_there or not clone.repository.succeeds("merge-base", "--is-ancestor", commit, self._tip or ""):
            raise ConfigError(
                f"The pin of the run {run_id} names a status that the {self.name} never had.",
                hint="Use a --run-id that no other run has, and do not reset the status branch during a run.",
            )

    def open_worker(self, run_id: str, number: int, status: str) -> StatusBranch:
        """Open the branch of a worker. If it does not exist yet, it begins with the commit `status` of this one, "" for
        none; or with the last one, if that has what the worker recorded before the run was gathered.
        """
        is_gathered = self._tip is not None and read_trailers(self._clone(), self._tip)[0] == run_id
        return self._open_other(name_worker(self._branch, run_id, number), self._tip if is_gathered else status)

    def open_again(self) -> StatusBranch:
        """Open the same branch once more, for a thread of its own."""
        return self._open_other(self._branch, self._start)

    def _open_other(self, branch: str, start: str | None) -> StatusBranch:
        other = StatusBranch(
            self._remote,
            branch,
            clock=self._clock,
            author=self._author,
            patience=self._patience,
            seals=self._seals,
            start=start,
        )
        other._read_last = self._read_last  # the records of an estate once, not once a branch
        return other

    def read_at(self, status: str) -> State:
        """Read the state of a commit that the branch has had, "" for none. StateError if it cannot be read."""
        try:
            if status and not fetch_commit(self._clone(), status):
                raise StateError(f"The commit {status} of the {self.name} is gone.", hint="Run this again.")
        except GitError as error:
            raise StateError(f"The {self.name} cannot be read: {error.message}", hint=error.hint) from error
        return self._read(status or None)

    def _retry(self, push: Callable[[], T]) -> T:
        """Try a push again if another run was faster. PublishError if it fails."""
        try:
            return self._try_again(push)
        except (GitError, StateError) as error:
            raise self._make_refusal(error) from error

    def _try_again(self, push: Callable[[], T]) -> T:
        backoff = replace(_BACKOFF, first=self._patience)

        def choose(failure: BaseException) -> Backoff | None:
            # What took too long once would again, and the run has an end.
            return backoff if isinstance(failure, GitError) and not failure.timed_out else None

        return retry_blocking(push, choose, self._clock)

    def _try_to_save(self, changes: Changes, update: Update) -> None:
        """Push our changes on top of the last state that was read."""
        after, written = merge(self._base, changes, update.revision, update.agent), changes
        if self._start is None:  # workers share that of the status, which all that they record is taken into
            after, written = identify(after, changes, self._seals)
        message = format_status_message(update.headline, update.revision)
        if self._start is not None:
            update = replace(update, trailers=format_trailers(self._start, update.exit_code))
        if update.trailers:
            message += ("" if update.revision else "\n") + update.trailers
        is_former = self._base.is_former
        files = {
            **(self._convert() if is_former else {}),
            **self._recorded.files,
            **build_files(written, after, update, self._seals),
        }
        commit = self._commit(files, message)
        try:
            self._push(commit, f"--force-with-lease=refs/heads/{self._branch}:{self._lease}")
        except GitError as error:
            # A lost answer looks like a refusal: the push has failed only if the branch lacks the changes.
            if error.timed_out or not self._has_arrived(commit, changes):
                raise
            return
        if is_former:
            log_conversion(self.name)
        self._tip, self._lease, self._base = commit, commit, after
        self._recorded = Recorded(branches=self._recorded.branches)

    def _has_arrived(self, commit: str, changes: Changes) -> bool:
        """Read again after a failed push: it may have arrived although its answer was lost."""
        try:
            self._refresh()
        except GitError:
            return False
        # If another run has pushed since, its commit has our changes, and nothing is left to take in of what workers
        # have recorded.
        is_there = merge(self._base, changes, self._base.revision) == self._base
        is_shared = self._start is None  # the branch of a worker has its own commits alone
        return self._tip == commit or (is_shared and is_there and not self._recorded.changes)

    def _refresh(self) -> None:
        self._tip, has_workers = self._fetch()
        state = self._read(self._tip)
        self._recorded, self._base = Recorded(), state
        if has_workers:
            clone = self._clone()
            self._recorded = read_recorded(clone, self._branch, state, self._seals)
            united = merge(state, self._recorded.changes, state.revision)
            self._base = replace(united, strays=self._recorded.strays, is_former=state.is_former)

    def _remove_workers(self, kept: str) -> None:
        """Remove the branches of workers that have ended, except those of the run `kept`, and of those that no run can
        belong to any more: all that they have recorded is on the status branch.
        """
        # A worker that was killed has no exit code, but no run lasts as long as this.
        since = self._clock.now() - LONGEST_RUN
        branches = self._recorded.branches
        over = [
            branch
            for branch in branches
            if (branch.exit_code is not None and branch.run_id != kept) or branch.time < since
        ]
        names = {branch: f"refs/heads/{name_worker(self._branch, branch.run_id, branch.number)}" for branch in over}
        if names:
            leases = [f"--force-with-lease={name}:{branch.commit}" for branch, name in names.items()]
            arguments = ("--", self._remote.url, *(f":{name}" for name in names.values()))
            # What cannot be removed stays for a later run.
            self._clone().repository.succeeds("push", "--quiet", *leases, *arguments)
            left = tuple(branch for branch in branches if branch not in names)
            self._recorded = replace(self._recorded, branches=left)

    def _clone(self) -> Clone:
        if self._opened_clone is None:
            self._opened_clone = open_clone(self._remote)
        return self._opened_clone

    def _fetch(self, looks: int = _LOOKS) -> tuple[str | None, bool]:
        """Fetch the commit that the branch points to, None if there is no such branch, and the branches of workers.
        Return whether there are some.
        """
        clone, own = self._clone(), f"refs/heads/{self._branch}"
        workers = f"refs/heads/{name_workers(self._branch)}*"
        refspecs = [f"+{workers}:{FETCHED}*"] if self._start is None else []
        try:
            clone.fetch(f"+{own}:{_TIP}", *refspecs)
        except GitError as error:
            # git has no code for a branch that does not exist. An outage must not look like an empty status.
            advertised = list_advertised(clone, own, workers)
            if own in advertised and (error.timed_out or looks == 1):
                raise
            if own in advertised:  # another run may have made it between the two looks
                return self._fetch(looks - 1)
            self._lease = ""
            if self._start is None and advertised:
                clone.fetch(*refspecs)
            return self._begin(), self._start is None and bool(advertised)
        self._lease = clone.read_fetched()
        if self._start is not None:
            self._start = read_base(clone, self._lease)
        return self._lease, clone.count_fetched() > 1

    def _begin(self) -> str | None:
        """Return what a branch begins with that does not exist yet; GitError if that cannot be fetched."""
        if self._start and not fetch_commit(self._clone(), self._start):
            raise GitError(f"The commit {self._start} of the status is gone.", hint="Run this again.")
        return self._start or None

    def _read(self, tip: str | None) -> State:
        """Read the state of a commit, None for none."""
        # A worker reads the same one for the pin and for its branch.
        if tip != self._read_last[0]:
            self._read_last = (tip, read_state(self._open_tree(tip), self._seals) if tip else State({}))
        return self._read_last[1]

    def _convert(self) -> Files:
        """What makes a tree of an earlier version one of today."""
        try:
            steps = list(convert_tree(self._open_tree(self._tip or "")))
        except SourceError as error:
            raise StateError(f"The {self.name} cannot be read: {error.message}", hint=error.hint) from error
        return {path: content for step in steps for path, content in step.items()}

    def _open_tree(self, tip: str) -> Revision:
        return Revision(repository=self._clone().repository, commit=tip, label=self.name)

    def _commit(self, files: Files, message: str) -> str:
        commit = Commit(parent=self._tip, files=files, message=message, author=self._author, time=self._clock.now())
        return write_commit(self._clone().repository, commit)

    def _push(self, commit: str, *options: str) -> None:
        refspec = f"{commit}:refs/heads/{self._branch}"
        self._clone().repository.run("push", "--quiet", *options, "--", self._remote.url, refspec)

    def _check_folder(self) -> None:
        """Check the permissions of a repository on this machine: it has no server that could refuse a push."""
        folder = folder_of(Url(self._remote.url, "file"))
        # A repository on this machine has no server that could refuse the push before it is made.
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

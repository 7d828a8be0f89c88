"""State on a branch of its own, updated by compare-and-swap: git is the whole store
(docs/reference/design.md#status-branch).

A push names the commit that it replaces. If another run was faster, its tree is read, our changes are applied to it,
and the push is tried again, so two runs never lose each other's records. All of it happens in a temporary repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from gitsync.errors import GitsyncError, PublishError, StateError
from gitsync.git.access import Remote
from gitsync.git.command import GitFailedError
from gitsync.git.source.clone import Clone, list_advertised, open_clone
from gitsync.git.source.location import Url, folder_of
from gitsync.git.source.revision import Revision
from gitsync.git.state.codec import UNSEALED
from gitsync.git.state.commit import Author, Commit, format_status_message, write_commit
from gitsync.git.state.heartbeat import move_heartbeat, name_heartbeat, read_heartbeats
from gitsync.git.state.merging import Changes, find_changes, merge
from gitsync.git.state.seal import RecordSeals
from gitsync.git.state.status_tree import Files, build_files, read_state
from gitsync.git.state.store import Update, split_taken
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.heartbeat import Heartbeat
from gitsync.model.record import Record, State

_TIP = "refs/gitsync/status"
_ATTEMPTS = 5

T = TypeVar("T")


class StatusBranch:
    """A StateStore. `branch` is the short name of a branch that holds nothing else. `patience` scales, in seconds, the
    waits between pushes that lost against other runs.
    """

    def __init__(
        self,
        remote: Remote,
        branch: str,
        *,
        clock: Clock,
        author: Author | None = None,
        patience: float = 0.3,
        seals: RecordSeals = UNSEALED,
    ) -> None:
        self._remote = remote
        self._branch = branch
        self._clock = clock
        self._author = author or Author()
        self._patience = patience
        self._seals = seals
        self._opened_clone: Clone | None = None
        self._tip: str | None = None  # the last commit that was read
        self._base = State({})  # its state

    @property
    def name(self) -> str:
        return f"branch {self._branch} of {self._remote.name}"

    def load(self) -> State:
        try:
            self._refresh()
        except GitFailedError as error:
            raise StateError(f"The {self.name} cannot be read: {error.message}", hint=error.hint) from error
        return self._base

    def check_writable(self) -> None:
        """Push with `git push --dry-run`: what the branch has already or, before the first status, an empty commit."""
        try:
            self._check_folder()
            probe = self._tip or self._commit({}, format_status_message("May we push?", None))
            self._push(probe, "--dry-run", "--force")
        except GitFailedError as error:
            raise self._make_refusal(error) from error

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        base = self._base
        return self._retry(lambda: self._try_to_reserve(base, update))

    def _try_to_reserve(self, base: State, update: Update) -> Mapping[Key, Record]:
        self._refresh()
        taken, free = split_taken(base, self._base, update)
        if changes := find_changes(self._base, free):
            self._try_to_save(changes, free)
        return taken

    def save(self, update: Update) -> bool:
        changes = find_changes(self._base, update)
        if changes:
            self._retry(lambda: self._try_to_save(changes, update))
        return bool(changes)

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        try:
            return read_heartbeats(self._clone(), self._branch)
        except GitFailedError as error:
            raise StateError(
                f"The heartbeats beside the {self.name} cannot be read: {error.message}", hint=error.hint
            ) from error

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        try:
            self._try_again(lambda: move_heartbeat(self._clone(), self._branch, heartbeat, self._author))
        except GitFailedError as error:
            name = name_heartbeat(self._branch, heartbeat.agent)
            raise PublishError(
                f"The heartbeat cannot be pushed to branch {name} of {self._remote.name}: {error.message}",
                hint=error.hint or "Grant the identity the right to push to this branch, with force.",
            ) from error

    def _retry(self, push: Callable[[], T]) -> T:
        """Try a push again if another run was faster. PublishError if it fails."""
        try:
            return self._try_again(push)
        except (GitFailedError, StateError) as error:
            raise self._make_refusal(error) from error

    def _try_again(self, push: Callable[[], T]) -> T:
        retrying = Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, GitFailedError) and not error.timed_out),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=self._patience, max=10),
            reraise=True,
        )
        return retrying(push)

    def _try_to_save(self, changes: Changes, update: Update) -> None:
        """Push our changes on top of the last state that was read."""
        after = merge(self._base, changes, update.revision, update.agent)
        commit = self._commit(
            build_files(changes, after, update, self._seals), format_status_message(update.headline, update.revision)
        )
        try:
            self._push(commit, f"--force-with-lease=refs/heads/{self._branch}:{self._tip or ''}")
        except GitFailedError as error:
            if error.timed_out or not self._has_changes(changes):
                raise
            return
        self._tip, self._base = commit, after

    def _has_changes(self, changes: Changes) -> bool:
        """Read again after a failed push: it may have arrived although its answer was lost."""
        try:
            self._refresh()
        except GitFailedError:
            return False
        return merge(self._base, changes, self._base.revision) == self._base

    def _refresh(self) -> None:
        self._tip = self._fetch()
        self._base = self._read(self._tip)

    def _clone(self) -> Clone:
        if self._opened_clone is None:
            self._opened_clone = open_clone(self._remote)
        return self._opened_clone

    def _fetch(self) -> str | None:
        """The commit that the branch points to, None if there is no such branch."""
        clone = self._clone()
        try:
            clone.fetch(f"+refs/heads/{self._branch}:{_TIP}")
        except GitFailedError:
            if list_advertised(clone, f"refs/heads/{self._branch}"):
                raise
            return None
        return clone.find_fetched()

    def _read(self, tip: str | None) -> State:
        if tip is None:
            return State({})
        return read_state(Revision(repository=self._clone().repository, commit=tip, label=self.name), self._seals)

    def _commit(self, files: Files, message: str) -> str:
        commit = Commit(parent=self._tip, files=files, message=message, author=self._author, time=self._clock.now())
        return write_commit(self._clone().repository, commit)

    def _push(self, commit: str, *options: str) -> None:
        refspec = f"{commit}:refs/heads/{self._branch}"
        self._clone().repository.run("push", "--quiet", *options, "--", self._remote.url, refspec)

    def _check_folder(self) -> None:
        """A repository on this machine has no server that could refuse, so check the permissions of its files."""
        folder = folder_of(Url(self._remote.url, "file"))
        for objects in (folder / "objects", folder / ".git" / "objects"):
            if objects.is_dir() and not os.access(objects, os.W_OK):
                raise GitFailedError(
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

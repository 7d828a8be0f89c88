"""State in a folder: the same tree as on the branch, for sources without a remote and for pipelines with artifacts.

Every file is replaced as a whole, the inventory last. If the run is killed, the folder contains for each resource the
old or the new record, never half of one; its revision only changes when all records are written. That is enough, since
records do not depend on each other. A mark exists during the update, so that the next run updates the texts about the
records even if no record changes.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from gitsync.errors import PublishError, SourceError, StateError, UnsafePathError
from gitsync.model.clock import format_rfc3339
from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, LastRun, Record, State
from gitsync.repository.git.source.worktree import FolderListing
from gitsync.repository.git.state.former_tree import Files, convert_tree, log_conversion
from gitsync.repository.git.state.record_files import INVENTORY, UNSEALED
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.status_tree import (
    build_files,
    build_inventory,
    identify,
    read_last_run,
    read_report,
    read_state,
)
from gitsync.repository.git.state.store import Changes, Update, compute_changes, merge, split_taken
from gitsync.settings.files.output_path import OutputPath, choose_output_path, open_below, open_folder
from gitsync.settings.files.whole_files import create_file, replace_file

_FOLDER_MODE, _FILE_MODE = 0o777, 0o644
_HALF_WRITTEN = ".half-written"  # a file
_UNFINISHED = ".unfinished"  # the tree
_IGNORE = ".gitignore"
_CHOOSE_FOLDER = "Grant this user write access, or set --status-dir to another folder."


class StatusFolder:
    """A StateStore. The folder is created at the first write. No link of a checkout or of `source` leads to it, and no
    link in it is written through. With `keeps_from_git`, a new folder gets a `.gitignore` that keeps it out of commits.
    """

    def __init__(
        self,
        folder: Path,
        seals: RecordSeals = UNSEALED,
        source: Path | None = None,
        *,
        keeps_from_git: bool = False,
    ) -> None:
        self._folder = folder
        self._keeps_from_git = keeps_from_git
        self._source = source
        self._output_path = OutputPath(folder)  # followed once the lock is taken
        self._seals = seals
        self._lock: FolderLock | None = None
        self._base = State({})

    @property
    def name(self) -> str:
        return f"folder {self._folder}"

    def load(self) -> State:
        try:
            self._base = self._read()
        except OSError as error:
            raise StateError(f"The {self.name} cannot be read: {error.strerror}.") from error
        return self._base

    def check_writable(self) -> None:
        """Create the folder and take its lock, which is held until the store is closed."""
        with self._open() as folder:
            # Only a write shows whether the disk is full or the mount is read-only.
            self._write(folder, _HALF_WRITTEN, b"")
            self._remove(folder, _HALF_WRITTEN)

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        with self._open() as folder:
            current = self._read()  # under the lock, so no other run writes from here on
            taken, free = split_taken(self._base, current, update)
            self._base = current
            changes = compute_changes(current, free)
            if self._is_due(changes):
                self._update(folder, current, changes, free)
        return taken

    def save(self, update: Update) -> bool:
        changes = compute_changes(self._base, update)
        with self._raise_publish_errors():
            if not self._is_due(changes):
                return False
            with self._open() as folder:
                try:
                    self._update(folder, self._read(), changes, update)
                # The run has changed Azure by now, so what cannot be read is what cannot be written, as on a branch.
                except (SourceError, StateError) as error:
                    message = f"Status cannot be written to the {self.name}: {error.message}"
                    raise PublishError(message, hint=error.hint or _CHOOSE_FOLDER) from error
        return True

    def _is_due(self, changes: Changes) -> bool:
        # A tree whose last write was cut short is written again, though nothing has changed since.
        return bool(changes) or self._base.is_former or self._is_cut_short()

    def _is_cut_short(self) -> bool:
        return (self._folder / _UNFINISHED).exists()

    def _update(self, folder: int, current: State, changes: Changes, update: Update) -> None:
        """Write changes to the open folder, whose state is `current`."""
        after = merge(current, changes, update.revision, update.agent)
        after, written = identify(after, changes, self._seals)
        is_cut_short = self._is_cut_short()
        # An unfinished tree is still known as ours.
        if not current.is_former and not (self._folder / INVENTORY).exists():
            self._replace(folder, {INVENTORY: build_inventory(State({}))})
        # While the mark is there, a reader does not compare the index with the records.
        self._write(folder, _UNFINISHED, b"")
        if is_cut_short or current.is_former:
            for step in convert_tree(FolderListing(root=self._folder)):
                self._replace(folder, step)
        if current.is_former:
            log_conversion(self.name)
        self._replace(folder, build_files(written, after, update, self._seals))
        self._remove(folder, _UNFINISHED)
        self._base = after

    def _read(self) -> State:
        # Anyone who can change the link would decide which records are read, and so what is deleted.
        if self._folder.is_symlink():
            raise StateError(f"{self._folder} is a symbolic link.", hint="Set --status-dir to the folder itself.")
        self._open_output_path()
        if not self._folder.exists():
            return State({})
        if not self._folder.is_dir():
            raise StateError(f"{self._folder} is not a folder.", hint="Set --status-dir to a folder.")
        return read_state(FolderListing(root=self._folder), self._seals, cut_short=self._is_cut_short())

    def _ensure_lock(self) -> None:
        if self._lock is None:
            self._output_path = self._open_output_path()
            made: list[Path] = []
            with open_folder(self._output_path, makes=_FOLDER_MODE, made=made) as folder:
                self._lock = acquire_lock(self._folder, folder)
                # In an older folder, the file may have been removed on purpose.
                if self._keeps_from_git and self._output_path.path in made:
                    with suppress(FileExistsError):
                        create_file(folder, _IGNORE, b"*\n", _FILE_MODE)
            # Of a run that was killed: the lock proves that it ended.
            for leftover in self._folder.rglob(_HALF_WRITTEN):
                leftover.unlink()

    def _replace(self, folder: int, files: Files) -> None:
        """Write and remove files in the order given, each as a whole, and make sure that they are on the disk."""
        for path, content in files.items():
            if content is not None:
                self._write(folder, path, content)
            else:
                self._remove(folder, path)
        self._sync(folder, {tuple(path.split("/")[:-1]) for path in files} | {()})

    def _open_output_path(self) -> OutputPath:
        """Find the folder. StateError if a link of a checkout leads to it: records decide what is deleted."""
        try:
            return choose_output_path(self._folder, str(self._source) if self._source else None)
        except UnsafePathError as error:
            raise StateError(f"The {self.name} cannot be used: {error.message}", hint=error.hint) from error

    def _write(self, folder: int, path: str, content: bytes) -> None:
        """Replace a file as a whole: readers see the old one or the new one."""
        with self._open_parent(folder, path, makes=_FOLDER_MODE) as (parent, name):
            replace_file(parent, name, content, _FILE_MODE, temporary=_HALF_WRITTEN)

    def _remove(self, folder: int, path: str) -> None:
        """Remove a file, and the folders that it leaves empty."""
        with suppress(FileNotFoundError), self._open_parent(folder, path) as (parent, name):
            os.unlink(name, dir_fd=parent)
        # git has no empty folders either, so both stores keep the same tree.
        while path := path.rpartition("/")[0]:
            with suppress(FileNotFoundError), self._open_parent(folder, path) as (parent, name):
                try:
                    os.rmdir(name, dir_fd=parent)
                except OSError as error:
                    if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                        raise
                    return

    @contextmanager
    def _open_parent(self, folder: int, path: str, *, makes: int | None = None) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that a path leads to, and the name of the last step there."""
        *folders, name = path.split("/")
        with open_below(folder, folders, self._output_path.path, makes=makes) as parent:
            try:
                yield parent, name
            except OSError as error:
                # The system names what it got: a name without its folder, or the temporary one.
                error.filename = str(self._output_path.path / path)
                raise

    def _sync(self, folder: int, all_steps: Iterable[tuple[str, ...]]) -> None:
        """Flush the names in folders to the disk; what was removed has none."""
        for steps in sorted(all_steps):
            with suppress(FileNotFoundError), open_below(folder, steps, self._output_path.path) as parent:
                os.fsync(parent)

    @contextmanager
    def _open(self) -> Iterator[int]:
        """The descriptor of the folder, for as long as something is written: it is locked, and created if it is
        missing.
        """
        with self._raise_publish_errors():
            self._ensure_lock()
            with open_folder(self._output_path, makes=_FOLDER_MODE) as folder:
                yield folder

    @contextmanager
    def _raise_publish_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PublishError(
                f"Status cannot be written to {error.filename or self._folder}: {error.strerror}.",
                hint=_CHOOSE_FOLDER,
            ) from error

    def read_last_run(self) -> LastRun | None:
        return read_last_run(FolderListing(root=self._folder)) if self._folder.is_dir() else None

    def read_report(self) -> bytes | None:
        return read_report(FolderListing(root=self._folder)) if self._folder.is_dir() else None

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:
        last = self.read_last_run()
        return (last,)[:most] if last and last.time >= format_rfc3339(since) else ()

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        return ()

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        raise PublishError(
            f"The {self.name} cannot store the heartbeat of {heartbeat.agent}.",
            hint="Use --status-branch, or --metrics.",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


# One run at a time in a status folder.
#
# The lock is the kernel's (flock): it ends with its process, so it never has to be broken. The number in the file only
# shows people the process that holds it.


LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class FolderLock:
    """A lock that is held."""

    descriptor: int

    def release(self) -> None:
        os.close(self.descriptor)


def acquire_lock(folder: Path, descriptor_of_folder: int) -> FolderLock:
    """Take the lock of an open folder. StateError if another run holds it; OSError if it cannot be taken."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(LOCK, flags, 0o644, dir_fd=descriptor_of_folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        # The number is for people only; the lock itself is the kernel's.
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise StateError(
            f"{folder} is locked by another run (pid {holder}).", hint="Wait for it to finish, then run again."
        ) from None
    except OSError:
        os.close(descriptor)
        raise
    return FolderLock(descriptor)

"""Temporary folders of a run, with those of killed runs removed.

A process holds a lock (flock) on each of its folders, which the kernel releases when it ends, however it ends. So a
folder without a lock is one of a killed run. Process ids would not do: those of two containers that share a temporary
folder do not say anything about each other.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "gitsync-run-"

_locks: dict[Path, int] = {}  # a file descriptor for each folder of this process


def make_temporary_folder() -> Path:
    """Make a folder that only this user can read, and remove those of killed runs. OSError if it cannot be made."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = _lock_new(folder)
        if lock is not None:
            _locks[folder] = lock
            return folder


def remove_temporary_folder(folder: Path) -> None:
    """Remove a folder of this process, as far as that is possible."""
    # Before the lock is released: another run would take a folder without one for abandoned.
    shutil.rmtree(folder, ignore_errors=True)
    lock = _locks.pop(folder, None)
    if lock is not None:
        os.close(lock)


@contextmanager
def open_temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end."""
    folder = make_temporary_folder()
    try:
        yield folder
    finally:
        remove_temporary_folder(folder)


def _lock_new(folder: Path) -> int | None:
    """Lock a new folder. None if another run took it for an abandoned one first, and removes it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    if _holds(lock) and folder.exists():
        return lock
    os.close(lock)
    return None


def _holds(lock: int) -> bool:
    """Take a lock. Returns False if another process has it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks, where no folder counts as abandoned
    return True


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders that no process holds."""
    # What cannot be listed or removed stays.
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    """Remove a folder of this user that no process holds. OSError if one does."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(lock)
        # Anyone can make a folder of this name in /tmp, so only one as `mkdtemp` makes it counts.
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)

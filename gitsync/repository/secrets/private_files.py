"""Folders and files that other users cannot read: checked before use, and created with restricted permissions.

A user with write access to a folder can create a link in it, and so choose where a secret is written. So every folder
that a sink writes to belongs to the user of gitsync, and no other user can enter it.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitsync.errors import UnsafePathError
from gitsync.settings.files.output_path import choose_output_path, open_folder

FOLDER_MODE = 0o700
FILE_MODE = 0o600

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC  # never write to an existing file
_OTHER_USERS = 0o077


def ensure_private_folder(folder: Path, source: str | None = None) -> None:
    """Ensure a folder that only this user can enter; create it and its parents if it does not exist.

    Raises UnsafePathError if other users can enter it, it is not a folder, or a link of a checkout leads to it; OSError
    if it cannot be created.
    """
    # From the top down: a folder that is created is private from its first moment.
    folder = folder.absolute()
    with open_folder(choose_output_path(folder.parent, source), makes=FOLDER_MODE) as parent:
        try:
            os.mkdir(folder.name, FOLDER_MODE, dir_fd=parent)
        except FileExistsError:
            check_private_folder(folder)


def check_private_folder(folder: Path) -> None:
    """Raise UnsafePathError if a path is not a private folder of this user; OSError if it does not exist."""
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePathError(f"{folder} is a symbolic link.", "Use the folder itself.")
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafePathError(f"{folder} is not a folder.", "Use a folder, or another path.")
    _check_owner_and_mode(folder, status, "700")


def check_private_file(file: Path, folder: int) -> None:
    """Raise UnsafePathError if something other than a private file of this user is at a path, in an open folder."""
    try:
        status = os.lstat(file.name, dir_fd=folder)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not a file"
        raise UnsafePathError(f"{file} is {kind}.", "Use the file itself, or another path.")
    _check_owner_and_mode(file, status, "600")


def _check_owner_and_mode(path: Path, status: os.stat_result, mode: str) -> None:
    if status.st_uid != os.geteuid():
        raise UnsafePathError(
            f"{path} belongs to the user {status.st_uid}, and gitsync runs as {os.geteuid()}.",
            f"Run `chown {os.geteuid()} {path}`, or use another path.",
        )
    if status.st_mode & _OTHER_USERS:
        raise UnsafePathError(
            f"{path} has the mode {stat.S_IMODE(status.st_mode):04o}: other users can read or write secrets.",
            f"Run `chmod {mode} {path}`.",
        )


def write_new(file: Path, content: bytes, mode: int = FILE_MODE) -> None:
    """Write a new file, and flush it to the disk."""
    with os.fdopen(os.open(file, _CREATE, mode), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # The lock is short, so other runs wait for it.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

"""Files in an open folder, written as a whole: readers see the old one or the new one, and no link is followed."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitsync.settings.files.output_path import choose_output_path, open_folder

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC  # never write to an existing file


@contextmanager
def open_parent(file: Path, source: str | None, *, makes: int | None = None) -> Iterator[int]:
    """The descriptor of the folder of an output, which is created with the mode `makes` if it is missing.

    Raises UnsafePathError for a link that is not followed, OSError if the folder cannot be opened.
    """
    with open_folder(choose_output_path(file.parent, source), makes=makes) as folder:
        yield folder


def replace_file(folder: int, name: str, content: bytes, mode: int, *, temporary: str = "") -> None:
    """Write a file of an open folder, and flush it to the disk; `temporary` is its name until then. OSError if that
    fails: then the old one stays.
    """
    # Beside the file, since a rename is atomic only within one file system.
    temporary = temporary or f".gitsync-{secrets.token_hex(8)}"
    try:
        create_file(folder, temporary, content, mode)  # flushed: a rename may reach the disk before the content does
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def create_file(folder: int, name: str, content: bytes, mode: int) -> None:
    """Write a new file of an open folder, and flush it to the disk. FileExistsError if the name is taken, by a link
    too.
    """
    file = os.open(name, _CREATE, mode, dir_fd=folder)
    try:
        while content:
            content = content[os.write(file, content) :]
        os.fsync(file)
    finally:
        os.close(file)


def read_file(folder: int, name: str, most: int) -> bytes | None:
    """Read at most so many bytes of a file of an open folder; None if it is missing, a link, or no plain file."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None

"""Writes files into a folder whose content may come from anyone: a repository.

A link in it could lead a write elsewhere, to a key or a start-up script of the user. So each step of a path is opened
by itself, without following links, and a file is either created or replaced as a whole.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath

from gitsync.errors import ConfigError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_BYTES = 10_000_000


class TargetFolder:
    """A folder to write into. It is created if it is missing; where it is, the user has said, so links to it count."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, path: str, content: bytes) -> bool:
        """Create a file; False, and no change, if something has its name. ConfigError if it cannot be written."""
        with self._open_parent(path) as (parent, name):
            try:
                _write_new(parent, name, content)
            except FileExistsError:
                return False
            return True

    def replace(self, path: str, content: bytes) -> bool:
        """Write a file as a whole, in place of what has its name; False if it is the same already. ConfigError if it
        cannot be written.
        """
        with self._open_parent(path) as (parent, name):
            if _read(parent, name) == content:
                return False
            temporary = f".{name}.{secrets.token_hex(8)}"
            _write_new(parent, temporary, content)
            try:
                os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except OSError:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=parent)
                raise
            return True

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if it is missing, a link, or no plain file. ConfigError if its folder cannot be
        opened.
        """
        try:
            with self._open_parent(path, is_made=False) as (parent, name):
                return _read(parent, name)
        except FileNotFoundError:
            return None

    @contextmanager
    def _open_parent(self, path: str, *, is_made: bool = True) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder of a file, and the name of the file. FileNotFoundError if it is missing and not
        to be made.
        """
        *folders, name = PurePosixPath(path).parts
        place = self._folder
        try:
            with ExitStack() as opened:
                if is_made:
                    place.mkdir(parents=True, exist_ok=True)
                parent = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                opened.callback(os.close, parent)
                for folder in folders:
                    place /= folder
                    if is_made:
                        with suppress(FileExistsError):
                            os.mkdir(folder, dir_fd=parent)
                    parent = os.open(folder, _FOLDER, dir_fd=parent)
                    opened.callback(os.close, parent)
                yield parent, name
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not is_made:
                raise
            raise _explain(error, place, name) from error


def _explain(error: OSError, place: Path, name: str) -> ConfigError:
    if place.is_symlink():
        return ConfigError(
            f"{place} is a link, so nothing is written into it.", hint="Replace the link by a folder, or remove it."
        )
    return ConfigError(f"{place / name} cannot be written: {error.strerror}.", hint="Choose another folder.")


def _write_new(parent: int, name: str, content: bytes) -> None:
    with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=parent), "wb") as file:
        file.write(content)


def _read(parent: int, name: str) -> bytes | None:
    try:
        descriptor = os.open(name, _OLD, dir_fd=parent)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None

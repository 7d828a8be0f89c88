"""Write files into a folder whose content may come from anyone: a repository.

A link in it could lead a write elsewhere, to a key or a start-up script of the user. So each step of a path is opened
by itself, without following links, and a file is either created or replaced as a whole.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from gitsync.errors import ConfigError, UnsafePathError
from gitsync.settings.files.output_path import choose_output_path, is_link, open_folder
from gitsync.settings.files.whole_files import read_file

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_BYTES = 10_000_000
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}")
_USUAL_MODE = 0o777
_HINT = "Choose another folder."


class TargetFolder:
    """A folder to write into, created if it is missing. The user has said where it is, so links to it count; but from
    the first checkout on the way to it, and from `source`, no link is followed.
    """

    def __init__(self, folder: Path, source: str | None = None, *, most_bytes: int = _MOST_BYTES) -> None:
        self._folder = folder.absolute()
        self._source = source
        self._most_bytes = most_bytes  # of a file that is read
        self._made: list[Path] = []

    def check(self, name: str = "-") -> None:
        """Raise ConfigError if the folder cannot be written into, or `name` in it is a link. Nothing changes."""
        # A folder that does not exist has no links.
        with suppress(FileNotFoundError), self._open_parent(name, is_made=False) as (parent, _):
            self._refuse_link(parent, name)
        real_path = next(real_path for real_path in (self._folder, *self._folder.parents) if real_path.exists())
        if not os.access(real_path, os.W_OK | os.X_OK):
            raise ConfigError(f"{real_path} cannot be written.", hint=_HINT)

    def create(self, path: str, content: bytes) -> bool:
        """Create a file; False, and no change, if something has its name. ConfigError if it cannot be written."""
        with self._open_parent(path) as (parent, name):
            try:
                _write_new(parent, name, content)
            except FileExistsError:
                return False
            self._made.append(self._folder / path)
            return True

    def create_all(self, files: Mapping[str, bytes]) -> None:
        """Create files. ConfigError if one cannot be written, or something has its name: then none is created."""
        with self._undo_if_incomplete():
            for path, content in sorted(files.items()):
                if not self.create(path, content):
                    raise ConfigError(f"{self._folder / path} already exists.", hint=_HINT)

    @contextmanager
    def _undo_if_incomplete(self) -> Iterator[None]:
        self._made.clear()
        try:
            yield
        # Ctrl-C too: a part of the files is worse than none.
        except BaseException as failure:
            # Files before the folders that were made for them
            for real_path in reversed(self._made):
                with suppress(OSError):
                    real_path.rmdir() if real_path.is_dir() else real_path.unlink()
            if isinstance(failure, ConfigError):
                failure.hint += " Nothing was written."
            raise

    def replace(self, path: str, content: bytes) -> bool:
        """Write a file as a whole; False if it is the same already. ConfigError if it cannot be written, or a link has
        its name.
        """
        with self._open_parent(path) as (parent, name):
            if read_file(parent, name, self._most_bytes) == content:  # its time stays too
                return False
            self._refuse_link(parent, path)
            temporary = f".{name}.{secrets.token_hex(8)}"
            _write_new(parent, temporary, content, mode=_find_mode(parent, name))
            try:
                os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except OSError:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=parent)
                raise
            return True

    def remove(self, path: str) -> None:
        """Remove a file, and the folders that it leaves empty. ConfigError if it cannot be removed."""
        try:
            with self._open_parent(path, is_made=False) as (parent, name):
                os.unlink(name, dir_fd=parent)
            # Without the last parent, which is the target folder itself: it stays.
            for folder in PurePosixPath(path).parents[:-1]:
                # A folder with other files stays.
                with self._open_parent(str(folder), is_made=False) as (parent, name), suppress(OSError):
                    os.rmdir(name, dir_fd=parent)
        except OSError as error:
            raise _explain(error, self._folder, path) from error

    def change_all(self, files: Mapping[str, tuple[bytes, bytes | None]]) -> None:
        """Change files from the content that they must have to another, or remove them (None). Modes stay. ConfigError
        if one has another content, or cannot be written: then none is changed.
        """
        done: list[str] = []
        try:
            # All are checked before the first is changed: one that has changed keeps the others, too.
            for path, (old, _) in sorted(files.items()):
                self._check_content(path, old)
            for path, (_, new) in sorted(files.items()):
                self._change(path, new)
                done.append(path)
        except BaseException as failure:
            for path in done:
                with suppress(OSError, ConfigError):
                    self._change(path, files[path][0])
            if isinstance(failure, ConfigError):
                failure.hint += " Nothing was written."
            raise

    def _check_content(self, path: str, content: bytes) -> None:
        if self.read(path) != content:
            real_path = self._folder / path
            raise ConfigError(f"{real_path} has changed since it was read.", hint="Run the command again.")

    def _change(self, path: str, content: bytes | None) -> None:
        if content is not None:
            self.replace(path, content)
            return
        with self._open_parent(path, is_made=False) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if it is missing, a link, or no plain file. ConfigError if its folder cannot be
        opened.
        """
        try:
            with self._open_parent(path, is_made=False) as (parent, name):
                return read_file(parent, name, self._most_bytes)
        except FileNotFoundError:
            return None

    @contextmanager
    def _open_parent(self, path: str, *, is_made: bool = True) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder of a file, and the name of the file. FileNotFoundError if it is missing and not
        to be made.
        """
        *folders, name = PurePosixPath(path).parts
        try:
            real_path = choose_output_path(self._folder, self._source).below(*folders)
            with open_folder(real_path, makes=_USUAL_MODE if is_made else None, made=self._made) as parent:
                yield parent, name
        except UnsafePathError as error:
            raise ConfigError(error.message, hint=error.hint) from error
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not is_made:
                raise
            raise _explain(error, self._folder, name) from error

    def _refuse_link(self, parent: int, path: str) -> None:
        if is_link(parent, PurePosixPath(path).name):
            raise ConfigError(f"{self._folder / path} is a link, so it is not written.", hint="Remove the link.")


def find_replaced(path: str) -> str:
    """Find the file that a temporary one was to replace when `TargetFolder.replace` was killed; "" for other files."""
    folder, slash, name = path.rpartition("/")
    found = _TEMPORARY.fullmatch(name)
    return f"{folder}{slash}{found[1]}" if found else ""


def _explain(error: OSError, folder: Path, name: str) -> ConfigError:
    # A relative name is one inside of the folder, which was opened.
    failed = error.filename
    real_path = Path(failed) if isinstance(failed, str) and failed.startswith("/") else folder
    if real_path.is_symlink():
        return ConfigError(
            f"{real_path} is a link, so nothing is written into it.",
            hint="Replace the link with a folder, or remove it.",
        )
    if other := next((path for path in (real_path, *real_path.parents) if path.exists() and not path.is_dir()), None):
        return ConfigError(f"{other} is not a folder.", hint=_HINT)
    return ConfigError(f"{real_path / name} cannot be written: {error.strerror}.", hint=_HINT)


def _write_new(parent: int, name: str, content: bytes, mode: int | None = None) -> None:
    """Create a file with all of its content, or not at all; with the usual mode if `mode` is None."""
    with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=parent), "wb") as file:
        try:
            # The umask takes bits from the mode of a new file, so a replaced one would lose them.
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
        except BaseException:
            os.unlink(name, dir_fd=parent)
            raise


def _find_mode(parent: int, name: str) -> int | None:
    """Find the mode of a file that will be replaced; None if there is none."""
    try:
        return stat.S_IMODE(os.lstat(name, dir_fd=parent).st_mode)
    except FileNotFoundError:
        return None

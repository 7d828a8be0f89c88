"""Where an output is written: every path that gitsync writes to is found here first.

A commit can bring a link, and so lead a write to a key or a start-up script of the user, or a Secret to a folder of
somebody else. So no link inside of a checkout is followed: not in a git work tree, not in a folder that looks like a
repository, and not below SOURCE. Links outside of them are the operator's (`/tmp`, `/var/run`), and are followed if
this user, root, or the owner of the folder around made them, as the kernel has it (fs.protected_symlinks in proc(5)).

What is found has no link any more. From the first checkout on, folders are opened step by step without following links,
so a link that comes in between is an error and not followed either.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from gitsync.errors import ConfigError, UnsafePathError
from gitsync.settings.files.checkouts import is_repository

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40  # as the kernel follows


@dataclass(frozen=True, slots=True)
class OutputPath:
    """A path without links."""

    start: Path  # the first folder on it that a repository may have filled, or the complete path without one
    steps: tuple[str, ...] = ()  # what follows

    @property
    def path(self) -> Path:
        return self.start.joinpath(*self.steps)

    def below(self, *steps: str) -> OutputPath:
        """Return the path of something below, where no link is followed."""
        return replace(self, steps=(*self.steps, *steps))


def choose_output_path(path: Path, source: str | None = None) -> OutputPath:
    """Choose where a path leads. `source` is SOURCE, a folder or a URL.

    Raises UnsafePathError for a link that is not followed; OSError if a folder on the way cannot be searched.
    """
    roots = _list_roots(source)
    found = _follow(path.absolute(), roots)
    real_path = Path(found.anchor)
    for number, step in enumerate(found.parts[1:], start=1):
        # A commit may have made what follows, so from here on no link is followed.
        if is_repository(real_path) or real_path in roots:
            return OutputPath(real_path, found.parts[number:])
        real_path /= step
    return OutputPath(found)


def check_output_path(path: Path, source: str | None, what: str) -> Path:
    """Find where a path leads, as `choose_output_path` does. ConfigError if `what` cannot be written there."""
    try:
        return choose_output_path(path, source).path
    except UnsafePathError as error:
        raise ConfigError(f"{what} cannot be written: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise ConfigError(
            f"{what} cannot be written to {path}: {error.strerror}.", hint="Choose another path."
        ) from error


def _list_roots(source: str | None) -> frozenset[Path]:
    return frozenset({Path(source).resolve()}) if source and "://" not in source else frozenset()


def _follow(path: Path, roots: frozenset[Path]) -> Path:
    """Follow the links of the operator; what does not exist yet has none."""
    current, links = Path(path.anchor), 0
    # Each step with the length of its path as messages show it: as the operator wrote it, if possible.
    steps = [*enumerate(path.parts, start=1)][:0:-1]
    while steps:
        length, part = steps.pop()
        if part == "..":
            current = current.parent
            continue
        step = current / part
        target = _read_link(step)
        if target is None:
            current = step
            continue
        shown = Path(*path.parts[:length])
        _check_link(step, shown, roots)
        links += 1
        if links > _MOST_LINKS:
            raise UnsafePathError(f"{shown} leads through too many links.", "Use another path.")
        if target.is_absolute():
            current = Path(target.anchor)
        parts = target.parts[1:] if target.is_absolute() else target.parts
        steps += [(length, part) for part in reversed(parts)]
    return current


def _read_link(path: Path) -> Path | None:
    try:
        return path.readlink() if path.is_symlink() else None
    except FileNotFoundError:  # gone in between
        return None


def _check_link(link: Path, shown: Path, roots: frozenset[Path]) -> None:
    """Raise UnsafePathError for a link that a repository or another user could have made."""
    if any(is_repository(folder) or folder in roots for folder in link.parents):
        raise UnsafePathError(
            f"{shown} is a link, so nothing is written into it.",
            "A commit can add links to a checkout. Replace it with a folder or file, remove it, or use its target.",
        )
    owner = link.lstat().st_uid
    if owner not in {0, os.geteuid(), link.parent.stat().st_uid}:
        raise UnsafePathError(
            f"{shown} is a link of the user {owner}, so nothing is written into it.", "Use its target, or another path."
        )


def _list_missing(folder: Path) -> list[Path]:
    """List what does not exist of a folder and those around it, from the top."""
    return [*takewhile(lambda path: not path.exists(), (folder, *folder.parents))][::-1]


@contextmanager
def open_folder(real_path: OutputPath, *, makes: int | None = None, made: list[Path] | None = None) -> Iterator[int]:
    """The descriptor of a folder, as long as the context lasts. With `makes`, folders that are missing are created with
    this mode, and added to `made`.

    Raises OSError, whose `filename` is the whole path of what failed: for a link on the way, too.
    """
    current = real_path.start
    made = [] if made is None else made
    with ExitStack() as opened:
        try:
            if makes is not None:
                for path in _list_missing(current):
                    current = path
                    path.mkdir(mode=makes, exist_ok=True)
                    made.append(path)
                current = real_path.start
            # The start is a path of the operator, which was followed to its end; a link in its place is new.
            folder = os.open(current, _FOLDER | os.O_NOFOLLOW)
            opened.callback(os.close, folder)
            for step in real_path.steps:
                current /= step
                if makes is not None:
                    with suppress(FileExistsError):
                        os.mkdir(step, makes, dir_fd=folder)
                        made.append(current)
                folder = os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                opened.callback(os.close, folder)
        except OSError as error:
            error.filename = str(current)
            raise
        yield folder


def is_link(folder: int, name: str) -> bool:
    """Return whether a name in an open folder is a link."""
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False

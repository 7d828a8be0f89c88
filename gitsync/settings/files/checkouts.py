"""Which folders a repository may have filled: git work trees, and folders that look like a bare repository.

git is not started, since it must not run before a folder is known to be safe.
"""

from __future__ import annotations

import os
from pathlib import Path

_MOST_LINKS = 40  # as the kernel follows


def is_in_repository(path: Path) -> bool:
    """Return whether a folder or file, or any link on the way to it, is in a git work tree or a folder like a bare
    repository.
    """
    return any(map(is_repository, _list_passed_folders(path)))


def find_repository(path: Path) -> Path | None:
    """Return the nearest folder, of a path with its links followed, that is a repository; None if it is in none."""
    path = path.resolve()
    return next(filter(is_repository, (path, *path.parents)), None)


def is_repository(folder: Path) -> bool:
    """Return whether `folder` itself is a git work tree, or like a bare repository."""
    return _may_be_there(f"{folder}/.git") or is_repository_like(folder)


def is_repository_like(folder: Path) -> bool:
    """Return whether git could take `folder` itself for a repository, by the names in it."""
    if not _may_be_there(f"{folder}/HEAD"):
        return False
    # The git folder of a linked work tree has `commondir`, in place of objects and refs of its own.
    return _may_be_there(f"{folder}/commondir") or all(
        _may_be_there(f"{folder}/{name}") for name in ("objects", "refs")
    )


def _may_be_there(path: str) -> bool:
    """Return whether `path` exists or is unknown: a path that cannot be read is not absent."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _list_passed_folders(path: Path) -> set[Path]:
    """Every folder that is read to resolve `path`, and `path` itself with all links followed."""
    path = path.absolute()
    current, parts, links, folders = Path(path.anchor), list(reversed(path.parts[1:])), 0, set[Path]()
    while parts:
        # A commit that contains one of the links decides where the path leads.
        folders.add(current)
        part = parts.pop()
        step = current.parent if part == ".." else current / part
        if part == ".." or links == _MOST_LINKS or not step.is_symlink():
            current = step
            continue
        links += 1
        target = step.readlink()
        current = Path(target.anchor) if target.is_absolute() else current
        parts.extend(part for part in reversed(target.parts) if part != target.anchor)
    return folders | {current}

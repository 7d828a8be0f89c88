"""Find the git directory of a folder: exactly the `.git` of the folder or of the nearest folder above it.

git itself accepts any folder with the right names in it as a repository. A commit can hold such names, but never
`.git`. So a look-alike is refused, and git only gets the directory that this module finds.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from gitsync.config.config_file import is_repository_like
from gitsync.errors import SourceError
from gitsync.git.access import GitAccess, no_repository
from gitsync.git.command import GitFailedError

_LONGEST_POINTER = 4096  # bytes of a path


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDirectory:
    """`top` is the folder of the work tree. `path` holds its HEAD; `common` holds objects, refs and settings, and is
    another folder only in a linked work tree.
    """

    top: Path
    path: Path
    common: Path


def refuse_look_alike(folder: Path) -> None:
    """Raises SourceError if a folder looks like a git repository by the names in it, or is inside one."""
    for ancestor in _list_ancestors(folder):
        if is_repository_like(ancestor):
            raise SourceError(
                f"{ancestor} looks like a bare git repository (it has HEAD, objects and refs).",
                hint=f"Use a folder without these files, or the URL of the repository: file://{ancestor}",
            )


def find_git_directory(folder: Path, access: GitAccess) -> GitDirectory | None:
    """The git directory of the working tree around `folder`; None if there is none.

    Raises SourceError if the nearest `.git` is not a git directory, or belongs to another user that git does not trust.
    """
    top = _find_top(folder)
    if top is None:
        return None
    git_directory = _read_pointed_to(top) if (top / ".git").is_file() else _read_own(top)
    _check_owner(git_directory, access)
    return git_directory


def find_prefix(folder: Path) -> str:
    """The path of a folder from the top of its working tree; "" for the top, and outside of one. git is not asked."""
    top = _find_top(folder)
    prefix = Path(os.path.realpath(folder)).relative_to(top).as_posix() if top else "."
    return "" if prefix == "." else prefix


def _find_top(folder: Path) -> Path | None:
    """The nearest folder with a `.git`."""
    return next((ancestor for ancestor in _list_ancestors(folder) if os.path.lexists(ancestor / ".git")), None)


def _list_ancestors(folder: Path) -> Iterator[Path]:
    real = Path(os.path.realpath(folder))
    return iter((real, *real.parents))


def _read_own(top: Path) -> GitDirectory:
    path = Path(os.path.realpath(top / ".git"))
    if not _has_objects(path):
        raise _make_unusable_error(top, "it is not a git directory")
    if path != top / ".git" and path.is_relative_to(top):
        raise _make_unusable_error(top, f"it points to {path}, which is inside the working tree")
    return GitDirectory(top=top, path=path, common=path)


def _read_pointed_to(top: Path) -> GitDirectory:
    """Follow a `.git` file, as linked working trees and submodules have one. It must not point into the working tree,
    whose files may come from a commit.
    """
    path = _read_pointer(top / ".git", "gitdir: ")
    common = _read_pointer(path / "commondir") if os.path.lexists(path / "commondir") else path
    if path.is_relative_to(top) or common.is_relative_to(top):
        raise _make_unusable_error(top, f"it points to {path}, which is inside the working tree")
    if not _has_objects(common) or not (path / "HEAD").is_file():
        raise _make_unusable_error(top, f"it points to {path}, which is not a git directory")
    if common != path and not _is_linked(top, path, common):
        raise _make_unusable_error(top, f"it points to {path}, which belongs to another working tree")
    return GitDirectory(top=top, path=path, common=common)


def _is_linked(top: Path, path: Path, common: Path) -> bool:
    """Tell whether a linked work tree belongs to the repository, by its place and by its file with the way back."""
    return path.parent == common / "worktrees" and _read_pointer(path / "gitdir") == top / ".git"


def _read_pointer(file: Path, prefix: str = "") -> Path:
    """The path that a file of git's names, relative to its folder."""
    try:
        with file.open("rb") as stream:
            text = os.fsdecode(stream.read(_LONGEST_POINTER)).rstrip("\r\n")
    except OSError as error:
        raise SourceError(f"Cannot read {file}: {error.strerror}.") from error
    if not text.startswith(prefix) or "\0" in text:
        raise SourceError(f"{file} does not contain the path of a git directory.", hint="Clone the repository again.")
    return Path(os.path.realpath(file.parent / text.removeprefix(prefix)))


def _has_objects(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _make_unusable_error(top: Path, reason: str) -> SourceError:
    return SourceError(f"{top / '.git'} cannot be used: {reason}.", hint="Clone the repository again.")


def _check_owner(git_directory: GitDirectory, access: GitAccess) -> None:
    """Trust what git trusts (safe.directory in git-config(1)): the owner chooses where tokens are sent."""
    paths = (git_directory.top, git_directory.top / ".git", git_directory.path, git_directory.common)
    if is_owned_by({path.lstat().st_uid for path in paths}, os.geteuid(), os.environ.get("SUDO_UID", "")):
        return
    if not is_listed(git_directory.top, _read_safe_directories(access)):
        raise SourceError(
            f"git cannot read {git_directory.top}: it belongs to another user (dubious ownership).",
            hint=f"Trust the folder: git config --global --add safe.directory {git_directory.top}",
        )


def is_owned_by(owners: Collection[int], user: int, sudo_user: str) -> bool:
    """Tell whether all owners are the user or, for root, the user who called sudo."""
    trusted = {user, int(sudo_user)} if user == 0 and sudo_user.isascii() and sudo_user.isdigit() else {user}
    return trusted.issuperset(owners)


def is_listed(top: Path, directories: Collection[str]) -> bool:
    """Tell whether values of safe.directory name a folder. An empty value resets those before it."""
    is_trusted = False
    for value in directories:
        folder = os.path.realpath(value.removesuffix("/*")) if value else ""
        matches = value == "*" or folder == str(top) or (value.endswith("/*") and top.is_relative_to(folder))
        is_trusted = bool(value) and (is_trusted or matches)
    return is_trusted


def _read_safe_directories(access: GitAccess) -> list[str]:
    """The values in the settings of the machine and of the person, and no others."""
    try:
        directories = no_repository(access).run("config", "--null", "--type=path", "--get-all", "safe.directory")
    except GitFailedError as error:
        if error.timed_out:
            raise SourceError(f"git cannot read its settings: {error.message}", hint=error.hint) from error
        return []  # there are none
    return os.fsdecode(directories).split("\0")[:-1]

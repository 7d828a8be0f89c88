"""Find the git directory of a folder, and read its settings: exactly the `.git` of the folder or of the nearest folder
above it.

git itself accepts any folder with the right names in it as a repository. A commit can hold such names, but never
`.git`. So a look-alike is refused, and git only gets the directory that this module finds.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from gitsync.errors import GitError, SourceError
from gitsync.repository.git.git_access import GitAccess, GitSettings, use_no_repository
from gitsync.repository.git.source.location import Url
from gitsync.settings.files.checkouts import is_repository_like

_LONGEST_POINTER = 4096  # bytes of a path
_LARGEST_LIST = 2**20  # bytes of a .gitmodules
_SUBMODULE = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDirectory:
    """The git directory of a work tree."""

    top: Path  # the folder of the work tree
    path: Path  # holds its HEAD
    common: Path  # holds objects, refs and settings; another folder only in a linked work tree


def refuse_look_alike(folder: Path) -> None:
    """Raises SourceError if a folder looks like a git repository by the names in it, or is inside one."""
    for ancestor in _list_ancestors(folder):
        if is_repository_like(ancestor):
            raise SourceError(
                f"{ancestor} looks like a bare git repository (it has HEAD, objects and refs).",
                hint=f"Use a folder without these files, or the URL of the repository: file://{ancestor}",
            )


def find_git_directory(folder: Path, access: GitAccess) -> GitDirectory | None:
    """Find the git directory of the working tree around `folder`; None if there is none.

    Raises SourceError if the nearest `.git` is not a git directory, or belongs to another user that git does not trust.
    """
    top = _find_top(folder)
    if top is None:
        return None
    git_directory = _read_pointed_to(top) if (top / ".git").is_file() else _read_own(top)
    _check_owner(git_directory, access)
    return git_directory


def read_prefix(folder: Path) -> str:
    """Read the path of a folder from the top of its working tree; "" for the top, and outside of one. git is not
    started.
    """
    top = _find_top(folder)
    prefix = Path(os.path.realpath(folder)).relative_to(top).as_posix() if top else "."
    return "" if prefix == "." else prefix


def list_submodules(folder: Path) -> frozenset[str]:
    """List the folders of submodules below a folder, by the `.gitmodules` of its working tree, or by its own if it is
    in none. git is not started. What cannot be read names none.
    """
    top = _find_top(folder) or Path(os.path.realpath(folder))
    file = top / ".gitmodules"
    try:
        if not stat.S_ISREG(file.lstat().st_mode) or file.stat().st_size > _LARGEST_LIST:
            return frozenset()
        text = file.read_text("utf-8", "replace")
    except OSError:
        return frozenset()
    prefix = os.path.relpath(os.path.realpath(folder), top)
    paths = (os.path.normpath(match[1].strip('"')) for match in _SUBMODULE.finditer(text))
    inside = (os.path.relpath(path, prefix) for path in paths if not path.startswith("/"))
    return frozenset(path for path in inside if not path.startswith(".."))


def _find_top(folder: Path) -> Path | None:
    """Find the nearest folder with a `.git`."""
    return next((ancestor for ancestor in _list_ancestors(folder) if os.path.lexists(ancestor / ".git")), None)


def _list_ancestors(folder: Path) -> Iterator[Path]:
    real = Path(os.path.realpath(folder))
    return iter((real, *real.parents))


def _read_own(top: Path) -> GitDirectory:
    path = Path(os.path.realpath(top / ".git"))
    if not _has_objects(path):
        raise _make_unusable_error(top, "it is not a git directory")
    # A commit can bring a folder with the names of a git directory, and a link named `.git` to it.
    if path != top / ".git" and path.is_relative_to(top):
        raise _make_unusable_error(top, f"it points to {path}, which is inside the working tree")
    return GitDirectory(top=top, path=path, common=path)


def _read_pointed_to(top: Path) -> GitDirectory:
    """Follow a `.git` file, as linked working trees and submodules have one."""
    path = _read_pointer(top / ".git", "gitdir: ")
    common = _read_pointer(path / "commondir") if os.path.lexists(path / "commondir") else path
    # Files in the working tree may come from a commit.
    if path.is_relative_to(top) or common.is_relative_to(top):
        raise _make_unusable_error(top, f"it points to {path}, which is inside the working tree")
    if not _has_objects(common) or not (path / "HEAD").is_file():
        raise _make_unusable_error(top, f"it points to {path}, which is not a git directory")
    if common != path:
        # A linked working tree is in the list of its repository, and has a file with the way back.
        is_linked = path.parent == common / "worktrees" and _read_pointer(path / "gitdir") == top / ".git"
        if not is_linked:
            raise _make_unusable_error(top, f"it points to {path}, which belongs to another working tree")
    return GitDirectory(top=top, path=path, common=common)


def _read_pointer(file: Path, prefix: str = "") -> Path:
    """Read the path in a file of git, relative to its folder."""
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
    # git checks this by itself only for the repository that it works in, which is the mirror here.
    paths = (git_directory.top, git_directory.top / ".git", git_directory.path, git_directory.common)
    if is_owned_by({path.lstat().st_uid for path in paths}, os.geteuid(), os.environ.get("SUDO_UID", "")):
        return
    if not is_listed(git_directory.top, _read_safe_directories(access)):
        raise SourceError(
            f"git cannot read {git_directory.top}: it belongs to another user (dubious ownership).",
            hint=f"Trust the folder: git config --global --add safe.directory {git_directory.top}",
        )


def is_owned_by(owners: Collection[int], user: int, sudo_user: str) -> bool:
    """Return whether all owners are the user or, for root, the user who called sudo."""
    trusted = {user, int(sudo_user)} if user == 0 and sudo_user.isascii() and sudo_user.isdigit() else {user}
    return trusted.issuperset(owners)


def is_listed(top: Path, directories: Collection[str]) -> bool:
    """Return whether values of safe.directory name a folder."""
    is_trusted = False
    for value in directories:
        folder = os.path.realpath(value.removesuffix("/*")) if value else ""
        matches = value == "*" or folder == str(top) or (value.endswith("/*") and top.is_relative_to(folder))
        # An empty value resets those before it.
        is_trusted = bool(value) and (is_trusted or matches)
    return is_trusted


def _read_safe_directories(access: GitAccess) -> list[str]:
    """Read the values in the settings of the machine and of the person, and no others."""
    try:
        directories = use_no_repository(access).run("config", "--null", "--type=path", "--get-all", "safe.directory")
    except GitError as error:
        if error.timed_out:
            raise SourceError(f"git cannot read its settings: {error.message}", hint=error.hint) from error
        return []  # there are none
    return os.fsdecode(directories).split("\0")[:-1]


# A repository's own settings: read as plain text, and used by a list.
#
# Many of git's settings run a program (`core.sshCommand`, `filter.*`, `credential.helper`) or lead elsewhere (`url.*`,
# `http.proxy`). Those in a repository may come with it, from anybody. So git never works under them: it only prints the
# file, and gitsync uses the addresses of remotes, the format of the repository, and headers for a remote's own host,
# which the checkouts of pipelines sign in with.


_LARGEST = 1_000_000
_FORMAT = re.compile(r"core\.repositoryformatversion|extensions\.(?!worktreeconfig$|partialclone$).+")
_REMOTE = re.compile(r"remote\.(?P<name>.+)\.(?:url|pushurl)", re.DOTALL)
_HEADER = re.compile(r"http\.(?P<url>.+)\.extraheader", re.DOTALL)
_INCLUDE = re.compile(r"include(?:if\.gitdir(?P<any_case>/i)?:(?P<pattern>.+))?\.path", re.DOTALL | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}


def read_local_config(git_directory: GitDirectory, access: GitAccess) -> GitSettings:
    """Read the used settings of the repository's own file, in order; headers for hosts also come from included files,
    if these are outside of the working tree. SourceError if git cannot read them.
    """
    settings = list(_list_settings(git_directory.common / "config", access))
    used_settings = [setting for setting in settings if _FORMAT.fullmatch(setting[0]) or _REMOTE.fullmatch(setting[0])]
    return (*used_settings, *_list_headers(settings, git_directory, access))


def find_person(git_directory: GitDirectory, access: GitAccess) -> tuple[str, str] | None:
    """Find user.name and user.email: in the repository's own settings, else in those of the user and the machine. None
    unless there are both.
    """
    own = dict(_list_settings(git_directory.common / "config", access))  # the last of several counts
    found = [own.get(key) or _find_setting(key, access) for key in ("user.name", "user.email")]
    name, address = (value.strip("<> \t\r\n") for value in found)
    return (name, address) if name and address else None


def _find_setting(key: str, access: GitAccess) -> str:
    """Find a setting of the user or of the machine; "" if git has none."""
    try:
        return use_no_repository(access).line("config", "--get", key)
    except GitError as error:
        if error.timed_out:
            raise
        return ""


def list_remotes(settings: GitSettings) -> tuple[str, ...]:
    """List the names of the remotes that the settings have an address of, sorted."""
    return tuple(sorted({match["name"] for key, _ in settings if (match := _REMOTE.fullmatch(key))}))


def select_headers(url: Url, settings: GitSettings) -> GitSettings:
    """Find the headers among the settings that are for the host of a URL."""
    if url.scheme not in _PORTS:
        return ()
    origin = _find_origin(url.text)
    matches = ((key, value, _HEADER.fullmatch(key)) for key, value in settings)
    return tuple((key, value) for key, value, header in matches if header and _find_origin(header["url"]) == origin)


def _list_headers(
    settings: list[tuple[str, str]], git_directory: GitDirectory, access: GitAccess
) -> Iterator[tuple[str, str]]:
    """Yield the headers in the order in which git would read them: an included file replaces its include."""
    for key, value in settings:
        # A line break in the value would add a header of its own.
        if _HEADER.fullmatch(key) and value.isprintable():
            yield key, value
        elif (
            (include := _INCLUDE.fullmatch(key))
            and _does_apply(include, git_directory)
            and (file := _find_outside_file(value, git_directory))
        ):
            yield from ((k, v) for k, v in _list_settings(file, access) if _HEADER.fullmatch(k) and v.isprintable())


def _does_apply(include: re.Match[str], git_directory: GitDirectory) -> bool:
    """Return whether an include applies: without a condition, or with one on the git directory (git-config(1),
    includeIf).
    """
    pattern = include["pattern"]
    if pattern is None:
        return True
    pattern = os.path.expanduser(pattern) + ("**" if pattern.endswith("/") else "")  # noqa: PTH111 - a pattern
    pattern = pattern if pattern.startswith("/") else f"**/{pattern}"
    change = str.casefold if include["any_case"] else str
    return fnmatchcase(change(str(git_directory.path)), change(pattern))


def _find_outside_file(value: str, git_directory: GitDirectory) -> Path | None:
    """Find the file that an include names, if it is a file outside the working tree and the git directory."""
    file = Path(os.path.realpath(git_directory.common / os.path.expanduser(value)))  # noqa: PTH111 - joined before it is a path
    if any(file.is_relative_to(folder) for folder in (git_directory.top, git_directory.path, git_directory.common)):
        return None
    try:
        facts = file.stat()
    except OSError:  # git skips missing files, too
        return None
    return file if stat.S_ISREG(facts.st_mode) else None


def _list_settings(file: Path, access: GitAccess) -> Iterator[tuple[str, str]]:
    """List the settings of a file; git parses and prints it, without includes."""
    try:
        if file.stat().st_size > _LARGEST:
            raise SourceError(f"{file} is too large for a file of git settings.")
        output = use_no_repository(access).run("config", "--file", str(file), "--no-includes", "--null", "--list")
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(f"Cannot read {file}: {error.strerror}.") from error
    except GitError as error:
        raise SourceError(f"git cannot read {file}: {error.message}", hint="Fix the file.") from error
    for line in os.fsdecode(output).split("\0")[:-1]:
        key, equals, value = line.partition("\n")
        # A key without a value means true, while an empty value means false.
        yield key, value if equals else "true"


def _find_origin(url: str) -> tuple[str, str, int | None] | None:
    """Find scheme, host and port of a URL; None for a URL without a host, and for a pattern."""
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None

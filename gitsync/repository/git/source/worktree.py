"""List the files of a folder on this machine, and find its git working tree, if it is in one.

git works in a mirror of the repository, never in it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Final, NamedTuple, Self

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.errors import GitError, SourceError
from gitsync.repository.git.git_access import GitAccess, GitSettings
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.git_directory import (
    GitDirectory,
    find_git_directory,
    list_remotes,
    read_local_config,
    read_prefix,
)
from gitsync.repository.git.source.listing import EntryKind, SourceEntry, is_printable
from gitsync.repository.git.source.location import Url, parse_remote
from gitsync.repository.units.declarations import ThisRepository
from gitsync.settings.processes.programs import Program, select_environment
from gitsync.settings.processes.temporary_folders import make_temporary_folder, remove_temporary_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderListing:
    """The files of a folder."""

    root: Path
    follow_links: bool = False
    """Links are followed, to files below `root` alone: a mounted volume is made of them, while in a git work tree a
    link means what it means in the revision, nothing.
    """

    submodules: frozenset[str] = frozenset()
    """The folders of submodules: one that is not checked out is empty, and still no empty folder."""

    @property
    def name(self) -> str:
        return str(self.root)

    def entries(self, path: str) -> tuple[SourceEntry, ...]:
        top = self.root / path
        is_inside = top == self.root or _resolve_links(top).is_relative_to(_resolve_links(self.root))
        if not is_inside or not top.exists():
            raise SourceError(f"There is no folder or file {path or '.'} in {self.root}.", hint="Check --path.")
        if not top.is_dir():
            return (self._make_entry(path, top),)
        return tuple(sorted(self._walk(top, top.relative_to(self.root).as_posix()), key=lambda entry: entry.path))

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        files = ((path, self.root / path) for path in paths)
        return tuple(
            self._make_entry(path, file)
            for path, file in files
            if _is_other_than_folder(file) or self._is_repository(file, path)
        )

    def _make_entry(self, path: str, file: Path) -> SourceEntry:
        if file.is_symlink() and not self._leads_to_file_inside(file):
            return SourceEntry(path, EntryKind.LINK)
        # `find` returns a folder only where it has a `.git`.
        if file.is_dir():
            return SourceEntry(path, EntryKind.REPOSITORY)
        return (
            SourceEntry(path, EntryKind.FILE, file.stat().st_size)
            if file.is_file()
            else SourceEntry(path, EntryKind.SPECIAL)
        )

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        root = str(self.root)
        contents = {}
        for entry in entries:
            path = f"{root}/{entry.path}"
            try:
                contents[entry.path] = _read_file(path, entry.size)
            except OSError as error:
                raise SourceError(f"Cannot read {path}: {error.strerror}.") from error
        return contents

    def _walk(self, folder: str | Path, path: str) -> Iterator[SourceEntry]:
        """Walk the files below a folder, whose path is `path`. Dot folders are not entered: `.git` alone may hold more
        files than the source.
        """
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            raise SourceError(f"Cannot read {error.filename}: {error.strerror}.") from error
        for entry in entries:
            entry_path = entry.name if path == "." else f"{path}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from self._enter(entry, entry_path)
            else:
                yield from self._list_file(entry, entry_path)

    def _enter(self, folder: os.DirEntry[str], path: str) -> Iterator[SourceEntry]:
        if folder.name.startswith("."):
            return
        if self._is_repository(folder.path, path):
            yield SourceEntry(path, EntryKind.REPOSITORY)
            return
        yield from self._walk(folder.path, path)

    def _is_repository(self, folder: str | Path, path: str) -> bool:
        """Return whether a folder is a nested repository, checked out or not."""
        if os.path.lexists(f"{folder}/.git"):
            return True
        # A submodule that is not checked out is an empty folder.
        return path in self.submodules and Path(folder).is_dir() and not any(Path(folder).iterdir())

    def _list_file(self, file: os.DirEntry[str], path: str) -> Iterator[SourceEntry]:
        if not is_printable(path):
            yield SourceEntry(ascii(path)[1:-1], EntryKind.UNREADABLE)
        elif file.is_symlink() and not self._leads_to_file_inside(file):
            yield SourceEntry(path, EntryKind.LINK)
        elif stat.S_ISREG((facts := file.stat()).st_mode):
            yield SourceEntry(path, EntryKind.FILE, facts.st_size)

    def _leads_to_file_inside(self, link: os.PathLike[str]) -> bool:
        target = _resolve_links(link)
        return self.follow_links and target.is_file() and target.is_relative_to(_resolve_links(self.root))


_BLOCK: Final = 4096


def _read_file(path: str, size: int) -> bytes:
    """Read a whole file, which has about `size` bytes."""
    # Without a file object and a Path, which take longer than to read a small file.
    file = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(file, size + _BLOCK), b""))
    finally:
        os.close(file)


def _is_other_than_folder(path: Path) -> bool:
    """Return whether a path exists and is not a folder. SourceError if that is unknown."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror}.") from error


def _resolve_links(path: str | os.PathLike[str]) -> Path:
    """Resolve the links in a path."""
    # Path.resolve() would raise for links that lead in a circle.
    return Path(os.path.realpath(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """The git working tree of a folder. It is a context manager: leaving it removes the mirror."""

    repository: Repository  # the mirror that git works in
    top: Path
    prefix: str  # the path of the folder inside the working tree, "" for its top
    settings: GitSettings = field(repr=False)  # those of the repository that are used; a token may be among them
    index: Path  # the file that lists what is checked out

    def list_left_out(self) -> frozenset[str]:
        """List the files that a sparse checkout leaves out, by their paths in the folder; none if git cannot."""
        # The mirror has no index: this is the one of the work tree.
        environment = {**self.repository.environment, "GIT_INDEX_FILE": str(self.index)}
        try:
            output = replace(self.repository, environment=environment).run("ls-files", "-t", "-z", "--full-name")
        except GitError:
            return frozenset()
        lines = (line.decode("utf-8", "surrogateescape") for line in output.split(b"\0") if line.startswith(b"S "))
        start = f"{self.prefix}/" if self.prefix else ""
        return frozenset(line[2:].removeprefix(start) for line in lines if line[2:].startswith(start))

    def close(self) -> None:
        remove_temporary_folder(self.repository.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Head(NamedTuple):
    """What is checked out: a commit, None before the first one, and its branch, None if it is detached."""

    commit: str | None
    branch: str | None


def find_work_tree(folder: Path, access: GitAccess) -> WorkTree | None:
    """Find the work tree around `folder`, None if there is none. SourceError if its repository cannot be used."""
    git_directory = find_git_directory(folder, access)
    if git_directory is None:
        return None
    settings = read_local_config(git_directory, access)
    return WorkTree(
        repository=access.open_local(make_mirror(git_directory, settings)),
        top=git_directory.top,
        prefix=read_prefix(folder),
        settings=settings,
        index=git_directory.path / "index",
    )


def read_head(tree: WorkTree) -> Head:
    """Find the commit and the branch that are checked out."""
    try:
        answer = tree.repository.line("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
    except GitError as error:
        if error.timed_out:
            raise
        # Without a first commit there is nothing to resolve, but the branch has a name.
        return Head(None, read_branch(tree.repository.folder))
    commit, _, ref = answer.partition("\n")
    return Head(commit, None if ref == "HEAD" else ref.removeprefix("refs/heads/"))


def find_remote_url(tree: WorkTree) -> Url | None:
    """Find the push URL of `origin`, or of the only remote; None if there is none.

    SourceError if there are several and none is origin, or it must not be used.
    """
    names = list_remotes(tree.settings)
    if not names:
        return None
    # A status that is pushed to the wrong repository is worse than none, so it is not guessed.
    if "origin" not in names and len(names) > 1:
        raise SourceError(f"The repository has the remotes {', '.join(names)}, and none of them is origin.")
    name = "origin" if "origin" in names else names[0]
    return parse_remote(tree.repository.line("remote", "get-url", "--push", name), tree.top)


# GitPython reads the branch of a repository without commits. `git symbolic-ref --short HEAD` answers the same.
#
# GitPython is here because the project's owner asked for it, and refs are what it is good at: it reads them from their
# files. For all else it starts git with all variables of the process, so gitsync starts git itself
# (`gitsync.repository.git.git_command`). Its import takes 80 ms and runs `git version`, with the variables that git may
# have, so a repository with commits is read without it.


_REFTABLE_BRANCH: Final = ".invalid"
"""What the file HEAD names beside a reftable, which has the branch (reftable in git's technical documentation)."""


@cache
def load_gitpython() -> ModuleType:
    """Import GitPython. SourceError if git is not installed."""
    with _restrict_environment():
        try:
            import git  # noqa: PLC0415 - it takes 80 ms, and only a repository without commits needs it
        except ImportError as error:
            raise SourceError(
                "git cannot be started.", hint="Install git 2.31 or newer, and add it to the PATH."
            ) from error
    return git


def read_branch(folder: Path) -> str | None:
    """Read the branch that the HEAD of a git directory names; None if it names a commit, or if the refs are in a
    reftable, which GitPython does not read.
    """
    git = load_gitpython()
    with git.Repo(folder, expand_vars=False) as repository:
        if repository.head.is_detached:
            return None
        branch = str(repository.head.reference.name)
    return None if branch == _REFTABLE_BRANCH else branch


@contextmanager
def _restrict_environment() -> Iterator[None]:
    """Remove all other variables from the environment for the time of a block. Call before the process has threads."""
    original = dict(os.environ)
    for name in original.keys() - select_environment(Program.GIT, original).keys():
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(original)


# A temporary git directory with the objects and refs of another one, but none of its settings and hooks.
#
# git reads and writes the repository of a user only through a mirror, so that no setting in the files of the repository
# can run a program.


_LINKED_NAMES = ("objects", "refs", "packed-refs", "reftable", "shallow")
_ALWAYS: GitSettings = (("core.bare", "false"), ("receive.denyCurrentBranch", "refuse"))
_KEY = re.compile(r"(?P<section>[A-Za-z0-9-]+)(?:\.(?P<name>.*))?\.(?P<key>[A-Za-z][A-Za-z0-9-]*)", re.DOTALL)
_LONGEST_HEAD = 4096


def make_mirror(git_directory: GitDirectory, settings: GitSettings) -> Path:
    """Make a mirror in a temporary folder, which the caller removes (`remove_temporary_folder`). It has only these
    `settings`.

    SourceError if the git directory cannot be read.
    """
    # The refs of a linked working tree are in two folders then, and a mirror can link to one of them only.
    if git_directory.path != git_directory.common and any(key == "extensions.refstorage" for key, _ in settings):
        raise SourceError(
            f"{git_directory.top} is a linked working tree of a repository with a ref format other than files.",
            hint="Use a clone of the repository, or its URL.",
        )
    folder = make_temporary_folder()
    with _remove_on_failure(folder, git_directory):
        for name in _LINKED_NAMES:
            (folder / name).symlink_to(git_directory.common / name)
        _copy_head(git_directory.path, folder)
        _link_work_trees(git_directory, folder)
        text = "".join(_format_settings((*settings, *_ALWAYS)))
        (folder / "config").write_text(text, encoding="utf-8", errors="surrogateescape")
    return folder


@contextmanager
def _remove_on_failure(folder: Path, git_directory: GitDirectory) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remove_temporary_folder(folder)
        raise SourceError(f"Cannot read {error.filename or git_directory.path}: {error.strerror}.") from error
    except BaseException:
        remove_temporary_folder(folder)
        raise


def _copy_head(source: Path, target: Path) -> None:
    with (source / "HEAD").open("rb") as stream:
        (target / "HEAD").write_bytes(stream.read(_LONGEST_HEAD))


def _link_work_trees(git_directory: GitDirectory, folder: Path) -> None:
    """Show git the branches that are checked out elsewhere, so that it does not move them."""
    links_folder = folder / "worktrees"
    links_folder.mkdir()
    work_trees = git_directory.common / "worktrees"
    for work_tree in work_trees.iterdir() if work_trees.is_dir() else ():
        (links_folder / work_tree.name).symlink_to(work_tree)
    if git_directory.path != git_directory.common:
        main = links_folder / f"{folder.name}-main"
        main.mkdir()
        _copy_head(git_directory.common, main)
        (main / "commondir").write_text("../..\n", encoding="utf-8")
        (main / "gitdir").write_text(f"{git_directory.common}\n", encoding="utf-8", errors="surrogateescape")


def _format_settings(settings: GitSettings) -> Iterator[str]:
    """Format the settings as git writes them."""
    for name, value in settings:
        if parts := _KEY.fullmatch(name):
            section = f"{parts['section']} {_quote(parts['name'])}" if parts["name"] is not None else parts["section"]
            yield f"[{section}]\n\t{parts['key']} = {_quote(value)}\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# The repository that a source is in, as the objects of controllers name it: by its URL, and a branch.


def name_url(url: Url, ref: str | None) -> ThisRepository:
    """Return the repository at a URL, read at `ref`, None for its default branch."""
    return ThisRepository(lambda: normalize_repository(url.text), lambda: ref or "")


def name_folder(folder: Path, access: GitAccess, ref: str | None) -> ThisRepository:
    """Return the repository around a folder, read at `ref`, None for what is checked out. git runs when the name is
    needed, and once. A repository without a remote that is known has no name.
    """

    @cache
    def query() -> tuple[str, str]:
        try:
            tree = find_work_tree(folder, access)
            if tree is None:
                return "", ""
            with tree:
                url, branch = find_remote_url(tree), read_head(tree).branch
        except (GitError, SourceError):
            return "", ""
        return normalize_repository(url.text) if url else "", branch or ""

    return ThisRepository(lambda: query()[0], lambda: ref or query()[1])

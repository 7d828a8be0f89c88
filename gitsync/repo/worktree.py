"""A folder on this machine: its files as they lie, and what git knows of it where it is a work tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gitsync.errors import SourceError
from gitsync.repo.access import Settings, local_environment
from gitsync.repo.listing import Entry, EntryKind, is_printable
from gitsync.repo.repository import GitFailedError, Repository

_INHERITED = ("http.", "credential.", "url.", "ssh.", "core.sshcommand", "core.gitproxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderListing:
    """Files below `root`. Links are followed only where `follow_links` says so, to files below `root` alone: a mounted
    volume is made of them, while in a git work tree a link means what it means in the revision, nothing.
    """

    root: Path
    follow_links: bool = False

    @property
    def name(self) -> str:
        return str(self.root)

    def entries(self, folder: str) -> tuple[Entry, ...]:
        top = self.root / folder
        if not top.resolve().is_relative_to(self.root.resolve()) or not top.is_dir():
            raise SourceError(f"There is no folder {folder or '.'} in {self.root}.", hint="Check --path.")
        return tuple(sorted(self._walk(top, top.relative_to(self.root).as_posix()), key=lambda entry: entry.path))

    def find(self, paths: Iterable[str]) -> tuple[Entry, ...]:
        files = ((path, self.root / path) for path in paths)
        there = (
            (path, file) for path, file in files if file.is_file() and (self.follow_links or not file.is_symlink())
        )
        return tuple(Entry(path, EntryKind.FILE, file.stat().st_size) for path, file in there)

    def read(self, entries: Iterable[Entry]) -> Mapping[str, bytes]:
        try:
            return {entry.path: (self.root / entry.path).read_bytes() for entry in entries}
        except OSError as error:
            raise SourceError(f"Cannot read {error.filename}: {error.strerror}.") from error

    def _walk(self, folder: str | Path, path: str) -> Iterator[Entry]:
        """Dot folders are not even entered: `.git` alone may hold more than all the rest. `path` is the folder's."""
        try:
            found = sorted(os.scandir(folder), key=lambda each: each.name)
        except OSError as error:
            raise SourceError(f"Cannot read {error.filename}: {error.strerror}.") from error
        for each in found:
            its_path = each.name if path == "." else f"{path}/{each.name}"
            if each.is_dir(follow_symlinks=False):
                yield from self._enter(each, its_path)
            else:
                yield from self._file(each, its_path)

    def _enter(self, folder: os.DirEntry[str], path: str) -> Iterator[Entry]:
        if folder.name.startswith("."):
            return
        if Path(folder.path, ".git").exists():
            yield Entry(path, EntryKind.REPOSITORY)
            return
        yield from self._walk(folder.path, path)

    def _file(self, file: os.DirEntry[str], path: str) -> Iterator[Entry]:
        if not is_printable(path):
            yield Entry(ascii(path)[1:-1], EntryKind.UNREADABLE)
        elif file.is_symlink() and not self._leads_to_a_file_inside(file):
            yield Entry(path, EntryKind.LINK)
        elif stat.S_ISREG((facts := file.stat()).st_mode):
            yield Entry(path, EntryKind.FILE, facts.st_size)

    def _leads_to_a_file_inside(self, link: os.DirEntry[str]) -> bool:
        target = Path(link.path).resolve()
        return self.follow_links and target.is_file() and target.is_relative_to(self.root.resolve())


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """The git work tree that a folder lies in. `prefix` is the folder's path inside it, "" for its top."""

    repository: Repository
    top: Path
    prefix: str


def find_work_tree(folder: Path, timeout: float) -> WorkTree | None:
    """The work tree around `folder`, None where there is none. SourceError where git refuses to look at it."""
    if not any((each / ".git").exists() for each in (folder, *folder.parents)):
        return None
    inside = Repository(folder=folder, environment=local_environment(), timeout=timeout)
    try:
        top = Path(inside.line("rev-parse", "--show-toplevel"))
    except GitFailedError as error:
        raise SourceError(f"git cannot read {folder}: {error.message}", hint=error.hint) from error
    repository = Repository(folder=top, environment=inside.environment, timeout=timeout)
    prefix = folder.relative_to(top.resolve()).as_posix()
    return WorkTree(repository=repository, top=top, prefix="" if prefix == "." else prefix)


def head_of(tree: WorkTree) -> str | None:
    """The commit that is checked out, None before the first commit."""
    try:
        return tree.repository.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitFailedError:
        return None


def branch_of(tree: WorkTree) -> str | None:
    """The branch that is checked out, None for a detached HEAD."""
    try:
        return tree.repository.line("symbolic-ref", "--quiet", "--short", "HEAD")
    except GitFailedError:
        return None


def remote_of(tree: WorkTree) -> str | None:
    """The push URL of `origin`, or of the only remote; None where there is none. A relative path is made absolute.

    SourceError where there are several, and nobody knows which is meant.
    """
    names = tree.repository.line("remote").split()
    if not names:
        return None
    if "origin" not in names and len(names) > 1:
        raise SourceError(f"The repository has the remotes {', '.join(names)}, and none of them is origin.")
    url = tree.repository.line("remote", "get-url", "--push", "origin" if "origin" in names else names[0])
    if "://" in url or ":" in url.split("/")[0]:
        return url
    return str(tree.top / url)


def settings_of(tree: WorkTree) -> Settings:
    """The work tree's own settings that say how to reach a remote: CI systems leave credentials there."""
    listed = tree.repository.run("config", "--local", "--includes", "--list", "-z").decode("utf-8", "replace")
    pairs = (line.partition("\n") for line in listed.split("\0")[:-1])
    # A key that stands without a value means true, while an empty value means false.
    return tuple((key, value if equals else "true") for key, equals, value in pairs if key.startswith(_INHERITED))


def ids_of(tree: WorkTree, paths: Iterable[str]) -> Mapping[str, str]:
    """The ids that the files would have in a commit, by path below `prefix`: after git's own filters for them."""
    wanted = tuple(paths)
    names = "".join(f"{_quoted('/'.join(filter(None, (tree.prefix, path))))}\n" for path in wanted)
    ids = tree.repository.run("hash-object", "--stdin-paths", stdin=names.encode()).decode().split()
    return dict(zip(wanted, ids, strict=True))


def _quoted(name: str) -> str:
    """A name as git reads it from a line: one that begins with a quote would be taken for a quoted one."""
    if not name.startswith('"'):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

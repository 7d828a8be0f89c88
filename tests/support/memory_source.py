"""A repository in memory, for runs of tests that are not about git: what a run reads of it is what it would read of a
clean checkout of the branch main, without files, links and processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.errors import SourceError
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.source.contents import SourcePart, read_contents
from gitsync.repository.git.source.history import History
from gitsync.repository.git.source.listing import EntryKind, SourceEntry
from gitsync.repository.git.source.worktree import WorkTree
from tests.support.git_repositories import OF_GIT, make_commit, name_object, write_repository
from tests.support.loose_git import LeftToGitError, Objects, answer, confirm

_FILE = "100644"
_NOWHERE = Path("/there is no such folder")


@dataclass(frozen=True, slots=True)
class MemorySource:
    """A repository at one commit of the branch main, None before the first one."""

    commit: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)  # of that commit, by path
    objects: Mapping[str, tuple[str, bytes]] = field(default_factory=dict, repr=False)  # types and contents by id

    def change(self, texts: Mapping[str, str], *, instead_of: Callable[[str], bool]) -> MemorySource:
        """Commit these files, and those of the last commit that they are not `instead_of`."""
        kept = {path: content for path, content in self.files.items() if not instead_of(path)}
        files = kept | {path: text.encode() for path, text in texts.items()}
        objects = dict(self.objects)

        def keep(kind: str, content: bytes) -> bytes:
            own = name_object(kind, content)
            objects[own.hex()] = (kind, content)
            return own

        blobs = {path: (_FILE, content) for path, content in files.items()}
        commit, _ = make_commit(blobs, self.commit, "Change", keep)
        return MemorySource(commit, files, objects)

    def open(self, folder: Path, wanted: SourcePart) -> Checkout:
        """Check out the commit as a folder that is not there."""
        history = MemoryRepository(folder=_NOWHERE, environment={}, timeout=0, objects=MemoryObjects(self))
        tree = WorkTree(repository=history, top=folder, prefix="", settings=(), index=_NOWHERE)
        return Checkout(
            name=str(folder),
            revision=self.commit,
            ref="main",
            contents=read_contents(MemoryListing(str(folder), self.files), wanted),
            folder=folder,
            tree=tree,
            wanted=wanted,
            history=History(history, self.commit, root="", remote=None) if self.commit else None,
        )

    def write(self, folder: Path) -> None:
        """Make a folder this repository, with a clean checkout."""
        write_repository(folder, self.objects, self.files, self.commit)


def has_files_of_git(paths: Iterable[str]) -> bool:
    """Return whether one of these files changes what git does with others, so that git itself must commit them."""
    return any(not OF_GIT.isdisjoint(path.split("/")) for path in paths)


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """The files of a source: a `SourceListing`."""

    name: str
    files: Mapping[str, bytes]

    def entries(self, path: str) -> tuple[SourceEntry, ...]:
        found = tuple(
            SourceEntry(name, EntryKind.FILE, len(self.files[name]))
            for name in sorted(self.files)
            if not path or name == path or name.startswith(f"{path}/")
        )
        if path and not found:
            raise SourceError(f"There is no folder or file {path} in {self.name}.", hint="Check --path.")
        return found

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        wanted = set(paths)
        return tuple(entry for entry in self.entries("") if entry.path in wanted)

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        return {entry.path: self.files[entry.path] for entry in entries}


@dataclass(frozen=True, slots=True)
class MemoryObjects(Objects):
    """The objects of a repository in memory."""

    source: MemorySource

    @property
    def is_shallow(self) -> bool:
        return False

    def read(self, name: str) -> tuple[str, bytes]:
        try:
            return self.source.objects[name]
        except KeyError:
            raise LeftToGitError from None

    def read_head(self) -> tuple[str, str]:
        if self.source.commit is None:
            raise LeftToGitError
        return "refs/heads/main", self.source.commit

    def has_commit(self, name: str) -> bool:
        return name in self.source.objects

    def list_settings(self) -> list[tuple[str, str]]:
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRepository(Repository):
    """A repository that answers from memory, and never starts git."""

    objects: MemoryObjects

    def run(self, *arguments: str, stdin: Sequence[bytes] = ()) -> bytes:
        try:
            return answer(self.objects, arguments, b"".join(stdin))
        except LeftToGitError:
            raise AssertionError(f"Use a folder (`world.folder`): only git answers {' '.join(arguments)}") from None

    def confirms(self, *arguments: str) -> bool:
        return confirm(self.objects, arguments)

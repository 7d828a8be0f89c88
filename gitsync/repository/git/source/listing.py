"""List the entries of a source before they are read: names, kinds and sizes, and a way to read them.

A revision (here) and a folder (`worktree`) have the same listing, so that one set of rules (`file_selection`) selects
the files of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from gitsync.errors import GitError, SourceError
from gitsync.repository.git.git_command import Repository


class EntryKind(StrEnum):
    FILE = "file"
    LINK = "symbolic link"
    REPOSITORY = "nested repository"  # a submodule, or a repository inside the folder
    UNREADABLE = "name that is not printable UTF-8"
    SPECIAL = "pipe, socket or device"


class SourceEntry(NamedTuple):
    """One name in a source. A tuple, since a run makes one of each file."""

    path: str  # relative to the root of the source
    kind: EntryKind
    size: int = 0  # in bytes, 0 if it is not a file
    id: str = ""  # of the blob, or of a submodule's commit, in a revision, and "" in a folder


class SourceListing(Protocol):
    @property
    def name(self) -> str:
        """The name of the source, for messages."""
        ...

    def entries(self, path: str) -> tuple[SourceEntry, ...]:
        """All entries below the folder `path` ("" for all), at any depth, sorted; or that of a file. SourceError if
        there is none.
        """
        ...

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        """Find the entries at these paths, without folders."""
        ...

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        """Contents by path, in the order given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedListing:
    """A source as another listing read it, with some files replaced or removed."""

    source: SourceListing
    texts: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    """The new text of each of those files, None to remove it."""

    contents: dict[str, bytes] = field(default_factory=dict, repr=False)
    """Every file that was read; copies with other texts share it, so that all see the files of one moment."""

    @property
    def name(self) -> str:
        return self.source.name

    def entries(self, path: str) -> tuple[SourceEntry, ...]:
        return tuple(self._edit(self.source.entries(path)))

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        return tuple(self._edit(self.source.find(paths)))

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        wanted = tuple(entries)
        self.contents.update(
            self.source.read(
                entry for entry in wanted if entry.path not in self.contents and entry.path not in self.texts
            )
        )
        texts = {entry.path: self.texts.get(entry.path) for entry in wanted}
        return {path: self.contents[path] if text is None else text for path, text in texts.items()}

    def _edit(self, entries: Iterable[SourceEntry]) -> Iterator[SourceEntry]:
        for entry in entries:
            if entry.kind is not EntryKind.FILE or entry.path not in self.texts:
                yield entry
            elif (text := self.texts[entry.path]) is not None:
                yield entry._replace(size=len(text), id="")


def is_printable(path: str) -> bool:
    """Return whether a path may be shown unchanged to people and in logs."""
    return path.isprintable()


# One revision of a repository, read from its objects: no work tree, so no links, filters or hooks come into play.
#
# Two commands whatever the number of files: one lists the tree, one prints the contents
# (docs/reference/design.md#git-access).


_LINK_MODE = b"120000"
_REPOSITORY_MODE = b"160000"
_MOST_NAMES = 1000  # that git gets as arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The tree of a commit, or a folder of it. Paths are relative to that folder."""

    repository: Repository
    commit: str
    root: str = ""  # a folder of the repository, "" for its top
    label: str = ""  # its name in messages, if not its commit
    has_sizes: bool = True  # without sizes, that of each file is 0
    _listed: list[SourceEntry] = field(default_factory=list, init=False, repr=False, compare=False)
    """The listing of all of it, once that was read."""

    @property
    def name(self) -> str:
        return self.label or f"revision {self.commit[:12]}"

    def entries(self, path: str) -> tuple[SourceEntry, ...]:
        if not path and self._listed:
            return tuple(self._listed)
        full_path = "/".join(filter(None, (self.root, path)))
        output = self._list("-r", self.commit, *(["--", full_path] if full_path else []))
        if full_path and not output:
            raise SourceError(f"There is no folder or file {full_path} in {self.name}.", hint="Check --path.")
        entries = tuple(sorted(self._parse(output), key=lambda entry: entry.path))
        if not path:
            self._listed[:] = entries
        return entries

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        wanted = frozenset(paths)
        if self._listed or len(wanted) > _MOST_NAMES:
            return tuple(entry for entry in self.entries("") if entry.path in wanted)
        prefix = self.root + "/" if self.root else ""
        names = [prefix + path for path in sorted(wanted)]
        return tuple(self._parse(self._list(self.commit, "--", *names))) if names else ()

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        wanted = tuple(entries)
        if not wanted:
            return {}
        ids = "".join(f"{entry.id}\n" for entry in wanted).encode()
        with self._explain_failures():
            contents = split_batch(self.repository.run("cat-file", "--batch", "--buffer", stdin=(ids,)))
        return dict(zip((entry.path for entry in wanted), contents, strict=True))

    def read_present(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        """Contents by path of the entries whose blobs are here: a partial clone lacks some."""
        wanted = tuple(entries)
        ids = "".join(f"{entry.id}\n" for entry in wanted).encode()
        with self._explain_failures():
            lines = self.repository.run("cat-file", "--batch-check", stdin=(ids,)).splitlines() if wanted else ()
        return self.read(entry for entry, line in zip(wanted, lines, strict=True) if not line.endswith(b" missing"))

    def _list(self, *arguments: str) -> bytes:
        with self._explain_failures():
            options = ("-z", "--full-tree", *(("--long",) if self.has_sizes else ()))
            return self.repository.query("ls-tree", *options, *arguments)

    @contextmanager
    def _explain_failures(self) -> Iterator[None]:
        """What git cannot do is that this revision cannot be read."""
        try:
            yield
        except GitError as error:
            raise SourceError(f"Cannot read {self.name}: {error.message}", hint=error.hint) from error

    def _parse(self, output: bytes) -> Iterator[SourceEntry]:
        """Lines are `MODE TYPE ID SIZE<tab>PATH`, each ended by NUL; the size may be left out."""
        prefix = len(self.root.encode()) + 1 if self.root else 0
        for line in output.split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, kind, blob, size = (*facts.split(), b"")[:4]
            path = name[prefix:].decode("utf-8", "surrogateescape")
            if not is_printable(path):
                yield SourceEntry(ascii(path)[1:-1], EntryKind.UNREADABLE, id=blob.decode())
            elif mode == _LINK_MODE:
                yield SourceEntry(path, EntryKind.LINK, id=blob.decode())
            elif mode == _REPOSITORY_MODE:
                yield SourceEntry(path, EntryKind.REPOSITORY, id=blob.decode())
            elif kind == b"blob":
                # A missing blob has no size; reading it fails.
                yield SourceEntry(path, EntryKind.FILE, int(size) if size.isdigit() else 0, blob.decode())


def split_batch(output: bytes) -> Iterator[bytes]:
    """Yield the contents that `cat-file --batch` printed: each is `ID blob SIZE`, a newline, SIZE bytes, a newline."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end].split()
        if len(header) != 3:
            raise SourceError(
                f"The object {header[0].decode()} is not in the repository.",
                hint="Run git fsck, or clone the repository in full: it is damaged or a partial clone.",
            )
        size = int(header[2])
        yield output[end + 1 : end + 1 + size]
        position = end + 1 + size + 1

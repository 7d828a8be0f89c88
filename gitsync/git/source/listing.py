"""The entries of a source before they are read: names, kinds and sizes, and a way to read them.

A revision and a folder have the same listing, so that one set of rules (`selection`) selects the files of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class EntryKind(StrEnum):
    FILE = "file"
    LINK = "symbolic link"
    REPOSITORY = "nested repository"  # a submodule, or a repository inside the folder
    UNREADABLE = "name that is not printable UTF-8"
    SPECIAL = "pipe, socket or device"


class SourceEntry(NamedTuple):
    """One name in a source. A tuple, since a run makes one of each file. `path` is relative to the root of the source;
    `size` is in bytes, 0 if it is not a file; `id` is the blob's in a revision, "" in a folder.
    """

    path: str
    kind: EntryKind
    size: int = 0
    id: str = ""


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
        """The entries at these paths, without folders."""
        ...

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        """Contents by path, in the order given."""
        ...


def is_printable(path: str) -> bool:
    """Tell whether a path may be shown unchanged to people and in logs."""
    return path.isprintable()

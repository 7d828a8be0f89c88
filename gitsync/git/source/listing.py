"""What a source holds before anything of it is read: names, kinds and sizes, and how to get at the contents.

A revision and a folder list themselves alike, so that one set of rules (`selection`) says what is read of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class EntryKind(StrEnum):
    FILE = "file"
    LINK = "symbolic link"
    REPOSITORY = "nested repository"  # a submodule, or a repository inside the folder
    UNREADABLE = "name that is not printable UTF-8"
    SPECIAL = "pipe, socket or device"


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One name in a source. `path` is relative to the root of the source; `size` is in bytes, 0 for what is no file;
    `id` is the blob's in a revision, "" in a folder.
    """

    path: str
    kind: EntryKind
    size: int = 0
    id: str = ""


class SourceListing(Protocol):
    @property
    def name(self) -> str:
        """What is listed, for messages."""
        ...

    def entries(self, folder: str) -> tuple[SourceEntry, ...]:
        """All entries below `folder` ("" for all), at any depth, sorted by path. SourceError where there is none."""
        ...

    def find(self, paths: Iterable[str]) -> tuple[SourceEntry, ...]:
        """What is at these paths and is no folder."""
        ...

    def read(self, entries: Iterable[SourceEntry]) -> Mapping[str, bytes]:
        """Contents by path, in the order given."""
        ...


def is_printable(path: str) -> bool:
    """Whether a path may be shown to people and logs as it is."""
    return path.isprintable()

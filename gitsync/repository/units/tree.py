"""Defines the files of a source as its units see them: every path, and a way to read contents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol


class SourceTree(Protocol):
    """Every file of a source, ignored or not: a unit may be built of any of them."""

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files, from the root of the source."""
        ...

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Read contents by path. Raises SourceError if that is too much; each content is read once."""
        ...


def find_folder(path: str) -> str:
    """Find the folder of a file, "" for the top."""
    return path.rpartition("/")[0]


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is in a folder of the source, at any depth."""
    return not folder or path.startswith(folder + "/")


def list_folders(path: str) -> tuple[str, ...]:
    """List the folders that a file is in, innermost first, with "" at the end."""
    folders = []
    while path:
        path = find_folder(path)
        folders.append(path)
    return tuple(folders)

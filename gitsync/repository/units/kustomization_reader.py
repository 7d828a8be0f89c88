"""Finds every file that the build of a kustomization needs, with those of its bases and components."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gitsync.desired.problems.suggest import suggest
from gitsync.errors import SourceError
from gitsync.repository.units.build_sandbox import KustomizationError
from gitsync.repository.units.kustomization_files import (
    BASES,
    NAMES,
    PLUGINS,
    Kustomization,
    MisnamedFileError,
    Reference,
    check_references,
    guess_references,
    read_kustomization,
    read_plugins,
    resolve,
    split_pair,
)
from gitsync.repository.units.tree import SourceTree, find_folder


def list_kustomizations(paths: Iterable[str]) -> tuple[str, ...]:
    """List the kustomization of each folder that has one, sorted."""
    found: dict[str, str] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name in NAMES and (folder not in found or _rank(path) < _rank(found[folder])):
            found[folder] = path
    return tuple(sorted(found.values()))


def _rank(path: str) -> int:
    return NAMES.index(path.rpartition("/")[2])


@dataclass(slots=True)
class KustomizationReader:
    """Reads each kustomization of a source once. Mutable: it keeps what it has read."""

    tree: SourceTree
    _sorted: list[str] = field(default_factory=list)  # the paths of all files, once they are needed
    _folders: dict[str, str] = field(default_factory=dict)
    """The folders of kustomizations, each with the path of its file, once they are needed."""

    _known: dict[str, Kustomization | KustomizationError] = field(default_factory=dict)
    """The kustomizations that were read, by path."""

    def read(self, path: str) -> Kustomization:
        """Read the kustomization at a path. Raises KustomizationError if it cannot be read."""
        if path not in self._known:
            self._known[path] = self._try_read(path)
        known = self._known[path]
        if isinstance(known, KustomizationError):
            raise known
        return known

    def is_misnamed(self, path: str) -> bool:
        """Return whether a file has the name of a kustomization and objects of other tools."""
        try:
            self.read(path)
        except KustomizationError as error:
            return isinstance(error, MisnamedFileError)
        return False

    def find_in(self, folder: str) -> str | None:
        """Find the kustomization in a folder, None if it has none."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        return next((path for path in paths if path in self.tree.paths), None)

    def list_below(self, folder: str) -> list[str]:
        """List the files in a folder, at any depth."""
        if not self._sorted:
            self._sorted = sorted(self.tree.paths)
        if not folder:
            return self._sorted
        # "0" is the character after "/", so the second bound is the end of the folder.
        return self._sorted[bisect_left(self._sorted, f"{folder}/") : bisect_left(self._sorted, f"{folder}0")]

    def list_files(self, path: str) -> Iterator[str]:
        """List the files of the source that a kustomization names, as far as it can be read."""
        try:
            texts = [text for reference in self.read(path).references for text in split_pair(reference.text)]
        except KustomizationError:
            texts = [*self.list_names(path)]
        candidates = (resolve(find_folder(path), text) for text in texts)
        return (resolved for resolved in candidates if resolved in self.tree.paths)

    def list_reachable(self, path: str) -> frozenset[str]:
        """List the files of a kustomization and of all that it is built on, as far as they can be read."""
        pending, reached, files = [path], set[str](), set[str]()
        while pending:
            each = pending.pop()
            if each not in reached:
                reached.add(each)
                files |= {each, *self.list_files(each)}
                pending += self.list_likely_bases(each)
        return frozenset(files)

    def list_likely_bases(self, path: str) -> Iterator[str]:
        """List the kustomizations that one is built on, or would be without a slip in their names."""
        for text in self.list_names(path):
            target = resolve(find_folder(path), text)
            base = self.find_in(target)
            if base is not None:
                yield base
            elif target not in self.tree.paths and (near := self._find_near(target)):
                yield near

    def _find_near(self, folder: str) -> str | None:
        if not self._folders:
            self._folders.update({find_folder(path): path for path in list_kustomizations(self.tree.paths)})
        # Beside it are the folders with the same parent or the same name.
        parent, _, name = folder.rpartition("/")
        splits = ((other, other.rpartition("/")) for other in self._folders)
        near = suggest(folder, (other for other, split in splits if split[0] == parent or split[2] == name))
        return None if near is None else self._folders[near]

    def list_names(self, path: str) -> tuple[str, ...]:
        """List what a kustomization names as files and folders to build on; a guess if it cannot be read."""
        try:
            return tuple(reference.text for reference in self.read(path).references if reference.field in BASES)
        except KustomizationError:
            pass
        try:
            # One that cannot be read still claims its bases: alone, they would be applied without their overlay.
            return guess_references(self.tree.read([path])[path])
        except SourceError:
            return ()

    def list_bases(self, kustomization: Kustomization) -> Iterator[str]:
        """List the kustomizations that it is built on. Raises KustomizationError for one that is not in the source."""
        for reference in kustomization.references:
            if reference.field in BASES and (base := self._find_base(kustomization, reference)):
                yield base

    def _try_read(self, path: str) -> Kustomization | KustomizationError:
        try:
            return read_kustomization(path, self.tree.read([path])[path])
        except KustomizationError as error:
            return error
        except SourceError as error:
            return KustomizationError(error.message, hint=error.hint, path=path)

    def _find_base(self, kustomization: Kustomization, reference: Reference) -> str | None:
        target = resolve(kustomization.folder, reference.text)
        if target in self.tree.paths:
            return None
        base = self.find_in(target)
        if base is None:
            raise KustomizationError(
                f"{kustomization.path} names {reference.text!r}, which is neither a file nor a kustomization of this "
                "source.",
                hint="Fix the path, or keep a copy in the source: gitsync does not fetch remote bases.",
                path=kustomization.path,
                line=reference.line,
            )
        return base


def list_all_inputs(start: str, reader: KustomizationReader) -> tuple[str, ...]:
    """List every file that building the kustomization at `start` may need, sorted.

    Raises KustomizationError if it or one of its bases cannot be read, is not in the source, or names what may not be
    read.
    """
    reached = reach([start], reader)
    for kustomization in reached.values():
        _check_plugins(kustomization, reader)
    found = {named for kustomization in reached.values() for named in _list_named(kustomization, reader)}
    if any(kustomization.has_plugins for kustomization in reached.values()):  # files that name further files
        found |= {path for kustomization in reached.values() for path in reader.list_below(kustomization.folder)}
    return tuple(sorted(found))


def reach(start: Sequence[str], reader: KustomizationReader) -> dict[str, Kustomization]:
    """Reach the kustomizations at some paths, and all that they are built on, by path. Raises KustomizationError if one
    of them cannot be read, is not in the source, or names what may not be read.
    """
    pending, reached = list(start), dict[str, Kustomization]()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached[path] = reader.read(path)
            check_references(path, reached[path].references, reached[path].folder)
            pending.extend(reader.list_bases(reached[path]))
    return reached


def _check_plugins(kustomization: Kustomization, reader: KustomizationReader) -> None:
    """Check the files of objects that name further files: kustomize reads those from the folder of `kustomization`."""
    entries = [reference for reference in kustomization.references if reference.field in PLUGINS]
    candidates = [resolve(kustomization.folder, entry.text) for entry in entries]
    files = {resolved for resolved in candidates if resolved in reader.tree.paths}
    bases = [base for resolved in candidates if resolved not in files and (base := reader.find_in(resolved))]
    for plugins in reach(bases, reader).values():
        files |= {path for path in _list_named(plugins, reader) if path != plugins.path}
    for path in sorted(files):
        check_references(path, read_plugins(reader.tree.read([path])[path]), kustomization.folder)


def _list_named(kustomization: Kustomization, reader: KustomizationReader) -> Iterator[str]:
    """Yield the file itself, and every file of the source that one of its texts is the path of."""
    yield from (path for name in NAMES if (path := posixpath.join(kustomization.folder, name)) in reader.tree.paths)
    for reference in kustomization.references:
        for text in split_pair(reference.text):
            if (path := resolve(kustomization.folder, text)) in reader.tree.paths:
                yield path

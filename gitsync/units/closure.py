"""Every file that the build of a kustomization may need: its own, and those of its bases and components."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gitsync.errors import SourceError
from gitsync.problems.suggest import suggest
from gitsync.units.kustomization import (
    BASES,
    NAMES,
    PLUGINS,
    Kustomization,
    Reference,
    check_references,
    guess_references,
    read_kustomization,
    read_plugins,
    resolve,
    split_pair,
)
from gitsync.units.tree import SourceTree, find_folder
from gitsync.units.unbuildable import UnbuildableError


def find_kustomizations(paths: Iterable[str]) -> tuple[str, ...]:
    """The kustomization of each folder that has one, sorted."""
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
    _sorted: list[str] = field(default_factory=list)
    _folders: dict[str, str] = field(default_factory=dict)
    _known: dict[str, Kustomization | UnbuildableError] = field(default_factory=dict)

    def read(self, path: str) -> Kustomization:
        """UnbuildableError if it cannot be read."""
        if path not in self._known:
            self._known[path] = self._try_read(path)
        known = self._known[path]
        if isinstance(known, UnbuildableError):
            raise known
        return known

    def find_in(self, folder: str) -> str | None:
        """The kustomization in a folder, None if it has none."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        return next((path for path in paths if path in self.tree.paths), None)

    def list_below(self, folder: str) -> list[str]:
        """The files in a folder, at any depth."""
        if not self._sorted:
            self._sorted = sorted(self.tree.paths)
        if not folder:
            return self._sorted
        return self._sorted[bisect_left(self._sorted, f"{folder}/") : bisect_left(self._sorted, f"{folder}0")]

    def list_files(self, path: str) -> Iterator[str]:
        """The files of the source that a kustomization names, as far as it can be read."""
        try:
            texts = [text for one in self.read(path).references for text in split_pair(one.text)]
        except UnbuildableError:
            texts = [*self.list_names(path)]
        places = (resolve(find_folder(path), text) for text in texts)
        return (place for place in places if place in self.tree.paths)

    def list_reachable(self, path: str) -> frozenset[str]:
        """The files of a kustomization and of all that it is built on, as far as they can be read."""
        pending, reached, files = [path], set[str](), set[str]()
        while pending:
            each = pending.pop()
            if each not in reached:
                reached.add(each)
                files |= {each, *self.list_files(each)}
                pending += self.list_likely_bases(each)
        return frozenset(files)

    def list_likely_bases(self, path: str) -> Iterator[str]:
        """The kustomizations that one is built on, or would be without a slip in their names."""
        for text in self.list_names(path):
            target = resolve(find_folder(path), text)
            base = self.find_in(target)
            if base is not None:
                yield base
            elif target not in self.tree.paths and (near := self._find_near(target)):
                yield near

    def _find_near(self, folder: str) -> str | None:
        if not self._folders:
            self._folders.update({find_folder(path): path for path in find_kustomizations(self.tree.paths)})
        near = suggest(folder, (other for other in self._folders if _is_beside(other, folder)))
        return None if near is None else self._folders[near]

    def list_names(self, path: str) -> tuple[str, ...]:
        """What a kustomization names as files and folders to build on; a guess if it cannot be read."""
        try:
            return tuple(one.text for one in self.read(path).references if one.field in BASES)
        except UnbuildableError:
            pass
        try:
            return guess_references(self.tree.read([path])[path])
        except SourceError:
            return ()

    def list_bases(self, kustomization: Kustomization) -> Iterator[str]:
        """The kustomizations that it is built on. UnbuildableError for one that is not in the source."""
        for reference in kustomization.references:
            if reference.field in BASES and (base := self._find_base(kustomization, reference)):
                yield base

    def _try_read(self, path: str) -> Kustomization | UnbuildableError:
        try:
            return read_kustomization(path, self.tree.read([path])[path])
        except UnbuildableError as error:
            return error
        except SourceError as error:
            return UnbuildableError(error.message, hint=error.hint, path=path)

    def _find_base(self, kustomization: Kustomization, reference: Reference) -> str | None:
        target = resolve(kustomization.folder, reference.text)
        if target in self.tree.paths:
            return None
        base = self.find_in(target)
        if base is None:
            raise UnbuildableError(
                f"{kustomization.path} names {reference.text!r}, which is neither a file nor a kustomization of this "
                "source.",
                hint="Fix the path, or keep a copy in the source: gitsync does not fetch remote bases.",
                path=kustomization.path,
                line=reference.line,
            )
        return base


def _is_beside(folder: str, other: str) -> bool:
    """Tell whether two folders have the same parent or the same name."""
    (parent, _, name), (other_parent, _, other_name) = folder.rpartition("/"), other.rpartition("/")
    return parent == other_parent or name == other_name


def find_inputs(start: str, reader: KustomizationReader) -> tuple[str, ...]:
    """Every file that building the kustomization at `start` may need, sorted.

    UnbuildableError if it or one of its bases cannot be read, is not in the source, or names what may not be read.
    """
    reached = reach([start], reader)
    for one in reached.values():
        _check_plugins(one, reader)
    found = {named for one in reached.values() for named in _list_named(one, reader)}
    if any(one.has_plugins for one in reached.values()):  # files that name further files
        found |= {path for one in reached.values() for path in reader.list_below(one.folder)}
    return tuple(sorted(found))


def reach(start: Sequence[str], reader: KustomizationReader) -> dict[str, Kustomization]:
    """Return the kustomizations at some paths, and all that they are built on, by path. UnbuildableError if one of them
    cannot be read, is not in the source, or names what may not be read.
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
    places = [resolve(kustomization.folder, entry.text) for entry in entries]
    files = {place for place in places if place in reader.tree.paths}
    bases = [base for place in places if place not in files and (base := reader.find_in(place))]
    for one in reach(bases, reader).values():
        files |= {path for path in _list_named(one, reader) if path != one.path}
    for path in sorted(files):
        check_references(path, read_plugins(reader.tree.read([path])[path]), kustomization.folder)


def _list_named(kustomization: Kustomization, reader: KustomizationReader) -> Iterator[str]:
    """The file itself, and every file of the source that one of its texts is the path of."""
    yield from (path for name in NAMES if (path := posixpath.join(kustomization.folder, name)) in reader.tree.paths)
    for reference in kustomization.references:
        for text in split_pair(reference.text):
            if (path := resolve(kustomization.folder, text)) in reader.tree.paths:
                yield path

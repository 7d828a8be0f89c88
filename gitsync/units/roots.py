"""The roots among the kustomizations of a source: those that no other one is built on.

A base is not a root, and must not become one by a slip in the kustomization that names it: it would be applied without
its overlay. So a kustomization that cannot be read in full still claims what its text seems to name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitsync.problems.suggest import suggest
from gitsync.units.closure import KustomizationReader
from gitsync.units.kustomization import NAMES, resolve
from gitsync.units.tree import find_folder


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


def find_roots(kustomizations: Sequence[str], reader: KustomizationReader) -> tuple[str, ...]:
    """Those of `kustomizations` that no other one of them is built on, sorted; of a circle, the first."""
    folders = {find_folder(path): path for path in kustomizations}
    bases = {path: set(_list_bases(path, reader, folders)) - {path} for path in kustomizations}
    claimed = {base for found in bases.values() for base in found}
    roots = [path for path in kustomizations if path not in claimed]
    covered = _find_covered(roots, bases)
    for path in kustomizations:
        if path not in covered:
            roots.append(path)
            covered |= _find_covered([path], bases)
    return tuple(sorted(roots))


def _find_covered(roots: Iterable[str], bases: Mapping[str, set[str]]) -> set[str]:
    pending, covered = list(roots), set[str]()
    while pending:
        path = pending.pop()
        if path not in covered:
            covered.add(path)
            pending.extend(bases[path])
    return covered


def _list_bases(path: str, reader: KustomizationReader, folders: Mapping[str, str]) -> Iterator[str]:
    for text in reader.list_names(path):
        target = resolve(find_folder(path), text)
        if target in folders:
            yield folders[target]
        elif target not in reader.tree.paths and not reader.find_in(target):
            near = suggest(target, (folder for folder in folders if _is_beside(folder, target)))
            if near is not None:
                yield folders[near]


def _is_beside(folder: str, other: str) -> bool:
    """Tell whether two folders have the same parent or the same name."""
    (parent, _, name), (other_parent, _, other_name) = folder.rpartition("/"), other.rpartition("/")
    return parent == other_parent or name == other_name

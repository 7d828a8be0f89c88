"""Finds kustomizations under names that kustomize does not read, such as `kustomisation.yaml`.

Read as they are, the files of such a folder would declare other resources than their author meant: without the prefix
of their names, or the patches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.units import SUFFIXES
from gitsync.desired.problems.suggest import measure_distance
from gitsync.errors import SourceError
from gitsync.repository.units.kustomization_files import NAMES, is_kustomization
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import find_folder

_STEMS: Final = ("kustomization", "kustomize")
_ENDS: Final = frozenset({"", "yaml", "yml", "json", "txt", "yaml.txt", "yml.txt"})  # others name a sample or a backup
_LETTERS: Final = 2  # as many may be wrong


def list_misspelt(paths: Iterable[str], reader: KustomizationReader, known: Collection[str]) -> Iterator[str]:
    """List the kustomizations with such a name that concern ASO, at most one a folder. `known` are those with a right
    name: in their folders, kustomize reads no other.
    """
    folders = set(map(find_folder, known))
    for path in sorted(path for path in paths if _is_near(path.rpartition("/")[2])):
        folder = find_folder(path)
        if folder not in folders and _concerns_aso(path, reader):
            folders.add(folder)
            yield path


@lru_cache(maxsize=4096)  # most names are those of other folders too
def _is_near(name: str) -> bool:
    stem, _, end = name.casefold().partition(".")
    if name in NAMES or end not in _ENDS:
        return False
    return any(measure_distance(stem, known, _LETTERS) is not None for known in _STEMS)


def _concerns_aso(path: str, reader: KustomizationReader) -> bool:
    """Return whether a file is a kustomization that has ASO objects: in it, below its folder, or in what it names."""
    try:
        content = reader.tree.read([path])[path]
        if not is_kustomization(path, content):
            return False
        files = {*reader.list_below(find_folder(path)), *reader.list_reachable(path)}
        contents = reader.tree.read(sorted(file for file in files if file.endswith(SUFFIXES)))
        return mentions_aso((content, *contents.values()))
    # What cannot be read may have ASO objects.
    except SourceError:
        return True

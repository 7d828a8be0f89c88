"""Which files of a source belong to a unit that an object of a controller declares."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from gitsync.model.unit import Unit
from gitsync.units.globs import compile_glob
from gitsync.units.tree import find_folder, is_below, list_folders


def selects(unit: Unit, path: str) -> bool:
    """Tell whether a unit may be built of a file: it is below its folder, and among the files that it selects there."""
    chosen = unit.selection
    if chosen is None:
        return is_below(path, unit.path)
    if not (is_below(path, unit.path) if chosen.recurses else find_folder(path) == unit.path):
        return False
    name = posixpath.relpath(path, unit.path or ".")
    is_excluded = bool(chosen.exclude) and _matches(chosen.exclude, name)
    return not is_excluded and (not chosen.include or _matches(chosen.include, name))


def _matches(glob: str, name: str) -> bool:
    return compile_glob(glob, crosses_folders=True, has_braces=True)(name)


@dataclass(frozen=True, slots=True)
class CoveredFolders:
    """Folders that units are built from: `whole` ones with everything below, and `flat` ones without their folders."""

    whole: frozenset[str] = frozenset()
    flat: frozenset[str] = frozenset()

    @classmethod
    def of(cls, units: Iterable[Unit]) -> CoveredFolders:
        folders: dict[bool, set[str]] = {True: set(), False: set()}
        for unit in units:
            folders[unit.selection is None or unit.selection.recurses].add(unit.path)
        return cls(frozenset(folders[True]), frozenset(folders[False]))

    def has(self, path: str) -> bool:
        """Tell whether a file is in one of the folders."""
        return find_folder(path) in self.flat or any(folder in self.whole for folder in list_folders(path))

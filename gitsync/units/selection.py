"""Which files of a source belong to a unit that an object of a controller declares."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from gitsync.model.unit import Unit
from gitsync.units.charts import is_in_chart
from gitsync.units.globs import compile_glob
from gitsync.units.tree import find_folder, is_below, list_folders


def selects(unit: Unit, path: str) -> bool:
    """Tell whether a unit may be built of a file: it is below its folder, and among the files that it selects there."""
    chosen = unit.selection
    if unit.release is not None:
        return is_in_chart(path, {unit.path})
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
    """Folders that units are built from: `whole` ones with everything below, `flat` ones without their folders, and
    those of charts.
    """

    whole: frozenset[str] = frozenset()
    flat: frozenset[str] = frozenset()
    charts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, units: Iterable[Unit]) -> CoveredFolders:
        units = tuple(units)
        others = [unit for unit in units if unit.release is None]
        return cls(
            whole=frozenset(one.path for one in others if one.selection is None or one.selection.recurses),
            flat=frozenset(one.path for one in others if one.selection and not one.selection.recurses),
            charts=frozenset(unit.path for unit in units if unit.release is not None),
        )

    def has(self, path: str) -> bool:
        """Tell whether a file is in one of the folders."""
        is_in_folder = find_folder(path) in self.flat or any(folder in self.whole for folder in list_folders(path))
        return is_in_folder or is_in_chart(path, self.charts)

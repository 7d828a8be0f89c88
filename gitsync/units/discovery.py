"""Which units a source has: the kustomizations that are roots or that gitsync.yaml names, and the plain files.

A kustomization owns its folder and everything below: what it does not name is not read. One at the path of the run is
all that is read, as Flux does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gitsync.config.config_file import FILE_NAME
from gitsync.errors import SourceError
from gitsync.model.unit import Unit, UnitEntry, UnitKind, UnitOptions
from gitsync.units.closure import KustomizationReader, find_kustomizations
from gitsync.units.roots import find_roots
from gitsync.units.tree import find_folder, list_folders

ROOT = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundUnits:
    """`built` are the units to build; `plain` the paths of the files to read as they are, some of which are of a unit
    with options (`folders`, by path). `claimed` are the files outside of the folders of kustomizations that one names.
    `find_options` returns what gitsync.yaml says of a folder.
    """

    built: tuple[Unit, ...]
    plain: tuple[str, ...]
    folders: Mapping[str, Unit]
    claimed: frozenset[str] = frozenset()
    find_options: Callable[[str], UnitOptions] = field(default=lambda _: UnitOptions(), compare=False)


def find_units(
    paths: Sequence[str], reader: KustomizationReader, *, path: str = "", entries: Sequence[UnitEntry] = ()
) -> FoundUnits:
    """Find the units among the files at `paths`, all of them below `path`."""
    options = _Options(entries)
    forced = frozenset(entry.path for entry in entries if entry.kind is UnitKind.FOLDER)
    kustomizations = [one for one in find_kustomizations(paths) if not _is_forced(one, forced)]
    with suppress(SourceError):  # too much for one source: each is then a problem of its own
        reader.tree.read(kustomizations)
    owned = {find_folder(one): one for one in kustomizations}
    if path in owned:
        roots: Iterable[str] = (owned[path],)
        owned = {path: owned[path]}
    else:
        named = {owned[entry.path] for entry in entries if entry.path in owned}
        roots = sorted({*find_roots(kustomizations, reader), *named})
    outside = tuple(one for one in paths if not any(folder in owned for folder in list_folders(one)))
    claimed = {file for one in kustomizations for file in reader.list_files(one)} & set(outside)
    plain = tuple(one for one in outside if one not in claimed)
    return FoundUnits(
        built=tuple(_make_unit(find_folder(one), UnitKind.KUSTOMIZATION, one, options) for one in roots),
        plain=plain,
        folders=_find_folders(plain, options),
        claimed=frozenset(claimed),
        find_options=options.find,
    )


def _is_forced(kustomization: str, forced: frozenset[str]) -> bool:
    """Tell whether gitsync.yaml says that the files of its folder are read as they are."""
    return any(folder in forced for folder in list_folders(kustomization))


def _find_folders(plain: Iterable[str], options: _Options) -> Mapping[str, Unit]:
    """The unit of each plain file with options: one unit a folder, since records keep the folder."""
    units: dict[str, Unit] = {}
    found: dict[str, Unit] = {}
    for path in plain:
        folder = find_folder(path)
        if options.has(folder):
            unit = units.setdefault(folder, _make_unit(folder, UnitKind.FOLDER, FILE_NAME, options))
            found[path] = unit
    return found


def _make_unit(folder: str, kind: UnitKind, file: str, options: _Options) -> Unit:
    return Unit(
        name=folder or ROOT,
        path=folder,
        kind=kind,
        file=file,
        options=options.find(folder),
        is_named=options.names(folder),
    )


class _Options:
    """The options of units: those of the nearest entry at or above a folder, and of no other."""

    def __init__(self, entries: Iterable[UnitEntry]) -> None:
        self._by_path = {entry.path: entry.options for entry in entries}

    def find(self, folder: str) -> UnitOptions:
        places = (folder, *list_folders(folder))
        return next((self._by_path[place] for place in places if place in self._by_path), UnitOptions())

    def names(self, folder: str) -> bool:
        return folder in self._by_path

    def has(self, folder: str) -> bool:
        return self.find(folder) != UnitOptions()

"""Finds the units of a source: the kustomizations that are roots or that gitsync.yaml names, charts, and the plain
files.

A kustomization owns its folder and everything below: what it does not name is not read. One at the path of the run is
all that is read, as Flux does. A chart is a unit if it may have ASO manifests and no other chart depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from gitsync.errors import SourceError
from gitsync.model.unit import Unit, UnitEntry, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.charts import list_charts
from gitsync.repository.units.kinds.builder import find_builder
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_kustomizations
from gitsync.repository.units.misspelt_names import list_misspelt
from gitsync.repository.units.tree import find_folder, list_folders
from gitsync.settings.config.config_file import FILE_NAME

ROOT = "."
_NO_OPTIONS = UnitOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundUnits:
    """The units of a source, and the files that belong to none."""

    built: tuple[Unit, ...]  # the units to build
    plain: tuple[str, ...]  # the paths of the files to read as they are
    folders: Mapping[str, Unit]  # the units with options that some plain files are of, by the path of the file
    claimed: frozenset[str] = frozenset()  # the files outside of the folders of kustomizations that one names
    left_out: frozenset[str] = frozenset()  # the files inside of the folders of kustomizations that none names
    published: tuple[str, ...] = ()
    """The charts that are also in a Helm repository or a registry, wherever they are in the source."""

    find_options: Callable[[str], UnitOptions] = field(default=lambda _: _NO_OPTIONS, compare=False)
    """Returns the options that gitsync.yaml has for a folder."""


def collect_units(
    paths: Sequence[str], reader: KustomizationReader, *, path: str = "", entries: Sequence[UnitEntry] = ()
) -> FoundUnits:
    """Find the units among the files at `paths`, all of them below `path`."""
    options = _Options(entries)
    # A file that is read alone is a unit itself: its folder has others, which this run does not read.
    if path in paths:
        unit = replace(_make_plain_unit(find_folder(path), options), name=path)
        return FoundUnits(built=(), plain=(path,), folders={path: unit}, find_options=options.find)
    forced = frozenset(entry.path for entry in entries if entry.kind and not entry.kind.value.is_built)
    others = frozenset(entry.path for entry in entries if entry.kind not in {None, UnitKind.KUSTOMIZATION})
    named_well = list_kustomizations(paths)
    kustomizations = [
        file
        for file in sorted((*named_well, *list_misspelt(paths, reader, named_well)))
        if not (_is_forced(file, forced) or find_folder(file) in others)
    ]
    with suppress(SourceError):  # too much for one source: each is then a problem of its own
        reader.tree.read(kustomizations)
    chosen = _choose_roots(kustomizations, reader, path, entries)
    outside = _list_outside(paths, frozenset(map(find_folder, chosen.owners)))
    named = frozenset(file for kustomization in chosen.all for file in reader.list_files(kustomization))
    unclaimed = [file for file in outside if file not in named]
    built = [_make_unit(find_folder(file), UnitKind.KUSTOMIZATION, file, options) for file in chosen.roots]
    plain, free = unclaimed, [file for file in unclaimed if not _is_forced(file, forced)]
    # A file belongs to one unit. So the kinds choose in the order of their rows.
    for kind in UnitKind:
        found = find_builder(kind).find(free, reader, partial(options.is_named, kind=kind))
        if found.roots:
            built += (_make_unit(find_folder(file), kind, file, options, path) for file in found.roots)
            plain = [file for file in plain if not found.owns(file)]
            free = [file for file in free if not found.owns(file)]
    return FoundUnits(
        built=tuple(built),
        plain=tuple(plain),
        folders=_collect_folders(plain, options),
        claimed=named.intersection(outside),
        left_out=frozenset(paths).difference(outside, named, chosen.all),
        published=_list_published(reader, entries, options),
        find_options=options.find,
    )


class _ChosenKustomizations(NamedTuple):
    """The kustomizations that are units, those whose folders are read as they specify, and all that name files. A
    misnamed one is a unit alone: its folder is read as it is, and as a unit that is not built it is reported and holds
    deletes.
    """

    roots: Sequence[str]
    owners: Sequence[str]
    all: Sequence[str]


def _choose_roots(
    kustomizations: Sequence[str], reader: KustomizationReader, path: str, entries: Iterable[UnitEntry]
) -> _ChosenKustomizations:
    by_folder = {find_folder(file): file for file in kustomizations}
    if path in by_folder and not reader.is_misnamed(by_folder[path]):
        # As Flux does: the kustomization at the path of the run is all that is read.
        return _ChosenKustomizations([by_folder[path]], [by_folder[path]], kustomizations)
    by_name = {by_folder[entry.path] for entry in entries if entry.path in by_folder}
    roots = sorted({*list_roots(kustomizations, reader), *by_name})
    sound = [file for file in kustomizations if not (reader.is_misnamed(file) and file in roots)]
    return _ChosenKustomizations(roots, sound, sound)


def _list_outside(paths: Sequence[str], owned: frozenset[str]) -> tuple[str, ...]:
    """List the files that are in none of some folders."""
    folders = set(map(find_folder, paths))
    outside = {folder for folder in folders if owned.isdisjoint(_list_here_and_above(folder))}
    return tuple(file for file in paths if find_folder(file) in outside)


def _list_published(reader: KustomizationReader, entries: Iterable[UnitEntry], options: _Options) -> tuple[str, ...]:
    """List the Chart.yaml of each chart that gitsync.yaml calls published: a run of one folder may use any of them."""
    if not any(entry.options.is_published for entry in entries):
        return ()
    return tuple(chart for chart in list_charts(reader.tree.paths) if options.find(find_folder(chart)).is_published)


def _is_forced(kustomization: str, forced: frozenset[str]) -> bool:
    """Return whether gitsync.yaml states that the files of its folder are read as they are."""
    return bool(forced) and any(folder in forced for folder in list_folders(kustomization))


def _collect_folders(plain: Iterable[str], options: _Options) -> Mapping[str, Unit]:
    """Make the unit of each plain file with options: one unit a folder, since records keep the folder."""
    plain = tuple(plain)
    units = {
        folder: _make_plain_unit(folder, options) for folder in set(map(find_folder, plain)) if options.has(folder)
    }
    return {path: units[find_folder(path)] for path in plain if find_folder(path) in units}


def _list_here_and_above(folder: str) -> tuple[str, ...]:
    return (folder, *list_folders(folder))


def _make_plain_unit(folder: str, options: _Options) -> Unit:
    return _make_unit(folder, UnitKind.FOLDER, FILE_NAME, options)


def _make_unit(folder: str, kind: UnitKind, file: str, options: _Options, alone: str | None = None) -> Unit:
    """Make the unit of a folder. A run of a folder `alone` is as good as a name in gitsync.yaml."""
    release = options.find(folder).release if kind.value.takes_release else None
    return Unit(
        name=folder or ROOT,
        path=folder,
        kind=kind,
        file=file,
        options=options.find(folder),
        release=release,
        namespace=release.namespace if release else "",
        is_named=folder == alone or options.is_named(folder, kind),
    )


class _Options:
    """The options of units: those of the nearest entry at or above a folder, and of no other."""

    def __init__(self, entries: Iterable[UnitEntry]) -> None:
        self._by_path = {entry.path: entry.options for entry in entries}

    def find(self, folder: str) -> UnitOptions:
        outer_folders = _list_here_and_above(folder)
        return next((self._by_path[outer] for outer in outer_folders if outer in self._by_path), _NO_OPTIONS)

    def is_named(self, folder: str, kind: UnitKind) -> bool:
        """Return whether a folder has an entry of its own; that of a published chart is for the releases of others."""
        return folder in self._by_path and not (kind.value.takes_release and self._by_path[folder].is_published)

    def has(self, folder: str) -> bool:
        return self.find(folder) != _NO_OPTIONS


# The roots among the kustomizations of a source: those that no other one is built on.
#
# A base is not a root, and must not become one by a slip in the kustomization that names it: it would be applied
# without its overlay. So a kustomization that cannot be read in full still claims what its text seems to name.


def list_roots(kustomizations: Sequence[str], reader: KustomizationReader) -> tuple[str, ...]:
    """List the kustomizations that no other one of them is built on, sorted; of a circle, the first."""
    bases = _collect_bases(kustomizations, reader)
    claimed = {base for found in bases.values() for base in found}
    roots = [path for path in kustomizations if path not in claimed]
    covered = _list_covered(roots, bases)
    for path in kustomizations:
        if path not in covered:
            roots.append(path)
            covered |= _list_covered([path], bases)
    return tuple(sorted(roots))


def _collect_bases(kustomizations: Iterable[str], reader: KustomizationReader) -> Mapping[str, set[str]]:
    """Collect what each kustomization is built on; also of bases that are not among them, such as ignored ones."""
    pending, bases = list(kustomizations), dict[str, set[str]]()
    while pending:
        path = pending.pop()
        if path not in bases:
            bases[path] = set(reader.list_likely_bases(path)) - {path}
            pending.extend(bases[path])
    return bases


def _list_covered(roots: Iterable[str], bases: Mapping[str, set[str]]) -> set[str]:
    pending, covered = list(roots), set[str]()
    while pending:
        path = pending.pop()
        if path not in covered:
            covered.add(path)
            pending.extend(bases[path])
    return covered

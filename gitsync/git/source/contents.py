"""Reads the manifests of a listing: selects them, checks their size, and reads their content.

The rules are the same for a folder and for every revision, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from gitsync.config.config_file import FILE_NAME
from gitsync.config.source_settings import SourceFile
from gitsync.errors import SourceError
from gitsync.git.source.ignore import IGNORE_FILE, IgnoreRules, read_rules
from gitsync.git.source.kustomization import find_folder, find_inputs, find_kustomizations, is_below
from gitsync.git.source.kustomize import build_kustomizations, has_tool
from gitsync.git.source.listing import EntryKind, SourceEntry, SourceListing
from gitsync.git.source.selection import (
    ReadLimits,
    check_budget,
    ignored,
    is_in_dot_folder,
    select_manifests,
    select_visible,
    warn_skipped,
)
from gitsync.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The wanted part of a source: the manifests below `path` ("" for all), except those below folders in `without`,
    and its own settings, if it `has_settings`.
    """

    path: str = ""
    without: tuple[str, ...] = ()
    has_settings: bool = True
    budget: ReadLimits = field(default_factory=ReadLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContents:
    """Manifest files by path from the root of the source, sorted; warnings about skipped files; the paths of
    files that are ignored; and the source's settings, None if it has none.

    A kustomization replaces its whole folder: its own path leads to the result of its build.
    """

    files: Mapping[str, bytes] = field(repr=False)  # a Secret may be among them
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...] = ()
    settings: SourceFile | None = None


def read_contents(listing: SourceListing, wanted: Wanted) -> SourceContents:
    """Read what is wanted. A kustomization that cannot be built is a problem, and the rest is read.

    SourceError if the folder does not exist, cannot be read or is too large, or no tool to build with is installed.
    """
    choice = _choose(listing, wanted)
    files, problems = dict(listing.read(choice.manifests)), list(choice.problems)
    if choice.units:
        source_files = _SourceFiles.of(listing, wanted.budget)
        for unit in choice.units:
            try:
                files |= build_kustomizations([unit], source_files.entries, source_files.read)
            except SourceError as error:
                if not has_tool():
                    raise
                problems.append(_make_build_problem(unit, error))
    return SourceContents(
        files=dict(sorted(files.items())),
        problems=tuple(problems),
        ignored=choice.ignored,
        settings=_read_settings(listing, wanted),
    )


def _make_build_problem(unit: str, error: SourceError) -> Problem:
    return Problem(code="KustomizationFailed", message=error.message, hint=error.hint, path=unit, line=1)


def list_inputs(listing: SourceListing, wanted: Wanted) -> Mapping[str, str]:
    """Every file that `read_contents` reads of a listing, by path, with its id ("" in a folder)."""
    choice = _choose(listing, wanted)
    read = {entry.path: entry.id for entry in (*choice.manifests, *_find_settings_entries(listing, wanted))}
    if choice.units:
        source_files = _SourceFiles.of(listing, wanted.budget)
        for unit in choice.units:
            read |= {path: source_files.entries[path].id for path in _find_needed(unit, source_files)}
    return read


def _find_settings_entries(listing: SourceListing, wanted: Wanted) -> tuple[SourceEntry, ...]:
    """The gitsync.yaml at the root of the source, for every folder of manifests. SourceError if it is not a file: then
    the settings are unknown.
    """
    entries = listing.find([FILE_NAME]) if wanted.has_settings else ()
    for entry in entries:
        if entry.kind is not EntryKind.FILE:
            raise SourceError(
                f"{listing.name}: {FILE_NAME} is a {entry.kind.value}, so the settings of the source are not known.",
                hint="Replace it with a file, or remove it.",
            )
    return entries


def _read_settings(listing: SourceListing, wanted: Wanted) -> SourceFile | None:
    entries = _find_settings_entries(listing, wanted)
    check_budget(entries, wanted.budget)
    content = listing.read(entries).get(FILE_NAME)
    return None if content is None else SourceFile(path=f"{listing.name}: {FILE_NAME}", content=content)


def read_settings(listing: SourceListing) -> SourceFile | None:
    """The source's settings alone; None if it has none. SourceError if they cannot be read."""
    return _read_settings(listing, Wanted())


def _find_needed(unit: str, source_files: _SourceFiles) -> tuple[str, ...]:
    """The files that a build may need; all of its folder if its bases cannot be read."""
    try:
        return find_inputs(unit, source_files.entries, source_files.read)
    except SourceError:
        return tuple(path for path in source_files.entries if is_below(path, find_folder(unit)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """`units` are the paths of kustomizations to build, `manifests` the files outside of all of them."""

    manifests: tuple[SourceEntry, ...]
    units: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]


def _choose(listing: SourceListing, wanted: Wanted) -> _Choice:
    entries = listing.entries(wanted.path)
    visible = select_visible(entries, _read_ignore_rules(listing, entries, wanted), wanted.without)
    units = find_kustomizations([entry.path for entry in visible if entry.kind is EntryKind.FILE], wanted.path)
    folders = [find_folder(unit) for unit in units]
    manifests = select_manifests(
        e for e in visible if e.path != FILE_NAME and not any(is_below(e.path, folder) for folder in folders)
    )
    check_budget(manifests, wanted.budget)
    ignored_paths = ignored(entries, visible, wanted.without)
    return _Choice(manifests=manifests, units=units, problems=warn_skipped(visible), ignored=ignored_paths)


@dataclass(frozen=True, slots=True)
class _SourceFiles:
    """All files of a source, except those in dot folders: a kustomization may use any of them, ignored or not."""

    listing: SourceListing
    budget: ReadLimits
    entries: Mapping[str, SourceEntry]

    @classmethod
    def of(cls, listing: SourceListing, budget: ReadLimits) -> _SourceFiles:
        files = (entry for entry in listing.entries("") if entry.kind is EntryKind.FILE)
        return cls(listing, budget, {entry.path: entry for entry in files if not is_in_dot_folder(entry.path)})

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        wanted = [self.entries[path] for path in paths]
        check_budget(wanted, self.budget)
        return self.listing.read(wanted)


def _read_ignore_rules(listing: SourceListing, entries: tuple[SourceEntry, ...], wanted: Wanted) -> IgnoreRules:
    """From the ignore files below the path, and from those in the folders above it."""
    inner = [e for e in entries if e.kind is EntryKind.FILE and e.path.rpartition("/")[2] == IGNORE_FILE]
    outer_paths = [f"{folder}{IGNORE_FILE}" for folder in _list_parent_folders(wanted.path)]
    ignore_files = [*(entry for entry in listing.find(outer_paths) if entry.kind is EntryKind.FILE), *inner]
    check_budget(ignore_files, wanted.budget)
    return read_rules(listing.read(ignore_files))


def _list_parent_folders(path: str) -> tuple[str, ...]:
    """The parent folders of `path`, outermost first: "a/b" is in "" and in "a/"."""
    parents = path.split("/")[:-1]
    return ("", *(f"{parent}/" for parent in accumulate(parents, "{}/{}".format))) if path else ()

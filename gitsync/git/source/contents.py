"""Read the manifests out of a listing: what is there, what counts, how much of it, and then its bytes.

The same for the folder, for the revision and for every earlier revision, so that they can be compared.
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
    """What is asked of a source: the manifests below `path` ("" for all), but for those below folders in `without`,
    and its own settings, if it `has_settings`.
    """

    path: str = ""
    without: tuple[str, ...] = ()
    has_settings: bool = True
    budget: ReadLimits = field(default_factory=ReadLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContents:
    """Manifest files by path from the root of the source, sorted; a warning for what was passed over; the paths of
    files that are ignored; and the source's settings, None if it has none.

    A kustomization stands for all of its folder: its own path leads to what it was built to.
    """

    files: Mapping[str, bytes] = field(repr=False)  # a Secret may be among them
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...] = ()
    settings: SourceFile | None = None


def read_contents(listing: SourceListing, wanted: Wanted) -> SourceContents:
    """Read what is wanted. A kustomization that cannot be built is a problem, and the rest is read.

    SourceError where it is not there, cannot be read, is too much, or where no tool is installed to build with.
    """
    choice = _choose(listing, wanted)
    files, problems = dict(listing.read(choice.manifests)), list(choice.problems)
    if choice.units:
        everything = _Everything.of(listing, wanted.budget)
        for unit in choice.units:
            try:
                files |= build_kustomizations([unit], everything.entries, everything.read)
            except SourceError as error:
                if not has_tool():
                    raise
                problems.append(_unbuilt(unit, error))
    return SourceContents(
        files=dict(sorted(files.items())),
        problems=tuple(problems),
        ignored=choice.ignored,
        settings=_read_settings(listing, wanted),
    )


def _unbuilt(unit: str, error: SourceError) -> Problem:
    return Problem(code="KustomizationFailed", message=error.message, hint=error.hint, path=unit, line=1)


def list_inputs(listing: SourceListing, wanted: Wanted) -> Mapping[str, str]:
    """Every file that `read_contents` reads of a listing, by path, with its id ("" in a folder)."""
    choice = _choose(listing, wanted)
    read = {entry.path: entry.id for entry in (*choice.manifests, *_settings_of(listing, wanted))}
    if choice.units:
        everything = _Everything.of(listing, wanted.budget)
        for unit in choice.units:
            read |= {path: everything.entries[path].id for path in _needed(unit, everything)}
    return read


def _settings_of(listing: SourceListing, wanted: Wanted) -> tuple[SourceEntry, ...]:
    """The gitsync.yaml at the root of the source, wherever the manifests are. SourceError where it is no file: what it
    was meant to say is then unknown.
    """
    found = listing.find([FILE_NAME]) if wanted.has_settings else ()
    for entry in found:
        if entry.kind is not EntryKind.FILE:
            raise SourceError(
                f"{listing.name}: {FILE_NAME} is a {entry.kind.value}, so the settings of the source are not known.",
                hint="Replace it with a file, or remove it.",
            )
    return found


def _read_settings(listing: SourceListing, wanted: Wanted) -> SourceFile | None:
    entries = _settings_of(listing, wanted)
    check_budget(entries, wanted.budget)
    content = listing.read(entries).get(FILE_NAME)
    return None if content is None else SourceFile(path=f"{listing.name}: {FILE_NAME}", content=content)


def read_settings(listing: SourceListing) -> SourceFile | None:
    """The source's settings alone; None if it has none. SourceError where they cannot be read."""
    return _read_settings(listing, Wanted())


def _needed(unit: str, everything: _Everything) -> tuple[str, ...]:
    """What a build may need; of one that cannot be followed, all of its folder."""
    try:
        return find_inputs(unit, everything.entries, everything.read)
    except SourceError:
        return tuple(path for path in everything.entries if is_below(path, find_folder(unit)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """`units` are the paths of kustomizations to build, `manifests` the files outside of all of them."""

    manifests: tuple[SourceEntry, ...]
    units: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]


def _choose(listing: SourceListing, wanted: Wanted) -> _Choice:
    entries = listing.entries(wanted.path)
    seen = select_visible(entries, _rules(listing, entries, wanted), wanted.without)
    units = find_kustomizations([entry.path for entry in seen if entry.kind is EntryKind.FILE], wanted.path)
    folders = [find_folder(unit) for unit in units]
    manifests = select_manifests(
        e for e in seen if e.path != FILE_NAME and not any(is_below(e.path, folder) for folder in folders)
    )
    check_budget(manifests, wanted.budget)
    left_out = ignored(entries, seen, wanted.without)
    return _Choice(manifests=manifests, units=units, problems=warn_skipped(seen), ignored=left_out)


@dataclass(frozen=True, slots=True)
class _Everything:
    """All files of a source but for those in dot folders: a kustomization may take in any of them, ignored or not."""

    listing: SourceListing
    budget: ReadLimits
    entries: Mapping[str, SourceEntry]

    @classmethod
    def of(cls, listing: SourceListing, budget: ReadLimits) -> _Everything:
        files = (entry for entry in listing.entries("") if entry.kind is EntryKind.FILE)
        return cls(listing, budget, {entry.path: entry for entry in files if not is_in_dot_folder(entry.path)})

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        wanted = [self.entries[path] for path in paths]
        check_budget(wanted, self.budget)
        return self.listing.read(wanted)


def _rules(listing: SourceListing, entries: tuple[SourceEntry, ...], wanted: Wanted) -> IgnoreRules:
    """From the ignore files below the path, and from those in the folders above it."""
    below = [e for e in entries if e.kind is EntryKind.FILE and e.path.rpartition("/")[2] == IGNORE_FILE]
    above = [f"{folder}{IGNORE_FILE}" for folder in _folders_above(wanted.path)]
    found = [*(entry for entry in listing.find(above) if entry.kind is EntryKind.FILE), *below]
    check_budget(found, wanted.budget)
    return read_rules(listing.read(found))


def _folders_above(path: str) -> tuple[str, ...]:
    """The parent folders of `path`, outermost first: "a/b" is in "" and in "a/"."""
    parents = path.split("/")[:-1]
    return ("", *(f"{parent}/" for parent in accumulate(parents, "{}/{}".format))) if path else ()

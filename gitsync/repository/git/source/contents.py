"""Reads the manifests of a listing: selects them, checks their size, and reads their content.

The rules are the same for a folder and for every revision, so that they can be compared.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate, chain

from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.units import KUSTOMIZATIONS, SUFFIXES
from gitsync.desired.manifests.unread_documents import collect_templates, explain_unreadable
from gitsync.errors import SourceError
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit, UnitEntry
from gitsync.repository.git.source.file_selection import (
    IGNORE_FILE,
    IgnoreRules,
    ReadLimits,
    check_budget,
    is_hidden,
    is_in_dot_folder,
    list_ignored,
    read_rules,
    select_manifests,
    select_visible,
    warn_skipped,
    warn_too_large,
)
from gitsync.repository.git.source.listing import EntryKind, SourceEntry, SourceListing
from gitsync.repository.git.source.unread_paths import FindUnread, UnreadPaths
from gitsync.repository.units.all_units import AllUnits, FollowContext, build_all
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.charts import CHART
from gitsync.repository.units.declarations import read_source_name
from gitsync.repository.units.discovery import FoundUnits, collect_units
from gitsync.repository.units.kinds.builder import find_builder
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import list_folders
from gitsync.repository.units.unit_builds import list_inputs as list_unit_inputs
from gitsync.settings.config.config_file import FILE_NAME, SourceFile, list_source_names, list_unit_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePart:
    """The wanted part of a source."""

    path: str = ""  # the manifests below it, or in that file; "" for all
    without: tuple[str, ...] = ()  # folders with everything below that are left out
    has_settings: bool = True  # with the source's own settings
    budget: ReadLimits = field(default_factory=ReadLimits)
    entries: tuple[UnitEntry, ...] | None = None  # units that the operator names; None to take those of the source
    aliases: tuple[str, ...] | None = None
    """Names of the source in a cluster that the operator gives; None to take those of the source."""

    builds: Builds = field(default_factory=Builds, compare=False, repr=False)  # those of the run
    follow: FollowContext = field(default_factory=FollowContext, compare=False, repr=False)
    """What following objects of controllers needs."""


ExplainUnreadable = Callable[[Collection[str]], Mapping[str, Problem]]
"""Returns why files cannot be read as documents, by path: for those of some paths that are there and cannot."""


def explain_nothing(paths: Collection[str]) -> Mapping[str, Problem]:  # noqa: ARG001 - as an ExplainUnreadable
    """Return no reasons: for a source whose files are not looked into."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContents:
    """Everything that was read of a source. A kustomization replaces its whole folder: its own path leads to the result
    of its build.
    """

    files: Mapping[str, bytes] = field(repr=False)
    """Manifest files by path from the root of the source, sorted; a Secret may be among them."""

    units: Mapping[str, Unit] = field(default_factory=dict)
    """Those of the files that are not plain, by the path of the file."""

    problems: tuple[Problem, ...] = ()  # warnings about skipped files
    ignored: tuple[str, ...] = ()  # the paths of files that could contain manifests and are ignored
    skipped: tuple[str, ...] = ()  # the paths of kustomizations that have nothing for gitsync
    settings: SourceFile | None = None  # the source's own, None if it has none
    has_declared: bool = False  # objects of controllers are followed
    read_inputs: Callable[[], Mapping[str, bytes]] = field(default=dict, compare=False, repr=False)
    """Returns every file that all this was made of."""

    file: str = ""  # the only one that is read, "" for a folder
    read_all: Callable[[], SourceContents] | None = field(default=None, compare=False, repr=False)
    """Reads the whole source."""

    read_left_out: Callable[[], Mapping[str, bytes]] = field(default=dict, compare=False, repr=False)
    """Reads the files in folders of kustomizations that none of them names."""

    explain_unreadable: ExplainUnreadable = field(default=explain_nothing, compare=False, repr=False)
    """Explains why files cannot be read."""

    find_unread: FindUnread = field(default=UnreadPaths, compare=False, repr=False)  # finds the files that are not read


def read_contents(listing: SourceListing, wanted: SourcePart) -> SourceContents:
    """Read the wanted part of a source. A unit that cannot be built is a problem, and the rest is read.

    SourceError if the folder does not exist, cannot be read or is too large, or no tool to build with is installed.
    ConfigError if the source's settings are invalid.
    """
    entries = listing.entries(wanted.path)
    beside = _find_beside(listing, wanted)
    settings = _read_settings(listing, beside, wanted.budget)
    choice = _choose(listing, entries, beside, wanted, settings)
    plain = listing.read(choice.manifests)
    built = build_all(choice.units, plain, choice.reader, wanted.builds, _name_sources(wanted, settings))
    # What an object of a controller builds is not read as plain files too: each resource would be there twice.
    own = {path: content for path, content in plain.items() if not built.covered.has(path)} if built.declared else plain
    files = {**own, **built.files}

    def read_inputs() -> Mapping[str, bytes]:
        others = (*_list_settings_entries(listing, beside), *_list_unit_inputs(choice, built))
        return {**listing.read(others), **plain}

    def read_left_out() -> Mapping[str, bytes]:
        paths = [path for path in sorted(choice.units.left_out - built.used) if path.endswith(SUFFIXES)]
        with suppress(SourceError):  # too much to look into, and only hints are made of it
            return choice.source_files.read(paths)
        return {}

    return SourceContents(
        files=dict(sorted(files.items())),
        units={**choice.units.folders, **built.units},
        problems=(
            *choice.problems,
            *built.problems,
            *_warn_unused(choice.units.claimed - built.used),
            *_warn_endings(listing, choice.visible, built.used, wanted.budget),
        ),
        ignored=choice.ignored,
        skipped=tuple(sorted(built.skipped)),
        settings=settings,
        has_declared=bool(built.declared),
        read_inputs=read_inputs,
        file=choice.file,
        read_all=partial(read_contents, listing, replace(wanted, path="")),
        read_left_out=read_left_out,
        explain_unreadable=partial(_explain_unreadable, listing, choice, wanted.budget),
        find_unread=partial(_find_unread, listing, wanted, choice, own, built),
    )


def _find_unread(
    listing: SourceListing, wanted: SourcePart, choice: _ChosenFiles, own: Mapping[str, bytes], built: AllUnits
) -> UnreadPaths:
    folders = tuple(f"{folder}/" for folder in wanted.without)
    return UnreadPaths(
        files={entry.path: entry for entry in choice.visible if entry.kind is EntryKind.FILE},
        plain=frozenset(own.keys() - collect_templates(own).keys()),
        used=built.used | built.inputs,
        closed=tuple(entry for entry in choice.visible if entry.kind is not EntryKind.FILE),
        path=wanted.path,
        ignores=lambda path: is_hidden(path) or path.startswith(folders) or choice.rules.ignores(path),
        listing=listing,
        budget=wanted.budget,
    )


def _explain_unreadable(
    listing: SourceListing, choice: _ChosenFiles, budget: ReadLimits, paths: Collection[str]
) -> Mapping[str, Problem]:
    """Explain why files cannot be read."""
    # Paths may be from a record, so they are not trusted.
    wanted = [
        path
        for path in paths
        # Any other path is not inside the source.
        if path.isprintable() and path == posixpath.normpath(path) and not path.startswith(("/", "../"))
        if not choice.rules.ignores(path)
    ]
    ancestors = {path: (path, *list_folders(path)[:-1]) for path in wanted}
    entries = {entry.path: entry for entry in listing.find(sorted(set(chain.from_iterable(ancestors.values()))))}
    # A link or a nested repository is the reason for all paths below it.
    outermost = {path: entries[step] for path, steps in ancestors.items() for step in steps if step in entries}
    problems = {
        path: problem
        for path, entry in outermost.items()
        for problem in (*warn_skipped([entry]), *warn_too_large([entry], budget))
    }
    files = [entry for path, entry in outermost.items() if entry.path == path and path not in problems]
    unreadable = {path: explain_unreadable(path, content) for path, content in listing.read(files).items()}
    return problems | {path: problem for path, problem in unreadable.items() if problem}


def _warn_unused(paths: Iterable[str]) -> tuple[Problem, ...]:
    """Warn of each file that is part of a kustomization which is not built, and so is not read by itself."""
    return tuple(
        Problem(
            code="PassedOver",
            level=Level.WARNING,
            message=f"{path} is not read: a kustomization of another folder names it, and is not built.",
            hint="Fix that kustomization, or exclude it with .gitsyncignore.",
            path=path,
        )
        for path in sorted(paths)
        if path.endswith(SUFFIXES)
    )


def _warn_endings(
    listing: SourceListing, visible: Iterable[SourceEntry], used: Collection[str], budget: ReadLimits
) -> Iterator[Problem]:
    """Warn of each file of manifests that is not read, since its ending is in capitals: neither kubectl nor Flux read
    it.
    """
    files = [
        entry
        for entry in visible
        if entry.kind is EntryKind.FILE and not entry.path.endswith(SUFFIXES) and entry.path not in used
        if entry.path.casefold().endswith(SUFFIXES) and entry.size <= budget.file
    ]
    for path, content in listing.read(files).items() if files else ():
        if mentions_aso([content]):
            stem, dot, ending = path.rpartition(".")
            yield Problem(
                code="PassedOver",
                level=Level.WARNING,
                message=f"{path} is not read: its file extension is not in lower case.",
                hint=f"Rename it to {stem}{dot}{ending.lower()}. If it is not a manifest, add it to .gitsyncignore.",
                path=path,
            )


def list_inputs(listing: SourceListing, wanted: SourcePart, *, has_declared: bool) -> Mapping[str, str]:
    """List every file that `read_contents` reads of a listing, by path, with its id ("" in a folder). `has_declared` is
    true if objects of controllers may declare some of its units: only then are contents read.
    """
    entries = listing.entries(wanted.path)  # first: a revision that is listed finds its settings without git
    beside = _find_beside(listing, wanted)
    settings = _read_settings(listing, beside, wanted.budget)
    choice = _choose(listing, entries, beside, wanted, settings)
    followed = None
    if has_declared:
        plain, context = listing.read(choice.manifests), _name_sources(wanted, settings)
        followed = build_all(choice.units, plain, choice.reader, wanted.builds, context)
    files = _list_settings_entries(listing, beside)
    return {entry.path: entry.id for entry in (*choice.manifests, *files, *_list_unit_inputs(choice, followed))}


def _name_sources(wanted: SourcePart, settings: SourceFile | None) -> FollowContext:
    """Add the Flux sources that the operator, or else the source's settings, call this repository."""
    own = list_source_names(settings) if settings else ()
    names = own if wanted.aliases is None else wanted.aliases
    if not names:
        return wanted.follow
    sources = frozenset(map(read_source_name, names))
    return replace(wanted.follow, repository=replace(wanted.follow.repository, sources=sources))


def _list_unit_inputs(choice: _ChosenFiles, built: AllUnits | None) -> list[SourceEntry]:
    """List the files that units were built of, and those that define what to build."""
    declared, inputs = (built.declared, built.inputs) if built and built.declared else ((), frozenset[str]())
    needed = list_unit_inputs((*choice.units.built, *declared), choice.reader) | inputs
    return [choice.source_files.find(path) for path in sorted(needed)]


def _find_beside(listing: SourceListing, wanted: SourcePart) -> tuple[SourceEntry, ...]:
    """Find at once what counts for the path that is wanted and may be above it: settings and ignore files."""
    parents = accumulate(wanted.path.split("/")[:-1], "{}/{}".format)  # outermost first: "a" of "a/b"
    ignore_paths = [IGNORE_FILE, *(f"{parent}/{IGNORE_FILE}" for parent in parents)] if wanted.path else []
    return listing.find([*([FILE_NAME] if wanted.has_settings else []), *ignore_paths])


def _list_settings_entries(listing: SourceListing, beside: Iterable[SourceEntry]) -> tuple[SourceEntry, ...]:
    """List the gitsync.yaml at the root of the source, for every folder of manifests. SourceError if it is not a file:
    then the settings are unknown.
    """
    entries = tuple(entry for entry in beside if entry.path == FILE_NAME)
    for entry in entries:
        if entry.kind is not EntryKind.FILE:
            raise SourceError(
                f"{listing.name}: {FILE_NAME} is a {entry.kind.value}, so the settings of the source are not known.",
                hint="Replace it with a file, or remove it.",
            )
    return entries


def _read_settings(listing: SourceListing, beside: Iterable[SourceEntry], budget: ReadLimits) -> SourceFile | None:
    entries = _list_settings_entries(listing, beside)
    check_budget(entries, budget)  # before it is read: anybody may commit a file of any size
    content = listing.read(entries).get(FILE_NAME)
    return None if content is None else SourceFile(path=f"{listing.name}: {FILE_NAME}", content=content)


def read_settings(listing: SourceListing) -> SourceFile | None:
    """Read the source's settings alone; None if it has none. SourceError if they cannot be read."""
    return _read_settings(listing, listing.find([FILE_NAME]), ReadLimits())


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenFiles:
    """The files of a source that a run wants, before anything is built."""

    file: str  # the only one that is wanted, "" for a folder
    manifests: tuple[SourceEntry, ...]
    """The files outside of everything that is built, among them those that `units` calls plain."""

    units: FoundUnits
    source_files: _SourceFiles  # reads their contents, each once
    reader: KustomizationReader
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]  # the paths of files that could contain manifests and are ignored
    rules: IgnoreRules  # those of .gitsyncignore
    visible: tuple[SourceEntry, ...]  # all entries that are not ignored


def _choose(
    listing: SourceListing,
    entries: tuple[SourceEntry, ...],
    beside: Iterable[SourceEntry],
    wanted: SourcePart,
    settings: SourceFile | None,
) -> _ChosenFiles:
    """Choose among the entries below the path that is wanted."""
    file = wanted.path if any(entry.path == wanted.path for entry in entries) else ""
    if file:
        _check_file(entries[0])
    rules = _read_ignore_rules(listing, (*beside, *entries), wanted.budget)
    # An ignored file is not a manifest, but a kustomization may still use it: so only this list is narrowed.
    visible = select_visible(entries, rules, wanted.without)
    by_path = {entry.path: entry for entry in visible if entry.kind is EntryKind.FILE and entry.path != FILE_NAME}
    source_files = _SourceFiles(listing, wanted.budget)
    reader = KustomizationReader(source_files)
    unit_entries = wanted.entries
    if unit_entries is None:
        unit_entries = list_unit_entries(settings) if settings else ()
    # Units are found among what is visible, but may use files that are ignored or outside of the path.
    units = collect_units(tuple(by_path), reader, path=wanted.path, entries=unit_entries)
    plain = select_manifests(by_path[path] for path in units.plain)
    # One file that is too large is a problem of its own, and not of all others.
    manifests = tuple(entry for entry in plain if entry.size <= wanted.budget.file)
    check_budget(manifests, wanted.budget)
    return _ChosenFiles(
        file=file,
        manifests=manifests,
        units=units,
        source_files=source_files,
        reader=reader,
        problems=(
            *warn_skipped(visible),
            *warn_too_large(plain, wanted.budget),
            *_list_missing_units(reader, unit_entries),
        ),
        ignored=list_ignored(entries, visible, wanted.without),
        rules=rules,
        visible=visible,
    )


def _check_file(entry: SourceEntry) -> None:
    """Raise SourceError if a file that is read alone has no manifests of its own."""
    name = posixpath.basename(entry.path)
    if entry.kind is not EntryKind.FILE:
        raise SourceError(
            f"--path {entry.path} is a {entry.kind.value}; gitsync does not read it.", hint="Check --path."
        )
    if name in KUSTOMIZATIONS or name == CHART:
        raise SourceError(
            f"--path {entry.path} defines how its folder is built, and is read only with it.",
            hint=f"Set --path {posixpath.dirname(entry.path) or '.'}.",
        )
    if not entry.path.endswith(SUFFIXES):
        raise SourceError(f"--path {entry.path} is not a *.yaml, *.yml or *.json file.", hint="Check --path.")


def _list_missing_units(reader: KustomizationReader, entries: Iterable[UnitEntry]) -> Iterator[Problem]:
    """Yield an error for each unit of gitsync.yaml whose folder, or whose kustomization, does not exist."""
    for entry in entries:
        missing = "" if reader.list_below(entry.path) else "folder"
        if not missing and entry.kind and (lacks := find_builder(entry.kind).find_missing(entry.path, reader)):
            missing = f"{lacks} in the folder"
        if missing:
            yield Problem(
                code="UnitNotFound",
                message=f"units: path: the source has no {missing} {entry.path or '.'}.",
                hint="Fix the path, or remove the unit.",
                path=FILE_NAME,
                line=entry.line,
            )


class _SourceFiles:
    """All files of a source, except those in dot folders: a kustomization may use any of them, ignored or not.

    They are listed when the first is needed, and each is read once.
    """

    def __init__(self, listing: SourceListing, budget: ReadLimits) -> None:
        self._listing = listing
        self._budget = budget
        self._contents: dict[str, bytes] = {}

    @cached_property
    def _entries(self) -> Mapping[str, SourceEntry]:
        files = (entry for entry in self._listing.entries("") if entry.kind is EntryKind.FILE)
        return {entry.path: entry for entry in files if not is_in_dot_folder(entry.path)}

    @property
    def paths(self) -> Collection[str]:
        return self._entries.keys()

    def find(self, path: str) -> SourceEntry:
        return self._entries[path]

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        missing = [self._entries[path] for path in dict.fromkeys(paths) if path not in self._contents]
        if missing:
            check_budget([*missing, *(self._entries[path] for path in self._contents)], self._budget)
            self._contents.update(self._listing.read(missing))
        return {path: self._contents[path] for path in paths}


def _read_ignore_rules(listing: SourceListing, entries: Iterable[SourceEntry], budget: ReadLimits) -> IgnoreRules:
    """Read the ignore files among some entries."""
    files = [e for e in entries if e.kind is EntryKind.FILE and e.path.rpartition("/")[2] == IGNORE_FILE]
    check_budget(files, budget)
    return read_rules(listing.read(files))

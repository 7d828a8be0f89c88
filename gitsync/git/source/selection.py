"""Selects the manifests of a source, and limits how much is read (docs/reference/design.md#manifest-files)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitsync.errors import SourceError
from gitsync.git.source.ignore import IgnoreRules
from gitsync.git.source.listing import EntryKind, SourceEntry
from gitsync.model.problem import Level, Problem

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """The most that is read of a source; bytes. A source is untrusted, and a run has one machine's memory."""

    file: int = 5_000_000
    total: int = 200_000_000
    files: int = 100_000


def select_visible(
    entries: Iterable[SourceEntry], rules: IgnoreRules, without: Sequence[str] = ()
) -> tuple[SourceEntry, ...]:
    """Every entry that is neither hidden, nor ignored, nor below a folder in `without`."""
    folders = tuple(folder + "/" for folder in without)
    return tuple(
        entry
        for entry in entries
        if not (_is_hidden(entry.path) or entry.path.startswith(folders) or rules.ignores(entry.path))
    )


def _is_hidden(path: str) -> bool:
    """Below a dot folder, or a dot file: `*.yaml` does not mean `.pre-commit-config.yaml` to a shell either."""
    return path.startswith(".") or "/." in path


def is_in_dot_folder(path: str) -> bool:
    """Tell whether a path leads through a folder whose name begins with a dot."""
    return _is_hidden(path.rpartition("/")[0])


def select_manifests(entries: Iterable[SourceEntry]) -> tuple[SourceEntry, ...]:
    """Files that may hold manifests, by their suffix."""
    return tuple(entry for entry in entries if entry.kind is EntryKind.FILE and entry.path.endswith(_SUFFIXES))


def ignored(
    entries: Sequence[SourceEntry], visible: Sequence[SourceEntry], without: Sequence[str] = ()
) -> tuple[str, ...]:
    """Paths of manifest files that are not visible, except those below dot folders and folders in `without`."""
    if len(visible) == len(entries):
        return ()
    visible_paths, folders = {entry.path for entry in visible}, tuple(folder + "/" for folder in without)
    return tuple(
        entry.path
        for entry in select_manifests(entries)
        if entry.path not in visible_paths and not (is_in_dot_folder(entry.path) or entry.path.startswith(folders))
    )


def warn_skipped(entries: Iterable[SourceEntry]) -> tuple[Problem, ...]:
    """A warning for every skipped entry that could have led to manifests."""
    return tuple(
        Problem(
            code="PassedOver",
            level=Level.WARNING,
            message=f"{entry.path} is a {entry.kind.value}; gitsync does not read it.",
            hint=f"Replace it with the manifests, or add it to .gitsyncignore: {entry.path}",
            path=entry.path,
        )
        for entry in entries
        if entry.kind is not EntryKind.FILE
    )


def warn_too_large(entries: Iterable[SourceEntry], budget: ReadLimits) -> tuple[Problem, ...]:
    """An error for every manifest file that is too large to be read: it may be no manifest, so the others are read."""
    return tuple(
        Problem(
            code="FileTooLarge",
            message=f"{entry.path} has {entry.size} bytes; more than {budget.file} are not read.",
            hint=f"Split it; if it is not a manifest, add it to .gitsyncignore: {entry.path}",
            path=entry.path,
        )
        for entry in entries
        if entry.size > budget.file
    )


def check_budget(entries: Sequence[SourceEntry], budget: ReadLimits) -> None:
    """SourceError if one file, all of them together, or their number is too much."""
    hint = "Set --path to the folder of the manifests, or add the other files to .gitsyncignore."
    if len(entries) > budget.files:
        raise SourceError(f"{len(entries)} files exceed the limit of {budget.files}.", hint=hint)
    for entry in entries:
        if entry.size > budget.file:
            raise SourceError(f"{entry.path} has {entry.size} bytes; the limit is {budget.file}.", hint=hint)
    if (total := sum(entry.size for entry in entries)) > budget.total:
        raise SourceError(f"The manifests have {total} bytes in total; the limit is {budget.total}.", hint=hint)

"""The files of a source that a run does not read, although they may have a manifest: for resources that were removed.

Some files are readable, and nothing uses them. Other entries cannot be read. Ignored files do not count: people state
with the pattern that they declare nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gitsync.desired.manifests.units import SUFFIXES
from gitsync.errors import SourceError
from gitsync.repository.git.source.file_selection import ReadLimits
from gitsync.repository.git.source.listing import Revision, SourceEntry, SourceListing
from gitsync.repository.units.tree import is_below


def _ignore_nothing(path: str) -> bool:  # noqa: ARG001 - as `UnreadPaths.ignores`
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadPaths:
    """What is below the path of a run, and not read."""

    files: Mapping[str, SourceEntry] = field(default_factory=dict)  # all files there
    plain: frozenset[str] = frozenset()  # those of `files` that are read as they are
    used: frozenset[str] = frozenset()  # the files that units were built of, wherever they are
    closed: tuple[SourceEntry, ...] = ()  # entries that are not files
    path: str = ""  # of the run, "" for all
    ignores: Callable[[str], bool] = _ignore_nothing  # returns whether a path is excluded from the source
    listing: SourceListing | None = field(default=None, repr=False)  # reads those files, None if nothing was listed
    budget: ReadLimits = field(default_factory=ReadLimits)

    @property
    def unused(self) -> frozenset[str]:
        """The files that nothing uses."""
        return frozenset(self.files.keys() - self.plain - self.used)

    def covers(self, path: str) -> bool:
        """Return whether a path is one that the run is about."""
        return path == self.path or is_below(path, self.path)

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Read files; nothing of those that are not here, or are too much to look into."""
        entries = [self.files[path] for path in paths if self.files[path].size <= self.budget.file]
        if self.listing is None or sum(entry.size for entry in entries) > self.budget.total:
            return {}
        try:
            return (
                self.listing.read_present(entries) if isinstance(self.listing, Revision) else self.listing.read(entries)
            )
        except SourceError:
            return {}


FindUnread = Callable[[], UnreadPaths]


def may_have_manifests(path: str) -> bool:
    """Return whether a file has the ending of manifests, or of parts of templates, in any case."""
    return path.casefold().endswith((*SUFFIXES, ".tpl"))

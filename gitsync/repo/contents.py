"""Read the manifests out of a listing: what is there, what counts, how much of it, and then its bytes.

The same for the folder, for the revision and for every earlier revision, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from gitsync.model.problem import Problem
from gitsync.repo.ignore import IGNORE_FILE, IgnoreRules, read_rules
from gitsync.repo.listing import Entry, EntryKind, Listing
from gitsync.repo.selection import Budget, check_budget, manifests_of, passed_over, visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of a source: the manifests below `path` ("" for all), but for those below folders in `without`."""

    path: str = ""
    without: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Manifest files by path from the root of the source, sorted; and a warning for what was passed over."""

    files: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def read_contents(listing: Listing, wanted: Wanted) -> Contents:
    """Read what is wanted. SourceError where it is not there, cannot be read, or is too much."""
    seen = _visible(listing, wanted)
    manifests = manifests_of(seen)
    check_budget(manifests, wanted.budget)
    return Contents(files=listing.read(manifests), problems=passed_over(seen))


def ids_of_contents(listing: Listing, wanted: Wanted) -> Mapping[str, str]:
    """The ids of the files that `read_contents` would read of a revision, by path."""
    return {entry.path: entry.id for entry in manifests_of(_visible(listing, wanted))}


def _visible(listing: Listing, wanted: Wanted) -> tuple[Entry, ...]:
    entries = listing.entries(wanted.path)
    return visible(entries, _rules(listing, entries, wanted.path), wanted.without)


def _rules(listing: Listing, entries: tuple[Entry, ...], path: str) -> IgnoreRules:
    """From the ignore files below `path`, and from those in the folders above it."""
    below = [e for e in entries if e.kind is EntryKind.FILE and e.path.rpartition("/")[2] == IGNORE_FILE]
    above = [IGNORE_FILE, *(f"{folder}/{IGNORE_FILE}" for folder in _folders_above(path))] if path else []
    return read_rules(listing.read([*listing.find(above), *below]))


def _folders_above(path: str) -> Iterable[str]:
    """The folders that `path` lies in, outermost first."""
    return accumulate(path.split("/")[:-1], "{}/{}".format)

"""Lists what differs as a person edits it: by the field of the manifest, with its line, and lists by element."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, NamedTuple

from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.planning.diff.list_elements import split_lists
from gitsync.planning.diff.three_way import REMOVED
from gitsync.report.ordering import SECTIONS, Section, choose_section
from gitsync.report.wording import shorten_revision


class Change(NamedTuple):
    """A value in Azure and in git, None where it is absent; of an outside change, the value before and now."""

    name: str  # its field, or its path in the request where no field is known
    live: Any
    desired: Any
    notes: tuple[str, ...]  # the location of the field, and what else is known of it


def list_changes(
    result: Result, *, with_paths: bool = False, with_locations: bool = True, only: Container[str] | None = None
) -> Iterator[Change]:
    """List the differences of a resource by path, each element of a list for itself. `with_paths` adds the paths in the
    request, `with_locations` those in the manifests; `only` are the paths of some differences.
    """
    for difference in sorted(result.differences, key=lambda difference: difference.path):
        if only is not None and difference.path not in only:
            continue
        for part in split_lists(difference):
            field = result.comparison.fields.get(part.path)
            is_removed = part.rule == REMOVED and part.desired is None
            # What git no longer sets has no line to name.
            notes = (
                REMOVED if is_removed else "",
                str(field.source) if field and with_locations and not is_removed else "",
                part.path if field and with_paths else "",
            )
            yield Change(field.name if field else part.path, part.live, part.desired, tuple(filter(None, notes)))


def find_compared_section(results: Iterable[Result]) -> Section | None:
    """Find the first section with a value that changes into another one. There a report names the two sides, once."""
    compared = {choose_section(result) for result in results if any(map(_has_two_sides, list_changes(result)))}
    return next((section for section in SECTIONS if section in compared), None)


def _has_two_sides(change: Change) -> bool:
    return change.live is not None and change.desired is not None


def name_sides(report: Report) -> tuple[str, str]:
    """Name the live and the desired side of all differences of a report."""
    if report.source.base is not None:
        return shorten_revision(report.source.base), shorten_revision(report.revision)
    return "Azure", "git"


def find_first_location(result: Result) -> SourceLocation | None:
    """Find the first changed field that the manifest has; None if none is known."""
    parts = (
        part
        for difference in sorted(result.differences, key=lambda difference: difference.path)
        for part in split_lists(difference)
    )
    fields = (result.comparison.fields.get(part.path) for part in parts if part.desired is not None)
    return next((field.source for field in fields if field), None)


def name_path(result: Result, path: str) -> str:
    """Name a path in the request by the field of the manifest, if that is known."""
    return result.comparison.fields[path].name if path in result.comparison.fields else path

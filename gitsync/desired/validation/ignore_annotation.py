"""The annotation `gitsync/ignore` of a manifest, which lists ignored fields (docs/reference/design.md#drift) as a YAML
list.

An entry is a path (`validation.ignored_field`), or a mapping of `path`, `until` (the last day on which it applies) and
`reason`. The caller passes the current day.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from gitsync.desired.catalog.arm_fields import Misfit
from gitsync.desired.catalog.type_words import add_article
from gitsync.desired.formats.ignored_paths import Paths, Steps
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.annotation_text import read_annotation
from gitsync.desired.validation.annotations import IGNORE
from gitsync.desired.validation.body_annotation import has_path, read_body
from gitsync.desired.validation.ignore_entries import MOST_ENTRIES, OF_MANIFEST, EntryForm, read_entry
from gitsync.desired.validation.ignored_field import Fault, IgnoredPath, check_existence
from gitsync.model.facts import Kind
from gitsync.model.problem import Level
from gitsync.model.resource import Resource


def read_ignored_paths(resource: Resource, kind: Kind | None, today: date | None) -> Paths:
    """Read the paths of the body that a manifest ignores on a day, without entries that are invalid or have expired."""
    entries = (entry for entry in _iterate_entries(resource) if isinstance(entry, IgnoredPath))
    paths = {entry.find_path(kind) for entry in entries if not entry.has_expired(today)}
    return tuple(sorted(path for path in paths if not isinstance(path, Misfit)))


def check_ignore(resource: Resource, kind: Kind, today: date | None) -> Iterator[Finding]:
    """Check the annotation: its form, that the kind has each path, and that no entry has expired."""
    for entry in _iterate_entries(resource):
        if isinstance(entry, Fault):
            yield _make_error(*entry)
            continue
        if entry.has_expired(today):
            yield _make_warning("IgnoreExpired", *describe_expired(entry, "the annotation"))
        # The annotation `gitsync/body` may add members that the facts of the kind do not have.
        is_added = has_path(read_body(resource), _list_names(entry, kind))
        if not is_added and (fault := check_existence(entry, kind)):
            yield _make_warning("IgnoreNothing", *fault)
    # Without a live body there is no value that could stay as it is.
    if resource.annotations.get(IGNORE) and not kind.can_get:
        yield _make_error(
            f"Azure does not return {add_article(kind.gvk.kind)}, so no path of it can be ignored.",
            "Remove the annotation.",
        )


def describe_expired(path: IgnoredPath, origin: str) -> Fault:
    """Describe a path whose last day has passed."""
    message = f"{path.text} was ignored until {path.until}, and is written again."
    return Fault(message, f"Remove the entry from {origin}, or set a later date.")


def _list_names(entry: IgnoredPath, kind: Kind) -> Steps:
    """List the steps of a path in the body; none if the kind does not have it."""
    found = entry.find_path(kind)
    return () if isinstance(found, Misfit) else found


def _iterate_entries(resource: Resource) -> Iterator[IgnoredPath | Fault]:
    """Yield the paths in order, with faults in place of invalid entries. An empty annotation counts as absent."""
    values = read_list(resource.annotations.get(IGNORE, ""), OF_MANIFEST)
    if isinstance(values, Fault):
        yield values
        return
    for number, value in enumerate(values, start=1):
        entry = read_entry(value, f"Entry {number}", OF_MANIFEST)
        yield from entry if isinstance(entry, list) else entry.paths


def read_list(text: str, form: EntryForm) -> list[Any] | Fault:
    """Read the entries of an annotation, unchecked; or what is wrong with its text. An empty one has none."""
    if not text:
        return []
    read = read_annotation(IGNORE, text)
    if read.fault:
        return Fault(read.fault, f"It is in line {read.line} of the annotation. {form.hint}")
    values = [document.value for document in read.documents]
    if len(values) > 1 or not all(isinstance(value, list) for value in values):
        return Fault("It is not one YAML list.", form.hint)
    entries = [entry for value in values for entry in value]
    if len(entries) > MOST_ENTRIES:
        return Fault(f"It has {len(entries)} entries; at most {MOST_ENTRIES} are allowed.", "Use * in paths.")
    return entries


def _make_error(message: str, hint: str) -> Finding:
    return Finding(code="Ignore", path=("metadata", "annotations", IGNORE), message=f"{IGNORE}: {message}", hint=hint)


def _make_warning(code: str, message: str, hint: str) -> Finding:
    path = ("metadata", "annotations", IGNORE)
    return Finding(code=code, path=path, message=f"{IGNORE}: {message}", hint=hint, level=Level.WARNING)

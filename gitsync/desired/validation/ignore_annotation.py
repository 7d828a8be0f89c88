"""The annotation `gitsync/ignore`, which lists ignored fields (docs/reference/design.md#drift) as a YAML list.

An entry is a path, or a mapping of `path`, `until` (the last day on which it applies) and `reason`. A path is a field
of the manifest as reports show it (`problems.field_path`), or a JSON pointer (RFC 6901) into the ARM body, with the
steps of `formats.ignored_paths`. The caller passes the current day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from gitsync.desired.catalog.arm_fields import Misfit, find_body_path, find_misfit
from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.formats.ignored_paths import Paths, Steps, parse_entry_step
from gitsync.desired.formats.json_pointer import ANY
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.desired.problems.field_path import (
    EVERY,
    Entry,
    FieldPattern,
    FieldStep,
    FieldSyntaxError,
    format_field,
    parse_field,
)
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.annotations import IGNORE
from gitsync.desired.validation.body_annotation import BODY_PATH, has_path, read_body
from gitsync.model.facts import Kind
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_FORM: Final = "Write a list of paths, such as [spec.tags.team], or of mappings with path, until and reason."
_SKIP: Final = "To ignore a whole resource, set serviceoperator.azure.com/reconcile-policy: skip."
_KEYS: Final = ("path", "until", "reason")
_MOST_ENTRIES: Final = 1000
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")
_INDEX: Final = re.compile(r"\d+|-")


@dataclass(frozen=True, slots=True)
class IgnoredPath:
    """One entry."""

    text: str  # its path as written
    until: date | None  # the last day on which it applies, None without limit
    field: FieldPattern = ()  # the path, if it is one of the manifest
    pointer: Steps = ()  # the path, if it is one of the body

    def find_path(self, kind: Kind | None) -> Steps | Misfit:
        """Find its path in the body, or what the kind does not have of its field."""
        if not self.field:
            return self.pointer
        if self.field[: len(BODY_PATH)] == BODY_PATH:
            return _end_at_last_name(list(map(_write_step, self.field[len(BODY_PATH) :])))
        found = find_body_path(kind, self.field) if kind else Misfit(0, ())
        return found if isinstance(found, Misfit) else _end_at_last_name(list(map(_write_step, found)))


def read_ignored_paths(resource: Resource, kind: Kind | None, today: date | None) -> Paths:
    """Read the paths of the body that a manifest ignores on a day, without entries that are invalid or have expired."""
    entries = (entry for entry in _iterate_entries(resource) if isinstance(entry, IgnoredPath))
    paths = {entry.find_path(kind) for entry in entries if not _has_expired(entry, today)}
    return tuple(sorted(path for path in paths if not isinstance(path, Misfit)))


def check_ignore(resource: Resource, kind: Kind, today: date | None) -> Iterator[Finding]:
    """Check the annotation: its form, that the kind has each path, and that no entry has expired."""
    for entry in _iterate_entries(resource):
        if isinstance(entry, Finding):
            yield entry
            continue
        if _has_expired(entry, today):
            yield _make_warning(
                "IgnoreExpired",
                f"{entry.text} was ignored until {entry.until}, and is written again.",
                "Remove the entry from the annotation, or set a later date.",
            )
        if not has_path(read_body(resource), _list_names(entry, kind)):
            yield from _check_existence(entry, kind)
    # Without a live body there is no value that could stay as it is.
    if resource.annotations.get(IGNORE) and not kind.can_get:
        yield _make_error(
            f"Azure does not return a {kind.gvk.kind}, so no path of it can be ignored.",
            "Remove the annotation.",
        )


def _list_names(entry: IgnoredPath, kind: Kind) -> Steps:
    """List the steps of a path in the body; none if the kind does not have it."""
    found = entry.find_path(kind)
    return () if isinstance(found, Misfit) else found


def _has_expired(entry: IgnoredPath, today: date | None) -> bool:
    return entry.until is not None and today is not None and today > entry.until


def _iterate_entries(resource: Resource) -> Iterator[IgnoredPath | Finding]:
    """Yield the entries in order, with findings in place of invalid ones. An empty annotation counts as absent."""
    text = resource.annotations.get(IGNORE)
    if not text:
        return
    contents = read_documents(IGNORE, text.encode("utf-8", "replace"))
    found = [*contents.problems, *(problem for document in contents.documents for problem in document.problems)]
    if problems := [problem for problem in found if problem.is_error]:
        yield _make_error(problems[0].message, f"It is in line {problems[0].line} of the annotation. {_FORM}")
        return
    # It is YAML in YAML, so it is read by the reader of all YAML: with its limits, and its problems.
    values = [document.value for document in contents.documents if document.value is not None]
    if len(values) > 1 or not all(isinstance(value, list) for value in values):
        yield _make_error("It is not one YAML list.", _FORM)
        return
    for value in values:
        if len(value) > _MOST_ENTRIES:
            yield _make_error(f"It has {len(value)} entries; at most {_MOST_ENTRIES} are allowed.", "Use * in paths.")
            return
        for number, entry in enumerate(value, start=1):
            yield from _read_entry(entry if isinstance(entry, Mapping) else {"path": entry}, f"Entry {number}")


def _read_entry(entry: Mapping[str, Any], position: str) -> Iterator[IgnoredPath | Finding]:
    findings = []
    for key in sorted(entry.keys() - set(_KEYS)):
        close = suggest(key, _KEYS)
        hint = f"Did you mean {close}?" if close else _FORM
        findings.append(_make_error(f"{position} has an unknown key, {key}.", hint))
    findings += _check_path(entry.get("path"), position)
    findings += _check_until_and_reason(entry, position)
    if findings:
        yield from findings
        return
    until = date.fromisoformat(entry["until"]) if entry.get("until") is not None else None
    path = entry["path"]
    if path.startswith("/"):
        yield IgnoredPath(text=path, until=until, pointer=_parse_steps(path))
    else:
        yield IgnoredPath(text=path, until=until, field=parse_field(path))


def _check_path(path: Any, position: str) -> Iterator[Finding]:
    if not isinstance(path, str):
        yield _make_error(f"{position} has no path that is text.", _FORM)
    elif not path.startswith("/"):
        yield from _check_field(path, position)
    elif _BAD_ESCAPE.search(path):
        hint = "Write ~1 for / and ~0 for ~ inside a name."
        yield _make_error(f"{position} has {quote_scalar(path)}, which is not a JSON pointer.", hint)
    elif not all(_parse_steps(path)):
        yield _make_error(f"{position} has {quote_scalar(path)}, which does not name a member in each step.", _SKIP)


_BODY: Final = ("body",)
"""All of an AzureResource that is compared; no ASO kind has such a field."""


def _check_field(path: str, position: str) -> Iterator[Finding]:
    try:
        field = parse_field(path)
    except FieldSyntaxError:
        field = ()
    if field[: len(BODY_PATH)] == BODY_PATH:
        field = field[len(BODY_PATH) - 1 :]
    elif field[:1] != ("spec",):
        hint = 'Write it as plans do: spec.sku.capacity, spec.tags["a.b"], spec.rules[name=web]; or as a JSON pointer.'
        yield _make_error(f"{position} has {quote_scalar(path)}, which is not a field of spec.", hint)
        return
    if all(step is EVERY for step in field[2 if field[1:2] == _BODY else 1 :]):
        yield _make_error(f"{position} has {quote_scalar(path)}, which is all of the resource.", _SKIP)


def _check_until_and_reason(entry: Mapping[str, Any], position: str) -> Iterator[Finding]:
    until, reason = entry.get("until"), entry.get("reason")
    if until is not None and not _is_date(until):
        yield _make_error(
            f"{position} has an until that is not a date, {quote_scalar(until)}.", "Write it as 2030-12-31."
        )
    if reason is not None and not isinstance(reason, str):
        yield _make_error(f"{position} has a reason that is not text.", "Quote it.")


def _is_date(value: Any) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _parse_steps(path: str) -> Steps:
    """Parse the steps of a pointer."""
    return _end_at_last_name([step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]])


def _write_step(step: FieldStep) -> str:
    """Write a step of the body as `formats.ignored_paths` reads it."""
    if isinstance(step, Entry):
        return f"[{step.field}={step.value}]"
    return ANY if step is EVERY else str(step)


def _end_at_last_name(steps: list[str]) -> Steps:
    """Leave out a `*` at the end, since a path covers all that is below it."""
    while len(steps) > 1 and steps[-1] == ANY:  # so that `/tags` and `/tags/*` are one path
        steps.pop()
    return tuple(steps) if steps != [ANY] else ("",)


def _check_existence(entry: IgnoredPath, kind: Kind) -> Iterator[Finding]:
    """Warn of a path that does not exist: without a word it would ignore nothing."""
    found = _find_misfit(entry, kind)
    if found is None:
        return
    misfit, step = found
    if misfit.is_list:  # entries of a list move, so an index would ignore another one tomorrow
        is_index = _INDEX.fullmatch(step.strip("[]"))
        wrong_step = "a list entry by its index, and entries move" if is_index else "something that is not a list entry"
        hint = "Select an entry by a field, such as [name=web], or use * for all entries."
        yield _make_warning("IgnoreNothing", f"{entry.text} names {wrong_step}: {quote_scalar(step)}.", hint)
        return
    close = suggest(step, misfit.members) if parse_entry_step(step) is None else None
    members = join_with_or(misfit.members[:12]) if misfit.members else ""
    hint = f"Did you mean {close}?" if close else f"Known members: {members}." if members else "It has no members."
    message = f"A {kind.gvk.kind} has nothing at {entry.text}: {quote_scalar(step)} is unknown there."
    yield _make_warning("IgnoreNothing", message, hint)


def _find_misfit(entry: IgnoredPath, kind: Kind) -> tuple[Misfit, str] | None:
    """Find the first step of a path that the kind does not have, and how it is written."""
    if entry.field:
        misfit = found if isinstance(found := entry.find_path(kind), Misfit) else None
        steps = [step if isinstance(step, str) else format_field((step,)) for step in entry.field[1:]]
    else:
        misfit = find_misfit(kind, entry.pointer, any_step=ANY, chooses=lambda step: parse_entry_step(step) is not None)
        steps = list(entry.pointer)
    return (misfit, steps[misfit.step]) if misfit else None


def _make_error(message: str, hint: str) -> Finding:
    return Finding(code="Ignore", path=("metadata", "annotations", IGNORE), message=f"{IGNORE}: {message}", hint=hint)


def _make_warning(code: str, message: str, hint: str) -> Finding:
    path = ("metadata", "annotations", IGNORE)
    return Finding(code=code, path=path, message=f"{IGNORE}: {message}", hint=hint, level=Level.WARNING)

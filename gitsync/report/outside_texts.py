"""Writes the words of all forms of a report for values that git does not set: those that were changed in Azure, and
those that a write may reset (docs/reports.md#outside-changes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.problems.field_path import format_field
from gitsync.model.gvk import Key
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.secret import MASKED
from gitsync.planning.diff.list_elements import split_outside
from gitsync.report.alike import MOST_ALIKE, MOST_NAMED, split_alike
from gitsync.report.differences import Change, name_path
from gitsync.report.ordering import make_reading_order
from gitsync.report.wording import count_reset, format_plural, list_reset, may_reset
from gitsync.settings.logging import escape_controls

OUTSIDE_TITLE: Final = "Changed outside of git"
OUTSIDE_SIDES: Final = ("before", "now")
"""The names of the two sides of such a change."""

OUTSIDE_ADVICE: Final = (
    "Run `gitsync accept KIND/NAME` to write changes outside of git into the manifests, `gitsync revert KIND/NAME` to "
    "restore the former values, or `gitsync acknowledge KIND/NAME` to record the new ones. List fields in "
    "`gitsync/ignore` to ignore them."
)
RESETS_ADVICE: Final = (
    "To keep values that a write may reset, set the annotation `gitsync/update-method: patch`, or run "
    "`gitsync accept KIND/NAME` to write them into the manifest."
)

_KEPT_AS_DIGEST: Final = "the record has only a digest of the former value"
_RESTORED: Final = "this write restores it"
_MOST_RESET: Final = 5  # values that a line names
_MOST_FIELDS: Final = 10  # of a record
_SHORT_VALUE: Final = re.compile(r"\S{1,40}")
_PREFIXES: Final = ("spec.body.properties.", "spec.body.", "spec.", "properties.")
"""What a sentence leaves out of a field: the first that fits."""


class ShownChange(NamedTuple):
    """An outside change as a report shows it."""

    field: str
    parts: tuple[Change, ...]  # of a list one for each element that differs
    weakens: str  # how it makes the estate weaker; "" if it does not


def sort_outside(result: Result) -> list[OutsideChange]:
    """Sort the outside changes of a resource: those that weaken the estate first, then by path."""
    return sorted(result.comparison.outside, key=lambda change: (not change.weakens, change.path))


def list_outside(result: Result, *, with_paths: bool = False) -> list[ShownChange]:
    """List the outside changes of a resource; `with_paths` adds the paths in the request."""
    shown = []
    restored = {change.path for change in result.change.restores}
    for change in sort_outside(result):
        note = "" if change.is_restorable else _KEPT_AS_DIGEST
        note = _RESTORED if change.path in restored else note
        parts = []
        for part in split_outside(change):
            name = name_path(result, part.path)
            # A field that is not known has its path for a name already.
            path = part.path if with_paths and name != part.path else ""
            parts.append(Change(name, part.live, part.desired, tuple(filter(None, (note, path)))))
        shown.append(ShownChange(name_path(result, change.path), tuple(parts), change.weakens))
    return shown


def weakens_estate(result: Result) -> bool:
    """Return whether a change outside of git makes the estate weaker."""
    return any(change.weakens for change in result.comparison.outside)


def format_resets(result: Result, *, writes: bool, everything: bool = False) -> str:
    """Format what the write of a resource may reset, as one line: `this write may reset: publicNetworkAccess Disabled,
    tags.owner, 2 networkAcls.virtualNetworkRules`; "" for nothing.
    """
    values = list_reset(result, writes=writes)
    named = [_name_reset(result, value) for value in values if value.path]
    if not values:
        return ""
    shown = named if everything else named[:_MOST_RESET]
    rest = count_reset(values) - len(shown)
    more = f" and {rest} more" if rest else ""
    return f"this write may {'have reset' if writes else 'reset'}: {', '.join(shown)}{more}"


def _name_reset(result: Result, value: ResetValue) -> str:
    """Name a value by its field, with the number of its entries, or the value itself if it is short."""
    name = _shorten_field(result, value.path)
    if value.entries:
        return f"{value.entries} {name}"
    # Of a tag, the name is enough.
    shown = "" if parse_pointer(value.path)[:1] == ("tags",) else _format_short(value.live)
    return f"{name} {shown}" if shown else name


def _shorten_field(result: Result, path: str) -> str:
    name = name_path(result, path)
    return _shorten_name(name) if name != path else shorten_pointer(path)


def shorten_pointer(pointer: str) -> str:
    """Shorten a path of a body for a sentence: `publicNetworkAccess` of `/properties/publicNetworkAccess`."""
    return _shorten_name(format_field(parse_pointer(pointer))) or escape_controls(pointer)


def _shorten_name(name: str) -> str:
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
    return escape_controls(name.removeprefix(prefix))


def _format_short(value: Any) -> str:
    """Format a single value of one word; "" for any other, and for a secret."""
    if value is None or value == MASKED or isinstance(value, dict | list):
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    return escape_controls(text) if _SHORT_VALUE.fullmatch(text) else ""


def are_many_reset(results: Iterable[Result], *, writes: bool) -> bool:
    """Return whether so many writes may reset something that a report only counts them."""
    return sum(may_reset(result, writes=writes) for result in results) > MOST_ALIKE


def format_many_resets(report: Report) -> str:
    """Format how many writes may reset how many values, where a report only counts them; "" where it names them."""
    writes = report.command == "sync"
    if not are_many_reset(report.results, writes=writes):
        return ""
    resetting = [reset for result in report.results if (reset := list_reset(result, writes=writes))]
    verb, values = "have reset" if writes else "reset", format_plural(sum(map(count_reset, resetting)), "value")
    return f"{format_plural(len(resetting), 'write')} may {verb} {values} in Azure"


class RecordedRow(NamedTuple):
    """Resources of one kind whose records have the same fields as changed outside of git: one, or many alike."""

    keys: tuple[Key, ...]
    fields: tuple[str, ...]

    def format_names(self, names: Mapping[Key, str], quote: Callable[[str], str] = str) -> str:
        """Format the names of the resources: the first of many."""
        return name_first([quote(names[key]) for key in self.keys], MOST_NAMED)

    def format_fields(self, quote: Callable[[str], str] = str) -> str:
        """Format the fields: the first of many."""
        return name_first([quote(field) for field in self.fields], _MOST_FIELDS)


def count_recorded(records: Iterable[Record]) -> int:
    """Count the changes outside of git that the last sync found."""
    return sum(len(record.spec.outside.changed) for record in records if record.spec.outside)


def list_recorded(records: Iterable[Record]) -> list[RecordedRow]:
    """List which fields changed outside of git, as the last sync found them. Records have no values of them."""
    found = [record for record in records if record.spec.outside and record.spec.outside.changed]
    ordered = sorted(found, key=lambda record: make_reading_order(record.key))
    alike = split_alike(ordered, lambda record: (record.key.kind, record.key.group, _list_changed(record)))
    return [RecordedRow(tuple(record.key for record in same), _list_changed(same[0])) for same in alike]


def _list_changed(record: Record) -> tuple[str, ...]:
    changed = record.spec.outside.changed if record.spec.outside else ()
    # Two pointers may be the same text once they are shortened.
    return tuple(dict.fromkeys(map(shorten_pointer, changed)))

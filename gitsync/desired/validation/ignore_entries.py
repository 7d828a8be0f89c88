"""Entries of ignored fields: a path, or a mapping. Manifests, Namespaces and gitsync.yaml have them, with own keys.

| key | value |
|---|---|
| `path` | a path (`validation.ignored_field`); in a rule also a list of them |
| `tags` | names of tags, or patterns such as `hidden-*` |
| `kind`, `namespace` | the resources of a rule: one name or several; `*` stands for any characters of a namespace |
| `until`, `reason` | the last day on which the entry applies, and why it exists |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.ignored_field import Fault, IgnoredPath, check_path, parse_path

MOST_ENTRIES: Final = 1000
_MOST_NAMES: Final = 100
_LONGEST_NAME: Final = 512  # of a tag, as Azure limits it
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class EntryForm(NamedTuple):
    """The form of entries in one place."""

    keys: tuple[str, ...]
    hint: str  # how to write a list of them

    @property
    def is_rule(self) -> bool:
        """Return whether entries are about several resources."""
        return "tags" in self.keys


OF_MANIFEST: Final = EntryForm(
    ("path", "until", "reason"),
    "Write a list of paths, such as [spec.tags.team], or of mappings with path, until and reason.",
)
OF_NAMESPACE: Final = EntryForm(
    ("path", "tags", "kind", "until", "reason"),
    "Write a list of paths, or of mappings with path or tags, kind, until and reason.",
)
OF_SOURCE: Final = EntryForm(
    ("path", "tags", "kind", "namespace", "until", "reason"),
    "Write a list of paths, or of mappings with path or tags, kind, namespace, until and reason.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreEntry:
    """One entry without faults."""

    paths: tuple[IgnoredPath, ...] = ()
    tags: tuple[str, ...] = ()  # names and patterns
    kinds: tuple[str, ...] = ()  # as written; empty for all
    namespaces: tuple[str, ...] = ()  # names and patterns; empty for all
    until: date | None = None  # the last day on which it applies, None without limit


def read_entry(value: Any, position: str, form: EntryForm) -> IgnoreEntry | list[Fault]:
    """Read an entry, or list what is wrong with it. `position` names it in messages."""
    entry = value if isinstance(value, Mapping) else {"path": value}
    faults = [*_check_keys(entry, position, form), *_check_paths(entry, position, form)]
    faults += [fault for key in ("tags", "kind", "namespace") for fault in _check_names(entry, key, position)]
    faults += _check_until_and_reason(entry, position)
    if faults:
        return faults
    until = date.fromisoformat(entry["until"]) if entry.get("until") is not None else None
    return IgnoreEntry(
        paths=tuple(parse_path(path, until) for path in _list(entry, "path")),
        tags=_list(entry, "tags"),
        kinds=_list(entry, "kind"),
        namespaces=_list(entry, "namespace"),
        until=until,
    )


def _list(entry: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """List the values of a key; a single value counts as a list of one."""
    value = entry.get(key)
    return tuple(value) if isinstance(value, list) else () if value is None else (value,)


def _check_keys(entry: Mapping[str, Any], position: str, form: EntryForm) -> Iterator[Fault]:
    for key in sorted(map(str, entry.keys() - set(form.keys))):
        close = suggest(key, form.keys)
        yield Fault(f"{position} has an unknown key, {key}.", f"Did you mean {close}?" if close else form.hint)


def _check_paths(entry: Mapping[str, Any], position: str, form: EntryForm) -> Iterator[Fault]:
    if form.is_rule and not _list(entry, "path"):
        if not _list(entry, "tags"):
            yield Fault(f"{position} has neither a path nor tags.", form.hint)
        return
    paths = _list(entry, "path") if form.is_rule else (entry.get("path"),)
    if len(paths) > _MOST_NAMES:
        yield Fault(f"{position} has {len(paths)} paths; at most {_MOST_NAMES} are allowed.", "Use * in paths.")
        return
    for path in paths:
        yield from check_path(path, position, form.hint)


def _check_names(entry: Mapping[str, Any], key: str, position: str) -> Iterator[Fault]:
    names = _list(entry, key)
    if len(names) > _MOST_NAMES:
        yield Fault(f"{position} has {len(names)} names in {key}; at most {_MOST_NAMES} are allowed.", "Use *.")
    elif not all(isinstance(name, str) and name for name in names):
        yield Fault(f"{position} has a name in {key} that is not text.", "Quote it.")
    elif any(len(name) > _LONGEST_NAME for name in names):
        yield Fault(f"{position} has a name in {key} with more than {_LONGEST_NAME} characters.", "Shorten it.")


def _check_until_and_reason(entry: Mapping[str, Any], position: str) -> Iterator[Fault]:
    until, reason = entry.get("until"), entry.get("reason")
    if until is not None and not _is_date(until):
        yield Fault(f"{position} has an until that is not a date, {quote_scalar(until)}.", "Write it as 2030-12-31.")
    if reason is not None and not isinstance(reason, str):
        yield Fault(f"{position} has a reason that is not text.", "Quote it.")


def _is_date(value: Any) -> bool:
    # `fromisoformat` also takes 20301231 and weeks, which the schema of editors refuses.
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True

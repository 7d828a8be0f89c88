"""docs/drift-rules.md: every rule by which desired and live values are compared, with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitsync.desired.catalog.handed_over import HANDED_OVER_FIELDS
from gitsync.desired.formats.list_pairing import KEY_FIELDS, OPEN_LISTS, ORDERED
from gitsync.planning.diff.equivalence import SPELLING_RULES
from gitsync.planning.diff.rules.own_entries import OWN_ENTRIES
from gitsync.planning.diff.rules.quantities import MIXED_RULES
from gitsync.planning.diff.rules.single_types import TYPE_RULES
from gitsync.planning.diff.rules.words import CHOICES

PAGE = "docs/drift-rules.md"

TEXT = """# Drift rules

Azure returns many values in another spelling than it was sent. gitsync compares them by these rules, and a report names
the rule of each difference. [Drift](drift.md) explains when they apply. "Recorded" means: seen in recorded responses.

## Rules for any type

| compared as | because |
|---|---|
{any_type}

Enumerations and secrets are recognized by the schema of the type, or of its newest version in the catalog. A type
without a kind has the schema of ARM at its api-version. A value that this schema calls read-only is unverified
without a baseline; with one, it is compared only if Azure took it from git. A value that the schema calls write-only
or sensitive is unverified too, and so is an empty text for which Azure has a value: services use it for their default.
All other rules also apply to types that are not in the catalog. A choice is a field whose name ends with one of these
words:
{choices}.

## Rules for one type

`*` stands for any member or entry.

| compared as | type | field | because |
|---|---|---|---|
{one_type}

## Lists

gitsync pairs the entries of a list by their key: the first of these fields that all entries of both sides have, with
distinct values. {keys}.

A name that is a region's, such as 'West US', is a key in any spelling. Without a key, their position counts; in an
`AzureResource` with a baseline, entries are first paired with equal ones. Plain values may be in any order, except in
{ordered}.

These lists also hold resources of their own kind, and only the entries that git sets are compared: {open_lists}.

### Entries that Azure adds itself

Without a baseline they are `unverified` and no drift. With a baseline, an entry that comes later is drift.

| type | list | because |
|---|---|---|
{own_entries}

## Fields that Azure takes over

[Drift](drift.md#what-a-manifest-hands-over-to-azure) describes how these fields are compared and written.

| handed over by | type | field | because |
|---|---|---|---|
{handed_over}
"""


def build_rules_page() -> Mapping[str, str]:
    """The page, by its path."""
    one_type = [(row.rule.name, _code(row.types.pattern), _path(row.path), row.rule.evidence) for row in TYPE_RULES]
    handed_over = [(row.by, _code(row.types.pattern), _path(row.path), row.evidence) for row in HANDED_OVER_FIELDS]
    text = TEXT.format(
        any_type=_rows((rule.name, rule.evidence) for rule in (*SPELLING_RULES, *MIXED_RULES)),
        one_type=_rows(one_type),
        handed_over=_rows(handed_over),
        own_entries=_rows((_code(row.arm_type), _path(row.path), row.evidence) for row in OWN_ENTRIES),
        choices=_names(CHOICES),
        keys=_names(KEY_FIELDS),
        ordered=_names(sorted(ORDERED)),
        open_lists=_names(sorted(OPEN_LISTS)),
    )
    return {PAGE: text}


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _path(path: Iterable[str | int]) -> str:
    return _code("/".join(map(str, path)))


def _code(text: str) -> str:
    """Code in a cell of a table, where a bar would end the cell."""
    return f"`{text}`".replace("|", "\\|")


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(_code, names))

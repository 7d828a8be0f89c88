"""Compare git with Azure at first sight: without what a record remembers.

Every comparison begins with this one. It is all there is at an adoption and at a new api-version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.list_pairing import (
    ATOMIC_MAPPINGS,
    OPEN_LISTS,
    TAGS,
    find_key_field,
    find_member,
    index_by_key,
    is_ordered,
    is_plain,
)
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Difference
from gitsync.planning.diff.equivalence import compare_values
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.masks import is_secret
from gitsync.planning.diff.rules.own_entries import is_own_entry
from gitsync.planning.diff.rules.rule import RuleOutcome
from gitsync.planning.diff.rules.words import FREE

RULE: Final = "differs from git"
ABSENT: Final = "set in git, absent in Azure"
FURTHER: Final = "not set in git"


@dataclass(frozen=True, slots=True)
class Unverified:
    """A path that cannot be compared: Azure does not return it, or sets it regardless of the request."""

    path: JsonPath


FirstSightDifferences = Iterator[Difference | Unverified]


def compare_first_sight(desired: Any, live: Any, hints: Hints, path: JsonPath = ()) -> FirstSightDifferences:
    """Yield the leaves of `desired` that differ in Azure, and those that Azure does not return."""
    # Azure hides secrets or returns a mask, so only the digest of the last write can show a change.
    if isinstance(desired, Secret):
        yield Unverified(path)
    elif live is None:
        yield from _compare_absent(desired, path)
    elif isinstance(desired, dict) and isinstance(live, dict):
        inside = path[-1] if path else ""
        for key, value in desired.items():
            yield from compare_first_sight(value, find_member(live, key, inside), hints, (*path, key))
        if path and path[-1] in ATOMIC_MAPPINGS:
            further = {key: value for key, value in live.items() if key not in desired}
            yield from (
                Difference(format_pointer((*path, key)), None, value, FURTHER) for key, value in further.items()
            )
    elif isinstance(desired, list) and isinstance(live, list):
        yield from _compare_lists(desired, live, hints, path)
    else:
        yield from _compare_leaf(desired, live, hints, path)


def format_value(value: Any) -> Any:
    """Return a value as a report may show it. The placeholder of a public value shows where the value comes from."""
    if isinstance(value, Secret):
        return str(value)
    if isinstance(value, dict):
        return {key: format_value(child) for key, child in value.items()}
    if isinstance(value, list):
        return [format_value(child) for child in value]
    return value


def name_rule(rule: str) -> str:
    """Name the rule that two leaves were compared by, as a difference shows it; "" for none."""
    return f"{RULE}, compared as {rule}" if rule else RULE


def is_equal(path: JsonPath, desired: Any, live: Any, hints: Hints) -> bool:
    """Return whether Azure has a value already: nothing differs, and nothing is unverified."""
    return next(compare_first_sight(desired, live, hints, path), None) is None


def _compare_leaf(desired: Any, live: Any, hints: Hints, path: JsonPath) -> FirstSightDifferences:
    outcome, rule = compare_values(path, desired, live, hints)
    if outcome is RuleOutcome.UNTOLD:
        yield Unverified(path)
    elif outcome is RuleOutcome.OTHER:
        hidden = is_secret(path, hints)
        yield Difference(
            format_pointer(path),
            MASKED if hidden else format_value(desired),
            MASKED if hidden else live,
            name_rule(rule),
        )


def _compare_absent(desired: Any, path: JsonPath) -> FirstSightDifferences:
    """Compare a leaf that Azure did not return. It always returns tags, ids as keys and complete mappings, but not all
    other leaves.
    """
    # An empty value and an absent one request the same.
    if desired == [] or (desired == {} and path[-1] in ATOMIC_MAPPINGS):
        return
    if path[0] == TAGS or str(path[-1]).startswith("/") or not ATOMIC_MAPPINGS.isdisjoint(path):
        yield Difference(format_pointer(path), format_value(desired), None, ABSENT)
    else:
        yield Unverified(path)


def _compare_lists(desired: list[Any], live: list[Any], hints: Hints, path: JsonPath) -> FirstSightDifferences:
    # Azure may keep the list in another order, so any of its values may be the secret.
    if any(isinstance(entry, Secret) for entry in desired):
        yield Unverified(path)
    elif is_plain(desired, live):
        yield from _compare_plain(desired, live, hints, path)
    elif desired and not is_ordered(path) and (field := find_key_field(desired, live)):
        yield from _compare_by_key(desired, live, field, hints, path)
    else:
        yield from _compare_by_index(desired, live, hints, path)


def _compare_plain(desired: list[Any], live: list[Any], hints: Hints, path: JsonPath) -> FirstSightDifferences:
    own = _list_own_entries(desired, live, hints, path)
    if _has_same_entries(desired, [entry for index, entry in enumerate(live) if index not in own], hints, path):
        yield from (Unverified((*path, index)) for index in own)
    else:
        yield Difference(format_pointer(path), format_value(desired), live, RULE)


def _list_own_entries(desired: list[Any], live: list[Any], hints: Hints, path: JsonPath) -> list[int]:
    """The indexes of the entries that Azure added: git has no equal one."""
    return [
        index
        for index, entry in enumerate(live)
        if is_own_entry(path, entry, hints)
        and not any(is_equal((*path, index), desired_entry, entry, hints) for desired_entry in desired)
    ]


def _compare_by_index(desired: list[Any], live: list[Any], hints: Hints, path: JsonPath) -> FirstSightDifferences:
    # With equal lengths each entry has its counterpart, and one that looks like Azure's own may be git's.
    own = _list_own_entries(desired, live, hints, path) if len(desired) != len(live) else []
    comparable = [entry for index, entry in enumerate(live) if index not in own]
    if len(desired) != len(comparable):
        yield Difference(format_pointer(path), format_value(desired), live, RULE)
        return
    yield from (Unverified((*path, index)) for index in own)
    for index, (desired_entry, live_entry) in enumerate(zip(desired, comparable, strict=True)):
        yield from compare_first_sight(desired_entry, live_entry, hints, (*path, index))


def _compare_by_key(
    desired: list[Any], live: list[Any], field: str, hints: Hints, path: JsonPath
) -> FirstSightDifferences:
    desired_by_key, live_by_key = index_by_key(desired, field), index_by_key(live, field)
    # Names pair entries without case, as ARM does; in people's own text, such as variables of an app, case counts.
    exact = field != "name" or bool(FREE & {str(step).casefold() for step in path})
    for key, (index, entry) in desired_by_key.items():
        if key in live_by_key:
            desired_entry = entry if exact else {name: value for name, value in entry.items() if name != field}
            yield from compare_first_sight(desired_entry, live_by_key[key][1], hints, (*path, index))
        elif entry.get("toBeDetached") is not True:  # a data disk that git wants detached
            yield Difference(format_pointer((*path, index)), format_value(entry), None, ABSENT)
    # Further entries of an open list are resources that others may declare.
    if path[-1] not in OPEN_LISTS:
        further = {index: entry for key, (index, entry) in live_by_key.items() if key not in desired_by_key}
        yield from _report_further(further, hints, path)


def _report_further(entries: Mapping[int, Any], hints: Hints, path: JsonPath) -> FirstSightDifferences:
    for index, entry in entries.items():
        if is_own_entry(path, entry, hints):
            yield Unverified((*path, index))
        else:
            yield Difference(format_pointer((*path, index)), None, entry, FURTHER)


def _has_same_entries(desired: list[Any], live: list[Any], hints: Hints, path: JsonPath) -> bool:
    """Equal in order, or as sets with repeats. An empty text does not count: PostgreSQL and SQL answer [] with [""]
    (Azure/azure-rest-api-specs#11290).
    """
    desired_entries, remaining = _remove_empty(desired), _remove_empty(live)
    if len(desired_entries) != len(remaining):
        return False
    if is_ordered(path):
        return all(_is_same(path, *pair, hints) for pair in zip(desired_entries, remaining, strict=True))
    for entry in desired_entries:
        match = next((i for i, live_entry in enumerate(remaining) if _is_same(path, entry, live_entry, hints)), None)
        if match is None:
            return False
        del remaining[match]
    return True


def _remove_empty(entries: list[Any]) -> list[Any]:
    return [entry for entry in entries if entry not in ("", None)]


def _is_same(path: JsonPath, desired: Any, live: Any, hints: Hints) -> bool:
    return compare_values((*path, 0), desired, live, hints)[0] is RuleOutcome.SAME  # the facts are those of any entry

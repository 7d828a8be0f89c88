"""Changes outside of git's fields that no one made: they are compared, and not reported.

A change that weakens the estate is never one of them, unless both values are spellings of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.packed_tables import find_azure_values
from gitsync.desired.formats.json_members import find_in_any_case, is_number, read_text
from gitsync.desired.formats.json_pointer import JsonPath, generalize
from gitsync.desired.formats.leaf_changes import LeafChange
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.planning.diff.equivalence import compare_values
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.rule import RuleOutcome
from gitsync.planning.outside.azure_moves import is_moved_by_azure

_OF_SKU_NAME: Final = frozenset({("sku", "tier"), ("sku", "size"), ("sku", "family")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Decides which changes of a resource are not reported."""

    hints: Hints
    live: Mapping[str, Any]  # what Azure shows now, spelled as ARM's type has it
    covers: Sequence[Mapping[str, Any]]  # the bodies that git sets and last sent
    told: Mapping[str, str]  # what other manifests set for the resource (`catalog.handed_over`)

    def is_spelling(self, change: LeafChange) -> bool:
        """Return whether both values are spellings of one, as rules of comparisons have it."""
        path, before, now = change
        if any(side is None or isinstance(side, Mapping | list) for side in (before, now)):
            return False
        return compare_values(path, before, now, self.hints)[0] is RuleOutcome.SAME

    def is_silent(self, change: LeafChange) -> bool:
        """Return whether a change that does not weaken the estate is Azure's own: its services move the value, or a
        default appears or goes. A service that is updated shows members that it had not, at the same api-version.
        """
        path, before, now = change
        if before is None or now is None:
            value = now if before is None else before
            if find_azure_values(self.hints.arm_type).is_own(generalize(path), value):
                return True
        return self._is_derived(path) or is_moved_by_azure(self.hints.arm_type, change, self.live, self.told)

    def _is_derived(self, path: JsonPath) -> bool:
        """Return whether Azure derives a value from one that git sets, which is compared: recorded, the tier of a SKU
        changes with its name.
        """
        return path in _OF_SKU_NAME and any(read_text(find_in_any_case(cover, "sku"), "name") for cover in self.covers)


def _is_nothing(value: Any) -> bool:
    """Return whether a value is what an absent one means nearly always: False, or 0."""
    return value is False or (is_number(value) and value == 0)


def drop_unknown(changes: Iterable[LeafChange], live: Mapping[str, Any]) -> Iterator[LeafChange]:
    """Yield the changes that an entry of a list shows. What it lacks is unknown; and where it lacks a value that was
    recorded, the other values of that object may stand for unknown ones: recorded, a list of PostgreSQL servers has
    a storage of 0 GB, and nothing else in `storage`. Tags are complete, and so is a list that the entry, `live`, shows.
    """
    found: Sequence[LeafChange] = list(changes)
    partly_shown = {path[:-1] for path, _, now in found if now is None}
    for path, before, now in found:
        is_complete = path[0] == TAGS or isinstance(path[-1], int) or _shows_list(live, path)
        is_stand_in = path[:-1] in partly_shown and (now == "" or _is_nothing(now))
        if is_complete or (now is not None and not is_stand_in):
            yield path, before, now


def _shows_list(body: Any, path: JsonPath) -> bool:
    """Return whether a body has a list at a path, which may be empty."""
    for step in path:
        if isinstance(body, list):
            body = body[step] if isinstance(step, int) and step < len(body) else None
        else:
            body = body.get(step) if isinstance(body, Mapping) else None
    return isinstance(body, list)

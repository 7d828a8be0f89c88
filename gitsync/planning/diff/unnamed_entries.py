"""Pairs the entries of lists that nothing names with those of the baseline, by their values: Azure may return them in
another order, and an index would then pair an entry with another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.list_pairing import find_key_field, find_member, index_by_key, is_ordered, is_plain
from gitsync.planning.diff.projection import project

_NONE: Final = (0, None)
"""No entry, as an index of entries has them."""


def sort_as_before(live: Any, applied: Any, baseline: Any, path: JsonPath = ()) -> Any:
    """Return a live body with the entries of such lists in the order of the baseline: first those that did not change,
    then the others in the remaining positions. Lists whose length changed stay as they are.
    """
    if isinstance(live, Mapping) and isinstance(applied, Mapping) and isinstance(baseline, Mapping):
        inside = path[-1] if path else ""
        return {
            key: sort_as_before(
                value, find_member(applied, key, inside), find_member(baseline, key, inside), (*path, key)
            )
            for key, value in live.items()
        }
    lists = (live, applied, baseline)
    if not all(isinstance(value, list) and value for value in lists) or is_plain(*lists) or is_ordered(path):
        return live
    if field := find_key_field(*lists):
        sent, before = index_by_key(applied, field), index_by_key(baseline, field)
        return [
            sort_as_before(entry, sent.get(key, _NONE)[1], before.get(key, _NONE)[1], (*path, index))
            for key, (index, entry) in index_by_key(live, field).items()
        ]
    # With another length no pairing is certain, and the list is a difference anyway.
    return _sort_unnamed(live, applied, baseline) if len(live) == len(baseline) else live


def _sort_unnamed(live: list[Any], applied: list[Any], baseline: list[Any]) -> list[Any]:
    remaining, positions = list(live), dict.fromkeys(range(len(baseline)))
    for position, before in enumerate(baseline):
        # Azure may have more entries than were sent. The last one sent then shows which leaves a baseline keeps.
        shape = applied[min(position, len(applied) - 1)]
        same = next((i for i, entry in enumerate(remaining) if project(shape, entry) == before), None)
        if same is not None:
            positions[position] = remaining.pop(same)
    changed = iter(remaining)
    return [next(changed) if entry is None else entry for entry in positions.values()]

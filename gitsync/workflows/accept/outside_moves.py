"""What changed in Azure beside git's fields, as the values that git would have to set.

A list that git does not set is taken as a whole: git cannot set one entry of it and leave the others to Azure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gitsync.desired.formats.json_members import find_in_any_case
from gitsync.desired.formats.json_pointer import JsonPath, parse_pointer
from gitsync.desired.formats.list_pairing import find_key, find_key_field, find_member, index_by_key
from gitsync.model.outside import OutsideChange
from gitsync.model.result import Result
from gitsync.model.secret import MASKED
from gitsync.planning.outside.outside_values import is_empty


class OutsideMove(NamedTuple):
    """A value that git does not set."""

    path: JsonPath  # in the body that git sends: indexes are those of its lists
    live: Any  # what Azure shows; None for nothing
    weakens: str  # a sentence on how it makes the estate weaker; "" if it does not
    is_hidden: bool  # a secret, or too long for the record, which has a digest of it


def list_outside(result: Result, *, is_selected: bool) -> tuple[OutsideChange, ...]:
    """List what a plan found that git could take: the outside changes; and, of a resource that a person selected, what
    its write may reset.
    """
    resets = [reset for reset in result.change.resets if reset.path] if is_selected else []
    changed = (OutsideChange(path=reset.path, before=None, now=reset.live) for reset in resets)
    return (*result.comparison.outside, *changed)


def count_unnamed(result: Result) -> int:
    """Count what the write may reset and the plan does not name."""
    return sum(reset.entries for reset in result.change.resets if not reset.path)


def collect_outside_moves(
    changes: Iterable[OutsideChange], desired: Mapping[str, Any], live: Mapping[str, Any]
) -> list[OutsideMove]:
    """Collect what git would have to set for these changes, each once. `desired` is the body that git sends."""
    moves: dict[JsonPath, OutsideMove] = {}
    for change in changes:
        path, value = _locate(parse_pointer(change.path), desired, live)
        known = moves.get(path)
        moves[path] = OutsideMove(
            path=path,
            live=None if is_empty(value, ("", *path[:-1])[-1]) else value,
            weakens=known.weakens if known and known.weakens else change.weakens,
            is_hidden=_has_masked(change.now) or (known is not None and known.is_hidden),
        )
    return list(moves.values())


def _locate(path: JsonPath, desired: Any, live: Any) -> tuple[JsonPath, Any]:
    """Find a path of the live body in the one that git sends, and the value that Azure shows there."""
    at: JsonPath = ()
    for step in path:
        inside = at[-1] if at else ""
        if isinstance(step, int):
            index = _find_index(desired, live, step)
            if index is None:  # git does not set this list, or not this entry
                return at, live
            desired, live, at = desired[index], live[step], (*at, index)
        else:
            desired, live = (_find(side, step, inside) for side in (desired, live))
            at = (*at, step)
    return at, live


def _find(side: Any, step: str, inside: str | int) -> Any:
    if not isinstance(side, Mapping):
        return None
    found = find_member(side, step, inside)
    return find_in_any_case(side, step) if found is None else found


def _find_index(desired: Any, live: Any, index: int) -> int | None:
    """Find the index of an entry of a live list in the list that git sends; None if that does not have it."""
    if not (isinstance(desired, list) and isinstance(live, list) and index < len(live)):
        return None
    field = find_key_field(desired, live)
    if field is None:
        # Entries without a key are paired by index, which shifts with one that was added or removed.
        return index if len(desired) == len(live) else None
    key = find_key(live[index], field)
    return index_by_key(desired, field).get(key or "", (None, None))[0]


def _has_masked(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_masked, value.values()))
    return any(map(_has_masked, value)) if isinstance(value, list) else bool(value == MASKED)

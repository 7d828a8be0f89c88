"""Puts Azure's values into the fields that a manifest hands over: they are not drift, and no write resets them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.catalog.handed_over import FieldPair, HandedOver, select_rows
from gitsync.desired.formats.ignored_paths import Steps
from gitsync.desired.formats.json_pointer import ANY, JsonPath, format_pointer
from gitsync.desired.formats.list_pairing import find_key, find_key_field, index_by_key
from gitsync.model.verdict import Comparison

HANDED_OVER: Final = "handed over to Azure"
"""How the reason of each such field begins."""


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Taken:
    """A body with Azure's values where they are handed over."""

    body: Mapping[str, Any]
    paths: tuple[Steps, ...] = ()  # of these values, in the steps of `formats.ignored_paths`
    because: Mapping[str, str] = field(default_factory=dict)
    """The reason, by JSON pointer, why one that differs from git is not compared."""


def take_live_values(
    body: Mapping[str, Any], live: Mapping[str, Any], arm_type: str, told: Iterable[tuple[str, str]] = ()
) -> Taken:
    """Put Azure's values into the fields of a body that are handed over."""
    said = dict(told)
    rows = select_rows(arm_type, tuple(said))
    if not rows:
        return Taken(body)
    paths, because = [], {}
    for row in rows:
        for pair in _list_pairs(row, body, live, said):
            if not row.applies(pair):
                continue
            value = row.choose(pair)
            # Azure's value is not compared, so the record must not keep it as git's.
            if value == pair.live:
                paths.append(_make_steps(pair.path, body))
            # Only a field that differs is worth a note in the report.
            if value == pair.live != pair.git:
                because[format_pointer(pair.path)] = f"{HANDED_OVER} by {row.by}, which has {pair.live}"
            body = put_value(body, pair.path, value) if value != pair.git else body
    return Taken(body, tuple(paths), because)


def add_handed_over(comparison: Comparison, because: Mapping[str, str]) -> Comparison:
    """Add to a comparison the fields that were not compared since they are handed over."""
    if not because:
        return comparison
    unverified = tuple(sorted({*comparison.unverified, *because}))
    return replace(comparison, unverified=unverified, because={**comparison.because, **because})


def is_handed_over(reason: str) -> bool:
    """Return whether a field was not compared because it is handed over."""
    return reason.startswith(HANDED_OVER)


def _list_pairs(
    row: HandedOver, body: Mapping[str, Any], live: Mapping[str, Any], told: Mapping[str, str]
) -> Iterator[FieldPair]:
    for path, live_path in _walk(row.path, body, live):
        pair = FieldPair(body, path, live, live_path, told)
        if row.fits(pair):
            yield pair


def _walk(
    pattern: JsonPath, body: Any, live: Any, path: JsonPath = (), live_path: JsonPath = ()
) -> Iterator[tuple[JsonPath, JsonPath]]:
    """Yield the paths in both bodies that a pattern leads to. Entries of lists are paired by their key."""
    if not pattern:
        yield path, live_path
        return
    step, *rest = pattern
    for ours, theirs in _match(step, body, live):
        inner, live_inner = body[ours], live[theirs]
        yield from _walk(tuple(rest), inner, live_inner, (*path, ours), (*live_path, theirs))


def _match(step: str | int, body: Any, live: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the keys or indexes of a step that both sides have."""
    if isinstance(body, Mapping) and isinstance(live, Mapping):
        yield from ((key, key) for key in (body if step == ANY else (step,)) if key in body and key in live)
    elif step == ANY and isinstance(body, list) and isinstance(live, list) and (key := find_key_field(body, live)):
        theirs = index_by_key(live, key)
        for name, (index, _) in index_by_key(body, key).items():
            if name in theirs:
                yield index, theirs[name][0]


def put_value(value: Any, path: JsonPath, new: Any) -> Any:
    """Return a copy with another value at a path that is there."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, list):
        return [put_value(entry, tuple(rest), new) if index == step else entry for index, entry in enumerate(value)]
    return {**value, step: put_value(value[step], tuple(rest), new)}


def _make_steps(path: JsonPath, body: Any) -> Steps:
    """Name a path independently of the order of lists."""
    steps = []
    for step in path:
        if isinstance(step, int):
            key = find_key_field(body)
            steps.append(f"[{key}={find_key(body[step], key)}]" if key else ANY)
        else:
            steps.append(step)
        body = body[step]
    return tuple(steps)

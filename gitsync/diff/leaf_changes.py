"""Where two versions of one document differ, leaf by leaf: exact, but for the order of what has a key, or is plain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.diff.list_pairing import find_key, find_key_field, find_member, index_by_key, is_ordered, is_plain
from gitsync.formats.json_pointer import JsonPath

LeafChange = tuple[JsonPath, Any, Any]
"""A path and what each side has there; None where a side has nothing."""


def find_changes(left: Any, right: Any, path: JsonPath = ()) -> Iterator[LeafChange]:
    """Yield every leaf that differs, in the order of the left side. Null and absent are the same.

    A list whose entries have no key and whose length changed is one leaf. Indexes in a path are the left side's, or
    the right's for an entry that only it has.
    """
    if isinstance(left, dict) and (right is None or isinstance(right, dict)):
        yield from _mappings(left, right or {}, path)
    elif left is None and isinstance(right, dict):
        yield from _mappings({}, right, path)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _lists(left, right, path)
    elif left != right or isinstance(left, bool) is not isinstance(right, bool):
        yield path, left, right


def find(document: Any, path: JsonPath, reference: Any) -> Any:
    """Return what a document has at a path whose indexes count in `reference`; None where it has nothing."""
    for step in path:
        if isinstance(step, int):
            document = _counterpart(document, step, reference)
        else:
            document = find_member(document, step) if isinstance(document, Mapping) else None
        reference = _step(reference, step)
    return document


def _mappings(left: Mapping[str, Any], right: Mapping[str, Any], path: JsonPath) -> Iterator[LeafChange]:
    for key, value in left.items():
        other = find_member(right, key)
        if value == {} and other is None:  # an ARM id that belongs or does not
            yield (*path, key), value, None
        else:
            yield from find_changes(value, other, (*path, key))
    for key, value in right.items():
        if find_member(left, key) is None and value is not None:
            yield from [((*path, key), None, value)] if value == {} else find_changes(None, value, (*path, key))


def _lists(left: list[Any], right: list[Any], path: JsonPath) -> Iterator[LeafChange]:
    if is_plain(left, right) or is_ordered(path):
        if not _same_entries(left, right, ordered=is_ordered(path)):
            yield path, left, right
    elif field := find_key_field(left, right):
        yield from _keyed(index_by_key(left, field), index_by_key(right, field), path)
    elif len(left) != len(right):
        yield path, left, right
    else:
        for index, (mine, theirs) in enumerate(zip(left, right, strict=True)):
            yield from find_changes(mine, theirs, (*path, index))


def _same_entries(left: list[Any], right: list[Any], *, ordered: bool) -> bool:
    """Exactly the same: as a list where the order counts, else as a set with repeats."""
    spelled = [[json.dumps(entry, sort_keys=True) for entry in entries] for entries in (left, right)]
    return spelled[0] == spelled[1] if ordered else sorted(spelled[0]) == sorted(spelled[1])


def _keyed(left: dict[str, tuple[int, Any]], right: dict[str, tuple[int, Any]], path: JsonPath) -> Iterator[LeafChange]:
    for key, (index, entry) in left.items():
        if key in right:
            yield from find_changes(entry, right[key][1], (*path, index))
        else:
            yield (*path, index), entry, None
    for key, (index, entry) in right.items():
        if key not in left:
            yield (*path, index), None, entry


def _counterpart(document: Any, index: int, reference: Any) -> Any:
    if not isinstance(document, list) or not isinstance(reference, list) or index >= len(reference):
        return None
    field = find_key_field(document, reference)
    if field is None:
        return document[index] if index < len(document) else None
    key = find_key(reference[index], field)
    return index_by_key(document, field).get(key, (0, None))[1] if key else None


def _step(reference: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return find_member(reference, step) if isinstance(reference, Mapping) else None
    return reference[step] if isinstance(reference, list) and step < len(reference) else None

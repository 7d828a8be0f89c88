"""The differences of two versions of a document, leaf by leaf: exact, except for the order of most lists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.list_pairing import (
    find_key,
    find_key_field,
    find_member,
    index_by_key,
    is_ordered,
    is_plain,
)

LeafChange = tuple[JsonPath, Any, Any]
"""A path and the value of each side; None if a side has none."""


def compute_changes(left: Any, right: Any, path: JsonPath = ()) -> Iterator[LeafChange]:
    """Yield every leaf that differs, in the order of the left side. Null and absent are the same.

    A list whose entries have no key and whose length changed is one leaf. Indexes in a path are the left side's, or the
    right's for an entry that only it has.
    """
    if isinstance(left, dict) and (right is None or isinstance(right, dict)):
        yield from _compare_mappings(left, right or {}, path)
    elif left is None and isinstance(right, dict):
        yield from _compare_mappings({}, right, path)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _compare_lists(left, right, path)
    # In Python, True equals 1.
    elif left != right or isinstance(left, bool) is not isinstance(right, bool):
        yield path, left, right


def is_same(left: Any, right: Any) -> bool:
    """Return whether two documents are exactly the same, in the order of lists and the types of numbers too. A null is
    not the same as a null: it has no value to compare.
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(is_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    return left is not None and bool(left == right)


def find(document: Any, path: JsonPath, reference: Any, inside: str | int = "") -> Any:
    """Return the value of a document at a path whose indexes are those of `reference`; None if it has none. `inside` is
    the step that led to the document.
    """
    for step in path:
        if isinstance(step, int):
            document = _find_counterpart(document, step, reference)
            reference = reference[step] if isinstance(reference, list) and step < len(reference) else None
        else:
            document = find_member(document, step, inside) if isinstance(document, Mapping) else None
            reference = find_member(reference, step, inside) if isinstance(reference, Mapping) else None
        inside = step
    return document


def find_removed(document: Any, path: JsonPath, left: Any, right: Any) -> Any:
    """Return the value of a document at the path of a change that only `right` has. The last step of such a path may be
    an index of `right`; all others are those of `left`.
    """
    parent, last = path[:-1], path[-1:]
    return find(find(document, parent, left), last, find(right, parent, left), parent[-1] if parent else "")


def _compare_mappings(left: Mapping[str, Any], right: Mapping[str, Any], path: JsonPath) -> Iterator[LeafChange]:
    inside = path[-1] if path else ""
    for key, value in left.items():
        other = find_member(right, key, inside)
        if value == {} and other is None:  # an ARM id as a key
            yield (*path, key), value, None
        else:
            yield from compute_changes(value, other, (*path, key))
    for key, value in right.items():
        if find_member(left, key, inside) is None and value is not None:
            yield from [((*path, key), None, value)] if value == {} else compute_changes(None, value, (*path, key))


def _compare_lists(left: list[Any], right: list[Any], path: JsonPath) -> Iterator[LeafChange]:
    if is_plain(left, right) or is_ordered(path):
        # As JSON, since 1 and true are equal in Python.
        left_texts, right_texts = (
            [json.dumps(entry, sort_keys=True) for entry in entries] for entries in (left, right)
        )
        # Where the order does not count, they are sets with repeats.
        if left_texts != right_texts if is_ordered(path) else sorted(left_texts) != sorted(right_texts):
            yield path, left, right
    elif field := find_key_field(left, right):
        yield from _compare_by_key(index_by_key(left, field), index_by_key(right, field), path)
    elif len(left) != len(right):
        yield path, left, right
    else:
        for index, (left_entry, right_entry) in enumerate(zip(left, right, strict=True)):
            yield from compute_changes(left_entry, right_entry, (*path, index))


def _compare_by_key(
    left: dict[str, tuple[int, Any]], right: dict[str, tuple[int, Any]], path: JsonPath
) -> Iterator[LeafChange]:
    for key, (index, entry) in left.items():
        if key in right:
            yield from compute_changes(entry, right[key][1], (*path, index))
        else:
            yield (*path, index), entry, None
    for key, (index, entry) in right.items():
        if key not in left:
            yield (*path, index), None, entry


def _find_counterpart(document: Any, index: int, reference: Any) -> Any:
    if not isinstance(document, list) or not isinstance(reference, list) or index >= len(reference):
        return None
    field = find_key_field(document, reference)
    if field is None:
        return document[index] if index < len(document) else None
    key = find_key(reference[index], field)
    return index_by_key(document, field).get(key, (0, None))[1] if key else None

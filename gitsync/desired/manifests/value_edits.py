"""Applies edits to the values of a document, and lists the changes of its text that they need.

The edited text is read again and compared with these values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from gitsync.desired.manifests.yaml_splices import TextChange, UnspliceableError, has_template
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.model.edit import REMOVED, Edit, Removed

DocumentEdits = Sequence[Edit] | Literal[Removed.REMOVED]
"""The edits of one document; REMOVED to remove it."""


def apply_edits(value: Any, edits: DocumentEdits) -> Any:
    """Return a value with its edits, or REMOVED."""
    if edits is REMOVED:
        return REMOVED
    for edit in order_edits(edits):
        value = _put(value, edit.path, edit.value)
    return value


def order_edits(edits: DocumentEdits) -> list[Edit]:
    """Put removals last, later items first, so that each path stays valid."""
    if edits is REMOVED:
        return []
    removals = [edit for edit in edits if edit.value is REMOVED]
    removals.sort(key=lambda edit: [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in edit.path])
    return [*(edit for edit in edits if edit.value is not REMOVED), *reversed(removals)]


def _put(value: Any, path: FieldPath, new: Any) -> Any:
    """Return a copy of a value with a new one at a path, or without that path."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if not _has(value, step) and new is REMOVED:
        return value
    part = _put(value[step] if _has(value, step) else None, rest, new)
    if isinstance(step, int):
        items = list(value or ())
        return [*items[:step], *([] if part is REMOVED else [part]), *items[step + 1 :]]
    members = {**(value or {}), step: part}
    if part is REMOVED:
        del members[step]
    return members


def _has(value: Any, step: str | int) -> bool:
    return 0 <= step < len(value or ()) if isinstance(step, int) else step in (value or {})


def is_same(first: Any, other: Any) -> bool:
    """Compare two values as JSON: true is not 1."""
    if isinstance(first, dict) and isinstance(other, dict):
        return first.keys() == other.keys() and all(is_same(first[key], other[key]) for key in first)
    if isinstance(first, list) and isinstance(other, list):
        return len(first) == len(other) and all(map(is_same, first, other))
    # A NaN does not equal itself, so an unchanged one would count as a change.
    if isinstance(first, float) and isinstance(other, float) and math.isnan(first):
        return math.isnan(other)
    return bool(first == other) and isinstance(first, bool) == isinstance(other, bool)


def list_changes(value: Any, edits: Sequence[Edit]) -> list[TextChange]:
    """List the changes of a document's text, in order. The path of each is valid after the previous changes. Raises
    UnspliceableError for an edit whose parent in the document has another type.
    """
    changes: list[TextChange] = []
    for edit in order_edits(edits):
        _check_edit(value, edit)
        changes += _list_changes(value, edit)
        value = _put(value, edit.path, edit.value)
    return changes


def _check_edit(value: Any, edit: Edit) -> None:
    """Refuse an edit whose parent has another type, or a value that other tools would read differently."""
    for depth, step in enumerate(edit.path):
        path = edit.path[:depth]
        if value is None:
            break
        if not isinstance(value, list if isinstance(step, int) else dict):
            form = "list" if isinstance(step, int) else "mapping"
            raise UnspliceableError(f"{format_field(path) or 'The document'} is not a {form}.", path)
        if isinstance(step, int) and step > len(value) and edit.value is not REMOVED:
            raise UnspliceableError(f"{format_field(path)} has only {len(value)} items.", path)
        value = find_member(value, step)
    # The text is edited as it is, and a later run would replace the variable in Azure's own value.
    if any(map(has_template, _list_texts(edit.value))):
        reason = "The new value contains ${ or {{, which Flux, Helm or gitsync may read as a variable."
        raise UnspliceableError(reason, edit.path)


def _list_texts(value: Any) -> Iterator[str]:
    """List all texts in a value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from _list_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _list_texts(part)


def _list_changes(value: Any, edit: Edit) -> Iterator[TextChange]:
    """List the changes of an edit: only differences are written, and missing parents are added."""
    for depth, step in enumerate(edit.path):
        if not _has(value, step):
            if edit.value is not REMOVED:
                yield TextChange("add", edit.path[: depth + 1], _put(None, edit.path[depth + 1 :], edit.value))
            return
        value = value[step]
    if edit.value is REMOVED:
        yield TextChange("remove", edit.path)
    else:
        yield from _compare(value, edit.value, edit.path)


def _compare(old: Any, new: Any, path: FieldPath) -> Iterator[TextChange]:
    if is_same(old, new):
        return
    # Without members a mapping is `{}` in the text, where no line can be added or removed.
    if isinstance(old, dict) and isinstance(new, dict) and old and new:
        for key in new:
            if key in old:
                yield from _compare(old[key], new[key], (*path, key))
        yield from (TextChange("add", (*path, key), new[key]) for key in new if key not in old)
        yield from (TextChange("remove", (*path, key)) for key in old if key not in new)
    elif isinstance(old, list) and isinstance(new, list) and old and new:
        yield from _compare_lists(old, new, path)
    else:
        yield TextChange("set", path, new)


def _compare_lists(old: list[Any], new: list[Any], path: FieldPath) -> Iterator[TextChange]:
    """List the changes from the last item to the first, so that each index stays valid."""
    texts, new_texts = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    # The heuristic for long lists ignores frequent items, and so misses that they are unchanged.
    matcher = SequenceMatcher(None, texts, new_texts, autojunk=False)
    for _, start, end, new_start, new_end in reversed(matcher.get_opcodes()):
        both = min(end - start, new_end - new_start)
        for index in reversed(range(new_start + both, new_end)):
            yield TextChange("add", (*path, start + both), new[index])
        for index in reversed(range(start + both, end)):
            yield TextChange("remove", (*path, index))
        for index in reversed(range(both)):
            yield from _compare(old[start + index], new[new_start + index], (*path, start + index))

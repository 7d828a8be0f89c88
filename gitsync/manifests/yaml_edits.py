"""Edits fields of YAML and JSON as a person does: only the text of these fields changes.

A text is spliced at the marks of its nodes and never dumped, so comments, order, quotes, anchors, indentation, line
ends and the byte order mark of all the rest stay; `yaml_splices` has the rules. Each result is read again, and has to
say what the edits make of the values, and nothing else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Literal

import yaml

from gitsync.manifests.yaml_documents import (
    SURROGATES,
    Document,
    FileDocuments,
    Unreadable,
    parse_documents,
    read_documents,
    split_documents,
)
from gitsync.manifests.yaml_marks import mark_documents
from gitsync.manifests.yaml_splices import TextChange, UnspliceableError, change_text, has_template
from gitsync.model.edit import REMOVED, Edit, Removed
from gitsync.problems.field_path import FieldPath, find_member, format_field

_BOM = "\ufeff"
_SURROGATES = re.compile(SURROGATES.pattern.decode())

_NO_TEXT = "No text here says just this."

DocumentEdits = Sequence[Edit] | Literal[Removed.REMOVED]


class EditRefused(Exception):  # noqa: N818 - it ends one edit, and becomes the reason why drift is left alone
    """An edit that would change more than its field, or that no text can say. `reason` is a sentence, `line` from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def edit_documents(content: bytes, edits: Mapping[int, DocumentEdits]) -> bytes:
    """Edit fields of the documents of a file, or remove documents. Documents have the numbers that `read_documents`
    gives them, from 0, and paths are those before any edit. Removing what is not there changes nothing. A file that
    loses its last document is empty.

    Raises EditRefused if the text cannot be edited so that just these fields change, and nothing else.
    """
    is_json = _is_json(content)
    path = "a.json" if is_json else "a.yaml"
    before = read_documents(path, content)
    texts, number, end = [], 0, 0
    for start, chunk in [(0, content)] if is_json else [(start, chunk) for start, _, chunk in split_documents(content)]:
        count = 1 if is_json else _count_documents(chunk)
        wanted = {each - number: edits[each] for each in range(number, number + count) if each in edits}
        documents = before.documents[number : number + count]
        texts += [content[end:start], _edit_chunk(chunk, documents, wanted, content) if wanted else chunk]
        number, end = number + count, start + len(chunk)
    if missing := [each for each in sorted(edits) if each >= min(number, len(before.documents))]:
        raise EditRefused(f"The file has no document {missing[0] + 1} that can be read.", 1)
    edited = b"".join([*texts, content[end:]])
    values = [apply_edits(one.value, edits.get(index, ())) for index, one in enumerate(before.documents)]
    values = [value for value in values if value is not REMOVED]
    if REMOVED in edits.values() and all(value is None for value in values):
        return b""
    after = read_documents(path, edited)
    is_proven = _is_same([one.value for one in after.documents], values)
    if not is_proven or _count_problems(after) > _count_problems(before):
        first = min(edits)
        where = next((edit.path for edit in _order(edits[first])), ())
        raise EditRefused(_NO_TEXT, before.documents[first].lines.find_nearest(where))
    return edited


def _is_json(content: bytes) -> bool:
    text = content.removeprefix(_BOM.encode()).lstrip()
    if text[:1] not in {b"{", b"["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _count_documents(chunk: bytes) -> int:
    count = 0
    with suppress(Unreadable):
        for _ in parse_documents("a.yaml", chunk, 0):
            count += 1
    return count


def _count_problems(contents: FileDocuments) -> int:
    return len(contents.problems) + sum(len(document.problems) for document in contents.documents)


def _is_same(one: Any, other: Any) -> bool:
    """Compare two values as JSON: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


# What the edits make of values, apart from all texts: with this, the edited text is compared.


def apply_edits(value: Any, edits: DocumentEdits) -> Any:
    """Return a value with its edits, or REMOVED."""
    if edits is REMOVED:
        return REMOVED
    for edit in _order(edits):
        value = _put(value, edit.path, edit.value)
    return value


def _order(edits: DocumentEdits) -> list[Edit]:
    """Put removals last, and of those the later items first: then each path is still that of its value."""
    if edits is REMOVED:
        return []
    removals = [edit for edit in edits if edit.value is REMOVED]
    removals.sort(key=lambda edit: [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in edit.path])
    return [*(edit for edit in edits if edit.value is not REMOVED), *reversed(removals)]


def _put(value: Any, path: FieldPath, new: Any) -> Any:
    """Return another value with a new one, or without one, at a path."""
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


# What has to change in the text of one part of a file, between lines of three dashes.


def _edit_chunk(
    chunk: bytes, documents: Sequence[Document], edits: Mapping[int, DocumentEdits], content: bytes
) -> bytes:
    try:
        whole = chunk.decode()
    except UnicodeDecodeError:
        raise EditRefused("The file is not in UTF-8.", 1) from None
    text = whole.removeprefix(_BOM)
    is_json, line_end = _is_json(content), "\r\n" if b"\r\n" in content else "\n"
    for number in sorted(edits, reverse=True):  # a document that goes changes the numbers of those behind it
        document, wanted = documents[number], edits[number]
        if document.seal:
            raise EditRefused("The document is encrypted.", document.line())
        if wanted is REMOVED:
            text = _remove_document(text, number)
            continue
        value = document.value
        for edit in _order(wanted):
            try:
                text = _edit_text(text, number, value, edit, line_end, is_json=is_json)
            except UnspliceableError as error:
                raise EditRefused(error.reason, document.lines.find_nearest(error.path)) from None
            value = _put(value, edit.path, edit.value)
    return (_BOM * whole.startswith(_BOM) + text).encode()


def _edit_text(text: str, number: int, value: Any, edit: Edit, line_end: str, *, is_json: bool) -> str:
    _check_edit(value, edit)
    for change in _list_changes(value, edit):
        # What only JSON allows is hidden behind as many other characters.
        documents = mark_documents(_SURROGATES.sub(rf"\1{'x' * 12}", text) if is_json else text)
        try:
            root = next(islice(documents, number, None)).root
        except yaml.YAMLError:  # an earlier change has made a text that nothing reads
            raise UnspliceableError(_NO_TEXT, edit.path) from None
        text = change_text(text, root, change, line_end, is_json=is_json)
    return text


def _remove_document(text: str, number: int) -> str:
    starts = [document.start for document in islice(mark_documents(text), number + 2)]
    starts[0] = 0  # what stands before the first belongs to it
    return text[: starts[number]] + (text[starts[number + 1] :] if number + 1 < len(starts) else "")


def _check_edit(value: Any, edit: Edit) -> None:
    """Refuse an edit for which the document has no place, or which has a value that others would read differently."""
    for depth, step in enumerate(edit.path):
        place = edit.path[:depth]
        if value is None:
            break
        if not isinstance(value, list if isinstance(step, int) else dict):
            form = "list" if isinstance(step, int) else "mapping"
            raise UnspliceableError(f"{format_field(place) or 'The document'} is not a {form}.", place)
        if isinstance(step, int) and step > len(value) and edit.value is not REMOVED:
            raise UnspliceableError(f"{format_field(place)} has only {len(value)} items.", place)
        value = find_member(value, step)
    if any(map(has_template, _list_texts(edit.value))):
        reason = "The new value has ${ or {{ in it, which Flux, Helm or gitsync may take for a variable."
        raise UnspliceableError(reason, edit.path)


def _list_texts(value: Any) -> Iterator[str]:
    """List all texts in a value, keys too."""
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
    """List the changes of an edit: only what differs is written again, and missing parents are added."""
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
    if _is_same(old, new):
        return
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
    """List the changes from the last item to the first, so that each index is still that of its item."""
    texts, new_texts = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    matcher = SequenceMatcher(None, texts, new_texts, autojunk=False)
    for _, start, end, new_start, new_end in reversed(matcher.get_opcodes()):
        both = min(end - start, new_end - new_start)
        for index in reversed(range(new_start + both, new_end)):
            yield TextChange("add", (*path, start + both), new[index])
        for index in reversed(range(start + both, end)):
            yield TextChange("remove", (*path, index))
        for index in reversed(range(both)):
            yield from _compare(old[start + index], new[new_start + index], (*path, start + index))

"""Edits fields of YAML and JSON as a person does: only the text of these fields changes.

A text is spliced at the marks of its nodes and never dumped, so comments, order, quotes, anchors, indentation, line
ends and the byte order mark of everything else stay; `yaml_splices` has the rules. Each result is read again, and must
have exactly the edited values.

A file is read once before all edits and once after them. In between, only the edited parts are read.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

import yaml

from gitsync.desired.manifests.value_edits import DocumentEdits, apply_edits, is_same, list_changes, order_edits
from gitsync.desired.manifests.yaml_documents import (
    SURROGATES,
    Document,
    FileDocuments,
    read_documents,
    split_documents,
)
from gitsync.desired.manifests.yaml_marks import mark_documents
from gitsync.desired.manifests.yaml_splices import TextChange, UnspliceableError, change_text
from gitsync.model.edit import REMOVED

_BOM = "\ufeff"
_SURROGATES = re.compile(SURROGATES.pattern.decode())

_NO_TEXT = "The text cannot be edited without changing other values."


class EditRefused(Exception):  # noqa: N818 - it ends one edit, and is the reason why drift is not accepted
    """An edit that is not possible without changing other values. `reason` is a sentence, `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def edit_documents(content: bytes, edits: Mapping[int, DocumentEdits]) -> bytes:
    """Edit fields of the documents of a file, or remove documents (see `EditableFile.edit`)."""
    return EditableFile(content).edit(edits)


class FilePart(NamedTuple):
    """A part of a file that is parsed by itself: between lines of three dashes, or a complete JSON text."""

    start: int  # where it starts in the file, in bytes
    chunk: bytes
    first: int  # the number of its first document
    documents: Sequence[Document]

    @property
    def end(self) -> int:
        return self.start + len(self.chunk)

    def select(self, edits: Mapping[int, DocumentEdits]) -> dict[int, DocumentEdits]:
        """Select the edits of its documents."""
        return {
            number: edits[number] for number in range(self.first, self.first + len(self.documents)) if number in edits
        }


class EditableFile:
    """A file that is read once, and can be edited several times. Documents have the numbers that `read_documents` gives
    them, from 0.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.is_json = _is_json(content)
        self.line_end = "\r\n" if b"\r\n" in content else "\n"
        self.contents = self._read(content)
        self.sections = list(self._split())

    @property
    def documents(self) -> Sequence[Document]:
        return self.contents.documents

    def choose_section(self, number: int) -> int:
        """Choose the index of the section that has a document."""
        return bisect_right(self.sections, number, key=lambda section: section.first) - 1

    def edit(self, edits: Mapping[int, DocumentEdits]) -> bytes:
        """Return the content with all edits. Paths are those before any edit. Removing an absent field changes nothing.
        A file that loses its last document is empty.

        Raises EditRefused if the text cannot be edited without changing other values.
        """
        if missing := [each for each in sorted(edits) if each >= len(self.documents)]:
            raise EditRefused(f"The file has no document {missing[0] + 1} that can be read.", 1)
        parts, end = [], 0
        for section in self.sections:
            if wanted := section.select(edits):
                parts += [self.content[end : section.start], self.edit_section(section, wanted)]
                end = section.end
        edited = b"".join([*parts, self.content[end:]])
        values = _apply(self.documents, edits)
        # What remains are comments and separators: they were about the documents that are gone.
        if REMOVED in edits.values() and all(value is None for value in values):
            return b""
        self._check(edited, values, self.contents, edits)
        return edited

    def edit_section(self, section: FilePart, edits: Mapping[int, DocumentEdits]) -> bytes:
        """Return the text of one section with the edits of its documents. Raises EditRefused."""
        wanted = {number - section.first: each for number, each in edits.items()}
        edited = self._write(section, wanted)
        self._check(edited, _apply(section.documents, wanted), self._read(section.chunk), edits)
        return edited

    def _write(self, section: FilePart, edits: Mapping[int, DocumentEdits]) -> bytes:
        """Write edits into the text of a section."""
        try:
            chunk_text = section.chunk.decode()
        except UnicodeDecodeError:
            raise EditRefused("The file is not in UTF-8.", 1) from None
        text = chunk_text.removeprefix(_BOM)
        for number in sorted(edits, reverse=True):  # a removed document changes the numbers of the following ones
            document, wanted = section.documents[number], edits[number]
            # SOPS checks a document as one text, so any edit would make it unreadable.
            if document.seal:
                raise EditRefused("The document is encrypted.", document.line())
            if wanted is REMOVED:
                text = _remove_document(text, number)
                continue
            try:
                text = self._write_changes(text, number, list_changes(document.value, wanted))
            except UnspliceableError as error:
                raise EditRefused(error.reason, document.lines.find_nearest(error.path)) from None
        return (_BOM * chunk_text.startswith(_BOM) + text).encode()

    def _write_changes(self, text: str, number: int, changes: Sequence[TextChange]) -> str:
        """Write the changes of a document. Its text is parsed once for all changes that do not overlap."""
        while changes:
            # Escapes that only JSON allows are replaced by the same number of other characters.
            documents = mark_documents(_SURROGATES.sub(rf"\1{'x' * 12}", text) if self.is_json else text)
            try:
                root = next(islice(documents, number, None)).root
            except yaml.YAMLError:  # an earlier change has made the text unreadable
                raise UnspliceableError(_NO_TEXT, changes[0].path) from None
            text, changes = change_text(text, root, changes, self.line_end, is_json=self.is_json)
        return text

    def _check(
        self, edited: bytes, values: Sequence[Any], before: FileDocuments, edits: Mapping[int, DocumentEdits]
    ) -> None:
        """Raise EditRefused unless a text has exactly these values, without a new problem."""
        after = self._read(edited)
        # The text is proven, not the way to it: a wrong splice in a file that a person keeps is worse than a refusal.
        is_proven = is_same([document.value for document in after.documents], list(values))
        if not is_proven or _count_problems(after) > _count_problems(before):
            first = min(edits)
            where = next((edit.path for edit in order_edits(edits[first])), ())
            raise EditRefused(_NO_TEXT, self.documents[first].lines.find_nearest(where))

    def _read(self, content: bytes) -> FileDocuments:
        return read_documents("a.json" if self.is_json else "a.yaml", content)

    def _split(self) -> Iterator[FilePart]:
        """Split the file as `read_documents` does. Each document has the text that it was read from."""
        if self.is_json:
            yield FilePart(0, self.content, 0, self.documents)
            return
        groups = [list(group) for _, group in groupby(self.documents, lambda document: id(document.text))]
        first, pending = 0, iter(groups)
        group = next(pending, None)
        for start, _, chunk in split_documents(self.content):
            # A part that could not be read has no documents, and takes no number.
            if group and group[0].text == chunk:
                yield FilePart(start, chunk, first, group)
                first, group = first + len(group), next(pending, None)


def _is_json(content: bytes) -> bool:
    text = content.removeprefix(_BOM.encode()).lstrip()
    if text[:1] not in {b"{", b"["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _apply(documents: Sequence[Document], edits: Mapping[int, DocumentEdits]) -> list[Any]:
    """Return the values of documents with their edits, without removed documents."""
    values = [apply_edits(document.value, edits.get(number, ())) for number, document in enumerate(documents)]
    return [value for value in values if value is not REMOVED]


def _count_problems(contents: FileDocuments) -> int:
    return len(contents.problems) + sum(len(document.problems) for document in contents.documents)


def _remove_document(text: str, number: int) -> str:
    starts = [document.start for document in islice(mark_documents(text), number + 2)]
    starts[0] = 0  # text before the first document belongs to it
    return text[: starts[number]] + (text[starts[number + 1] :] if number + 1 < len(starts) else "")

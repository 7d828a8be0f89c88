"""Paths of values in Azure's responses, and how to read them: the cells of the tables of exporters.

A reader returns the text at its path, "" if there is none, and None to skip its field. Separate from the exporters,
because a reader sends no requests.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.errors import UnexpectedShapeError

ValuePath = Callable[[Any], str | None]
"""Returns the value at one place of a document. Raises UnexpectedShapeError."""

ValueReading = Callable[[Any], str]
"""Converts the value at a path to text. Raises UnexpectedShapeError."""


def format_text(value: Any) -> str:
    """A string as it is, a whole number in decimal, and "" for nothing."""
    # In Python, True is a whole number.
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise UnexpectedShapeError("is neither text nor a whole number")
    return "" if value is None else str(value)


def decode_base64(value: Any) -> str:
    """The text of a base64 value."""
    try:
        # Without `validate`, characters that are not base64 are dropped silently.
        return base64.b64decode(format_text(value), validate=True).decode()
    except ValueError:  # not base64, not ASCII, or not UTF-8
        raise UnexpectedShapeError("is not text in base64") from None  # the cause would carry the value


def require_text(value: Any) -> str:
    """A text that must not be empty."""
    if text := format_text(value):
        return text
    raise UnexpectedShapeError("is empty")


@dataclass(frozen=True, slots=True)
class At:
    """The value at a path."""

    path: str  # names of members, and indexes of entries, joined by slashes
    optional: bool = False
    """Skip the value if its parent object is missing; if the object exists without it, the value is empty."""

    read: ValueReading = format_text

    def __call__(self, document: Any) -> str | None:
        parent_path, _, last = self.path.rpartition("/")
        parent = find_value(parent_path, document)
        if parent is None and self.optional:
            return None
        return _convert(self.read, _read_member(parent, last, self.path), self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMember:
    """A member of an entry of a list: of the last entry that matches."""

    match_value: str  # the value that such an entry has
    member: str  # the one to read
    match_member: str  # the member with the value to match
    list_path: str = ""  # the path of the list, "" if the document is the list
    optional: bool = False  # skip the value if there is no such entry

    def __call__(self, document: Any) -> str | None:
        entries = [
            entry
            for entry in list_entries(find_value(self.list_path, document), self.list_path)
            if entry.get(self.match_member) == self.match_value
        ]
        if not entries:
            return None if self.optional else ""
        return _convert(format_text, entries[-1].get(self.member), self.member)


def map_same_names(names: str) -> dict[str, ValuePath]:
    """Fields at the top of a response under their own names."""
    return {name: At(name) for name in names.split()}


def find_value(path: str, document: Any) -> Any:
    """The value at a path; None if there is none, the document itself for no path."""
    for step in filter(None, path.split("/")):
        document = _read_member(document, step, path)
    return document


def list_entries(value: Any, path: str = "") -> list[Mapping[str, Any]]:
    """The entries of a list of objects; none if there is no list."""
    entries = [] if value is None else value
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise UnexpectedShapeError("is not a list of objects", path)
    return entries


def _read_member(parent: Any, step: str, path: str) -> Any:
    match parent:
        case None:
            return None
        case Mapping():
            return parent.get(step)
        case list() if step.isdigit():
            return parent[int(step)] if int(step) < len(parent) else None
        case _:
            raise UnexpectedShapeError("is not a path through objects", path)


def _convert(read: ValueReading, value: Any, path: str) -> str:
    try:
        return read(value)
    except UnexpectedShapeError as fault:
        raise UnexpectedShapeError(fault.problem, path) from None

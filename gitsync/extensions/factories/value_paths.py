"""Paths of values in responses of Azure, and how to read them: the cells of the tables of exporters.

A place returns the text at its path, "" if there is none, and None to skip its field. Separate from the exporters,
because a place knows nothing of requests.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ValuePath = Callable[[Any], str | None]
"""Returns the value at one place of a document. Raises Misshapen."""

ValueReading = Callable[[Any], str]
"""Converts the value at a place to text. Raises Misshapen."""


class Misshapen(Exception):  # noqa: N818 - a fault of the answer, told to its reader, who makes an error of it
    """A document has an unexpected shape. Contains the path and the problem, never the value."""

    def __init__(self, how: str, where: str = "") -> None:
        super().__init__(f"{where or 'it'} {how}")
        self.how = how
        self.where = where


def format_text(value: Any) -> str:
    """A string as it is, a whole number in decimal, and "" for nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise Misshapen("is neither text nor a whole number")
    return "" if value is None else str(value)


def decode_base64(value: Any) -> str:
    """The text of a base64 value."""
    try:
        return base64.b64decode(format_text(value), validate=True).decode()
    except ValueError:  # bytes that are no base64, text that is no ASCII, bytes that are no UTF-8
        raise Misshapen("is not text in base64") from None  # the cause would carry the value


def require_text(value: Any) -> str:
    """A text that must not be empty."""
    if found := format_text(value):
        return found
    raise Misshapen("is empty")


@dataclass(frozen=True, slots=True)
class At:
    """The value at a path: names of members, and indexes of entries, joined by slashes.

    `optional`: skip the field if its parent object is missing. If the object exists without the value, the value is
    empty.
    """

    path: str
    optional: bool = False
    read: ValueReading = format_text

    def __call__(self, document: Any) -> str | None:
        above, _, last = self.path.rpartition("/")
        holder = find_value(above, document)
        if holder is None and self.optional:
            return None
        return _read(self.read, _member(holder, last, self.path), self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMember:
    """What a member of one entry of a list says: of the entry whose member `by` is `named`, the last where several are.

    `among` is the path of the list, "" where the document is one. `optional`: passed over where there is no such entry.
    """

    named: str
    gives: str
    by: str
    among: str = ""
    optional: bool = False

    def __call__(self, document: Any) -> str | None:
        found = [
            entry
            for entry in list_entries(find_value(self.among, document), self.among)
            if entry.get(self.by) == self.named
        ]
        if not found:
            return None if self.optional else ""
        return _read(format_text, found[-1].get(self.gives), self.gives)


def map_same_names(names: str) -> dict[str, ValuePath]:
    """Fields at the top of a response under their own names."""
    return {name: At(name) for name in names.split()}


def find_value(path: str, document: Any) -> Any:
    """The value at a path; None if there is none, the document itself for no path."""
    for step in filter(None, path.split("/")):
        document = _member(document, step, path)
    return document


def list_entries(found: Any, where: str = "") -> list[Mapping[str, Any]]:
    """The entries of a list of objects; none where there is no list."""
    listed = [] if found is None else found
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        raise Misshapen("is not a list of objects", where)
    return listed


def _member(holder: Any, step: str, where: str) -> Any:
    match holder:
        case None:
            return None
        case Mapping():
            return holder.get(step)
        case list() if step.isdigit():
            return holder[int(step)] if int(step) < len(holder) else None
        case _:
            raise Misshapen("is not a path through objects", where)


def _read(read: ValueReading, value: Any, where: str) -> str:
    try:
        return read(value)
    except Misshapen as fault:
        raise Misshapen(fault.how, where) from None

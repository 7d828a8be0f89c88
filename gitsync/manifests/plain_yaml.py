"""Read the YAML that gitsync and most people write, in a fraction of the time: a run reads a manifest and a record of
every resource.

A text of another form is left to `yaml_documents`, which reads all of YAML and explains what is wrong. The form is one
mapping in block style in ASCII, with a key or a value a line; without anchors, tags, escapes, and values of several
lines. A long key and its value are two lines, with `? ` and `: `. Whatever has it means the same to both readers.

A line is read once, wherever it is: most lines of manifests and records are those of others too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gitsync.manifests.yaml_scalars import Scalar, format_key, resolve

_LONGEST_KEY: Final = 128  # a longer one, such as an ARM id, is written in a line of its own

_PLAIN: Final = r"""(?:-?[0-9]|[A-Za-z/])[!-"$-9;-~]*+(?:[ :][!-"$-9;-~]++)*+"""
_QUOTED: Final = r"""'(?:[ -&(-~]|'')*+'|"[ !#-\[\]-~]*+\""""
_ITEM: Final = rf"(?:(?:-?[0-9]|[A-Za-z/])[A-Za-z0-9/._-]*+|{_QUOTED})"
_VALUE: Final = rf"(?:{_PLAIN}|{_QUOTED}|\{{\}}|\[(?:{_ITEM}(?:, {_ITEM})*+)?\])"
_AFTER: Final = r"(?: +#[ -~]*| *)"
_BLANK: Final = re.compile(r" *(?:#[ -~]*)?")
_HEAD: Final = re.compile(rf"((?:  ){{0,48}})(- )?({_PLAIN})")
_TAIL: Final = re.compile(rf" *({_VALUE}){_AFTER}")
_LINE: Final = re.compile(rf"((?:  ){{0,48}})([-?:] )?(?:({_PLAIN}):|({_VALUE})){_AFTER}")
_START: Final = re.compile(rf"---{_AFTER}")
_ITEMS: Final = re.compile(_ITEM)

_VALUE_OF_LONG_KEY: Final = 1000
_END: Final = 2000


class PlainMapping(NamedTuple):
    """The mapping in a text, and how many lines are above it."""

    members: dict[str, Any]
    above: int


_Line = tuple[int, str | None, Any, str]
"""What a line says: its place, key, value, and rest.

The place is its indent, plus 1000 for the value of a long key, and the complement for an entry of a list. The key is
None if there is none. The rest says what the value is, if that is not all.
"""

_LAST: Final[_Line] = (_END, None, None, "")


class _OtherFormError(Exception):
    """The text has another form."""


def read_plain(content: bytes) -> PlainMapping | None:
    """The mapping in a text; None for a text of another form."""
    if not content.isascii() or not content.endswith(b"\n"):
        return None
    texts = content.decode().split("\n")
    if _START.fullmatch(texts[0]):
        texts[0] = ""
    try:
        read = [*map(_read_line, texts)]
        lines = [*filter(None, read), _LAST]
        members, end = _read_mapping(lines, 0, 0)
    except _OtherFormError:
        return None
    if lines[0][0] or end != len(lines) - 1:
        return None
    return PlainMapping(members, read.index(lines[0]))


@lru_cache(maxsize=8192)
def _read_line(text: str) -> _Line | None:
    """None for a line that says nothing."""
    head, colon, tail = text.partition(": ")
    if colon and (known := _read_head(head)) and (found := _TAIL.fullmatch(tail)):
        return _make_line(*known, found[1])
    found = _LINE.fullmatch(text)
    if found is None and _BLANK.fullmatch(text):
        return None
    if found is None:
        raise _OtherFormError
    indent, mark, name, value = found.groups()
    place = ~len(indent) if mark == "- " else len(indent)
    match mark:
        case None | "- " if name and len(name) <= _LONGEST_KEY:
            return place, _read_key(name), None, "below"
        case "- " if value:
            return _make_line(place, None, value)
        case "? " if value:
            return place, _read_key(value), None, "long"
        case ": " if value:
            return _make_line(place + _VALUE_OF_LONG_KEY, None, value)
        case _:
            raise _OtherFormError


@lru_cache(maxsize=2048)
def _read_head(text: str) -> tuple[int, str] | None:
    """The place and the key of a line, from what is before its value; None if that is something else."""
    found = _HEAD.fullmatch(text)
    if found is None or len(found[3]) > _LONGEST_KEY:
        return None
    return ~len(found[1]) if found[2] else len(found[1]), _read_key(found[3])


def _read_key(name: str) -> str:
    key = None if name[0] in "'\"{[" else format_key(resolve(name))
    if key is None:
        raise _OtherFormError
    return key


def _make_line(place: int, key: str | None, text: str) -> _Line:
    if text[0] in "{[":
        return place, key, [*map(_read_scalar, _ITEMS.findall(text))], text[0]
    return place, key, _read_scalar(text), ""


def _read_scalar(text: str) -> Scalar:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if text[0] == '"' else resolve(text)


def _read_mapping(lines: list[_Line], at: int, place: int) -> tuple[dict[str, Any], int]:
    """The mapping that begins in a line, whose members are at a place, and the number of the line behind it."""
    members: dict[str, Any] = {}
    while True:
        _, key, value, rest = lines[at]
        if key is None or key in members:
            raise _OtherFormError
        at += 1
        if rest:
            value, at = _read_rest(lines, at, place)
        members[key] = value
        if lines[at][0] != place:
            return members, at


def _read_rest(lines: list[_Line], at: int, place: int) -> tuple[Any, int]:
    """The value of the line before that at `at`, whose key is at a place, and the number of the line behind it."""
    _, _, value, rest = lines[at - 1]
    inner = lines[at][0]
    match rest:
        case "below" if inner > place:
            return _read_mapping(lines, at, inner)
        case "below" if ~inner >= place:
            return _read_list(lines, at)
        case "{":
            return {}, at
        case "[":
            return list(value), at
        case "long" if inner == place + _VALUE_OF_LONG_KEY:
            return _read_rest(lines, at + 1, place) if lines[at][3] else (lines[at][2], at + 1)
        case _:
            raise _OtherFormError


def _read_list(lines: list[_Line], at: int) -> tuple[list[Any], int]:
    """The list that begins in a line, and the number of the line behind it."""
    entries: list[Any] = []
    dash = lines[at][0]
    inside = ~dash + 2
    while lines[at][0] == dash:
        _, key, value, rest = lines[at]
        if key is not None:  # the first member of a mapping
            value, at = _read_mapping(lines, at, inside)
        elif rest:
            value, at = _read_rest(lines, at + 1, inside)
        else:
            at += 1
        entries.append(value)
    return entries, at

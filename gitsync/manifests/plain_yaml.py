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
_BLANK: Final = re.compile(r" *(?:#[ -~]*)?")
_AFTER: Final = r"(?: +#[ -~]*| *)"
_LINE: Final = re.compile(rf"((?:  ){{0,48}})([-?:] )?(?:({_PLAIN}):(?: +({_VALUE}))?|({_VALUE})){_AFTER}")
_START: Final = re.compile(rf"---{_AFTER}")
_ITEMS: Final = re.compile(_ITEM)

_VALUE_OF_LONG_KEY: Final = 1000
_END: Final = 2000


class PlainMapping(NamedTuple):
    """The mapping in a text, and how many lines are above it."""

    members: dict[str, Any]
    above: int


class _Line(NamedTuple):
    """What a line says. `place` is its indent, that of the value of a long key plus 1000; of an entry of a list its
    complement, which is negative. `key` is None if there is none. `rest` says what `value` is, if that is not all.
    """

    place: int
    key: str | None
    value: Any
    rest: str = ""


_LAST: Final = _Line(_END, None, None)


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
    if lines[0].place or end != len(lines) - 1:
        return None
    return PlainMapping(members, read.index(lines[0]))


@lru_cache(maxsize=8192)
def _read_line(text: str) -> _Line | None:
    """None for a line that says nothing."""
    found = _LINE.fullmatch(text)
    if found is None and _BLANK.fullmatch(text):
        return None
    if found is None:
        raise _OtherFormError
    indent, mark, name, value, alone = found.groups()
    place = len(indent)
    match mark:
        case None if name and len(name) <= _LONGEST_KEY:
            return _make_line(place, _read_key(name), value)
        case "- " if name and len(name) <= _LONGEST_KEY:
            return _make_line(~place, _read_key(name), value)
        case "- " if alone:
            return _make_line(~place, None, alone)
        case "? " if alone:
            return _Line(place, _read_key(alone), None, "long")
        case ": " if alone:
            return _make_line(place + _VALUE_OF_LONG_KEY, None, alone)
        case _:
            raise _OtherFormError


@lru_cache(maxsize=1024)
def _read_key(name: str) -> str:
    key = None if name[0] in "'\"{[" else format_key(resolve(name))
    if key is None:
        raise _OtherFormError
    return key


def _make_line(place: int, key: str | None, text: str | None) -> _Line:
    if text is None:
        return _Line(place, key, None, "below")
    if text[0] in "{[":
        return _Line(place, key, [*map(_read_scalar, _ITEMS.findall(text))], text[0])
    return _Line(place, key, _read_scalar(text))


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
    match lines[at - 1].rest:
        case "{":
            return {}, at
        case "[":
            return list(lines[at - 1].value), at
        case "long" if lines[at].place == place + _VALUE_OF_LONG_KEY:
            return _read_rest(lines, at + 1, place) if lines[at].rest else (lines[at].value, at + 1)
        case "below" if lines[at].place > place:
            return _read_mapping(lines, at, lines[at].place)
        case "below" if ~lines[at].place >= place:
            return _read_list(lines, at)
        case _:
            raise _OtherFormError


def _read_list(lines: list[_Line], at: int) -> tuple[list[Any], int]:
    """The list that begins in a line, and the number of the line behind it."""
    entries: list[Any] = []
    dash = lines[at].place
    inside = ~dash + 2
    while lines[at].place == dash:
        _, key, value, rest = lines[at]
        if key is not None:  # the first member of a mapping
            value, at = _read_mapping(lines, at, inside)
        elif rest:
            value, at = _read_rest(lines, at + 1, inside)
        else:
            at += 1
        entries.append(value)
    return entries, at

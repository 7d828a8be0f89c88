"""Read the YAML that gitsync itself writes, in a third of the time: a run reads a record of every resource.

A text of another form is left to `manifests.yaml_documents`, which reads all of YAML and explains what is wrong. The
form is that of `yaml_text.dump`: one mapping in block style in ASCII, two spaces a level, a key or a value a line;
without comments, anchors, tags, escapes, and values of several lines. A long key and its value are two lines, with `? `
and `: `. Whatever has it means the same to both readers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from gitsync.manifests.yaml_scalars import Scalar, format_key, resolve

_LONGEST_KEY = 128  # a longer one, such as an ARM id, is written in a line of its own
_LARGEST = 1 << 20

_INSIDE = r"[A-Za-z0-9/._$@+()=,;*?!%&<>~-]"
_PLAIN = rf"(?:-?[0-9]|[A-Za-z/]){_INSIDE}*+(?:[ :]{_INSIDE}++)*+"
_VALUE = rf"(?:{_PLAIN}|'(?:[ -&(-~]|'')*+'|\{{\}}|\[\])"
_FORM = re.compile(rf"(?:(?:  ){{0,48}}(?:[-?:] )?(?:{_PLAIN}:(?: {_VALUE})?|{_VALUE})\n)++")
_LINE = re.compile(r"( *(?:[-?:] )?)(.+)\n")

_Lines = list[tuple[str, str]]
"""The indent of each line, with the mark of an entry (`- `), of a long key (`? `) or of its value (`: `), and its text.
The last line is the first one: those that were read are taken off.
"""


class _OtherFormError(Exception):
    """The text has another form."""


def read_plain(content: bytes) -> dict[str, Any] | None:
    """The mapping in a file; None for a file of another form."""
    if len(content) > _LARGEST or not content.isascii():
        return None
    text = content.decode()
    if not _FORM.fullmatch(text):
        return None
    lines = _LINE.findall(text)
    lines.reverse()
    try:
        members = _read_mapping(lines, "")
    except _OtherFormError:
        return None
    return None if lines else members


def _read_mapping(lines: _Lines, indent: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    long_key = f"{indent}? "
    while lines and lines[-1][0] in {indent, long_key}:
        head, text = lines.pop()
        name, value = (_read_long_name(text), _take_long_value(lines, indent)) if head == long_key else _split(text)
        key = _read_key(name)
        if key is None or key in members:
            raise _OtherFormError
        members[key] = _read_value(value) if value else _read_below(lines, indent)
    return members


def _split(text: str) -> tuple[str, str]:
    """The key and the value in a line; "" for a value below it."""
    name, colon, value = text.partition(": ")
    if len(name) > _LONGEST_KEY or not (colon or name.endswith(":")):
        raise _OtherFormError
    return name if colon else name[:-1], value


def _read_long_name(text: str) -> str:
    if _has_key(text):
        raise _OtherFormError
    return text


def _take_long_value(lines: _Lines, indent: str) -> str:
    """The value in the line below a long key."""
    if not lines or lines[-1][0] != f"{indent}: " or _has_key(lines[-1][1]):
        raise _OtherFormError
    return lines.pop()[1]


def _has_key(text: str) -> bool:
    """Tell whether a line has more than a value."""
    return text[0] != "'" and (": " in text or text.endswith(":"))


def _read_below(lines: _Lines, indent: str) -> Any:
    """The mapping or the list below a key."""
    if not lines:
        raise _OtherFormError
    if lines[-1][0] == f"{indent}- ":
        return _read_list(lines, indent)
    members = _read_mapping(lines, f"{indent}  ")
    if not members:
        raise _OtherFormError
    return members


def _read_list(lines: _Lines, indent: str) -> list[Any]:
    entries: list[Any] = []
    mark, inside = f"{indent}- ", f"{indent}  "
    while lines and lines[-1][0] == mark:
        text = lines.pop()[1]
        if _has_key(text):
            lines.append((inside, text))  # its first member is in the line of the dash
            entries.append(_read_mapping(lines, inside))
        else:
            entries.append(_read_value(text))
    return entries


@lru_cache(maxsize=4096)
def _read_key(name: str) -> str | None:
    """None for null, and for what is no plain text."""
    return None if name[0] in "'{[" else format_key(resolve(name))


def _read_value(text: str) -> Any:
    match text[0]:
        case "/":  # an ARM id
            return text
        case "{":
            return {}
        case "[":
            return []
        case _:
            return _read_scalar(text)


@lru_cache(maxsize=4096)
def _read_scalar(text: str) -> Scalar:
    return text[1:-1].replace("''", "'") if text[0] == "'" else resolve(text)

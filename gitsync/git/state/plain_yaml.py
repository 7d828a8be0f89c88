"""Read the YAML that gitsync itself writes, in a third of the time: a run reads a record of every resource.

A text of another form is left to `manifests.yaml_documents`, which reads all of YAML and explains what is wrong. The
form is that of `yaml_text.dump`: one mapping in block style in ASCII, two spaces a level, a key or a value a line;
without comments, anchors, tags, escapes, and values of several lines. Whatever has it means the same to both readers.
"""

from __future__ import annotations

import re
from typing import Any

from gitsync.manifests.yaml_scalars import format_key, resolve

_LONGEST_KEY = 128  # a longer one is written in two lines
_LARGEST = 1 << 20

_PLAIN = r"(?:-?[0-9]|[A-Za-z/])[A-Za-z0-9/._$@+()=-]*+(?:[ :][A-Za-z0-9/._$@+()=-]++)*+"
_VALUE = rf"(?:{_PLAIN}|'(?:[ -&(-~]|'')*+'|\{{\}}|\[\])"
_FORM = re.compile(rf"(?:(?:  ){{0,48}}(?:- )?(?:{_PLAIN}:(?: {_VALUE})?|{_VALUE})\n)++")

_Lines = list[tuple[int, str]]
"""The indent and the text of each line, the last one first: those that were read are taken off."""


class _OtherFormError(Exception):
    """The text has another form."""


def read_plain(content: bytes) -> dict[str, Any] | None:
    """The mapping in a file; None for a file of another form."""
    if len(content) > _LARGEST or not content.isascii():
        return None
    text = content.decode()
    if not _FORM.fullmatch(text):
        return None
    lines = [(len(line) - len(body), body) for line in text.split("\n")[-2::-1] if (body := line.lstrip(" "))]
    try:
        members = _read_mapping(lines, 0)
    except _OtherFormError:
        return None
    return None if lines else members


def _read_mapping(lines: _Lines, indent: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    while lines and lines[-1][0] == indent and not lines[-1][1].startswith("- "):
        name, colon, value = lines.pop()[1].partition(": ")
        key = format_key(resolve(name if colon else name.removesuffix(":")))
        if key is None or key in members or len(key) > _LONGEST_KEY or not (colon or name.endswith(":")):
            raise _OtherFormError
        members[key] = _read_value(value) if colon else _read_below(lines, indent)
    return members


def _read_below(lines: _Lines, indent: int) -> Any:
    """The mapping or the list below a key."""
    if lines and lines[-1][0] == indent and lines[-1][1].startswith("- "):
        return _read_list(lines, indent)
    if lines and lines[-1][0] == indent + 2 and not lines[-1][1].startswith("- "):
        return _read_mapping(lines, indent + 2)
    raise _OtherFormError


def _read_list(lines: _Lines, indent: int) -> list[Any]:
    entries: list[Any] = []
    while lines and lines[-1][0] == indent and lines[-1][1].startswith("- "):
        text = lines.pop()[1][2:]
        if text[0] != "'" and (": " in text or text.endswith(":")):
            lines.append((indent + 2, text))  # its first member is in the line of the dash
            entries.append(_read_mapping(lines, indent + 2))
        else:
            entries.append(_read_value(text))
    return entries


def _read_value(text: str) -> Any:
    match text[0]:
        case "'":
            return text[1:-1].replace("''", "'")
        case "{":
            return {}
        case "[":
            return []
        case _:
            return resolve(text)

"""Write YAML that Kubernetes reads back as it was meant, the same bytes for the same value, and read that form back.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it leaves plain. One more
rule fixes that: text that is not read back as the same text is quoted (docs/reference/design.md#yaml-scalars).

A run reads or writes a record of every resource. libyaml through PyYAML takes a quarter of a silent run for them,
nearly all of it for an event object of each value. So `dump` writes the lines that libyaml would, and uses it only to
quote a text; `load` reads this one form, a line at a time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from io import StringIO
from types import GeneratorType
from typing import Any, Final

import yaml

from gitsync.manifests.yaml_scalars import WHOLE_BELOW, Scalar, format_key, resolve

_Emitter: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C some ten times as fast
_NEVER_FOLDED = 2**31 - 1
_LISTS = (list, tuple, GeneratorType)
_Spell = Callable[[str, str], str]
"""Writes a text: on one line, or as a block with an indent."""


def dump(value: Mapping[str, Any], *, has_blocks: bool = False) -> bytes:
    """Write a document as libyaml does, keys in the order given, ended by a newline. TypeError or ValueError for what
    is not JSON.

    `has_blocks` writes texts of several lines as blocks, which people read more easily; without it, they are quoted.
    """
    stream = StringIO()
    _write(value, "", "", "", stream.write, _spell_block if has_blocks else _spell_text)
    return stream.getvalue().encode()


def _write(value: Any, beside: str, below: str, indent: str, write: Callable[[str], object], spell: _Spell) -> None:
    """Write a value: after `beside` if it has one line, else its first line after `below` and all others after
    `indent`.
    """
    match value:
        case str():
            write(f"{beside}{spell(value, indent)}\n")
        case dict() | Mapping() if value:  # an abstract class takes ten times as long to ask
            _write_members(value, below, indent, write, spell)
        case dict() | Mapping():
            write(f"{beside}{{}}\n")
        case list() | tuple() | GeneratorType():
            begin, is_empty = below, True
            for entry in value:
                _write(entry, f"{begin}- ", f"{begin}- ", f"{indent}  ", write, spell)
                begin, is_empty = indent, False
            if is_empty:
                write(f"{beside}[]\n")
        case _:
            write(f"{beside}{_format_scalar(value)}\n")


def _write_members(
    members: Mapping[str, Any], begin: str, indent: str, write: Callable[[str], object], spell: _Spell
) -> None:
    deeper = f"{indent}  "
    for key, value in members.items():
        name, is_short = _spell_key(key)
        if not is_short:
            head = f"{begin}? {name}\n{indent}: "
            _write(value, head, head, deeper, write, spell)
        elif isinstance(value, str):  # as most
            write(f"{begin}{name}: {spell(value, deeper)}\n")
        else:
            inner = indent if isinstance(value, _LISTS) else deeper  # a list has the indent of its key
            _write(value, f"{begin}{name}: ", f"{begin}{name}:\n{inner}", inner, write, spell)
        begin = indent


@lru_cache(maxsize=1024)
def _spell_key(key: str) -> tuple[str, bool]:
    """Write a key, and return whether its value is on the same line, as libyaml decides."""
    return _spell(key), len(key.encode("utf-8", "replace")) <= _LONGEST_KEY and not _BREAK.search(key)


def _spell_text(text: str, _indent: str) -> str:
    return _spell(text)


def _spell_block(text: str, indent: str) -> str:
    """Write a text of several lines as a block, if a block can hold it unchanged."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and lines[0] and all(line.isprintable() and line == line.rstrip() for line in lines)
    if not is_block or text.endswith("\n\n") or max(text) > "\uffff":  # libyaml escapes what is beyond
        return _spell(text)
    hint = "2" if text.startswith(" ") else ""
    end = "" if text.endswith("\n") else "-"
    return "\n".join([f"|{hint}{end}", *(line and f"{indent}{line}" for line in text.removesuffix("\n").split("\n"))])


@lru_cache(maxsize=4096)  # records share their keys, and most of their short values
def _spell(text: str) -> str:
    """Write a text on one line. Halves of surrogate pairs become `?`."""
    clean_text = text.encode("utf-8", "replace").decode()
    is_read_back = _is_read_back(clean_text)
    if is_read_back and _BARE_TEXT.fullmatch(text):  # as most; libyaml decides of the others
        return text  # as it is, which the table of these then keeps once
    style = None if clean_text.isprintable() else '"'
    scalar = yaml.ScalarEvent(None, None, (is_read_back, True), clean_text, style=style)
    start = yaml.StreamStartEvent(encoding="utf-8"), yaml.DocumentStartEvent(explicit=False)
    end = yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()
    sequence = yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False), scalar, yaml.SequenceEndEvent()
    written = yaml.emit([*start, *sequence, *end], Dumper=_Emitter, allow_unicode=True, width=_NEVER_FOLDED)
    return str(written).removeprefix("- ").removesuffix("\n")


def _is_read_back(text: str) -> bool:
    """Return whether text without quotes is read as the same text, by Kubernetes and by PyYAML."""
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    return resolve(text) == text and not any(pattern.match(text) for _, pattern in patterns)


def _format_scalar(value: Any) -> str:
    """Format null, true, false or a number as JSON does; a float's power of ten has the point that YAML wants."""
    if not (value is None or isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} is not a value that can be written")
    scalar = json.dumps(value, allow_nan=False)
    return scalar.replace("e", ".0e") if isinstance(value, float) and "." not in scalar else scalar


def sort_keys(value: Any) -> Any:
    """Sort the keys of every mapping in plain JSON, and write numbers as Kubernetes does: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case str():
            return str(value)
        case dict() | Mapping():
            return {str(key): sort_keys(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [sort_keys(member) for member in value]
        case float() if value.is_integer() and abs(value) < WHOLE_BELOW:
            return int(value)
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that can be written")


# A text without quotes, of words that a blank or a colon separates. Stricter than YAML: no comment can begin in it. A
# dot alone is the unit of plain files at the top of a source, so most records of many sources have it.
_PLAIN: Final = r"""(?:-?[0-9]|\.?[A-Za-z/_$])[!-"$-9;-~]*+(?:[ :][!-"$-9;-~]++)*+"""
_VALUE: Final = rf"(?:{_PLAIN}|\.|'(?:[ -&(-~]|'')*+'|\[\]|\{{\}})"
_SCALAR: Final = re.compile(_VALUE)
_BARE_TEXT: Final = re.compile(_PLAIN)
_BREAK: Final = re.compile("[\n\r\x85\u2028\u2029]")
_START: Final = re.compile(rf"((?:  ){{0,48}})(- )?({_PLAIN})")  # of a line with a key and a value
_OTHER: Final = re.compile(rf"((?:  ){{0,48}})(- )?(?:([?:]) ({_VALUE})|({_PLAIN}):|({_VALUE}))")
_EMPTY: Final[Mapping[str, type]] = {"[]": list, "{}": dict}
_MOST_LINES: Final = 8192  # that are kept from one text to the next
_LONGEST_KEY: Final = 128  # PyYAML writes a longer one, such as an ARM id, as `? key` and `: value`


class _Below:
    """The value of a member whose value is in the lines below it."""


_Line = tuple[int, bool, str | None, str | None, Scalar | type]
"""What a line has: its indent, which is that of its key or value, behind the dash of an entry in a list; whether it
begins an entry; the mark of a long key (`?`) or of its value (`:`); the key; and the value: a scalar, or a type,
`_Below`, or list or dict for an empty one. A plain tuple, since a run looks at some sixty of each record.
"""

_PART_INDENT: Final = 6  # of what is below a member of a body; what is above that is of one record alone
_parts: Final[dict[tuple[int, ...], tuple[Any, Sequence[_Line]]]] = {}
"""The values of parts that were read, by the ids of their lines. The lines are kept with them, so that no other line
gets the id of one; and the line of 1 is another one than that of true, which are equal.
"""

_END: Final[_Line] = (-1, False, None, None, None)


class _OtherFormError(Exception):
    """Ends `load`, in this module: the text has a form that it does not read."""


def load(content: bytes) -> dict[str, Any] | None:
    """Read the mapping that `dump` wrote; None for a text in another form, which the reader of all YAML reads
    (`manifests.yaml_documents`). Both read the same from what both read.
    """
    if not content.isascii() or not content.endswith(b"\n"):
        return None
    try:
        lines = [*map(_read_line, content.decode().split("\n")[:-1]), _END]
        members, end = _read_mapping(lines, 0, 0)
    except _OtherFormError:
        return None
    finally:  # a cache with a limit of its own is half as fast
        if _read_line.cache_info().currsize > _MOST_LINES:
            _read_line.cache_clear()
            _parts.clear()
    return members if lines[0][0] == 0 and lines[end] is _END else None


@cache  # most lines of records are those of others too
def _read_line(text: str) -> _Line:
    start, is_divided, value = text.partition(": ")
    member = _read_start(start) if is_divided else None
    if member is not None:
        if not _SCALAR.fullmatch(value):
            raise _OtherFormError
        indent, is_entry, key = member
        return indent, is_entry, None, key, _read_value(value)
    match = _OTHER.fullmatch(text)
    if match is None:
        raise _OtherFormError
    blanks, dash, mark, marked, name, alone = match.groups()
    own_key = None if name is None else _read_key(name)
    return len(blanks) + (2 if dash else 0), dash is not None, mark, own_key, _read_value(marked or alone)


@lru_cache(maxsize=1024)  # records have the same keys, and other values
def _read_start(text: str) -> tuple[int, bool, str] | None:
    """Read the part of a line before the value of a member; None if the line has another form."""
    match = _START.fullmatch(text)
    if match is None:
        return None
    blanks, dash, key = match.groups()
    return len(blanks) + (2 if dash else 0), dash is not None, _read_key(key)


def _read_key(text: str) -> str:
    key = format_key(_read_scalar(text))
    if key is None or len(text) > _LONGEST_KEY:
        raise _OtherFormError
    return key


def _read_value(text: str | None) -> Scalar | type:
    if text is None:
        return _Below
    return _EMPTY[text] if text in _EMPTY else _read_scalar(text)


def _read_scalar(text: str) -> Scalar:
    return text[1:-1].replace("''", "'") if text[0] == "'" else resolve(text)


def _read_mapping(lines: Sequence[_Line], at: int, indent: int) -> tuple[dict[str, Any], int]:
    """Read the mapping whose first member is in line `at`, and the number of the line behind it. The dash before the
    first member of an entry belongs to the list.
    """
    members: dict[str, Any] = {}
    _, _, mark, key, value = lines[at]
    while True:
        at += 1
        if mark:
            if mark == ":" or isinstance(value, type):
                raise _OtherFormError
            key, (own_indent, is_entry, mark, _, value) = format_key(value), lines[at]
            if mark != ":" or own_indent != indent or is_entry:
                raise _OtherFormError
            at += 1
        if key is None or key in members:
            raise _OtherFormError
        if value is _Below:
            members[key], at = _read_below(lines, at, indent)
        else:
            members[key] = value() if type(value) is type else value
        own_indent, is_entry, mark, key, value = lines[at]
        if own_indent != indent or is_entry:
            return members, at


def _read_below(lines: Sequence[_Line], at: int, indent: int) -> tuple[Any, int]:
    """Read the value below a member with this indent, from line `at` on, and the number of the line behind it. What the
    same lines say deep in a record is read once, and kept once.
    """
    own_indent, is_entry, _, _, _ = lines[at]
    is_below = own_indent == indent + 2 if is_entry else own_indent > indent  # PyYAML does not indent lists
    if not is_below:
        raise _OtherFormError
    if own_indent < _PART_INDENT:
        return _read_part(lines, at)
    end = at + 1
    while lines[end][0] >= own_indent:
        end += 1
    part = lines[at:end]
    ids = tuple(map(id, part))
    known = _parts.get(ids)
    if known is None:
        value, behind = _read_part(lines, at)
        if behind != end:
            raise _OtherFormError
        known = _parts[ids] = (value, part)
    return known[0], end


def _read_part(lines: Sequence[_Line], at: int) -> tuple[Any, int]:
    own_indent, is_entry, _, _, _ = lines[at]
    return _read_list(lines, at) if is_entry else _read_mapping(lines, at, own_indent)


def _read_list(lines: Sequence[_Line], at: int) -> tuple[list[Any], int]:
    """Read the list whose first entry is in line `at`, and the number of the line behind it."""
    entries: list[Any] = []
    indent = lines[at][0]
    while True:
        own_indent, is_entry, mark, key, value = lines[at]
        if not is_entry or own_indent != indent:
            return entries, at
        if key is None and mark is None:
            entries.append(value() if isinstance(value, type) else value)
            at += 1
        else:
            members, at = _read_mapping(lines, at, indent)
            entries.append(members)

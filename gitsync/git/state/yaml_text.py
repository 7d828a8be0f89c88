"""Write YAML that Kubernetes reads back as it was meant, the same bytes for the same value, and
read that form back.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it
leaves plain. One more rule fixes that: text that is not read back as the same text is quoted
(docs/reference/design.md#yaml-scalars). This module emits the events of the document itself, since
the representer of PyYAML takes most of the time.

A run reads a record of every resource. libyaml through PyYAML takes a quarter of a silent run for
them, nearly all of it for an event object of each value. `load` reads the one form that `dump`
gives nearly every record, a line at a time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import yaml

from gitsync.manifests.yaml_scalars import WHOLE_BELOW, Scalar, format_key, resolve

_Emitter: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C some ten times as fast
_NEVER_FOLDED = 2**31 - 1
_BARE = (True, False)  # a scalar that needs neither tag nor quotes


def dump(value: Mapping[str, Any], *, has_blocks: bool = False) -> bytes:
    """Write a document, keys in the order given, ended by a newline. TypeError or ValueError for what is
    not JSON.

    `has_blocks` writes texts of several lines as blocks, which people read more easily; without it, they
    are quoted.
    """
    events: list[Any] = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    _emit(value, events.append, _make_block_or_scalar if has_blocks else _make_scalar)
    events += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(events, Dumper=_Emitter, allow_unicode=True, width=_NEVER_FOLDED)
    return text.encode()


def _emit(value: Any, emit: Callable[[Any], None], make_scalar: Callable[[str], Any]) -> None:
    """Emit the events of a value, without aliases."""
    match value:
        case str():
            emit(make_scalar(value))
        case Mapping():
            emit(yaml.MappingStartEvent(None, None, implicit=True, flow_style=False))
            for key, member in value.items():
                emit(_make_scalar(key))
                _emit(member, emit, make_scalar)
            emit(yaml.MappingEndEvent())
        case list() | tuple():
            emit(yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False))
            for member in value:
                _emit(member, emit, make_scalar)
            emit(yaml.SequenceEndEvent())
        case _:
            emit(yaml.ScalarEvent(None, None, _BARE, _format_scalar(value)))


def _make_scalar(text: str) -> Any:
    """Make a text on one line. Halves of surrogate pairs become `?`."""
    clean_text = text.encode("utf-8", "replace").decode()
    return yaml.ScalarEvent(
        None, None, (_is_read_back(clean_text), True), clean_text, style=None if clean_text.isprintable() else '"'
    )


def _make_block_or_scalar(text: str) -> Any:
    """Make a text of several lines as a block, if a block can hold it unchanged."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and all(line.isprintable() and line == line.rstrip() for line in lines) and lines[0]
    return yaml.ScalarEvent(None, None, (False, True), text, style="|") if is_block else _make_scalar(text)


@lru_cache(maxsize=4096)
def _is_read_back(text: str) -> bool:
    """Tell whether text without quotes is read as the same text, by Kubernetes and by PyYAML."""
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    return resolve(text) == text and not any(pattern.match(text) for _, pattern in patterns)


def _format_scalar(value: Any) -> str:
    """Format null, true, false or a number as JSON does; a float's power of ten has the point that YAML
    wants.
    """
    if not (value is None or isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} is not a value that can be written")
    scalar = json.dumps(value, allow_nan=False)
    return scalar.replace("e", ".0e") if isinstance(value, float) and "." not in scalar else scalar


def sort_keys(value: Any) -> Any:
    """Sort the keys of every mapping in plain JSON, and write numbers as Kubernetes does: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case Mapping():
            return {str(key): sort_keys(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [sort_keys(member) for member in value]
        case str():
            return str(value)
        case float() if value.is_integer() and abs(value) < WHOLE_BELOW:
            return int(value)
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that can be written")


# A text without quotes, of words that a blank or a colon separates. Stricter than YAML: no comment can begin in it.
_PLAIN: Final = r"""(?:-?[0-9]|[A-Za-z/])[!-"$-9;-~]*+(?:[ :][!-"$-9;-~]++)*+"""
_VALUE: Final = rf"(?:{_PLAIN}|'(?:[ -&(-~]|'')*+'|\[\]|\{{\}})"
_LINE: Final = re.compile(rf"((?:  ){{0,48}})(- )?(?:([?:]) ({_VALUE})|({_PLAIN}):(?: ({_VALUE}))?|({_VALUE}))")
_EMPTY: Final[Mapping[str, Callable[[], Any]]] = {"[]": list, "{}": dict}
_LONGEST_KEY: Final = 128  # PyYAML writes a longer one, such as an ARM id, as `? key` and `: value`


class _Line(NamedTuple):
    """What a line says. `indent` is that of its key or value, behind the dash of an entry in a list. A value that is
    not in the line is below it (`is_open`); `make_empty` makes the value `[]` or `{}`.
    """

    indent: int
    is_entry: bool = False
    mark: str | None = None
    key: str | None = None
    value: Scalar = None
    is_open: bool = False
    make_empty: Callable[[], Any] | None = None


_END: Final = _Line(indent=-1)


class _OtherFormError(Exception):
    """Ends `load`, in this module: the text has a form that it does not read."""


def load(content: bytes) -> dict[str, Any] | None:
    """Read the mapping that `dump` wrote; None for a text in another form, which the reader of all YAML
    reads (`manifests.yaml_documents`). Both read the same from what both read.
    """
    if not content.isascii() or not content.endswith(b"\n"):
        return None
    try:
        lines = [*map(_read_line, content.decode().split("\n")[:-1]), _END]
        members, end = _read_mapping(lines, 0, 0)
    except _OtherFormError:
        return None
    return members if lines[0].indent == 0 and lines[end] is _END else None


@lru_cache(maxsize=8192)  # most lines of records are those of others too
def _read_line(text: str) -> _Line:
    match = _LINE.fullmatch(text)
    if match is None:
        raise _OtherFormError
    blanks, dash, mark, marked, key, value, alone = match.groups()
    indent = len(blanks) + (2 if dash else 0)
    if key is not None and len(key) > _LONGEST_KEY:
        raise _OtherFormError
    scalar = marked or value or alone
    return _Line(
        indent,
        is_entry=dash is not None,
        mark=mark,
        key=None if key is None else _read_key(key),
        value=None if scalar is None or scalar in _EMPTY else _read_scalar(scalar),
        is_open=scalar is None,
        make_empty=_EMPTY.get(scalar or ""),
    )


@lru_cache(maxsize=1024)  # records have the same keys
def _read_key(text: str) -> str:
    key = format_key(_read_scalar(text))
    if key is None:
        raise _OtherFormError
    return key


def _read_scalar(text: str) -> Scalar:
    return text[1:-1].replace("''", "'") if text[0] == "'" else resolve(text)


def _read_mapping(lines: Sequence[_Line], at: int, indent: int) -> tuple[dict[str, Any], int]:
    """Read the mapping whose first member is in line `at`, and the number of the line behind it. The dash before the
    first member of an entry belongs to the list.
    """
    members: dict[str, Any] = {}
    while True:
        line = lines[at]
        key, at = line.key, at + 1
        if line.mark == "?":
            if line.make_empty:
                raise _OtherFormError
            key, line, at = format_key(line.value), lines[at], at + 1
            if line.mark != ":" or line.indent != indent or line.is_entry:
                raise _OtherFormError
        if key is None or key in members:
            raise _OtherFormError
        if line.is_open:
            members[key], at = _read_below(lines, line, at)
        else:
            members[key] = line.make_empty() if line.make_empty else line.value
        if lines[at].indent != indent or lines[at].is_entry:
            return members, at


def _read_below(lines: Sequence[_Line], line: _Line, at: int) -> tuple[Any, int]:
    """Read the value of the member in `line`, which is below it from line `at` on, and the number of the line behind
    it.
    """
    below = lines[at]
    if below.is_entry and below.indent == line.indent + 2:  # PyYAML does not indent lists
        return _read_list(lines, at)
    if below.indent > line.indent and not below.is_entry:
        return _read_mapping(lines, at, below.indent)
    raise _OtherFormError


def _read_list(lines: Sequence[_Line], at: int) -> tuple[list[Any], int]:
    """Read the list whose first entry is in line `at`, and the number of the line behind it."""
    entries: list[Any] = []
    indent = lines[at].indent
    while lines[at].is_entry and lines[at].indent == indent:
        line = lines[at]
        if line.key is None and line.mark is None:
            entries.append(line.make_empty() if line.make_empty else line.value)
            at += 1
        else:
            members, at = _read_mapping(lines, at, indent)
            entries.append(members)
    return entries, at

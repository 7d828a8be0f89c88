"""Terraform's language: values and blocks as text, as `terraform fmt` would write them.

Any text of a manifest may become a value, the key of an object or a comment, and none of it becomes a part of the
language.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_INDENT: Final = "  "
_LONGEST_LIST: Final = 100
"""Characters of a list on one line."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS: Final = frozenset({"else", "endfor", "endif", "false", "for", "if", "in", "null", "true"})
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKERS: Final = re.compile(r"[$%]+\{")
"""Begin an interpolation or a directive."""

_MOST_EXACT: Final = 2**53
"""azapi keeps numbers as floats of 64 bits."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of the language, as it is written: `azapi_resource.hub.id`."""

    text: str


class SensitiveExpression(Expression):
    """An expression whose value is a secret."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A text with expressions in it, in order."""

    parts: tuple[str | Expression, ...]


Value = Any
"""JSON, with an `Expression` or an `Interpolation` anywhere in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HclBlock:
    """A block of a file."""

    type: str  # such as "resource"
    labels: tuple[str, ...] = ()  # as texts behind its type
    arguments: Mapping[str, Value]  # in order
    blocks: tuple[HclBlock, ...] = ()  # those inside, behind the arguments
    comment: str = ""  # one line above it; "" for none


def format_file(comment: str, blocks: Iterable[HclBlock]) -> bytes:
    """Format a file: a comment of one line, and blocks."""
    parts = [_format_comment(comment), *("\n".join(_format_block(block, "")) for block in blocks)]
    return ("\n\n".join(parts) + "\n").encode()


def _format_block(block: HclBlock, indent: str) -> Iterator[str]:
    if block.comment:
        yield f"{indent}{_format_comment(block.comment)}"
    labels = "".join(f" {_quote(label)}" for label in block.labels)
    if not block.arguments and not block.blocks:
        yield f"{indent}{block.type}{labels} {{}}"
        return
    yield f"{indent}{block.type}{labels} {{"
    inner = indent + _INDENT
    yield from _format_members(block.arguments.items(), inner)
    for index, child in enumerate(block.blocks):
        if index or block.arguments:
            yield ""
        yield from _format_block(child, inner)
    yield f"{indent}}}"


def _format_members(members: Iterable[tuple[str, Value]], indent: str) -> Iterator[str]:
    """Format the lines of members. The signs of members on neighbouring lines are below each other."""
    group: list[tuple[str, str]] = []
    for name, value in members:
        key, text = _format_key(name), format_value(value, indent)
        # `terraform fmt` aligns only members of one line that follow each other.
        if "\n" in text:
            yield from _align(group, indent)
            group.clear()
            yield f"{indent}{key} = {text}"
        else:
            group.append((key, text))
    yield from _align(group, indent)


def _align(group: Sequence[tuple[str, str]], indent: str) -> Iterator[str]:
    width = max((len(key) for key, _ in group), default=0)
    yield from (f"{indent}{key:<{width}} = {text}" for key, text in group)


def format_value(value: Value, indent: str = "") -> str:
    """Format a value. `indent` is that of its first line."""
    match value:
        case Expression():
            return value.text
        case Interpolation():
            return f'"{"".join(_format_parts(value.parts))}"'
        case None:
            return "null"
        # Before int: for Python, true is one.
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list():
            return _format_list(value, indent)
        case dict():
            return _format_object(value, indent)
        case _:
            return _quote(value)


def _format_list(entries: Sequence[Value], indent: str) -> str:
    inner = indent + _INDENT
    texts = [format_value(entry, inner) for entry in entries]
    line = f"[{', '.join(texts)}]"
    if "\n" not in line and len(line) <= _LONGEST_LIST:
        return line
    return "\n".join(("[", *(f"{inner}{text}," for text in texts), f"{indent}]"))


def _format_object(members: Mapping[str, Value], indent: str) -> str:
    if not members:
        return "{}"
    return "\n".join(("{", *_format_members(members.items(), indent + _INDENT), f"{indent}}}"))


def _format_key(name: str) -> str:
    is_plain = _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS
    return name if is_plain else _quote(name)


def _format_parts(parts: Iterable[str | Expression]) -> Iterator[str]:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part  # signs of one part may have a meaning with the next
            continue
        # A sign before the expression would escape it.
        plain = text.rstrip("$%")
        yield _escape(plain) + "".join(f"\\u{ord(sign):04X}" for sign in text[len(plain) :])
        yield f"${{{part.text}}}"
        text = ""
    yield _escape(text)


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    return _MARKERS.sub(_escape_marker, "".join(map(_escape_character, text)))


def _escape_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _escape_marker(found: re.Match[str]) -> str:
    before, sign = found.group()[:-2], found.group()[-2]
    # A sign that is doubled for an escape would pair with one before it.
    return f"{before}\\u{ord(sign):04X}{{" if before else f"{sign}{sign}{{"


def _format_comment(text: str) -> str:
    return f"# {''.join(map(_escape_character, text))}"


def format_path(root: str, steps: Iterable[str | int]) -> str:
    """Format the expression of a member below another one: `azapi_resource.hub.output.properties.state`."""
    return root + "".join(map(_format_step, steps))


def _format_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _format_key(step) == step else f"[{_quote(step)}]"


def find_inexpressible(value: Value, path: tuple[str | int, ...] = ()) -> tuple[tuple[str | int, ...], str] | None:
    """Find a value that Terraform would change: its path, and why; None if there is none."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if why := _explain_text(key):
                return (*path, key), why
            if found := find_inexpressible(member, (*path, key)):
                return found
        return None
    if isinstance(value, list):
        return next(filter(None, (find_inexpressible(entry, (*path, at)) for at, entry in enumerate(value))), None)
    why = _explain(value)
    return (path, why) if why else None


def _explain(value: Value) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "Terraform has no such number"
    if isinstance(value, int) and abs(value) > _MOST_EXACT and _round(value) != value:
        return "azapi rounds a number of this size"
    if isinstance(value, Interpolation):
        return next(filter(None, (_explain_text(part) for part in value.parts if isinstance(part, str))), "")
    return _explain_text(value) if isinstance(value, str) else ""


def _round(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _explain_text(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "the text is not valid Unicode"
    return "" if unicodedata.is_normalized("NFC", text) else "Terraform normalizes the text (Unicode NFC)"

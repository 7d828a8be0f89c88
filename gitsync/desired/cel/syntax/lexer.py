"""Splits an expression into tokens, each with its position, and reads the values of literals: numbers in their ranges,
strings and bytes with their escapes (CEL's language definition, "Syntax").

The parser sees values, and never quotes, escapes or comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.cel.syntax.syntax_tree import Position
from gitsync.desired.cel.values import Uint
from gitsync.errors import ExpressionError

LONGEST: Final = 100_000
"""The maximum characters of an expression, as in CEL's own parser."""

_QUOTED = r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n\r]|\\.)*"|\'(?:[^\'\\\n\r]|\\.)*\''
_RAW = r'[rR](?:"""(?:.*?)"""|\'\'\'(?:.*?)\'\'\'|"[^"\n\r]*"|\'[^\'\n\r]*\')'
# The first form that matches counts: bytes and raw strings before names, doubles before ints.
_FORMS: Final = (
    ("space", r"[ \t\r\n\f]+|//[^\n]*"),
    ("bytes", rf"[bB](?:{_RAW}|{_QUOTED})"),
    ("string", rf"{_RAW}|{_QUOTED}"),
    ("double", r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?"),
    ("uint", r"(?:0x[0-9a-fA-F]+|\d+)[uU]"),
    ("int", r"0x[0-9a-fA-F]+|\d+"),
    ("name", r"[_a-zA-Z][_a-zA-Z0-9]*"),
    ("quoted", r"`[a-zA-Z0-9_.\-/ ]+`"),
    ("sign", r"&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}]"),
)
_TOKEN: Final = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS), re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """One token."""

    form: str  # a key of the forms above, or "end"
    text: str  # as written
    at: Position
    value: Any = None  # of a literal, except of int and double, which may have a sign before them

    @property
    def is_number(self) -> bool:
        return self.form in {"int", "double"}


def split_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens in order, and an "end" after them. Raises ExpressionError for text that is not a token, and for
    a literal without a value.
    """
    # Before any pattern is matched: the text is not trusted.
    if len(text) > LONGEST:
        raise ExpressionError(
            format_error(Position(1, 1), f"expression has {len(text)} characters, more than {LONGEST}")
        )
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    here = 0
    while here < len(text):
        line = bisect_right(starts, here)
        at = Position(line, here - starts[line - 1] + 1)
        # `match` at a position copies nothing, where a slice would copy the rest of the text for each token.
        found = _TOKEN.match(text, here)
        if found is None:
            raise ExpressionError(format_error(at, f"Syntax error: token recognition error at: {text[here]!r}"))
        form = str(found.lastgroup)
        if form != "space":
            yield Token(form, found[0], at, _parse_value(form, found[0], at))
        here = found.end()
    yield Token("end", "<EOF>", Position(len(starts), len(text) - starts[-1] + 1))


def format_error(at: Position, said: str) -> str:
    """Format an error with its position, as CEL does."""
    return f"ERROR: <input>:{at.line}:{at.column}: {said}"


def _parse_value(form: str, text: str, at: Position) -> Any:
    read = _VALUES.get(form)
    if read is None:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise ExpressionError(format_error(at, f"Syntax error: {error}")) from error


# Literals. Each function takes the text of a literal, and raises ValueError, with a clause for the message, if it has
# no value.


_LEAST, _MOST, _MOST_UINT = -(2**63), 2**63 - 1, 2**64 - 1
_ESCAPE: Final = re.compile(
    r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_SURROGATES = range(0xD800, 0xE000)
# Python refuses to convert more than 4,300 digits, with its own error.
_MOST_DIGITS = 400


def parse_int(literal: str) -> int:
    """Read a signed 64-bit number, which may begin with `-`."""
    value = _parse_integer(literal)
    if not _LEAST <= value <= _MOST:
        raise ValueError(f"invalid int literal: {_shorten(literal)} does not fit 64 bits")
    return value


def parse_uint(literal: str) -> Uint:
    """Read an unsigned 64-bit number, which ends with `u`."""
    value = _parse_integer(literal.rstrip("uU"))
    if value > _MOST_UINT:
        raise ValueError(f"invalid uint literal: {_shorten(literal)} does not fit 64 bits")
    return Uint(value)


def parse_double(literal: str) -> float:
    value = float(literal)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"invalid double literal: {_shorten(literal)} is too large")
    return value


def parse_text(literal: str) -> str:
    """Read a string between its quotes; every escape is a character."""
    inside, is_raw = _unquote(literal)
    return inside if is_raw else _ESCAPE.sub(_decode_character, inside)


def parse_bytes(literal: str) -> bytes:
    """Read bytes after a `b`: hexadecimal and octal escapes are bytes, all else is UTF-8."""
    inside, is_raw = _unquote(literal[1:])
    if is_raw:
        return inside.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(inside):
        parts += (inside[end : found.start()].encode("utf-8", "surrogatepass"), _decode_escape(found))
        end = found.end()
    return b"".join((*parts, inside[end:].encode("utf-8", "surrogatepass")))


def _parse_integer(literal: str) -> int:
    digits = literal.removeprefix("-")
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"invalid int literal: {_shorten(literal)} does not fit 64 bits")
    value = int(digits, 16) if digits.startswith("0x") else int(digits)
    return -value if literal.startswith("-") else value


def _unquote(literal: str) -> tuple[str, bool]:
    is_raw = literal[0] in "rR"
    quoted = literal[1:] if is_raw else literal
    wide = 3 if quoted[:3] in {'"""', "'''"} else 1
    return quoted[wide:-wide], is_raw


def _decode_character(found: re.Match[str]) -> str:
    said = found[1]
    if said in _SIMPLE:
        return _SIMPLE[said]
    code = _find_code(said)
    if code in _SURROGATES or code > 0x10FFFF:
        raise ValueError(f"\\{said} is not a character")
    return chr(code)


def _decode_escape(found: re.Match[str]) -> bytes:
    said = found[1]
    # In bytes, such an escape is one byte. In a string, it is a character, which UTF-8 may write as two.
    if said[0] in "xX0123" and said not in _SIMPLE and len(said) > 1:
        return bytes((_find_code(said),))
    if said[0] in "uU" and len(said) > 1:
        raise ValueError(f"\\{said} is not allowed in bytes")
    return _decode_character(found).encode()


def _find_code(said: str) -> int:
    if said[0] in "xXuU" and len(said) > 1:
        return int(said[1:], 16)
    if len(said) == 3:
        return int(said, 8)
    raise ValueError(f"\\{said} is not an escape")


def _shorten(literal: str) -> str:
    return literal if len(literal) <= 40 else f"{literal[:40]}…"


_VALUES: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": parse_bytes,
    "string": parse_text,
    "uint": parse_uint,
}

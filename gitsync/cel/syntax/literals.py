"""The values of the literals of an expression: numbers in their ranges, strings and bytes with their escapes.

Separate from the lexer, which only finds the end of a literal. Every function takes the text of the literal and raises
ValueError, with a clause for the message, if it has no value.
"""

from __future__ import annotations

import re
from typing import Final

from gitsync.cel.values import Uint

_LEAST, _MOST, _MOST_UINT = -(2**63), 2**63 - 1, 2**64 - 1
_ESCAPE: Final = re.compile(
    r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_SURROGATES = range(0xD800, 0xE000)
_MOST_DIGITS = 400


def parse_int(word: str) -> int:
    """A signed number of 64 bits; `-` may stand before it."""
    value = _whole(word)
    if not _LEAST <= value <= _MOST:
        raise ValueError(f"invalid int literal: {_shown(word)} does not fit 64 bits")
    return value


def parse_uint(word: str) -> Uint:
    """An unsigned number of 64 bits, after which a `u` stands."""
    value = _whole(word.rstrip("uU"))
    if value > _MOST_UINT:
        raise ValueError(f"invalid uint literal: {_shown(word)} does not fit 64 bits")
    return Uint(value)


def parse_double(word: str) -> float:
    value = float(word)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"invalid double literal: {_shown(word)} is too large")
    return value


def parse_text(word: str) -> str:
    """A string from between its quotes; every escape is a character."""
    inside, is_raw = _unquoted(word)
    return inside if is_raw else _ESCAPE.sub(_character, inside)


def parse_bytes(word: str) -> bytes:
    """Bytes after a `b`: hexadecimal and octal escapes are bytes, all else is UTF-8."""
    inside, is_raw = _unquoted(word[1:])
    if is_raw:
        return inside.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(inside):
        parts += (inside[end : found.start()].encode("utf-8", "surrogatepass"), _bytes(found))
        end = found.end()
    return b"".join((*parts, inside[end:].encode("utf-8", "surrogatepass")))


def _whole(word: str) -> int:
    digits = word.removeprefix("-")
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"invalid int literal: {_shown(word)} does not fit 64 bits")
    value = int(digits, 16) if digits.startswith("0x") else int(digits)
    return -value if word.startswith("-") else value


def _unquoted(word: str) -> tuple[str, bool]:
    is_raw = word[0] in "rR"
    quoted = word[1:] if is_raw else word
    wide = 3 if quoted[:3] in {'"""', "'''"} else 1
    return quoted[wide:-wide], is_raw


def _character(found: re.Match[str]) -> str:
    said = found[1]
    if said in _SIMPLE:
        return _SIMPLE[said]
    code = _code(said)
    if code in _SURROGATES or code > 0x10FFFF:
        raise ValueError(f"\\{said} is not a character")
    return chr(code)


def _bytes(found: re.Match[str]) -> bytes:
    said = found[1]
    if said[0] in "xX0123" and said not in _SIMPLE and len(said) > 1:
        return bytes((_code(said),))
    if said[0] in "uU" and len(said) > 1:
        raise ValueError(f"\\{said} is not allowed in bytes")
    return _character(found).encode()


def _code(said: str) -> int:
    if said[0] in "xXuU" and len(said) > 1:
        return int(said[1:], 16)
    if len(said) == 3:
        return int(said, 8)
    raise ValueError(f"\\{said} is not an escape")


def _shown(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}…"

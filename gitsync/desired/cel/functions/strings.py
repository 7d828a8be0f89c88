"""Evaluates the text functions: CEL's own, and its string extension, version 3.

Indexes count characters (code points) from 0. Functions with Ascii in their name change ASCII letters only. A result
that may be larger than its input is measured before it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.values import name_type
from gitsync.errors import EvaluationError

_UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = _UPPER.lower()
_TO_LOWER: Final = str.maketrans(_UPPER, _LOWER)
_TO_UPPER: Final = str.maketrans(_LOWER, _UPPER)

_BLANKS: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space; Python's own strip also removes the ASCII separators (0x1c to 0x1f)."""

_ESCAPES: Final = {
    **str.maketrans({"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}),
    **str.maketrans({"\\": r"\\", '"': r"\""}),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def _make_index_error() -> EvaluationError:
    return EvaluationError("index out of range")


def _take_char(text: str, index: int) -> str:
    # The end is a valid index, with no character there, as in cel-go.
    if not 0 <= index <= len(text):
        raise _make_index_error()
    return text[index : index + 1]


def _find_index(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _make_index_error()
    # Python does not find an empty text behind the end, and cel-go does.
    return text.find(part, start) if part else min(start, len(text))


def _find_last_index(text: str, part: str, start: int | None = None) -> int:
    """Return the last position of `part`; with `start`, none after it."""
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _make_index_error()
    if not part:
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _cut(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not (0 <= start <= len(text) and 0 <= last <= len(text)):
        raise _make_index_error()
    if start > last:
        raise EvaluationError("substring: the start is after the end")
    return text[start:last]


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Split a text into at most `limit` parts; a negative limit means all. Without a separator: into its characters."""
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    # Python cannot split at an empty separator.
    return [*text[: limit - 1], text[limit - 1 :]]


def _replace(budget: EvaluationBudget, text: str, old: str, new: str, limit: int = -1) -> str:
    found = text.count(old)
    count = found if limit < 0 else min(found, limit)
    # Charged before the text is made: repeated doubling must not fill the memory.
    budget.charge_characters(len(text) + count * len(new))
    return text.replace(old, new, count)


def _join(budget: EvaluationBudget, parts: Sequence[Any], separator: str = "") -> str:
    if any(name_type(part) != "string" for part in parts):
        raise EvaluationError("join: the list contains a value that is not a string")
    # As above: before it is made.
    budget.charge_characters(sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


def quote_literal(text: str) -> str:
    """Write a text as a CEL literal, in double quotes; half of a surrogate pair becomes U+FFFD."""
    return f'"{text.translate(_ESCAPES)}"'


def quote_printable(text: str) -> str:
    """Write a text as Go's %q: with escapes for characters that are not printable."""
    return f'"{"".join(map(_escape_unprintable, text))}"'


def _escape_unprintable(letter: str) -> str:
    short = _ESCAPES.get(ord(letter))
    if short is not None or letter.isprintable():
        return short or letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("size", "string"): len,
    ("size", "bytes"): len,
    ("contains", "string", "string"): lambda text, part: part in text,
    ("startsWith", "string", "string"): str.startswith,
    ("endsWith", "string", "string"): str.endswith,
    ("charAt", "string", "int"): _take_char,
    ("indexOf", "string", "string"): _find_index,
    ("indexOf", "string", "string", "int"): _find_index,
    ("lastIndexOf", "string", "string"): _find_last_index,
    ("lastIndexOf", "string", "string", "int"): _find_last_index,
    ("lowerAscii", "string"): lambda text: text.translate(_TO_LOWER),
    ("upperAscii", "string"): lambda text: text.translate(_TO_UPPER),
    ("trim", "string"): lambda text: text.strip(_BLANKS),
    ("reverse", "string"): lambda text: text[::-1],
    ("split", "string", "string"): _split,
    ("split", "string", "string", "int"): _split,
    ("substring", "string", "int"): _cut,
    ("substring", "string", "int", "int"): _cut,
    ("strings.quote", "string"): quote_literal,
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("replace", "string", "string", "string"): _replace,
    ("replace", "string", "string", "string", "int"): _replace,
    ("join", "list"): _join,
    ("join", "list", "string"): _join,
}

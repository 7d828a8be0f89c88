"""The words of an expression: names, values, signs, each with its place (CEL's language definition, "Syntax").

Apart, so that the parser sees values and never quotes, escapes or comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gitsync.cel.syntax.literals import parse_bytes, parse_text, parse_uint
from gitsync.cel.syntax.tree import Position
from gitsync.errors import ExpressionError

LONGEST: Final = 100_000
"""How many characters an expression may have: as many as CEL's own parser takes."""

_QUOTED = r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n\r]|\\.)*"|\'(?:[^\'\\\n\r]|\\.)*\''
_RAW = r'[rR](?:"""(?:.*?)"""|\'\'\'(?:.*?)\'\'\'|"[^"\n\r]*"|\'[^\'\n\r]*\')'
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
_WORD: Final = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS), re.DOTALL | re.ASCII)
_VALUES: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": parse_bytes,
    "string": parse_text,
    "uint": parse_uint,
}


@dataclass(frozen=True, slots=True)
class Token:
    """One word. `form` is a key of the forms above, or "end"; `value` is what a literal stands for, but for
    int and double, whose sign may stand before them.
    """

    form: str
    text: str
    at: Position
    value: Any = None

    @property
    def is_number(self) -> bool:
        return self.form in {"int", "double"}


def split_tokens(text: str) -> Iterator[Token]:
    """The words in their order and an "end" after them. ExpressionError where something is no word, or has no value."""
    if len(text) > LONGEST:
        raise ExpressionError(
            format_error(Position(1, 1), f"expression has {len(text)} characters, more than {LONGEST}")
        )
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    here = 0
    while here < len(text):
        line = bisect_right(starts, here)
        at = Position(line, here - starts[line - 1] + 1)
        found = _WORD.match(text, here)
        if found is None:
            raise ExpressionError(format_error(at, f"Syntax error: token recognition error at: {text[here]!r}"))
        form = str(found.lastgroup)
        if form != "space":
            yield Token(form, found[0], at, _value(form, found[0], at))
        here = found.end()
    yield Token("end", "<EOF>", Position(len(starts), len(text) - starts[-1] + 1))


def format_error(at: Position, said: str) -> str:
    """What is wrong, after where: as CEL's own errors begin."""
    return f"ERROR: <input>:{at.line}:{at.column}: {said}"


def _value(form: str, word: str, at: Position) -> Any:
    read = _VALUES.get(form)
    if read is None:
        return None
    try:
        return read(word)
    except ValueError as error:
        raise ExpressionError(format_error(at, f"Syntax error: {error}")) from error

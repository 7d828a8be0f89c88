r"""Patterns of RE2 as every engine of JSON Schema reads them: those of JavaScript, Go and Python.

The patterns of the facts are RE2's, where `\d`, `\w` and `\s` are of ASCII. Other engines differ in them, so they are
spelled out.
"""

from __future__ import annotations

import re
from typing import Final

VARIABLE: Final = r"\$\{"
"""In every text with a variable, such as `${location}`."""

_CLASSES: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?|\]|[^\\\[\]]+", re.DOTALL)


def spell_out(pattern: str) -> str:
    r"""A pattern of RE2 without its short classes, such as `[0-9]` for `\d`."""
    parts, is_inside = [], False
    for token in _TOKEN.findall(pattern):
        letters = _CLASSES.get(token[1:]) if token.startswith("\\") else None
        parts.append(token if letters is None else letters if is_inside else f"[{letters}]")
        is_inside = token.startswith("[") or (is_inside and token != "]")  # noqa: S105 - a bracket
    return "".join(parts)


def allow_variables(pattern: str) -> str:
    """A pattern that matches a text with a variable as well: its value is not known before the source is built."""
    return f"(?:{pattern})|{VARIABLE}"


def ignore_case(text: str) -> str:
    """A pattern for a text in any case: patterns of JSON Schema have no flags."""
    return "".join(
        f"[{letter.upper()}{letter.lower()}]" if letter.isascii() and letter.isalpha() else re.escape(letter)
        for letter in text
    )

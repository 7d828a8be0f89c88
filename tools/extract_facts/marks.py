"""The rules that kubebuilder's marks state in the comments of a field or of a named type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from extract_facts.not_supported import NotSupportedError

_PREFIX = "+kubebuilder:"
_NUMBERS = {
    f"validation:{name}": name[0].lower() + name[1:]
    for name in ("MaxItems", "MaxLength", "Maximum", "MinItems", "MinLength", "Minimum", "MultipleOf")
}
_CHOICE = re.compile(r'"(?:[^"\\]|\\.)*"|[^,{}]+')

Rules = dict[str, Any]


def read_marks(comments: Iterable[str]) -> Rules:
    """The rules by their names in the facts; numbers and choices of numbers are text, as in the source.
    NotSupportedError for a mark that has no such name.
    """
    rules: Rules = {}
    for comment in comments:
        if not comment.startswith(_PREFIX):
            continue
        name, _, value = comment.removeprefix(_PREFIX).partition("=")
        if name == "validation:Required":
            rules["required"] = True
        elif name == "validation:Enum":
            rules["enum"] = [_read_quoted(choice) for choice in _CHOICE.findall(value)]
        elif name == "validation:Pattern":
            rules["pattern"] = _read_quoted(value)
        elif name in _NUMBERS:
            rules[_NUMBERS[name]] = value
        elif name != "validation:Optional":
            raise NotSupportedError(f"unknown mark {_PREFIX}{name}")
    return rules


def make_number(text: str) -> float:
    """The number that a mark has. NotSupportedError if it has none."""
    try:
        number = float(text)
    except ValueError:
        raise NotSupportedError(f"not a number in a mark: {text}") from None
    return int(number) if number.is_integer() else number


def _read_quoted(text: str) -> str:
    if text.startswith("`") and text.endswith("`"):
        return text[1:-1]
    return str(json.loads(text)) if text.startswith('"') else text

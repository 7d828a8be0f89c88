"""The words that stand for a value in the body of an `AzureResource`: each is the only key of an object.

Only these four words are special: Logic Apps have `$connections` and `$schema`. A body that has a member of such a name
writes it with one more `$`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

BODY_WORDS: Final[Mapping[str, str]] = {
    "$reference": "azureReference",
    "$secret": "secretReference",
    "$configMap": "configMapReference",
}
"""Those of a text, with the type of what each has."""

EXPRESSION: Final = "$expression"
"""A value that a CEL expression computes from other resources (docs/values.md)."""

SET: Final = "gitsync/set"
"""The annotation that has the expressions of other kinds: fields of spec, each with its expression."""

_ALL: Final = frozenset({*BODY_WORDS, EXPRESSION})


def find_word(value: Any) -> str:
    """Find the word of an object that stands for a value; "" for any other value."""
    # This runs for each object of each body, and a comparison of the class is quicker than `isinstance`.
    if value.__class__ is not dict or len(value) != 1:
        return ""
    (key,) = value
    return key if key in _ALL else ""


def is_word(key: str) -> bool:
    """Return whether a key is one of the words, or one that is written with more than one `$`."""
    return key.startswith("$") and f"${key.lstrip('$')}" in _ALL


def unescape(key: str) -> str:
    """Return the name of a member as it is sent."""
    return key[1:] if key.startswith("$$") and is_word(key) else key


def escape(key: str) -> str:
    """Return the name of a member as a manifest has it."""
    return f"${key}" if is_word(key) else key

"""The body of an `AzureResource`: what the manifest has is sent as it is written, with nulls, empty values and order.

Four words are special, `$reference`, `$secret`, `$configMap` and `$expression`, and only as the only key of an object:
it stands for a value. A body that has such a key of its own writes it with one more `$`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.desired.catalog.body_words import BODY_WORDS, EXPRESSION, escape, find_word, unescape
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.errors import UnusableReferenceError

MakeValue = Callable[[Any], Any]
"""Makes the placeholder of a word from what it has."""


def convert_body(body: Any, words: Mapping[str, MakeValue]) -> Any:
    """Return a body with placeholders in place of its words; the same object if it has none. `words` make them.

    Raises UnusableReferenceError for a word without a value.
    """
    if isinstance(body, dict):
        return _convert_members(body, words)
    if isinstance(body, list):
        entries = [_convert_value(entry, words) for entry in body]
        # A body without words stays the same object, so a silent run copies none.
        is_same = all(new is old for new, old in zip(entries, body, strict=True))
        return body if is_same else entries
    return body


def _convert_value(value: Any, words: Mapping[str, MakeValue]) -> Any:
    word = find_word(value)
    if word in words:
        return words[word](value[word])
    # Expressions become computed values before this, so one that is left had a fault.
    if word == EXPRESSION:
        raise UnusableReferenceError
    return convert_body(value, words)


def _convert_members(body: dict[str, Any], words: Mapping[str, MakeValue]) -> dict[str, Any]:
    members = {}
    is_same = True
    for key, value in body.items():
        name = unescape(key) if key.startswith("$$") else key
        members[name] = converted = _convert_value(value, words)
        is_same = is_same and converted is value and name is key
    return body if is_same else members


def find_body_field(body: Any, path: JsonPath) -> FieldPath:
    """Find the field below a body that a path in the body of a PUT comes from: the object of a word has no fields."""
    field: FieldPath = ()
    for step in path:
        if field and find_word(body) in BODY_WORDS:
            return field
        is_written = isinstance(body, dict) and step in body
        key = escape(step) if isinstance(step, str) and not is_written else step
        field = (*field, key)
        body = find_member(body, key)
    return field
